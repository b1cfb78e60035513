"""Learners by name, made to fit an environment: what the command line and sweeps can ask for."""

from __future__ import annotations

import inspect
import json
import math
import re
from collections.abc import Callable, Hashable, Iterable
from typing import Any, NamedTuple

from discreet import baselines, checks, paper
from discreet.errors import DiscreetError, InvalidArgument, InvalidType
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


#: Makes a learner for a setting, given arguments of its own.
Build = Callable[..., Any]


class BuiltinLearner(NamedTuple):
    """A learner that can be asked for by name; `uses_epsilon` says whether epsilon makes a difference."""

    name: str
    feedback: str
    uses_epsilon: bool
    about: str
    build: Build


def _ours(make: Callable[..., Session], **options: Any) -> Build:
    return lambda s, **more: make(s.items, s.epsilon, s.costs, seed=s.seed, **options, **more)


def _without_noise(make: Callable[..., Session], **options: Any) -> Build:
    return lambda s, **more: make(s.items, math.inf, s.costs, seed=s.seed, **options, **more)


def _paper(make: Callable[..., Session], **options: Any) -> Build:
    return lambda s, **more: make(s.items, s.rounds, s.epsilon, s.M, seed=s.seed, **options, **more)


def _hazan_kale(make: Callable[..., Session]) -> Build:
    return lambda s, **more: make(s.items, s.rounds, s.M, seed=s.seed, **more)


def _paper_bandit(calibration: str) -> Build:
    """With the published exploration, cut off where the horizon is too short for it (erratum E6)."""
    make = _paper(paper.BanditSubmodPFTAL, calibration=calibration)

    def build(s: Setting, **more: Any) -> Any:
        return make(s, **{"gamma": min(1.0, len(s.items) / math.pow(s.rounds, 0.25))} | more)

    return build


#: Name -> what it is told, whether it uses epsilon, and a few words about it.
_ABOUT = {
    "bandit": ("bandit", True, "BanditLearner with a model of costs"),
    "bandit-local": ("bandit", True, "BanditLearner with a model of costs, one bit per cost"),
    "bandit-worst-case": ("bandit", True, "BanditLearner for the worst case, in blocks"),
    "bandit-worst-case-local": ("bandit", True, "BanditLearner for the worst case, one bit per cost"),
    "full": ("full information", True, "FullInformationLearner, by the number of items"),
    "full-blocks": ("full information", True, "FullInformationLearner in adaptive blocks"),
    "paper-bandit": ("bandit", True, "BanditSubmodPFTAL with enough noise"),
    "paper-bandit-published": ("bandit", True, "BanditSubmodPFTAL as printed, which is not private"),
    "paper-full": ("full information", True, "SubmodPFTAL with enough noise"),
    "paper-full-published": ("full information", True, "SubmodPFTAL as printed"),
    "bandit-without-noise": ("bandit", False, "bandit with an infinite epsilon, which is not private"),
    "worst-case-without-noise": ("bandit", False, "bandit-worst-case with an infinite epsilon"),
    "full-without-noise": ("full information", False, "full-blocks with an infinite epsilon"),
    "follow-the-leader": ("full information", False, "the set of least total cost so far, not private"),
    "hazan-kale": ("full information", False, "projected descent, not private"),
    "hazan-kale-bandit": ("bandit", False, "projected descent on one-point estimates, not private"),
    "exponential-weights": ("bandit", True, "every subset an arm, each cost noised (up to 12 items)"),
    "product-sampling": ("bandit", True, "Thompson sampling of independent items, one bit per cost"),
    "product-sampling-central": ("bandit", True, "Thompson sampling of independent items, in blocks"),
    "product-without-noise": ("bandit", False, "product-sampling-central with an infinite epsilon"),
    "noisy-leader": ("full information", True, "items with negative noisy sums, over epochs that double"),
    "greedy": ("full information", False, "a set built greedily from exact totals, not private"),
    "random": ("any", False, "a random set every round"),
    "empty": ("any", False, "always the empty set"),
    "everything": ("any", False, "always all items"),
}
_BUILD: dict[str, Build] = {
    "bandit": _ours(BanditLearner),
    "bandit-local": _ours(BanditLearner, mode="local"),
    "bandit-worst-case": _ours(BanditLearner, method="worst-case"),
    "bandit-worst-case-local": _ours(BanditLearner, method="worst-case", mode="local"),
    "full": _ours(FullInformationLearner),
    "full-blocks": _ours(FullInformationLearner, method="blocks"),
    "paper-bandit": _paper_bandit("corrected"),
    "paper-bandit-published": _paper_bandit("published"),
    "paper-full": _paper(paper.SubmodPFTAL, calibration="corrected"),
    "paper-full-published": _paper(paper.SubmodPFTAL, calibration="published"),
    "bandit-without-noise": _without_noise(BanditLearner),
    "worst-case-without-noise": _without_noise(BanditLearner, method="worst-case"),
    "full-without-noise": _without_noise(FullInformationLearner, method="blocks"),
    "follow-the-leader": lambda s, **more: baselines.FollowTheLeader(s.items, **more),
    "hazan-kale": _hazan_kale(baselines.HazanKale),
    "hazan-kale-bandit": _hazan_kale(baselines.HazanKaleBandit),
    "exponential-weights": _paper(baselines.ExponentialWeights),
    "product-sampling": _ours(baselines.ProductSampling),
    "product-sampling-central": _ours(baselines.ProductSampling, mode="central"),
    "product-without-noise": _without_noise(baselines.ProductSampling, mode="central"),
    "noisy-leader": _ours(baselines.NoisyLeader),
    "greedy": lambda s, **more: baselines.GreedyLeader(s.items, **more),
    "random": lambda s, **more: baselines.RandomSet(s.items, seed=s.seed, **more),
    "empty": lambda s, **more: baselines.FixedSet(s.items, [], **more),
    "everything": lambda s, **more: baselines.FixedSet(s.items, range(len(s.items)), **more),
}
#: All of them, by name.
BUILTIN_LEARNERS = {name: BuiltinLearner(name, *_ABOUT[name], build) for name, build in _BUILD.items()}


