"""The picture of the README: what a shop earned in the demo, customer by customer, from each way to choose.

``python -m benchmarks.earned_picture docs/pictures/earned.svg``
"""

import pathlib
import sys

from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter

from discreet.cli.results import traces_of
from discreet.environments import checkout
from discreet.plots.canvas import COLOURS, INK, MUTED, drawing, new_axes, save

#: Names of the demo's learners, what the picture calls them, and how it draws them.
SHOWN = {
    "product-without-noise": ("the best without privacy", MUTED, "--"),
    "bandit": ("discreet", COLOURS[0], "-"),
    "product-sampling-central": ("each product by itself, private", COLOURS[4], "-"),
    "bandit-local": ("discreet, one random bit each", COLOURS[5], "-"),
    "paper-bandit": ("the published algorithm, corrected", COLOURS[1], "-"),
    "random": ("random products", COLOURS[6], "-"),
}
GAP = 900  # euros between two labels


def draw(rounds: int = 20_000, seeds: int = 10) -> Axes:
    """Euros so far against customers, each line with its name at its end."""
    traces = traces_of(checkout(n=8), list(SHOWN), 1.0, rounds, seeds, progress=False)
    lines = [(-traces[0].best, ("possible, in hindsight", INK, ":"))]
    lines += [(-trace.cost, look) for trace, look in zip(traces, SHOWN.values(), strict=True)]
    with drawing():
        axes = new_axes((7.6, 4.0))
        places: list[float] = []
        for euros, (label, colour, style) in sorted(lines, key=lambda line: -line[0][:, -1].mean()):
            mean = euros.mean(axis=0)
            weight = "bold" if label == "discreet" else "normal"
            axes.plot([0, *traces[0].checkpoints], [0, *mean], color=colour, linestyle=style, linewidth=2)
            places.append(min(mean[-1], places[-1] - GAP * rounds / 20_000) if places else mean[-1])
            text = f"{label}  {mean[-1]:z,.0f}"
            end = (rounds * 1.015, places[-1])
            axes.annotate(text, end, color=colour, weight=weight, va="center", annotation_clip=False)
        axes.set_xlim(0, rounds)
        axes.set_xlabel("customers")
        axes.set_title("Euros earned so far", loc="left", fontsize=11)
        axes.xaxis.set_major_formatter(FuncFormatter(lambda x, _: f"{x:,.0f}"))
        axes.yaxis.set_major_formatter(FuncFormatter(lambda y, _: f"{y:,.0f}"))
    return axes


if __name__ == "__main__":
    save(draw(), pathlib.Path(sys.argv[1]))
