"""Cut networks: the least cost over auxiliary nodes is the function itself."""

import itertools

import numpy as np
import pytest

import families
from discreet.set_functions import Modular, SetFunction
from discreet.set_functions.cut_network import CutNetwork

N = 3
NETWORKED = ["modular", "cut", "hypergraph_cut", "coverage", "bundles", "facility_location"]


def assert_represents(network: CutNetwork, f: SetFunction) -> None:
    """Enumerate all sets of nodes, items and auxiliary ones alike."""
    assert network.items == f.n
    for s in families.subsets(f.n):
        items = [i in s for i in range(f.n)]
        least = min(
            network.cost(np.array([*items, *rest], dtype=bool))
            for rest in itertools.product([False, True], repeat=network.nodes - f.n)
        )
        assert least == pytest.approx(f(s), abs=1e-9)


@pytest.mark.parametrize("name", NETWORKED)
def test_network_represents_the_function(name: str) -> None:
    """For the function, its multiples, restrictions, contractions and complement."""
    f, _ = families.FAMILIES[name](N, np.random.default_rng(3))
    for g in (f, 2.5 * f, f.restrict([0, 2]), f.contract([1]), f.complement(), f.complement().contract([0])):
        network = g.cut_network()
        assert network is not None
        assert_represents(network, g)


def test_network_of_a_sum() -> None:
    """Auxiliary nodes of the terms stay apart."""
    rng = np.random.default_rng(1)
    f = sum(
        (families.FAMILIES[name](N, rng)[0] for name in ("coverage", "cut", "bundles")),
        start=Modular(np.zeros(N)),
    )
    network = f.cut_network()
    assert network is not None
    assert_represents(network, f)


def test_families_without_a_network_have_none() -> None:
    """One term without a network leaves the sum without one."""
    rng = np.random.default_rng(1)
    f = families.matroid_rank(N, rng)[0]
    assert f.cut_network() is None
    assert (f + families.cut(N, rng)[0]).cut_network() is None
    assert (2 * f).cut_network() is None
    assert f.restrict([0]).cut_network() is None
    assert f.contract([0]).cut_network() is None
    assert f.complement().cut_network() is None
