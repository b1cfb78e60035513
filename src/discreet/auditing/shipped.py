"""Everything private in this package, by name, as the command ``discreet audit`` runs it."""

from __future__ import annotations

import dataclasses
import importlib
import os
import sys
import warnings
from collections.abc import Callable, Sequence
from typing import Any

from discreet import checks
from discreet.auditing.auditor import as_target, audit, require_extras
from discreet.auditing.report import Audit
from discreet.auditing.sums import FirstNode, Sums
from discreet.baselines import ExponentialWeights, NoisedGradients
from discreet.errors import InvalidArgument, InvalidType, MissingExtra, UnknownName
from discreet.learners import BanditLearner, FullInformationLearner
from discreet.paper import PFTAL, TBAP, BanditSubmodPFTAL, Box, SubmodPFTAL
from discreet.prefix_sums import BinaryTree, Epochs, KAryTree
from discreet.privacy import Budget, VectorBound
from discreet.randomizers import Blocks, LaplaceOnGrid, OneBit
from discreet.randomness import Seed

#: At the delta of production an audit of Gaussian noise would need millions of runs; here it has power.
GAUSSIAN_DELTA = 0.01
#: Interpreted mechanisms are not run more often than this.
INTERPRETED_RUNS = 20_000

_COSTS = (0.0, 1.0)


@dataclasses.dataclass(frozen=True)
class Entry:
    """Something that can be audited by name.

    Attributes:
        name: Its name.
        make: From items and epsilon to the thing under audit.
        about: A few words.
        options: Further arguments of `audit`.
        most_runs: Its runs are cut to this.
        private: Whether it is expected to keep its promise; what is not is only audited when asked for.
    """

    name: str
    make: Callable[[int, float], Any]
    about: str
    options: dict[str, Any] = dataclasses.field(default_factory=dict)
    most_runs: int | None = None
    private: bool = True


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


def _rho(epsilon: float) -> Budget:
    """A budget in rho whose loss is about epsilon at the delta of audits."""
    return Budget(rho=epsilon**2 / 12)


_LISTED = [
    Entry("one-bit", lambda n, e: OneBit(e, _COSTS), "OneBit, one release"),
    Entry("laplace", lambda n, e: LaplaceOnGrid(e, _COSTS), "LaplaceOnGrid, one release"),
    Entry(
        "blocks",
        lambda n, e: Blocks(e, _COSTS, length=4),
        "Blocks, one block of four numbers",
        most_runs=INTERPRETED_RUNS,
    ),
    Entry("binary-tree", lambda n, e: BinaryTree(n, 8, _bound(), Budget(epsilon=e)), "BinaryTree, 8 rounds"),
    Entry(
        "binary-tree-node",
        lambda n, e: FirstNode(BinaryTree(n, 16, _bound(), Budget(epsilon=e)), 5),
        "BinaryTree of 5 levels, one node",
    ),
    Entry(
        "binary-tree-gaussian",
        lambda n, e: BinaryTree(n, 8, _bound(), _rho(e)),
        "BinaryTree, discrete Gaussian noise, 8 rounds",
        {"delta": GAUSSIAN_DELTA},
    ),
    Entry(
        "k-ary-tree",
        lambda n, e: KAryTree(n, 13, _bound(), Budget(epsilon=e), arity=3),
        "KAryTree of arity 3, 13 rounds",
    ),
    Entry(
        "k-ary-tree-node",
        lambda n, e: FirstNode(KAryTree(n, 13, _bound(), Budget(epsilon=e), arity=3), 3),
        "KAryTree of 3 levels, one node",
    ),
    Entry(
        "epochs",
        lambda n, e: Sums(Epochs(n, _bound(), Budget(epsilon=e)), 5, changed=1),
        "Epochs, 5 rounds, a change in the second epoch",
        most_runs=INTERPRETED_RUNS,
    ),
    Entry("bandit", lambda n, e: BanditLearner(n, e, _COSTS), "BanditLearner, its bits"),
    Entry(
        "bandit-shown",
        lambda n, e: BanditLearner(n, e, _COSTS),
        "BanditLearner, sets and points of 64 rounds",
        {"view": "shown", "rounds": 64},
    ),
    Entry(
        "bandit-three-rounds",
        lambda n, e: BanditLearner(n, e, _COSTS, rounds_per_person=3),
        "BanditLearner, a person in three rounds",
    ),
    Entry(
        "bandit-central",
        lambda n, e: BanditLearner(n, e, _COSTS, mode="central"),
        "BanditLearner in blocks, one block",
    ),
    Entry(
        "full", lambda n, e: FullInformationLearner(n, e, _COSTS), "FullInformationLearner, the first block"
    ),
    Entry(
        "full-shown",
        lambda n, e: FullInformationLearner(n, e, _COSTS),
        "FullInformationLearner, sets and points",
        {"view": "shown", "rounds": 64},
    ),
    Entry(
        "full-tree",
        lambda n, e: FullInformationLearner(n, e, _COSTS, method="tree", horizon=1000),
        "FullInformationLearner on a tree",
    ),
    Entry("paper-tbap", lambda n, e: TBAP(n, 8, 1.0, e), "TBAP corrected, 8 rounds"),
    Entry(
        "paper-pftal",
        lambda n, e: PFTAL(Box([0.0] * n, [1.0] * n), 8, e, 1.0, 1.0),
        "PFTAL corrected, its sums, 8 rounds",
    ),
    Entry("paper-full", lambda n, e: SubmodPFTAL(n, 16, e), "SubmodPFTAL corrected, 16 rounds"),
    Entry(
        "paper-bandit",
        lambda n, e: BanditSubmodPFTAL(n, 64, e, gamma=1.0),
        "BanditSubmodPFTAL corrected, 64 rounds",
    ),
    Entry("noised-gradients", lambda n, e: NoisedGradients(n, 16, e), "NoisedGradients, one gradient"),
    Entry(
        "exponential-weights",
        lambda n, e: ExponentialWeights(n, 16, e),
        "ExponentialWeights, sets and points of 16 rounds",
    ),
    Entry(
        "paper-bandit-published",
        lambda n, e: BanditSubmodPFTAL(n, 2**14, e, gamma=min(1.0, n / 2**3.5), calibration="published"),
        "BanditSubmodPFTAL as printed, 64 of 16,384 rounds",
        {"rounds": 64},
        private=False,
    ),
    Entry(
        "paper-tbap-published",
        lambda n, e: TBAP(n, 4, 1.0, e, calibration="published"),
        "TBAP as printed, 4 rounds",
        private=False,
    ),
]

