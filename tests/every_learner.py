"""One of each learner in the package, for suites that all of them must pass."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from discreet import BanditLearner, FullInformationLearner, baselines, paper
from discreet.learners.base import Learner
from discreet.learners.feedback import BanditFeedback
from discreet.privacy.exclusive import opened
from discreet.set_functions import Cut, Modular, SetFunction

N, T = 3, 256

#: Name -> a function of a seed (None for cryptographic bits).
LEARNERS: dict[str, Callable[[int | None], Learner]] = {
    "BanditLearner": lambda seed: BanditLearner(N, 1.0, (-1, 1), seed=seed),
    "BanditLearner central": lambda seed: BanditLearner(N, 1.0, (-1, 1), mode="central", block=3, seed=seed),
    "FullInformationLearner": lambda seed: FullInformationLearner(N, 1.0, (-1, 1), seed=seed),
    "FullInformationLearner tree": lambda seed: FullInformationLearner(
        N, 1.0, (-1, 1), method="tree", horizon=T, seed=seed
    ),
    "BanditWithoutNoise": lambda seed: baselines.BanditWithoutNoise(N, (-1, 1), seed=seed),
    "FullInformationWithoutNoise": lambda seed: baselines.FullInformationWithoutNoise(N, (-1, 1), seed=seed),
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
    "RandomSet": lambda seed: baselines.RandomSet(N, seed=seed),
    "FixedSet": lambda seed: baselines.FixedSet(N, [1]),
}


def is_bandit(learner: Learner) -> bool:
    return isinstance(learner, BanditFeedback)


def some_functions() -> list[SetFunction]:
    """A few costs within [-1, 1]."""
    rng = np.random.default_rng(0)
    cut = Cut(rng.random((N, N)) / 6)
    return [Modular(rng.uniform(-0.3, 0.3, N)) for _ in range(4)] + [cut, cut.shift(-0.5)]


def feedback(learner: Learner, decision: Any, function: SetFunction) -> Any:
    """What the learner is told: a number or the function, by its kind."""
    return function(decision.subset) if is_bandit(learner) else function


def state_of(learner: Learner) -> dict[str, Any]:
    """Everything that a learner would be saved as, but for its name and number."""
    document = opened(learner._whole())
    return {key: document[key] for key in document if key not in ("lineage", "generation")}


def transcript(learner: Learner, rounds: int, late: Sequence[int] = ()) -> list[Any]:
    """What can be seen of some rounds, as plain JSON values; `late` ids are told about in between."""
    functions, waiting, seen = some_functions(), list(late), []
    for t in range(rounds):
        decision = learner.ask()
        learner.tell(decision, feedback(learner, decision, functions[t % len(functions)]))
        if waiting:
            learner.tell(waiting.pop(), 0.25 if is_bandit(learner) else functions[0])
        seen.append([decision.id, sorted(decision.subset), learner.point.tolist(), learner.rounds])
    return [*seen, learner.pending, repr(learner), str(learner.guarantee)]


def used(name: str, seed: int | None = 5) -> Learner:
    """A learner after eight rounds, with the decisions 9, 10 and 11 open."""
    learner = LEARNERS[name](seed)
    transcript(learner, 8)
    learner.ask(count=3)
    return learner
