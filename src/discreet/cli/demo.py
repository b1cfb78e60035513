"""What ``discreet demo`` does: a shop learns in private which products to offer at checkout, in euros."""

from __future__ import annotations

import dataclasses
import math
import pathlib
import time
from typing import TYPE_CHECKING

import numpy as np

from discreet.checks import FloatArray
from discreet.cli.app import command_line, show, table, wrapped
from discreet.cli.results import summary_of, traces_of
from discreet.environments import Environment, find
from discreet.formatting import counted, listed
from discreet.intervals import mean_interval
from discreet.planning import plan, two_digits
from discreet.simulation.progress import progress_bar
from discreet.simulation.trace import Trace, is_reference, labels

if TYPE_CHECKING:
    import polars

#: Our learner, central and local; then simpler private ones, and the paper's.
OURS = ["bandit", "bandit-local"]
SIMPLER = ["product-sampling-central", "product-sampling"]
PRIVATE = [*OURS, *SIMPLER, "paper-bandit"]
#: Learners without privacy, of which the best is shown; and what a shop may do that does not learn.
OPEN = ["bandit-without-noise", "product-without-noise"]
IDLE = ["empty", "everything", "random"]


def run(
    epsilon: float, n: int, rounds: int, seeds: int, report: pathlib.Path | None, progress: bool, json: bool
) -> None:
    """Simulate the checkout stream, print what was earned, write the report if it has a place."""

    def say(text: str) -> None:
        if not json:
            print(text)

    shop = find("checkout", n=n)
    began = time.perf_counter()
    intro = (
        f"A shop with {n} products and {rounds:,} customers, {counted(seeds, 'time')} over. Each customer is "
        "shown a set of products. Only the margin on that set is seen, from -1 to 1 euro, and it would be "
        f"private (epsilon = {epsilon:g}). Means over the runs:"
    )
    say(wrapped(intro))
    played = traces_of(shop, [*PRIVATE, *OPEN, *IDLE], epsilon, rounds, seeds, progress=progress)
    if played[-1].interrupted:
        raise KeyboardInterrupt  # without all of the cast there is nothing to compare with
    traces = _cast([_in_euros(trace) for trace in played])
    say(_earnings(traces))
    chosen, wanted = (_taken(traces[0], levels) for levels in (traces[0].final_points, traces[0].best_sets))
    offered = (
        f"In the end it offered {', '.join(chosen) or 'nothing'}; best would have been "
        f"{', '.join(wanted) or 'nothing'}."
    )
    summary = f"{_learned(traces, shop, epsilon)} {offered}"
    found = {"summary": summary, "chosen": chosen, "best": wanted, "report": report and str(report)}
    show(json, found | {"learners": [summary_of(trace) for trace in traces]}, wrapped(summary))
    if report is not None:
        from discreet.report import write_report

        frame = _against_epsilon(n, rounds, epsilon, progress)
        title, command = "A private checkout", command_line()
        write_report(
            report,
            title=title,
            traces=traces,
            summary=summary,
            command=command,
            frame=frame,
            table=_in_detail(traces),
        )
        say(f"The report, with curves, choices and guarantees: {report}")
    say(f"{time.perf_counter() - began:.0f} s.")


def _in_euros(trace: Trace) -> Trace:
    """The same in rewards: a cost of -1 is a euro earned."""
    low, high = trace.cost_range
    totals = {name: 0.0 - getattr(trace, name) for name in ("cost", "best", "best_lower_bound")}
    return dataclasses.replace(trace, **totals, cost_range=(-high, -low), maximize=True)


def _cast(played: list[Trace]) -> list[Trace]:
    """All of them, but only the best of those without privacy."""
    idle = len(played) - len(IDLE)
    return [*played[: len(PRIVATE)], max(played[len(PRIVATE) : idle], key=_earned), *played[idle:]]


def _earned(trace: Trace) -> float:
    return float(trace.cost[:, -1].mean())


def _earnings(traces: list[Trace]) -> str:
    """What each earned, and its share of what the best fixed choice did."""
    best = float(traces[0].best[:, -1].mean())
    rows = [["the best fixed set, in hindsight", f"{best:,.0f}", "100", ""]]
    for trace, name in zip(traces, labels(traces), strict=True):
        private = "" if is_reference(trace.learner) else "yes" if trace.guarantee.private else "NO"
        rows.append([name, f"{_earned(trace):z,.0f}", _percent(_earned(trace), best), private])
    return table(["", "euros", "% of best", "private"], rows)


