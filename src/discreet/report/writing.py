"""Reports: from results to one HTML file that needs nothing else to be read."""

from __future__ import annotations

import json
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
from discreet.intervals import mean_interval
from discreet.plots.canvas import NAMES, drawing
from discreet.report import charts
from discreet.report.results import KEYS, Result, TraceResult, by_environment, grouped, sweep_results
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
    table: tuple[str, Sequence[str], Sequence[Sequence[str]]] | None = None,
) -> pathlib.Path:
    """Write one HTML file that needs nothing else, and return its path: figures, guarantees, tables.

    Args:
        path: Where to; the file is written completely or not at all.
        title: The headline.
        traces: What `simulate` returned; those of `RandomSet` and `FixedSet` are taken as references.
        summary: Text to put before the generated sentences; empty lines separate paragraphs.
        command: How to repeat it.
        frame: Results of a sweep (see `write_sweep_report`), for a figure of regret against epsilon.
        table: One of what was earned: its caption, its titles, and rows that begin with a name.

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
        against = [charts.against_panels(group, "epsilon", f"e{k}") for k, group in enumerate(groups)]
        swept = [] if frame is None else [charts.against_panels(sweep_results(frame)[0], "epsilon")]
        return _write(
            path,
            "traces.html",
            groups,
            title=title,
            summary=summary,
            command=command,
            own=table,
            compared=[_compared(group) for group in groups],
            charts=[charts.trace_charts(f"e{k}", group) for k, group in enumerate(groups)],
            choices=[charts.choice_charts(f"e{k}", group) for k, group in enumerate(groups)],
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
    """Write one HTML file about a sweep, as `write_report` does: curves, tables, and what failed.

    Args:
        path: Where to.
        frame: A row for each configuration, seed and checkpoint, with the columns environment, learner, n,
            epsilon, rounds, seed, round, cost, best, regret, would_be_private; bound, error and
            parameters (of the environment, as JSON) where known. Rows with an error need no numbers.
        title: The headline.
        command: How to repeat it.
        notes: Headings and texts.

    Examples:
        >>> import tempfile
        >>> from discreet.simulation.sweep import Sweep, run_cell
        >>> sweep = Sweep.from_mapping({"streams": ["modular"], "learners": ["random"], "n": 3, "rounds": 64})
        >>> path = pathlib.Path(tempfile.mkdtemp(), "sweep.html")
        >>> write_sweep_report(path, run_cell(sweep.cells()[0]), title="A sweep").name
        'sweep.html'
    """
    results, failures = sweep_results(frame)
    given = set(frame["parameters"].drop_nulls()) if "parameters" in frame.columns else set()
    groups = list(grouped(results, lambda result: result.environment).values())
    with drawing():
        against = [charts.against_panels(results, quantity) for quantity in charts.QUANTITIES]
        return _write(
            path,
            "sweep.html",
            groups,
            title=title,
            command=command,
            notes=notes or {},
            rankings=[_ranking(group) for group in groups],
            panels=[charts.curve_panels(results), *against],
            failed=len({tuple(row[key] for key in KEYS) for row in failures}),
            failures=failures,
            data_warning=about_data(map(json.loads, sorted(given))),
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


def _compared(group: Sequence[TraceResult]) -> list[tuple[TraceResult, str]]:
    """The learners, private ones first, and sentences that compare them with what does not learn."""
    learners = [result for result in group if not result.reference]
    references = [result for result in group if result.reference] if learners else []
    ordered = sorted(learners or group, key=lambda r: (not r.private, float(r.trace.mean_regret[-1])))
    return [(result, " ".join(_comparisons(result, references))) for result in ordered]


def _ranking(group: Sequence[Result]) -> tuple[str, str]:
    """A heading, and all learners of an environment, for a middle number of items and a middle epsilon."""
    places = charts.places_of(group, "rounds")
    place = charts.from_the_middle(places)[0]
    members = sorted(charts.longest(places[place]), key=lambda result: result.regret)
    rounds = max(result.rounds for result in members)
    texts = [
        f"{r.learner} {number(r.regret)}" + (f" (after {r.rounds:,})" if r.rounds < rounds else "")
        for r in members
    ]
    return f"{charts.title_of(place)}, {counted(rounds, 'round')}", listed(texts)


def _comparisons(result: TraceResult, references: Sequence[TraceResult]) -> list[str]:
    """Whether it did better than choices that do not learn, by what share of their regret."""
    names: dict[int, list[str]] = {1: [], -1: [], 0: []}
    for other in references:
        if other.rounds == result.rounds:
            sign = _sign_of_difference(result.trace, other.trace)
            by = ""
            if sign > 0 and other.regret > 0 and result.regret > 0:
                by = f" (by {number(100 * (1 - result.regret / other.regret))}%)"
            names[sign].append(f"the {other.learner}{by}")
    words = {1: "Less regret than", -1: "MORE regret than", 0: "No clear difference from"}
    return [f"{words[sign]} {listed(found)}." for sign, found in names.items() if found]


def _sign_of_difference(trace: Trace, other: Trace) -> int:
    """1 if the other's regret is larger on the seeds of both, -1 if smaller, 0 if 95% leave that open."""
    common, mine, theirs = numpy.intersect1d(trace.seeds, other.seeds, return_indices=True)
    if not common.size:
        return 0
    _, least, most = mean_interval(other.regret[theirs, -1:] - trace.regret[mine, -1:])
    return int(least[0] > 0) - int(most[0] < 0)


def _settings(given: Mapping[str, object], most: int = 80) -> str:
    shown = (f"{name}={value!r}" for name, value in given.items())
    return ", ".join(text if len(text) <= most else text[: most - 1] + "…" for text in shown) or "–"


_HERE = pathlib.Path(__file__).parent
_TEMPLATES = jinja2.Environment(
    loader=jinja2.FileSystemLoader([_HERE / "templates", _HERE.parent]),  # base.css is beside the packages
    autoescape=True,
    undefined=jinja2.StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)
_FILTERS = (counted, counted_range, listed, number)
_TEMPLATES.globals["colours"] = NAMES
_TEMPLATES.filters.update({one.__name__: one for one in _FILTERS}, settings=_settings)
