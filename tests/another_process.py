"""Python code in a process of its own, as a second program that uses the package would run it."""

import os
import subprocess
import sys


def started(code: str, *arguments: object) -> subprocess.Popen[str]:
    """A process that runs the code with these arguments, with pipes to it."""
    return subprocess.Popen(
        [sys.executable, "-c", code, *map(str, arguments)],
        env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def output(code: str, *arguments: object, exit_code: int = 0) -> str:
    """What the code prints."""
    process = started(code, *arguments)
    printed, errors = process.communicate(timeout=300)
    assert process.returncode == exit_code, errors
    return printed
