"""One way to compile a hot function, and one to compose such functions.

It imports numba, which takes half a second: ``import discreet`` loads no module with kernels.
"""

import contextlib
import functools
import hashlib
import inspect
import os
import pathlib
import shutil
import tempfile
from collections.abc import Callable
from typing import Any, Protocol, TypeVar, cast

import numba
from numba import types
from numba.core.caching import FunctionCache
from numba.core.compiler import CompilerBase, DefaultPassBuilder
from numba.core.compiler_machinery import AnalysisPass, register_pass
from numba.core.typed_passes import NopythonTypeInference
from numba.extending import overload

_PACKAGE = pathlib.Path(__file__).parent
_BESIDE = _PACKAGE / "__pycache__" / "kernels"
#: Folders without anything that compiled code can hold: the files of the others import nothing from them when
#: they are loaded. A kernel there would not be cached.
_WITHOUT_KERNELS = {"cli", "client", "dashboard", "evaluation", "report", "service", "storage"}
_config: Any = numba.config
#: Whether compiled code counts who holds an array. numba takes it over from the caller unless told, and
#: has no public option for it.
_COUNTING: Any = {"_nrt": True}
_LEAN: Any = {"_nrt": False}

Function = TypeVar("Function", bound=Callable[..., object])


def kernel(function: Function) -> Function:
    """Compile `function` on first call, cache it on disk if possible, run it without the interpreter lock.

    Only code that comes from this package alone is cached, not what is put together with parts of others.
    Division by zero follows IEEE rules instead of raising: no private value can become an exception.
    """
    return _compiled(function, **_COUNTING)


def lean_kernel(function: Function) -> Function:
    """A kernel that only borrows arrays: it makes none, and gives none back.

    To count who holds an array would be most of the time of a round of a few items. What needs the count is
    refused when compiled: by numba, or by `_OnlyBorrows` if an array could outlive it or be lost by it.
    """
    return _compiled(function, pipeline_class=_LeanCompiler, **_LEAN)


def _compiled(function: Function, **options: Any) -> Function:
    compiled: Any = numba.njit(function, nogil=True, error_model="numpy", **options)
    if _is_ours(function) and (folder := _folder()) is not None:
        compiled._cache = _Cache(function, folder)
    return cast(Function, compiled)


@register_pass(mutates_CFG=False, analysis_only=True)  # type: ignore[no-untyped-call] # numba's
class _OnlyBorrows(AnalysisPass):
    """Refuse a lean kernel, which counts no holders, if it gives an array back or is given one to let go."""

    _name = "only_borrows"

    def __init__(self) -> None:  # numba's is abstract
        super().__init__()  # type: ignore[no-untyped-call] # numba's

    def run_pass(self, state: Any) -> bool:
        received = [state.return_type]
        for expression, called in state.calltypes.items():
            if getattr(expression, "op", None) == "call":
                callee = state.typemap[expression.func.name]
                if not isinstance(callee, types.NamedTupleClass):  # which only puts together
                    received.append(called.return_type)
        if any(_holds_array(kind) for kind in received):
            raise TypeError(f"{state.func_id.func_qualname} gives or gets an array: it is not a lean kernel.")
        return False


class _LeanCompiler(CompilerBase):
    """numba's compiler with the check above."""

    def define_pipelines(self) -> list[Any]:
        passes = DefaultPassBuilder.define_nopython_pipeline(self.state)  # type: ignore[no-untyped-call] # numba's
        passes.add_pass_after(_OnlyBorrows, NopythonTypeInference)
        passes.finalize()
        return [passes]


def _holds_array(kind: Any) -> bool:
    if isinstance(kind, types.BaseTuple):
        return any(_holds_array(part) for part in kind)  # type: ignore[attr-defined] # every concrete tuple has parts
    return isinstance(kind, types.Array)


class _Cache(FunctionCache):
    """A cache on disk that is another one whenever a file changes that compiled code can come from.

    Compiled code holds a copy of every function and constant that it uses, and numba itself looks only at the
    file of the function: a fixed mistake in a noise sampler could outlive an upgrade. Signatures with named
    tuples from other packages are not cached: their changes are not seen.
    """

    def __init__(self, function: Any, folder: str) -> None:
        before, _config.CACHE_DIR = _config.CACHE_DIR, folder  # numba reads it just now
        try:
            super().__init__(function)  # type: ignore[no-untyped-call] # numba's
        finally:
            _config.CACHE_DIR = before

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        return super().load_overload(sig, target_context) if self._covers(sig) else None  # type: ignore[no-untyped-call] # numba's

    def save_overload(self, sig: Any, data: Any) -> None:
        if self._covers(sig):
            with contextlib.suppress(OSError):  # a full disk: the next process compiles it again
                super().save_overload(sig, data)  # type: ignore[no-untyped-call] # numba's

    def _covers(self, kinds: Any) -> bool:
        """Whether all named tuples among numba's types, and inside them, are declared in these files."""
        for kind in kinds:
            if isinstance(kind, types.BaseTuple):
                owner = getattr(kind, "instance_class", None)
                if (owner and not _is_ours(owner)) or not self._covers(kind):
                    return False
        return True


