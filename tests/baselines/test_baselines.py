"""The comparators: what they do, what they cost, and that those which learn do."""

import math

import numpy as np
import pytest
import scipy.stats
from examples.errata.streams import regret_rate

from discreet import DiscreetError, bounds, minimize
from discreet.baselines import (
    BestFixedSet,
    ExponentialWeights,
    FixedSet,
    FollowTheApproximateLeader,
    FollowTheLeader,
    GreedyLeader,
    HazanKale,
    HazanKaleBandit,
    NoisedGradients,
    NoisyLeader,
    ProductSampling,
    RandomSet,
)
from discreet.environments import Pool, groups_of_four, priced_cuts
from discreet.set_functions import Coverage, Cut, Modular, Table


def easy_pool(rounds: int, n: int = 3) -> Pool:
    """Two modular functions whose sum wants exactly the even items."""
    signs = np.where(np.arange(n) % 2 == 0, -1.0, 1.0) / n
    return Pool([Modular(signs), Modular(0.5 * signs)], rounds, seed=0)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("learner", "most"),
    [
        (HazanKale(3, 2**14, seed=0), 0.02),
        (FollowTheApproximateLeader(3, 2**14, seed=0), 0.02),
        (HazanKaleBandit(3, 2**14, seed=0), 0.2),
        (NoisedGradients(3, 2**14, 4.0, seed=0), 0.3),
        (NoisyLeader(3, 4.0, (-1, 1), seed=0), 0.02),
        (ExponentialWeights(3, 2**14, 4.0, seed=0), 0.2),
        (ProductSampling(3, 1.0, (-1, 1), seed=0), 0.03),
        (ProductSampling(3, 1.0, (-1, 1), mode="central", seed=0), 0.02),
        (ProductSampling(3, math.inf, (-1, 1), seed=0), 0.005),
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


def test_random_sets_are_uniform() -> None:
    """Chi-square over the 8 subsets of 3 items: seed 4, 8000 draws, alpha 1e-4; a biased coin is rejected."""
    learner = RandomSet(3, seed=4)
    counts = np.zeros(8)
    for decision in learner.ask(count=8000):
        counts[sum(1 << i for i in decision.subset)] += 1
    assert scipy.stats.chisquare(counts).pvalue > 1e-4
    biased = np.array([math.prod(0.53 if s >> i & 1 else 0.47 for i in range(3)) for s in range(8)])
    assert scipy.stats.chisquare(counts, 8000 * biased).pvalue < 1e-4


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
        (lambda: ProductSampling(3, -1, (-1, 1)), "'epsilon'"),
        (lambda: ProductSampling(3, 1.0, (1, -1)), "'cost_range'"),
        (lambda: ProductSampling(3, 1.0, (-1, 1), mode="both"), "'mode'"),  # type: ignore[arg-type]
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
    [
        FixedSet(2),
        NoisedGradients(2, 10, 1.0),
        ExponentialWeights(2, 10, 1.0),
        ProductSampling(2, 1.0, (-1, 1)),
    ],
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
    bits = isinstance(learner, ProductSampling)
    if bits:
        assert seen <= {(learner._mechanism.magnitude,), (-learner._mechanism.magnitude,)}
    else:
        assert seen == {(0,)} if isinstance(learner, FixedSet) else len(seen) == 3


def test_who_is_trusted_with_costs_of_sampling() -> None:
    """Bits are local, blocks are not, and without noise nothing is promised."""
    local, central = (ProductSampling(3, 0.5, (0, 1), mode=mode).guarantee for mode in ("local", "central"))
    assert (local.epsilon, local.local, central.epsilon, central.local) == (0.5, True, 0.5, False)
    assert not ProductSampling(3, math.inf, (0, 1)).guarantee.private


def test_independent_items_miss_what_four_bring_together() -> None:
    """On groups of four: seed 0, not private, 2^14 rounds."""
    stream = groups_of_four(8).stream(2**14, seed=0)
    assert regret_rate(ProductSampling(8, math.inf, (-1, 1), seed=0), stream) > 0.2


def test_the_leader_is_the_best_set_of_the_past() -> None:
    """Of any functions, round by round; before the first it is empty. It says that it is not private."""
    rng, names = np.random.default_rng(1), ["a", "b", "c"]
    values = rng.normal(size=(20, 8))
    leader = FollowTheLeader(names)
    assert leader.ask() == frozenset()
    for t, row in enumerate(values):
        leader.tell(leader.ask(), Table(row))
        code = int(values[: t + 1].sum(axis=0).argmin())
        assert leader.ask() == {name for i, name in enumerate(names) if code >> i & 1}
    assert not leader.guarantee.private
    other = FollowTheLeader(names)
    other.tell(other.ask(), lambda chosen: -len(chosen & {"a", "c"}) + len(chosen & {"b"}))
    assert other.ask() == {"a", "c"}
    with pytest.raises(DiscreetError, match="3 items"):
        other.tell(other.ask(), Modular([1.0]))


def test_the_leader_of_many_items_lags_by_a_tenth() -> None:
    """It is the best set of all but the last rounds, at most a tenth of those before."""
    stream = groups_of_four(20).stream(300, seed=2)
    leader, moves = FollowTheLeader(20), [0]
    for t, function in enumerate(stream, 1):
        leader.tell(leader.ask(), function)
        if not leader._new:
            assert stream.total_until(t)(leader.ask()) == pytest.approx(minimize(stream.total_until(t)).value)
            assert t - moves[-1] <= max(1, math.ceil(moves[-1] / 10))
            moves.append(t)
    assert 300 - moves[-1] < 30


def test_a_greedy_leader_takes_the_most_useful_item_and_then_what_adds_most_to_it() -> None:
    """Not the two best items by themselves; groups and sizes are kept to, by name, of rewards too."""
    worth = Coverage([[0, 1, 2], [0, 1], [3]])  # the second item only repeats the first
    leader = GreedyLeader(["a", "b", "c"], at_most=2, maximize=True)
    assert leader.ask() == frozenset()
    for _ in range(3):
        leader.tell(leader.ask(), worth)
        assert leader.ask() == {"a", "c"}
    assert not leader.guarantee.private
    other = GreedyLeader(["a", "b", "c"], at_least=1, groups=[["a", "c"]])
    assert len(other.ask()) == 1
    other.tell(other.ask(), -worth)
    assert other.ask() == {"a"}
    with pytest.raises(DiscreetError, match="nothing to choose"):
        GreedyLeader(2, at_least=1, forbidden=[0, 1])


def test_the_leader_has_the_least_regret_of_all() -> None:
    """Of those that see functions whole and are not private: on cuts with prices, 2^11 rounds, seed 1."""
    stream = priced_cuts(6).stream(2**11, seed=1)
    leader = regret_rate(FollowTheLeader(6), stream)
    assert 0 <= leader < min(0.005, regret_rate(HazanKale(6, 2**11, seed=0), stream))
