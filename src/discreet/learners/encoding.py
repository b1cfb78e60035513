"""Named arrays as bytes and back: a line of JSON that lists them, then their contents."""

import functools
import json
import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from discreet.errors import InvalidArgument

_VERSION = 1
_KINDS = ("i8", "f8", "b1")


def arrays_to_bytes(arrays: Mapping[str, npt.NDArray[Any]]) -> bytes:
    """The arrays, exactly."""
    listed = [[name, array.dtype.str.lstrip("<>=|"), list(array.shape)] for name, array in arrays.items()]
    head = json.dumps({"version": _VERSION, "arrays": listed}, separators=(",", ":")).encode()
    contents = (
        np.ascontiguousarray(array).astype(array.dtype.newbyteorder("<"), copy=False).tobytes()
        for array in arrays.values()
    )
    return b"".join((head, b"\n", *contents))


def arrays_from(owner: str, data: bytes) -> dict[str, npt.NDArray[Any]]:
    """The arrays that :func:`arrays_to_bytes` wrote down; read-only."""
    head, _, contents = data.partition(b"\n")
    found: dict[str, npt.NDArray[Any]] = {}
    try:
        version, listed = _listed(head)
        if version != _VERSION:
            raise InvalidArgument(f"This state of a {owner} was written by another release of discreet.")
        place = 0
        for name, kind, shape, count in listed:
            array = np.frombuffer(contents, dtype=kind, count=count, offset=place)
            found[name] = array.reshape(shape)
            place += array.nbytes
        whole = place == len(contents)
    except InvalidArgument:
        raise
    except (KeyError, TypeError, ValueError, RecursionError):  # without the cause, which may quote a secret
        whole = False
    if not whole:
        raise InvalidArgument(f"The kept state of this {owner} is damaged or was cut short.") from None
    return found


@functools.lru_cache(maxsize=64)
def _listed(head: bytes) -> tuple[int, list[tuple[str, np.dtype[Any], tuple[int, ...], int]]]:
    """The version, and the arrays' names, kinds, shapes and sizes; states of a learner share a first line."""
    document = json.loads(head)
    listed = []
    for name, kind, shape in document["arrays"]:
        if kind not in _KINDS:
            raise ValueError
        listed.append((str(name), np.dtype(kind).newbyteorder("<"), tuple(shape), math.prod(shape)))
    return document["version"], listed
