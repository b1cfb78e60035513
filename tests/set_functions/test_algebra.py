"""Sums, multiples, shifts, negations, restrictions, contractions, complements: values, structure and size."""

import json

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st

import families
from discreet.set_functions import (
    Bundles,
    Coverage,
    Cut,
    FromCallable,
    Iwata,
    Modular,
    Negated,
    SetFunction,
    Sum,
)

N = 5
names = st.sampled_from(sorted(families.FAMILIES))
seeds = st.integers(0, 10**6)


def make(name: str, seed: int) -> families.Instance:
    return families.FAMILIES[name](N, np.random.default_rng(seed))


def table_of(f: object) -> np.ndarray:
    return f.table().values  # type: ignore[attr-defined]


@settings(max_examples=60)
@given(names, names, seeds)
def test_sum_adds_values_and_chains(first: str, second: str, seed: int) -> None:
    """(f + g)(S) = f(S) + g(S), for any two families."""
    (f, _), (g, _) = make(first, seed), make(second, seed + 1)
    both = f + g
    np.testing.assert_allclose(table_of(both), table_of(f) + table_of(g), atol=1e-9)
    order = np.random.default_rng(seed).permutation(N)
    np.testing.assert_allclose(
        both.chain_values(order), f.chain_values(order) + g.chain_values(order), atol=1e-9
    )
    lo, hi = both.range()
    assert lo - 1e-9 <= table_of(both).min()
    assert table_of(both).max() <= hi + 1e-9


@given(names, seeds, st.floats(0.01, 100), st.floats(-100, 100))
def test_scaling_and_shifting(name: str, seed: int, factor: float, amount: float) -> None:
    """Scaling and shifting act on values, chains and the range alike."""
    f, _ = make(name, seed)
    g = (factor * f).shift(amount)
    np.testing.assert_allclose(table_of(g), factor * table_of(f) + amount, atol=1e-8)
    np.testing.assert_allclose(
        g.chain_values(range(N)), factor * f.chain_values(range(N)) + amount, atol=1e-8
    )
    lo, hi = g.range()
    assert lo - 1e-6 <= table_of(g).min()
    assert table_of(g).max() <= hi + 1e-6


@settings(max_examples=30)
@given(names, names, seeds)
def test_negation(first: str, second: str, seed: int) -> None:
    """(-f)(S) = -f(S) on sets, along chains and in the range; twice it is f again, also in sums."""
    (f, _), (g, _) = make(first, seed), make(second, seed + 1)
    for whole in (f, f + g, 2.5 * f):
        negated, values = -whole, table_of(whole)
        np.testing.assert_array_equal(table_of(negated), -values)
        np.testing.assert_array_equal(
            [negated(s) for s in families.subsets(N)], [-whole(s) for s in families.subsets(N)]
        )
        order = np.random.default_rng(seed).permutation(N)
        np.testing.assert_array_equal(negated.chain_values(order), -whole.chain_values(order))
        assert negated.range() == tuple(-end for end in reversed(whole.range()))
        assert negated.integer_valued == whole.integer_valued
        assert (-negated).known_submodular == whole.known_submodular
        np.testing.assert_array_equal(table_of(-negated), values)
    np.testing.assert_allclose(table_of(-(2.5 * -f) + -(-f + -g)), 3.5 * table_of(f) + table_of(g), atol=1e-9)
    if FromCallable not in (type(f), type(g)):
        again = SetFunction.from_dict(json.loads(json.dumps((-(f + g)).to_dict())))
        np.testing.assert_array_equal(table_of(again), table_of(-(f + g)))


def test_negations_add_up_to_one() -> None:
    """A long sum of rewards stays small, and with the other sign has the structure that minimisers use."""
    rewards = [-Cut(np.triu(np.full((3, 3), 0.5 * k), 1)) for k in range(100)]
    total = Sum([*rewards, Modular([1.0, 2.0, 3.0])])
    assert [type(term) for term in total.terms] == [Negated, Modular]
    assert not total.known_submodular
    assert (-total).known_submodular
    assert (-total).cut_network() is not None
    assert type(-Modular([1.0])) is Modular


