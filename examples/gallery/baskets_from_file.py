"""Baskets from a file: which items should a shop put on its front page?

A file has one basket a line, items separated by commas. Every basket becomes a customer who would have liked
to see what is in it, and pairs that are often bought together count extra; every item shown costs. The
learner sees each basket whole, after it has chosen (full information), and keeps it private: what it releases
hardly depends on any one line of the file.

Without `--baskets` the example takes `groceries.csv` from the folder that DISCREET_DATA names, and if there
is none it writes a small made-up file itself. Which items are offered, and at what price, is read off the
whole file: that is fine for an experiment and would not be private in production.
"""

import os
import pathlib
import tempfile
from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes

import discreet
from discreet.plots.canvas import drawing, figure_of, new_axes
from discreet.plots.charts import draw_items
from discreet.simulation import Trace
from examples.gallery.pictures import options, save

EPSILON = 1.0
#: Items of the made-up file: how often each is in a basket, and what comes with it half of the time.
POPULAR = {
    "bread": (0.5, "butter"),
    "butter": (0.2, "jam"),
    "milk": (0.45, "cereals"),
    "cereals": (0.15, "honey"),
    "coffee": (0.35, "sugar"),
    "apples": (0.15, "pears"),
    "rice": (0.1, "beans"),
    "soap": (0.06, "sponge"),
}


def main(arguments: Sequence[str] | None = None) -> Axes:
    """Read the baskets, learn from them in the order of the file, and compare with the best fixed choice."""
    parser = options(__doc__, "baskets_from_file.svg")
    parser.add_argument("--baskets", type=pathlib.Path, help="one basket a line, items separated by commas")
    given = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        path = given.baskets or known_file() or made_up(pathlib.Path(folder, "baskets.csv"))
        baskets = discreet.environments.baskets(path, n=10)
    rounds = min(2_000, baskets.most_rounds or 2_000) if given.quick else baskets.most_rounds
    learner = discreet.FullInformationLearner(baskets.items, EPSILON, baskets.cost_range)
    trace = discreet.simulate(baskets, learner, rounds, seeds=2 if given.quick else 8)
    print(f"{path.name}: {int(trace.checkpoints[-1]):,} baskets; {learner.guarantee}")
    last = int(trace.checkpoints[-1])
    paid, best = trace.cost[:, -1].mean() / last, trace.best[:, -1].mean() / last
    print(f"mean profit {-paid:.3f} a basket, learning time included; best fixed set {-best:.3f}.")
    for item, level, taken in zip(trace.items, trace.final_points.mean(0), trace.best_sets[0], strict=True):
        print(f"  {item:20} {level:.2f} {'best' if taken else ''}")
    return save(draw(trace, path.name), given.out)


def known_file() -> pathlib.Path | None:
    """Real baskets, where there are some."""
    path = pathlib.Path(os.environ.get("DISCREET_DATA", ""), "groceries.csv")
    return path if path.is_file() else None


def made_up(path: pathlib.Path, lines: int = 6_000) -> pathlib.Path:
    """Write baskets like those of a small shop."""
    rng = np.random.default_rng(0)
    text: list[str] = []
    while len(text) < lines:
        chosen = [item for item, (share, _) in POPULAR.items() if rng.random() < share]
        basket = dict.fromkeys(
            thing for item in chosen for thing in (item, *([POPULAR[item][1]] if rng.random() < 0.5 else []))
        )
        if basket:
            text.append(",".join(basket))
    path.write_text("\n".join(text) + "\n")
    return path


def draw(trace: Trace, name: str) -> Axes:
    """For each item how surely it is offered in the end, beside the best fixed choice."""
    with drawing():
        axes = new_axes((6.6, 4.4))
        draw_items(
            axes, [str(item) for item in trace.items], trace.final_points.mean(0), trace.best_sets.mean(0)
        )
        baskets = int(trace.checkpoints[-1])
        axes.set_title(
            f"Learned from {baskets:,} baskets of {name}, epsilon = {EPSILON:g}", loc="left", fontsize=11
        )
        axes.set_ylabel("")
        figure_of(axes).legend(
            ["best fixed set in hindsight (1: taken, 0: not)", "level in the end, mean of the seeds"],
            loc="outside lower left",
        )
    return axes


if __name__ == "__main__":
    main()
