"""Damaged files: refused before a kernel sees them, without quoting anything, and left where they are."""

import contextlib
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet import DiscreetError, load
from discreet.loading import _learner_in as from_bytes
from discreet.prefix_sums import BinaryTree
from discreet.privacy import Budget, VectorBound
from discreet.state import decode, encode
from every_learner import OURS, transcript, used

SAVED = {name: used(name)._whole() for name in OURS}
each = pytest.mark.parametrize("name", SAVED)


def refused(data: bytes, folder: Path) -> str:
    path = folder / "learner"
    path.write_bytes(data)
    with pytest.raises(DiscreetError) as caught:
        load(path)
    assert path.read_bytes() == data
    assert caught.value.__cause__ is None
    return str(caught.value)


def test_other_files_are_refused(tmp_path: Path) -> None:
    """Nothing, noise, other JSON, the state of something else, of a class that is unknown or no learner."""
    for nonsense in (b"", b"\x00\xff" * 50, b"null", b"[1, 2]", b'{"format": 1}'):
        assert "not a state saved by discreet" in refused(nonsense, tmp_path)
    values, arrays = decode(SAVED["BanditLearner"])
    for kind in ("Nobody", "Session", "BanditFeedback", "FullInformationLearner", 7, None, ["BanditLearner"]):
        refused(encode(values | {"kind": kind}, arrays), tmp_path)
    sums = BinaryTree(2, 8, VectorBound(coordinate=1, l1=1), Budget(epsilon=1.0))
    with pytest.raises(DiscreetError):
        from_bytes(sums.to_bytes())


@each
def test_a_state_without_a_part_is_refused(name: str, tmp_path: Path) -> None:
    """Left out, or something else in its place."""
    values, arrays = decode(SAVED[name])
    for part in ("lineage", "generation", "not_private_because", "settings"):
        refused(encode({key: values[key] for key in values if key != part}, arrays), tmp_path)
    for part in ("generation", "settings"):
        for other in (None, [], "x", 1.5, {"x": "y"}):
            refused(encode(values | {part: other}, arrays), tmp_path)


def test_another_epsilon_is_noticed(tmp_path: Path) -> None:
    """Whoever edits it in the file cannot go on with other noise than was promised."""
    for name in SAVED:
        values, arrays = decode(SAVED[name])
        arguments = values["settings"]["arguments"] | {"epsilon": 3.0}
        edited = values | {"settings": values["settings"] | {"arguments": arguments}}
        assert "other constants" in refused(encode(edited, arrays), tmp_path)


@each
def test_missing_arrays_and_other_shapes_are_refused(name: str, tmp_path: Path) -> None:
    """One by one."""
    values, arrays = decode(SAVED[name])
    for array in arrays:
        kept = {key: part for key, part in arrays.items() if key != array}
        if not array.startswith("tickets."):  # without one, its decision has been told about
            refused(encode(values, kept), tmp_path)
        longer = np.append(arrays[array].ravel(), arrays[array].ravel()[:1])
        if longer.size != arrays[array].size:
            refused(encode(values, kept | {array: longer}), tmp_path)
        other = arrays[array].astype(np.float64 if arrays[array].dtype == np.int64 else np.int64)
        refused(encode(values, kept | {array: other}), tmp_path)


numbers = st.sampled_from([-(2**63), -(2**40), -2, -1, 0, 1, 2, 3, 9, 100, 2**31, 2**40, 2**62, 2**63 - 1])
floats = st.sampled_from([-np.inf, -1e300, -1.0, -0.0, 5e-324, 0.3, 1.0, 2.0, 1e300, np.inf, np.nan])


@settings(max_examples=150)
@given(st.data(), st.sampled_from(sorted(SAVED)))
def test_any_number_of_a_file_may_be_wrong(data: st.DataObject, name: str) -> None:
    """It is refused, or the learner goes on without touching other memory: whatever is in whichever place."""
    values, arrays = decode(SAVED[name])
    array = data.draw(st.sampled_from(sorted(key for key, part in arrays.items() if part.size)))
    place = data.draw(st.integers(0, arrays[array].size - 1))
    wrong = data.draw(numbers if arrays[array].dtype == np.int64 else floats)
    arrays[array].flat[place] = wrong
    learner = None
    with contextlib.suppress(DiscreetError):
        learner = from_bytes(encode(values, arrays))
        for _ in range(3):
            transcript(learner, 6)
            learner.ask(count=2)
    if learner is not None:
        assert ((learner.point >= 0) & (learner.point <= 1)).all()
