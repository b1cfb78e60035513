"""The command ``discreet demo``: a shop learns in private which products to offer at checkout."""

from __future__ import annotations

import pathlib
import time

import polars

from discreet.cli.output import command_line, print_json, require_place, wrapped
from discreet.cli.simulate import regret_table, summary_of, traces_of
from discreet.environments import Environment, find
from discreet.planning import plan, two_digits
from discreet.report import write_report
from discreet.simulation.progress import progress_bar
from discreet.simulation.sweep import Sweep, run_cell

#: Whom the demo shows, and why: the two private modes, the paper's algorithm, no privacy, no learning.
CAST = ["bandit-central", "bandit", "paper-bandit", "bandit-without-noise", "random", "empty", "everything"]


def against_epsilon(n: int, rounds: int, epsilon: float, progress: bool) -> polars.DataFrame:
    """The private learners again, with less and with more privacy."""
    losses = [epsilon * factor for factor in (0.25, 0.5, 1.0, 2.0, 4.0)]
    given = {"streams": ["checkout"], "learners": CAST[:3], "n": n, "rounds": rounds, "epsilon": losses}
    cells = Sweep.from_mapping(given | {"seeds": 3, "checkpoints": 1}).cells()
    frames = []
    with progress_bar("other epsilons", len(cells), shown=progress, unit="runs") as bar:
        for cell in cells:
            frames.append(run_cell(cell))
            bar.advance(1)
    return polars.concat(frames)


def too_few(shop: Environment, epsilon: float, rounds: int, effect: float) -> str:
    """What to say where the private learner is no better than what does not learn."""
    words = (
        f"The private learner did not learn in {rounds:,} customers: the best of showing nothing, everything "
        "or random products was no worse."
    )
    if effect <= 0:
        return f"{words} No set was better than that."
    expected = plan(n=shop.n, epsilon=epsilon, rounds=rounds, cost_range=shop.cost_range, effect=effect)
    return (
        f"{words} The best set was better by {effect:.2g} per customer. 'discreet plan' predicts that it "
        f"takes about {two_digits(expected.best.rounds_to_learn)} customers to learn that."
    )


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
    say(
        wrapped(
            f"A shop with {n} products and {rounds:,} customers, {seeds} times over. Each is shown a set of "
            f"products; only the profit of that set is seen, and it would be private (epsilon = {epsilon:g})."
        )
    )
    traces = traces_of(shop, CAST, epsilon, rounds, seeds, progress)
    say(regret_table(traces))
    if traces[-1].interrupted:
        raise KeyboardInterrupt  # without all of the cast there is nothing to compare with
    ours, plain = traces[0], {trace.learner: trace for trace in traces}
    last = int(ours.checkpoints[-1])
    mean = {name: float(trace.cost[:, -1].mean()) / last for name, trace in plain.items()}
    fixed = min(value for name, value in mean.items() if name.startswith(("RandomSet", "FixedSet")))
    best = float(ours.best[:, -1].mean()) / last
    chosen = [
        str(item)
        for item, level in zip(ours.items, ours.final_points.mean(axis=0), strict=True)
        if level > 0.5
    ]
    wanted = [
        str(item) for item, part in zip(ours.items, ours.best_sets.mean(axis=0), strict=True) if part > 0.5
    ]
    if mean[ours.learner] < fixed:
        share = (fixed - mean[ours.learner]) / (fixed - best)
        learned = (
            f"The private learner made {share:.0%} of the way from the best of showing nothing, everything "
            f"or random products to the best fixed set in hindsight, over all {rounds:,} customers, learning "
            "time included."
        )
    else:
        learned = too_few(shop, epsilon, rounds, fixed - best)
    summary = (
        f"{learned} In the end it offered {', '.join(chosen) or 'nothing'}; best would have been "
        f"{', '.join(wanted) or 'nothing'}."
    )
    say(wrapped(summary))
    if json:
        found = {"summary": summary, "chosen": chosen, "best": wanted, "report": str(report)}
        print_json(found | {"learners": [summary_of(trace) for trace in traces]})
    frame = against_epsilon(n, rounds // 4, epsilon, progress)
    write_report(
        report,
        title="A private checkout",
        traces=traces,
        summary=summary,
        command=command_line(),
        frame=frame,
    )
    say(f"The report, with curves, choices and guarantees: {report}")
    say(f"{time.perf_counter() - began:.0f} s.")
