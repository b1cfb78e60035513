"""Learners by name, made to fit an environment: what the command line and sweeps can ask for."""

from __future__ import annotations

import dataclasses
import inspect
import math
from collections.abc import Callable, Hashable
from typing import Any, Literal

from discreet import baselines, checks, paper
from discreet.errors import DiscreetError, InvalidType
from discreet.imports import failed, load_object
from discreet.learners import BanditLearner, FullInformationLearner, PolicyLearner
from discreet.learners.session import Session
from discreet.randomness import Seed

Feedback = Literal["bandit", "full information", "any"]


@dataclasses.dataclass(frozen=True)
class Setting:
    """What a learner is made for.

    Attributes:
        items: The items' names.
        epsilon: What one person may lose.
        costs: The range of costs.
        rounds: How many there will be.
        seed: Makes the run repeatable; None for cryptographic bits.
    """

    items: tuple[Hashable, ...]
    epsilon: float
    costs: tuple[float, float]
    rounds: int
    seed: Seed | None = None

    @property
    def M(self) -> float:
        """For algorithms that are made for costs in [-M, M]."""
        return max(map(abs, self.costs))

    @property
    def gamma(self) -> float:
        """The published exploration, cut off where the published horizon is too short for it (erratum E6)."""
        return min(1.0, len(self.items) / math.pow(self.rounds, 0.25))


@dataclasses.dataclass(frozen=True)
class BuiltinLearner:
    """A learner that can be asked for by name.

    Attributes:
        name: Its name.
        feedback: What it is told.
        uses_epsilon: Whether it is private, so that epsilon makes a difference.
        about: A few words about it.
        build: Makes it for a setting.
    """

    name: str
    feedback: Feedback
    uses_epsilon: bool
    about: str
    build: Callable[[Setting], Any]


def _paper_bandit(s: Setting, calibration: Literal["corrected", "published"]) -> Session:
    return paper.BanditSubmodPFTAL(
        s.items, s.rounds, s.epsilon, s.M, gamma=s.gamma, calibration=calibration, seed=s.seed
    )


def _paper_full(s: Setting, calibration: Literal["corrected", "published"]) -> Session:
    return paper.SubmodPFTAL(s.items, s.rounds, s.epsilon, s.M, calibration=calibration, seed=s.seed)


_BANDIT: Feedback = "bandit"
_FULL: Feedback = "full information"
_ANY: Feedback = "any"
_LISTED = [
    BuiltinLearner(
        "bandit",
        _BANDIT,
        True,
        "BanditLearner, one bit per cost",
        lambda s: BanditLearner(s.items, s.epsilon, s.costs, seed=s.seed),
    ),
    BuiltinLearner(
        "bandit-central",
        _BANDIT,
        True,
        "BanditLearner in blocks",
        lambda s: BanditLearner(s.items, s.epsilon, s.costs, mode="central", seed=s.seed),
    ),
    BuiltinLearner(
        "full",
        _FULL,
        True,
        "FullInformationLearner in adaptive blocks",
        lambda s: FullInformationLearner(s.items, s.epsilon, s.costs, seed=s.seed),
    ),
    BuiltinLearner(
        "full-tree",
        _FULL,
        True,
        "FullInformationLearner on a tree",
        lambda s: FullInformationLearner(
            s.items, s.epsilon, s.costs, method="tree", horizon=s.rounds, seed=s.seed
        ),
    ),
    BuiltinLearner(
        "paper-bandit",
        _BANDIT,
        True,
        "BanditSubmodPFTAL with enough noise",
        lambda s: _paper_bandit(s, "corrected"),
    ),
    BuiltinLearner(
        "paper-bandit-published",
        _BANDIT,
        True,
        "BanditSubmodPFTAL as printed, which is not private",
        lambda s: _paper_bandit(s, "published"),
    ),
    BuiltinLearner(
        "paper-full", _FULL, True, "SubmodPFTAL with enough noise", lambda s: _paper_full(s, "corrected")
    ),
    BuiltinLearner(
        "paper-full-published", _FULL, True, "SubmodPFTAL as printed", lambda s: _paper_full(s, "published")
    ),
    BuiltinLearner(
        "bandit-without-noise",
        _BANDIT,
        False,
        "BanditLearner's policy on exact costs",
        lambda s: baselines.BanditWithoutNoise(s.items, s.costs, seed=s.seed),
    ),
    BuiltinLearner(
        "full-without-noise",
        _FULL,
        False,
        "FullInformationLearner's policy on exact gradients",
        lambda s: baselines.FullInformationWithoutNoise(s.items, s.costs, seed=s.seed),
    ),
    BuiltinLearner(
        "hazan-kale",
        _FULL,
        False,
        "projected descent, not private",
        lambda s: baselines.HazanKale(s.items, s.rounds, s.M, seed=s.seed),
    ),
    BuiltinLearner(
        "hazan-kale-bandit",
        _BANDIT,
        False,
        "projected descent on one-point estimates, not private",
        lambda s: baselines.HazanKaleBandit(s.items, s.rounds, s.M, seed=s.seed),
    ),
    BuiltinLearner(
        "exponential-weights",
        _BANDIT,
        True,
        "every subset an arm, each cost noised (up to 12 items)",
        lambda s: baselines.ExponentialWeights(s.items, s.rounds, s.epsilon, s.M, seed=s.seed),
    ),
    BuiltinLearner(
        "random",
        _ANY,
        False,
        "a random set every round",
        lambda s: baselines.RandomSet(s.items, seed=s.seed),
    ),
    BuiltinLearner("empty", _ANY, False, "always the empty set", lambda s: baselines.FixedSet(s.items, [])),
    BuiltinLearner(
        "everything",
        _ANY,
        False,
        "always all items",
        lambda s: baselines.FixedSet(s.items, range(len(s.items))),
    ),
]

