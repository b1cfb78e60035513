"""One random instance of every family of set functions, beside its definition written out slowly.

The definitions use Python sets and sums only, so they share no code with the package.
"""

import math
from collections.abc import Callable, Iterator

import numpy as np

from discreet.set_functions import (
    Bundles,
    ConcaveOfCardinality,
    ConcaveOfModular,
    Coverage,
    Cut,
    FacilityLocation,
    FromCallable,
    GaussianMutualInformation,
    HypergraphCut,
    Iwata,
    LogDeterminant,
    MatroidRank,
    Modular,
    SetFunction,
    Table,
)

Definition = Callable[[frozenset[int]], float]
Instance = tuple[SetFunction, Definition]


def subsets(n: int) -> Iterator[frozenset[int]]:
    """All subsets of range(n), in the order of their bit codes."""
    for code in range(2**n):
        yield frozenset(i for i in range(n) if code >> i & 1)


def in_unit_range(f: SetFunction) -> SetFunction:
    """The function moved and scaled to take values in [-1, 1]: M = 1."""
    values = f.table().values
    half = max((values.max() - values.min()) / 2, 1e-9)
    return (1 / half) * f.shift(-(values.max() + values.min()) / 2)


def modular(n: int, rng: np.random.Generator) -> Instance:
    w, c = rng.normal(size=n), float(rng.normal())
    return Modular(w, constant=c), lambda s: c + sum(w[i] for i in s)


def concave_of_cardinality(n: int, rng: np.random.Generator) -> Instance:
    slopes = np.sort(rng.normal(size=n))[::-1]
    values = np.concatenate(([float(rng.normal())], slopes)).cumsum()
    return ConcaveOfCardinality(values), lambda s: values[len(s)]


def concave_of_modular(n: int, rng: np.random.Generator) -> Instance:
    w = rng.random(n) * (rng.random(n) < 0.8)
    shape, g = [
        ("sqrt", math.sqrt),
        ("log1p", math.log1p),
        (("power", 0.3), lambda y: y**0.3),
        (("truncate", 0.7), lambda y: min(y, 0.7)),
        (("piecewise", [0.0, 1.0, 20.0], [0.5, 2.0, 1.0]), lambda y: np.interp(y, [0, 1, 20], [0.5, 2, 1])),
    ][rng.integers(5)]
    return ConcaveOfModular(w, shape, factor=1.5), lambda s: 1.5 * g(sum(w[i] for i in s))


def cut(n: int, rng: np.random.Generator) -> Instance:
    w, m = rng.random((n, n)) * (rng.random((n, n)) < 0.5), rng.normal(size=n)

    def definition(s: frozenset[int]) -> float:
        crossing = sum(w[i, j] for i in s for j in range(n) if j not in s)
        return crossing + sum(m[i] for i in s)

    return Cut(w, modular=m), definition


def random_groups(n: int, rng: np.random.Generator) -> list[list[int]]:
    # 2n groups of one to three members; none where there is no item to take.
    return [rng.integers(0, n, size=rng.integers(1, 4)).tolist() for _ in range(2 * n)]


def hypergraph_cut(n: int, rng: np.random.Generator) -> Instance:
    groups, m = random_groups(n, rng), rng.normal(size=n)
    w = rng.random(len(groups))

    def definition(s: frozenset[int]) -> float:
        split = sum(v for g, v in zip(groups, w, strict=True) if set(g) & s and set(g) - s)
        return split + sum(m[i] for i in s)

    return HypergraphCut(n, groups, w, modular=m), definition


def coverage(n: int, rng: np.random.Generator) -> Instance:
    covers, w = [rng.integers(0, 6, size=3).tolist() for _ in range(n)], rng.random(6)
    return Coverage(covers, w), lambda s: sum(w[u] for u in {u for i in s for u in covers[i]})


def bundles(n: int, rng: np.random.Generator) -> Instance:
    groups, c = [*random_groups(n, rng), []], rng.normal(size=n)
    v = rng.random(len(groups))

    def definition(s: frozenset[int]) -> float:
        return sum(c[i] for i in s) - sum(x for g, x in zip(groups, v, strict=True) if set(g) <= s)

    return Bundles(n, groups, v, costs=c), definition


def facility_location(n: int, rng: np.random.Generator) -> Instance:
    b = rng.random((4, n)).round(1)
    return FacilityLocation(b), lambda s: sum(max((row[i] for i in s), default=0.0) for row in b)


def matroid_rank(n: int, rng: np.random.Generator) -> Instance:
    edges = [(int(a), int(b)) for a, b in rng.integers(0, 5, size=(n, 2))]

    def definition(s: frozenset[int]) -> float:
        component = list(range(5))
        for a, b in (edges[i] for i in s):
            old, new = component[a], component[b]
            component = [new if c == old else c for c in component]
        return 5 - len(set(component))

    return MatroidRank(edges, vertices=5), definition


def positive_definite(n: int, rng: np.random.Generator) -> np.ndarray:
    root = rng.normal(size=(n, n))
    return root @ root.T / n + 0.3 * np.eye(n)


def log_minor(matrix: np.ndarray, s: frozenset[int]) -> float:
    rows = sorted(s)
    return float(np.log(np.linalg.det(matrix[np.ix_(rows, rows)]))) if rows else 0.0


def log_determinant(n: int, rng: np.random.Generator) -> Instance:
    k = positive_definite(n, rng)
    return LogDeterminant(k), lambda s: log_minor(k, s)


def gaussian_mutual_information(n: int, rng: np.random.Generator) -> Instance:
    k, everything = positive_definite(n, rng), frozenset(range(n))

    def definition(s: frozenset[int]) -> float:
        return (log_minor(k, s) + log_minor(k, everything - s) - log_minor(k, everything)) / 2

    return GaussianMutualInformation(k), definition


def iwata(n: int, rng: np.random.Generator) -> Instance:
    return Iwata(n), lambda s: len(s) * (n - len(s)) - sum(5 * (j + 1) - 2 * n for j in s)


def table(n: int, rng: np.random.Generator) -> Instance:
    inner, definition = cut(n, rng)
    return Table([inner(s) for s in subsets(n)]), definition


def from_callable(n: int, rng: np.random.Generator) -> Instance:
    _, definition = coverage(n, rng)
    takes_mask = bool(rng.integers(2))
    if takes_mask:
        return (
            FromCallable(lambda m: definition(frozenset(np.flatnonzero(m).tolist())), n, takes="mask"),
            definition,
        )
    return FromCallable(definition, n), definition


FAMILIES: dict[str, Callable[[int, np.random.Generator], Instance]] = {
    maker.__name__: maker
    for maker in (
        modular,
        concave_of_cardinality,
        concave_of_modular,
        cut,
        hypergraph_cut,
        coverage,
        bundles,
        facility_location,
        matroid_rank,
        log_determinant,
        gaussian_mutual_information,
        iwata,
        table,
        from_callable,
    )
}
