"""Reports: from results to one HTML file that needs nothing else to be read."""

from __future__ import annotations

import os
import pathlib
import platform
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import jinja2
import matplotlib
import numba
import numpy

import discreet
from discreet.atomic_files import write_atomically
from discreet.errors import InvalidArgument
from discreet.formatting import counted, counted_range, listed, number
from discreet.plots.canvas import drawing
from discreet.report.charts import choice_charts, trace_charts
from discreet.report.comparisons import compared, ranking
from discreet.report.frames import KEYS, SweepFrame
from discreet.report.panels import QUANTITIES, against_panels, curve_panels
from discreet.report.results import Result, by_environment, grouped
from discreet.simulation.trace import Trace, about_data

if TYPE_CHECKING:
    import polars


def write_report(
    path: str | os.PathLike[str],
    *,
    title: str,
    traces: Sequence[Trace],
    summary: str = "",
    command: str = "",
    frame: polars.DataFrame | None = None,
) -> pathlib.Path:
    """Write one HTML file that needs nothing else, and return its path: figures, guarantees, tables.

    The same arguments give the same bytes. The file is written completely or not at all.

    Args:
        path: Where to; a file that is there is replaced.
        title: The headline.
        traces: What `simulate` returned; those of `RandomSet` and `FixedSet` are taken as references. Several
            environments get a section each.
        summary: Text to put before the generated sentences; empty lines separate paragraphs.
        command: How to repeat it, shown as it is.
        frame: Results of a sweep (see `write_sweep_report`), for a figure of regret against epsilon.

    Examples:
        >>> import tempfile
        >>> from discreet import baselines, environments, simulate
        >>> trace = simulate(environments.modular(n=3), baselines.RandomSet(3), rounds=64, seeds=2)
        >>> path = pathlib.Path(tempfile.mkdtemp(), "report.html")
        >>> write_report(path, title="A random set", traces=[trace]).read_text()[:15]
        '<!DOCTYPE html>'
    """
    if not traces:
        raise InvalidArgument("The 'traces' of write_report must be at least one. Got none.")
    groups = by_environment(traces)
    results = [result for group in groups for result in group]
    with drawing():
        against = [against_panels(group, "epsilon", f"e{k}") for k, group in enumerate(groups)]
        swept = [] if frame is None else [against_panels(SweepFrame(frame).results, "epsilon")]
        return _write(
            path,
            "traces.html",
            groups,
            title=title,
            summary=summary,
            command=command,
            compared=[compared(group) for group in groups],
            charts=[trace_charts(f"e{k}", group) for k, group in enumerate(groups)],
            choices=[choice_charts(f"e{k}", group) for k, group in enumerate(groups)],
            panels=[*against, *swept],
            promises=grouped(results, lambda result: (str(result.trace.guarantee), result.private)),
            data_warning=about_data(trace.parameters for trace in traces),
        )


def write_sweep_report(
    path: str | os.PathLike[str],
    frame: polars.DataFrame,
    *,
    title: str,
    command: str = "",
    notes: Mapping[str, str] | None = None,
) -> pathlib.Path:
    """Write one HTML file about a sweep, and return its path: curves, tables, and what failed.

    The same arguments give the same bytes. The file is written completely or not at all.

    Args:
        path: Where to; a file that is there is replaced.
        frame: A row for each configuration, seed and checkpoint, with the columns environment, learner, n,
            epsilon, rounds, seed, round, cost, best, regret, would_be_private; bound, error and
            parameters (of the environment, as JSON) where known. Rows with an error need no numbers.
        title: The headline.
        command: How to repeat it, shown as it is.
        notes: What else readers should know: headings and texts.

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
    results = sweep.results
    groups = list(grouped(results, lambda result: result.environment).values())
    with drawing():
        return _write(
            path,
            "sweep.html",
            groups,
            title=title,
            command=command,
            notes=notes or {},
            rankings=[ranking(group) for group in groups],
            panels=[curve_panels(results), *(against_panels(results, quantity) for quantity in QUANTITIES)],
            failed=sweep.failed.unique(subset=list(KEYS)).height,
            failures=sweep.failures,
            data_warning=about_data(sweep.parameters),
        )


def _write(
    path: str | os.PathLike[str], template: str, groups: Sequence[Sequence[Result]], **content: Any
) -> pathlib.Path:
    modules = (discreet, numpy, numba, matplotlib)
    versions = {"python": platform.python_version()} | {one.__name__: one.__version__ for one in modules}
    results = [result for group in groups for result in group]
    made = _TEMPLATES.get_template(template)
    page = made.render(content, groups=groups, results=results, versions=versions)
    write_atomically(path, f"{page}\n".encode())
    return pathlib.Path(path)


def _settings(given: Mapping[str, object], most: int = 80) -> str:
    shown = (f"{name}={value!r}" for name, value in given.items())
    return ", ".join(text if len(text) <= most else text[: most - 1] + "…" for text in shown) or "–"


def _seeds(seeds: Sequence[int]) -> str:
    """Consecutive seeds as a range."""
    if len(seeds) > 2 and list(seeds) == list(range(seeds[0], seeds[0] + len(seeds))):
        return f"{seeds[0]} to {seeds[-1]}"
    return ", ".join(map(str, seeds))


_HERE = pathlib.Path(__file__).parent
_TEMPLATES = jinja2.Environment(
    loader=jinja2.FileSystemLoader([_HERE / "templates", _HERE.parent]),  # base.css is beside the packages
    autoescape=True,
    undefined=jinja2.StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)
_TEMPLATES.filters.update(counted=counted, counted_range=counted_range, listed=listed, number=number)
_TEMPLATES.filters.update(seeds=_seeds, settings=_settings)
