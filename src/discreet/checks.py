"""Checks of public arguments: never call them on private feedback, an exception would be a leak.

Set functions may be made of private numbers: checks of arrays and those with `quoted=False` quote none.
"""

import contextlib
import difflib
import math
import operator
from collections.abc import Iterable, Sequence
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from discreet.errors import InvalidArgument, InvalidType, UnknownName

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
BoolArray = npt.NDArray[np.bool_]
Option = TypeVar("Option", bound=str)

_NOT_QUOTED = object()


def invalid_argument(owner: str, name: str, wanted: str, got: object = _NOT_QUOTED) -> InvalidArgument:
    """The error for an argument that is not what was wanted, with the offending value if `got` is given."""
    sentence = f"The '{name}' of {owner} must be {wanted}."
    if got is not _NOT_QUOTED:
        shown = repr(got)
        sentence += f" Got {shown if len(shown) <= 200 else shown[:200] + '...'} instead."
    return InvalidArgument(sentence)


def unknown_name(sentence: str, name: str, known: Iterable[str], others: str = "") -> UnknownName:
    """The error for an unknown name: the sentence, the nearest known name, and the list of known names."""
    listed = list(known)
    return UnknownName(f"{sentence}{did_you_mean(name, listed)} Known: {', '.join(listed)}{others}.")


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """A suggestion to append to a message about an unknown name; empty if no known name is close."""
    near = difflib.get_close_matches(name, list(known), 1)
    return f" Did you mean {near[0]!r}?" if near else ""


def finite_number(owner: str, name: str, value: object, *, quoted: bool = True) -> float:
    """A finite real number, as a float."""
    return _number(owner, name, value, "a finite number", -math.inf, quoted=quoted)


def positive_number(owner: str, name: str, value: object, *, quoted: bool = True) -> float:
    """A finite number greater than zero."""
    return _number(owner, name, value, "a positive number", math.ulp(0.0), quoted=quoted)


def nonnegative_number(owner: str, name: str, value: object) -> float:
    """A finite number of at least zero."""
    return _number(owner, name, value, "a number of at least 0", 0.0)


def unit_number(owner: str, name: str, value: object) -> float:
    """A number from 0 to 1, both included."""
    return _number(owner, name, value, "a number from 0 to 1", 0.0, 1.0)


def share(owner: str, name: str, value: object) -> float:
    """A number greater than 0 and at most 1."""
    return _number(owner, name, value, "a number in (0, 1]", math.ulp(0.0), 1.0)


def _number(
    owner: str, name: str, value: Any, wanted: str, least: float, most: float = math.inf, quoted: bool = True
) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if not (math.isfinite(number) and least <= number <= most):
        raise invalid_argument(owner, name, wanted, value if quoted else _NOT_QUOTED)
    return number


def integer(owner: str, name: str, value: object, least: int, most: int | None = None) -> int:
    """An integer within [least, most]."""
    number = None
    if not isinstance(value, bool | np.bool_):
        with contextlib.suppress(TypeError):
            number = operator.index(value)  # type: ignore[arg-type] # suppressed above
    if number is None or number < least or (most is not None and number > most):
        limits = f"of at least {least}" if most is None else f"from {least} to {most}"
        raise invalid_argument(owner, name, f"an integer {limits}", value)
    return number


def one_of(owner: str, name: str, value: Option, options: Sequence[Option]) -> Option:
    """One of a few strings."""
    if value not in options:
        raise invalid_argument(owner, name, " or ".join(map(repr, options)), value)
    return value


def finite_vector(owner: str, name: str, values: object, length: int | None = None) -> FloatArray:
    """A new one-dimensional float array of finite numbers, of the given length if any."""
    wanted = "one-dimensional" if length is None else f"of length {length}"
    return _finite_array(owner, name, values, wanted, (length,))


def finite_matrix(
    owner: str, name: str, values: object, shape: tuple[int | None, int | None] = (None, None)
) -> FloatArray:
    """A new two-dimensional float array of finite numbers; None leaves a dimension free."""
    sizes = " x ".join("any" if size is None else str(size) for size in shape)
    return _finite_array(owner, name, values, f"a matrix ({sizes})", shape)


def _finite_array(
    owner: str, name: str, values: object, wanted: str, shape: tuple[int | None, ...]
) -> FloatArray:
    array = None
    with contextlib.suppress(TypeError, ValueError, OverflowError):
        array = np.array(values, dtype=np.float64)
    # Outside of an except clause, so that no numpy error is chained: it may quote a private value.
    if array is None or not np.isfinite(array).all():
        raise invalid_argument(owner, name, "an array of finite numbers")
    if array.ndim != len(shape) or any(
        want not in (None, have) for want, have in zip(shape, array.shape, strict=True)
    ):
        raise InvalidArgument(f"The '{name}' of {owner} must be {wanted}. Got shape {array.shape} instead.")
    return array


def index_array(owner: str, name: str, values: Iterable[Any], below: int) -> IntArray:
    """A new array of integers in [0, below)."""
    wanted = f"The '{name}' of {owner} must hold integers from 0 to {below - 1}."
    if not isinstance(values, np.ndarray):
        values = values if isinstance(values, list | tuple) else list(values)
        # numpy would reserve as much memory for each entry as the longest string among them needs.
        wrong = next((entry for entry in values if isinstance(entry, str | bytes | list | tuple)), None)
        if wrong is not None:
            raise InvalidType(f"{wanted} Got a {type(wrong).__name__} among them instead.")
    raw = np.asarray(values)
    if raw.size == 0:
        return np.empty(0, dtype=np.int64)
    if raw.ndim != 1 or raw.dtype.kind not in "iu":
        raise InvalidType(f"{wanted} Got {raw.dtype} of shape {raw.shape} instead.")
    if raw.min() < 0 or raw.max() >= below:
        raise InvalidArgument(wanted)
    return raw.astype(np.int64)


def subset_mask(owner: str, name: str, subset: object, n: int) -> BoolArray:
    """A new boolean mask of length n, from a mask or from any iterable of indices."""
    if not isinstance(subset, np.ndarray):
        if not isinstance(subset, Iterable) or isinstance(subset, str | bytes):
            got = type(subset).__name__
            raise InvalidType(f"The '{name}' of {owner} must hold indices or be a mask. Got {got} instead.")
        listed = list(subset)
        bools = bool(listed) and all(isinstance(entry, bool | np.bool_) for entry in listed)
        subset = np.array(listed, dtype=np.bool_) if bools else index_array(owner, name, listed, n)
    mask: BoolArray = np.zeros(n, dtype=np.bool_)
    if subset.dtype == np.bool_ and subset.shape != (n,):
        got = f"Got shape {subset.shape} instead."
        raise InvalidArgument(f"The '{name}' of {owner}, as a mask, must have length {n}. {got}")
    mask[subset if subset.dtype == np.bool_ else index_array(owner, name, subset, n)] = True
    return mask


def permutation(owner: str, name: str, order: Iterable[Any], n: int) -> IntArray:
    """An array that holds each of 0..n-1 once."""
    array = index_array(owner, name, order, n)
    if array.size != n or np.unique(array).size != n:
        raise InvalidArgument(f"The '{name}' of {owner} must list all {n} elements once.")
    return array


def nonnegative(owner: str, name: str, array: FloatArray) -> FloatArray:
    """The array, which must hold no negative numbers."""
    if array.min(initial=0.0) < 0:
        raise InvalidArgument(f"The '{name}' of {owner} must be nonnegative.")
    return array
