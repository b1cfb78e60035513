"""Bandits that are told what each item brought, besides the cost of the set."""

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from discreet import BanditLearner, FullInformationLearner, environments, load, simulate
from discreet.environments.stream import part_costs
from discreet.errors import Expired, InvalidArgument, InvalidType
from discreet.kernel import Laplace
from discreet.policies.model_state import RESTARTS, ROUNDS
from discreet.simulation import play as play_stream
from every_learner import state_of

ITEMS = tuple("abcdefgh")
#: How often somebody buys the item, if it is shown; showing one costs a tenth.
CHANCES = dict(zip(ITEMS, (0.3, 0.25, 0.2, 0.05, 0.04, 0.03, 0.02, 0.01), strict=True))
GOOD = frozenset("abc")


def bandit(**options: Any) -> BanditLearner[Any]:
    given = {"epsilon": 2.0, "cost_range": (-1, 1), "item_total": 1.0, "maximize": True, "seed": 4}
    return BanditLearner(ITEMS, **(given | options))


def customer(rng: np.random.Generator, shown: frozenset[str], chances: dict[str, float]) -> dict[str, float]:
    """What the items bring: a customer buys one of them at most."""
    bought = rng.choice([*ITEMS, ""], p=[*chances.values(), 1 - sum(chances.values())])
    return {item: (0.9 if item == bought else 0.0) - 0.1 for item in shown}


def play(
    learner: BanditLearner[Any], rounds: int, by_item: bool = True, chances: dict[str, float] = CHANCES
) -> float:
    """The mean of what each round's set is worth on average."""
    rng, worth = np.random.default_rng(7), 0.0
    for _ in range(rounds):
        decision = learner.ask()
        brought = customer(rng, decision.subset, chances)
        learner.tell(decision, sum(brought.values()), **({"items": brought} if by_item else {}))
        worth += sum(0.9 * chances[item] - 0.1 for item in decision.subset)
    return worth / rounds


@pytest.mark.slow
def test_with_many_items_it_earns_far_more() -> None:
    """Seeds 0 to 3, 5,000 customers, epsilon 1, 20 items of which 5 are good, each a little."""
    chances, price, earned = np.array([0.1] * 5 + [0.01] * 15), 0.04, {}
    best = (chances - price)[:5].sum()
    for total in (1.0, None):
        paid = 0.0
        for seed in range(4):
            rng = np.random.default_rng(seed)
            learner = BanditLearner(20, 1.0, (-1, 1), item_total=total, maximize=True, seed=seed)
            for bought in rng.choice(21, 5000, p=[*chances, 1 - chances.sum()]).tolist():
                decision = learner.ask()
                brought = {item: (item == bought) - price for item in decision.subset}
                told = {} if total is None else {"items": brought}
                learner.tell(decision, sum(brought.values()), **told)
                paid += sum(chances[item] - price for item in decision.subset) / 20_000
        earned[total] = paid / best
    assert earned[1.0] > 0.6
    assert earned[None] < 0.75 * earned[1.0]


def test_the_guarantee_is_that_of_the_release() -> None:
    """Laplace noise for both bounds together."""
    learner = bandit(seed=None)
    assert isinstance(learner.learner.release, Laplace)
    assert (learner.guarantee.epsilon, learner.guarantee.local) == (2.0, False)
    with pytest.raises(InvalidArgument, match="local"):
        learner.randomizer()


def test_names_and_numbers_are_private() -> None:
    """Unknown items, items that were not shown, and what is no number: nothing is raised, all count as 0."""
    states = []
    for other in ({}, {"z": 5.0}, {"a": "x"}, {"b": None}, {"a": float("nan")}, {"h": object()}):
        learner = bandit()
        for t in range(5):
            decision = learner.ask()
            kept = {"c": 0.25} if "c" in decision.subset else {}
            hidden = {"d": 0.5} if "d" not in decision.subset else {}
            learner.tell(decision, 0.5, items=kept | hidden | (other if t == 2 else {}))
        states.append(state_of(learner))
    assert all(state == states[0] for state in states[1:])


class Failing(dict[Any, Any]):
    def get(self, *_: Any) -> Any:
        raise ValueError("secret")


class Warns(dict[Any, Any]):
    def get(self, *_: Any) -> Any:
        warnings.warn("secret", stacklevel=1)


class SameAs:
    """A name with the hash of one of the items, which cannot be compared."""

    def __hash__(self) -> int:
        return hash("a")

    def __eq__(self, other: object) -> bool:
        raise ValueError("secret")


@pytest.mark.parametrize("brought", [Failing(a=0.5), Warns(a=0.5), {SameAs(): 0.5}])
def test_a_mapping_that_fails_says_nothing(brought: Any) -> None:
    """No error and no warning: the names are private. What fails counts as 0."""
    states = []
    for items in (brought, {}):
        learner = bandit()
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            learner.tell(learner.ask(), 0.5, items=items)
            learner.tell_many([(learner.ask(), 0.5, items)])
        states.append(state_of(learner))
    assert states[0] == states[1]


def test_whether_it_is_a_mapping_is_not_asked_of_the_value() -> None:
    """`isinstance` would."""

    class Liar:
        @property
        def __class__(self) -> Any:
            raise ValueError("secret")

    learner = bandit()
    with pytest.raises(InvalidType, match="mapping from items"):
        learner.tell(learner.ask(), 0.5, items=Liar())  # type: ignore[arg-type]


