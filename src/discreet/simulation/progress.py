"""A bar with the rate and the time that is left, on the terminal's error stream; nothing elsewhere."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator

from discreet.formatting import short_number
from discreet.imports import require_extra


class Bar:
    """Something that is told how much has been done; this one shows nothing."""

    def advance(self, amount: float) -> None:
        """So much more is done."""


@contextlib.contextmanager
def progress_bar(title: str, total: float, *, shown: bool = True, unit: str = "rounds") -> Iterator[Bar]:
    """A bar while the block lasts. Without a terminal nothing is shown: logs stay readable."""
    if not shown or not sys.stderr.isatty():
        yield Bar()
        return
    require_extra("cli", "A progress bar needs", "rich")
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

    left, rate = TextColumn("{task.description}"), TextColumn("{task.fields[rate]}")
    columns = (left, BarColumn(), TaskProgressColumn(), rate, TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task(title, total=total, rate="")

        class Shown(Bar):
            def advance(self, amount: float) -> None:
                progress.update(task, advance=amount)
                speed = progress.tasks[0].finished_speed or progress.tasks[0].speed
                if speed:
                    progress.update(task, rate=f"{short_number(speed)} {unit}/s")

        yield Shown()
