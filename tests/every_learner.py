"""One of each learner in the package, for suites that all of them must pass. Extend the list."""

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from discreet import baselines, paper
from discreet.kernel import Phase, Released
from discreet.learners import BanditLearner, FullInformationLearner, PolicyLearner, Session
from discreet.learners.feedback import BanditFeedback
from discreet.randomness import BitSource
from discreet.set_functions import Cut, Modular, SetFunction
from discreet.state import decode

N, T = 3, 256

#: For tests of its formulas, blocks and single bits.
worst_case_bandit = functools.partial(BanditLearner, method="worst-case", mode="local")


class Pairs:
    """A policy in plain Python: two random sets per phase, and after that the better one among them.

    Args:
        n: The number of items.
    """

    def __init__(self, n: int) -> None:
        self.n = n

    def start(self) -> dict[str, Any]:
        return {"best": np.zeros(self.n, dtype=np.bool_), "cost": np.array([np.inf]), "phases": np.zeros(1)}

    def plan(self, state: dict[str, Any], coins: BitSource, available: Any = None) -> Phase:
        items = range(self.n) if available is None else available.tolist()
        other = coins.generator().random(self.n) < 0.5
        sets = [[i for i in items if state["best"][i]], [i for i in items if other[i]]]
        order = [chosen + [i for i in items if i not in chosen] for chosen in sets]
        return Phase(
            np.array(order, dtype=np.int64),
            np.ones((2, len(items) + 1)),
            np.array([len(chosen) for chosen in sets]),
            np.array([2, 3]),
            np.array([[i in chosen for i in range(self.n)] for chosen in sets], dtype=np.float64),
        )

    def learn(self, state: dict[str, Any], released: Released) -> dict[str, Any]:
        means = released.values[:, 0] / released.rounds
        best = int(means.argmin())
        return {
            "best": released.note[best].astype(np.bool_),
            "cost": means[[best]],
            "phases": state["phases"] + 1,
        }

    def best(self, state: dict[str, Any]) -> Any:
        return np.flatnonzero(state["best"])


