"""Generic kernels: the body is chosen by the first argument's type, interpreted and compiled alike."""

from typing import NamedTuple

import numba
import pytest

from discreet.compiled import generic, kernel


class Square(NamedTuple):
    side: float


class Circle(NamedTuple):
    radius: float


class Blob(NamedTuple):
    size: float


@generic
def area(shape, scale):  # type: ignore[no-untyped-def]
    """Declared only."""


@area.register(Square)
@kernel
def _square(shape, scale):  # type: ignore[no-untyped-def]
    return scale * shape.side**2


@area.register(Circle)
@kernel
def _circle(shape, scale):  # type: ignore[no-untyped-def]
    return scale * 3.0 * shape.radius**2


@numba.njit
def total(first, second):  # type: ignore[no-untyped-def]
    return area(first, 1.0) + area(second, 10.0)


def test_the_type_picks_the_kernel() -> None:
    """From Python and from compiled code."""
    assert area(Square(2.0), 1.0) == 4.0
    assert area(Circle(2.0), 1.0) == 12.0
    assert total(Square(2.0), Circle(1.0)) == 34.0
    assert total(Circle(1.0), Square(2.0)) == 43.0


def test_unregistered_types_are_errors() -> None:
    """Both ways."""
    with pytest.raises(KeyError):
        area(Blob(1.0), 1.0)
    with pytest.raises(numba.TypingError):
        total(Blob(1.0), Square(1.0))
