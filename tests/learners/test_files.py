"""Files of learners: whole or not at all, for their owner only, and never two of one secret."""

import errno
import json
import os
import pathlib
import signal
import stat
import threading
from typing import Any

import pytest

import another_process
from discreet import load
from discreet.atomic_files import written_beside
from discreet.errors import InvalidArgument, StaleState
from discreet.learners import files
from every_learner import LEARNERS, state_of, transcript

SECRET = "BanditLearner central"


def in_folder(folder: pathlib.Path) -> list[str]:
    return sorted(entry.name for entry in folder.iterdir())


def disk_full(*_: object) -> None:
    raise OSError(errno.ENOSPC, "No space left on device")


def interrupt(*_: object) -> None:
    raise KeyboardInterrupt


class FullDisk:
    """A file of which the first bytes are written and the others do not fit."""

    def __init__(self, handle: int, _mode: str) -> None:
        self._handle = handle

    def __enter__(self) -> "FullDisk":
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._handle)

    def write(self, data: bytes) -> None:
        os.write(self._handle, data[:10])
        disk_full()


def test_a_file_is_replaced_as_a_whole(tmp_path: pathlib.Path) -> None:
    """Until it is put in place the old one is there; afterwards the new one, and nothing else."""
    target = tmp_path / "state"
    target.write_bytes(b"old")
    with written_beside(target, b"new") as put_in_place:
        assert target.read_bytes() == b"old"
        put_in_place()
    assert target.read_bytes() == b"new"
    assert in_folder(tmp_path) == ["state"]


def test_a_file_whose_learner_was_loaded_holds_no_secret(tmp_path: pathlib.Path) -> None:
    """Lineage and generation are left of it, and it is not loaded again, under no name."""
    learner = LEARNERS[SECRET](None)
    learner.tell(learner.ask(), 0.7319)
    lineage, generation = learner.lineage, learner.generation
    learner.save(tmp_path / "learner")
    load(tmp_path / "learner")
    left = tmp_path / "learner.taken"
    assert json.loads(left.read_bytes()) == {
        "format": "discreet learner that was loaded",
        "lineage": lineage,
        "generation": generation,
    }
    for name in ("learner.taken", "learner", "back"):
        left = left.rename(tmp_path / name)
        with pytest.raises(StaleState, match="has been loaded already"):
            load(left)


