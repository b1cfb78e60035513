"""Files that cannot be written: which error, and that it names what the user named."""

import errno
import os
import pathlib
from collections.abc import Callable

import pytest

import discreet
from discreet.atomic_files import check_place, errors_name, write_atomically
from discreet.simulation.sweep import Sweep, compare
from discreet.storage import open_store

SWEEP = {"streams": ["modular"], "learners": ["random"], "n": 2, "rounds": 8, "seeds": 1}
WRITERS: dict[str, Callable[[str], object]] = {
    "looking": check_place,
    "bytes": lambda path: write_atomically(path, b"new"),
    "learner": lambda path: discreet.BanditLearner(2, 1.0, (0, 1)).save(path),
}

#: Where it goes wrong -> the kind of error, and what it says.
PLACES: dict[str, tuple[type[OSError], str]] = {
    "no/file": (FileNotFoundError, "there is no folder {folder}/no"),
    "plain/file": (NotADirectoryError, "{folder}/plain is not a folder"),
    "folder": (IsADirectoryError, "that is a folder"),
}


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("write", WRITERS.values(), ids=WRITERS)
def test_errors_name_the_file_that_was_asked_for(
    write: Callable[[str], object], place: str, tmp_path: pathlib.Path
) -> None:
    """And never the one that was to be made beside it. Nothing is left behind."""
    (tmp_path / "plain").touch()
    (tmp_path / "folder").mkdir()
    path = str(tmp_path / place)
    kind, words = PLACES[place]
    with pytest.raises(kind) as refused:
        write(path)
    assert str(refused.value.filename) == path
    assert refused.value.strerror == words.format(folder=tmp_path)
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["folder", "plain"]


def test_a_sweep_without_a_folder_is_not_run(tmp_path: pathlib.Path) -> None:
    """And the folder is not made: it may be a slip of the pen."""
    with pytest.raises(FileNotFoundError, match="there is no folder"):
        compare(Sweep.from_mapping(SWEEP), tmp_path / "no" / "sweep.parquet")
    assert list(tmp_path.iterdir()) == []


def test_a_store_without_a_folder_names_the_store(tmp_path: pathlib.Path) -> None:
    """Not its lock."""
    with pytest.raises(FileNotFoundError, match="there is no folder") as refused:
        open_store(tmp_path / "no" / "a.db")
    assert str(refused.value.filename) == str(tmp_path / "no" / "a.db")


def test_a_folder_that_is_closed_is_refused(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever may do everything is not refused, so the system's answer is put in here."""
    monkeypatch.setattr(os, "access", lambda *_: False)
    with pytest.raises(PermissionError, match="nothing may be written to the folder"):
        check_place(tmp_path / "file")


def test_other_errors_keep_their_kind_and_words(tmp_path: pathlib.Path) -> None:
    """Such as a full disk."""
    path = tmp_path / "file"
    with pytest.raises(OSError, match="full") as refused, errors_name(path):
        raise OSError(errno.ENOSPC, "full", str(tmp_path / ".file.123"))
    assert (refused.value.errno, refused.value.filename) == (errno.ENOSPC, str(path))


def test_a_place_that_is_fine_is_left_as_it_is(tmp_path: pathlib.Path) -> None:
    """Looking writes nothing, and what is there may be replaced."""
    (tmp_path / "old").write_text("old")
    check_place(tmp_path / "old")
    check_place(tmp_path / "new")
    assert [entry.name for entry in tmp_path.iterdir()] == ["old"]


def test_the_folder_of_all_folders_is_a_folder() -> None:
    """It has no name, so nothing could be written beside it under another."""
    with pytest.raises(IsADirectoryError, match="that is a folder"):
        write_atomically("/", b"new")


@pytest.mark.parametrize("failing", ["fsync", "replace"])
@pytest.mark.parametrize("error", [OSError, KeyboardInterrupt])
def test_what_cannot_be_finished_leaves_the_old_file(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch, failing: str, error: type[BaseException]
) -> None:
    """A full disk or Ctrl-C at any point: nothing half-written, nothing left over."""

    def fail(*_: object) -> None:
        raise error

    path = tmp_path / "report.html"
    path.write_text("old")
    monkeypatch.setattr(os, failing, fail)
    with pytest.raises(error):
        write_atomically(path, b"new")
    monkeypatch.undo()
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_new_file_has_the_permissions_of_any_file(tmp_path: pathlib.Path) -> None:
    """It is to be read by others; one that replaces another keeps that one's permissions."""
    plain = tmp_path / "plain"
    plain.touch()
    path = tmp_path / "report.html"
    write_atomically(path, b"new")
    assert path.stat().st_mode == plain.stat().st_mode
    path.chmod(0o600)
    write_atomically(path, b"newer")
    assert path.stat().st_mode & 0o777 == 0o600
