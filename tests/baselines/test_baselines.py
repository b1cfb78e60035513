"""The comparators: what they do, what they cost, and that those which learn do."""

import math

import numpy as np
import pytest
import scipy.stats
from examples.errata.streams import regret_rate

from discreet import DiscreetError, bounds
from discreet.baselines import (
    BestFixedSet,
    ExponentialWeights,
    FixedSet,
    FollowTheApproximateLeader,
    HazanKale,
    HazanKaleBandit,
    NoisedGradients,
    NoisyLeader,
    RandomSet,
)
from discreet.environments import Pool
from discreet.set_functions import Cut, Modular


def easy_pool(rounds: int, n: int = 3) -> Pool:
    """Two modular functions whose sum wants exactly the even items."""
    signs = np.where(np.arange(n) % 2 == 0, -1.0, 1.0) / n
    return Pool([Modular(signs), Modular(0.5 * signs)], rounds, seed=0)


@pytest.mark.parametrize(
    ("learner", "most"),
    [
        (HazanKale(3, 2**14, seed=0), 0.02),
        (FollowTheApproximateLeader(3, 2**14, seed=0), 0.02),
        (HazanKaleBandit(3, 2**14, seed=0), 0.2),
        (NoisedGradients(3, 2**14, 4.0, seed=0), 0.3),
        (NoisyLeader(3, 4.0, (-1, 1), seed=0), 0.02),
        (ExponentialWeights(3, 2**14, 4.0, seed=0), 0.2),
    ],
    ids=lambda value: type(value).__name__ if hasattr(value, "ask") else "",
)
def test_learners_learn_an_easy_stream(learner, most: float) -> None:  # type: ignore[no-untyped-def]
    """Well below the 0.5 (= mean of 0.75 * 2/3) that a random set loses against the best one."""
    pool = easy_pool(2**14)
    random = regret_rate(RandomSet(3, seed=0), pool)
    assert regret_rate(learner, pool) < min(most, random)


def test_hazan_kale_regret_stays_below_its_bound() -> None:
    """On random cuts, 4 M sqrt(nT) and 6 M n T^(2/3)."""
    T, n = 2**14, 4
    rng = np.random.default_rng(0)
    pool = Pool([Cut(rng.random((n, n)) / 5, rng.uniform(-0.2, 0.2, n)) for _ in range(9)], T, seed=1)
    assert regret_rate(HazanKale(n, T, seed=0), pool) * T <= bounds.hazan_kale(n, T, 1.0)
    assert regret_rate(HazanKaleBandit(n, T, seed=0), pool) * T <= bounds.hazan_kale_bandit(n, T, 1.0)


def test_best_fixed_set_is_the_minimum_and_pays_it() -> None:
    """Its regret is zero, and it says that it has seen the data."""
    pool = easy_pool(100)
    best = BestFixedSet(pool.total)
    assert best.ask().subset == {0, 2}
    assert regret_rate(best, pool) == pytest.approx(0.0, abs=1e-12)
    assert not best.guarantee.private
    assert best.minimum.certified


def test_fixed_set_never_changes() -> None:
    """And nothing it is told matters."""
    learner = FixedSet(["a", "b", "c"], [2])
    for cost in (1.0, float("nan"), None):
        decision = learner.ask()
        assert decision.subset == {"c"}
        learner.tell(decision, cost)
    assert learner.rounds == 3
    assert learner.guarantee.epsilon == 0


def test_random_sets_are_uniform() -> None:
    """Chi-square over the 8 subsets of 3 items: seed 4, 8000 draws, alpha 1e-4; a biased coin is rejected."""
    learner = RandomSet(3, seed=4)
    counts = np.zeros(8)
    for decision in learner.ask(count=8000):
        counts[sum(1 << i for i in decision.subset)] += 1
    assert scipy.stats.chisquare(counts).pvalue > 1e-4
    biased = np.array([math.prod(0.53 if s >> i & 1 else 0.47 for i in range(3)) for s in range(8)])
    assert scipy.stats.chisquare(counts, 8000 * biased).pvalue < 1e-4


