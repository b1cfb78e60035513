"""Learners by name, made to fit an environment: what the command line and sweeps can ask for."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Hashable
from typing import Literal

from discreet import baselines, checks, paper
from discreet.learners import BanditLearner, FullInformationLearner
from discreet.learners.base import Learner
from discreet.randomness import Seed

Items = tuple[Hashable, ...]
Range = tuple[float, float]
Make = Callable[[Items, float, Range, int, Seed | None], Learner]
Feedback = Literal["bandit", "full information", "any"]


@dataclasses.dataclass(frozen=True)
class Contender:
    """A learner that can be asked for by name.

    Attributes:
        name: Its name.
        feedback: What it is told.
        uses_epsilon: Whether it is private, so that epsilon makes a difference.
        make: From items, epsilon, the range of costs, rounds and a seed to a learner.
        about: A few bits.
    """

    name: str
    feedback: Feedback
    uses_epsilon: bool
    make: Make
    about: str


def _half(cost_range: Range) -> float:
    """The M of algorithms that are made for costs in [-M, M]."""
    return max(abs(cost_range[0]), abs(cost_range[1]))


def _gamma(n: int, rounds: int) -> float:
    """The published exploration, cut off where the published horizon is too short for it (erratum E6)."""
    return min(1.0, n / math.pow(rounds, 0.25))


_LISTED = [
    Contender(
        "bandit",
        "bandit",
        True,
        lambda items, epsilon, costs, rounds, seed: BanditLearner(items, epsilon, costs, seed=seed),
        "BanditLearner, one bit a cost",
    ),
    Contender(
        "bandit-central",
        "bandit",
        True,
        lambda items, epsilon, costs, rounds, seed: BanditLearner(
            items, epsilon, costs, mode="central", seed=seed
        ),
        "BanditLearner in blocks",
    ),
    Contender(
        "full",
        "full information",
        True,
        lambda items, epsilon, costs, rounds, seed: FullInformationLearner(items, epsilon, costs, seed=seed),
        "FullInformationLearner in adaptive blocks",
    ),
    Contender(
        "full-tree",
        "full information",
        True,
        lambda items, epsilon, costs, rounds, seed: FullInformationLearner(
            items, epsilon, costs, method="tree", horizon=rounds, seed=seed
        ),
        "FullInformationLearner on a tree",
    ),
    Contender(
        "paper-bandit",
        "bandit",
        True,
        lambda items, epsilon, costs, rounds, seed: paper.BanditSubmodPFTAL(
            items, rounds, epsilon, _half(costs), gamma=_gamma(len(items), rounds), seed=seed
        ),
        "BanditSubmodPFTAL with enough noise",
    ),
    Contender(
        "paper-bandit-published",
        "bandit",
        True,
        lambda items, epsilon, costs, rounds, seed: paper.BanditSubmodPFTAL(
            items,
            rounds,
            epsilon,
            _half(costs),
            gamma=_gamma(len(items), rounds),
            calibration="published",
            seed=seed,
        ),
        "BanditSubmodPFTAL as printed, which is not private",
    ),
    Contender(
        "paper-full",
        "full information",
        True,
        lambda items, epsilon, costs, rounds, seed: paper.SubmodPFTAL(
            items, rounds, epsilon, _half(costs), seed=seed
        ),
        "SubmodPFTAL with enough noise",
    ),
    Contender(
        "paper-full-published",
        "full information",
        True,
        lambda items, epsilon, costs, rounds, seed: paper.SubmodPFTAL(
            items, rounds, epsilon, _half(costs), calibration="published", seed=seed
        ),
        "SubmodPFTAL as printed",
    ),
    Contender(
        "bandit-without-noise",
        "bandit",
        False,
        lambda items, epsilon, costs, rounds, seed: baselines.BanditWithoutNoise(items, costs, seed=seed),
        "BanditLearner's update on exact costs",
    ),
    Contender(
        "full-without-noise",
        "full information",
        False,
        lambda items, epsilon, costs, rounds, seed: baselines.FullInformationWithoutNoise(
            items, costs, seed=seed
        ),
        "FullInformationLearner's update on exact gradients",
    ),
    Contender(
        "hazan-kale",
        "full information",
        False,
        lambda items, epsilon, costs, rounds, seed: baselines.HazanKale(
            items, rounds, _half(costs), seed=seed
        ),
        "projected descent, not private",
    ),
    Contender(
        "hazan-kale-bandit",
        "bandit",
        False,
        lambda items, epsilon, costs, rounds, seed: baselines.HazanKaleBandit(
            items, rounds, _half(costs), seed=seed
        ),
        "projected descent on one-point estimates, not private",
    ),
    Contender(
        "exponential-weights",
        "bandit",
        True,
        lambda items, epsilon, costs, rounds, seed: baselines.ExponentialWeights(
            items, rounds, epsilon, _half(costs), seed=seed
        ),
        "every subset an arm, each cost noised (up to 12 items)",
    ),
    Contender(
        "random",
        "any",
        False,
        lambda items, epsilon, costs, rounds, seed: baselines.RandomSet(items, seed=seed),
        "a random set every round",
    ),
    Contender(
        "empty",
        "any",
        False,
        lambda items, epsilon, costs, rounds, seed: baselines.FixedSet(items, []),
        "always the empty set",
    ),
    Contender(
        "everything",
        "any",
        False,
        lambda items, epsilon, costs, rounds, seed: baselines.FixedSet(items, range(len(items))),
        "always all items",
    ),
]

#: Name -> contender.
CONTENDERS = {contender.name: contender for contender in _LISTED}


def contender(name: str) -> Contender:
    """The contender of a name.

    Examples:
        >>> contender("bandit").make((0, 1, 2), 1.0, (0.0, 1.0), 100, None).guarantee.local
        True
    """
    if name not in CONTENDERS:
        raise checks.unknown_name(f"There is no learner called {name!r}.", name, sorted(CONTENDERS))
    return CONTENDERS[name]