def test_loading_that_was_interrupted_cannot_be_repeated(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Renamed, but not overwritten: the learner is lost rather than loaded twice."""
    LEARNERS[SECRET](None).save(tmp_path / "learner")
    with monkeypatch.context() as patched:
        patched.setattr(files, "opened", interrupt)
        with pytest.raises(KeyboardInterrupt):
            load(tmp_path / "learner")
    [left] = in_folder(tmp_path)
    for name in ("learner", left):
        with pytest.raises(StaleState, match="has been loaded already"):
            load(tmp_path / name)


def test_a_file_that_may_not_be_overwritten_is_not_taken(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its learner stays in it."""
    LEARNERS[SECRET](None).save(tmp_path / "learner")
    opening = pathlib.Path.open

    def read_only(path: pathlib.Path, mode: str = "r", *others: Any, **options: Any) -> Any:
        if mode == "r+b":
            raise PermissionError(errno.EACCES, "read-only", str(path))
        return opening(path, mode, *others, **options)

    with monkeypatch.context() as patched:  # not by permissions, which do not stop root
        patched.setattr(pathlib.Path, "open", read_only)
        with pytest.raises(PermissionError):
            load(tmp_path / "learner")
    assert in_folder(tmp_path) == ["learner"]
    load(tmp_path / "learner")


def test_two_that_load_from_one_name_get_two_learners(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another learner is saved under the name while the first is being loaded, and loaded at once."""
    path = tmp_path / "learner"
    first, second = LEARNERS[SECRET](None), LEARNERS[SECRET](None)
    first.save(path)
    loaded = []

    def meanwhile(folder: pathlib.Path) -> None:
        monkeypatch.undo()
        second.save(path)
        loaded.append(load(path))

    monkeypatch.setattr(files, "sync_folder", meanwhile)
    loaded.append(load(path))
    assert [each.lineage for each in loaded] == [second.lineage, first.lineage]
    assert in_folder(tmp_path) == ["learner.taken"]


def test_no_learner_is_saved_under_the_name_of_a_loaded_one(tmp_path: pathlib.Path) -> None:
    """It could not be loaded again."""
    learner = LEARNERS[SECRET](None)
    with pytest.raises(InvalidArgument, match="ends with"):
        learner.save(tmp_path / "learner.taken")
    learner.ask()


def test_bytes_hand_a_learner_over_as_files_do() -> None:
    """Only where it keeps secrets."""
    for name in (SECRET, "BanditLearner"):
        learner = LEARNERS[name](None)
        data = learner.to_bytes()
        restored = type(learner).from_bytes(data, generation=learner.generation)
        assert restored.lineage == learner.lineage
        if name == SECRET:
            for attempt in (learner.ask, learner.to_bytes):
                with pytest.raises(StaleState, match="handed over"):
                    attempt()
        else:
            assert learner.to_bytes() == data
            learner.ask()


@pytest.mark.parametrize("umask", [0o000, 0o077])
def test_only_the_owner_can_read_it(tmp_path: pathlib.Path, umask: int) -> None:
    """Whatever the umask, and even where an older file was open to all: from the first byte written."""
    target = tmp_path / "state"
    target.write_bytes(b"old")
    target.chmod(0o666)
    before = os.umask(umask)
    try:
        with written_beside(target, b"new", secret=True) as put_in_place:
            beside = next(entry for entry in tmp_path.iterdir() if entry != target)
            assert stat.S_IMODE(beside.stat().st_mode) == 0o600
            put_in_place()
    finally:
        os.umask(before)
    assert stat.S_IMODE(target.stat().st_mode) == 0o600


@pytest.mark.parametrize("name", ["BanditLearner", SECRET])
def test_saved_and_taken_files_stay_closed_to_others(tmp_path: pathlib.Path, name: str) -> None:
    """The mode is 0600, under the old name and under the new one."""
    LEARNERS[name](None).save(tmp_path / "learner")
    load(tmp_path / "learner")
    for entry in tmp_path.iterdir():
        assert stat.S_IMODE(entry.stat().st_mode) == 0o600


@pytest.mark.parametrize(
    ("part", "failing"),
    [("replace", disk_full), ("fsync", disk_full), ("fdopen", FullDisk)],
    ids=["renaming", "syncing", "writing"],
)
def test_a_failed_save_changes_nothing(
    part: str, failing: object, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A full disk: the old file is intact, no other is left, and the learner was not handed over."""
    older, learner = LEARNERS[SECRET](None), LEARNERS[SECRET](None)
    older.save(tmp_path / "learner")
    old = (tmp_path / "learner").read_bytes()
    transcript(learner, 4)
    monkeypatch.setattr(files.os, part, failing)
    with pytest.raises(OSError, match="No space left"):
        learner.save(tmp_path / "learner")
    monkeypatch.undo()
    assert (tmp_path / "learner").read_bytes() == old
    assert in_folder(tmp_path) == ["learner"]
    transcript(learner, 4)
    learner.save(tmp_path / "learner")
    assert load(tmp_path / "learner").rounds == 8


def test_an_interruption_while_writing_leaves_the_learner_usable(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is in place yet, so this one goes on."""

    def interrupted(_: int) -> None:
        raise KeyboardInterrupt

    learner = LEARNERS[SECRET](None)
    monkeypatch.setattr(files.os, "fsync", interrupted)
    with pytest.raises(KeyboardInterrupt):
        learner.save(tmp_path / "learner")
    monkeypatch.undo()
    assert in_folder(tmp_path) == []
    assert learner.ask().id == 1


def test_an_interruption_after_the_file_is_there_hands_the_learner_over(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The file could be loaded, so this one must not go on beside it."""
    replace = os.replace

    def interrupted(*paths: str) -> None:
        replace(*paths)
        raise KeyboardInterrupt

    learner = LEARNERS[SECRET](None)
    monkeypatch.setattr(files.os, "replace", interrupted)
    with pytest.raises(KeyboardInterrupt):
        learner.save(tmp_path / "learner")
    monkeypatch.undo()
    with pytest.raises(StaleState, match="handed over"):
        learner.ask()
    assert load(tmp_path / "learner").ask().id == 1


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs SIGKILL")
@pytest.mark.parametrize("part", ["fsync", "replace"])
def test_a_process_that_is_killed_while_saving_leaves_the_old_file(tmp_path: pathlib.Path, part: str) -> None:
    """It dies before the new file is in place, with no chance to tidy up; the old one loads as ever."""
    learner = LEARNERS["BanditLearner"](3)
    learner.save(tmp_path / "learner")
    old = (tmp_path / "learner").read_bytes()
    another_process.output(
        "import os, signal, sys, discreet\n"
        "learner = discreet.load(sys.argv[1])\n"
        "learner.ask(count=5)\n"
        "setattr(os, sys.argv[2], lambda *_: os.kill(os.getpid(), signal.SIGKILL))\n"
        "learner.save(sys.argv[1])",
        tmp_path / "learner",
        part,
        exit_code=-signal.SIGKILL,
    )
    assert (tmp_path / "learner").read_bytes() == old
    assert state_of(load(tmp_path / "learner")) == state_of(learner)


def test_nobody_goes_on_between_writing_and_handing_over(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A thread that asks while the file is being put in place waits, and is refused then."""
    learner = LEARNERS[SECRET](None)
    answers: list[object] = []

    def ask() -> None:
        try:
            answers.append(learner.ask())
        except StaleState as refusal:
            answers.append(refusal)

    thread = threading.Thread(target=ask)
    replace = os.replace

    def slow(*paths: str) -> None:
        thread.start()
        thread.join(timeout=0.2)
        assert thread.is_alive()
        replace(*paths)

    monkeypatch.setattr(files.os, "replace", slow)
    learner.save(tmp_path / "learner")
    thread.join()
    assert isinstance(answers[0], StaleState)


def test_folders_that_are_missing_or_in_the_way(tmp_path: pathlib.Path) -> None:
    """The system's own error, and the learner goes on."""
    learner = LEARNERS[SECRET](None)
    (tmp_path / "folder").mkdir()
    for path in (tmp_path / "nowhere" / "learner", tmp_path / "folder"):
        with pytest.raises(OSError):  # noqa: PT011 # which one depends on the system
            learner.save(path)
    assert in_folder(tmp_path) == ["folder"]
    assert learner.ask().id == 1
    with pytest.raises(FileNotFoundError):
        load(tmp_path / "learner")
