"""Your own policy, in plain Python: which sets to try, given what was privately released so far.

A policy is three functions on public values. `plan` says which sets to play and for how many rounds, `learn`
is given what was released of them: noisy sums, never anybody's cost. So whatever it does is private, and
needs no proof. This one estimates what each item adds on its own, plays its favourite most of the time, and
tries random sets otherwise.
"""

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes

import discreet
from discreet.kernel import Phase, Released
from discreet.plots.canvas import drawing, figure_of, new_axes
from discreet.plots.charts import draw_regret, looks, regret_curve
from discreet.randomness import BitSource
from examples.gallery.pictures import options, save

State = dict[str, np.ndarray]


class OneByOne:
    """Regress released mean costs on the items, and take those that seem to lower the cost."""

    def __init__(self, n: int) -> None:
        self.n = n

    def start(self) -> State:
        """Ridge regression: a precision matrix, and the weighted sum of what was released."""
        return {"precision": np.eye(self.n + 1), "sums": np.zeros(self.n + 1)}

    def plan(self, state: State, coins: BitSource) -> Phase:
        """Five random sets for 20 rounds each, and the favourite for as many as there were so far."""
        tried = coins.generator().random((5, self.n)) < 0.5
        sets = [*tried, self.point(state) > 0.5]
        rounds = [20] * 5 + [max(20, int(state["precision"][0, 0]))]
        # The note comes back to `learn` with what is released of each set.
        return Phase.of_sets(self.n, map(np.flatnonzero, sets), rounds, note=sets)

    def learn(self, state: State, released: Released) -> State:
        """Each row is one set: its note, its rounds, and the noisy sum of its costs."""
        rows = np.hstack([np.ones((len(released.note), 1)), released.note - 0.5])
        return {
            "precision": state["precision"] + rows.T @ (rows * released.rounds[:, None]),
            "sums": state["sums"] + rows.T @ released.values[:, 0],
        }

    def point(self, state: State) -> np.ndarray:
        """1 for the items that seem to lower the cost."""
        effects = np.linalg.solve(state["precision"], state["sums"])[1:]
        return (effects < 0).astype(float)


def main(arguments: Sequence[str] | None = None) -> Axes:
    """Compare it with the built-in policy at the same privacy, on customers who buy items one by one."""
    given = options(__doc__, "own_policy.svg").parse_args(arguments)
    rounds, seeds = (2_000, 2) if given.quick else (50_000, 6)
    environment = discreet.environments.modular(8)
    learners = {
        "ours": discreet.PolicyLearner(8, OneByOne, 1.0, environment.cost_range),
        "built in": discreet.BanditLearner(8, 1.0, environment.cost_range),
    }
    traces = {
        name: discreet.simulate(environment, learner, rounds, seeds) for name, learner in learners.items()
    }
    for name, trace in traces.items():
        print(f"{name:9} regret per round {trace.mean_regret[-1] / rounds:.4f}")
    assert learners["ours"].guarantee == learners["built in"].guarantee
    print(f"Both: {learners['ours'].guarantee}")
    look = looks(traces)
    with drawing():
        axes = new_axes()
        draw_regret(axes, [regret_curve(trace, name, look[name]) for name, trace in traces.items()])
        figure_of(axes).legend(loc="outside lower left", ncols=2)
    return save(axes, given.out)


if __name__ == "__main__":
    main()
