"""The command doctor: it says what is installed, and finds what does not work."""

import json
import pathlib
import sys

import pytest

from commands import run
from discreet.cli import doctor
from discreet.imports import EXTRAS


def diagnosed(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, dict[str, tuple[str, bool]]]:
    """The exit code, and what was found about each thing."""
    code, out, _ = run(capsys, "doctor", "--json", *arguments)
    return code, {entry["about"]: (entry["found"], entry["works"]) for entry in json.loads(out)}


def test_it_says_what_is_installed_and_that_it_works(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: pathlib.Path
) -> None:
    """A missing extra comes with the line that installs it, and is no failure. No file is left."""
    monkeypatch.setitem(sys.modules, "jinja2", None)
    code, found = diagnosed(capsys, "--store", str(tmp_path / "shop.db"))
    assert (code, [about for about, (_, works) in found.items() if not works]) == (0, [])
    assert {f"extra {name}" for name in EXTRAS} < found.keys()
    assert found["extra report"][0] == "not installed: pip install 'discreet[report]'"
    assert "numba " in found["libraries"][0]
    assert found["store"][0].endswith(f": a store can be made in {tmp_path}")
    assert list(tmp_path.iterdir()) == []
    code, out, _ = run(capsys, "doctor")
    assert (code, out.splitlines()[-1]) == (0, "Everything that is installed works.")


def test_noise_that_is_not_what_it_should_be_is_found(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Exit code 1; the other checks are made all the same."""
    laplace, gaussian = doctor.KNOWN
    monkeypatch.setattr(doctor, "KNOWN", (laplace, [*gaussian[:-1], 7]))
    code, found = diagnosed(capsys)
    assert (code, found["noise"][1]) == (1, False)
    assert found["noise"][0] == "ArithmeticError: a known seed gives other noise than it should"
    assert found["learner"][1]
    assert found["store"][1]
    _, out, _ = run(capsys, "doctor")
    assert "FAILS. ArithmeticError: a known" in out
    assert out.endswith("\nSomething fails: see above.\n")


@pytest.mark.parametrize("store", ["postgresql://me:secret@127.0.0.1:1/shop", "no/folder/shop.db"])
def test_a_place_without_a_store_fails(store: str, capsys: pytest.CaptureFixture[str]) -> None:
    """In a sentence that names the server or folder, and no password."""
    code, found = diagnosed(capsys, "--store", store)
    assert (code, found["store"][1]) == (1, False)
    assert ("127.0.0.1:1: connection refused" if "@" in store else "no/folder: No such") in found["store"][0]
    assert "secret" not in str(found)


@pytest.mark.postgres
def test_a_postgresql_server_answers(postgres: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Its version and where it is; it may be used."""
    code, found = diagnosed(capsys, "--store", postgres)
    assert (code, found["store"][1]) == (0, True)
    assert found["store"][0].startswith("PostgreSQL ")
    assert found["store"][0].endswith(" ms; tables may be made")