def test_what_cannot_be_told_is_refused() -> None:
    """By what is public: the kind of learner, and that it is no mapping."""
    learner = bandit()
    decision = learner.ask()
    with pytest.raises(InvalidType, match="mapping from items"):
        learner.tell(decision, 0.5, items=[("a", 0.73)])  # type: ignore[arg-type]
    plain = BanditLearner(3, 1.0, (0, 1))
    asked = plain.ask()
    with pytest.raises(InvalidArgument, match="with an 'item_total'"):
        plain.tell(asked, 0.5, items={0: 0.73})
    learner.tell(decision, 0.5)  # nothing brought anything


@pytest.mark.parametrize(
    "options",
    [
        {"prior": [({"a"}, 0.3, 10.0)]},
        {"method": "worst-case"},
        {"item_total": 0.0},
        {"item_total": float("inf")},
        {"item_total": 1e15},
        {"item_total": 5e-324},
        {"mode": "local"},
    ],
)
def test_options_that_do_not_go_together(options: dict[str, Any]) -> None:
    with pytest.raises(InvalidArgument):
        bandit(**options)


def test_whole_functions_have_no_items() -> None:
    """Who is told everything needs no parts."""
    with pytest.raises(TypeError):
        FullInformationLearner(3, 1.0, (0, 1), item_total=1.0)  # type: ignore[call-arg]


@pytest.mark.parametrize(
    "options",
    [{}, {"at_most": 3}, {"groups": [["a", "b"]], "required": ["h"]}, {"holdout": ({"a", "h"}, 0.2)}],
)
def test_with_other_options(options: dict[str, Any], tmp_path: Path) -> None:
    """Constraints hold, the first phase shows every item that it can, and a file goes on in the same way."""
    learner, shown = bandit(**options), set[str]()
    for t in range(1500):
        decision = learner.ask(available=(*ITEMS[:6], "h")) if t % 50 == 0 else learner.ask()
        shown |= decision.subset
        assert len(decision.subset) <= options.get("at_most", 8)
        assert "required" not in options or ("h" in decision.subset and not {"a", "b"} <= decision.subset)
        learner.tell(decision, 0.1, items={item: CHANCES[item] - 0.1 for item in decision.subset})
    assert shown == set(ITEMS)
    if "holdout" in options:
        assert learner.held is not None
    before = state_of(learner)
    learner.save(tmp_path / "learner")
    again = load(tmp_path / "learner")
    assert state_of(again) == before


def test_a_change_of_what_items_bring_is_noticed() -> None:
    """From then on other items are good: it starts again, and ends with them."""
    learner = bandit(epsilon=4.0)
    play(learner, 3000)
    assert learner.best == GOOD
    turned = dict(zip(ITEMS, reversed(CHANCES.values()), strict=True))
    play(learner, 6000, chances=turned)
    assert learner._learned_state().counts[RESTARTS] >= 1
    assert learner.best == frozenset("fgh")


def test_new_items_are_shown_and_learned() -> None:
    """What is known of the others stays."""
    learner = bandit(epsilon=8.0)
    play(learner, 3000)
    learner.change_items(add=["new"], retire=["a"])
    rng, shown = np.random.default_rng(1), 0
    for _ in range(4000):
        decision = learner.ask()
        assert "a" not in decision.subset
        shown += "new" in decision.subset
        brought = customer(rng, decision.subset - {"new"}, CHANCES)
        if "new" in decision.subset:
            brought["new"] = 0.2
        learner.tell(decision, sum(brought.values()), items=brought)
    assert learner.best == {"b", "c", "new"}
    assert shown > 1000


@pytest.mark.parametrize("n", [2, 3, 5])
def test_items_come_while_decisions_are_open(n: int) -> None:
    """Their reports are for other items, so their phase is given up; the learner goes on."""
    learner = BanditLearner(n, 50.0, (-1, 1), item_total=1.0, expire_after=50, seed=4)
    decisions = learner.ask(40)
    for decision in decisions[:20]:
        learner.tell(decision, 0.5, items=dict.fromkeys(decision.subset, 0.1))
    learner.change_items(add=["new"])
    with pytest.raises(Expired):
        learner.tell(decisions[20], 0.5)
    for _ in range(200):
        decision = learner.ask()
        learner.tell(decision, 0.5, items=dict.fromkeys(decision.subset, 0.1))
    assert learner.rounds > 0


def test_simulations_tell_what_items_brought() -> None:
    """The compiled loop learns the same as a session that is told the same; other streams are refused."""
    shop = environments.checkout(6)
    stream, rounds = shop.stream(3000, 1), 3000
    made = [BanditLearner(6, 2.0, (-1, 1), item_total=1.5, seed=3) for _ in range(2)]
    paid = play_stream(made[0], stream)
    for t in range(rounds):
        decision = made[1].ask()
        order = np.array([*decision.subset, *(i for i in range(6) if i not in decision.subset)])
        parts = np.zeros(6)
        part_costs(stream.compiled, t, np.zeros(6), order, len(decision.subset), parts)
        cost = stream.sum_of(slice(t, t + 1))(decision.subset)
        assert cost == pytest.approx(paid[t], abs=1e-12)
        made[1].tell(decision, cost, items=dict(enumerate(parts)))
    states = [learner._learned_state() for learner in made]
    assert states[0].counts[ROUNDS] == states[1].counts[ROUNDS] > 2000
    np.testing.assert_array_equal(states[0].seen.signs, states[1].seen.signs)
    with pytest.raises(InvalidArgument, match="does not say what each item brought"):
        simulate(environments.cuts(6), made[0], rounds=10, seeds=1)
