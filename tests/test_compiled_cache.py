"""Editing a file that compiled code can come from throws away what was compiled."""

import ast
import importlib
import importlib.util
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
from discreet import compiled
from discreet.compiled import _sources

PACKAGE = pathlib.Path(discreet.__path__[0])
EVERY = {found.name for found in pkgutil.walk_packages(discreet.__path__, "discreet.")} | {"discreet"}


def package(folder: pathlib.Path, files: dict[str, str]) -> pathlib.Path:
    """A package of these files, in a folder called discreet."""
    for name, text in files.items():
        path = folder / "discreet" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder / "discreet"


def imported(statements: list[ast.stmt], package: str) -> Iterator[str]:
    """The modules of ours that a file of a package imports when it is loaded, and not for types only."""
    for node in statements:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in EVERY)
        elif isinstance(node, ast.ImportFrom):
            home = importlib.util.resolve_name("." * node.level + (node.module or ""), package)
            names = {f"{home}.{alias.name}" for alias in node.names}
            yield from {name if name in EVERY else home for name in names} & EVERY
        elif isinstance(node, ast.With | ast.Try) or (
            isinstance(node, ast.If) and ast.unparse(node.test) != "TYPE_CHECKING"
        ):
            yield from imported(node.body, package)


def test_files_import_only_what_the_digest_covers() -> None:
    """When they are loaded: compiled functions take their constants from there."""
    covered, _ = _sources()
    assert {"discreet.compiled", "discreet.kernel", "discreet.privacy.noise"} <= covered
    for module in covered - {"discreet.__main__"}:
        path = PACKAGE.parent / (module.replace(".", "/") + ".py")
        path = path if path.exists() else path.with_suffix("") / "__init__.py"
        package = module if path.name == "__init__.py" else module.rpartition(".")[0]
        assert set(imported(ast.parse(path.read_bytes()).body, package)) <= covered, module


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
        importlib.import_module(found.name) for found in pkgutil.walk_packages(discreet.__path__, "discreet.")
    ]


def referred_to(function: Any) -> Iterator[Any]:
    """The values of all global names that the code of a function mentions."""
    for name in function.__code__.co_names:
        if name in function.__globals__:
            value = function.__globals__[name]
            yield value
            if isinstance(value, ModuleType):
                yield from (getattr(value, each, None) for each in function.__code__.co_names)


def test_all_that_compiled_functions_refer_to_is_covered() -> None:
    """They themselves, other kernels, named tuples, and every kernel that is registered."""
    registered, (covered, _) = generics(), _sources()
    dispatchers = {
        value
        for module in modules()
        for value in vars(module).values()
        if isinstance(value, numba.core.registry.CPUDispatcher) and value.__module__.startswith("discreet.")
    }
    assert len(dispatchers) > 50
    assert len(registered) > 3
    for dispatcher in dispatchers:
        needed = {dispatcher.__module__}
        for value in referred_to(dispatcher.py_func):
            if isinstance(value, numba.core.registry.CPUDispatcher | type):
                needed.add(value.__module__)
            elif inspect.isfunction(value):
                needed |= {value.__module__} | registered.get(value, set())
        assert {name for name in needed if name.startswith("discreet.")} <= covered, dispatcher


LITTLE = {
    "__init__.py": "",
    "compiled.py": pathlib.Path(compiled.__file__).read_text(),
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
    "service/__init__.py": "",
    "service/elsewhere.py": "from typing import NamedTuple\nclass Elsewhere(NamedTuple):\n    side: float\n",
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
from discreet import by_side, other, square, total
from discreet.service import elsewhere
values = [
    total.total(square.Square(1.0, 10.0), square.Square(2.0, 10.0)),
    other.twice(4),
    by_side.side(elsewhere.Elsewhere(5.0)),
]
functions = total.total, other.twice, by_side.side
print(json.dumps([values, [sum(each.stats.cache_misses.values()) for each in functions]]))
"""
RUN_USERS = "import users\nfrom discreet import total\nprint(total.total(users.Blob(1.0), users.Blob(1.0)))"


@pytest.mark.slow
@pytest.mark.process
def test_code_is_loaded_from_disk_until_a_file_changes(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The results are those of the present files, and what was compiled before is removed."""
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
    edit("service/elsewhere.py", "float", "float = 7.0")  # no code comes from there
    assert run() == [[90.0, 8, 5.0], [0, 0, 1]]
    edit("factors.py", "3.0", "5.0")
    assert run() == [[150.0, 8, 5.0], [1, 1, 1]]
    assert len(list((folder / "__pycache__" / "kernels").iterdir())) == 1
    edit("square.py", "return FACTOR", "return 2 * FACTOR")
    edit("square.py", "    side: float\n    scale: float\n", "    scale: float\n    side: float\n")
    edit("square.py", "square.side", "square.side**2")
    edit("other.py", "2", "3")
    edit("service/elsewhere.py", "    side: float", "    top: float\n    side: float")
    assert run() == [[2 * 5.0 * (1.0 + 2.0) * 100, 12, 7.0], [1, 1, 1]]
