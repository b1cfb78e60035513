"""Segments of the model: what is known of one from the others, against dense normal laws."""

import itertools
from typing import Any

import numpy as np
import pytest

from discreet.checks import FloatArray
from discreet.kernel import Phase, Released
from discreet.policies import ChainBandit, Model
from discreet.policies.gaussian_process import FIRST, GRIDS, Covariance, Means, Posterior, Scales, fitted
from discreet.policies.memory import Seen
from discreet.policies.model import SEGMENT
from discreet.policies.model_state import BEFORE, FAILED, RESTARTS, ROUNDS, ModelState, Noise
from discreet.randomness import BitSource

UNITS = 1 << 20


def all_sets(n: int) -> FloatArray:
    return np.array(list(itertools.product([-1.0, 1.0], repeat=n)))


def dense(n: int, many: int, scales: Scales) -> FloatArray:
    """The covariance of all sets in all segments: those of the first come first."""
    covariance, sets = Covariance(n), all_sets(n)
    one = covariance.by_distance(scales)[covariance.distances(sets, sets)]
    share = np.full((many, many), scales.shared) + (1 - scales.shared) * np.eye(many)
    return np.kron(share, one)


def observed(rng: np.random.Generator, n: int, many: int, count: int) -> tuple[Means, list[int]]:
    """The means of some sets in some segments, and where these stand in the dense law."""
    places = rng.choice(many << n, count, replace=False)
    variances = rng.uniform(0, 0.2, count), rng.uniform(0.01, 0.1, count)
    segments = places >> n
    signs = all_sets(n)[places & ((1 << n) - 1)]
    return Means(signs, rng.normal(0, 0.5, count), *variances, segments), places.tolist()


@pytest.mark.parametrize("seed", range(4))
def test_the_posterior_is_that_of_a_dense_normal_law(seed: int) -> None:
    """Of 3 items and 2 segments: means of both and of a mix, and variances; sharing more is another law."""
    rng, n, scales = np.random.default_rng(seed), 3, Scales(0.3, 0.5, 1.5, 0.2, 0.6)
    means, at = observed(rng, n, 2, 7)
    aims = np.array([[0.0, 1.0], [1.0, 0.0], [0.3, 0.7]])
    posterior = Posterior(Covariance(n), means, scales, aims=aims)

    def by_hand(given: Scales) -> tuple[FloatArray, FloatArray]:
        every = dense(n, 2, given)
        noise = np.diag(means.per_cost * given.variance + means.noise)
        across = every[:, at]
        inverse = np.linalg.inv(every[np.ix_(at, at)] + noise)
        return across @ inverse @ means.means, every - across @ inverse @ across.T

    mean, covariance = by_hand(scales)
    of_each = mean.reshape(2, -1)
    np.testing.assert_allclose(posterior.expected(all_sets(n)), aims @ of_each, atol=1e-9)
    expected, variance = posterior.predicted(all_sets(n))
    np.testing.assert_allclose(expected, of_each[1], atol=1e-9)
    np.testing.assert_allclose(variance, covariance.diagonal()[8:], atol=1e-9)
    functions = posterior.mean()
    for signs, wanted in zip(all_sets(n), (aims @ of_each).T, strict=True):
        found = functions.values(np.tile(signs, (3, 1)))
        np.testing.assert_allclose(found - found[0], wanted - wanted[0], atol=1e-9)
        np.testing.assert_allclose(found, wanted, atol=1e-9)
    other, _ = by_hand(scales._replace(shared=0.95))
    assert abs(other - mean).max() > 1e-3


def test_drawn_functions_have_the_law_of_the_segment() -> None:
    """Seed 3, 40,000 draws of 3 items in the second of 2 segments; that of the first one is rejected.

    Means and variances are within five of their standard errors: a false alarm in 1e-5 runs.
    """
    rng, n, scales, count = np.random.default_rng(3), 3, Scales(0.3, 0.5, 1.0, 0.2, 0.4), 40_000
    means, _ = observed(rng, n, 2, 6)
    second, first = np.array([[0.0, 1.0]]), np.array([[1.0, 0.0]])
    posterior, other = (Posterior(Covariance(n), means, scales, aims=aims) for aims in (second, first))
    functions = posterior.drawn(np.ones(count), rng)
    every = np.array([functions.values(np.tile(signs, (count, 1))) for signs in all_sets(n)])
    expected, variance = posterior.predicted(all_sets(n))
    error = np.sqrt(variance / count)
    assert (abs(every.mean(axis=1) - expected) < 5 * error).all()
    assert (abs(every.var(axis=1) / variance - 1) < 5 * np.sqrt(2 / count) + 0.02).all()  # products: 256
    assert (abs(every.mean(axis=1) - other.predicted(all_sets(n))[0]) > 5 * error).any()


def test_how_much_is_shared_is_fitted() -> None:
    """Much where segments are alike, little where they are opposite; without segments it stays."""
    rng, sets = np.random.default_rng(5), all_sets(5)
    values = 0.3 * sets @ rng.normal(size=5)
    found = {}
    for name, sign in {"alike": 1.0, "opposite": -1.0}.items():
        both = np.concatenate((values, sign * values)) + rng.normal(0, 0.05, 64)
        segments = np.repeat([0, 1], 32)
        means = Means(np.tile(sets, (2, 1)), both, np.full(64, 0.01), np.full(64, 0.0025), segments)
        found[name] = fitted(Covariance(5), means, FIRST, variance=True).shared
        alone = fitted(Covariance(5), means._replace(segments=None), FIRST, variance=True)
        assert alone.shared == FIRST.shared
    assert found == {"alike": GRIDS[-1][-1], "opposite": GRIDS[-1][0]}


