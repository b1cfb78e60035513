"""The rollback guard in a file: its format, and what it survives. `test_rollback_guard` has the contract."""

import contextlib
import os
import pathlib

import pytest

from discreet.errors import StaleState, StoreError
from discreet.service.file_guard import FileGuard
from discreet.service.rollback_guard import GONE, DamagedGuard

A, B, C = "a" * 32, "b" * 32, "c" * 32


def test_reading_changes_nothing(tmp_path: pathlib.Path) -> None:
    """Not even whether there is a file."""
    looking = FileGuard(tmp_path / "rollback guard", "store", look_only=True)
    looking.record(A, 3, durable=True)
    looking.close()
    assert not (tmp_path / "rollback guard").exists()


@pytest.mark.parametrize("tail", [b"c" * 32 + b" 000", b"\0" * 64, b"\0" * 7])
def test_a_truncated_line_is_ignored(tmp_path: pathlib.Path, tail: bytes) -> None:
    """And its place is used again."""
    path = tmp_path / "rollback guard"
    guard = FileGuard(path, "store")
    guard.record(A, 3, durable=True)
    guard.close()
    with open(path, "ab") as file:
        file.write(tail)
    again = FileGuard(path, "store")
    assert again.lineages == {A}
    again.record(B, 7, durable=False)
    again.close()
    assert FileGuard(path, "store").is_behind(B, 6)


def test_damage_and_other_stores_are_refused(tmp_path: pathlib.Path) -> None:
    """Rather than taken for knowing nothing."""
    path = tmp_path / "rollback guard"
    guard = FileGuard(path, "store")
    guard.record(A, 3, durable=True)
    guard.close()
    with pytest.raises(StaleState, match="another store"):
        FileGuard(path, "other")
    sound = path.read_bytes()
    for damaged in (sound[:64] + b"x" * 64, sound[:64] + sound[64:].replace(b"3", b"z"), b"y" + sound[1:]):
        path.write_bytes(damaged)
        with pytest.raises(DamagedGuard, match="is damaged"):
            FileGuard(path, "store")
        assert FileGuard(path, "store", repair=True).fresh


def test_stores_do_not_share_a_file(tmp_path: pathlib.Path) -> None:
    """Nor do two that were opened before there was one."""
    one, two = (
        FileGuard(tmp_path / "rollback guard", "one"),
        FileGuard(tmp_path / "rollback guard", "two"),
    )
    one.begin()
    with pytest.raises(StaleState, match="another store"):
        two.begin()
    one.close()


def test_lines_that_were_moved_are_found(tmp_path: pathlib.Path) -> None:
    """Another process settled what the file knows, and somebody put its lines into another order."""
    path = tmp_path / "rollback guard"
    guard = FileGuard(path, "store")
    for lineage in (A, B, C):
        guard.record(lineage, 5, durable=False)
    other = FileGuard(path, "store", look_only=True)
    guard.record("d" * 32, 1, durable=False)  # made meanwhile
    other.settle({A: 7, C: 5})
    other.close()
    content = path.read_bytes()
    moved = [content[k : k + 64] for k in range(64, len(content), 64)][::-1]
    path.write_bytes(content[:64] + b"".join(moved))
    assert (guard.is_behind(A, 6), guard.is_behind(A, 6, look=True)) == (False, True)
    guard.record(C, 6, durable=False)
    guard.record(A, 6, durable=False)
    guard.record(B, 9, durable=False)
    guard.close()
    lines = [line.split() for line in path.read_text().splitlines()[1:]]
    assert {lineage: int(number) for lineage, number, _ in lines} == {A: 7, B: GONE, C: 6, "d" * 32: 1}


def test_what_waits_for_the_disk(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """New learners and durable records do; others are synced later, in one go."""
    synced = []
    sync = os.fdatasync

    def watched(handle: int) -> None:
        synced.append(handle)
        sync(handle)

    monkeypatch.setattr(os, "fdatasync", watched)
    guard = FileGuard(tmp_path / "rollback guard", "store")
    guard.record(A, 0, durable=False)
    assert len(synced) == 2  # the line, and the number of lines
    synced.pop()
    for count in range(1, 10):
        guard.record(A, count, durable=False)
    assert len(synced) == 1
    guard.sync()
    guard.sync()
    assert len(synced) == 2
    guard.record(A, 20, durable=True)
    assert len(synced) == 3
    guard.record(A, 21, durable=False)
    guard.close()
    assert len(synced) == 4


def test_a_guard_that_cannot_be_written_keeps_things_hidden(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A line that the disk had no room for is as good as none, and is written once there is room."""
    path = tmp_path / "rollback guard"
    guard = FileGuard(path, "store")
    guard.record(A, 1, durable=True)
    write = os.pwrite
    monkeypatch.setattr(os, "pwrite", lambda handle, data, place: write(handle, data[:20], place))
    with pytest.raises(StoreError, match="cannot be written"):
        guard.record(B, 1, durable=False)
    assert guard.lineages == {A}
    monkeypatch.setattr(os, "pwrite", write)
    guard.record(B, 1, durable=False)
    guard.close()
    assert FileGuard(path, "store").lineages == {A, B}


def test_a_truncated_or_changed_file_is_detected(tmp_path: pathlib.Path) -> None:
    """Lines are counted, and each has a checksum: a smaller number cannot slip in unnoticed."""
    path = tmp_path / "rollback guard"
    with contextlib.closing(FileGuard(path, "store")) as guard:
        for lineage in (A, B):
            guard.record(lineage, 5, durable=False)
    whole = path.read_bytes()
    changed = bytearray(whole)
    changed[64 + 32 + 20] = ord("4")
    wrong_count = bytearray(whole)
    wrong_count[62] = ord("x")
    for damaged in (whole[:-64], whole[:-1], bytes(changed), bytes(wrong_count)):
        assert damaged != whole
        path.write_bytes(damaged)
        with pytest.raises(DamagedGuard):
            FileGuard(path, "store", shared=True)
    path.write_bytes(whole)
    assert FileGuard(path, "store").is_behind(A, 4)


def test_unknown_learners(tmp_path: pathlib.Path) -> None:
    """All are noted when they are made; on other machines others do so."""
    alone, shared = (
        FileGuard(tmp_path / "1", "store"),
        FileGuard(tmp_path / "2", "store", shared=True),
    )
    assert (alone.is_behind(A, 0), alone.is_behind(A, 1)) == (False, True)
    assert (shared.is_behind(A, 0), shared.is_behind(A, 1)) == (False, False)
