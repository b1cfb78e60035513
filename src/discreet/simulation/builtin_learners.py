"""Learners by name, made to fit an environment: what the command line and sweeps can ask for."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Hashable
from typing import Any, NamedTuple

from discreet import baselines, checks, paper
from discreet.errors import DiscreetError, InvalidType
from discreet.imports import failed, load_object
from discreet.learners import BanditLearner, FullInformationLearner, PolicyLearner
from discreet.learners.session import Session
from discreet.randomness import Seed


class Setting(NamedTuple):
    """What a learner is made for. Without a seed it uses cryptographic bits."""

    items: tuple[Hashable, ...]
    epsilon: float
    costs: tuple[float, float]
    rounds: int
    seed: Seed | None = None

    @property
    def M(self) -> float:
        """For algorithms that are made for costs in [-M, M]."""
        return max(map(abs, self.costs))


class BuiltinLearner(NamedTuple):
    """A learner that can be asked for by name; `uses_epsilon` says whether epsilon makes a difference."""

    name: str
    feedback: str
    uses_epsilon: bool
    about: str
    build: Callable[[Setting], Any]


def _ours(s: Setting, make: Callable[..., Session], **options: Any) -> Session:
    return make(s.items, s.epsilon, s.costs, seed=s.seed, **options)


def _paper(s: Setting, make: Callable[..., Session], **options: Any) -> Session:
    return make(s.items, s.rounds, s.epsilon, s.M, seed=s.seed, **options)


def _paper_bandit(s: Setting, calibration: str) -> Session:
    """With the published exploration, cut off where the horizon is too short for it (erratum E6)."""
    gamma = min(1.0, len(s.items) / math.pow(s.rounds, 0.25))
    return _paper(s, paper.BanditSubmodPFTAL, gamma=gamma, calibration=calibration)


#: Name -> what it is told, whether it uses epsilon, and a few words about it.
_ABOUT = {
    "bandit": ("bandit", True, "BanditLearner with a model of costs"),
    "bandit-local": ("bandit", True, "BanditLearner with a model of costs, one bit per cost"),
    "bandit-worst-case": ("bandit", True, "BanditLearner for the worst case, in blocks"),
    "bandit-worst-case-local": ("bandit", True, "BanditLearner for the worst case, one bit per cost"),
    "full": ("full information", True, "FullInformationLearner, by the number of items"),
    "full-blocks": ("full information", True, "FullInformationLearner in adaptive blocks"),
    "full-tree": ("full information", True, "FullInformationLearner on a tree"),
    "paper-bandit": ("bandit", True, "BanditSubmodPFTAL with enough noise"),
    "paper-bandit-published": ("bandit", True, "BanditSubmodPFTAL as printed, which is not private"),
    "paper-full": ("full information", True, "SubmodPFTAL with enough noise"),
    "paper-full-published": ("full information", True, "SubmodPFTAL as printed"),
    "bandit-without-noise": ("bandit", False, "BanditLearner's policy on exact costs"),
    "worst-case-without-noise": ("bandit", False, "the worst case's policy on exact costs"),
    "full-without-noise": ("full information", False, "FullInformationLearner's policy on exact gradients"),
    "follow-the-leader": ("full information", False, "the set of least total cost so far, not private"),
    "hazan-kale": ("full information", False, "projected descent, not private"),
    "hazan-kale-bandit": ("bandit", False, "projected descent on one-point estimates, not private"),
    "exponential-weights": ("bandit", True, "every subset an arm, each cost noised (up to 12 items)"),
    "thompson-sampling": ("bandit", True, "Thompson sampling over all subsets, one bit per cost (up to 12)"),
    "product-sampling": ("bandit", True, "Thompson sampling of independent items, one bit per cost"),
    "product-sampling-central": ("bandit", True, "Thompson sampling of independent items, in blocks"),
    "thompson-without-noise": (
        "bandit",
        False,
        "Thompson sampling over all subsets on exact costs (up to 12)",
    ),
    "product-without-noise": ("bandit", False, "Thompson sampling of independent items on exact costs"),
    "noisy-leader": ("full information", True, "items with negative noisy sums, over epochs that double"),
    "random": ("any", False, "a random set every round"),
    "empty": ("any", False, "always the empty set"),
    "everything": ("any", False, "always all items"),
}
_BUILD: dict[str, Callable[[Setting], Any]] = {
    "bandit": lambda s: _ours(s, BanditLearner),
    "bandit-local": lambda s: _ours(s, BanditLearner, mode="local"),
    "bandit-worst-case": lambda s: _ours(s, BanditLearner, method="worst-case"),
    "bandit-worst-case-local": lambda s: _ours(s, BanditLearner, method="worst-case", mode="local"),
    "full": lambda s: _ours(s, FullInformationLearner),
    "full-blocks": lambda s: _ours(s, FullInformationLearner, method="blocks"),
    "full-tree": lambda s: _ours(s, FullInformationLearner, method="tree", horizon=s.rounds),
    "paper-bandit": lambda s: _paper_bandit(s, "corrected"),
    "paper-bandit-published": lambda s: _paper_bandit(s, "published"),
    "paper-full": lambda s: _paper(s, paper.SubmodPFTAL, calibration="corrected"),
    "paper-full-published": lambda s: _paper(s, paper.SubmodPFTAL, calibration="published"),
    "bandit-without-noise": lambda s: baselines.BanditWithoutNoise(s.items, s.costs, seed=s.seed),
    "worst-case-without-noise": lambda s: baselines.BanditWithoutNoise(
        s.items, s.costs, method="worst-case", seed=s.seed
    ),
    "full-without-noise": lambda s: baselines.FullInformationWithoutNoise(s.items, s.costs, seed=s.seed),
    "follow-the-leader": lambda s: baselines.FollowTheLeader(s.items),
    "hazan-kale": lambda s: baselines.HazanKale(s.items, s.rounds, s.M, seed=s.seed),
    "hazan-kale-bandit": lambda s: baselines.HazanKaleBandit(s.items, s.rounds, s.M, seed=s.seed),
    "exponential-weights": lambda s: _paper(s, baselines.ExponentialWeights),
    "thompson-sampling": lambda s: _ours(s, baselines.ThompsonSampling),
    "product-sampling": lambda s: _ours(s, baselines.ProductSampling),
    "product-sampling-central": lambda s: _ours(s, baselines.ProductSampling, mode="central"),
    "thompson-without-noise": lambda s: baselines.ThompsonWithoutNoise(s.items, s.costs, seed=s.seed),
    "product-without-noise": lambda s: baselines.ProductWithoutNoise(s.items, s.costs, seed=s.seed),
    "noisy-leader": lambda s: _ours(s, baselines.NoisyLeader),
    "random": lambda s: baselines.RandomSet(s.items, seed=s.seed),
    "empty": lambda s: baselines.FixedSet(s.items, []),
    "everything": lambda s: baselines.FixedSet(s.items, range(len(s.items))),
}
#: All of them, by name.
BUILTIN_LEARNERS = {name: BuiltinLearner(name, *_ABOUT[name], build) for name, build in _BUILD.items()}


def find_learner(name: str) -> BuiltinLearner:
    """The learner of a name, or a custom one: MODULE:NAME.

    That may be a policy (or a function of `n` that makes one), which runs in a `PolicyLearner`; or a function
    of some of `items, n, epsilon, cost_range, rounds, seed` that makes an object with `ask` and `tell`.
    """
    if ":" in name:
        return BuiltinLearner(name, "any", True, "a custom learner", _custom(name, load_object(name)))
    if name not in BUILTIN_LEARNERS:
        problem = f"There is no learner called {name!r}."
        raise checks.unknown_name(problem, name, sorted(BUILTIN_LEARNERS), others=", or MODULE:NAME")
    return BUILTIN_LEARNERS[name]


def _custom(name: str, found: Any) -> Callable[[Setting], Any]:
    def is_policy(thing: Any) -> bool:
        return hasattr(thing, "plan") and hasattr(thing, "learn")

    if not callable(found) and not is_policy(found):
        raise InvalidType(f"{name} is neither a policy nor a function that makes a learner.")

    def build(s: Setting) -> Any:
        made = found if is_policy(found) else _call(name, found, s)
        return PolicyLearner(s.items, made, s.epsilon, s.costs, seed=s.seed) if is_policy(made) else made

    return build


def _call(name: str, function: Callable[..., Any], s: Setting) -> Any:
    """Call a user's function with those arguments that it takes."""
    known = {"items": s.items, "n": len(s.items), "epsilon": s.epsilon, "cost_range": s.costs}
    known |= {"rounds": s.rounds, "seed": s.seed}
    wanted = inspect.signature(function).parameters
    try:
        return function(**{argument: value for argument, value in known.items() if argument in wanted})
    except DiscreetError:
        raise
    except Exception as error:
        raise failed(f"Calling {name}", error) from error


def template_of(learner: BuiltinLearner, setting: Setting) -> Any:
    """What `simulate` takes: a session that is repeated for each seed, or a function of the seed."""
    made = learner.build(setting)
    if isinstance(made, Session):
        return made
    return lambda seed: learner.build(setting._replace(seed=seed))
