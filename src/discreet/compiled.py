"""One way to compile a hot function.

Importing this module imports numba (about half a second), so only modules that
hold kernels import it, and ``import discreet`` loads none of those.
"""

from collections.abc import Callable
from typing import TypeVar, cast

import numba

Function = TypeVar("Function", bound=Callable[..., object])


def kernel(function: Function) -> Function:
    """Compile `function` on first call, cache it on disk, run it without the interpreter lock.

    Division by zero follows IEEE rules instead of raising, so that no branch of a
    kernel can turn a private value into an exception.
    """
    return cast(Function, numba.njit(function, cache=True, nogil=True, error_model="numpy"))