@settings(max_examples=50)
@given(names, seeds, st.sets(st.integers(0, N - 1)))
def test_restriction_contraction_and_complement(name: str, seed: int, subset: set[int]) -> None:
    """Each derived function has the value that its definition says, on sets and along chains."""
    f, _ = make(name, seed)
    inside, outside = sorted(subset), sorted(set(range(N)) - subset)
    everything = frozenset(range(N))
    restricted, contracted, flipped = f.restrict(inside), f.contract(inside), f.complement()
    for s in families.subsets(len(inside)):
        assert restricted(s) == pytest.approx(f({inside[i] for i in s}), abs=1e-9)
    for s in families.subsets(len(outside)):
        expected = f({outside[i] for i in s} | subset) - f(subset)
        assert contracted(s) == pytest.approx(expected, abs=1e-9)
    for s in families.subsets(N):
        assert flipped(s) == pytest.approx(f(everything - s), abs=1e-9)
    assert flipped.complement() is f
    rng = np.random.default_rng(seed)
    for g in (restricted, contracted, flipped):
        order = rng.permutation(g.n)
        np.testing.assert_allclose(g.chain_values(order), [g(order[:k]) for k in range(g.n + 1)], atol=1e-9)
        values = table_of(g)
        lo, hi = g.range()
        assert lo - 1e-6 <= values.min()
        assert values.max() <= hi + 1e-6
        if not isinstance(f, FromCallable):
            again = SetFunction.from_dict(json.loads(json.dumps(g.to_dict())))
            np.testing.assert_array_equal(table_of(again), values)


def test_sum_of_one_closed_family_is_one_function() -> None:
    """f + g of a closed family is of that family, not a Sum."""
    closed = ("modular", "cut", "coverage", "bundles", "hypergraph_cut", "table", "facility_location")
    for name in (*closed, "concave_of_cardinality"):
        (f, _), (g, _) = make(name, 1), make(name, 2)
        assert type(f + g) is type(2 * f) is type(f)


def test_a_long_stream_of_sums_stays_small() -> None:
    """1,000 functions of mixed families collapse to one of each family over the distinct parts."""
    rng = np.random.default_rng(0)
    groups = [[0, 1], [1, 2], [3]]
    stream = [
        Bundles(4, [groups[k]], [1.0], costs=[0.5] * 4) if k < 3 else Modular([1, 2, 3, 4])
        for k in rng.integers(0, 4, size=1000)
    ]
    total = Sum(stream)
    assert sorted(type(term).__name__ for term in total.terms) == ["Bundles", "Modular"]
    assert len(str(total.to_dict())) < 500
    sample = [frozenset(), frozenset({0, 1}), frozenset({0, 1, 2, 3})]
    for s in sample:
        assert total(s) == pytest.approx(sum(f(s) for f in stream))


def test_nested_sums_are_flat_and_merge() -> None:
    """Adding in a loop merges as well as adding at once."""
    total = Modular([0.0, 0.0]) + Iwata(2)
    for _ in range(10):
        total = total + Modular([1.0, 2.0]) + Coverage([[0], [0]])
    assert isinstance(total, Sum)
    assert len(total.terms) == 3
    assert total([1]) == pytest.approx(Iwata(2)([1]) + 20 + 10)


def test_cut_from_edges_dense_and_sparse_agree() -> None:
    """Three ways to give one graph; parallel edges add up; the diagonal is ignored."""
    w = np.array([[9.0, 2.0, 0.0], [0.0, 0.0, 1.0], [4.0, 0.0, 9.0]])
    dense, sparse = Cut(w), Cut(scipy.sparse.csr_array(w))
    edges = Cut.from_edges(3, [0, 1, 2, 2, 0], [1, 2, 0, 0, 0], [2, 1, 1, 3, 9])
    np.testing.assert_array_equal(table_of(dense), table_of(sparse))
    np.testing.assert_array_equal(table_of(dense), table_of(edges))
    undirected = Cut.from_edges(3, [0], [1], [5], directed=False)
    assert undirected([0]) == undirected([1]) == 5.0


def test_from_callable_uses_its_fast_version() -> None:
    """The chain version is called where given, and agrees with the plain one."""
    calls = []

    def chain(order: np.ndarray) -> np.ndarray:
        calls.append("chain")
        return np.sqrt(np.arange(order.size + 1))

    plain = FromCallable(lambda s: len(s) ** 0.5, 4)
    chained = FromCallable(lambda s: len(s) ** 0.5, 4, chain=chain, value_range=(0, 2))
    for f in (plain, chained):
        np.testing.assert_allclose(f.chain_values([3, 1, 0, 2]), np.sqrt(np.arange(5)))
        assert f.range() == (0.0, 2.0)
    assert calls == ["chain"]


def test_a_callable_cannot_change_its_caller() -> None:
    """A function that scribbles on its mask or order does not harm the next call."""

    def scribble(mask: np.ndarray) -> float:
        mask[:] = True
        return 0.0

    f = FromCallable(scribble, 3, takes="mask")
    mine = np.array([True, False, False])
    f(mine)
    f.chain_values([0, 1, 2])
    assert mine.tolist() == [True, False, False]
