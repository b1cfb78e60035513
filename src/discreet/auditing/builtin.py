"""Everything that ships and can be audited by name."""

import warnings
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

from discreet import baselines, checks, paper
from discreet.auditing.auditor import audit, checked_confidence, stated, targets_of
from discreet.auditing.report import Audit
from discreet.errors import InvalidType, MissingExtra
from discreet.imports import failed, load_object
from discreet.kernel import Bits, ChainGradient, Choice, CostOfSet, CostsOfSets, Laplace
from discreet.learners import BanditLearner, FullInformationLearner, Learner, PolicyLearner
from discreet.policies import Uniform
from discreet.prefix_sums import BinaryTree
from discreet.privacy import Budget, VectorBound
from discreet.randomizers import OneBit

#: From a number of items and an epsilon to what is audited.
Make = Callable[[int, float], Any]

_COSTS = (0.0, 1.0)
_COST, _GRADIENT = CostOfSet(*_COSTS), ChainGradient.of(*_COSTS)
_BOUND = VectorBound.for_costs(*_COSTS, units=1 << 16)


class Entry(NamedTuple):
    """Something that can be audited by name.

    Algorithms that are `published` as they were printed fail at the epsilon that their theorem claims: they
    are only audited when asked for.
    """

    name: str
    about: str
    make: Make
    options: Mapping[str, Any] = MappingProxyType({})
    published: bool = False


class LeftOut(UserWarning):
    """An entry is not audited for want of an extra, whose name is `extra`."""

    def __init__(self, name: str, missing: MissingExtra) -> None:
        super().__init__(f"{name} was left out. {missing}")
        self.extra = missing.extra


def _learner(release: Callable[[Any, Budget], Any], query: Any = _COST) -> Make:
    return lambda n, e: Learner(n, Uniform(n), query, release(query.bound, Budget(epsilon=e)))


def _choice(n: int, epsilon: float) -> Learner:
    query = CostsOfSets.of(n, *_COSTS)
    return Learner(n, Uniform(n), query, Choice(query, Budget(epsilon=epsilon)))


def _bandit(**settings: Any) -> Make:
    return lambda n, e: BanditLearner(n, e, _COSTS, **settings)


def _full(**settings: Any) -> Make:
    return lambda n, e: FullInformationLearner(n, e, _COSTS, **settings)


def _gaussian_tree(n: int, epsilon: float) -> BinaryTree:
    return BinaryTree(n, 8, _BOUND, Budget(rho=epsilon**2 / 12))


def _pftal(n: int, epsilon: float) -> paper.PFTAL:
    return paper.PFTAL(paper.Box([0.0] * n, [1.0] * n), 8, epsilon, 1.0, 1.0)


def _printed_bandit(n: int, epsilon: float) -> paper.BanditSubmodPFTAL:
    gamma = min(1.0, n / 2**3.5)
    return paper.BanditSubmodPFTAL(n, 2**14, epsilon, gamma=gamma, calibration="published")


def _printed_tbap(n: int, epsilon: float) -> paper.TBAP:
    return paper.TBAP(n, 4, 1.0, epsilon, calibration="published")


# At the delta of production an audit of Gaussian noise would need millions of runs; here it has power.
_GAUSSIAN = {"delta": 0.01}
_BEGINNING = {"rounds": 64, "view": "released"}

