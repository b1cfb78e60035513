"""The report of a sweep, from its frame alone."""

from __future__ import annotations

import os
import pathlib
from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING

from discreet.atomic_files import write_atomically
from discreet.report.html import Html, element
from discreet.report.numbers import interval, number
from discreet.report.page import page, repeat_section, section
from discreet.report.sweep_charts import against_section, curves_section
from discreet.report.sweep_frame import KEYS, Final, SweepFrame
from discreet.report.sweep_summary import summary_of_sweep
from discreet.report.tables import Kind, badge, table
from discreet.simulation.canvas import drawing

if TYPE_CHECKING:
    import polars

_NO_NOTES: Mapping[str, str] = MappingProxyType({})


def write_sweep_report(
    path: str | os.PathLike[str],
    frame: polars.DataFrame,
    *,
    title: str,
    command: str = "",
    notes: Mapping[str, str] = _NO_NOTES,
) -> pathlib.Path:
    """Write one HTML file about a sweep: curves, regret against what was varied, tables, what failed.

    The same arguments give the same bytes. The file is written whole or not at all.

    Args:
        path: Where to; a file that is there is replaced.
        frame: A row for each configuration, seed and checkpoint, with the columns environment, learner, n,
            epsilon, rounds, seed, round, cost, best, regret, would_be_private; bound, error and
            parameters (of the environment, as JSON) where known. Rows with an error need no numbers.
        title: The headline.
        command: How to repeat it, shown as it is.
        notes: What else readers should know: headings and texts.

    Returns:
        The path.

    Examples:
        >>> import tempfile
        >>> from discreet.simulation.compare import compare
        >>> from discreet.simulation.sweep import Sweep
        >>> folder = pathlib.Path(tempfile.mkdtemp())
        >>> sweep = Sweep.from_mapping({"streams": ["modular"], "learners": ["random"], "n": 3, "rounds": 64})
        >>> frame = compare(sweep, folder / "sweep.parquet", workers=1)
        >>> write_sweep_report(folder / "sweep.html", frame, title="A sweep").name
        'sweep.html'
    """
    sweep = SweepFrame(frame)
    with drawing():
        sections = []
        if notes:
            entries = [
                part for name, text in notes.items() for part in (element("dt", name), element("dd", text))
            ]
            sections.append(section("Notes", element("dl", *entries)))
        sections += curves_section(sweep)
        sections += against_section("epsilon", sweep, "epsilon")
        sections += against_section("n", sweep, "n")
        sections += against_section("rounds", sweep, "rounds")
        sections += _numbers(sweep)
        sections += _failures(sweep)
        sections.append(repeat_section(command))
        write_atomically(path, page(title, [summary_of_sweep(sweep)], sections).encode())
        return pathlib.Path(path)


def _numbers(sweep: SweepFrame) -> list[Html]:
    several = any(final.seeds > 1 for final in sweep.finals)
    columns: dict[str, Kind] = {
        "learner": "text",
        "would be private?": "text",
        "items": "number",
        "epsilon": "number",
        "rounds": "number",
        "regret a round": "number",
        **({"95% interval": "number"} if several else {}),
        "cost a round": "number",
        "best fixed set": "number",
        "proved bound": "number",
        "seeds": "number",
    }
    tables = [
        table(
            f"Final numbers in {environment}; costs, regret and bounds are per round.",
            columns,
            [_row(final, several) for final in sweep.finals if final.environment == environment],
        )
        for environment in dict.fromkeys(final.environment for final in sweep.finals)
    ]
    return [section("Numbers", *tables)] if tables else []


def _row(final: Final, several: bool) -> list[str]:
    return [
        final.learner,
        badge(final.would_be_private),
        f"{final.n}",
        "–" if final.epsilon is None else number(final.epsilon),
        f"{final.rounds:,}",
        number(final.regret),
        *([interval(final.low, final.high) if final.seeds > 1 else "one seed"] if several else []),
        number(final.cost),
        number(final.best),
        "–" if final.bound is None else number(final.bound),
        f"{final.seeds}",
    ]


def _failures(sweep: SweepFrame) -> list[Html]:
    if sweep.failed.is_empty():
        return []
    gathered = sweep.failed.group_by([*KEYS, "error"], maintain_order=True).agg("seed").to_dicts()
    rows = [
        [
            str(row["learner"]),
            str(row["error"]),
            str(row["environment"]),
            *("–" if row[key] is None else number(float(row[key]), 9) for key in ("n", "epsilon", "rounds")),
            ", ".join(dict.fromkeys(str(seed) for seed in row["seed"] if seed is not None)) or "–",
        ]
        for row in gathered
    ]
    columns: dict[str, Kind] = {
        "learner": "text",
        "error": "long text",
        "environment": "text",
        "items": "number",
        "epsilon": "number",
        "rounds": "number",
        "seeds": "text",
    }
    return [section("What failed", table("Configurations without numbers.", columns, rows))]
