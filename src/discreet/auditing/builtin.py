"""Everything that ships and can be audited by name."""

import dataclasses
import functools
import warnings
from collections.abc import Callable, Sequence
from typing import Any

from discreet import baselines, checks, paper
from discreet.auditing.auditor import audit, checked_confidence, stated, targets_of
from discreet.auditing.report import Audit
from discreet.errors import InvalidType, MissingExtra
from discreet.imports import failed, load_object
from discreet.kernel import Bits, ChainGradient, CostOfSet, Laplace
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
_BOUND = VectorBound.for_costs(*_COSTS, units=1 << 16)
_bandit = functools.partial(BanditLearner, cost_range=_COSTS)
_full = functools.partial(FullInformationLearner, cost_range=_COSTS)


@dataclasses.dataclass(frozen=True)
class Entry:
    """Something that can be audited by name.

    Algorithms that are `published` as they were printed fail at the epsilon that their theorem claims: they
    are only audited when asked for.
    """

    name: str
    about: str
    make: Callable[[int, float], Any]
    options: dict[str, Any] = dataclasses.field(default_factory=dict)
    published: bool = False


class LeftOut(UserWarning):
    """An entry is not audited for want of an extra, whose name is `extra`."""

    def __init__(self, name: str, missing: MissingExtra) -> None:
        super().__init__(f"{name} was left out. {missing}")
        self.extra = missing.extra


def _bits(n: int, epsilon: float) -> Learner:
    return Learner(n, Uniform(n), _COST, Bits(Budget(epsilon=epsilon), _COSTS))


def _laplace(n: int, epsilon: float, query: Any = _COST) -> Learner:
    return Learner(n, Uniform(n), query, Laplace(query.bound, Budget(epsilon=epsilon)))


def _published_bandit(n: int, epsilon: float) -> Any:
    gamma = min(1.0, n / 2**3.5)
    return paper.BanditSubmodPFTAL(n, 2**14, epsilon, gamma=gamma, calibration="published")


_LISTED = [
    Entry("one-bit", "OneBit, one release", lambda n, e: OneBit(e, _COSTS)),
    Entry("bits", "Bits, of costs", _bits),
    Entry("laplace", "Laplace, of costs", _laplace),
    Entry("laplace-gradients", "Laplace, of gradients", lambda n, e: _laplace(n, e, _GRADIENT)),
    Entry("binary-tree", "BinaryTree, 8 rounds", lambda n, e: BinaryTree(n, 8, _BOUND, Budget(epsilon=e))),
    Entry(
        "binary-tree-gaussian",
        "BinaryTree, discrete Gaussian noise, 8 rounds",
        lambda n, e: BinaryTree(n, 8, _BOUND, Budget(rho=e**2 / 12)),
        {"delta": GAUSSIAN_DELTA},
    ),
    Entry(
        "k-ary-tree",
        "KAryTree of arity 3, 9 rounds",
        lambda n, e: KAryTree(n, 13, _BOUND, Budget(epsilon=e), arity=3),
    ),
    Entry("epochs", "Epochs, 5 rounds", lambda n, e: Epochs(n, _BOUND, Budget(epsilon=e))),
    Entry("bandit", "BanditLearner", _bandit),
    Entry(
        "bandit-three-rounds",
        "BanditLearner, a person in three rounds",
        lambda n, e: _bandit(n, e, rounds_per_person=3),
    ),
    Entry("bandit-central", "BanditLearner in blocks", lambda n, e: _bandit(n, e, mode="central")),
    Entry("full", "FullInformationLearner in blocks", _full),
    Entry(
        "full-tree",
        "FullInformationLearner on a tree",
        lambda n, e: _full(n, e, method="tree", horizon=100),
    ),
    Entry("paper-tbap", "TBAP corrected, 8 rounds", lambda n, e: paper.TBAP(n, 8, 1.0, e)),
    Entry(
        "paper-pftal",
        "PFTAL corrected, its sums, 8 rounds",
        lambda n, e: paper.PFTAL(paper.Box([0.0] * n, [1.0] * n), 8, e, 1.0, 1.0),
    ),
    Entry("paper-full", "SubmodPFTAL corrected, 16 rounds", lambda n, e: paper.SubmodPFTAL(n, 16, e)),
    Entry(
        "paper-bandit",
        "BanditSubmodPFTAL corrected, 16 rounds",
        lambda n, e: paper.BanditSubmodPFTAL(n, 16, e, gamma=1.0),
    ),
    Entry("noised-gradients", "NoisedGradients", lambda n, e: baselines.NoisedGradients(n, 64, e)),
    Entry("exponential-weights", "ExponentialWeights", lambda n, e: baselines.ExponentialWeights(n, 64, e)),
    Entry(
        "paper-bandit-published",
        "BanditSubmodPFTAL as printed, 64 of 16,384 rounds",
        _published_bandit,
        {"rounds": 64, "view": "released"},
        published=True,
    ),
    Entry(
        "paper-tbap-published",
        "TBAP as printed, 4 rounds",
        lambda n, e: paper.TBAP(n, 4, 1.0, e, calibration="published"),
        published=True,
    ),
]

_ENTRIES = {entry.name: entry for entry in _LISTED}
#: The names that `audit_named` and the command line know.
builtin_targets = list(_ENTRIES)


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

    Entries that are not asked for by name and need an extra that is not installed are left out, with a
    warning. What is asked for is made before anything is run, and refused if an extra is missing.

    A name is one of `builtin_targets`, or ``module:name`` of a custom target (or of something that makes one
    when it is called). They have `n` items and claim `epsilon`; the rest is as for `audit`.
    """
    wanted = [find(name) for name in names] or [entry for entry in _LISTED if not entry.published]
    size, loss = checks.integer("audit", "n", n, 1, 16), checks.positive_number("audit", "epsilon", epsilon)
    checked_confidence(confidence)
    each = 1 - (1 - confidence) / len(wanted)
    made = []
    for entry in wanted:
        try:
            target = entry.make(size, loss)
            options = entry.options | ({"claim": loss} if entry.published else {})
            stated(targets_of(target)[0], options.get("delta"))
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
        return Entry(name, "a custom target", lambda n, e: _custom(name, n, e))
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
