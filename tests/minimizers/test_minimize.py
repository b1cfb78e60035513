"""discreet.minimize: every family against enumeration, known minima, and certificates that hold."""

import signal

import networkx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import families
from discreet import DiscreetError, minimize
from discreet.set_functions import (
    Bundles,
    ConcaveOfModular,
    Coverage,
    Cut,
    FacilityLocation,
    FromCallable,
    Iwata,
    LogDeterminant,
    MatroidRank,
    Modular,
    SetFunction,
    Sum,
    Table,
)

N = 6
names = st.sampled_from(sorted(families.FAMILIES))
seeds = st.integers(0, 10**6)


def make(name: str, seed: int) -> families.Instance:
    return families.FAMILIES[name](N, np.random.default_rng(seed))


def assert_right(f: SetFunction, method: str = "auto") -> None:
    """The set attains the value, the value is the least of all, and the bound does not exceed it."""
    m = minimize(f, method=method)
    least = f.table().values.min()
    slack = 1e-8 * (1 + abs(least))
    assert m.value == f(m.set)
    assert m.value == pytest.approx(least, abs=slack)
    assert m.lower_bound <= least + slack
    assert m.lower_bound <= m.value
    assert m.certified
    assert m.gap <= slack


EXPECTED_METHOD = {
    "modular": "closed form",
    "concave_of_cardinality": "closed form",
    "concave_of_modular": "closed form",
    "iwata": "closed form",
    "cut": "max-flow",
    "hypergraph_cut": "max-flow",
    "coverage": "max-flow",
    "bundles": "max-flow",
    "facility_location": "max-flow",
    "matroid_rank": "minimum-norm point",
    "log_determinant": "minimum-norm point",
    "gaussian_mutual_information": "minimum-norm point",
    "table": "enumeration",
    "from_callable": "enumeration",
}


def test_each_family_goes_its_way() -> None:
    """The dispatch is the documented one."""
    assert {name: minimize(make(name, 0)[0]).method for name in families.FAMILIES} == EXPECTED_METHOD


@settings(max_examples=50)
@given(names, seeds, st.booleans())
def test_every_family_plus_prices_against_enumeration(name: str, seed: int, priced: bool) -> None:
    """With and without a modular part, so that the minimum is rarely the empty set."""
    f, _ = make(name, seed)
    if priced:
        f = f + Modular(np.random.default_rng(seed).normal(size=N) * 2)
    assert_right(f)


@settings(max_examples=50)
@given(st.lists(names, min_size=2, max_size=3), seeds)
def test_sums_of_families_against_enumeration(chosen: list[str], seed: int) -> None:
    """Mixed sums find a method that applies to all of their terms."""
    assert_right(Sum([make(name, seed + k)[0] for k, name in enumerate(chosen)]))


@settings(max_examples=60)
@given(names, seeds, st.sets(st.integers(0, N - 1)), st.sampled_from(["restrict", "contract", "complement"]))
def test_derived_functions_against_enumeration(name: str, seed: int, subset: set[int], how: str) -> None:
    """Restrictions, contractions and complements keep the structure that the methods use."""
    f, _ = make(name, seed)
    f = 1.7 * (f + Modular(np.random.default_rng(seed).normal(size=N)))
    assert_right(f.complement() if how == "complement" else getattr(f, how)(subset))


@settings(max_examples=50)
@given(names, seeds)
def test_minimum_norm_point_on_every_family(name: str, seed: int) -> None:
    """The general method alone, against enumeration."""
    f, _ = make(name, seed)
    assert_right(f + Modular(np.random.default_rng(seed).normal(size=N)), method="minimum-norm point")


@settings(max_examples=40)
@given(seeds, st.integers(2, 60), st.sampled_from([0.05, 0.3, 1.0]), st.booleans())
def test_minimum_norm_point_against_max_flow(seed: int, n: int, density: float, whole: bool) -> None:
    """Two methods that share no code agree on random cuts, and each bound lies below both values."""
    rng = np.random.default_rng(seed)
    w, m = rng.random((n, n)) * (rng.random((n, n)) < density), rng.normal(size=n) * 3
    f = Cut(np.ceil(3 * w), np.rint(m)) if whole else Cut(w, m)
    flow, point = minimize(f), minimize(f, method="minimum-norm point")
    assert flow.method == "max-flow"
    assert flow.value == pytest.approx(point.value, rel=1e-7, abs=1e-7)
    slack = 1e-8 * (1 + abs(flow.value))
    assert max(flow.lower_bound, point.lower_bound) <= min(flow.value, point.value) + slack
    if whole:
        assert flow.stopped == point.stopped == "optimal"
        assert flow.value == point.value == flow.lower_bound == point.lower_bound


