"""One way to compile a hot function, and one to compose such functions.

Importing this module imports numba (about half a second), so only modules that
hold kernels import it, and ``import discreet`` loads none of those.
"""

import contextlib
import functools
import hashlib
import inspect
import os
import pathlib
import shutil
import tempfile
from collections.abc import Callable, Iterator
from typing import Any, Protocol, TypeVar, cast

import numba
import numpy as np
from numba import types
from numba.core.caching import FunctionCache
from numba.extending import overload

_config: Any = numba.config
#: Whether compiled code counts who holds an array. numba takes it over from the caller unless told.
_COUNTING: Any = {"_nrt": True}
_LEAN: Any = {"_nrt": False}

Function = TypeVar("Function", bound=Callable[..., object])
State = TypeVar("State", bound=tuple[Any, ...])


def kernel(function: Function) -> Function:
    """Compile `function` on first call, cache it on disk, run it without the interpreter lock.

    Only what is made of this package alone is cached. Kernels of others, and this package's where they are
    put together with parts of others (a user's own stream, say), are compiled once in each process.

    Division by zero follows IEEE rules instead of raising, so that no branch of a
    kernel can turn a private value into an exception.

    Examples:
        >>> import colorsys
        >>> brightness, _, _ = kernel(colorsys.rgb_to_yiq)(1.0, 0.5, 0.0)
        >>> round(brightness, 3)
        0.595
    """
    return _compiled(function, _COUNTING)


def lean_kernel(function: Function) -> Function:
    """A kernel that only borrows arrays: it makes none, and gives none back.

    Otherwise numba notes at every call and at every part of a named tuple that one more, then one less,
    holds an array, in a way that is safe for threads: most of the time of a round of a few items. Here
    nothing is noted. Whoever calls a kernel from Python holds its arrays until it returns.

    What cannot do without is refused while it is compiled: by numba if it makes an array, and here
    (`_require_lean`) if an array could outlive it or be lost by it.
    """
    compiled: Any = _compiled(function, _LEAN)
    _check_when_compiled(compiled)
    return cast(Function, compiled)


def _compiled(function: Function, options: Any) -> Function:
    compiled: Any = numba.njit(function, nogil=True, error_model="numpy", **options)
    if _is_ours(function.__module__):
        with _cached_in(kernel_cache()):
            compiled._cache = _OursAlone(function)  # type: ignore[no-untyped-call] # numba's
    return cast(Function, compiled)


def _check_when_compiled(compiled: Any) -> None:
    """Look at a lean kernel before it is kept, which is when it was compiled and not only loaded."""
    keep = compiled._cache.save_overload

    def checked(sig: Any, data: Any) -> None:
        _require_lean(data)
        keep(sig, data)

    compiled._cache.save_overload = checked


def _require_lean(data: Any) -> None:
    """Complain if a kernel that does not count who holds arrays gives one back, or is given one to let go."""
    annotation = data.type_annotation
    received = [data.signature.return_type]
    for expression, called in annotation.calltypes.items():
        if getattr(expression, "op", None) == "call":
            callee = annotation.typemap[expression.func.name]
            if not isinstance(callee, types.NamedTupleClass):  # which only puts together
                received.append(called.return_type)
    if any(_holds_array(kind) for kind in received):
        raise TypeError(f"{annotation.func_id.func_qualname} gives or gets an array: it is no lean kernel.")


def _holds_array(kind: Any) -> bool:
    if isinstance(kind, types.BaseTuple):
        return any(_holds_array(part) for part in kind)  # type: ignore[attr-defined] # every concrete tuple has parts
    return isinstance(kind, types.Array)


class _OursAlone(FunctionCache):
    """A cache on disk that keeps no code with parts from other packages inside.

    It could not tell when they change; and where their modules cannot be imported, not even its other
    entries could be read.
    """

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        return super().load_overload(sig, target_context) if _all_ours(sig) else None  # type: ignore[no-untyped-call] # numba's

    def save_overload(self, sig: Any, data: Any) -> None:
        if _all_ours(sig):
            super().save_overload(sig, data)  # type: ignore[no-untyped-call] # numba's


def _all_ours(kinds: Any) -> bool:
    """Whether all named tuples among numba's types, and inside them, are this package's."""
    for kind in kinds:
        if isinstance(kind, types.BaseTuple):
            owner = getattr(kind, "instance_class", None)
            if not (owner is None or _is_ours(owner.__module__)) or not _all_ours(kind):
                return False
    return True


def _is_ours(module: str) -> bool:
    return module.partition(".")[0] == __name__.partition(".")[0]


