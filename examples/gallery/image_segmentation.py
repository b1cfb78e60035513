"""Segmenting a stream of noisy pictures: which pixels belong to the object?

Every round somebody contributes one picture of the same thing, so noisy that it says little by itself. A set
of pixels is cheap if its pixels look like the object and if its border is short: a minimum cut. The learner
sees the whole cost function of a picture after it has chosen, and adds it up in private. No single
picture shows in what it releases, yet the object does, because all pictures have it in common.
"""

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap

import discreet
from discreet.formatting import short_number
from discreet.plots.canvas import COLOURS, INK, drawing, figure_of, new_panels
from discreet.policies import FloatArray
from examples.gallery.pictures import options, save

SIZE = 12
EPSILON, NOISE = 1.0, 2.0
#: From left out to taken.
SHADES = LinearSegmentedColormap.from_list("shades", ["white", COLOURS[0]])


def main(arguments: Sequence[str] | None = None) -> Axes:
    """Find the best cut in hindsight, learn it in private, and show both beside one of the pictures."""
    given = options(__doc__, "image_segmentation.svg").parse_args(arguments)
    rounds = 2_000 if given.quick else 200_000
    pictures = discreet.environments.image_cuts(SIZE, SIZE, noise=NOISE)
    learner = discreet.FullInformationLearner(pictures.items, EPSILON, pictures.cost_range)
    early, late = rounds // 10, rounds
    trace = discreet.simulate(pictures, learner, rounds, [0], checkpoints=[early, late], keep="points")
    assert trace.points is not None

    # A picture is private. It is drawn here only because this one is made up.
    stream = pictures.stream(1, seed=0)
    noisy = -stream.compiled.prices[stream.compiled.choice[0]]
    alone = discreet.minimize(stream.total)
    best = trace.best_sets[0]
    for name, found in {
        "the best cut of one picture alone": np.isin(np.arange(SIZE**2), list(alone.set)),
        f"learned in private from {early:,} pictures": trace.points[0, 0] > 0.5,
        f"learned in private from {late:,} pictures": trace.points[0, 1] > 0.5,
    }.items():
        print(f"{name}: {int(np.sum(found != best)):3} of {SIZE**2} pixels differ from the best cut of all")
    panels = {
        "one noisy picture": (noisy - noisy.min()) / np.ptp(noisy),
        "best cut of all pictures": best,
        f"private, {short_number(early)} pictures": trace.points[0, 0],
        f"private, {short_number(late)} pictures": trace.points[0, 1],
    }
    return save(draw(panels, best), given.out)


def draw(panels: dict[str, FloatArray], best: FloatArray) -> Axes:
    """The panels side by side, with the border of the best cut in all of them."""
    with drawing():
        row = new_panels(1, len(panels), (10.4, 3.1))
        for axes, (title, values) in zip(row, panels.items(), strict=True):
            axes.pcolormesh(values.reshape(SIZE, SIZE), cmap=SHADES, vmin=0, vmax=1, rasterized=True)
            outline(axes, best.reshape(SIZE, SIZE))
            axes.set(aspect="equal", xticks=[], yticks=[], ylim=(SIZE, 0))
            axes.spines[:].set_visible(True)
            axes.set_title(title, fontsize=12)
        below = f"dark: taken; line: border of the best cut; epsilon = {EPSILON:g}"
        figure_of(row[0]).supxlabel(below, fontsize=11)
    return row[0]


def outline(axes: Axes, mask: FloatArray) -> None:
    """Draw the edges between taken pixels and others."""
    for row, column in np.argwhere(mask[:, 1:] != mask[:, :-1]):
        axes.plot([column + 1] * 2, [row, row + 1], color=INK, linewidth=1.6)
    for row, column in np.argwhere(mask[1:] != mask[:-1]):
        axes.plot([column, column + 1], [row + 1] * 2, color=INK, linewidth=1.6)


if __name__ == "__main__":
    main()
