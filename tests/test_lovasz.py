"""The Lovász extension: its definition, convexity, subgradients and level sets."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import families
from discreet import DiscreetError, lovasz
from discreet.set_functions import Modular, Table, is_submodular

N = 5
names = st.sampled_from(sorted(families.FAMILIES))
seeds = st.integers(0, 10**6)
#: Coarse grids make ties common, fine floats make them rare; both matter.
points = st.one_of(
    arrays(float, N, elements=st.floats(0, 1)),
    arrays(float, N, elements=st.sampled_from([0.0, 0.25, 0.5, 1.0])),
)


def make(name: str, seed: int):  # type: ignore[no-untyped-def]
    return families.FAMILIES[name](N, np.random.default_rng(seed))[0]


@given(names, seeds)
def test_agrees_with_f_on_vertices(name: str, seed: int) -> None:
    """At a 0/1 point the extension is f."""
    f = make(name, seed)
    for s in families.subsets(N):
        x = [float(i in s) for i in range(N)]
        assert lovasz.value(f, x) == pytest.approx(f(s), abs=1e-9)


@given(points)
def test_chain_is_a_convex_combination_of_its_sets(x: np.ndarray) -> None:
    """Weights are nonnegative, add up to 1 and give x back; the sets grow by one item each."""
    c = lovasz.chain(x)
    assert c.weights.min() >= 0
    assert c.weights.sum() == pytest.approx(1)
    rebuilt = sum(
        w * np.array([float(i in s) for i in range(N)]) for w, s in zip(c.weights, c.sets, strict=True)
    )
    np.testing.assert_allclose(rebuilt, x, atol=1e-12)
    assert [len(s) for s in c.sets] == list(range(N + 1))
    assert all(a < b for a, b in zip(c.sets[:-1], c.sets[1:], strict=True))
    assert c.sets[-1] == frozenset(range(N))


@given(names, seeds, points)
def test_is_the_mean_over_thresholds(name: str, seed: int, x: np.ndarray) -> None:
    """The integral of f over level sets, piece by piece, is the value."""
    f = make(name, seed)
    cuts = np.unique(np.concatenate(([0.0, 1.0], x)))
    # Level sets are constant between neighbouring coordinates: take the right end, which is included.
    mean = sum((b - a) * f(lovasz.level_set(x, b)) for a, b in itertools.pairwise(cuts))
    assert lovasz.value(f, x) == pytest.approx(mean, abs=1e-9)


@given(names, seeds, points, points, st.floats(0, 1))
def test_is_convex(name: str, seed: int, x: np.ndarray, y: np.ndarray, t: float) -> None:
    """f^ lies below its chords."""
    f = make(name, seed)
    middle = np.clip(t * x + (1 - t) * y, 0, 1)
    chord = t * lovasz.value(f, x) + (1 - t) * lovasz.value(f, y)
    assert lovasz.value(f, middle) <= chord + 1e-9 * (1 + abs(chord))


@given(names, seeds, points, points)
def test_subgradient_inequality(name: str, seed: int, x: np.ndarray, y: np.ndarray) -> None:
    """f^(y) >= f^(x) + g.(y - x), and g recovers the value at x."""
    f = make(name, seed)
    g = lovasz.subgradient(f, x)
    at_x = lovasz.value(f, x)
    assert lovasz.value(f, y) >= at_x + g @ (y - x) - 1e-8
    assert f(()) + g @ x == pytest.approx(at_x, abs=1e-8)


@given(names, seeds, points)
def test_subgradient_norm_bound(name: str, seed: int, x: np.ndarray) -> None:
    """|g|_1 <= 2 (hi - lo) with the attained range; on a two-item chain the bound is reached."""
    f = make(name, seed)
    values = f.table().values
    g = lovasz.subgradient(f, x)
    assert np.abs(g).sum() <= 2 * (values.max() - values.min()) + 1e-9


def test_subgradient_norm_bound_is_attained() -> None:
    """The constant 2 is needed: up by the whole range, then down again."""
    f = Table([0, 1, 1, 0])
    assert np.abs(lovasz.subgradient(f, [0.9, 0.1])).sum() == 2.0


@given(st.lists(st.integers(-4, 4), min_size=8, max_size=8))
def test_convex_exactly_when_submodular(values: list[int]) -> None:
    """On tables of 3 items: midpoint convexity over a half-integral grid holds iff f is submodular."""
    f = Table(values)
    grid = np.array(np.meshgrid(*[[0, 0.5, 1]] * 3)).reshape(3, -1).T
    on_grid = {tuple(x): lovasz.value(f, x) for x in grid}
    convex = all(
        lovasz.value(f, (x + y) / 2) <= (on_grid[tuple(x)] + on_grid[tuple(y)]) / 2 + 1e-12
        for x in grid
        for y in grid
    )
    assert convex == bool(is_submodular(f))


def test_ties_keep_the_order_of_the_items() -> None:
    """Equal coordinates are taken lowest number first."""
    assert lovasz.chain([0.5, 0.5, 0.75, 0.5]).order.tolist() == [2, 0, 1, 3]


@pytest.mark.parametrize("n", [1, 5, 31, 32, 33, 100])
def test_compiled_sort_equals_a_stable_sort(n: int) -> None:
    """From any order of the items, by insertion for few of them and by a heap for many."""
    rng = np.random.default_rng(n)
    for _ in range(20):
        x, items = rng.integers(0, 4, size=n) / 4, rng.permutation(n)
        lovasz.sort_by_level(x, items)
        np.testing.assert_array_equal(items, np.argsort(-x, kind="stable"))


def test_draw_level_set_has_the_right_probabilities() -> None:
    """Over a fine uniform grid each prefix is drawn as often as its weight says; 0 and 1 are certain."""
    x = [0.0, 1.0, 0.25, 0.5]
    grid = np.arange(1000) / 1000
    drawn = [lovasz.draw_level_set(x, u) for u in grid]
    assert not any(0 in s for s in drawn)
    assert all(1 in s for s in drawn)
    assert sum(2 in s for s in drawn) == 250
    assert sum(3 in s for s in drawn) == 500


def test_prefixes_are_made_on_demand() -> None:
    """A chain of 100,000 items does not hold 100,000 sets."""
    c = lovasz.chain(np.linspace(0, 1, 100_000))
    assert len(c.sets) == 100_001
    assert c.sets[2] == frozenset({99_999, 99_998})
    assert c.sets[1:3] == [frozenset({99_999}), frozenset({99_999, 99_998})]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: lovasz.value(Modular([1, 2]), [0.5]), "length 2"),
        (lambda: lovasz.value(Modular([1, 2]), [0.5, 1.5]), "1.5"),
        (lambda: lovasz.subgradient(Modular([1]), [float("nan")]), "finite numbers"),
        (lambda: lovasz.chain([[0.5]]), r"\(1, 1\)"),
        (lambda: lovasz.level_set([0.5], float("inf")), "threshold"),
        (lambda: lovasz.draw_level_set([0.5], 1.0), "uniform"),
    ],
)
def test_bad_points_are_named(call, message: str) -> None:  # type: ignore[no-untyped-def]
    """A point outside the cube, or of the wrong length, is refused."""
    with pytest.raises(DiscreetError, match=message):
        call()