@functools.cache
def kernel_cache() -> str:
    """The folder of compiled code, which is another one whenever any kernel of the package changes.

    numba looks only at the file of a function to see whether its cached code is still good. Code of
    other files that was compiled into it could so outlive an upgrade, and with it a fixed mistake
    in a noise sampler. Naming the folder after the contents of all files that speak of kernels rules that
    out; a test checks that every compiled function stands in such a file.
    """
    package = pathlib.Path(__file__).parent
    digest = hashlib.sha256()
    for path in sorted(package.rglob("*.py")):
        source = path.read_bytes()
        if b"kernel" in source:
            digest.update(path.relative_to(package).as_posix().encode() + b"\0" + source)
    name = f"kernels-{digest.hexdigest()[:16]}"
    if _config.CACHE_DIR:
        return os.path.join(_config.CACHE_DIR, f"discreet-{name}")
    beside = package / "__pycache__"
    try:
        beside.mkdir(exist_ok=True)
        with tempfile.TemporaryFile(dir=beside):
            pass
    except OSError:  # installed where this user may not write
        home = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
        return os.path.join(home, "discreet", name)
    for old in beside.glob("kernels-*"):
        if old.name != name:
            shutil.rmtree(old, ignore_errors=True)
    return str(beside / name)


@contextlib.contextmanager
def _cached_in(folder: str) -> Iterator[None]:
    """Where numba puts the code of functions decorated meanwhile; it reads the setting just then."""
    before = _config.CACHE_DIR
    _config.CACHE_DIR = folder
    try:
        yield
    finally:
        _config.CACHE_DIR = before


class Generic(Protocol):
    """A function whose body depends on the type of its first argument, in compiled code too."""

    def __call__(self, *arguments: Any) -> Any:
        """Call the kernel registered for the first argument's type."""

    def register(self, kind: type) -> Callable[[Function], Function]:
        """Decorate the kernel that serves first arguments of the named tuple `kind`."""


def generic(declaration: Callable[..., Any]) -> Generic:
    """Make a function that picks its kernel by the type of its first argument, a named tuple.

    Compiled callers bind the kernel when they are compiled, at no cost per call, and their cache on
    disk stays valid: unlike functions passed as arguments, which numba compiles anew in every
    process. This is how learners are put together from parts.
    """
    kernels: dict[type, Callable[..., Any]] = {}
    names = list(inspect.signature(declaration).parameters)

    @functools.wraps(declaration)
    def interpreted(first: Any, *others: Any) -> Any:
        return kernels[type(first)](first, *others)

    # numba matches argument names, so its two functions must have exactly the declared ones.
    listed = ", ".join(names)
    scope: dict[str, Any] = {"kernels": kernels}
    exec(
        f"def choose({listed}):\n"
        f"    found = kernels.get(getattr({names[0]}, 'instance_class', None))\n"
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
            kernels[kind] = function
            return function

        return keep

    interpreted.register = register  # type: ignore[attr-defined] # the protocol above says so
    return cast(Generic, interpreted)


def snapshot(state: State) -> State:
    """A copy of a named tuple and of the named tuples inside it that shares no array with it."""
    return type(state)(*(_copied(part) for part in state))


def _copied(part: Any) -> Any:
    if isinstance(part, np.ndarray):
        return part.copy()
    return snapshot(part) if hasattr(part, "_fields") else part


def rewind(state: Any, start: Any) -> None:
    """Overwrite all arrays of a named tuple by those of its :func:`snapshot`; compiled code can call it too.

    For repeated runs of one simulation: what lives in a learner between rounds lives in arrays.
    """
    for part, kept in zip(state, start, strict=True):
        if isinstance(part, np.ndarray):
            part[...] = kept
        elif hasattr(part, "_fields"):
            rewind(part, kept)


@overload(rewind, jit_options=_COUNTING)  # numba may copy an array to assign it
def _compiled_rewind(state: Any, start: Any) -> Callable[..., None] | None:
    if not isinstance(state, types.BaseNamedTuple):
        return None
    lines = ["pass"]
    for k, kind in enumerate(state.types):  # type: ignore[attr-defined] # every concrete tuple has them
        if isinstance(kind, types.Array):
            lines.append(f"state[{k}][:] = start[{k}]")
        elif isinstance(kind, types.BaseNamedTuple):
            lines.append(f"rewind(state[{k}], start[{k}])")
    scope: dict[str, Any] = {"rewind": rewind, "Any": Any}
    exec("def body(state: Any, start: Any):\n    " + "\n    ".join(lines), scope)
    return cast(Callable[..., None], scope["body"])