def test_random_sets_of_many_items_use_enough_bits() -> None:
    """Beyond 64 items, more than 64 random bits are read."""
    hits = np.zeros(130)
    for decision in RandomSet(130, seed=1).ask(count=100):
        hits[list(decision.subset)] += 1
    assert 20 < hits.min() <= hits.max() < 80


def test_exponential_weights_survive_long_runs() -> None:
    """Losses far beyond what exp can hold do not overflow, and the point is a probability."""
    learner = ExponentialWeights(2, 100, 1.0, eta=50.0, gamma=0.1, seed=0)
    for _ in range(500):
        decision = learner.ask()
        learner.tell(decision, 1.0 if 0 in decision.subset else -1.0)
    assert np.all(np.isfinite(learner.point))
    assert learner.point[0] < 0.2


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: ExponentialWeights(13, 10, 1.0), "from 1 to 12"),
        (lambda: ExponentialWeights(3, 10, 0), "'epsilon'"),
        (lambda: HazanKale(3, 0), "'T'"),
        (lambda: HazanKale(3, 10, eta=-1), "'eta'"),
        (lambda: NoisedGradients(3, 10, -1), "'epsilon'"),
        (lambda: FixedSet(3, [3]), "'subset'"),
    ],
)
def test_bad_arguments_are_named(build, message: str) -> None:  # type: ignore[no-untyped-def]
    """As everywhere."""
    with pytest.raises(DiscreetError, match=message):
        build()


def test_exploration_of_exponential_weights_is_a_share() -> None:
    """More than all of it would make probabilities negative."""
    for gamma in (1.5, 0, -1):
        with pytest.raises(DiscreetError, match="gamma"):
            ExponentialWeights(2, T=10, epsilon=1.0, gamma=gamma)
    assert ExponentialWeights(2, T=10, epsilon=1.0, gamma=1).point.tolist() == [0.5, 0.5]


@pytest.mark.parametrize(
    "learner",
    [FixedSet(3, [1]), RandomSet(3, seed=0), ExponentialWeights(3, 10, 1.0, seed=0)],
    ids=lambda learner: type(learner).__name__,
)
def test_items_cannot_be_switched_off_where_sets_are_whole(learner) -> None:  # type: ignore[no-untyped-def]
    """And the learner goes on afterwards."""
    with pytest.raises(DiscreetError, match="cannot switch items off"):
        learner.ask(available=[0])
    learner.tell(learner.ask(available=[0, 1, 2]), 0.5)
    assert learner.rounds == 1


@pytest.mark.parametrize(
    "learner",
    [FixedSet(2), NoisedGradients(2, 10, 1.0), ExponentialWeights(2, 10, 1.0)],
    ids=lambda learner: type(learner).__name__,
)
def test_what_is_told_is_hidden_before_it_is_kept(learner) -> None:  # type: ignore[no-untyped-def]
    """No exact number waits in the state for a round to close: a saved file could hold it."""
    assert not learner.keeps_secrets
    seen = set()
    for _ in range(3):
        learner.tell(learner.ask(), Modular([1.0, -1.0]) if isinstance(learner, NoisedGradients) else 1.0)
        (told,) = learner._phases.values()
        seen.add(tuple(told.sums[0].tolist()))
        assert learner.rounds > 0  # closes the round
    assert seen == {(0,)} if isinstance(learner, FixedSet) else len(seen) == 3


def test_late_feedback_is_learned_from() -> None:
    """Without noise, and with noise on arrival, feedback may come in any order."""
    for learner in (HazanKale(2, 10, seed=0), NoisedGradients(2, 10, 1.0, seed=0)):
        decisions = learner.ask(count=3)
        learner.ask()
        for decision in reversed(decisions):
            learner.tell(decision, Modular([0.5, -0.5]))
        assert learner.rounds == 3
    assert HazanKale(2, 10).guarantee.reason == "it adds no noise"
