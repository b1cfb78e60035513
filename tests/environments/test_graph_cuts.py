"""Cuts of one directed edge: functions from the definition, and their law."""

import numpy as np
import pytest
from stream_checks import fits

from discreet import minimize
from discreet.checks import FloatArray
from discreet.environments import Stream, check_stream, cuts


def edge_counts(stream: Stream) -> FloatArray:
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
def test_edges_are_consistent(n: int, favoured: float) -> None:
    """Functions, compiled costs and totals."""
    check_stream(cuts(n, favoured).stream(40, 1))


def test_each_function_is_a_cut_of_one_edge() -> None:
    """f(S) = 2 [i in S and j not in S] - 1, from the definition."""
    stream = cuts(5, 0.3).stream(50, 2)
    rng = np.random.default_rng(0)
    for tail, head, f in zip(*stream.compiled, stream, strict=True):
        mask = rng.random(5) < 0.5
        assert f(mask) == (1 if mask[tail] and not mask[head] else -1)


@pytest.mark.parametrize("favoured", [0.0, 0.3])
def test_edges_follow_their_law(favoured: float) -> None:
    """Seed 3, 40000 rounds, n = 4, alpha 1e-6 by the chi-squared test of the twelve pairs.

    Rejected: the same law except that one round in twenty goes to (0, 1), or to (1, 0).
    """
    counts = edge_counts(cuts(4, favoured).stream(40000, 3))
    assert counts.trace() == 0
    pairs = ~np.eye(4, dtype=bool)
    right = law(4, favoured)
    assert fits(counts[pairs], right[pairs])
    assert not fits(counts[pairs], (0.95 * right + 0.05 * law(4, 1.0))[pairs])
    assert not fits(counts[pairs], (0.95 * right + 0.05 * law(4, 1.0).T)[pairs])


def test_the_favoured_edge_is_drawn_by_chance_too() -> None:
    """Seed 4, 40000 rounds, n = 3: P(0, 1) is 0.3 + 0.7/6, alpha 1e-6; exactly 0.3 is rejected."""
    counts = edge_counts(cuts(3, 0.3).stream(40000, 4))
    drawn = np.array([counts[0, 1], counts.sum() - counts[0, 1]])
    probability = 0.3 + 0.7 / 6
    assert fits(drawn, np.array([probability, 1 - probability]))
    assert not fits(drawn, np.array([0.3, 0.7]))


def test_the_empty_and_the_full_set_are_best() -> None:
    """They cost -1 in every round, the least there is; the favoured edge alone makes {0} the worst set."""
    stream = cuts(6, 0.3).stream(1000, 5)
    assert stream.total([]) == stream.total(range(6)) == minimize(stream.total).value == -1000
    assert cuts(6, 1.0).stream(1000).total([0]) == 1000
