"""Directed cuts: costs, total, and the law of edges."""

import numpy as np
import pytest
from stream_checks import assert_compiled_costs_are_values, assert_total_is_the_sum, fits

from discreet import DiscreetError, minimize
from discreet.checks import FloatArray
from discreet.environments import DirectedCuts


def edge_counts(stream: DirectedCuts) -> FloatArray:
    """How often each ordered pair was drawn, as a matrix."""
    counts = np.zeros((stream.n, stream.n))
    np.add.at(counts, (stream.compiled.tails, stream.compiled.heads), 1)
    return counts


def law(n: int, favoured: float) -> FloatArray:
    """The probability of each ordered pair."""
    probabilities = (1 - favoured) * (1 - np.eye(n)) / (n * (n - 1))
    probabilities[0, 1] += favoured
    return probabilities


@pytest.mark.parametrize(("n", "favoured"), [(2, 0.0), (4, 0.3), (30, 0.3)])
def test_costs_and_total(n: int, favoured: float) -> None:
    """Compiled costs are the functions' values; the total is their sum."""
    stream = DirectedCuts(n, 40, favoured, seed=1)
    assert_compiled_costs_are_values(stream)
    assert_total_is_the_sum(stream)


def test_each_function_is_a_cut_of_one_edge() -> None:
    """f(S) = 2 [i in S and j not in S] - 1, from the definition."""
    stream = DirectedCuts(5, 50, 0.3, seed=2)
    rng = np.random.default_rng(0)
    for tail, head, f in zip(*stream.compiled, stream, strict=True):
        mask = rng.random(5) < 0.5
        assert f(mask) == (1 if mask[tail] and not mask[head] else -1)


@pytest.mark.parametrize("favoured", [0.0, 0.3])
def test_edges_follow_their_law(favoured: float) -> None:
    """Seed 3, 40000 rounds, n = 4, alpha 1e-6 by the chi-squared test of the twelve pairs.

    Rejected: the same law except that one round in twenty goes to (0, 1), or to (1, 0).
    """
    counts = edge_counts(DirectedCuts(4, 40000, favoured, seed=3))
    assert counts.trace() == 0
    pairs = ~np.eye(4, dtype=bool)
    right = law(4, favoured)
    assert fits(counts[pairs], right[pairs])
    assert not fits(counts[pairs], (0.95 * right + 0.05 * law(4, 1.0))[pairs])
    assert not fits(counts[pairs], (0.95 * right + 0.05 * law(4, 1.0).T)[pairs])


def test_the_favoured_edge_is_drawn_by_chance_too() -> None:
    """Seed 4, 40000 rounds, n = 3: P(0, 1) is 0.3 + 0.7/6, alpha 1e-6; exactly 0.3 is rejected."""
    counts = edge_counts(DirectedCuts(3, 40000, 0.3, seed=4))
    drawn = np.array([counts[0, 1], counts.sum() - counts[0, 1]])
    probability = 0.3 + 0.7 / 6
    assert fits(drawn, np.array([probability, 1 - probability]))
    assert not fits(drawn, np.array([0.3, 0.7]))


def test_the_empty_and_the_full_set_are_best() -> None:
    """They cost -1 in every round, the least there is; the favoured edge alone makes {0} the worst set."""
    stream = DirectedCuts(6, 1000, 0.3, seed=5)
    assert stream.total([]) == stream.total(range(6)) == minimize(stream.total).value == -1000
    assert DirectedCuts(6, 1000, 1.0).total([0]) == 1000


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: DirectedCuts(1, 10), "The 'n' of DirectedCuts must be a whole number of at least 2. Got 1"),
        (lambda: DirectedCuts(3, 2.5), "The 'rounds' of DirectedCuts"),
        (lambda: DirectedCuts(3, 10, -0.1), "The 'favoured' of DirectedCuts must be a number from 0 to 1."),
        (lambda: DirectedCuts(3, 10, seed=None), "The 'seed' of DirectedCuts"),
    ],
)
def test_bad_arguments_are_named(build, message: str) -> None:  # type: ignore[no-untyped-def]
    """As everywhere."""
    with pytest.raises(DiscreetError, match=message):
        build()
