"""Everything that ships and can be audited by name."""

from __future__ import annotations

import dataclasses
import importlib
import warnings
from collections.abc import Callable, Sequence
from typing import Any

from discreet import checks
from discreet.auditing.auditor import audit, stated, targets_of
from discreet.auditing.report import Audit
from discreet.errors import InvalidType, MissingExtra
from discreet.imports import failed, load_object
from discreet.kernel import Bits, ChainGradient, CostOfSet, Laplace, Query, Release
from discreet.learners import BanditLearner, FullInformationLearner, Learner, PolicyLearner
from discreet.policies import Uniform
from discreet.prefix_sums import BinaryTree, Epochs, KAryTree
from discreet.privacy import Budget, VectorBound
from discreet.randomizers import OneBit
from discreet.randomness import Seed

#: At the delta of production an audit of Gaussian noise would need millions of runs; here it has power.
GAUSSIAN_DELTA = 0.01

_COSTS = (0.0, 1.0)
_COST = CostOfSet(*_COSTS)
_GRADIENT = ChainGradient.of("audit", *_COSTS)


@dataclasses.dataclass(frozen=True)
class Entry:
    """Something that can be audited by name.

    Attributes:
        name: Its name.
        make: From items and epsilon to the thing under audit.
        about: A short description.
        options: Further arguments of `audit`.
        published: Whether it is an algorithm as it was printed, with the epsilon that its theorem claims. It
            fails, and is only audited when asked for.
    """

    name: str
    make: Callable[[int, float], Any]
    about: str
    options: dict[str, Any] = dataclasses.field(default_factory=dict)
    published: bool = False


class LeftOut(UserWarning):
    """An entry is not audited for want of an extra.

    Attributes:
        extra: The name of that extra.
    """

    def __init__(self, name: str, missing: MissingExtra) -> None:
        super().__init__(f"{name} was left out. {missing}")
        self.extra = missing.extra


def _bound() -> VectorBound:
    return VectorBound.for_costs(*_COSTS, units=1 << 16)


def _release(n: int, query: Query, release: Release) -> Learner:
    """A query and a release, with a policy that does not matter."""
    return Learner(n, Uniform(n), query, release)


def _from(module: str, name: str, *given: Any, **named: Any) -> Any:
    """An object of a module that is imported only when it is audited."""
    return getattr(importlib.import_module(f"discreet.{module}"), name)(*given, **named)


def _box(n: int) -> Any:
    return _from("paper", "Box", [0.0] * n, [1.0] * n)


_LISTED = [
    Entry("one-bit", lambda n, e: OneBit(e, _COSTS), "OneBit, one release"),
    Entry("bits", lambda n, e: _release(n, _COST, Bits(Budget(epsilon=e), _COSTS)), "Bits, of costs"),
    Entry(
        "laplace",
        lambda n, e: _release(n, _COST, Laplace(_COST.bound, Budget(epsilon=e))),
        "Laplace, of costs",
    ),
    Entry(
        "laplace-gradients",
        lambda n, e: _release(n, _GRADIENT, Laplace(_GRADIENT.bound, Budget(epsilon=e))),
        "Laplace, of gradients",
    ),
    Entry("binary-tree", lambda n, e: BinaryTree(n, 8, _bound(), Budget(epsilon=e)), "BinaryTree, 8 rounds"),
    Entry(
        "binary-tree-gaussian",
        lambda n, e: BinaryTree(n, 8, _bound(), Budget(rho=e**2 / 12)),
        "BinaryTree, discrete Gaussian noise, 8 rounds",
        {"delta": GAUSSIAN_DELTA},
    ),
    Entry(
        "k-ary-tree",
        lambda n, e: KAryTree(n, 13, _bound(), Budget(epsilon=e), arity=3),
        "KAryTree of arity 3, 9 rounds",
    ),
    Entry("epochs", lambda n, e: Epochs(n, _bound(), Budget(epsilon=e)), "Epochs, 5 rounds"),
    Entry("bandit", lambda n, e: BanditLearner(n, e, _COSTS), "BanditLearner"),
    Entry(
        "bandit-three-rounds",
        lambda n, e: BanditLearner(n, e, _COSTS, rounds_per_person=3),
        "BanditLearner, a person in three rounds",
    ),
    Entry(
        "bandit-central", lambda n, e: BanditLearner(n, e, _COSTS, mode="central"), "BanditLearner in blocks"
    ),
    Entry("full", lambda n, e: FullInformationLearner(n, e, _COSTS), "FullInformationLearner in blocks"),
    Entry(
        "full-tree",
        lambda n, e: FullInformationLearner(n, e, _COSTS, method="tree", horizon=100),
        "FullInformationLearner on a tree",
    ),
    Entry("paper-tbap", lambda n, e: _from("paper", "TBAP", n, 8, 1.0, e), "TBAP corrected, 8 rounds"),
    Entry(
        "paper-pftal",
        lambda n, e: _from("paper", "PFTAL", _box(n), 8, e, 1.0, 1.0),
        "PFTAL corrected, its sums, 8 rounds",
    ),
    Entry(
        "paper-full", lambda n, e: _from("paper", "SubmodPFTAL", n, 16, e), "SubmodPFTAL corrected, 16 rounds"
    ),
    Entry(
        "paper-bandit",
        lambda n, e: _from("paper", "BanditSubmodPFTAL", n, 16, e, gamma=1.0),
        "BanditSubmodPFTAL corrected, 16 rounds",
    ),
    Entry(
        "noised-gradients",
        lambda n, e: _from("baselines", "NoisedGradients", n, 64, e),
        "NoisedGradients",
    ),
    Entry(
        "exponential-weights",
        lambda n, e: _from("baselines", "ExponentialWeights", n, 64, e),
        "ExponentialWeights",
    ),
    Entry(
        "paper-bandit-published",
        lambda n, e: _from(
            "paper", "BanditSubmodPFTAL", n, 2**14, e, gamma=min(1.0, n / 2**3.5), calibration="published"
        ),
        "BanditSubmodPFTAL as printed, 64 of 16,384 rounds",
        {"rounds": 64, "view": "released"},
        published=True,
    ),
    Entry(
        "paper-tbap-published",
        lambda n, e: _from("paper", "TBAP", n, 4, 1.0, e, calibration="published"),
        "TBAP as printed, 4 rounds",
        published=True,
    ),
]