@settings(max_examples=30)
@given(seeds, st.integers(2, 25))
def test_max_flow_against_networkx(seed: int, n: int) -> None:
    """The minimum cut of an independent library, on real capacities."""
    rng = np.random.default_rng(seed)
    w, m = rng.random((n, n)) * (rng.random((n, n)) < 0.4), rng.normal(size=n) * 2
    graph = networkx.DiGraph()
    graph.add_nodes_from(["s", "t"])
    for i in range(n):
        graph.add_edge("s", i, capacity=max(-m[i], 0.0))
        graph.add_edge(i, "t", capacity=max(m[i], 0.0))
        for j in range(n):
            if i != j and w[i, j] > 0:
                graph.add_edge(i, j, capacity=w[i, j])
    cut, _ = networkx.minimum_cut(graph, "s", "t")
    assert minimize(Cut(w, m)).value == pytest.approx(cut + m[m < 0].sum(), abs=1e-8)


@pytest.mark.parametrize("n", [0, 1, 2, 10, 500])
@pytest.mark.parametrize("method", ["closed form", "minimum-norm point"])
def test_iwata_has_its_known_minimum(n: int, method: str) -> None:
    """k = round((4n+5)/6) last items, value 1.5 k^2 - (2n + 2.5) k."""
    k = min(round((4 * n + 5) / 6), n)
    m = minimize(Iwata(n), method=method)
    assert m.value == m.lower_bound == 1.5 * k * k - (2 * n + 2.5) * k
    assert m.stopped == "optimal"


def test_concave_of_modular_with_two_directions_is_not_closed_form() -> None:
    """Sums of concave functions of different weights go to the general method, and are right there."""
    rng = np.random.default_rng(5)
    same, other = rng.random(N), rng.random(N)
    prices = Modular(-rng.random(N))
    parallel = ConcaveOfModular(same) + ConcaveOfModular(2 * same, "log1p") + prices
    assert minimize(parallel).method == "closed form"
    mixed = ConcaveOfModular(same) + ConcaveOfModular(other) + prices
    assert minimize(mixed).method == "minimum-norm point"
    assert_right(mixed)
    assert_right(parallel)


def test_capacities_beyond_32_bits_are_not_truncated() -> None:
    """Weights that differ by 2^40 and do not fit in 31 bits are solved exactly."""
    big = 2.0**40
    f = Cut([[0, big + 1, 0], [0, 0, big], [1, 0, 0]], modular=[-big, 5, -3])
    m = minimize(f)
    assert m.stopped == "optimal"
    assert m.value == f.table().values.min()


def test_tiny_weights_beside_large_ones_keep_a_true_certificate() -> None:
    """A cut whose answer hangs on the last of 15 digits."""
    f = Cut([[0, 1e-9], [0, 0]], modular=[-1e6, 1e6 + 1e-9])
    m = minimize(f)
    assert m.value == f.table().values.min()
    assert m.lower_bound <= m.value


@pytest.mark.parametrize(
    "f",
    [
        Cut(np.zeros((3, 3)), modular=[1, 2, 3]),
        Cut(np.zeros((3, 3)), modular=[-1, -2, -3]),
        Cut(np.zeros((0, 0))),
        Coverage([[], []]),
        Bundles(2, [], costs=[1, -1]),
        FacilityLocation(np.zeros((0, 2))),
        MatroidRank([]),
        Modular([]),
        Table([7.0]),
    ],
    ids=repr,
)
def test_degenerate_functions(f: SetFunction) -> None:
    """No edges, no groups, no items."""
    assert_right(f)


def test_progress_is_reported_and_bounds_close_in() -> None:
    """The callback sees values fall and bounds rise, pass by pass."""
    seen: list[tuple[int, float, float]] = []
    rng = np.random.default_rng(1)
    k = rng.normal(size=(40, 40))
    f = LogDeterminant(k @ k.T / 40 + 0.2 * np.eye(40)) + Modular(rng.normal(size=40) * 0.5)
    m = minimize(f, progress=lambda *told: seen.append(told))
    passes, values, bounds = zip(*seen, strict=True)
    assert passes == tuple(range(1, m.iterations + 1))
    assert m.iterations > 2
    assert list(values) == sorted(values, reverse=True)
    assert list(bounds) == sorted(bounds)
    assert bounds[-1] <= m.value + 1e-9


