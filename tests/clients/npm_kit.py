"""Where the kit is, and commands that build and run it."""

import pathlib
import subprocess

ROOT = pathlib.Path(__file__).parents[2]
KIT = ROOT / "clients" / "typescript"


def run(*command: str | pathlib.Path, folder: pathlib.Path | None = None) -> str:
    """The output of a command, which must succeed."""
    ended = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=200, check=False)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    return ended.stdout
