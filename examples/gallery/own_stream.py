"""Your own stream, compiled: which lamps of a path should burn at night?

Every round one person walks one stretch of a path, from a lamp to the next. Where somebody walks is private.
A lamp costs energy all the time. Walking in the dark costs that person something, and so does stepping from
light into darkness or back. The last part makes lamps complements: two neighbours are worth more than one.

A stream needs `n`, `rounds`, a `cost_range` that no cost leaves, and the exact sum of its rounds. To be
played millions of times per second it also needs a named tuple of arrays and two small compiled functions.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap

import discreet
from discreet.environments import Environment, Stream, chain_costs, check_stream, prefix_cost
from discreet.plots.canvas import INK, drawing, figure_of, log_scale, new_axes
from discreet.policies import FloatArray, IntArray, kernel
from discreet.set_functions import Cut, SetFunction
from discreet.simulation import Trace
from examples.gallery.pictures import options, save

LAMPS = 12
#: What a burning lamp costs per round, what a dark lamp costs somebody who passes it, and what glare costs.
ENERGY, DARK, GLARE = 0.05, 0.25, 0.25


class Walks(NamedTuple):
    """The compiled form: the stretch walked in each round, which leads from lamp k to lamp k + 1."""

    stretches: IntArray


@prefix_cost.register(Walks)
@kernel
def _cost_of_prefix(stream: Walks, t: int, x: FloatArray, order: IntArray, size: int) -> float:
    """Bandit learners see this: the cost of the lamps order[:size] in round t."""
    before = after = False
    for k in range(size):
        before |= order[k] == stream.stretches[t]
        after |= order[k] == stream.stretches[t] + 1
    return ENERGY * size + DARK * (2 - before - after) + GLARE * (before != after)


@chain_costs.register(Walks)
@kernel
def _costs_along(stream: Walks, t: int, x: FloatArray, order: IntArray, costs: FloatArray) -> None:
    """Full-information learners see this: the costs of all n+1 prefixes, in one pass."""
    before = after = False
    costs[0] = 2 * DARK
    for k in range(order.size):
        before |= order[k] == stream.stretches[t]
        after |= order[k] == stream.stretches[t] + 1
        costs[k + 1] = ENERGY * (k + 1) + DARK * (2 - before - after) + GLARE * (before != after)


class Path(Stream):
    """Most people walk between the station and the school, in the middle of the path."""

    n = LAMPS
    cost_range = (0.0, ENERGY * LAMPS + 2 * DARK + GLARE)

    def __init__(self, rounds: int, seed: int) -> None:
        middle = np.exp(-(((np.arange(LAMPS - 1) - 0.4 * LAMPS) / 2.0) ** 2)) + 0.05
        drawn = np.random.default_rng(seed).choice(LAMPS - 1, size=rounds, p=middle / middle.sum())
        self.rounds, self.compiled = rounds, Walks(drawn)

    def sum_of(self, rounds: slice) -> SetFunction:
        """The same costs added up, as a set function: regret is measured against its exact minimum."""
        stretches = self.compiled.stretches[rounds]
        walked = np.bincount(stretches, minlength=LAMPS - 1).astype(float)
        lamps, passed = np.arange(LAMPS - 1), np.append(walked, 0) + np.append(0, walked)
        prices = ENERGY * stretches.size - DARK * passed
        glare = Cut.from_edges(LAMPS, lamps, lamps + 1, GLARE * walked, prices, directed=False)
        return glare.shift(2 * DARK * stretches.size)


def main(arguments: Sequence[str] | None = None) -> Axes:
    """Check the compiled costs against the set functions, simulate, and draw what was learned."""
    given = options(__doc__, "own_stream.svg").parse_args(arguments)
    rounds = 20_000 if given.quick else 500_000

    # The compiled functions, the set functions and their sum say the same thing thrice: compare them.
    check_stream(Path(200, seed=1))

    path = Environment("path", Path, tuple(range(1, LAMPS + 1)), Path.cost_range)
    learner = discreet.BanditLearner(path.items, epsilon=1.0, cost_range=path.cost_range)
    trace = discreet.simulate(path, learner, rounds, seeds=2 if given.quick else 6, keep="points")
    print(trace)
    best = [lamp for lamp, lit in zip(path.items, trace.best_sets[0], strict=True) if lit]
    learned = [lamp for lamp, x in zip(path.items, trace.final_points.mean(0), strict=True) if x > 0.5]
    print(f"Best lamps in hindsight: {best}. Learned in private: {learned}.")
    return save(draw(trace), given.out)


def draw(trace: Trace) -> Axes:
    """The level of every lamp over the rounds, as brightness, with the best fixed set between lines."""
    assert trace.points is not None
    night = LinearSegmentedColormap.from_list("night", [INK, "#E69F00", "#FFF3C4"])
    with drawing():
        axes = new_axes((7.0, 4.4))
        late = trace.checkpoints >= 100
        rounds, levels = trace.checkpoints[late], trace.points.mean(axis=0)[late]
        mesh = axes.pcolormesh(rounds, trace.items, levels.T, cmap=night, vmin=0, vmax=1, rasterized=True)
        lit = np.flatnonzero(trace.best_sets[0]) + 1
        for border in (lit.min() - 0.5, lit.max() + 0.5):
            axes.axhline(border, color="white", linestyle=(0, (4, 2)), linewidth=2)
        log_scale(axes.xaxis, float(rounds[0]), float(rounds[-1]))
        axes.set_yticks(trace.items)
        axes.grid(visible=False)
        axes.set(xlabel="people who have walked by", ylabel="lamp")
        axes.set_title("Which lamps burn; best: those between the dashed lines", loc="left")
        figure_of(axes).colorbar(mesh, ax=axes, label="level: how often it is on")
    return axes


if __name__ == "__main__":
    main()
