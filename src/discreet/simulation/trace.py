"""What a simulation leaves: what was paid or earned, and the best fixed set, at checkpoints, per seed."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.checks import FloatArray, IntArray
from discreet.frames import Library, make_frame
from discreet.html import as_html
from discreet.intervals import CONFIDENCE, mean_interval
from discreet.privacy.guarantee import Guarantee

if TYPE_CHECKING:
    import matplotlib.axes

#: Choices that do not learn, as reports and sweeps call them ("full" is a learner with full information).
_REFERENCES = {"random set", "empty set", "full set", "random", "empty", "everything"}


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Trace:
    """Costs and regret of one learner in one environment, for several seeds.

    Rows are seeds, columns are checkpoints. Where the learner maximises, the numbers are rewards.

    Attributes:
        checkpoints: After how many rounds the numbers were taken.
        cost: The total cost paid so far, or the total reward.
        best: The total of the best fixed set in hindsight so far.
        best_lower_bound: A proved bound on it: no set costs less, or earns more. Infinite where none is.
        best_sets: The best fixed set over all rounds, as zeros and ones.
        guarantee: What the learner would promise with cryptographic bits.
        bound: The learner's own regret bound at each checkpoint, where it has one.
        points: The learner's point at each checkpoint (seed, checkpoint, item), if asked for; so are `sets`.

    Examples:
        >>> from discreet import BanditLearner, simulate
        >>> trace = simulate("modular", BanditLearner(3, 1.0, (-1, 1)), rounds=200, seeds=2)
        >>> trace.cost.shape == (2, trace.checkpoints.size)
        True
    """

    environment: str
    learner: str
    items: tuple[Any, ...]
    cost_range: tuple[float, float]
    seeds: tuple[int, ...]
    checkpoints: IntArray
    cost: FloatArray
    best: FloatArray
    best_lower_bound: FloatArray
    final_points: FloatArray
    best_sets: FloatArray
    guarantee: Guarantee
    bound: FloatArray | None = None
    points: FloatArray | None = None
    sets: FloatArray | None = None
    interrupted: bool = False
    about: str = ""
    parameters: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    arguments: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    maximize: bool = False

    @property
    def kind(self) -> str:
        """What the numbers are: "cost" or "reward"."""
        return "reward" if self.maximize else "cost"

    @property
    def regret(self) -> FloatArray:
        """Cost paid minus that of the best fixed set, so far, or reward missed; exact where `best` is."""
        return self.best - self.cost if self.maximize else self.cost - self.best

    @property
    def regret_upper_bound(self) -> FloatArray:
        """The same against the proved bound: regret lies between `regret` and this."""
        return (self.cost - self.best_lower_bound) * (-1 if self.maximize else 1)

    @property
    def mean_regret(self) -> FloatArray:
        """The mean over the seeds."""
        return np.asarray(self.regret.mean(axis=0))

    def band(self, confidence: float = CONFIDENCE) -> tuple[FloatArray, FloatArray]:
        """A confidence interval of the mean regret at each checkpoint, by Student's t over the seeds."""
        _, low, high = mean_interval(self.regret, confidence)
        return low, high

    def to_frame(self, library: Library | None = None) -> Any:
        """One row per seed and checkpoint, as a frame of polars or pandas, by default of what is installed.

        For rewards the columns are named accordingly.
        """
        rows, columns = self.cost.shape
        named = {
            "environment": np.full(rows * columns, self.environment),
            "learner": np.full(rows * columns, self.learner),
            "seed": np.repeat(np.array(self.seeds, dtype=np.int64), columns),
            "round": np.tile(self.checkpoints, rows),
            self.kind: self.cost.ravel(),
            "best": self.best.ravel(),
            "best_upper_bound" if self.maximize else "best_lower_bound": self.best_lower_bound.ravel(),
            "regret": self.regret.ravel(),
        }
        return make_frame(named, library)

    def plot(self, axes: matplotlib.axes.Axes | None = None, **style: Any) -> matplotlib.axes.Axes:
        """Draw mean regret per round with its 95% band; the style is what matplotlib's `plot` takes."""
        from discreet.plots.charts import plot_trace

        return plot_trace(self, axes, **style)

    def __repr__(self) -> str:
        return f"<Trace: {self}>"

    def _repr_html_(self) -> str:
        best, last = float(self.best[:, -1].mean()), int(self.checkpoints[-1])
        kind = f"{self.kind} per round"
        rows = {
            "result": self,
            kind: f"{self.cost[:, -1].mean() / last:.4g}",
            f"{kind} of the best fixed set": f"{best / last:.4g}",
            "would promise": self.guarantee,
        }
        return as_html("Trace", rows, about_data([self.parameters]))

    def __str__(self) -> str:
        last, seeds, interval = int(self.checkpoints[-1]), "one seed", ""
        if len(self.seeds) > 1:
            low, high = self.band()
            seeds, interval = f"{len(self.seeds)} seeds", f" ({low[-1] / last:.4g} to {high[-1] / last:.4g})"
        regret = f"regret per round {self.mean_regret[-1] / last:.4g}{interval} after {last:,} rounds"
        return f"{self.learner} in {self.environment}: {regret}, {seeds}"


def is_reference(learner: str) -> bool:
    """Whether this is the name of a choice that does not learn."""
    return learner.startswith(("RandomSet", "FixedSet")) or learner.lower() in _REFERENCES


def labels(traces: Sequence[Trace]) -> list[str]:
    """A name for each trace, all different: "empty set" rather than "FixedSet", a number after namesakes."""
    plain = [_label(trace) for trace in traces]
    return [
        f"{label} #{plain[: k + 1].count(label)}" if plain.count(label) > 1 else label
        for k, label in enumerate(plain)
    ]


def _label(trace: Trace) -> str:
    if trace.learner.startswith("RandomSet"):
        return "random set"
    if not trace.learner.startswith("FixedSet"):
        return trace.learner
    chosen = np.flatnonzero(trace.final_points[0])
    if chosen.size in (0, len(trace.items)):
        return "full set" if chosen.size else "empty set"
    if chosen.size > 3:
        return f"fixed set of {chosen.size} items"
    return "fixed set {" + ", ".join(str(trace.items[i]) for i in chosen) + "}"


def about_data(parameters: Iterable[Mapping[str, Any]]) -> str:
    """A warning about results of environments with such parameters; empty where none is read from a file."""
    files = ", ".join(dict.fromkeys(str(given["path"]) for given in parameters if "path" in given))
    warning = f"These numbers are exact sums of the data in {files}, without noise: treat them like the data."
    return warning if files else ""
