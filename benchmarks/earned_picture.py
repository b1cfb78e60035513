"""The picture of the README: what a shop earned in the demo, customer by customer, from each way to choose.

``python -m benchmarks.earned_picture docs/pictures/earned.svg``
"""

import pathlib
import sys

from examples.gallery.pictures import draw_euros, save
from matplotlib.axes import Axes

from discreet.cli.results import traces_of
from discreet.environments import checkout
from discreet.plots.canvas import COLOURS, INK, MUTED

POSSIBLE = "possible, in hindsight"
#: Names of the demo's learners, and what the picture calls them.
NAMES = {
    "bandit": "discreet",
    "bandit-local": "discreet, one random bit each",
    "product-sampling-central": "each product by itself, private",
    "paper-bandit": "the published algorithm, corrected",
    "product-without-noise": "the best without privacy",
    "random": "random products",
}
LOOKS = {
    "discreet": (COLOURS[0], "-"),
    "discreet, one random bit each": (COLOURS[5], "-"),
    "each product by itself, private": (COLOURS[4], "-"),
    "the published algorithm, corrected": (COLOURS[1], "-"),
    "the best without privacy": (MUTED, "--"),
    "random products": (COLOURS[6], "-"),
    POSSIBLE: (INK, ":"),
}


def draw(rounds: int = 20_000, seeds: int = 10) -> Axes:
    """Means over the seeds."""
    traces = traces_of(checkout(n=8), list(NAMES), 1.0, rounds, seeds, progress=False)
    totals = {name: trace.cost for name, trace in zip(NAMES.values(), traces, strict=True)}
    totals[POSSIBLE] = traces[0].best
    euros = {name: (-total.mean(axis=0)).tolist() for name, total in totals.items()}
    return draw_euros(traces[0].checkpoints.tolist(), euros, LOOKS)


if __name__ == "__main__":
    save(draw(), pathlib.Path(sys.argv[1]))
