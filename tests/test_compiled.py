"""Generic kernels: the body is chosen by the first argument's type, interpreted and compiled alike."""

import importlib
import inspect
import os
import pathlib
import pkgutil
import subprocess
import sys
from typing import NamedTuple

import numba
import numpy as np
import pytest

import discreet
from discreet import compiled
from discreet.checks import FloatArray
from discreet.compiled import generic, kernel, lean_kernel


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


def test_every_compiled_function_counts_in_the_name_of_the_cache() -> None:
    """The cache is named after all files that speak of kernels: each compiled function is in one."""
    files = set()
    for module in pkgutil.walk_packages(discreet.__path__, "discreet."):
        for value in vars(importlib.import_module(module.name)).values():
            if isinstance(value, numba.core.registry.CPUDispatcher):
                files.add(inspect.getfile(value.py_func))
    assert len(files) > 10
    for path in files:
        assert b"kernel" in pathlib.Path(path).read_bytes(), path


def test_changing_a_kernel_changes_the_cache(tmp_path: pathlib.Path) -> None:
    """A copy of the package with one kernel edited compiles into another folder; other edits do not."""

    def folder_of(package: pathlib.Path) -> str:
        code = "import discreet.compiled; print(discreet.compiled.kernel_cache())"
        done = subprocess.run(
            [sys.executable, "-c", code], cwd=package.parent, capture_output=True, text=True, check=True
        )
        return pathlib.Path(done.stdout.strip()).name

    source = pathlib.Path(compiled.__file__).parent
    copy = tmp_path / "discreet"
    for path in source.rglob("*.py"):
        target = copy / path.relative_to(source)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(path.read_bytes())
    before = folder_of(copy)
    (copy / "errors.py").write_text((copy / "errors.py").read_text() + "# a remark\n")
    assert folder_of(copy) == before
    noise = copy / "privacy" / "noise.py"
    noise.write_text(noise.read_text() + "# a remark\n")
    assert folder_of(copy) != before


def test_the_users_own_cache_setting_is_left_alone() -> None:
    """Compiling a kernel does not move where the user's functions are cached."""
    before = numba.config.CACHE_DIR
    kernel(lambda x: x)
    assert before == numba.config.CACHE_DIR


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
from discreet.simulation import play
{imports}
print(play(FixedSet(2, [0]), {stream}).tolist())
"""


def test_parts_of_others_are_not_cached(tmp_path: pathlib.Path) -> None:
    """A user's changed kernel counts at once, and programs that cannot import it run all the same."""
    # A cache of its own: if this fails, what it leaves there must not break other programs.
    paths = {"PYTHONPATH": str(pathlib.Path(discreet.__path__[0]).parent)}
    environment = os.environ | paths | {"NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    users, others = tmp_path / "users", tmp_path / "others"
    users.mkdir()
    others.mkdir()

    def printed(imports: str, stream: str, folder: pathlib.Path) -> str:
        script = [sys.executable, "-c", PLAYS.format(imports=imports, stream=stream)]
        return subprocess.check_output(script, cwd=folder, env=environment, text=True).strip()

    for cost in ("0.25", "0.125"):
        (users / "users_stream.py").write_text(USERS_STREAM.replace("0.25", cost))
        assert printed("from users_stream import Own", "Own()", users) == f"[{cost}, {cost}, {cost}]"
    ours = printed("from discreet.environments import ItemSigns", "ItemSigns(2, 3, 1.0)", others)
    assert len(ours.split(",")) == 3


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
        with pytest.raises(TypeError, match="is no lean kernel"):
            function(argument)
