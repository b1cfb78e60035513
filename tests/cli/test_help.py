"""Help texts, as they are read in a terminal of 80 columns, and what a shell completes."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest
import typer

from commands import run
from discreet.cli import app


def names(command: Any, *before: str) -> Iterator[tuple[str, ...]]:
    """What is typed for each command and group."""
    yield before
    for name, one in getattr(command, "commands", {}).items():
        yield from names(one, *before, name)


@pytest.mark.parametrize("typed", list(names(typer.main.get_command(app))), ids=" ".join)
def test_help_fits_is_whole_and_speaks_no_python(
    typed: tuple[str, ...], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """No line is too long, no sentence is cut, and values are not called by types; examples can be pasted."""
    monkeypatch.setenv("COLUMNS", "80")
    code, out, _ = run(capsys, *typed, "--help")
    assert code == 0
    assert max(map(len, out.splitlines())) <= 80
    usage, *rest = out.splitlines()
    assert not [line for line in rest if line.endswith("...")]
    assert not re.search(r"<\w|\blist\[|\b(int|str|float|bool)\b", out)
    assert "{" not in usage
    pasted = out.replace(" \\\n", " ").splitlines()
    assert all(line.count("--help") == 0 for line in pasted if line.startswith("  discreet"))
    assert [line for line in pasted if line.startswith(("  discreet ", "  echo "))] or "COMMAND" in usage


def test_summaries_are_whole_sentences(capsys: pytest.CaptureFixture[str]) -> None:
    """They go on below."""
    _, out, _ = run(capsys, "--help")
    assert "a lower bound on epsilon, with a stated confidence." in " ".join(out.split())


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
