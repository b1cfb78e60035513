"""Which files the compiled code of a module can come from, so that a cache of it can depend on just these.

Compiled code holds a copy of every function and constant that it uses: of the module itself, the modules
that it imports, directly or not, and those that register kernels for the generic functions that it calls.
Imports, calls and registrations are searched for in the text of the files: to parse them would take half a
second in every process. Generic functions must keep their names when they are imported, and a name imported
from a package is taken for its submodule of that name, if there is one.
"""

import hashlib
import pathlib
import re
from collections.abc import Iterator
from typing import NamedTuple

_COMMENT = re.compile("#.*")
_FROM = re.compile(r"^[ \t]*from[ \t]+([\w.]+)[ \t]+import[ \t]+(\([^)]*\)|.*)", re.MULTILINE)
_IMPORT = re.compile(r"^[ \t]*import[ \t]+([\w.]+)", re.MULTILINE)
_NAME = re.compile(r"[\w.]+")
_GENERIC = re.compile(r"^@(?:\w+\.)?generic\n+def (\w+)", re.MULTILINE)


class _Generic(NamedTuple):
    """The module that declares a generic function, and those that may call it or register kernels."""

    home: str
    calling: set[str]
    registering: set[str]


class Sources:
    """The source files of a package, in its folder, as they are now."""

    def __init__(self, folder: pathlib.Path) -> None:
        self._folder = folder
        self._texts = {self._name(path): path.read_text(encoding="latin-1") for path in folder.rglob("*.py")}
        self._imports: dict[str, set[str]] = {}  # of the modules that were asked for
        self._generics = list(self._generic_functions())

    def reach(self, module: str) -> frozenset[str]:
        """The modules whose code can be part of the compiled code of `module`; none for other packages."""
        found: set[str] = set()
        new = {module} & self._texts.keys()
        while new:
            found |= new
            new = set().union(*map(self._imported_by, new)) - found
            if not new:
                for generic in self._generics:
                    if generic.home in found and generic.calling & found:
                        new |= generic.registering - found
        return frozenset(found)

    def digest(self, modules: frozenset[str]) -> str:
        """A short hash of the contents of these modules."""
        together = "\0".join(f"{name}\0{self._texts[name]}" for name in sorted(modules))
        return hashlib.sha256(together.encode()).hexdigest()[:16]

    def _name(self, path: pathlib.Path) -> str:
        parts = path.relative_to(self._folder.parent).with_suffix("").parts
        return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)

    def _imported_by(self, module: str) -> set[str]:
        if module not in self._imports:
            self._imports[module] = set(self._imported(module)) & self._texts.keys()
        return self._imports[module]

    def _imported(self, module: str) -> Iterator[str]:
        """The names of modules in import statements, and others that look like them."""
        text = _COMMENT.sub("", self._texts[module])
        yield from _IMPORT.findall(text)
        for home, names in _FROM.findall(text):
            imported = [f"{home}.{name}" for name in _NAME.findall(names)]
            yield from imported
            if not all(name in self._texts for name in imported):
                yield home

    def _generic_functions(self) -> Iterator[_Generic]:
        for home, declaring in self._texts.items():
            for name in _GENERIC.findall(declaring) if "generic\n" in declaring else ():
                call, register = f"{name}(", f"{name}.register"
                calling = {
                    m for m, t in self._texts.items() if call in t and t.count(call) > t.count(f"def {call}")
                }
                yield _Generic(home, calling, {m for m, t in self._texts.items() if register in t})
