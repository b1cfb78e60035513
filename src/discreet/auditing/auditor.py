"""The function `discreet.audit`."""

from __future__ import annotations

import contextlib
import dataclasses
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Literal

from discreet import checks
from discreet.auditing.attack import SCORES, Limits, attack, found_factor
from discreet.auditing.numbers import Numbers, randomizer_target, sums_target
from discreet.auditing.releases import Slots, changes_of_feedback, changes_of_vectors
from discreet.auditing.report import Audit
from discreet.auditing.sessions import Sessions, session_target
from discreet.auditing.source_check import what_is_wrong
from discreet.auditing.target import Pair, seed_sequence
from discreet.errors import InvalidArgument, InvalidType
from discreet.learners.learner import Learner
from discreet.learners.session import Session
from discreet.prefix_sums.base import CompiledPrefixSum, PrefixSum
from discreet.privacy.guarantee import Guarantee
from discreet.randomness import BitSource, Seed

View = Literal["released", "shown"]

_OWN, _SEEDED = "from its own source", "seeded by the audit: its own source of bits was not tested"
_UNKNOWN = "drawn by the target itself: its source of bits was not tested"


def audit(
    target: Any,
    *,
    pairs: Iterable[tuple[Any, Any]] | None = None,
    runs: int = 1_000_000,
    confidence: float = 0.95,
    delta: float | None = None,
    claim: float | Guarantee | None = None,
    score: str | None = None,
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
        target: A learner or a mechanism of this package before its first round (it is not changed, but bits
            are drawn from its source), or any object with the methods of :class:`discreet.auditing.Target`.
        pairs: Pairs of neighbouring inputs to try, instead of the worst known ones; of a learner, sequences
            of feedback.
        runs: How many, for both neighbours and all pairs together. What runs in Python is run less often.
        confidence: The probability with which the lower bound is right.
        delta: For claims in rho, the delta to restate them for (1e-5 by default). Of other claims it may be
            raised, which makes claim and audit weaker.
        claim: What to refute, an epsilon or a guarantee, if not what the target says itself.
        score: "likelihood" (exact) or "learned". By default both are tried.
        rounds: How many slots of a release or rounds of prefix sums are watched.
        view: Of learners: "released" is what their mechanism releases, "shown" all that a session shows. By
            default both are attacked.
        power: Whether to simulate which violations would have been found; that takes several times as long.
        name: How the report calls it.
        seed: Makes an audit repeatable. The noise under audit is then seeded too, and the source of bits that
            the target would use is not tested.
        progress: Whether to show a bar.

    Raises:
        InvalidArgument: The target promises nothing (it has a seed, or says that it is not private), has
            begun already, or an argument makes no sense.

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
    if not 0 < checks.finite_number("audit", "confidence", confidence) < 1:
        raise checks.invalid_argument("audit", "confidence", "a number strictly between 0 and 1", confidence)
    if delta is not None and not 0 <= checks.finite_number("audit", "delta", delta) < 1:
        raise checks.invalid_argument("audit", "delta", "a number from 0 to below 1", delta)
    if score not in SCORES:
        raise checks.invalid_argument("audit", "score", "'likelihood' or 'learned'", score)
    if view not in (None, "released", "shown"):
        raise checks.invalid_argument("audit", "view", "'released' or 'shown'", view)
    wanted = checks.integer("audit", "runs", runs, 1)
    if seed is not None:
        seed = seed_sequence(seed)
    if pairs is not None and isinstance(target, Session):
        view = view or "shown"  # they are histories of feedback
    targets, source = targets_of(target, rounds=rounds, view=view)
    if pairs is not None and _is_randomizer(target):
        targets = [Numbers(target)]  # they are numbers, not reports
    promise = stated(_claim(targets[0].claim(), claim, called), delta)
    assert promise.epsilon is not None
    each = 1 - (1 - confidence) / len(targets)  # several bounds must hold at once
    limits = Limits(wanted, promise.delta, each, score, seed)
    about: dict[str, Any] = {
        "name": called,
        "claimed": promise.epsilon,
        "delta": promise.delta,
        "confidence": confidence,
        "source": _UNKNOWN if source is None else _OWN if seed is None else _SEEDED,
        "neighbours": promise.neighbours.value,
    }
    wrong = what_is_wrong(source) if source is not None and seed is None else None
    if wrong is not None:  # nothing else is run: samplers may never end without random bits
        about |= {"lower_bound": float("inf"), "event": wrong, "pair": "any", "score": "bits"}
        about |= dict.fromkeys(("hits", "false_alarms", "trials", "runs", "pairs"), 0)
        return Audit(**about, finds_factor=None, seconds=time.perf_counter() - began)
    listed = [_pairs(one, pairs, seed) for one in targets]
    with _bar(called, wanted, progress) as advance:
        results = []
        for one, tried in zip(targets, listed, strict=True):
            results.append(attack(one, tried, limits, advance))
            if results[-1].bound > promise.epsilon:
                break  # refuted
    best = max(results, key=lambda result: result.bound)
    factor = None
    if power and best.bound <= promise.epsilon and promise.epsilon > 0:
        factor = found_factor(targets[-1], results[-1].pair, limits, promise.epsilon)
    return Audit(
        **about,
        lower_bound=best.bound,
        event=best.event,
        pair=best.pair.about,
        hits=best.hits,
        false_alarms=best.false_alarms,
        trials=best.trials,
        runs=sum(result.runs for result in results),
        score=best.kind,
        pairs=sum(
            len(one.pairs() if isinstance(one, Sessions) and pairs is None else tried)
            for one, tried in zip(targets, listed, strict=True)
        ),
        finds_factor=factor,
        seconds=time.perf_counter() - began,
    )


def stated(claim: Guarantee, delta: float | None) -> Guarantee:
    """The claim in epsilon and delta; what is claimed in rho is restated for `delta`."""
    if claim.epsilon is not None and (delta is None or delta == claim.delta or claim.rho is None):
        if delta is not None and delta < claim.delta:
            raise checks.invalid_argument("audit", "delta", f"at least the claimed {claim.delta:g}", delta)
        return dataclasses.replace(claim, delta=max(claim.delta, delta or 0.0))
    return claim.at_delta(1e-5 if delta is None else delta)


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


def _pairs(target: Any, given: Iterable[tuple[Any, Any]] | None, seed: Seed | None) -> list[Pair]:
    if given is None and isinstance(target, Sessions):
        return target.shortlist(seed)
    if given is None:
        own = getattr(target, "pairs", None)
        return [Pair("its two inputs", *target.neighbours())] if own is None else own()
    listed = list(given) if isinstance(given, Iterable) else [given]
    if not listed or not all(isinstance(pair, tuple) and len(pair) == 2 for pair in listed):
        raise InvalidType("The 'pairs' of audit must be pairs of inputs, at least one.")
    return [Pair(f"given pair {k + 1}", *pair) for k, pair in enumerate(listed)]


def targets_of(
    given: Any, *, rounds: int | None = None, view: View | None = None
) -> tuple[list[Any], BitSource | None]:
    """What is attacked of something, and its source of bits if that is known.

    Raises:
        InvalidType: It cannot be audited.
    """
    inner = next((getattr(given, part) for part in ("_sums", "_tree") if hasattr(given, part)), None)
    if inner is not None and not isinstance(given, Session | PrefixSum):  # the paper's bare sums
        targets, source = targets_of(getattr(inner, "prefix_sum", inner), rounds=rounds)
        return [_with_claim(one, given.guarantee) for one in targets], source
    if isinstance(given, Session):
        return _session(given, rounds, view), given._source
    if isinstance(given, PrefixSum):
        return [_prefix_sum(given, rounds)], given._source
    if isinstance(given, Learner):
        source = BitSource()
        return [_slots(given, given.mechanism(), given.guarantee, source, rounds)], source
    if _is_randomizer(given):
        if rounds is not None or view is not None:
            raise InvalidArgument(
                "The 'rounds' and the 'view' are for learners and sums: this is one release."
            )
        return [randomizer_target(given)], given._source
    if (
        hasattr(given, "claim")
        and hasattr(given, "observe")
        and (hasattr(given, "neighbours") or hasattr(given, "pairs"))
    ):
        return [given], given._source if isinstance(given, Sessions) else None
    raise InvalidType(
        "The 'target' of audit must be a learner, a mechanism, or have the methods claim, neighbours and "
        f"observe. Got {type(given).__name__} instead."
    )


def _is_randomizer(given: Any) -> bool:
    return callable(getattr(given, "release", None)) and hasattr(given, "grid") and hasattr(given, "_source")


def _with_claim(target: Any, claim: Guarantee) -> Any:
    target._claim = claim
    return target


def _session(given: Session[Any], rounds: int | None, view: View | None) -> list[Any]:
    if given.rounds or given.pending:
        raise InvalidArgument(f"An audit needs a {type(given).__name__} before its first round.")
    _refuse_own_methods(given)
    learner = given.learner
    targets: list[Any] = []
    if view != "shown":
        targets.append(_slots(learner, given._mechanism, given.guarantee, given._source, rounds))
    return targets if view == "released" else [_with_claim(session_target(given), given.guarantee), *targets]


def _slots(
    learner: Learner, mechanism: Any, claim: Guarantee, source: BitSource, rounds: int | None
) -> Slots:
    """The release of a learner, given sums of what its query measures."""
    horizon, changes = learner.release.horizon, changes_of_feedback(learner)
    slots = None if rounds is None else checks.integer("audit", "rounds", rounds, 1, horizon)
    return Slots(mechanism, changes, claim, source, horizon=horizon, dtype=learner.release.dtype, slots=slots)


def _prefix_sum(given: PrefixSum, rounds: int | None) -> Any:
    if given.round:
        raise InvalidArgument(f"An audit needs a {type(given).__name__} before its first round.")
    _refuse_own_methods(given)
    horizon = given.horizon or 1 << 20
    slots = None if rounds is None else checks.integer("audit", "rounds", rounds, 1, horizon)
    changes = changes_of_vectors(given.bound, given.dimension, given.guarantee.neighbours)
    if isinstance(given, CompiledPrefixSum) and type(given).__module__.startswith("discreet."):
        return Slots(
            given.steps,
            changes,
            given.guarantee,
            given._source,
            horizon=horizon,
            dtype=given.dtype,
            slots=slots,
        )
    made = type(given)._from_settings(given._settings(), given._source)
    if getattr(made.steps, "law", None) != getattr(given.steps, "law", None):
        raise InvalidArgument(
            f"The noise of this {type(given).__name__} was changed after it was made. Others made like it "
            "would not have that change: give its class the change instead."
        )
    return sums_target(given, changes, slots or min(horizon, 5))


def _refuse_own_methods(given: Any) -> None:
    own = [name for name, value in vars(given).items() if callable(value) and hasattr(type(given), name)]
    if own:
        raise InvalidArgument(
            f"This {type(given).__name__} has a method of its own, {own[0]!r}. Write a class for it: an "
            "audit makes many like the one it is given."
        )


@contextlib.contextmanager
def _bar(name: str, runs: int, shown: bool) -> Iterator[Callable[[int], None]]:
    if not shown:
        yield lambda _: None
        return
    from discreet.simulation.progress import progress_bar

    with progress_bar(name, runs, shown=True, unit="runs") as bar:
        yield bar.advance
