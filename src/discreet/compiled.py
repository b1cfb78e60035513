"""One way to compile a hot function, and one to compose such functions.

Importing this module imports numba (about half a second), so only modules that
hold kernels import it, and ``import discreet`` loads none of those.
"""

import functools
import inspect
from collections.abc import Callable
from typing import Any, Protocol, TypeVar, cast

import numba
from numba.extending import overload

Function = TypeVar("Function", bound=Callable[..., object])


def kernel(function: Function) -> Function:
    """Compile `function` on first call, cache it on disk, run it without the interpreter lock.

    Division by zero follows IEEE rules instead of raising, so that no branch of a
    kernel can turn a private value into an exception.
    """
    return cast(Function, numba.njit(function, cache=True, nogil=True, error_model="numpy"))


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
    overload(interpreted)(scope["choose"])

    def register(kind: type) -> Callable[[Function], Function]:
        def keep(function: Function) -> Function:
            kernels[kind] = function
            return function

        return keep

    interpreted.register = register  # type: ignore[attr-defined] # the protocol above says so
    return cast(Generic, interpreted)
