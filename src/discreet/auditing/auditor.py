"""The function `discreet.audit`."""

import copy
import dataclasses
import math
import time
from collections.abc import Iterable
from typing import Any, Literal, get_args

import numpy as np

from discreet import checks
from discreet.auditing import inputs
from discreet.auditing.attack import Attack, Found, Pair, seed_sequence
from discreet.auditing.releases import Called, Slots
from discreet.auditing.report import Audit
from discreet.auditing.sessions import Sessions, sessions_of
from discreet.auditing.statistics import fault_of_bits
from discreet.errors import InvalidArgument, InvalidType
from discreet.kernel.releases import BitNoise
from discreet.learners.learner import Learner
from discreet.learners.session import Session
from discreet.prefix_sums.base import PrefixSum
from discreet.privacy.guarantee import Guarantee
from discreet.randomizers import OneBit
from discreet.randomness import BitSource, Seed
from discreet.simulation.progress import progress_bar
from discreet.state import constants_in

View = Literal["released", "shown"]
Score = Literal["likelihood", "learned"]


def audit(
    target: Any,
    *,
    pairs: Iterable[tuple[Any, Any]] | None = None,
    runs: int = 1_000_000,
    confidence: float = 0.95,
    delta: float | None = None,
    claim: float | Guarantee | None = None,
    score: Score | None = None,
    rounds: int | None = None,
    view: View | None = None,
    power: bool = True,
    name: str | None = None,
    seed: Seed | None = None,
    progress: bool = False,
) -> Audit:
    """Try to refute a privacy claim: run something many times on neighbouring inputs and compare.

    Passing is no proof: an audit bounds epsilon from below. Failing is one, up to the confidence.

    Args:
        target: A learner or a mechanism of this package that is private and before its first round (it is
            not changed), or any object with the methods of `discreet.auditing.Target`.
        pairs: Neighbouring inputs to try, instead of the worst known ones; of a learner, sequences of
            feedback.
        runs: How many, for both neighbours and all pairs together. What runs in Python is run less often.
        confidence: The probability with which the lower bound is right.
        delta: For claims in rho, the delta to restate them for (1e-5 by default). Of other claims it may be
            raised, which makes claim and audit weaker.
        claim: What to refute, an epsilon or a guarantee, if not what the target says itself.
        score: "likelihood" (exact) or "learned". By default both are tried.
        rounds: How many slots of a release or rounds of prefix sums are watched.
        view: Of learners: "released" is what their mechanism releases, "shown" all that a session shows. By
            default both are attacked.
        power: Whether to simulate which violations would have been found.
        name: How the report calls it.
        seed: Makes an audit repeatable. The target's own source of bits is then not tested.
        progress: Whether to show a bar.

    Examples:
        >>> from discreet.randomizers import OneBit
        >>> report = audit(OneBit(epsilon=1.0), runs=100_000, seed=1)
        >>> report.passed, 0.9 < report.lower_bound < 1.0
        (True, True)
        >>> print(report.power)
        would have found noise too small by a factor of 1.05
    """
    began = time.perf_counter()
    called = name or type(target).__name__
    checked_confidence(confidence)
    for option, given, known in (("score", score, get_args(Score)), ("view", view, get_args(View))):
        if given is not None:
            checks.one_of("audit", option, given, known)
    wanted = checks.integer("audit", "runs", runs, 1)
    if seed is not None:
        seed = seed_sequence(seed)
    own, targets, source = targets_of(target, rounds=rounds, view=view, pairs_given=pairs is not None)
    promise = stated(_claim(own, claim, called), delta)
    claimed = promise.epsilon
    assert claimed is not None
    results, tried, factor = [], 0, None
    fault = fault_of_bits(source) if source is not None and seed is None else None
    if fault is not None:  # nothing is run: samplers may never end without random bits
        results.append(Found(math.inf, fault, Pair("any", None, None), 0, 0, 0, 0, "bits"))
        targets = []
    with progress_bar(called, wanted, shown=progress, unit="runs") as bar:
        for one in targets:
            each = 1 - (1 - confidence) / len(targets)  # several bounds must hold at once
            attack = Attack(one, wanted, promise.delta, each, score, seed, bar.advance)
            listed = _pairs(one, pairs)
            tried += len(listed)
            results.append(attack.on(listed))
            if results[-1].lower_bound > claimed:
                break  # refuted
        else:
            if power and targets and claimed > 0:
                factor = attack.found_factor(results[-1], claimed)
    best = max(results, key=lambda result: result.lower_bound)
    shown = best._asdict() | {"pair": best.pair.about, "runs": sum(result.runs for result in results)}
    bits = "from its own source"
    if source is None or seed is not None:
        drawn = "drawn by the target itself" if source is None else "seeded by the audit"
        bits = f"{drawn}: its own source of bits was not tested"
    return Audit(
        name=called,
        claimed=claimed,
        delta=promise.delta,
        confidence=confidence,
        pairs=tried,
        finds_factor=factor,
        source=bits,
        neighbours=promise.neighbours.value,
        seconds=time.perf_counter() - began,
        **shown,
    )