#: All of them, by name.
BUILTIN_LEARNERS = {learner.name: learner for learner in _LISTED}


def find_learner(name: str) -> BuiltinLearner:
    """The learner of a name, or a custom one: MODULE:NAME.

    A custom name may be a policy (a class, or a function of the number of items), which then runs in a
    `PolicyLearner`; or a function of some of `items, epsilon, cost_range, rounds, seed` that makes a
    learner, or any object with `ask` and `tell`.

    Examples:
        >>> setting = Setting(items=(0, 1, 2), epsilon=1.0, costs=(0.0, 1.0), rounds=100)
        >>> find_learner("bandit").build(setting).guarantee.local
        True
    """
    if ":" in name:
        return BuiltinLearner(name, _ANY, True, "a custom learner", _custom(name, load_object(name)))
    if name not in BUILTIN_LEARNERS:
        raise checks.unknown_name(
            f"There is no learner called {name!r}.", name, sorted(BUILTIN_LEARNERS), others=", or MODULE:NAME"
        )
    return BUILTIN_LEARNERS[name]


def _custom(name: str, found: Any) -> Callable[[Setting], Any]:
    if hasattr(found, "plan") and hasattr(found, "learn"):
        return lambda s: PolicyLearner(s.items, found, s.epsilon, s.costs, seed=s.seed)
    if not callable(found):
        raise InvalidType(f"{name} is neither a policy nor a function that makes a learner.")

    def build(s: Setting) -> Any:
        known = {
            "items": s.items,
            "epsilon": s.epsilon,
            "cost_range": s.costs,
            "rounds": s.rounds,
            "seed": s.seed,
        }
        wanted = inspect.signature(found).parameters
        try:
            made = found(**{argument: value for argument, value in known.items() if argument in wanted})
        except DiscreetError:
            raise
        except Exception as error:
            raise failed(f"Calling {name}", error) from error
        if hasattr(made, "plan") and hasattr(made, "learn"):
            return PolicyLearner(s.items, made, s.epsilon, s.costs, seed=s.seed)
        return made

    return build


def template_of(learner: BuiltinLearner, setting: Setting) -> Any:
    """What `simulate` takes: a session that is repeated for each seed, or a function of the seed."""
    made = learner.build(setting)
    if isinstance(made, Session):
        return made
    return lambda seed: learner.build(dataclasses.replace(setting, seed=seed))
