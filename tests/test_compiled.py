"""Generic kernels: the body is chosen by the first argument's type, interpreted and compiled alike."""

import os
import subprocess
import sys
from typing import NamedTuple

import numba
import numpy as np
import pytest

from discreet.checks import FloatArray
from discreet.compiled import generic, kernel, lean_kernel
from discreet.privacy.noise import Law


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


def test_the_users_own_cache_setting_is_left_alone() -> None:
    """Compiling a kernel does not move where the user's functions are cached."""
    before = numba.config.CACHE_DIR
    kernel(lambda x: x)
    assert before == numba.config.CACHE_DIR


@pytest.mark.process
def test_kernels_run_where_nothing_can_be_cached() -> None:
    """They are compiled in each process then; numba does not cache them where it sees too few changes."""
    code = """
import numpy as np
from discreet.compiled import cache_folder
from discreet.privacy.uniform import high_half
a = np.uint64(1 << 40)
print(high_half(a, a), cache_folder(), high_half._cache.cache_path)
"""
    nowhere = os.environ | {"NUMBA_CACHE_DIR": "/dev/null/cache"}
    ended = subprocess.run(
        [sys.executable, "-c", code], env=nowhere, capture_output=True, text=True, check=True
    )
    assert ended.stdout.split() == ["65536", "None", "None"]


def test_a_type_keeps_its_kernel() -> None:
    """Nobody replaces it, nor adds a kernel for a type of this package: its cache would keep it."""
    with pytest.raises(TypeError, match="area has its kernel for Square already"):
        area.register(Square)(_circle)
    with pytest.raises(TypeError, match="area has its kernel for Law already"):
        area.register(Law)(_circle)


class Pair(NamedTuple):
    first: FloatArray
    second: FloatArray


def test_lean_kernels_borrow_arrays() -> None:
    """Also as parts of named tuples, views of them, and what they hand on to other kernels."""

    @kernel
    def doubled(values):  # type: ignore[no-untyped-def]
        return 2.0 * values  # makes an array

    @kernel
    def sum_of_doubled(values):  # type: ignore[no-untyped-def]
        return doubled(values).sum()

    @lean_kernel
    def ends(pair):  # type: ignore[no-untyped-def]
        again = Pair(pair.second, pair.first[1:])
        again.first[0] = 7.0
        return sum_of_doubled(again.second) + again.first[0]

    pair = Pair(np.array([1.0, 2.0, 3.0]), np.zeros(2))
    before = [sys.getrefcount(each) for each in pair]
    for _ in range(1000):
        assert ends(pair) == 17.0
    assert [sys.getrefcount(each) for each in pair] == before
    assert pair.second.tolist() == [7.0, 0.0]


def test_a_kernel_that_makes_arrays_is_not_lean() -> None:
    """Nor one that gives an array back, or gets one it would have to let go of: refused when compiled."""

    @lean_kernel
    def makes(n):  # type: ignore[no-untyped-def]
        return np.empty(n).size

    @kernel
    def new(n):  # type: ignore[no-untyped-def]
        return np.empty(n)

    @lean_kernel
    def gets(n):  # type: ignore[no-untyped-def]
        return new(n).size

    @lean_kernel
    def gives(pair):  # type: ignore[no-untyped-def]
        return pair.first, 1

    pair = Pair(np.zeros(1), np.zeros(1))
    with pytest.raises(numba.core.errors.NumbaError):
        makes(1)
    for function, argument in ((gets, 1), (gives, pair)):
        with pytest.raises(TypeError, match="is not a lean kernel"):
            function(argument)