@functools.cache
def _sources() -> tuple[frozenset[str], str]:
    """The modules that compiled code can come from, and a short hash of their files."""
    names, together = set(), hashlib.sha256()
    for path in sorted(_PACKAGE.rglob("*.py")):
        if path.relative_to(_PACKAGE).parts[0] in _WITHOUT_KERNELS:
            continue
        name = ".".join(path.relative_to(_PACKAGE.parent).with_suffix("").parts).removesuffix(".__init__")
        names.add(name)
        together.update(f"{name} {hashlib.sha256(path.read_bytes()).hexdigest()}\n".encode())
    return frozenset(names), together.hexdigest()[:16]


def _is_ours(thing: Any) -> bool:
    return thing.__module__ in _sources()[0]


@functools.cache
def cache_folder() -> pathlib.Path | None:
    """Where compiled code is kept: the first place that can be written, or None."""
    home = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    given = _config.CACHE_DIR
    for place in [pathlib.Path(given)] if given else [_BESIDE, pathlib.Path(home, "discreet")]:
        with contextlib.suppress(OSError):
            place.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryFile(dir=place):
                return place
    return None


@functools.cache
def _folder() -> str | None:
    """Where the code of kernels is cached; what earlier versions left beside it is removed."""
    folder = cache_folder()
    if folder is None:
        return None
    _, digest = _sources()
    if folder == _BESIDE:
        with contextlib.suppress(OSError):  # another process may remove them at the same time
            for old in folder.iterdir():
                if old.name != digest:
                    shutil.rmtree(old, ignore_errors=True)
    return str(folder / digest)


class Generic(Protocol):
    """A function whose body depends on the type of its first argument, in compiled code too."""

    kernels: dict[type, Callable[..., Any]]

    def __call__(self, *arguments: Any) -> Any: ...

    def register(self, kind: type) -> Callable[[Function], Function]: ...


def generic(declaration: Callable[..., Any]) -> Generic:
    """A function that picks its kernel by the type of its first argument; callers bind it when compiled.

    A kernel that is registered for `object` is that of all types without one of their own.
    """
    kernels: dict[type, Callable[..., Any]] = {}
    names = list(inspect.signature(declaration).parameters)

    @functools.wraps(declaration)
    def interpreted(first: Any, *others: Any) -> Any:
        return (kernels.get(type(first)) or kernels[object])(first, *others)

    # numba matches argument names, so its two functions must have exactly the declared ones.
    listed = ", ".join(names)
    scope: dict[str, Any] = {"kernels": kernels}
    exec(
        f"def choose({listed}):\n"
        f"    found = kernels.get(getattr({names[0]}, 'instance_class', None)) or kernels.get(object)\n"
        f"    if found is None:\n"
        f"        return None\n"
        f"    def body({listed}):\n"
        f"        return found({listed})\n"
        f"    return body\n",
        scope,
    )
    overload(interpreted, jit_options=_LEAN)(scope["choose"])  # passes on what it is given

    def register(kind: type) -> Callable[[Function], Function]:
        def keep(function: Function) -> Function:
            if kind in kernels or (_is_ours(kind) and not _is_ours(function)):  # the cache relies on it
                raise TypeError(f"{declaration.__name__} has its kernel for {kind.__name__} already.")
            kernels[kind] = function
            return function

        return keep

    interpreted.__dict__.update(register=register, kernels=kernels)
    return cast(Generic, interpreted)


class Settled:
    """A kernel, or a generic one, whose arguments' types are looked at once: numba takes long for that."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function
        self._run: Callable[..., Any] | None = None

    def __call__(self, *arguments: Any) -> Any:
        if self._run is None:
            found: Any = getattr(self._function, "kernels", {}).get(type(arguments[0]), self._function)
            kinds = tuple(map(numba.typeof, arguments))
            found.compile(kinds)
            self._run = found.overloads[kinds].entry_point
        assert self._run is not None
        return self._run(*arguments)