#: Name -> a function of a seed (None for cryptographic bits).
LEARNERS: dict[str, Callable[[int | None], Session]] = {
    "BanditLearner": lambda seed: BanditLearner(N, 8.0, (-1, 1), seed=seed),  # whose phases have 32 rounds
    "BanditLearner local": lambda seed: BanditLearner(N, 8.0, (-1, 1), mode="local", seed=seed),
    "BanditLearner items": lambda seed: BanditLearner(N, 24.0, (-1, 1), item_total=0.5, seed=seed),
    "BanditLearner worst case": lambda seed: worst_case_bandit(
        N,
        2.0,
        (-1, 1),
        mode="central",
        seed=seed,  # blocks of two rounds
    ),
    "BanditLearner worst case local": lambda seed: worst_case_bandit(N, 1.0, (-1, 1), seed=seed),
    "FullInformationLearner": lambda seed: FullInformationLearner(N, 1.0, (-1, 1), seed=seed),
    "FullInformationLearner blocks": lambda seed: FullInformationLearner(
        N, 1.0, (-1, 1), method="blocks", seed=seed
    ),
    "FullInformationLearner leader": lambda seed: FullInformationLearner(
        N, 1.0, (-1, 1), method="leader", seed=seed
    ),
    "PolicyLearner": lambda seed: PolicyLearner(N, Pairs, 1.0, (-1, 1), seed=seed),
    "PolicyLearner local": lambda seed: PolicyLearner(N, Pairs, 1.0, (-1, 1), mode="local", seed=seed),
    "BanditLearner exact": lambda seed: BanditLearner(N, math.inf, (-1, 1), seed=seed),
    "BanditLearner exact local": lambda seed: BanditLearner(N, math.inf, (-1, 1), mode="local", seed=seed),
    "BanditLearner exact worst case local": lambda seed: worst_case_bandit(N, math.inf, (-1, 1), seed=seed),
    "FullInformationLearner exact": lambda seed: FullInformationLearner(N, math.inf, (-1, 1), seed=seed),
    "FullInformationLearner exact blocks": lambda seed: FullInformationLearner(
        N, math.inf, (-1, 1), method="blocks", seed=seed
    ),
    "PolicyLearner exact": lambda seed: PolicyLearner(N, Pairs, math.inf, (-1, 1), seed=seed),
    "SubmodPFTAL": lambda seed: paper.SubmodPFTAL(N, T, 1.0, seed=seed),
    "SubmodPFTAL spherical": lambda seed: paper.SubmodPFTAL(N, T, 1.0, noise="spherical", seed=seed),
    "SubmodPFTAL published": lambda seed: paper.SubmodPFTAL(N, T, 1.0, calibration="published", seed=seed),
    "BanditSubmodPFTAL": lambda seed: paper.BanditSubmodPFTAL(N, T, 1.0, seed=seed),
    "BanditSubmodPFTAL spherical": lambda seed: paper.BanditSubmodPFTAL(
        N, T, 1.0, noise="spherical", seed=seed
    ),
    "BanditSubmodPFTAL published": lambda seed: paper.BanditSubmodPFTAL(
        N, T, 1.0, calibration="published", seed=seed
    ),
    "HazanKale": lambda seed: baselines.HazanKale(N, T, seed=seed),
    "HazanKaleBandit": lambda seed: baselines.HazanKaleBandit(N, T, seed=seed),
    "FollowTheApproximateLeader": lambda seed: baselines.FollowTheApproximateLeader(N, T, seed=seed),
    "NoisedGradients": lambda seed: baselines.NoisedGradients(N, T, 1.0, seed=seed),
    "ExponentialWeights": lambda seed: baselines.ExponentialWeights(N, T, 1.0, seed=seed),
    "ProductSampling": lambda seed: baselines.ProductSampling(N, 1.0, (-1, 1), seed=seed),
    "ProductSampling central": lambda seed: baselines.ProductSampling(
        N, 1.0, (-1, 1), mode="central", seed=seed
    ),
    "ProductSampling exact": lambda seed: baselines.ProductSampling(N, math.inf, (-1, 1), seed=seed),
    "NoisyLeader": lambda seed: baselines.NoisyLeader(N, 1.0, (-1, 1), seed=seed),
    "RandomSet": lambda seed: baselines.RandomSet(N, seed=seed),
}
#: Those of ours: for what sessions do alike, whatever they host.
OURS = [name for name in LEARNERS if name.startswith(("BanditLearner", "FullInformationLearner"))]


def is_bandit(learner: Session) -> bool:
    return isinstance(learner, BanditFeedback)


def some_functions() -> list[SetFunction]:
    """A few costs within [-1, 1]."""
    rng = np.random.default_rng(0)
    cut = Cut(rng.random((N, N)) / 6)
    return [Modular(rng.uniform(-0.3, 0.3, N)) for _ in range(4)] + [cut, cut.shift(-0.5)]


def feedback(learner: Session, decision: Any, function: SetFunction) -> Any:
    """What the learner is told: a number or the function, by its kind."""
    return function(decision.subset) if is_bandit(learner) else function


def state_of(learner: Session) -> dict[str, Any]:
    """Everything that a learner would be saved as, but for its lineage and generation."""
    values, arrays = decode(learner._whole())
    kept = {key: values[key] for key in values if key not in ("lineage", "generation")}
    return kept | {name: array.tolist() for name, array in arrays.items()}


def transcript(learner: Session, rounds: int, late: Sequence[int] = ()) -> list[Any]:
    """What can be seen of some rounds, as plain JSON values; `late` ids are told about in between."""
    functions, waiting, seen = some_functions(), list(late), []
    for t in range(rounds):
        decision = learner.ask()
        learner.tell(decision, feedback(learner, decision, functions[t % len(functions)]))
        if waiting:
            learner.tell(waiting.pop(), 0.25 if is_bandit(learner) else functions[0])
        seen.append([decision.id, sorted(decision.subset), decision.probability, learner.point.tolist()])
        seen.append([learner.rounds, sorted(learner.best)])
    return [*seen, learner.pending, repr(learner), str(learner.guarantee)]


def used(name: str, seed: int | None = 5) -> Session:
    """A learner after eight rounds, with the decisions 9, 10 and 11 open."""
    learner = LEARNERS[name](seed)
    transcript(learner, 8)
    learner.ask(count=3)
    return learner
