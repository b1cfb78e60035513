"""How many rounds a cap leaves, and the cap that a plan chooses."""

import math
from typing import Any

import numpy as np
import pytest
import scipy.stats
from benchmarks.visits import Shop
from hypothesis import given
from hypothesis import strategies as st

from discreet import BanditLearner, plan
from discreet.errors import InvalidArgument
from discreet.planning import NEARLY_AS_FAST
from discreet.randomness import BitSource
from discreet.visits import Visits, noisy_visits
from real_data import data_file

SOME: dict[int, float] = {1: 700, 3: 200, 9: 100}


def first_rounds(count: int, cap: int, part: float) -> float:
    """The mean of min(X, cap), where each of `count` visits has been with probability `part`."""
    return sum(
        min(k, cap) * math.comb(count, k) * part**k * (1 - part) ** (count - k) for k in range(count + 1)
    )


@given(st.dictionaries(st.integers(1, 12), st.floats(0.1, 9), min_size=1), st.integers(1, 12))
def test_rounds_that_are_learned_from(people: dict[int, float], cap: int) -> None:
    """At three moments, as by the binomial law; and after as many rounds as many were learned from."""
    visits = Visits.of("test", people)
    total = sum(count * who for count, who in people.items())
    shares = [
        sum(who * first_rounds(count, cap, part) for count, who in people.items()) / total
        for part in (0.0025, 0.25, 1.0)
    ]
    assert visits.share(cap) == pytest.approx(shares[-1])
    for part, share in zip((0.0025, 0.25, 1.0), shares, strict=True):
        assert visits.until(share * 1000, cap, 1000) == pytest.approx(part * 1000)
    assert visits.until(2 * shares[-1] * 1000, cap, 1000) == pytest.approx(2000)
    assert visits.until(shares[1] * 1000, cap, 1000) < 1000 * shares[1] / shares[-1] * (1 + 1e-9)


def test_visits_can_be_given_in_several_ways() -> None:
    """A number for each person, how many people have each, an array, or the mean of a geometric law."""
    each = [1] * 7 + [3] * 2 + [9]
    ways: list[Any] = [SOME, each, np.array(each), iter(each), {np.int64(k): w for k, w in SOME.items()}]
    for given_so in ways:
        made = Visits.of("test", given_so)
        assert (made.mean, made.most, round(made.share(2), 4)) == (2.2, 9, round(13 / 22, 4))
    geometric = Visits.of("test", 4)
    assert geometric.mean == pytest.approx(4, rel=0.01)
    assert [geometric.share(cap) for cap in (1, 3)] == pytest.approx([1 / 4, 1 - (3 / 4) ** 3], rel=0.01)
    assert Visits.of("test", 1).share(1) == 1.0


@pytest.mark.parametrize("wrong", [0.5, [], [0, 1], [1.5], {1: -1}, {2: 0}, ["7134"], None, {1: math.nan}])
def test_what_makes_no_sense_is_refused(wrong: Any) -> None:
    """And not quoted: it may be somebody's."""
    with pytest.raises(InvalidArgument, match="'visits' of test must be") as refused:
        Visits.of("test", wrong)
    assert "7134" not in str(refused.value)


@pytest.mark.parametrize("kind", [{}, {"local": True, "delta": 1e-6}, {"feedback": "full information"}])
@pytest.mark.parametrize("epsilon", [0.5, 4.0])
def test_a_plan_takes_the_lowest_cap_that_is_nearly_as_fast(kind: Any, epsilon: float) -> None:
    """As many plans, one for each cap, say. With much noise one round each, with little noise more."""
    options: dict[str, Any] = {"n": 6, "epsilon": epsilon, "rounds": 20_000, "effect": 0.005, "visits": SOME}
    made = plan(**options, **kind)
    assert [cap.rounds_per_person for cap in made.caps] == [1, 2, 3, 4, 5, 8, 9]
    alone = {k: plan(**options, **kind, rounds_per_person=k).best.rounds_to_learn for k in range(1, 10)}
    assert all(cap.rounds_to_learn == alone[cap.rounds_per_person] for cap in made.caps)
    fast = [k for k, needed in alone.items() if needed <= NEARLY_AS_FAST * min(alone.values())]
    best = made.best.rounds_per_person
    assert best == fast[0]
    assert best > 1 if epsilon == 4.0 and "local" not in kind else best == 1
    assert f"{made.best.share * 100:.0f}% of the rounds" in str(made)
    assert "How often people come is their data." in str(made)