def checked_confidence(confidence: float) -> float:
    """A number strictly between 0 and 1."""
    if not 0 < checks.finite_number("audit", "confidence", confidence) < 1:
        raise checks.invalid_argument("audit", "confidence", "a number strictly between 0 and 1", confidence)
    return confidence


def stated(claim: Guarantee, delta: float | None) -> Guarantee:
    """The claim in epsilon and delta; what is claimed in rho is restated for `delta`."""
    if claim.epsilon is None or (claim.rho is not None and delta not in (None, claim.delta)):
        return claim.at_delta(1e-5 if delta is None else delta)
    if delta is None:
        return claim
    if not claim.delta <= checks.finite_number("audit", "delta", delta) < 1:
        raise checks.invalid_argument(
            "audit", "delta", f"from {claim.delta:g}, as claimed, to below 1", delta
        )
    return dataclasses.replace(claim, delta=delta)


def _claim(own: Guarantee, given: float | Guarantee | None, name: str) -> Guarantee:
    if isinstance(given, Guarantee):
        return given
    if given is not None:
        loss = checks.finite_number("audit", "claim", given)
        return dataclasses.replace(own, epsilon=loss, delta=0.0, rho=None, private=True, reason="")
    if not own.private:
        raise InvalidArgument(
            f"{name} promises nothing that could be refuted: {own.reason}. To refute what is claimed about "
            "it elsewhere, give that as 'claim'."
        )
    return own


def _pairs(target: Any, given: Iterable[tuple[Any, Any]] | None) -> list[Pair]:
    if given is None:
        return target.pairs() if hasattr(target, "pairs") else [Pair("its two inputs", *target.neighbours())]
    listed = list(given)
    if not listed or not all(isinstance(pair, tuple) and len(pair) == 2 for pair in listed):
        raise InvalidType("The 'pairs' of audit must be pairs of inputs, at least one.")
    return [Pair(f"given pair {k + 1}", *pair) for k, pair in enumerate(listed)]


