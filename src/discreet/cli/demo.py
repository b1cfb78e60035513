"""What ``discreet demo`` does: a shop learns in private which products to offer at checkout."""

from __future__ import annotations

import pathlib
import time

import numpy as np
import polars

from discreet.checks import FloatArray
from discreet.cli.app import command_line, require_place, show, wrapped
from discreet.cli.results import regret_table, summary_of, traces_of
from discreet.environments import Environment, find
from discreet.planning import plan, two_digits
from discreet.report import write_report
from discreet.simulation.progress import progress_bar
from discreet.simulation.sweep import Sweep, run_cell
from discreet.simulation.trace import Trace

#: The two private modes, the paper's algorithm; then no privacy, and no learning.
PRIVATE = ["bandit-central", "bandit", "paper-bandit"]
IDLE = ["random", "empty", "everything"]
CAST = [*PRIVATE, "bandit-without-noise", *IDLE]


def run(
    epsilon: float, n: int, rounds: int, seeds: int, report: pathlib.Path, progress: bool, json: bool
) -> None:
    """Simulate the checkout stream, print what came out, write the report."""

    def say(text: str) -> None:
        if not json:
            print(text)

    require_place(report)
    shop = find("checkout", n=n)
    began = time.perf_counter()
    intro = (
        f"A shop with {n} products and {rounds:,} customers, {seeds} times over. Each is shown a set of "
        f"products; only the profit of that set is seen, and it would be private (epsilon = {epsilon:g})."
    )
    say(wrapped(intro))
    traces = traces_of(shop, CAST, epsilon, rounds, seeds, progress=progress)
    say(regret_table(traces))
    if traces[-1].interrupted:
        raise KeyboardInterrupt  # without all of the cast there is nothing to compare with
    chosen, wanted = (_taken(traces[0], levels) for levels in (traces[0].final_points, traces[0].best_sets))
    summary = (
        f"{_learned(traces, shop, epsilon)} In the end it offered {', '.join(chosen) or 'nothing'}; best "
        f"would have been {', '.join(wanted) or 'nothing'}."
    )
    found = {"summary": summary, "chosen": chosen, "best": wanted, "report": str(report)}
    show(json, found | {"learners": [summary_of(trace) for trace in traces]}, wrapped(summary))
    frame = _against_epsilon(n, rounds // 4, epsilon, progress)
    title, command = "A private checkout", command_line()
    write_report(report, title=title, traces=traces, summary=summary, command=command, frame=frame)
    say(f"The report, with curves, choices and guarantees: {report}")
    say(f"{time.perf_counter() - began:.0f} s.")


def _taken(trace: Trace, levels: FloatArray) -> list[str]:
    """The items with a level above one half, on average over the seeds."""
    return [str(trace.items[i]) for i in np.flatnonzero(levels.mean(axis=0) > 0.5)]


def _learned(traces: list[Trace], shop: Environment, epsilon: float) -> str:
    """How the private learner, the first of the cast, did beside what does not learn."""
    rounds = int(traces[0].checkpoints[-1])
    costs = [float(trace.cost[:, -1].mean()) / rounds for trace in traces]
    best = float(traces[0].best[:, -1].mean()) / rounds
    mean, fixed = costs[0], min(costs[-len(IDLE) :])
    effect = fixed - best
    if mean < fixed:
        return (
            f"The private learner made {(fixed - mean) / effect:.0%} of the way from the best of showing "
            "nothing, everything or random products to the best fixed set in hindsight, over all "
            f"{rounds:,} customers, learning time included."
        )
    text = (
        f"The private learner did not learn in {rounds:,} customers: the best of showing nothing, everything "
        "or random products was no worse."
    )
    if effect <= 0:
        return f"{text} No set was better than that."
    expected = plan(n=shop.n, epsilon=epsilon, rounds=rounds, cost_range=shop.cost_range, effect=effect)
    return (
        f"{text} The best set was better by {effect:.2g} per customer. 'discreet plan' predicts that it "
        f"takes about {two_digits(expected.best.rounds_to_learn)} customers to learn that."
    )


def _against_epsilon(n: int, rounds: int, epsilon: float, progress: bool) -> polars.DataFrame:
    """The private learners again, with less and with more privacy."""
    losses = [epsilon * factor for factor in (0.25, 0.5, 1.0, 2.0, 4.0)]
    given = {"streams": ["checkout"], "learners": PRIVATE, "n": n, "rounds": rounds, "epsilon": losses}
    cells = Sweep.from_mapping(given | {"seeds": 3, "checkpoints": 1}).cells()
    frames = []
    with progress_bar("other epsilons", len(cells), shown=progress, unit="runs") as bar:
        for cell in cells:
            frames.append(run_cell(cell))
            bar.advance(1)
    return polars.concat(frames)