def test_noisy_visits_have_the_scale_of_two_changes() -> None:
    """The seeds below 4,000: noise has the law of scale 2 / epsilon, and not of one half or twice that.

    By a chi-squared test, false-alarm rate 1e-6, of the number of people with three rounds. With the same
    bits somebody who comes twice and not four times changes two of the numbers, by one each; more than `most`
    is `most`.
    """
    drawn = [noisy_visits([3] * 500, 0.5, most=3, source=BitSource(seed))[3] - 500 for seed in range(4_000)]

    def chance(scale: float) -> float:
        law = scipy.stats.dlaplace(1 / scale)
        edges = np.arange(-12, 13, 4)
        shares = np.diff(np.concatenate([[0.0], law.cdf(edges), [1.0]]))
        counts = np.bincount(np.searchsorted(edges, drawn), minlength=shares.size)
        return float(scipy.stats.chisquare(counts, shares * len(drawn)).pvalue)

    assert chance(4.0) > 1e-6 > max(chance(2.0), chance(8.0))
    many = [k for k in range(1, 6) for _ in range(1000)]
    one, other = (noisy_visits([*many, k], 1.0, most=5, source=BitSource(7)) for k in (2, 4))
    assert {k: other[k] - one[k] for k in one} == {1: 0, 2: -1, 3: 0, 4: 1, 5: 0}
    tail = [noisy_visits([*many, k], 1.0, most=5, source=BitSource(7)) for k in (5, 900)]
    assert tail[0] == tail[1]
    assert Visits.of("test", one).mean == pytest.approx(3, abs=0.05)


def test_without_people_who_come_back_nothing_changes() -> None:
    """The same plan, with its bound. With people who come back there is no bound: later rounds have none."""
    options: dict[str, Any] = {"n": 70, "epsilon": 1.0, "rounds": 10**6, "effect": 0.5}
    once, plain = plan(**options, visits=1), plan(**options)
    assert once.options == plain.options
    assert plain.best.regret_bound is not None
    assert plan(**options, visits=2).best.regret_bound is None
    assert (plain.visits, plain.caps, once.visits) == (None, (), 1.0)


def test_a_delta_is_for_local_bandits() -> None:
    """Where a cap makes use of it."""
    made = plan(n=4, epsilon=1.0, rounds=10**6, effect=0.5, rounds_per_person=50, delta=1e-6)
    by_mode = {option.arguments["mode"]: option for option in made.options}
    assert by_mode["local"].arguments["delta"] == 1e-6
    assert "delta" not in by_mode["central"].arguments
    assert by_mode["local"].epsilon_per_round > 1.5 * by_mode["central"].epsilon_per_round
    with pytest.raises(InvalidArgument, match="'delta' is for local"):
        plan(n=4, epsilon=1.0, rounds=10, feedback="full information", delta=1e-6)


@pytest.mark.slow
def test_a_chosen_cap_on_real_visits() -> None:
    """The 18,536 invoices of 4,339 customers, in order; 8 items, epsilon 4, seeds 0 to 3.

    A plan takes two rounds of each. That earns more than without a cap, where everybody has the rounds of the
    most frequent customer: then the learner does no better than a fixed choice.
    """
    shop = Shop.of(data_file("online_retail.csv.gz"), 8)
    assert shop.plan(epsilon=4.0).best.rounds_per_person == 2

    def earned(cap: int) -> float:
        options: dict[str, Any] = {"cost_range": shop.cost_range, "rounds_per_person": cap}
        return float(np.mean([shop.earned(BanditLearner(8, 4.0, **options, seed=seed)) for seed in range(4)]))

    assert earned(2) > 0.15 > 0.0 > earned(210)