def hard_function() -> SetFunction:
    """Needs many passes: a log-determinant of 60 strongly dependent items."""
    rng = np.random.default_rng(2)
    x = rng.random((60, 1))
    return LogDeterminant(np.exp(-((x - x.T) ** 2) / 0.02) + 0.01 * np.eye(60)) + Modular(
        rng.normal(size=60) + 2.5
    )


def test_ctrl_c_returns_the_best_so_far() -> None:
    """A real SIGINT in the middle gives an answer that says it was interrupted, with a true bound."""
    f = hard_function()
    full = minimize(f)
    assert full.iterations > 4

    def interrupt(iteration: int, value: float, lower_bound: float) -> None:
        if iteration == 3:
            signal.raise_signal(signal.SIGINT)

    m = minimize(f, progress=interrupt)
    assert m.stopped == "interrupted"
    assert not m.certified
    assert m.lower_bound <= full.value <= m.value
    assert m.value == f(m.set)


def test_ctrl_c_in_max_flow_returns_the_best_so_far() -> None:
    """The same for the flow method, between two of its stages."""
    rng = np.random.default_rng(4)
    f = Cut(rng.random((30, 30)), rng.normal(size=30) * 5)
    m = minimize(f, tolerance=1e-15, progress=lambda *told: signal.raise_signal(signal.SIGINT))
    assert m.stopped == "interrupted"
    assert m.lower_bound <= minimize(f).value <= m.value


def test_time_limit_is_kept() -> None:
    """A limit that is over at once returns after one pass, and says so."""
    m = minimize(hard_function(), time_limit=1e-9)
    assert m.stopped == "time limit"
    assert m.iterations == 1
    assert m.lower_bound <= m.value


def test_functions_not_known_to_be_submodular_say_so() -> None:
    """Beyond the size that is enumerated, the bound of a callable carries its condition."""
    m = minimize(FromCallable(lambda s: abs(len(s) - 0.5) * -1 + 3 * (0 in s), 15))
    assert m.method == "minimum-norm point"
    assert m.assumes_submodular
    assert not minimize(Iwata(5), method="minimum-norm point").assumes_submodular
    assert not minimize(FromCallable(lambda s: len(s) ** 2, 5)).assumes_submodular


def test_a_function_that_is_not_submodular_is_caught_when_bounds_cross() -> None:
    """A duality bound above a value is a proof, and an error."""
    f = Table([0, 5, -7, 2])
    with pytest.raises(DiscreetError, match="must be submodular"):
        minimize(f, method="minimum-norm point")
    assert minimize(f).value == -7


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method": "magic"}, "'method'"),
        ({"tolerance": 0}, "'tolerance'"),
        ({"time_limit": -1}, "'time_limit'"),
        ({"method": "closed form"}, "does not apply"),
        ({"method": "max-flow"}, "does not apply"),
    ],
)
def test_bad_options_are_named(options: dict[str, object], message: str) -> None:
    """Each option is checked, and a method that does not fit is refused."""
    with pytest.raises(DiscreetError, match=message):
        minimize(MatroidRank([(0, 1)]), **options)  # type: ignore[arg-type]


def test_other_things_are_refused() -> None:
    """A bare Python function is not a set function; values must be finite."""
    with pytest.raises(TypeError, match="FromCallable"):
        minimize(len)  # type: ignore[arg-type]
    with pytest.raises(DiscreetError, match="finite"):
        minimize(FromCallable(lambda s: float("nan"), 20))
    with pytest.raises(DiscreetError, match="overflow"):
        minimize(Cut([[0, 1e308], [0, 0]], modular=[-1.5e308, -1.5e308]))


def test_minimum_norm_point_with_a_large_corral() -> None:
    """More vertices at once than the first allocation holds; the flow method agrees."""
    rng = np.random.default_rng(8)
    n = 300
    f = Cut(rng.random((n, n)) * (rng.random((n, n)) < 0.05), rng.normal(size=n) * 2)
    point = minimize(f, method="minimum-norm point")
    assert point.iterations > 64
    assert point.certified
    assert point.value == pytest.approx(minimize(f).value, rel=1e-9)


def test_a_tolerance_beyond_floats_stalls_and_says_so() -> None:
    """Where rounding forbids the asked gap the answer is returned as stalled, with its true gap."""
    rng = np.random.default_rng(9)
    f = Cut(rng.random((40, 40)), rng.normal(size=40) * 10)
    m = minimize(f, method="minimum-norm point", tolerance=1e-300)
    assert m.stopped in ("stalled", "tolerance")
    assert m.gap < 1e-9
    assert m.certified == (m.stopped == "tolerance")