def targets_of(
    given: Any, *, rounds: int | None = None, view: View | None = None, pairs_given: bool = False
) -> tuple[Guarantee, list[Any], BitSource | None]:
    """What something claims, what of it is attacked, and its source of bits if that is known."""
    if isinstance(given, Session):
        _require_new(given, given.rounds or given.pending)
        targets: list[Any] = [] if view == "released" else [sessions_of(given)]
        if view == "released" or (view is None and not pairs_given):  # these are histories of feedback
            targets.append(_release(given.learner, given._mechanism, given._source, rounds))
        return given.guarantee, targets, given._source
    if isinstance(given, Learner):
        source = BitSource()
        return given.guarantee, [_release(given, given.mechanism(), source, rounds)], source
    sums = given
    while hasattr(sums, "_sums"):  # the paper's bare sums
        sums = getattr(sums._sums, "prefix_sum", sums._sums)
    if isinstance(sums, PrefixSum):
        return given.guarantee, [_prefix_sum(sums, rounds)], sums._source
    if callable(getattr(given, "release", None)) and hasattr(given, "grid") and hasattr(given, "_source"):
        if rounds is not None or view is not None:
            raise InvalidArgument("'rounds' and 'view' are for learners and sums: this is one release.")
        source = given._source or BitSource()  # the operating system's by default
        return given.guarantee, [_randomizer(given, source, compiled=not pairs_given)], source
    has = {name for name in ("claim", "observe", "neighbours", "pairs") if hasattr(given, name)}
    if has >= {"claim", "observe"} and len(has) > 2:
        return given.claim(), [given], given._source if isinstance(given, Sessions) else None
    raise InvalidType(
        "The 'target' of audit must be a learner, a mechanism, or have the methods claim, neighbours and "
        f"observe. Got {type(given).__name__} instead."
    )


def _release(learner: Learner, mechanism: Any, source: BitSource, rounds: int | None) -> Slots:
    """The release of a learner, given sums of what its query measures."""
    release, changes = learner.release, inputs.changes_of_feedback(learner)
    per_person = release.guarantee.rounds_per_person
    width = release.width(learner.dimension)
    return Slots(mechanism, changes, per_person, source, release.horizon, release.dtype, rounds, width)


def _prefix_sum(given: PrefixSum, rounds: int | None) -> Any:
    """Prefix sums: their compiled steps where these are the package's, else their method `add`."""
    _require_new(given, given.round)
    claim, source, horizon = given.guarantee, given._source, given.horizon
    changes = inputs.changes_of_vectors(given.bound, given.dimension, claim.neighbours)
    kind, settings = type(given), given._settings()
    if kind.__module__.startswith("discreet."):
        return Slots(given.steps, changes, claim.rounds_per_person, source, horizon, given.dtype, rounds)
    if constants_in(kind._from_settings(settings, source).steps) != constants_in(given.steps):
        raise InvalidArgument(
            f"The noise of this {kind.__name__} was changed after it was made. Write a class for that: an "
            "audit makes many like the one it is given."
        )

    def run(bits: BitSource, vectors: Any) -> Any:
        made = kind._from_settings(settings, bits)
        sums = [made.add(vector).values / made.bound.step for vector in vectors]
        return np.diff(sums, axis=0, prepend=0.0).ravel()

    slots = checks.integer("audit", "rounds", min(horizon, 5) if rounds is None else rounds, 1, horizon)
    return Called(run, inputs.pairs_in_slots(changes, slots, claim.rounds_per_person), source)


def _randomizer(given: Any, source: BitSource, compiled: bool) -> Any:
    """A randomizer of single numbers: by its method `release`, or for exactly `OneBit` compiled."""
    grid = given.grid
    if compiled and type(given) is OneBit and "release" not in vars(given):
        mechanism = BitNoise(given.slope, round(given.magnitude))
        return Slots(mechanism, inputs.changes_of_numbers(grid), 1, source, horizon=1)
    twin = copy.copy(given)

    def run(bits: BitSource, value: Any) -> list[float]:
        twin._source = bits
        return [twin.release(value)]

    return Called(run, inputs.pairs_of_values(grid.low, grid.high, grid.step), source)


def _require_new(given: Any, begun: int) -> None:
    """Refuse what an audit could not make again."""
    kind = type(given)
    if begun:
        raise InvalidArgument(f"An audit needs a {kind.__name__} before its first round.")
    own = [name for name, value in vars(given).items() if callable(value) and hasattr(kind, name)]
    if own:
        raise InvalidArgument(
            f"This {kind.__name__} has a method of its own, {own[0]!r}. Write a class for it: an "
            "audit makes many like the one it is given."
        )