def _in_detail(traces: list[Trace]) -> tuple[str, list[str], list[list[str]]]:
    """For the report: the same beside the best choice that does not learn, seed by seed."""
    best, customers = traces[0].best[:, -1], int(traces[0].checkpoints[-1])
    fixed = max(traces[-len(IDLE) :], key=_earned).cost[:, -1]
    earned = {"the best fixed set, in hindsight": best}
    earned |= {name: trace.cost[:, -1] for name, trace in zip(labels(traces), traces, strict=True)}
    rows = []
    for name, euros in earned.items():
        more, low, high = mean_interval(euros - fixed)
        share, between = _percent(float(euros.mean()), float(best.mean())), f"{low:z,.0f} to {high:z,.0f}"
        cents = f"{100 * more / customers:z.1f}"
        rows.append([name, f"{euros.mean():z,.0f}", share, f"{more:z,.0f}", between, cents])
    titles = ["", "euros", "% of best", "more than without learning", "95% interval", "cents per customer"]
    about = f"What was earned from {customers:,} customers (means over the runs), and how much more than by"
    return f"{about} the best of the choices that do not learn: in all, and per customer.", titles, rows


def _percent(earned: float, best: float) -> str:
    """Rounded down; empty where nothing was earned."""
    return str(math.floor(100 * earned / best)) if min(round(earned), round(best)) > 0 else ""


def _taken(trace: Trace, levels: FloatArray) -> list[str]:
    """The items with a level above one half, on average over the seeds."""
    return [str(trace.items[i]) for i in np.flatnonzero(levels.mean(axis=0) > 0.5)]


def _learned(traces: list[Trace], shop: Environment, epsilon: float) -> str:
    """What the private learner, the first of the cast, earned beside the others."""
    rounds, best = int(traces[0].checkpoints[-1]), float(traces[0].best[:, -1].mean())
    earned, idle = [_earned(trace) for trace in traces], len(traces) - len(IDLE)
    ours, local, public, fixed = *earned[:2], earned[len(PRIVATE)], max(earned[idle:])
    names = [f"{name} {money:z,.0f}" for name, money in zip(labels(traces), earned, strict=True)]
    if ours > fixed:
        return (
            f"The private learner earned {ours:,.0f} of {best:,.0f} possible euros "
            f"({_percent(ours, best)}%), learning time included (a reward of 1 is a euro of margin). For "
            "that the shop is trusted to keep exact sums for a while. With one random bit per customer, and "
            "nobody trusted, it earned "
            f"{local:z,.0f}. Without learning: {listed(names[idle:])}. The best of {len(OPEN)} learners "
            f"without privacy: {names[len(PRIVATE)]}, so privacy cost {100 * (public - ours) / rounds:z.1f} "
            "cents per customer. Simpler private learners: "
            f"{listed(names[len(OURS) : len(OURS) + len(SIMPLER)])}."
        )
    text = (
        f"The private learner did not learn in {rounds:,} customers: the best of showing nothing, everything "
        "or random products was no worse."
    )
    effect = (best - fixed) / rounds
    if effect <= 0:
        return f"{text} No set was better than that."
    expected = plan(n=shop.n, epsilon=epsilon, rounds=rounds, cost_range=shop.cost_range, effect=effect)
    return (
        f"{text} The best set was better by {effect:.2g} euros per customer. 'discreet plan' predicts that "
        f"it takes about {two_digits(expected.best.rounds_to_learn)} customers to learn that."
    )


def _against_epsilon(n: int, rounds: int, epsilon: float, progress: bool) -> polars.DataFrame:
    """Our learners again, with less and with more privacy."""
    import polars

    from discreet.simulation.sweep import Sweep, run_cell

    losses = [epsilon * factor for factor in (0.25, 0.5, 1.0, 2.0, 4.0)]
    given = {"streams": ["checkout"], "learners": OURS, "n": n, "rounds": rounds, "epsilon": losses}
    cells = Sweep.from_mapping(given | {"seeds": 3, "checkpoints": 1}).cells()
    frames = []
    with progress_bar("other epsilons", len(cells), shown=progress, unit="runs") as bar:
        for cell in cells:
            frames.append(run_cell(cell))
            bar.advance(1)
    return polars.concat(frames)