_LISTED = [
    Entry("one-bit", "OneBit, one release", lambda n, e: OneBit(e, _COSTS)),
    Entry("bits", "Bits, of costs", _learner(lambda _, budget: Bits(budget, _COSTS))),
    Entry("laplace", "Laplace, of costs", _learner(Laplace)),
    Entry("laplace-gradients", "Laplace, of gradients", _learner(Laplace, _GRADIENT)),
    Entry("choice", "Choice, of sets", _choice),
    Entry("binary-tree", "BinaryTree, 8 rounds", lambda n, e: BinaryTree(n, 8, _BOUND, Budget(epsilon=e))),
    Entry("binary-tree-gaussian", "BinaryTree, discrete Gaussian noise, 8 rounds", _gaussian_tree, _GAUSSIAN),
    Entry("bandit", "BanditLearner with a model", _bandit()),
    Entry("bandit-three-rounds", "BanditLearner, a person in three rounds", _bandit(rounds_per_person=3)),
    Entry("bandit-items", "BanditLearner told what items brought", _bandit(item_total=0.5)),
    Entry("bandit-local", "BanditLearner with a model, of bits", _bandit(mode="local")),
    Entry("bandit-worst-case", "BanditLearner for the worst case", _bandit(method="worst-case")),
    Entry(
        "bandit-worst-case-local",
        "BanditLearner for the worst case, of bits",
        _bandit(method="worst-case", mode="local"),
    ),
    Entry("full", "FullInformationLearner that chooses", _full()),
    Entry("full-blocks", "FullInformationLearner in blocks", _full(method="blocks")),
    Entry("full-leader", "FullInformationLearner with a leader", _full(method="leader")),
    Entry("paper-tbap", "TBAP corrected, 8 rounds", lambda n, e: paper.TBAP(n, 8, 1.0, e)),
    Entry("paper-pftal", "PFTAL corrected, its sums, 8 rounds", _pftal),
    Entry("paper-full", "SubmodPFTAL corrected, 16 rounds", lambda n, e: paper.SubmodPFTAL(n, 16, e)),
    Entry(
        "paper-bandit",
        "BanditSubmodPFTAL corrected, 16 rounds",
        lambda n, e: paper.BanditSubmodPFTAL(n, 16, e, gamma=1.0),
    ),
    Entry("noised-gradients", "NoisedGradients", lambda n, e: baselines.NoisedGradients(n, 64, e)),
    Entry("exponential-weights", "ExponentialWeights", lambda n, e: baselines.ExponentialWeights(n, 64, e)),
    Entry("product-sampling", "ProductSampling", lambda n, e: baselines.ProductSampling(n, e, _COSTS)),
    Entry(
        "product-sampling-central",
        "ProductSampling in blocks",
        lambda n, e: baselines.ProductSampling(n, e, _COSTS, mode="central"),
    ),
    Entry("noisy-leader", "NoisyLeader", lambda n, e: baselines.NoisyLeader(n, e, _COSTS)),
    Entry(
        "paper-bandit-published",
        "BanditSubmodPFTAL as printed, 64 of 16,384 rounds",
        _printed_bandit,
        _BEGINNING,
        published=True,
    ),
    Entry("paper-tbap-published", "TBAP as printed, 4 rounds", _printed_tbap, published=True),
]

_ENTRIES = {entry.name: entry for entry in _LISTED}
#: The names that `audit_named` and the command line know.
builtin_targets = list(_ENTRIES)


def audit_named(
    names: Sequence[str] = (),
    *,
    n: int = 3,
    epsilon: float = 1.0,
    confidence: float = 0.95,
    **options: Any,
) -> list[Audit]:
    """Audit things by name, all that is private by default; together they are as sure as `confidence`.

    A name is one of `builtin_targets`, or ``module:name`` of a custom target (or of something that makes one
    when it is called). Everything is made before anything is run; where an extra is missing, what was asked
    for is refused, and the rest left out with a warning. Other options are as for `audit`.
    """
    wanted = [find(name) for name in names] or [entry for entry in _LISTED if not entry.published]
    size, loss = checks.integer("audit", "n", n, 1, 16), checks.positive_number("audit", "epsilon", epsilon)
    each = 1 - (1 - checked_confidence(confidence)) / len(wanted)
    made = []
    for entry in wanted:
        try:
            target = entry.make(size, loss)
            stated(targets_of(target)[0], entry.options.get("delta"))
        except MissingExtra as error:
            if names:
                raise
            warnings.warn(LeftOut(entry.name, error), stacklevel=2)
        else:
            claim = loss if entry.published else None
            made.append((target, {**options, **entry.options, "name": entry.name, "claim": claim}))
    return [audit(target, confidence=each, **given) for target, given in made]


def find(name: str) -> Entry:
    """The entry of a name, or a user's custom target or policy."""
    if name in _ENTRIES:
        return _ENTRIES[name]
    if ":" in name:
        return Entry(name, "a custom target", lambda n, e: _custom(name, n, e))
    sentence = f"There is nothing called {name!r} to audit."
    raise checks.unknown_name(sentence, name, _ENTRIES, others=", or MODULE:NAME")


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