def find_learner(text: str) -> BuiltinLearner:
    """The learner of a name, or a custom one: MODULE:NAME. Arguments may follow: "bandit at_most=3".

    A custom one may be a policy (or a function of `n` that makes one), which runs in a `PolicyLearner`; or a
    function of some of `items, n, epsilon, cost_range, rounds, seed`, and of the arguments, that makes an
    object with `ask` and `tell`.
    """
    name, *given = re.split(r"\s+(?=\w+=)", text.strip())
    if ":" in name:
        found = BuiltinLearner(name, "any", True, "a custom learner", _custom(name, load_object(name)))
    elif name in BUILTIN_LEARNERS:
        found = BUILTIN_LEARNERS[name]
    else:
        problem = f"There is no learner called {name!r}."
        raise checks.unknown_name(problem, name, sorted(BUILTIN_LEARNERS), others=", or MODULE:NAME")
    arguments = named_values(given)

    def build(setting: Setting) -> Any:
        try:
            return found.build(setting, **arguments)
        except DiscreetError:
            raise
        except TypeError as error:  # an argument that it does not take, or that its name has given already
            raise InvalidArgument(f"The learner {name!r} cannot be made like this: {error}.") from None

    return found._replace(name=" ".join([name, *given]), build=build) if given else found


def named_values(pairs: Iterable[str]) -> dict[str, Any]:
    """``name=value`` pairs; a value is a JSON value where it looks like one, else text."""
    found = {}
    for entry in pairs:
        name, equals, value = entry.partition("=")
        if not equals or not name:
            raise InvalidArgument(f"A parameter is written NAME=VALUE. Got {entry!r} instead.")
        try:
            found[name] = json.loads(value)
        except ValueError:
            found[name] = value
    return found


def _custom(name: str, found: Any) -> Callable[[Setting], Any]:
    def is_policy(thing: Any) -> bool:
        return hasattr(thing, "plan") and hasattr(thing, "learn")

    if not callable(found) and not is_policy(found):
        raise InvalidType(f"{name} is neither a policy nor a function that makes a learner.")

    def build(s: Setting, **more: Any) -> Any:
        made = found if is_policy(found) and not more else _call(name, found, s, more)
        return PolicyLearner(s.items, made, s.epsilon, s.costs, seed=s.seed) if is_policy(made) else made

    return build


def _call(name: str, function: Callable[..., Any], s: Setting, more: dict[str, Any]) -> Any:
    """Call a user's function with those arguments that it takes, and with what was given."""
    known = {"items": s.items, "n": len(s.items), "epsilon": s.epsilon, "cost_range": s.costs}
    known |= {"rounds": s.rounds, "seed": s.seed}
    wanted = inspect.signature(function).parameters
    try:
        return function(**{name: value for name, value in known.items() if name in wanted} | more)
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
