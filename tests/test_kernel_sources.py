"""Editing a file throws away the compiled code that can hold parts of it, and no other."""

import ast
import importlib
import inspect
import json
import pathlib
import pkgutil
import subprocess
import sys
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import numba
import pytest

import discreet
from discreet import compiled, kernel_sources
from discreet.kernel_sources import Sources

PACKAGE = pathlib.Path(discreet.__path__[0])


def package(folder: pathlib.Path, files: dict[str, str]) -> pathlib.Path:
    """A package of these files, in a folder called discreet."""
    for name, text in files.items():
        path = folder / "discreet" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder / "discreet"


def test_imports_are_followed(tmp_path: pathlib.Path) -> None:
    """However they are written, through packages that pass names on, and those inside of functions."""
    sources = Sources(
        package(
            tmp_path,
            {
                "__init__.py": "from discreet.unrelated import x\n",
                "unrelated.py": "import math",
                "plain.py": "import discreet.sub.leaf as leaf  # import discreet.unrelated\n",
                "names.py": "from discreet.sub import (  # (those)\n    leaf,\n    other,\n)\n",
                "passed_on.py": "def f():\n    from discreet.sub import value\n",
                "sub/__init__.py": "from discreet.sub.hidden import value\n",
                "sub/leaf.py": "",
                "sub/other.py": "",
                "sub/hidden.py": "value = 1",
            },
        )
    )

    def reach(module: str) -> set[str]:
        return {name.removeprefix("discreet.") for name in sources.reach(f"discreet.{module}")}

    assert reach("plain") == {"plain", "sub.leaf"}
    assert reach("names") == {"names", "sub.leaf", "sub.other"}
    assert reach("passed_on") == {"passed_on", "sub", "sub.hidden"}
    assert sources.reach("math") == frozenset()


def test_registered_kernels_are_within_reach_of_those_that_call(tmp_path: pathlib.Path) -> None:
    """With all that they import and call in turn; modules that only declare or register do not reach them."""
    sources = Sources(
        package(
            tmp_path,
            {
                "area.py": "@generic\ndef area(shape): ...\n",
                "colour.py": "@generic\ndef colour(shape): ...\n",
                "square.py": "from discreet.area import area\n@area.register(Square)\ndef square(s): ...\n",
                "circle.py": "from discreet.area import area\nfrom discreet.colour import colour\n"
                "@area.register(Circle)\ndef circle(s): colour(s)\n",
                "red.py": "from discreet import colour as c\n@c.colour.register(Circle)\ndef red(s): ...\n",
                "total.py": "from discreet.area import area\ndef total(a, b): area(a) + area(b)\n",
                "mean.py": "from discreet.total import total\n",
                "alone.py": "def alone(colour): colour(1)\n",
            },
        )
    )
    everything = {f"discreet.{name}" for name in ("area", "colour", "square", "circle", "red", "total")}
    assert sources.reach("discreet.total") == everything
    assert sources.reach("discreet.mean") == everything | {"discreet.mean"}
    assert sources.reach("discreet.square") == {"discreet.square", "discreet.area"}
    assert sources.reach("discreet.area") == {"discreet.area"}
    assert sources.reach("discreet.alone") == {"discreet.alone"}


def test_the_digest_depends_on_these_files_alone(tmp_path: pathlib.Path) -> None:
    """On their names and on all they say."""
    one = frozenset({"discreet.a"})

    def digest(**files: str) -> str:
        return Sources(package(tmp_path, {f"{name}.py": text for name, text in files.items()})).digest(one)

    first = digest(a="x", b="y")
    assert digest(a="x", b="z") == first
    assert digest(a="x ", b="y") != first


def test_no_import_statement_is_overlooked() -> None:
    """What the text search finds in each file of this package, beside what its parsed statements say."""
    sources = Sources(PACKAGE)
    for module in sources._texts:
        path = PACKAGE.parent / (module.replace(".", "/") + ".py")
        path = path if path.exists() else path.with_suffix("") / "__init__.py"
        for node in ast.walk(ast.parse(path.read_bytes())):
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                assert node.level == 0
                names = [f"{node.module}.{alias.name}" for alias in node.names]
                names = [name if name in sources._texts else str(node.module) for name in names]
            else:
                continue
            assert {name for name in names if name in sources._texts} <= sources._imported_by(module)


def generics() -> dict[Any, set[str]]:
    """All generic functions of this package, with the modules of their kernels."""
    found = {}
    for module in modules():
        for value in vars(module).values():
            if hasattr(value, "register") and inspect.isfunction(value):
                kernels = inspect.getclosurevars(value).nonlocals.get("kernels")
                if kernels is not None:
                    found[value] = {kernel.__module__ for kernel in kernels.values()}
    return found


def modules() -> list[ModuleType]:
    return [
        importlib.import_module(found.name)
        for found in pkgutil.walk_packages(discreet.__path__, "discreet.")
        if "migrations" not in found.name  # run by alembic only
    ]


