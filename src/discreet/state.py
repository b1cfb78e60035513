"""State as a value: named tuples of arrays, encoded as a line of JSON and then the arrays' contents."""

import hashlib
import json
import math
from collections.abc import Iterator, Mapping
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from discreet.errors import InvalidArgument, InvalidType

Array = npt.NDArray[Any]
Value = TypeVar("Value")

_NAME = "discreet state"
_FORMAT = f"{_NAME} 2"
_KINDS = ("i8", "f8", "b1")


def copied(value: Value) -> Value:
    """A copy of a state (named tuples, dictionaries, arrays) that shares no array with it."""
    if isinstance(value, np.ndarray):
        return value.copy()
    if isinstance(value, dict):
        return {name: copied(part) for name, part in value.items()}  # type: ignore[return-value] # a dictionary
    if hasattr(value, "_fields"):
        return type(value)(*map(copied, value))  # type: ignore[call-overload] # a named tuple
    return value


def arrays_in(value: Any, prefix: str = "") -> dict[str, Array]:
    """All arrays of a state, by the names of the parts they belong to."""
    return {name: part for name, part in _parts(value, prefix) if isinstance(part, np.ndarray)}


def constants_in(value: Any, prefix: str = "") -> dict[str, float]:
    """All numbers of a state that are no arrays, likewise."""
    return {name: float(part) for name, part in _parts(value, prefix) if isinstance(part, int | float)}


def _parts(value: Any, name: str) -> Iterator[tuple[str, Any]]:
    fields = value._asdict() if hasattr(value, "_fields") else value
    if not isinstance(fields, dict):
        yield name, value
        return
    for part, inner in fields.items():
        yield from _parts(inner, f"{name}.{part}" if name else part)


def in_one_block(state: Any) -> tuple[Any, Array]:
    """A copy whose arrays lie in one block of memory, and that block: to restore it is to begin again."""
    arrays = [np.zeros(0, dtype=np.int64), *arrays_in(state).values()]
    memory = np.concatenate([array.ravel().view(np.int64) for array in arrays])
    parts = iter(np.split(memory, np.cumsum([array.size for array in arrays]))[1:])

    def placed(value: Any) -> Any:
        if isinstance(value, np.ndarray):
            return next(parts).view(value.dtype).reshape(value.shape)
        return type(value)(*map(placed, value)) if hasattr(value, "_fields") else value

    return placed(state), memory


def arrays_like(value: Any, pattern: Any, prefix: str = "") -> dict[str, Array]:
    """All arrays of a state; refused unless `with_arrays` can put them in place of those of `pattern`."""
    parts, wanted = dict(_parts(value, prefix)), dict(_parts(pattern, prefix))
    if parts.keys() != wanted.keys() or not all(_fits(parts[name], wanted[name]) for name in parts):
        raise InvalidType("A state must be made of numpy arrays of int64, float64 or bool, of fixed shapes.")
    return parts


def with_arrays(pattern: Value, saved: Mapping[str, Array], prefix: str = "") -> Value:
    """A copy of `pattern` with the saved arrays in place of its own; shapes and types must agree."""
    made = copied(pattern)
    for name, array in arrays_in(made, prefix).items():
        if not _fits(saved.get(name), array):
            raise InvalidArgument(f"The saved state does not fit: {name!r} is missing or of another shape.")
        array[...] = saved[name]
    return made


def _fits(one: Any, other: Any) -> bool:
    arrays = isinstance(one, np.ndarray) and isinstance(other, np.ndarray)
    return arrays and (one.dtype, one.shape) == (other.dtype, other.shape) and _kind(one) in _KINDS


def _kind(array: Array) -> str:
    return array.dtype.str.lstrip("<>=|")


def encode(values: Mapping[str, Any], arrays: Mapping[str, Array]) -> bytes:
    """Plain JSON values and arrays of int64, float64 or bool as bytes, with a digest that notices damage."""
    listed = [[name, _kind(array), list(array.shape)] for name, array in arrays.items()]
    if not all(kind in _KINDS for _, kind, _ in listed):
        raise TypeError("Arrays are of int64, float64 or bool.")
    contents = [each.astype(each.dtype.newbyteorder("<"), copy=False).tobytes() for each in arrays.values()]
    head = json.dumps({"format": _FORMAT, "values": values, "arrays": listed}, separators=(",", ":"))
    body = head.encode() + b"\n" + b"".join(contents)
    return hashlib.sha256(body).digest() + body


def decode(data: bytes) -> tuple[dict[str, Any], dict[str, Array]]:
    """The values and arrays in `data`; refused if it is damaged or of another version. Nothing is quoted."""
    digest, body = data[:32], data[32:]
    head, _, contents = body.partition(b"\n")
    arrays: dict[str, Array] = {}
    place = 0
    try:
        document = json.loads(head)
        if document["format"] != _FORMAT and document["format"].startswith(_NAME):
            raise InvalidArgument("This state was written by another release of discreet.")
        sound = document["format"] == _FORMAT and hashlib.sha256(body).digest() == digest
        for name, kind, shape in document["arrays"] if sound else ():
            if kind not in _KINDS or min(shape, default=0) < 0:
                raise ValueError
            array = np.frombuffer(contents, dtype=f"<{kind}", count=math.prod(shape), offset=place)
            arrays[str(name)] = array.reshape(shape).astype(kind)
            place += array.nbytes
        sound = sound and place == len(contents) and isinstance(document["values"], dict)
    except InvalidArgument:
        raise
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError, RecursionError):
        sound = False
    if not sound:  # without the cause, which may quote a secret
        raise InvalidArgument("These bytes are not a state saved by discreet, or they are damaged.")
    return document["values"], arrays
