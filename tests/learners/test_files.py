"""Files of learners: whole or not at all, for their owner only, and never two of one secret."""

import errno
import json
import os
import pathlib
import threading
from typing import Any

import pytest

from discreet import load
from discreet import loading as files
from discreet.errors import StaleState
from every_learner import LEARNERS, transcript

SECRET = "BanditLearner worst case"


def in_folder(folder: pathlib.Path) -> list[str]:
    return sorted(entry.name for entry in folder.iterdir())


def disk_full(*_: object) -> None:
    raise OSError(errno.ENOSPC, "No space left on device")


def interrupt(*_: object) -> None:
    raise KeyboardInterrupt


def test_a_file_whose_learner_was_loaded_holds_no_secret(tmp_path: pathlib.Path) -> None:
    """Its lineage is left of it, and it is not loaded again, under no name."""
    learner = LEARNERS[SECRET](None)
    learner.tell(learner.ask(), 0.7319)
    lineage = learner.lineage
    learner.save(tmp_path / "learner")
    load(tmp_path / "learner")
    left = tmp_path / "learner.taken"
    assert json.loads(left.read_bytes()) == {
        "format": "discreet learner that was loaded",
        "lineage": lineage,
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
        patched.setattr(files, "sync_folder", interrupt)
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


@pytest.mark.parametrize(
    ("part", "failing"),
    [("replace", disk_full), ("fsync", disk_full)],
    ids=["renaming", "syncing"],
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
    assert load(tmp_path / "learner").ask().id == 9


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
