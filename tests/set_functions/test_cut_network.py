"""Cut networks: the least cost over auxiliary nodes is the function itself."""

import itertools

import numpy as np
import pytest

import families
from discreet.set_functions import Modular, SetFunction
from discreet.set_functions.structure import CutNetwork

N = 3
NETWORKED = ["modular", "cut", "hypergraph_cut", "coverage", "bundles", "facility_location"]


def cost(network: CutNetwork, chosen: np.ndarray) -> float:
    leaving = chosen[network.tails] & ~chosen[network.heads]
    return network.constant + network.unary[chosen].sum() + network.capacities[leaving].sum()


def assert_represents(network: CutNetwork | None, f: SetFunction) -> None:
    """Enumerate all sets of nodes, items and auxiliary ones alike."""
    assert network is not None
    assert network.items == f.n
    for s in families.subsets(f.n):
        items = [i in s for i in range(f.n)]
        least = min(
            cost(network, np.array([*items, *rest], dtype=bool))
            for rest in itertools.product([False, True], repeat=network.nodes - f.n)
        )
        assert least == pytest.approx(f(s), abs=1e-9)


@pytest.mark.parametrize("name", NETWORKED)
def test_network_represents_the_function(name: str) -> None:
    """For the function, its multiples, restrictions, contractions and complement."""
    f, _ = families.FAMILIES[name](N, np.random.default_rng(3))
    for g in (2.5 * f, f.restrict([0, 2]), f.complement().contract([0])):
        assert_represents(g.cut_network(), g)


def test_network_of_a_sum() -> None:
    """Auxiliary nodes of the terms stay apart."""
    rng = np.random.default_rng(1)
    terms = [families.FAMILIES[name](N, rng)[0] for name in ("coverage", "cut", "bundles")]
    f = sum(terms, start=Modular(np.zeros(N)))
    assert_represents(f.cut_network(), f)


def test_families_without_a_network_have_none() -> None:
    """Nor has what is made of them: one such term leaves a sum without one."""
    rng = np.random.default_rng(1)
    f = families.matroid_rank(N, rng)[0]
    for g in (f, f + families.cut(N, rng)[0], 2 * f, f.restrict([0]), f.complement()):
        assert g.cut_network() is None
