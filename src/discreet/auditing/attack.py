"""The attack itself: run both neighbours, choose an event on one half of the runs, test it on the other."""

from __future__ import annotations

import dataclasses
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np

from discreet import checks
from discreet.auditing.report import Audit
from discreet.auditing.scores import ScoreKind, checked_kind, exact_score, trained_score, value_score
from discreet.auditing.statistics import Event, best_event, least_found, loss_lower_bound
from discreet.auditing.target import Score, Target
from discreet.checks import FloatArray
from discreet.errors import InvalidArgument
from discreet.privacy.guarantee import Guarantee
from discreet.randomness import Seed
from discreet.simulation.progress import Bar, progress_bar

#: Each neighbour is run in so many parts, by which progress is shown; a quarter of them train, a quarter
#: choose the event, and half test it.
PARTS = 16
#: Each neighbour is run at least so often.
LEAST_TRIALS = 4 * PARTS
#: More runs than this are cut into more parts.
LARGE = 200_000

#: Data, how many runs, and their seed.
Job = tuple[Any, int, Seed | None]


class Found(NamedTuple):
    """What one pair of neighbours showed."""

    bound: float
    event: Event
    hits: int
    false_alarms: int
    trials: int
    kind: ScoreKind


def attack(
    target: Target,
    pairs: list[tuple[Any, Any]],
    *,
    name: str,
    runs: int,
    confidence: float,
    delta: float | None,
    score: str | None,
    seed: Seed | None,
    workers: int,
    progress: bool,
) -> Audit:
    """Audit a target on pairs of neighbours; see :func:`discreet.audit`."""
    if not pairs:
        raise InvalidArgument("An audit needs at least one pair of neighbours. Got none.")
    began = time.perf_counter()
    claim = stated(target.claim(), delta)
    assert claim.epsilon is not None
    trials = runs // (2 * len(pairs))
    if trials < LEAST_TRIALS:
        least = 2 * LEAST_TRIALS
        raise checks.invalid_argument("audit", "runs", f"at least {least} for each pair of neighbours", runs)
    # Several bounds must hold at once, so each gets its share of the risk.
    each = 1 - (1 - confidence) / len(pairs)
    seeds = seed_sequence(seed)
    with progress_bar(name, 2 * trials * len(pairs), shown=progress, unit="runs") as bar:
        found = [
            _one_pair(target, pair, trials, claim.delta, each, score, seed, seeds.spawn(1)[0], workers, bar)
            for pair in pairs
        ]
    best = max(found, key=lambda entry: entry.bound)
    return Audit(
        name=name,
        claimed=claim.epsilon,
        delta=claim.delta,
        lower_bound=best.bound,
        confidence=confidence,
        event=_words(best),
        hits=best.hits,
        false_alarms=best.false_alarms,
        trials=best.trials,
        runs=2 * trials * len(pairs),
        score=best.kind,
        pairs=len(pairs),
        least_found=float("inf")
        if best.hits == best.false_alarms == best.trials  # it always happens: nothing was told apart
        else least_found(
            claim.epsilon, best.hits / best.trials, best.trials, delta=claim.delta, confidence=each
        ),
        neighbours=claim.neighbours.value,
        seconds=time.perf_counter() - began,
    )


def seed_sequence(seed: Seed | None) -> np.random.SeedSequence:
    """A seed of any kind as one from which others are spawned."""
    if isinstance(seed, np.random.SeedSequence):
        return np.random.SeedSequence(seed.entropy, spawn_key=seed.spawn_key)
    try:
        return np.random.SeedSequence(seed)
    except (TypeError, ValueError):
        raise checks.invalid_argument(
            "audit", "seed", "a whole number of at least 0, or several", seed
        ) from None


def stated(claim: Guarantee, delta: float | None) -> Guarantee:
    """The claim in epsilon and delta; what is claimed in rho is restated for `delta`."""
    if claim.epsilon is not None and (delta is None or delta == claim.delta or claim.rho is None):
        if delta is not None and delta < claim.delta:
            raise checks.invalid_argument("audit", "delta", f"at least the claimed {claim.delta:g}", delta)
        return dataclasses.replace(claim, delta=max(claim.delta, delta or 0.0))
    return claim.at_delta(1e-5 if delta is None else delta)


def _one_pair(
    target: Target,
    pair: tuple[Any, Any],
    trials: int,
    delta: float,
    confidence: float,
    wanted: str | None,
    seed: Seed | None,
    seeds: np.random.SeedSequence,
    workers: int,
    bar: Bar,
) -> Found:
    exact = exact_score(target, *pair)
    kind = checked_kind(wanted, target, exact)
    parts = PARTS * max(1, trials // LARGE)  # small enough for Ctrl-C
    sizes = np.diff(np.linspace(0, trials, parts + 1).astype(int)).tolist()
    jobs: list[Job] = [
        (data, size, None if seed is None else child)
        for (data, size), child in zip(
            [(data, size) for size in sizes for data in pair], seeds.spawn(2 * parts), strict=True
        )
    ]
    stop = threading.Event()

    def observe(job: Job, score: Score | None) -> FloatArray:
        if stop.is_set():
            raise KeyboardInterrupt
        seen = np.asarray(target.observe(*job), dtype=np.float64)
        if seen.ndim != 2 or len(seen) != job[1]:
            raise InvalidArgument(
                f"The 'observe' of {type(target).__name__} must return one row for each of {job[1]} runs. "
                f"Got shape {seen.shape} instead."
            )
        bar.advance(job[1])
        # What is no number is below any other, wherever it is looked at.
        return seen if score is None else np.nan_to_num(score(seen), nan=-np.inf)

    def all_of(part: list[Job], score: Score | None) -> list[FloatArray]:
        if workers == 1:
            rows = [observe(job, score) for job in part]
        else:
            with ThreadPoolExecutor(workers) as pool:
                try:
                    rows = list(pool.map(lambda job: observe(job, score), part))
                except BaseException:
                    stop.set()  # the pool waits for its threads
                    raise
        return [np.concatenate(rows[side::2]) for side in range(2)]

    quarter, half = 2 * (parts // 4), 2 * (parts // 2)
    if kind == "classifier":
        first, second = all_of(jobs[:quarter], None)
        score: Score = trained_score(first, second, threads=workers)
        chosen_on = all_of(jobs[quarter:half], score)
    else:
        score = exact if kind == "likelihood" and exact is not None else value_score
        chosen_on = all_of(jobs[:half], score)
    event = best_event(*chosen_on, delta=delta, confidence=confidence)
    tested_on = all_of(jobs[half:], score)
    hits, alarms = event.counts(*tested_on)
    tested = min(len(scores) for scores in tested_on)
    bound = float(loss_lower_bound(hits, alarms, tested, delta=delta, confidence=confidence))
    return Found(bound, event, hits, alarms, tested, kind)


def _words(found: Found) -> str:
    names = {"likelihood": "log-likelihood ratio", "classifier": "trained score", "value": "released value"}
    return str(found.event).replace("score", names[found.kind], 1)