def referred_to(function: Any) -> Iterator[Any]:
    """The values of all global names that the code of a function mentions."""
    for name in function.__code__.co_names:
        if name in function.__globals__:
            value = function.__globals__[name]
            yield value
            if isinstance(value, ModuleType):
                yield from (getattr(value, each, None) for each in function.__code__.co_names)


def test_all_that_compiled_functions_refer_to_is_within_reach() -> None:
    """Other kernels, named tuples, and for generic functions every kernel that is registered."""
    registered, sources = generics(), Sources(PACKAGE)
    dispatchers = {
        value
        for module in modules()
        for value in vars(module).values()
        if isinstance(value, numba.core.registry.CPUDispatcher) and value.__module__.startswith("discreet.")
    }
    assert len(dispatchers) > 50
    assert len(registered) > 3
    for dispatcher in dispatchers:
        needed = set()
        for value in referred_to(dispatcher.py_func):
            if isinstance(value, numba.core.registry.CPUDispatcher | type):
                needed.add(value.__module__)
            elif inspect.isfunction(value):
                needed |= {value.__module__} | registered.get(value, set())
        ours = {name for name in needed if name.startswith("discreet.")}
        assert ours <= sources.reach(dispatcher.__module__), dispatcher


LITTLE = {
    "__init__.py": "",
    "compiled.py": pathlib.Path(compiled.__file__).read_text(),
    "kernel_sources.py": pathlib.Path(kernel_sources.__file__).read_text(),
    "factors.py": "FACTOR = 3.0\n",
    "area.py": "from discreet.compiled import generic\n\n@generic\ndef area(shape):\n    ...\n",
    "square.py": """
from typing import NamedTuple
from discreet.area import area
from discreet.compiled import kernel
from discreet.factors import FACTOR

class Square(NamedTuple):
    side: float
    scale: float

@area.register(Square)
@kernel
def of_square(square):
    return FACTOR * square.scale * square.side
""",
    "total.py": """
from discreet.area import area
from discreet.compiled import lean_kernel

@lean_kernel
def total(first, second):
    return area(first) + area(second)
""",
    "other.py": "from discreet.compiled import kernel\n\n@kernel\ndef twice(x):\n    return 2 * x\n",
    "elsewhere.py": "from typing import NamedTuple\n\nclass Elsewhere(NamedTuple):\n    side: float\n",
    "by_side.py": """
from discreet.compiled import kernel

@kernel
def side(shape):
    return shape.side
""",
}
USERS = """
from typing import NamedTuple
from discreet.area import area
from discreet.compiled import kernel

class Blob(NamedTuple):
    size: float

@area.register(Blob)
@kernel
def of_blob(blob):
    return 7.0 * blob.size
"""
RUN = """
import json
from discreet import by_side, elsewhere, other, square, total
values = [
    total.total(square.Square(1.0, 10.0), square.Square(2.0, 10.0)),
    other.twice(4),
    by_side.side(elsewhere.Elsewhere(5.0)),
]
functions = total.total, other.twice, by_side.side
print(json.dumps([values, [sum(each.stats.cache_misses.values()) for each in functions]]))
"""
RUN_USERS = "import users\nfrom discreet import total\nprint(total.total(users.Blob(1.0), users.Blob(1.0)))"


@pytest.mark.process
def test_code_is_loaded_from_disk_until_a_file_changes_that_it_can_hold(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever changes, the results are those of the present files, and only what may hold it is compiled."""
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    monkeypatch.delenv("PYTHONPATH", raising=False)
    folder = package(tmp_path, LITTLE)

    def run(program: str = RUN) -> Any:
        script = [sys.executable, "-B", "-c", program]
        return json.loads(subprocess.check_output(script, cwd=tmp_path, text=True))

    def edit(name: str, old: str, new: str) -> None:
        text = (folder / name).read_text()
        assert old in text
        (folder / name).write_text(text.replace(old, new))

    # Last comes a kernel of a type from a file out of its reach: it is compiled in each process.
    assert run() == [[90.0, 8, 5.0], [1, 1, 1]]
    # A user's changed kernel counts at once; programs run without it, and compile nothing again.
    for factor in ("7.0", "9.0"):
        (tmp_path / "users.py").write_text(USERS.replace("7.0", factor))
        assert run(RUN_USERS) == 2 * float(factor)
    (tmp_path / "users.py").unlink()
    assert run() == [[90.0, 8, 5.0], [0, 0, 1]]
    edit("factors.py", "3.0", "5.0")
    assert run() == [[150.0, 8, 5.0], [1, 0, 1]]
    edit("square.py", "return FACTOR", "return 2 * FACTOR")
    edit("square.py", "    side: float\n    scale: float\n", "    scale: float\n    side: float\n")
    edit("square.py", "square.side", "square.side**2")
    edit("other.py", "2", "3")
    edit("elsewhere.py", "    side: float", "    top: float\n    side: float = 7.0")
    assert run() == [[2 * 5.0 * (1.0 + 2.0) * 100, 12, 7.0], [1, 1, 1]]