def test_a_set_in_two_segments_is_remembered_twice() -> None:
    """And fades with all others, but its segment does not."""
    seen, signs = Seen.nothing(3, 0), np.ones((3, 3))
    numbers = np.array([1.0, 2.0, 4.0])
    seen.add(Seen(signs, np.array([0.0, 1.0, 0.0]), numbers, 10 * numbers, np.ones(3), np.zeros((3, 0))))
    seen.fade(0.5)
    found = seen.played()
    assert found.segments.tolist() == [0, 1]
    assert found.totals.tolist() == [2.5, 1.0]
    assert found.rounds.tolist() == [25, 10]


# The policy

WEIGHTS = np.array([-0.2, -0.1, 0.3, -0.2, 0.2])


def policy(segments: int = 2, **options: Any) -> Model:
    worst = ChainBandit(np.full(5, 0.5), units=UNITS, rounds=4, exploration=0.4, step=3.0, prior=1.0)
    return Model(worst, Noise(0.0, 0.125), unit=1 / UNITS, epsilon=1.0, segments=segments, **options)


def released(phase: Phase, weights: FloatArray, rng: np.random.Generator) -> Released:
    inside = [np.isin(np.arange(5), row[:size]) for row, size in zip(phase.order, phase.size, strict=True)]
    sums = (np.array(inside) @ weights) * phase.rounds + rng.laplace(0, 0.25, len(inside))
    return Released(phase.note, phase.rounds, np.rint(sums * UNITS).astype(np.int64)[:, None])


def run(
    made: Model, phases: int, weights: list[FloatArray], seed: int = 1, state: Any = None
) -> tuple[ModelState, list[Phase]]:
    """So many phases of each segment, in turns."""
    coins, rng, played = BitSource(seed), np.random.default_rng(seed), []
    state = made.start() if state is None else state
    for k in range(phases * len(weights)):
        segment = k % len(weights)
        played.append(made.plan(state, coins, segment=segment))
        assert (played[-1].note[:, SEGMENT] == segment).all()
        state = made.learn(state, released(played[-1], weights[segment], rng))
    return state, played


def best(made: Model, state: ModelState, segment: int | None = None) -> list[int]:
    return np.flatnonzero(made.point(state, segment)).tolist()


def test_opposite_segments_end_at_opposite_sets() -> None:
    """And what is best for both is what is good where more rounds are: here the first, once it has more."""
    made = policy()
    state, _ = run(made, 15, [WEIGHTS, -WEIGHTS])
    assert (best(made, state, 0), best(made, state, 1)) == ([0, 1, 3], [2, 4])
    assert Scales(*state.scales).shared == GRIDS[-1][0]
    state, _ = run(made, 5, [WEIGHTS], state=state)
    assert best(made, state) == best(made, state, 0) == [0, 1, 3]
    assert state.segments.weights[0] > 0.5 > state.segments.weights[1]


def test_a_segment_knows_what_others_have_shown() -> None:
    """Once segments are found to be alike, a segment with a phase or two of its own has the best set."""
    made = policy(3)
    state, _ = run(made, 12, [WEIGHTS, WEIGHTS])
    assert Scales(*state.scales).shared > 0.9
    assert state.segments.counts[2, ROUNDS] == 0
    assert best(made, state, 2) == [0, 1, 3]
    first = made.plan(state, BitSource(2), segment=2)
    assert frozenset(first.order[0, : first.size[0]].tolist()) == {0, 1, 3}
    assert first.rounds.sum() < made.plan(state, BitSource(2), segment=0).rounds.sum()


def test_only_the_segment_that_changes_starts_again() -> None:
    """What was released of the other stays; and never does the worst case take over."""
    made = policy()
    state, _ = run(made, 15, [WEIGHTS, WEIGHTS])
    rounds = state.segments.counts[0, ROUNDS]
    assert state.counts[RESTARTS] == 0
    after, _ = run(made, 12, [WEIGHTS, -WEIGHTS], state=state)
    assert after.counts[RESTARTS] >= 1
    assert after.segments.counts[1, BEFORE] > 0 == after.segments.counts[0, BEFORE]
    assert after.seen.rounds[after.seen.segments == 0].sum() > rounds
    assert (best(made, after, 0), best(made, after, 1)) == ([0, 1, 3], [2, 4])
    for seed in range(40):
        after, _ = run(made, 1, [(-1) ** seed * WEIGHTS, (-1) ** seed * WEIGHTS], seed, after)
    assert after.counts[RESTARTS] > 10
    assert after.counts[FAILED] == 0


def test_a_prior_is_for_all_segments() -> None:
    """Each has its share of the rounds."""
    signs, prior = all_sets(5)[[3, 7]], np.array([0.5, -0.5])
    seen = Seen(signs, np.zeros(2), 30 * prior, np.full(2, 30.0), np.zeros(2), np.zeros((2, 0)))
    state = policy(3, prior=seen).start()
    found = state.seen.played()
    assert found.segments.tolist() == [0, 0, 1, 1, 2, 2]
    np.testing.assert_allclose(found.rounds, 10)
    np.testing.assert_allclose(found.totals, np.tile(10 * prior, 3))
