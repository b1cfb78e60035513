"""Custom policies in plain Python: hosted, saved, and given nothing but released numbers."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from discreet.errors import InvalidArgument, InvalidType
from discreet.kernel import EACH_ROUND, Phase
from discreet.learners import PolicyLearner, Session
from discreet.learners.arguments import restored_argument
from discreet.randomness import BitSource
from discreet.state import decode, encode
from every_learner import Pairs, transcript


class Drawn(Pairs):
    """One round at a time, whose set is drawn by the kernel."""

    def plan(self, state: Any, coins: BitSource, available: Any = None) -> Phase:
        items = np.arange(self.n) if available is None else available
        chance = np.full((1, items.size + 1), 1 / (items.size + 1))
        one = np.ones(1, dtype=np.int64)
        return Phase(items.reshape(1, -1), chance, np.array([EACH_ROUND]), one, np.zeros((1, self.n)))


def test_a_policy_finds_the_better_set() -> None:
    """Costs of 0.2 per item with epsilon 500: after 100 phases (seed 3) the empty set is the best."""
    session = PolicyLearner(["a", "b", "c"], Pairs, 500.0, (-1, 1), seed=3)
    for _ in range(500):
        decision = session.ask()
        session.tell(decision, 0.2 * len(decision.subset))
    assert session.best == frozenset()
    assert session.point.tolist() == [0.5] * 3
    assert session.rounds >= 495
    assert session.value(session._state["cost"][0]) == pytest.approx(0.0, abs=0.05)


def test_a_class_an_object_or_a_function_makes_a_policy() -> None:
    """All play alike; all can be made again for a simulation."""
    made = [
        PolicyLearner(3, policy, 1.0, (-1, 1), seed=2) for policy in (Pairs, Pairs(3), lambda n: Pairs(n))
    ]
    seen = [transcript(session, 12) for session in made]
    assert seen[0] == seen[1] == seen[2]
    again = [transcript(session.fresh(seed=2), 12) for session in made]
    assert again == seen


def test_sets_among_available_items() -> None:
    """A policy of single rounds plans among them; one that ignores them is refused."""
    session = PolicyLearner(["a", "b", "c"], Drawn, 1.0, (0, 1), seed=1)
    dealt = session.ask(count=30, available=["c", "a"])
    assert {decision.subset for decision in dealt} == {frozenset(), frozenset("a"), frozenset("ac")}
    assert {decision.probability for decision in dealt} == {1 / 3}

    class Deaf(Drawn):
        def plan(self, state: Any, coins: BitSource, available: Any = None) -> Phase:
            return super().plan(state, coins)

    with pytest.raises(InvalidArgument, match="not available"):
        PolicyLearner(3, Deaf, 1.0, (0, 1)).ask(available=[0])

    class Without(Drawn):
        def plan(self, state: Any, coins: BitSource) -> Phase:  # type: ignore[override]
            return super().plan(state, coins)

    session = PolicyLearner(3, Without, 1.0, (0, 1))
    with pytest.raises(InvalidArgument, match="does not choose among available items"):
        session.ask(available=[0])
    assert session.ask().id == 1


class Growing(Pairs):
    """A state that a file could not bring back."""

    changes: Any = None

    def learn(self, state: Any, released: Any) -> Any:
        return super().learn(state, released) | self.changes


@pytest.mark.parametrize(
    "changes",
    [
        {"phases": 3},
        {"phases": np.zeros(2)},
        {"phases": np.zeros(1, dtype=np.int32)},
        {"more": np.zeros(1)},
        {"phases": None},
    ],
    ids=str,
)
def test_a_state_that_could_not_be_loaded_is_not_saved(
    changes: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Otherwise it would be lost with the session that is handed over; the session goes on."""
    monkeypatch.setattr(Growing, "changes", changes)
    session = PolicyLearner(3, Growing, 1.0, (-1, 1))
    session.ask(count=5)
    session.ask()
    with pytest.raises(InvalidType, match="state must be made of numpy arrays"):
        session.save(tmp_path / "learner")
    assert list(tmp_path.iterdir()) == []
    assert session.ask().id == 7


def test_an_object_or_a_function_cannot_be_saved(tmp_path: Path) -> None:
    """Only a class has a name that a file can hold."""
    for policy in (Pairs(3), lambda n: Pairs(n)):
        with pytest.raises(InvalidType, match="cannot be saved"):
            PolicyLearner(3, policy, 1.0, (-1, 1)).save(tmp_path / "learner")


@pytest.mark.parametrize(
    "named",
    [
        ["os", "system"],
        ["builtins", "dict"],
        ["nowhere", "Pairs"],
        ["every_learner", "Pairs.plan"],
        ["os"],
        3,
    ],
)
def test_a_file_names_only_classes_of_policies_that_were_imported(named: Any) -> None:
    """Nothing else is called, and nothing is imported."""
    values, arrays = decode(PolicyLearner(3, Pairs, 1.0, (-1, 1))._whole())
    values["settings"]["arguments"]["policy"] = {"class": named}
    with pytest.raises(InvalidArgument):
        PolicyLearner.from_bytes(encode(values, arrays), generation=0)
    assert restored_argument({"class": ["every_learner", "Pairs"]}) is Pairs


@pytest.mark.parametrize("policy", [object(), 3, type("Half", (), {"start": dict, "plan": dict})()])
def test_what_is_no_policy_is_refused(policy: Any) -> None:
    """Before anything is asked."""
    with pytest.raises(TypeError):
        PolicyLearner(3, policy, 1.0, (-1, 1))
    assert issubclass(PolicyLearner, Session)
