"""Generic kernels: the body is chosen by the first argument's type, interpreted and compiled alike."""

import os
import pathlib
import subprocess
import sys
from typing import NamedTuple

import numba
import numpy as np
import pytest

import discreet
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


def test_a_type_keeps_its_kernel() -> None:
    """Nobody replaces it, nor adds a kernel for a type of this package: its cache would keep it."""
    with pytest.raises(TypeError, match="area has its kernel for Square already"):
        area.register(Square)(_circle)
    with pytest.raises(TypeError, match="area has its kernel for Law already"):
        area.register(Law)(_circle)


USERS_STREAM = """
from typing import NamedTuple
import numpy as np
from discreet.compiled import kernel
from discreet.environments import Stream, prefix_cost
from discreet.set_functions import Modular

class Rounds(NamedTuple):
    costs: np.ndarray

@prefix_cost.register(Rounds)
@kernel
def cost(stream, t, x, order, size):
    return 0.25

class Own(Stream):
    n, rounds, cost_range, compiled = 2, 3, (0.0, 1.0), Rounds(np.zeros(3))
    def total_until(self, rounds):
        return Modular([0, 0])
"""
PLAYS = """
from discreet.baselines import FixedSet
from discreet.simulation import loop, play
{imports}
print(play(FixedSet(2, [0]), {stream}).tolist())
kernels = [each for each in vars(loop).values() if hasattr(each, "stats")]
print("compiled", sum(sum(each.stats.cache_misses.values()) for each in kernels))
"""


@pytest.mark.process
def test_parts_of_others_are_not_cached(tmp_path: pathlib.Path) -> None:
    """A user's changed kernel counts at once; programs without it run, and compile only once."""
    # A cache of its own: if this fails, what it leaves there must not break other programs.
    paths = {"PYTHONPATH": str(pathlib.Path(discreet.__path__[0]).parent)}
    environment = os.environ | paths | {"NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    users, others = tmp_path / "users", tmp_path / "others"
    users.mkdir()
    others.mkdir()

    def printed(imports: str, stream: str, folder: pathlib.Path) -> list[str]:
        script = [sys.executable, "-c", PLAYS.format(imports=imports, stream=stream)]
        return subprocess.check_output(script, cwd=folder, env=environment, text=True).splitlines()

    for cost in ("0.25", "0.125"):
        (users / "users_stream.py").write_text(USERS_STREAM.replace("0.25", cost))
        played, _ = printed("from users_stream import Own", "Own()", users)
        assert played == f"[{cost}, {cost}, {cost}]"
    ours = "from discreet.environments import modular", "modular(2, 1.0).stream(3)", others
    assert printed(*ours)[1] != "compiled 0"
    assert printed(*ours)[1] == "compiled 0"


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
