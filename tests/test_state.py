"""The one encoding of state: exact, and damage is noticed without quoting anything."""

import json
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from discreet.errors import InvalidArgument, InvalidType
from discreet.state import arrays_in, arrays_like, constants_in, copied, decode, encode, with_arrays

plain = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
arrays = hnp.arrays(
    st.sampled_from([np.int64, np.float64, np.bool_]),
    hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=4),
)


@given(st.dictionaries(st.text(), plain, max_size=3), st.dictionaries(st.text(), arrays, max_size=3))
def test_everything_comes_back_exactly(values: dict[str, Any], held: dict[str, Any]) -> None:
    """Plain values and arrays of every shape, NaN and -0.0 included."""
    again, found = decode(encode(values, held))
    assert again == values
    assert found.keys() == held.keys()
    for name, array in held.items():
        assert (found[name].dtype, found[name].shape) == (array.dtype, array.shape)
        assert found[name].tobytes() == array.tobytes()


def test_strides_and_byte_orders_do_not_matter() -> None:
    """What is read is what was in the array."""
    table = np.arange(12, dtype=">i8").reshape(3, 4).T[::-1]
    assert decode(encode({}, {"x": table}))[1]["x"].tolist() == table.tolist()


SAMPLE = encode({"secret": 7319, "list": [1, "é"]}, {"a": np.arange(5), "b": np.ones((2, 2), dtype=np.bool_)})


def refused(data: bytes) -> None:
    with pytest.raises(InvalidArgument) as caught:
        decode(data)
    assert caught.value.__cause__ is None
    assert "7319" not in str(caught.value)


@settings(max_examples=200)
@given(st.integers(0, len(SAMPLE) - 1), st.integers(1, 255))
def test_a_changed_byte_is_noticed(place: int, change: int) -> None:
    """Wherever it is, and whatever it is changed to."""
    changed = bytearray(SAMPLE)
    changed[place] ^= change
    refused(bytes(changed))


@given(st.integers(0, len(SAMPLE) - 1), st.binary(max_size=20))
def test_cut_and_prolonged_data_are_refused(end: int, more: bytes) -> None:
    """Also nothing at all, and more than there was."""
    refused(SAMPLE[:end])
    refused(SAMPLE + more + b"x")
    refused(more)


def sealed(head: Any, contents: bytes = b"") -> bytes:
    """Bytes whose digest is right, whatever they say."""
    import hashlib

    body = json.dumps(head).encode() + b"\n" + contents
    return hashlib.sha256(body).digest() + body


@pytest.mark.parametrize(
    "change",
    [
        {"arrays": [["a", "i8", [-1]]]},
        {"arrays": [["a", "i8", [10**30]]]},
        {"arrays": [["a", "i8", ["x"]]]},
        {"arrays": [["a", "O", [1]]]},
        {"arrays": [["a", "i8"]]},
        {"arrays": [["a", "i8", [2]]]},
        {"arrays": 3},
        {"values": [1]},
        {"values": None},
        {"format": "discreet state 99"},
        {"format": 3},
    ],
    ids=str,
)
def test_sealed_nonsense_is_refused(change: dict[str, Any]) -> None:
    """Shapes that are negative, too large or of other types; values that are no dictionary."""
    good = {"format": "discreet state 2", "values": {}, "arrays": [["a", "i8", [1]]]}
    assert decode(sealed(good, bytes(8)))[1]["a"].tolist() == [0]
    refused(sealed(good | change, bytes(8)))
    for other in (b"", b"null", b"[" * 10**6, b"9" * 5000, b"\xff" * 40):
        refused(other)


def test_what_could_not_be_read_is_not_written() -> None:
    """Arrays of other types."""
    for array in (np.zeros(1, dtype=np.int32), np.array(["x"]), np.array([None])):
        with pytest.raises(TypeError):
            encode({}, {"x": array})


class Inner(NamedTuple):
    sums: Any
    size: int


class Outer(NamedTuple):
    inner: Inner
    x: Any


def outer() -> Outer:
    return Outer(Inner(np.arange(3), 3), np.zeros(2))


def test_states_are_copied_listed_and_put_together_again() -> None:
    """Named tuples and dictionaries, one inside the other."""
    state = outer()
    other = copied(state)
    other.inner.sums[0] = 9
    assert state.inner.sums[0] == 0
    assert arrays_in({"a": state}, "p").keys() == {"p.a.inner.sums", "p.a.x"}
    assert constants_in(state) == {"inner.size": 3.0}
    assert with_arrays(state, arrays_in(other)).inner.sums.tolist() == [9, 1, 2]
    assert state.inner.sums.tolist() == [0, 1, 2]
    assert arrays_like({"a": np.ones(1)}, {"a": np.zeros(1)}, "p").keys() == {"p.a"}


@pytest.mark.parametrize(
    "change", [{"x": np.zeros(3)}, {"x": np.zeros(2, dtype=np.int64)}, {"x": np.zeros((2, 1))}]
)
def test_arrays_that_do_not_fit_are_refused(change: dict[str, Any]) -> None:
    """Another shape or type, or none."""
    saved = arrays_in(outer())
    for wrong in (saved | change, {name: part for name, part in saved.items() if name != "x"}):
        with pytest.raises(InvalidArgument):
            with_arrays(outer(), wrong)
    with pytest.raises(InvalidType):
        arrays_like({"x": np.zeros(2)}, change)
