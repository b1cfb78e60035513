"""The function `discreet.audit`."""

from __future__ import annotations

import functools
import os
from collections.abc import Iterable
from typing import Any

import numpy as np

from discreet import checks
from discreet.auditing.as_shipped import is_as_shipped
from discreet.auditing.attack import attack, seed_sequence, stated
from discreet.auditing.learner_runs import LearnerRuns, View, enough_rounds, worst_streams
from discreet.auditing.releases import BlockReleases, LaplaceReleases, OneBitReleases
from discreet.auditing.report import Audit
from discreet.auditing.scores import checked_kind, exact_score
from discreet.auditing.sessions import Sessions
from discreet.auditing.sums import Sums
from discreet.auditing.target import Target, WithRandomNeighbours
from discreet.auditing.transcripts import can_play
from discreet.errors import InvalidArgument, InvalidType
from discreet.learners.base import Learner
from discreet.learners.feedback import BanditFeedback
from discreet.learners.pending import constants_of
from discreet.paper import PFTAL, TBAP
from discreet.prefix_sums.base import PrefixSum
from discreet.randomizers.blocks import Blocks
from discreet.randomizers.laplace import LaplaceOnGrid
from discreet.randomizers.one_bit import OneBit
from discreet.randomness import Seed

#: Rounds of an audit by asking and telling in Python.
SESSION_ROUNDS = 4


def audit(
    target: Any,
    *,
    pairs: int | Iterable[tuple[Any, Any]] | None = None,
    runs: int = 200_000,
    confidence: float = 0.95,
    delta: float | None = None,
    score: str | None = None,
    rounds: int | None = None,
    view: View | None = None,
    name: str | None = None,
    seed: Seed | None = None,
    workers: int | None = None,
    progress: bool = False,
) -> Audit:
    """Try to refute a privacy claim: run something many times on neighbouring inputs and compare.

    Passing is no proof: an audit bounds epsilon from below. Failing is one, up to the confidence.

    Args:
        target: A learner or a mechanism of this package before its first round (it is not changed), or any
            object with the three methods of :class:`discreet.auditing.Target`.
        pairs: Pairs of neighbouring inputs, or how many random ones to try besides the worst known pair. Of
            several pairs each gets its share of the risk (Bonferroni).
        runs: How many, both neighbours and all pairs together; at least 128 for each pair.
        confidence: The probability with which the lower bound is right.
        delta: For claims in rho, the delta to restate them for (1e-5 by default). Of other claims it may be
            raised, which makes claim and audit weaker.
        score: "likelihood" (exact; the default where it is known), "classifier" (trained on a quarter of
            the runs) or "value" (the first number that is seen).
        rounds: How many rounds of a learner or of prefix sums are watched.
        view: Of learners: "released" is what their mechanism releases, "shown" the sets and points.
        name: How the report calls it.
        seed: Makes an audit repeatable. The noise under audit is then seeded too.
        workers: Threads; one per core by default where code is compiled. A learner that is asked and told in
            Python gets one, whatever is given: everything the process prints is watched.
        progress: Whether to show a bar.

    Examples:
        >>> from discreet.randomizers import OneBit
        >>> report = audit(OneBit(epsilon=1.0), runs=100_000, seed=1)
        >>> report.passed, 0.9 < report.lower_bound < 1.0
        (True, True)
    """
    if not 0 < checks.finite_number("audit", "confidence", confidence) < 1:
        raise checks.invalid_argument("audit", "confidence", "a number strictly between 0 and 1", confidence)
    if delta is not None and not 0 <= checks.finite_number("audit", "delta", delta) < 1:
        raise checks.invalid_argument("audit", "delta", "a number from 0 to below 1", delta)
    checked = as_target(target, rounds=rounds, view=view)
    compiled = not isinstance(checked, Sessions) and type(checked).__module__.startswith("discreet.")
    threads = (os.cpu_count() or 1) if compiled else 1
    if workers is not None and not isinstance(checked, Sessions):  # those watch the whole process
        threads = checks.integer("audit", "workers", workers, 1)
    return attack(
        checked,
        _pairs(checked, pairs, seed),
        name=name or type(target).__name__,
        runs=checks.integer("audit", "runs", runs, 1),
        confidence=confidence,
        delta=delta,
        score=score,
        seed=seed,
        workers=threads,
        progress=progress,
    )


