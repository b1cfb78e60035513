"""Decisions carry the probability of their set, also where some sets of a phase cannot be dealt."""

import itertools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from discreet.kernel import Phase
from discreet.learners import PolicyLearner
from discreet.learners.host import Host
from discreet.learners.tickets import Plan, StoredTicket
from discreet.randomness import BitSource
from every_learner import Pairs

ITEMS = ["a", "b", "c"]
SETS = [[0], [1], [0, 1], [2]]
ROUNDS = [3, 2, 1, 2]
#: What can be chosen in each round of a phase; None for all.
SEASONS: list[list[list[str] | None]] = [
    [None] * 8,
    [["a", "c"], None, ["a", "c"], None, ["b"], None, None],
    [["a"], ["a"], ["a"], None, None, ["b", "c"], None],
    [["c"], ["a", "b", "c"], ["c"], None, ["a", "b"]],
]
Deals = Iterator[tuple[frozenset[str], float]]


class Fixed(Pairs):
    """The same phase again and again; among some items a single round, in which nothing is shown."""

    def plan(self, state: Any, coins: BitSource, available: Any = None) -> Phase:
        if available is not None:
            none = np.zeros(1, dtype=np.int64)
            note, chance = np.zeros((1, self.n)), np.ones((1, available.size + 1))
            return Phase(available.reshape(1, -1), chance, none, none + 1, note)
        return Phase.of_sets(3, SETS, ROUNDS, np.zeros((4, self.n)))


def in_a_session(season: list[list[str] | None]) -> Iterator[Deals]:
    learner = PolicyLearner(ITEMS, Fixed, 1.0, (-1, 1), expire_after=100, seed=1)
    while True:
        learner._tickets.clear()
        learner._current, learner._planned = [0], 1
        learner._phases = {0: learner._opened(None, None, beside=None)}
        decisions = (learner.ask(available=available) for available in season)
        yield ((decision.subset, decision.probability) for decision in decisions)


def in_a_service(season: list[list[str] | None]) -> Iterator[Deals]:
    host = Host({"kind": "bandit", "items": ITEMS, "arguments": {"epsilon": 1.0, "cost_range": [0, 1]}})
    host._session._coins = BitSource(1)
    for seed in itertools.count():
        yield dealt_by(host, Plan(Phase.of_sets(3, SETS, ROUNDS), seed), season)


def dealt_by(host: Host, plan: Plan, season: list[list[str] | None]) -> Deals:
    place = 0
    for available in season:
        among = None if available is None else host.among(available)
        plan, fits = host.brought_forward(plan, place, among)
        plan = Plan.decode(plan.encode(), 3)  # as a store gives it back
        if not fits:
            yield frozenset(), 1.0
            continue
        ticket = StoredTicket.decode(host.dealt(plan, 0, place, among).ticket, 3)
        place += 1
        yield frozenset(ITEMS[i] for i in SETS[ticket.slot]), ticket.probability


each = pytest.mark.parametrize("deals", [in_a_session, in_a_service])


def shares(left: np.ndarray, available: list[str] | None) -> dict[frozenset[str], float]:
    """The probabilities of sets where so many rounds of each are left."""
    fit = [available is None or {ITEMS[i] for i in members} <= set(available) for members in SETS]
    found = {frozenset(ITEMS[i] for i in SETS[k]): left[k] * fit[k] for k in range(4)}
    total = sum(found.values())
    return {chosen: count / total for chosen, count in found.items()} if total else {frozenset(): 1.0}


@each
@pytest.mark.parametrize("season", SEASONS)
def test_each_probability_is_as_of_what_is_left(
    deals: Callable[..., Iterator[Deals]], season: list[list[str] | None]
) -> None:
    """Which is all of the phase until some of its sets are unavailable; over all sets they add up to 1.

    And these are the chances: over 1,000 phases (seed 1) a set comes up as often as they add up to,
    within 5 standard deviations (a false alarm of 1e-4 for all seasons together); the shares of the whole
    phase are not.
    """
    excess: dict[frozenset[str], list[float]] = {}
    wrong: dict[frozenset[str], list[float]] = {}
    whole = np.array(ROUNDS)
    for phase in itertools.islice(deals(season), 1_000):
        left, base = whole.copy(), whole.copy()
        more: dict[frozenset[str], float] = {}
        naive: dict[frozenset[str], float] = {}
        for available, (chosen, probability) in zip(season, phase, strict=True):
            limited = available is not None and set(available) != set(ITEMS)
            chances = shares(left if limited else base, available)
            assert probability == pytest.approx(chances[chosen])
            for subset in chances:
                more[subset] = more.get(subset, 0.0) + (subset == chosen) - chances[subset]
            for subset, chance in shares(whole, available).items():
                naive[subset] = naive.get(subset, 0.0) + (subset == chosen) - chance
            if chosen:
                left[[frozenset(ITEMS[i] for i in members) for members in SETS].index(chosen)] -= 1
            if limited:
                base = left.copy()
        for into, found in ((excess, more), (wrong, naive)):
            for subset, total in found.items():
                into.setdefault(subset, []).append(total)
    assert all(abs(deviations(totals)) < 5 for totals in excess.values())
    if any(season[:-1]):
        assert max(abs(deviations(totals)) for totals in wrong.values()) > 6


def deviations(totals: list[float]) -> float:
    """How many standard errors a mean is from 0."""
    spread = float(np.std(totals)) / len(totals) ** 0.5
    return 0.0 if spread == 0 else float(np.mean(totals)) / spread
