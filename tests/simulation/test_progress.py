"""The bar: on a terminal it shows a rate and what is left, elsewhere nothing at all."""

import os
import subprocess
import sys

import pytest

from discreet.simulation.progress import progress_bar

SCRIPT = """
import time
from discreet.simulation.progress import progress_bar
with progress_bar("playing", 1e6) as bar:
    for _ in range(10):
        bar.advance(1e5)
        time.sleep(0.03)
print("done")
"""


def test_nothing_is_shown_where_nobody_looks(capsys: pytest.CaptureFixture[str]) -> None:
    """Logs and pipes stay clean, and so does a terminal if that was asked for."""
    for shown in (True, False):
        with progress_bar("playing", 10, shown=shown) as bar:
            bar.advance(10)
    assert capsys.readouterr() == ("", "")


@pytest.mark.skipif(not hasattr(os, "openpty"), reason="needs a pseudo terminal")
@pytest.mark.process
def test_a_terminal_gets_a_rate_and_a_percentage() -> None:
    """On the error stream of a real process; what it prints elsewhere is untouched."""
    terminal, other_end = os.openpty()
    environment = os.environ | {"TERM": "xterm", "COLUMNS": "120"}
    process = subprocess.run(
        [sys.executable, "-c", SCRIPT],
        stdout=subprocess.PIPE,
        stderr=other_end,
        env=environment,
        check=True,
        timeout=60,
    )
    os.close(other_end)
    shown = b""
    try:
        while chunk := os.read(terminal, 65536):
            shown += chunk
    except OSError:  # how Linux says that the other end is closed
        pass
    os.close(terminal)
    assert process.stdout == b"done\n"
    assert b"playing" in shown
    assert b"rounds/s" in shown
    assert b"%" in shown
