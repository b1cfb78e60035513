"""Noisy pictures: the functions from the definition, the exact range, and the shape that is found."""

import itertools

import numpy as np
import pytest
from stream_checks import (
    assert_compiled_costs_are_values,
    assert_costs_stay_in_range,
    assert_total_is_the_sum,
    gap_of_the_best,
)

from discreet import minimize
from discreet.environments import image_cuts
from discreet.set_functions import is_submodular


@pytest.mark.parametrize(("width", "height"), [(2, 1), (3, 2), (6, 6), (15, 20)])
def test_costs_and_total(width: int, height: int) -> None:
    """Compiled costs are the functions' values; the total is their sum; costs lie in [-1, 1]."""
    stream = image_cuts(width, height).stream(30, 1)
    assert_compiled_costs_are_values(stream)
    assert_total_is_the_sum(stream)
    assert_costs_stay_in_range(stream, (-1.0, 1.0))


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
