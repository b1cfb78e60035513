"""Bundles at the checkout: which products should be offered, when profits are private?

Every customer is shown a set of products. Some products are worth more together (bread and butter), and each
one shown costs attention. The shop sees only the profit of the set that it showed, and even that number is
the customer's secret. So the learner keeps only sums over several customers, and adds noise to them before
it learns from them: whoever runs it is trusted with that. In local mode nobody need be trusted. There every
profit becomes one random bit, and learning takes longer.
"""

import dataclasses
from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes

import discreet
from discreet.baselines import FixedSet, RandomSet
from discreet.plots.canvas import drawing, figure_of, new_axes
from discreet.plots.charts import Curve, best_curve, cost_curve, draw_costs, looks
from discreet.simulation import Trace
from examples.gallery.pictures import options, save

EPSILON = 1.0


def main(arguments: Sequence[str] | None = None) -> Axes:
    """Serve a few customers by hand, then simulate many, and draw the mean profit."""
    given = options(__doc__, "checkout_bundles.svg").parse_args(arguments)
    rounds, seeds = (5_000, 2) if given.quick else (50_000, 6)
    shop = discreet.environments.checkout(n=10)

    # By hand, as a shop's server would. Profits are maximised; the simulator below has costs instead.
    learner = discreet.BanditLearner(shop.items, EPSILON, cost_range=(-1, 1), maximize=True, seed=0)
    for customer in shop.stream(3):
        decision = learner.ask()
        offered = [item for item in shop.items if item in decision.subset]
        profit = -customer([shop.items.index(item) for item in offered])
        learner.tell(decision, profit)
        print(f"offered {', '.join(map(str, offered)) or 'nothing'}: profit {profit:.2f}")

    learners = {
        "private, central": discreet.BanditLearner(shop.items, EPSILON, shop.cost_range),
        "private, local": discreet.BanditLearner(shop.items, EPSILON, shop.cost_range, mode="local"),
        "everything": FixedSet(shop.items, range(shop.n)),
        "random products": RandomSet(shop.items),
    }
    traces = {name: discreet.simulate(shop, learner, rounds, seeds) for name, learner in learners.items()}
    for name, trace in traces.items():
        print(f"{name}: mean profit {-trace.cost[:, -1].mean() / rounds:.3f}")
    central = traces["private, central"]
    print(f"best fixed bundle in hindsight: mean profit {-central.best[:, -1].mean() / rounds:.3f}")
    learned = [item for item, level in zip(shop.items, central.final_points[0], strict=True) if level > 0.5]
    best = [item for item, taken in zip(shop.items, central.best_sets[0], strict=True) if taken]
    print(f"The first shop offers {', '.join(map(str, learned))}. Best is {', '.join(map(str, best))}.")
    return save(draw(traces), given.out)


def draw(traces: dict[str, Trace]) -> Axes:
    """The mean profit a customer so far, for each way to choose."""
    look = looks(traces, references=["everything", "random products"])
    curves = [as_profit(cost_curve(trace, name, look[name])) for name, trace in traces.items()]
    best = as_profit(best_curve(next(iter(traces.values())), "best fixed bundle, in hindsight"))
    with drawing():
        axes = new_axes((6.6, 5.0))
        draw_costs(axes, curves, [best])
        axes.set_xlabel("customers")
        axes.set_ylabel("mean profit a customer so far")
        axes.set_title(f"Learning what to offer, epsilon = {EPSILON:g}", loc="left")
        figure_of(axes).legend(loc="outside lower left", ncols=2)
    return axes


def as_profit(curve: Curve) -> Curve:
    """A curve of costs turned upside down."""
    mean, low, high = (np.negative(values) for values in (curve.mean, curve.high, curve.low))
    return dataclasses.replace(curve, mean=mean, low=low, high=high)


if __name__ == "__main__":
    main()