def require_extras(
    target: Any, *, delta: float | None = None, rounds: int | None = None, view: View | None = None
) -> None:
    """Refuse what `audit` would refuse because an extra is not installed, without running anything.

    Raises:
        MissingExtra: The message names it.
    """
    checked = as_target(target, rounds=rounds, view=view)
    stated(checked.claim(), delta)
    checked_kind(None, checked, exact_score(checked, *checked.neighbours()))


def _pairs(
    target: Target, pairs: int | Iterable[tuple[Any, Any]] | None, seed: Seed | None
) -> list[tuple[Any, Any]]:
    if pairs is None:
        return [target.neighbours()]
    if not isinstance(pairs, int | np.integer):
        listed = list(pairs) if isinstance(pairs, Iterable) else [pairs]
        if not all(isinstance(pair, tuple) and len(pair) == 2 for pair in listed):
            raise InvalidType("The 'pairs' of audit must be pairs of inputs, or how many random ones to try.")
        return listed
    if not isinstance(target, WithRandomNeighbours):
        raise InvalidArgument(f"{type(target).__name__} does not know how to make random neighbours.")
    more = checks.integer("audit", "pairs", pairs, 0)
    spawned = seed_sequence(seed).spawn(more)
    return [target.neighbours(), *(target.random_neighbours(child) for child in spawned)]


def as_target(given: Any, *, rounds: int | None = None, view: View | None = None) -> Target:
    """Something of this package, ready to be audited; a target of the user's own as it is.

    Examples:
        >>> target = as_target(OneBit(epsilon=1.0))
        >>> target.claim().epsilon, target.neighbours()
        (1.0, (1.0, -1.0))
    """
    target = _known_target(given, rounds, view)
    if target is not None:
        return target
    if all(callable(getattr(given, method, None)) for method in ("claim", "neighbours", "observe")):
        return given  # type: ignore[no-any-return] # as the protocol asks
    raise InvalidType(
        "The 'target' of audit must be a learner, a mechanism, or have the methods claim, neighbours and "
        f"observe. Got {type(given).__name__} instead."
    )


@functools.singledispatch
def _known_target(given: Any, rounds: int | None, view: View | None) -> Target | None:
    return None


@_known_target.register
def _(given: OneBit, rounds: int | None, view: View | None) -> Target:
    _only_one(rounds, view)
    return OneBitReleases(given)


@_known_target.register
def _(given: LaplaceOnGrid, rounds: int | None, view: View | None) -> Target:
    _only_one(rounds, view)
    return LaplaceReleases(given)


@_known_target.register
def _(given: Blocks, rounds: int | None, view: View | None) -> Target:
    _only_one(rounds, view)
    return BlockReleases(given)


def _only_one(rounds: int | None, view: View | None) -> None:
    if rounds is not None or view is not None:
        raise InvalidArgument("The 'rounds' and the 'view' are for learners and sums: this is one release.")


@_known_target.register
def _(given: PrefixSum, rounds: int | None, view: View | None) -> Target:
    return Sums(given, rounds)


@_known_target.register
def _(given: TBAP, rounds: int | None, view: View | None) -> Target:
    return Sums(given._tree, rounds, claim=given.guarantee)


@_known_target.register
def _(given: PFTAL, rounds: int | None, view: View | None) -> Target:
    return _known_target(given._sums, rounds, view)  # type: ignore[return-value] # its points are made of these


@_known_target.register
def _(given: Learner, rounds: int | None, view: View | None) -> Target:
    if is_as_shipped(given) and can_play(given._core):
        return LearnerRuns(given, rounds, view)
    # Its methods may do anything: it is asked and told in Python, and everything that it does is looked at.
    if given.rounds or given.pending:
        raise InvalidArgument(f"An audit needs a {type(given).__name__} before its first round.")
    if constants_of(given._core) != constants_of(given.fresh(0)._core):
        raise InvalidArgument(
            f"This {type(given).__name__} was changed after it was made, and a new one made like it would "
            "not have that change: give its class the change instead."
        )
    people = given.guarantee.rounds_per_person
    enough = max(SESSION_ROUNDS, people, enough_rounds(given._core, people) if can_play(given._core) else 0)
    wanted = min(enough, given.horizon) if rounds is None else rounds
    length = checks.integer("audit", "rounds", wanted, 1, given.horizon)
    bandit = isinstance(given, BanditFeedback)
    streams = worst_streams(given._core, bandit, length, people)
    return Sessions(lambda seed: given.fresh(seed), streams, bandit=bandit)
