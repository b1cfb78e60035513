"""Your own set function: how far along the road should the van go today?

Villages lie along a road. Whoever serves a set of villages drives to the farthest of them and back, so the
cost of driving depends on the farthest one alone: serving those on the way is free. Such a maximum is
submodular, since a village adds less to a tour that already goes far. No family of the package says exactly
this, so it is written here: three methods, and checking, minimising, learning and JSON all work.
"""

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes

import discreet
from discreet.plots.canvas import COLOURS, INK, drawing, new_panels
from discreet.policies import BoolArray, FloatArray, IntArray
from discreet.set_functions import FromCallable, Modular, SetFunction, is_submodular
from examples.gallery.pictures import options, save


class Farthest(SetFunction):
    """S -> the largest distance in S, and 0 for the empty set."""

    def __init__(self, distances: Sequence[float]) -> None:
        self.distances: FloatArray = np.array(distances, dtype=float)
        self.n = self.distances.size

    def _value(self, mask: BoolArray) -> float:
        """The value of one set, given as n booleans."""
        return float(self.distances[mask].max(initial=0.0))

    def _chain(self, order: IntArray) -> FloatArray:
        """The values of all n+1 prefixes of an order, in one pass: this is what learners call."""
        return np.maximum.accumulate(np.append(0.0, self.distances[order]))

    def range(self) -> tuple[float, float]:
        """No value lies outside; sums and streams rely on it."""
        return 0.0, float(self.distances.max(initial=0.0))


DISTANCES = np.array([0.03, 0.07, 0.10, 0.15, 0.20, 0.30, 0.42, 0.56])
#: How often somebody in each village orders; an order that is served is worth 1.
ORDERS = np.array([0.09, 0.03, 0.12, 0.03, 0.14, 0.03, 0.05, 0.06])


def main(arguments: Sequence[str] | None = None) -> Axes:
    """Check the function, minimise it, learn with it in private, and draw the costs and the choices."""
    given = options(__doc__, "own_set_function.svg").parse_args(arguments)
    rounds = 2_000 if given.quick else 20_000
    driving = Farthest(DISTANCES.tolist())

    # Is it right? Few items are compared exactly; the second function is wrong, as a counterexample shows.
    print(f"Farthest is submodular: {bool(is_submodular(driving))}")
    wrong = is_submodular(FromCallable(lambda chosen: sum(DISTANCES[list(chosen)]) ** 2, driving.n))
    print(
        f"The squared sum of distances is: {bool(wrong)}; counterexample (A, B, item): {wrong.counterexample}"
    )
    assert SetFunction.from_dict(driving.to_dict())([0, 4]) == driving([0, 4])

    expected = driving + Modular(-ORDERS)
    best = discreet.minimize(expected)
    print(f"Best on average: villages {sorted(best.set)} at {best.value:.3f} a day, found by {best.method}.")

    # Every day at most one household orders. Whether and where is private.
    rng = np.random.default_rng(1)
    learner = discreet.FullInformationLearner(driving.n, epsilon=1.0, cost_range=(-1.0, 1.0), seed=1)
    served = []
    for village in rng.choice(driving.n + 1, size=rounds, p=np.append(ORDERS, 1 - ORDERS.sum())):
        order = np.zeros(driving.n)
        order[village : village + 1] = -1.0  # the last number stands for no order
        decision = learner.ask()
        learner.tell(decision, driving + Modular(order))
        served.append(max((k + 1 for k in range(driving.n) if k in decision.subset), default=0))
    first, late = (
        np.bincount(part, minlength=driving.n + 1) / len(part)
        for part in (served[: rounds // 20], served[rounds // 2 :])
    )
    print(f"In the second half the van serves up to {np.argmax(late)} villages on {late.max():.0%} of days.")
    return save(draw(expected.chain_values(np.arange(driving.n)), first, late), given.out)


def draw(costs: FloatArray, first: FloatArray, late: FloatArray) -> Axes:
    """Above what it costs to go so far, below how often the learner does."""
    with drawing():
        above, below = new_panels(2, 1, (6.6, 5.0), sharex=True)
        stops = np.arange(costs.size)
        above.plot(stops, costs, "o-", color=INK)
        lowest = int(np.argmin(costs))
        above.plot(lowest, costs[lowest], "*", color=COLOURS[1], markersize=16)
        above.annotate("best", (lowest, costs[lowest]), (0, -20), textcoords="offset points", ha="center")
        above.margins(y=0.3)
        above.set_ylabel("mean cost a day")
        above.set_title("Cost of driving to the k-th village, less what orders bring", loc="left")
        below.bar(stops - 0.2, 100 * first, width=0.4, color=COLOURS[-1], label="first twentieth of the days")
        below.bar(stops + 0.2, 100 * late, width=0.4, color=COLOURS[0], label="second half")
        below.legend(loc="upper left")
        below.set_ylabel("% of days")
        below.set_xlabel("villages served, k, from the nearest on")
        below.set_xticks(stops)
        below.set_title("How far the private learner drives", loc="left")
    return above


if __name__ == "__main__":
    main()