_ENTRIES = {entry.name: entry for entry in _LISTED}
#: The names that :func:`audit_named` and the command line know.
builtin_targets = [entry.name for entry in _LISTED]


def audit_named(
    names: Sequence[str] = (),
    *,
    n: int = 3,
    epsilon: float = 1.0,
    runs: int = 1_000_000,
    confidence: float = 0.95,
    power: bool = True,
    seed: Seed | None = None,
    progress: bool = False,
) -> list[Audit]:
    """Audit things by name, all that is private by default; together they are as sure as `confidence`.

    Args:
        names: Names of :data:`builtin_targets`, or ``module:name`` of a custom target (or of something that
            makes one when it is called).
        n: Items.
        epsilon: What each claims.
        runs: For each.
        confidence: The probability with which all bounds are right at once (Bonferroni).
        power: Whether to simulate what would have been found.
        seed: Makes the audits repeatable.
        progress: Whether to show bars.

    Entries that are not asked for by name and need an extra that is not installed are left out, with a
    warning. What is asked for is made before anything is run, and refused if an extra is missing.
    """
    wanted = [find(name) for name in names] or [entry for entry in _LISTED if not entry.published]
    size, loss = checks.integer("audit", "n", n, 1, 16), checks.positive_number("audit", "epsilon", epsilon)
    if not 0 < checks.finite_number("audit", "confidence", confidence) < 1:
        raise checks.invalid_argument("audit", "confidence", "a number strictly between 0 and 1", confidence)
    each = 1 - (1 - confidence) / len(wanted)
    made = []
    for entry in wanted:
        try:
            target = entry.make(size, loss)
            options = entry.options | ({"claim": loss} if entry.published else {})
            stated(targets_of(target)[0][0].claim(), options.get("delta"))
            made.append((entry, target, options))
        except MissingExtra as error:
            if names:
                raise
            warnings.warn(LeftOut(entry.name, error), stacklevel=2)
    common: dict[str, Any] = {"runs": runs, "confidence": each, "power": power, "seed": seed}
    return [
        audit(target, name=entry.name, progress=progress, **common, **options)
        for entry, target, options in made
    ]


def find(name: str) -> Entry:
    """The entry of a name, or a user's custom target or policy."""
    if name in _ENTRIES:
        return _ENTRIES[name]
    if ":" in name:
        return Entry(name, lambda n, e: _custom(name, n, e), "a custom target")
    raise checks.unknown_name(
        f"There is nothing called {name!r} to audit.", name, _ENTRIES, others=", or MODULE:NAME"
    )


def _custom(name: str, n: int, epsilon: float) -> Any:
    found = load_object(name)
    if hasattr(found, "plan") and hasattr(found, "learn"):
        return PolicyLearner(n, found, epsilon, _COSTS)
    if isinstance(found, type) or (callable(found) and not hasattr(found, "observe")):
        try:
            return found()
        except Exception as error:
            raise failed(f"Calling {name}", error) from error
    try:
        targets_of(found)
    except InvalidType:
        raise InvalidType(f"{name} is neither a target nor a function that makes one.") from None
    return found
