"""Bad arguments of every family: a DiscreetError that names the argument, and quotes nothing private."""

import re
import traceback
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
    SetFunction,
    Sum,
    Table,
)

NAN = float("nan")
#: Numbers that could be somebody's: as a value, as an item, and as text.
VALUE, ITEM, TEXT = 0.7319, 7319, "secret7319"


@pytest.mark.parametrize(
    ("build", "argument", "got"),
    [
        (lambda: Modular([[1]]), "weights", r"shape \(1, 1\)"),
        (lambda: ConcaveOfCardinality([]), "values", "none"),
        (lambda: Cut([[0, 1]]), "weights", r"\(1, 2\)"),
        (lambda: Cut(np.zeros((2, 2)), modular=[1]), "modular", r"shape \(1,\)"),
        (lambda: Cut.from_edges(2, [0], [1, 1], [1]), "heads", "1"),
        (lambda: Cut.from_edges(-1, [], [], []), "n", "-1"),
        (lambda: Coverage([["x"]]), "covers", "a str among them"),
        (lambda: MatroidRank([(0, 1, 2)]), "edges", "pairs"),
        (lambda: LogDeterminant([[1, 2]]), "kernel", r"\(1, 2\)"),
        (lambda: Iwata(2.5), "n", "2.5"),  # type: ignore[arg-type]
        (lambda: Table([1, 2, 3]), "values", "3"),
        (lambda: FromCallable(len, 2, takes="list"), "takes", "'list'"),  # type: ignore[arg-type]
        (lambda: FromCallable(len, 2, chain=lambda order: [1]).chain_values([0, 1]), "chain", "Got 1"),
        (lambda: FromCallable(len, 30).range(), "range", "value_range"),
        (lambda: Sum([]), "functions", "none"),
        (lambda: Sum([Modular([1]), Modular([1, 2])]), "functions", r"\[1, 2\]"),
        (lambda: Sum([len]), "functions", "FromCallable"),  # type: ignore[list-item]
        (lambda: Iwata(30).table(), "n", "30"),
    ],
)
def test_bad_argument_is_named(build: Callable[[], object], argument: str, got: str) -> None:
    """The message says which argument it was and what it got: sizes, types and names of options."""
    with pytest.raises(DiscreetError, match=got) as caught:
        build()
    assert argument in str(caught.value)


@pytest.mark.parametrize(
    ("build", "argument"),
    [
        (lambda: Modular([VALUE, NAN]), "weights"),
        (lambda: Modular([TEXT]), "weights"),
        (lambda: Modular([1], constant=TEXT), "constant"),  # type: ignore[arg-type]
        (lambda: ConcaveOfCardinality([0, VALUE, 3 * VALUE]), "concave"),
        (lambda: ConcaveOfModular([-VALUE], "sqrt"), "weights"),
        (lambda: ConcaveOfModular([1], TEXT), "shape"),
        (lambda: ConcaveOfModular([1], ("power", 1 + VALUE)), "shape"),
        (lambda: ConcaveOfModular([1], ("truncate", TEXT)), "shape"),
        (lambda: ConcaveOfModular([1], ("piecewise", [0, VALUE], [0, 1])), "knots"),
        (lambda: ConcaveOfModular([1], ("piecewise", [0, 1, 2], [0, VALUE, 3])), "concave"),
        (lambda: ConcaveOfModular([1], factor=-VALUE), "factor"),
        (lambda: Cut([[0, -VALUE], [0, 0]]), "weights"),
        (lambda: Cut(scipy.sparse.csr_array(np.array([[0, -VALUE], [0, 0]]))), "weights"),
        (lambda: Cut.from_edges(2, [0], [ITEM], [1]), "heads"),
        (lambda: HypergraphCut(2, [[0, ITEM]]), "hyperedges"),
        (lambda: HypergraphCut(2, [[0, 1]], [-VALUE]), "weights"),
        (lambda: Coverage([[0], [ITEM]], weights=[1]), "covers"),
        (lambda: Coverage([[-ITEM]]), "covers"),
        (lambda: Coverage([[0]], weights=[-VALUE]), "weights"),
        (lambda: Bundles(2, [[0]], [-VALUE]), "values"),
        (lambda: Bundles(2, [[0]], [1], costs=[NAN, VALUE]), "costs"),
        (lambda: FacilityLocation([[1, -VALUE]]), "benefits"),
        (lambda: MatroidRank([(0, ITEM)], vertices=3), "edges"),
        (lambda: LogDeterminant([[VALUE, 2], [2, VALUE]]), "kernel"),
        (lambda: LogDeterminant([[1, VALUE], [0, 1]]), "kernel"),
        (lambda: GaussianMutualInformation([[-VALUE]]), "covariance"),
        (lambda: FromCallable(VALUE, 2), "function"),  # type: ignore[arg-type]
        (lambda: FromCallable(len, 2, value_range=(1, VALUE)), "value_range"),
        (lambda: Modular([1]) * -VALUE, "factor"),
        (lambda: Modular([1]).restrict([ITEM]), "kept"),
        (lambda: SetFunction.from_dict({"kind": "Cut", "weights": VALUE}), "weights"),
        (lambda: SetFunction.from_dict({"kind": "Modular", "wights": [VALUE]}), "wights"),
    ],
)
def test_numbers_that_may_be_private_are_not_quoted(build: Callable[[], object], argument: str) -> None:
    """The message says which argument it was and what is wanted of it; no number leads back to it."""
    with pytest.raises(DiscreetError) as caught:
        build()
    assert argument in str(caught.value)
    shown = "".join(traceback.format_exception_only(caught.value))
    assert not re.search(r"7\d\d\d|731|secret|\d\.\d", shown)
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__ or caught.value.__context__ is None


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