#: Name -> entry.
SHIPPED = {entry.name: entry for entry in _LISTED}


def audit_named(
    names: Sequence[str] = (),
    *,
    n: int = 3,
    epsilon: float = 1.0,
    runs: int = 200_000,
    confidence: float = 0.95,
    seed: Seed | None = None,
    progress: bool = False,
) -> list[Audit]:
    """Audit things by name, all that is private by default; together they are as sure as `confidence`.

    Args:
        names: Names of :data:`SHIPPED`, or ``module:name`` of a target of one's own (or of something that
            makes one when it is called).
        n: Items.
        epsilon: What each claims.
        runs: For each.
        confidence: The probability with which all bounds are right at once (Bonferroni).
        seed: Makes the audits repeatable.
        progress: Whether to show bars.

    Entries that are not asked for by name and need an extra that is not installed are left out, with a
    warning. What is asked for is made before anything is run, and refused if an extra is missing.
    """
    wanted = [find(name) for name in names] or [entry for entry in _LISTED if entry.private]
    size, loss = checks.integer("audit", "n", n, 1, 16), checks.positive_number("audit", "epsilon", epsilon)
    if not 0 < checks.finite_number("audit", "confidence", confidence) < 1:
        raise checks.invalid_argument("audit", "confidence", "a number strictly between 0 and 1", confidence)
    each = 1 - (1 - confidence) / len(wanted)
    made = []
    for entry in wanted:
        try:
            target = entry.make(size, loss)
            require_extras(target, **entry.options)
            made.append((entry, target))
        except MissingExtra as error:
            if names:
                raise
            warnings.warn(LeftOut(entry.name, error), stacklevel=2)
    return [
        audit(
            target,
            runs=runs if entry.most_runs is None else min(runs, entry.most_runs),
            confidence=each,
            name=entry.name,
            seed=seed,
            progress=progress,
            **entry.options,
        )
        for entry, target in made
    ]


def find(name: str) -> Entry:
    """The entry of a name, or a user's own target."""
    if name in SHIPPED:
        return SHIPPED[name]
    module, colon, attribute = name.partition(":")
    if colon:
        return Entry(name, lambda n, e: _own(module, attribute), "a target of one's own")
    raise checks.unknown_name(
        f"There is nothing called {name!r} to audit.", name, SHIPPED, others=", or MODULE:NAME"
    )


def _own(module: str, attribute: str) -> Any:
    if os.getcwd() not in sys.path:
        sys.path.insert(0, os.getcwd())  # where the user's file lies
    try:
        found = getattr(importlib.import_module(module), attribute)
    except (ImportError, AttributeError) as error:
        raise UnknownName(f"Cannot find {module}:{attribute}: {error}.") from None
    except Exception as error:
        raise InvalidArgument(f"Importing {module} failed: {_described(error)}.") from error
    if isinstance(found, type) or (callable(found) and not hasattr(found, "observe")):
        try:
            return found()
        except Exception as error:
            raise InvalidArgument(f"Calling {module}:{attribute} failed: {_described(error)}.") from error
    try:
        as_target(found)
    except InvalidType:
        raise InvalidType(
            f"{module}:{attribute} is neither a target nor a function that makes one."
        ) from None
    return found


def _described(error: Exception) -> str:
    """The kind and the words of an error in the user's own code."""
    return f"{type(error).__name__}: {error}".removesuffix(".").removesuffix(": ")
