"""Sessions: phases close at public moments, and whatever interrupts a session loses no more than a round."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from discreet import load
from discreet.errors import Expired
from discreet.kernel import Laplace
from discreet.kernel.phase import restricted
from discreet.learners import BanditLearner, FullInformationLearner, PolicyLearner
from discreet.learners.feedback import FunctionFeedback
from discreet.learners.learner import Learner
from discreet.policies import DualAveraging
from discreet.privacy.budget import Budget
from discreet.set_functions import Modular
from every_learner import LEARNERS, N, Pairs, state_of

INTERRUPTED = ["BanditLearner", "BanditLearner local", "BanditLearner worst case", "PolicyLearner local"]


def test_a_chain_among_the_available_items() -> None:
    """Chances of prefixes that become the same are added up."""
    order, chance = restricted(np.array([2, 0, 1]), np.array([0.1, 0.2, 0.3, 0.4]), np.array([1]))
    assert order.tolist() == [1]
    assert chance == pytest.approx([0.6, 0.4])


class Stop(BaseException):
    """As Ctrl-C."""


@pytest.mark.parametrize("name", INTERRUPTED)
def test_an_interrupted_tell_loses_a_round_and_nothing_else(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The decision counts as missing: its phase closes in time, and files can be read."""
    session = LEARNERS[name](None)
    session.expire_after = 1
    decision = session.ask()
    with monkeypatch.context() as patched:
        patched.setattr(Learner, "report", lambda *_: (_ for _ in ()).throw(Stop()))
        with pytest.raises(Stop):
            session.tell(decision, 0.5)
    session.save(tmp_path / "learner")
    loaded = load(tmp_path / "learner")
    loaded.expire_after = 1
    loaded.ask(count=60)
    loaded.ask()
    assert loaded.rounds >= 3
    with pytest.raises(Expired):
        loaded.tell(decision, 0.5)


def test_a_policy_that_fails_while_learning_loses_one_phase() -> None:
    """The sums went in once: they are gone, and the next phases are learned from."""

    class Failing(Pairs):
        fails = True

        def learn(self, state: Any, released: Any) -> Any:
            if self.fails:
                raise RuntimeError("no")
            return super().learn(state, released)

    policy = Failing(N)
    session = PolicyLearner(N, policy, 1.0, (-1, 1))
    session.tell_many((decision, 0.1) for decision in session.ask(count=5))
    with pytest.raises(RuntimeError):
        session.ask()
    assert session.pending == 0
    policy.fails = False
    session.tell_many((decision, 0.1) for decision in session.ask(count=5))
    session.ask()
    assert session.rounds == 5


class NoisyGradients(FunctionFeedback[Any]):
    """Every gradient gets noise on arrival."""

    def __init__(self, seed: int | None = None) -> None:
        query = FullInformationLearner(N, 1.0, (-1, 1))._query
        release = Laplace(query.bound, Budget(epsilon=1.0), local=True)
        policy = DualAveraging(np.full(N, 0.5), 0.01, unit=query.step)
        super().__init__(tuple(range(N)), Learner(N, policy, query, release), seed=seed)


def test_local_vectors_are_noised_when_they_are_told() -> None:
    """What is kept of one between `tell` and `ask` is what is released: a copy of it costs nothing."""
    session = NoisyGradients(seed=1)
    session.tell(session.ask(), Modular([0.1, 0.2, 0.3]))
    kept = session._phases[0].sums[0].copy()
    assert (abs(kept) > 2**24).any()
    before = session._source.saved()
    session.ask()
    assert session._source.saved() == before
    np.testing.assert_allclose(session._state.released, kept * session.learner.query.step)
    assert not session.keeps_secrets
    assert session.guarantee.local


def test_local_phases_close_when_all_bits_are_there_or_in_time() -> None:
    """In whatever order they come; and a phase that waits does not hold up the others."""
    session = PolicyLearner(N, Pairs, 1.0, (-1, 1), mode="local", expire_after=20)
    decisions = session.ask(count=15)
    session.tell_many((decision, 0.5) for decision in decisions[5:10])
    assert (session.rounds, session.pending) == (5, 10)
    session.tell_many((decision, 0.5) for decision in decisions[:4])
    assert session.rounds == 5
    session.ask(count=10)
    session.ask()
    assert (session.rounds, 5 in session._tickets) == (10, False)
    with pytest.raises(Expired):
        session.tell(5, 0.5)
    assert session._state["phases"].tolist() == [2.0]


def test_a_deadline_is_public() -> None:
    """Central: a block closes at the ask that is `expire_after` decisions after its last, and not before."""
    session = BanditLearner(N, 2.0, (-1, 1), method="worst-case", expire_after=3)
    assert session.block == 2
    session.ask(count=5)
    session.ask(count=0)
    assert (session.rounds, session.pending) == (2, 3)
    session.tell(3, 0.5)
    with pytest.raises(Expired):
        session.tell(2, 0.5)
    session.ask()
    assert session.rounds == 2
    session.ask()
    session.ask(count=0)
    assert session.rounds == 4
    assert state_of(session)["settings"]["closed_until"] == 4
