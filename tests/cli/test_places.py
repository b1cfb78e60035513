"""Files that commands write: places where that cannot go well are refused before anything is run."""

import json
import pathlib

import pytest

from commands import run
from discreet.report import writing

SMALL = ["--rounds", "64", "--seeds", "1", "--n", "3", "--quiet"]
SWEEP = ["compare", "-s", "modular", "-l", "random", *SMALL, "--workers", "1"]


@pytest.mark.parametrize(
    "arguments",
    [
        ["simulate", "modular", *SMALL, "--report"],
        ["simulate", "modular", *SMALL, "--no-report", "--out"],
        ["demo", "--quick", "--quiet", "--report"],
        [*SWEEP, "--report"],
        [*SWEEP, "--out"],
        ["audit", "one-bit", "--quiet", "--plot"],
    ],
)
def test_places_are_looked_at_first(
    arguments: list[str],
    capsys: pytest.CaptureFixture[str],
    tmp_path: pathlib.Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """One line, which names the file as it was given; nothing was run and nothing is there."""
    monkeypatch.chdir(tmp_path)
    target = tmp_path / "no" / "file.svg"
    code, out, err = run(capsys, *arguments, str(target))
    assert (code, out) == (2, "")
    assert err == f"discreet: Cannot write {target}: there is no folder {tmp_path / 'no'}.\n"
    assert list(tmp_path.iterdir()) == []


def full_disk(*_: object, **__: object) -> None:
    raise OSError(28, "No space left on device", "page.html")


def test_what_was_simulated_is_printed_before_files_are_written(
    capsys: pytest.CaptureFixture[str], tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As words and as data: a disk that is full loses the page alone."""
    monkeypatch.setattr(writing, "write_atomically", full_disk)
    command = ["simulate", "modular", "-l", "random", *SMALL, "--report", str(tmp_path / "page.html")]
    code, out, err = run(capsys, *command)
    assert (code, err) == (2, "discreet: page.html: No space left on device.\n")
    assert "RandomSet" in out
    code, out, _ = run(capsys, *command, "--json")
    assert (code, json.loads(out)[0]["rounds"]) == (2, 64)


def test_a_sweep_whose_page_fails_is_safe(
    capsys: pytest.CaptureFixture[str], tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The table is printed, the file is there, and the line says how the page is made of it."""
    out_file, page = tmp_path / "s.parquet", tmp_path / "s.html"
    with monkeypatch.context() as patched:
        patched.setattr("discreet.report.writing.write_atomically", full_disk)
        code, out, err = run(capsys, *SWEEP, "--out", str(out_file))
    assert code == 2
    assert "modular / random" in out
    assert err == (
        f"discreet: Cannot write {page}: No space left on device. The sweep is safe in {out_file}; "
        f"'discreet report {out_file}' draws it.\n"
    )
    assert run(capsys, "report", str(out_file))[0] == 0
    assert page.exists()
