"""Checks of arrays among public arguments, beside those of `discreet.arguments`.

Never call them on private feedback: an exception would be a leak. Set functions may be made of private
numbers, so none is quoted.
"""

import contextlib
from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from discreet.arguments import (
    did_you_mean,
    finite_number,
    integer,
    invalid_argument,
    nonnegative_number,
    one_of,
    positive_number,
    share,
    unit_number,
    unknown_name,
)
from discreet.errors import InvalidArgument, InvalidType

__all__ = ["BoolArray", "FloatArray", "IntArray", "did_you_mean", "finite_matrix", "finite_number"]
__all__ += [
    "finite_vector",
    "index_array",
    "integer",
    "invalid_argument",
    "nonnegative",
    "nonnegative_number",
]
__all__ += ["one_of", "permutation", "positive_number", "share", "subset_mask", "unit_number", "unknown_name"]

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
BoolArray = npt.NDArray[np.bool_]


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
