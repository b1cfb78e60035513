"""Cuts of one directed edge, and noisy pictures: functions from the definition, laws, the exact range."""

import itertools

import numpy as np
import pytest
from stream_checks import fits, gap_of_the_best

from discreet import minimize
from discreet.checks import FloatArray
from discreet.environments import Stream, check_stream, cuts, image_cuts
from discreet.set_functions import is_submodular


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


@pytest.mark.parametrize(("width", "height"), [(2, 1), (3, 2), (6, 6), (15, 20)])
def test_pictures_are_consistent(width: int, height: int) -> None:
    """Functions, compiled costs and totals."""
    check_stream(image_cuts(width, height).stream(30, 1))


def test_no_set_of_any_picture_leaves_the_range() -> None:
    """All 64 sets of all 20 pictures; some come near its ends, so the range is not too wide."""
    stream = image_cuts(3, 2, pictures=20, noise=0.3, smooth=0.1).stream(200, 2)
    values = np.array([f.table().values for f in stream])
    low, high = stream.cost_range
    assert stream.cost_range == pytest.approx((-1, 1), abs=1e-7)
    assert -1 <= low <= values.min() < -0.85
    assert 0.85 < values.max() <= high <= 1


def test_each_function_is_a_cut_of_neighbours_with_prices() -> None:
    """Against the definition from the same draws, up to one scale and one shift for all."""
    width, height, smooth, noise, seed = 3, 4, 0.4, 0.7, 3
    stream = image_cuts(width, height, noise=noise, smooth=smooth, pictures=5).stream(10, seed)
    drawn = np.random.default_rng(seed).normal(size=(5, 12))
    pixels = list(itertools.product(range(height), range(width)))
    rng, slow, fast = np.random.default_rng(0), [], []
    for picture, f in zip(stream.compiled.choice, stream, strict=True):
        for _ in range(5):
            mask = rng.random(12) < 0.5
            inside = {pixels[k] for k in np.flatnonzero(mask)}
            prices = [(-1 if k in stream.shape else 1) + noise * drawn[picture, k] for k in range(12)]
            parted = sum(
                abs(a[0] - b[0]) + abs(a[1] - b[1]) == 1 for a in inside for b in set(pixels) - inside
            )
            slow.append(sum(np.array(prices)[mask]) + smooth * parted)
            fast.append(f(mask))
    scale, shift = np.polyfit(slow, fast, 1)
    np.testing.assert_allclose(scale * np.array(slow) + shift, fast, atol=1e-7)
    assert scale > 0
    assert is_submodular(f)


def test_the_shape_is_half_of_the_pixels_in_one_piece() -> None:
    """Every pixel of it can be reached from every other through neighbours."""
    for width, height in [(2, 1), (2, 2), (3, 3), (6, 6), (12, 7)]:
        shape = set(image_cuts(width, height).stream(1).shape)
        assert len(shape) == width * height // 2
        reached, front = set(), {min(shape)}
        while front:
            reached |= front
            steps = {(1, 0), (-1, 0), (0, 1), (0, -1)}
            front = {
                (row + down) * width + column + across
                for row, column in (divmod(pixel, width) for pixel in front)
                for down, across in steps
                if 0 <= column + across < width
            } & shape - reached
        assert reached == shape


@pytest.mark.parametrize(("width", "height"), [(4, 4), (6, 6), (20, 20)])
def test_the_shape_is_found_by_max_flow(width: int, height: int) -> None:
    """It is the best set in hindsight, and clearly."""
    stream = image_cuts(width, height).stream(4096, 4)
    best = minimize(stream.total)
    assert best.set == stream.shape
    assert best.method == "max-flow"
    assert best.value == best.lower_bound
    assert gap_of_the_best(stream) > 0.25


def test_totals_are_exact() -> None:
    """The sum of a hundred thousand costs, one after the other, is the total to the last bit."""
    stream = image_cuts(3, 3, pictures=7).stream(100_000, 5)
    first = {int(k): t for t, k in reversed(list(enumerate(stream.compiled.choice[:100])))}
    chosen = [0, 4, 5, 8]
    functions = dict(enumerate(itertools.islice(stream, 100)))
    costs = np.array([functions[first[k]](chosen) for k in range(7)])
    assert stream.total(chosen) == np.cumsum(costs[stream.compiled.choice])[-1]
