"""Fitted exponents of regret in rounds, items and epsilon, beside the theorems' rates.

One command makes the data, the figure and the table::

    python -m examples.theorems --out theorems

It goes on where it stopped. The slopes are least squares on logarithms of the mean regret over the seeds,
where that is positive at every value; their errors come from resampling the seeds.
"""

import argparse
import pathlib

import numpy as np
import polars

from discreet.plots.canvas import COLOURS
from discreet.simulation.sweep import compare
from examples.theorems.series import RATES, Series, all_series


def main() -> None:
    """Run all series into one file, fit, draw, and print the table."""
    parser = argparse.ArgumentParser(prog="python -m examples.theorems", description=__doc__)
    parser.add_argument(
        "--out", type=pathlib.Path, default=pathlib.Path("theorems"), help="folder for the results"
    )
    parser.add_argument("--seeds", type=int, default=6)
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    series = all_series(given.seeds)
    for one in series:
        frame = compare(one.sweep, given.out / "theorems.parquet", progress=True)
    text = markdown(series, frame)
    (given.out / "theorems.md").write_text(text)
    draw(series, frame, given.out / "theorems.svg")
    print(text)


def ends(one: Series, frame: polars.DataFrame, stream: str, learner: str) -> tuple[np.ndarray, np.ndarray]:
    """The values of the varied quantity, and the final regrets: a row per value, a column per seed."""
    keys = [cell.key for cell in one.sweep.cells() if (cell.environment, cell.learner) == (stream, learner)]
    rows = frame.filter(polars.col("cell").is_in(keys) & (polars.col("round") == polars.col("rounds")))
    grouped = rows.group_by(one.quantity, maintain_order=True).agg("regret").sort(one.quantity)
    if not len(grouped) or grouped[one.quantity].null_count():
        return np.empty(0), np.empty((0, 0))
    return grouped[one.quantity].to_numpy().astype(float), np.array(grouped["regret"].to_list())


def slope(values: np.ndarray, regrets: np.ndarray) -> tuple[float, float] | None:
    """The exponent and its standard error, or None where mean regret is not positive throughout."""
    if values.size < 2 or regrets.mean(axis=1).min() <= 0:
        return None

    def fit(means: np.ndarray) -> float:
        return float(np.polyfit(np.log(values), np.log(means), 1)[0])

    rng = np.random.default_rng(0)
    seeds = regrets.shape[1]
    resampled = [regrets[:, rng.integers(seeds, size=seeds)].mean(axis=1) for _ in range(400)]
    slopes = [fit(means) for means in resampled if means.min() > 0]
    return fit(regrets.mean(axis=1)), float(np.std(slopes))


def markdown(series: list[Series], frame: polars.DataFrame) -> str:
    """A table per kind of feedback and stream: measured exponent, its error, and the theorem's."""
    blocks = []
    for feedback in dict.fromkeys(one.feedback for one in series):
        of_kind = {one.quantity: one for one in series if one.feedback == feedback}
        first = next(iter(of_kind.values())).sweep
        for stream, _ in first.streams:
            lines = [
                f"### {feedback.capitalize()}, stream `{stream}`",
                "",
                "| learner | in T | theorem | in n | theorem | in epsilon | theorem |",
                "|---|---|---|---|---|---|---|",
            ]
            for learner in first.learners:
                cells = [learner]
                for quantity, rate in zip(("rounds", "n", "epsilon"), RATES[learner], strict=True):
                    found = slope(*ends(of_kind[quantity], frame, stream, learner))
                    cells.append("" if found is None else f"{found[0]:.2f} ± {found[1]:.2f}")
                    cells.append("" if rate is None else f"{rate:.2f}")
                lines.append("| " + " | ".join(cells) + " |")
            blocks.append("\n".join(lines))
    return "\n\n".join(blocks) + "\n"


def draw(series: list[Series], frame: polars.DataFrame, path: pathlib.Path) -> None:
    """Mean regret against each quantity, a panel for each stream and quantity; legends beside the panels."""
    import matplotlib
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure

    streams = [stream for stream, _ in series[0].sweep.streams]
    figure = Figure(figsize=(13, 3 * 2 * len(streams)), layout="constrained")
    FigureCanvasSVG(figure)
    panels = figure.subplots(2 * len(streams), 3)
    for column, one in enumerate(series):
        for row, stream in enumerate(streams):
            axes = panels[2 * row + column // 3, column % 3]
            for k, learner in enumerate(one.sweep.learners):
                values, regrets = ends(one, frame, stream, learner)
                if values.size:
                    look = {"marker": "osv^D"[k % 5], "color": COLOURS[k % len(COLOURS)], "markersize": 4}
                    axes.plot(values, regrets.mean(axis=1), label=learner, **look)
                    axes.set(xscale="log", yscale="log", xlabel=LABELS[one.quantity], ylabel="regret (cost)")
                    axes.set_xticks(values, [tick(value) for value in values])
            axes.minorticks_off()
            axes.set_title(f"{one.feedback}, stream {stream}", fontsize="medium")
            if column % 3 == 1:  # where all learners are drawn
                handles = axes.get_legend_handles_labels()
                panels[2 * row + column // 3, 2].legend(
                    *handles, fontsize="small", frameon=False, loc="center left", bbox_to_anchor=(1.02, 0.5)
                )
    with matplotlib.rc_context({"svg.fonttype": "none", "svg.hashsalt": "discreet"}):
        figure.savefig(path, metadata={"Date": None})


LABELS = {"rounds": "rounds T", "n": "items n", "epsilon": "epsilon"}


def tick(value: float) -> str:
    """Powers of two beyond a thousand as such."""
    return f"$2^{{{round(np.log2(value))}}}$" if value >= 1000 else f"{value:g}"


if __name__ == "__main__":
    main()
