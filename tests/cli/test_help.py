"""Help texts, as they are read in a terminal of 80 columns, and what a shell completes."""

import os
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest
import typer

from commands import run
from discreet.cli import app


def named(command: Any, *before: str) -> Iterator[tuple[tuple[str, ...], Any]]:
    """What is typed for each command and group, and it itself."""
    yield before, command
    for name, one in getattr(command, "commands", {}).items():
        yield from named(one, *before, name)


@pytest.mark.parametrize(("typed", "one"), list(named(typer.main.get_command(app))))
def test_help_fits_and_is_whole(
    typed: tuple[str, ...], one: Any, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """As plain text: no line is too long and no sentence is cut. Examples are whole lines, to be pasted."""
    monkeypatch.setenv("COLUMNS", "80")
    code, out, _ = run(capsys, *typed, "--help")
    assert code == 0
    assert max(map(len, out.splitlines())) <= 80
    assert "\x1b" not in out
    usage, *rest = [line.strip() for line in out.splitlines() if line.strip()]
    assert not [line for line in rest if line.endswith(("...", "…"))]
    shown = [line.strip() for line in (one.epilog or "").splitlines() if line.startswith("  ")]
    assert set(shown) <= set(rest)
    assert shown or "COMMAND" in usage


@pytest.mark.process
@pytest.mark.parametrize(
    ("typed", "completed"),
    [
        ("discreet comp", "compare"),
        ("discreet store ba", "backup"),
        ("discreet audit --confi", "--confidence"),
    ],
)
def test_a_shell_completes_commands_and_options(typed: str, completed: str) -> None:
    """As the script does that `--install-completion` adds to a shell."""
    asked = {"_DISCREET_COMPLETE": "complete_bash", "COMP_WORDS": typed, "COMP_CWORD": str(typed.count(" "))}
    code = "from discreet.__main__ import main; main()"
    command = [sys.executable, "-c", f"import sys; sys.argv = ['discreet']; {code}"]
    done = subprocess.run(command, env=os.environ | asked, capture_output=True, text=True, check=False)
    assert done.stdout.split() == [completed]
