"""Chain passes against evaluating every prefix."""

from collections.abc import Iterator

import numpy as np
import scipy.sparse

from benchmarks.measure import Row, versus
from discreet.set_functions import Cut


def sparse_cut(n: int, degree: int, seed: int = 0) -> Cut:
    """A random directed graph with about `degree` edges a vertex, and prices of both signs."""
    rng = np.random.default_rng(seed)
    graph = scipy.sparse.random_array((n, n), density=degree / n, rng=rng)
    return Cut(graph, modular=rng.normal(size=n) * np.sqrt(degree))


def rows() -> Iterator[Row]:
    f = sparse_cut(1000, 8)
    order = np.random.default_rng(1).permutation(1000)
    calls = 100
    ours, peer = versus(
        lambda: [f.chain_values(order) for _ in range(calls)],
        lambda: [f(order[:k]) for k in range(1001)],
    )
    yield Row(
        "chain_values, sparse cut n=1000 degree 8",
        ours / calls,
        limit=250e-6,
        peer="n+1 evaluations",
        ratio=peer / (ours / calls),
        least_ratio=100,
    )
