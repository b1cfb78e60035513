"""Your own part of a learner: another way to move from private sums to the next choice.

A learner is a named tuple of parts. The mechanism (here a tree) is the only part that sees gradients, and all
it lets out are noisy sums. The update rule makes the next inclusion levels from these sums alone, so whatever
it does with them is post-processing: a new rule needs no new proof of privacy.

The package's rule moves each level in proportion to its sum (dual averaging). Here is multiplicative weights
instead: each level is a logistic function of its sum, which never quite reaches 0 or 1.
"""

import dataclasses
import math
from collections.abc import Hashable, Iterable, Sequence
from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes

import discreet
from discreet.extending import (
    FloatArray,
    FunctionFeedback,
    IntArray,
    enter,
    keeps_arguments,
    kernel,
    named_items,
    new_core,
    next_point,
    subgradient_limits,
)
from discreet.prefix_sums import KAryTree
from discreet.privacy import Budget
from discreet.randomness import Seed, as_source
from discreet.simulation import Trace
from discreet.simulation.canvas import drawing, figure_of, new_panels
from discreet.simulation.curves import regret_curve
from discreet.simulation.figures import draw_regret
from discreet.simulation.looks import looks
from examples.gallery.pictures import options, save

N, EPSILON = 8, 1.0


class Logistic(NamedTuple):
    """x = 1 / (1 + exp(eta * sum of gradients)), item by item. It may hold public numbers only."""

    eta: float


@enter.register(Logistic)
@kernel
def _enter_nothing(rule: Logistic, x: FloatArray, step: float, vector: IntArray) -> None:
    """A rule may add a public term to what is summed; this one does not."""


@next_point.register(Logistic)
@kernel
def _move(rule: Logistic, total: FloatArray, rounds: int, x: FloatArray, levels: FloatArray) -> None:
    """From the released sums to the next point. The levels order the items: equal x may differ in them."""
    for i in range(x.size):
        levels[i] = -total[i]
        x[i] = 1.0 / (1.0 + math.exp(min(max(rule.eta * total[i], -50.0), 50.0)))


class LogisticLearner(FunctionFeedback):
    """The package's tree mechanism with the rule above, for costs in [-1, 1]."""

    @keeps_arguments  # so that it can be saved, and made anew for each seed of a simulation
    def __init__(
        self,
        items: int | Iterable[Hashable],  # the first argument of every learner: their number or their names
        epsilon: float,
        horizon: int,
        eta: float,
        *,
        seed: Seed | None = None,
    ) -> None:
        names = named_items("LogisticLearner", items)
        n = len(names)
        words = as_source(None, seed)  # random bits: cryptographic unless there is a seed
        limits, bound = subgradient_limits(-1.0, 1.0)  # what every gradient is forced into
        tree = KAryTree(n, horizon, bound, Budget(epsilon=epsilon), source=words)
        rule, start = Logistic(eta), np.full(n, 0.5)
        core = new_core(mechanism=tree.steps, rule=rule, limits=limits, start=start, horizon=horizon)
        super().__init__(names, core, words, tree.guarantee)


def main(arguments: Sequence[str] | None = None) -> None:
    """Play the rules on two kinds of streams, at the same privacy, and compare their regret."""
    given = options(__doc__, "own_learner_part.svg").parse_args(arguments)
    rounds, seeds = (2_000, 2) if given.quick else (100_000, 6)
    built_in = discreet.FullInformationLearner(N, EPSILON, (-1, 1), method="tree", horizon=rounds)
    step = built_in.step  # tuned by the package for the worst case
    contenders = {
        "built in: dual averaging": built_in,
        "ours, as steep at the start": LogisticLearner(N, EPSILON, rounds, 4 * step),
        "ours, ten times steeper": LogisticLearner(N, EPSILON, rounds, 40 * step),
    }
    # Where every item counts by itself boldness pays. Where items depend on each other it is punished.
    streams = {"modular": discreet.environments.modular(N), "cuts": discreet.environments.cuts(N)}
    traces = {
        name: {label: discreet.simulate(stream, one, rounds, seeds) for label, one in contenders.items()}
        for name, stream in streams.items()
    }
    for name, found in traces.items():
        for label, trace in found.items():
            print(f"{name:8} {label:28} regret a round {trace.mean_regret[-1] / rounds:.4f}")
    assert contenders["ours, ten times steeper"].guarantee == built_in.guarantee
    print(f"All of them: {built_in.guarantee}")
    save(draw(traces), given.out)


def draw(traces: dict[str, dict[str, Trace]]) -> Axes:
    """Regret a round over the rounds, for each rule, a panel a stream."""
    with drawing():
        row = new_panels(1, len(traces), (9.6, 4.4))
        for axes, (name, found) in zip(row, traces.items(), strict=True):
            look = looks(found)
            curves = [regret_curve(trace, label, look[label]) for label, trace in found.items()]
            draw_regret(axes, [dataclasses.replace(curve, bound=None) for curve in curves])
            axes.set_title(f"stream: {name}", loc="left")
        handles = row[0].get_legend_handles_labels()
        figure_of(row[0]).legend(*handles, loc="outside lower center", ncols=3)
    return row[0]


if __name__ == "__main__":
    main()
