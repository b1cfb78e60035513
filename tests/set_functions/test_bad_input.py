"""Bad arguments of every family: a DiscreetError that names the argument and what it got."""

from collections.abc import Callable

import numpy as np
import pytest
import scipy.sparse

from discreet import DiscreetError
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
    Sum,
    Table,
)

NAN, INF = float("nan"), float("inf")


@pytest.mark.parametrize(
    ("build", "argument", "got"),
    [
        (lambda: Modular([1, NAN]), "weights", "nan"),
        (lambda: Modular([1, INF]), "weights", "inf"),
        (lambda: Modular([[1]]), "weights", r"shape \(1, 1\)"),
        (lambda: Modular(["a"]), "weights", "'a'"),
        (lambda: Modular([1], constant=NAN), "constant", "nan"),
        (lambda: ConcaveOfCardinality([0, 1, 3]), "concave", "rises at position 1, from 1.0 to 2.0"),
        (lambda: ConcaveOfCardinality([]), "values", "none"),
        (lambda: ConcaveOfModular([-1], "sqrt"), "weights", "-1.0"),
        (lambda: ConcaveOfModular([1], "cubic"), "shape", "'cubic'"),
        (lambda: ConcaveOfModular([1], ("power", 2)), "shape", "2"),
        (lambda: ConcaveOfModular([1], ("piecewise", [0, 0.5], [0, 1])), "knots", "0.5"),
        (lambda: ConcaveOfModular([1], ("piecewise", [0, 1, 2], [0, 1, 3])), "concave", "rises"),
        (lambda: ConcaveOfModular([1], factor=0), "factor", "0"),
        (lambda: Cut([[0, -1], [0, 0]]), "weights", "-1.0"),
        (lambda: Cut([[0, NAN], [0, 0]]), "weights", "nan"),
        (lambda: Cut([[0, 1]]), "weights", r"\(1, 2\)"),
        (lambda: Cut(scipy.sparse.csr_array(np.array([[0, -1.0], [0, 0]]))), "weights", "-1.0"),
        (lambda: Cut(np.zeros((2, 2)), modular=[1]), "modular", r"shape \(1,\)"),
        (lambda: Cut.from_edges(2, [0], [2], [1]), "heads", "2"),
        (lambda: Cut.from_edges(2, [0], [1, 1], [1]), "heads", "2"),
        (lambda: Cut.from_edges(2, [0], [1], [1, 1]), "weights", r"\(2,\)"),
        (lambda: Cut.from_edges(-1, [], [], []), "n", "-1"),
        (lambda: HypergraphCut(2, [[0, 2]]), "groups", "2"),
        (lambda: HypergraphCut(2, [[0, 1]], [-1]), "weights", "-1.0"),
        (lambda: Coverage([[0], [1]], weights=[1]), "covers", "1"),
        (lambda: Coverage([[-1]]), "covers", "-1"),
        (lambda: Coverage([["x"]]), "covers", "a str among them"),
        (lambda: Bundles(2, [[0]], [1, 2]), "values", r"\(2,\)"),
        (lambda: Bundles(2, [[0]], [-3]), "values", "-3.0"),
        (lambda: Bundles(2, [[0]], [1], costs=[NAN, 0]), "costs", "nan"),
        (lambda: Bundles(True, []), "n", "True"),
        (lambda: FacilityLocation([[1, -2]]), "benefits", "-2.0"),
        (lambda: FacilityLocation([1, 2]), "benefits", r"\(2,\)"),
        (lambda: MatroidRank([(0, 1, 2)]), "edges", "pairs"),
        (lambda: MatroidRank([(0, 5)], vertices=3), "edges", "5"),
        (lambda: LogDeterminant([[1, 2], [2, 1]]), "kernel", "least eigenvalue is -1"),
        (lambda: LogDeterminant([[1, 2], [0, 1]]), "kernel", "differ by 2.0"),
        (lambda: LogDeterminant([[1, 2]]), "kernel", r"\(1, 2\)"),
        (lambda: GaussianMutualInformation([[0.0]]), "covariance", "least eigenvalue is 0"),
        (lambda: Iwata(2.5), "n", "2.5"),  # type: ignore[arg-type]
        (lambda: Table([1, 2, 3]), "values", "3"),
        (lambda: Table([]), "values", "0"),
        (lambda: FromCallable(3, 2), "function", "3"),  # type: ignore[arg-type]
        (lambda: FromCallable(len, 2, takes="list"), "takes", "'list'"),  # type: ignore[arg-type]
        (lambda: FromCallable(len, 2, value_range=(1, 0)), "value_range", r"\(1, 0\)"),
        (lambda: FromCallable(len, 2, chain=lambda order: [1]).chain_values([0, 1]), "chain", "Got 1"),
        (lambda: FromCallable(len, 30).range(), "range", "30 items"),
        (lambda: Sum([]), "functions", "none"),
        (lambda: Sum([Modular([1]), Modular([1, 2])]), "functions", r"\[1, 2\]"),
        (lambda: Sum([Modular([1]), Iwata(2)]), "functions", r"\[1, 2\]"),
        (lambda: Sum([len]), "functions", "builtin_function_or_method"),  # type: ignore[list-item]
        (lambda: Modular([1]) * -1, "factor", "-1"),
        (lambda: Modular([1]) * NAN, "factor", "nan"),
        (lambda: Modular([1]).restrict([1]), "kept", "1"),
        (lambda: Iwata(30).table(), "n", "30"),
    ],
)
def test_bad_argument_is_named(build: Callable[[], object], argument: str, got: str) -> None:
    """The message says which argument it was and what it got."""
    with pytest.raises(DiscreetError, match=got) as caught:
        build()
    assert argument in str(caught.value)


def test_adding_something_else_is_a_type_error() -> None:
    """f + 1 is not silently a shift."""
    with pytest.raises(TypeError):
        Modular([1]) + 1  # type: ignore[operator]


def test_inputs_are_copied_and_frozen() -> None:
    """Changing the caller's array later changes nothing, and a function's own arrays are read-only."""
    weights = np.array([1.0, 2.0])
    f = Modular(weights)
    weights[:] = 100
    assert f([0, 1]) == 3.0
    with pytest.raises(ValueError, match="read-only"):
        f.weights[0] = 5
