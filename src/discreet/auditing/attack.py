"""The attack: choose a pair of neighbours and an event on some runs, and test that event on others."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from discreet.auditing.scores import Candidate, learned_scores
from discreet.auditing.statistics import Event, best_event, loss_lower_bound
from discreet.auditing.target import Pair, seed_sequence
from discreet.checks import BoolArray, FloatArray, invalid_argument
from discreet.errors import InvalidArgument
from discreet.randomness import Seed

#: Each neighbour is run at least so often where pairs are compared, and so often in total.
LEAST_SCREENED, LEAST = 8, 64
#: Runs from which scores are learned, and with which they are compared, at most.
MOST_LEARNED, MOST_SCREENED = 20_000, 10_000
#: Rows that are made at once.
PART = 20_000

SCORES = (None, "likelihood", "learned")
#: How much less noise the simulated power tries, and how often.
FACTORS, REPEATS = (1.05, 1.1, 1.15, 1.2, 1.3, 1.5, 2.0, 3.0), 3


class Found(NamedTuple):
    """What an attack proved."""

    bound: float
    event: str
    hits: int
    false_alarms: int
    trials: int
    kind: str
    runs: int
    pair: Pair


class Limits(NamedTuple):
    """What an attack may do, and what it must show."""

    runs: int
    delta: float
    confidence: float
    score: str | None
    seed: Seed | None


def attack(
    target: Any, pairs: list[Pair], limits: Limits, advance: Callable[[int], None] = lambda _: None
) -> Found:
    """Prove as large a loss as possible on the pair that promises most."""
    each = min(limits.runs, getattr(target, "most_runs", limits.runs)) // 2
    if each < LEAST:
        raise invalid_argument("audit", "runs", f"at least {2 * LEAST}", limits.runs)
    runs = _Runs(target, limits.seed, advance)
    best, screened = pairs[0], 0
    if len(pairs) > 1:
        screened = max(LEAST_SCREENED, min(each // 4 // len(pairs), MOST_SCREENED))
        best = max(pairs, key=lambda pair: _promise(runs, pair, screened, limits))
    rest = max(LEAST, each - screened * len(pairs))
    learned = min(rest // 4, MOST_LEARNED)
    shown = runs.rows(best, learned)
    candidates = _candidates(target, best, *shown, limits.score)
    compared = rest // 4
    chosen, event = _best(candidates, runs.scores(best, compared, candidates), limits)
    tested = rest - learned - compared
    [scores] = runs.scores(best, tested, [chosen])
    hits, alarms = event.counts(*scores)
    bound = loss_lower_bound(hits, alarms, tested, delta=limits.delta, confidence=limits.confidence)
    about = f"{chosen.about}: {event}"
    return Found(float(bound), about, hits, alarms, tested, chosen.kind, runs.made, best)


def found_factor(target: Any, pair: Pair, limits: Limits, claimed: float) -> float | None:
    """The smallest factor by which noise may be too small and still be noticed in most of a few such attacks.

    Returns:
        One of FACTORS; infinity if none of them is noticed; None if it is not known how to lessen the noise.
    """
    weaken = getattr(target, "weakened", None)
    if weaken is None or weaken(1.5) is None:
        return None
    seeds = iter(seed_sequence(limits.seed).spawn(1)[0].spawn(REPEATS * len(FACTORS)))

    def noticed(factor: float) -> bool:
        weak = weaken(factor)
        found: list[bool] = []
        while abs(2 * sum(found) - REPEATS) <= REPEATS - len(found):  # not decided yet
            again = limits._replace(seed=None if limits.seed is None else next(seeds))
            found.append(attack(weak, [pair], again).bound > claimed)
        return 2 * sum(found) > REPEATS

    low, high = 0, len(FACTORS)
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if noticed(FACTORS[middle]) else (middle + 1, high)
    return FACTORS[low] if low < len(FACTORS) else float("inf")


class _Runs:
    """Runs of a target, each with a seed of its own if there is one."""

    def __init__(self, target: Any, seed: Seed | None, advance: Callable[[int], None]) -> None:
        self._target, self._advance = target, advance
        self._seeds = None if seed is None else seed_sequence(seed)
        self.made = 0

    def rows(self, pair: Pair, count: int) -> tuple[FloatArray, FloatArray]:
        """So many rows of both neighbours, of the same width."""
        first, second = (self._observe(data, count) for data in pair[1:])
        width = max(first.shape[1], second.shape[1])
        return _padded(first, width), _padded(second, width)

    def scores(self, pair: Pair, count: int, candidates: list[Candidate]) -> list[list[FloatArray]]:
        """For each candidate the scores of so many rows of both neighbours."""
        found: list[list[FloatArray]] = [[np.empty(count), np.empty(count)] for _ in candidates]
        for side, data in enumerate(pair[1:]):
            for start in range(0, count, PART):
                end = min(start + PART, count)
                rows = self._observe(data, end - start)
                for candidate, scores in zip(candidates, found, strict=True):
                    scores[side][start:end] = _scored(candidate, rows)
        return found

    def _observe(self, data: Any, count: int) -> FloatArray:
        seed = None if self._seeds is None else self._seeds.spawn(1)[0]
        seen = np.asarray(self._target.observe(data, count, seed), dtype=np.float64)
        if seen.ndim != 2 or len(seen) != count:
            raise InvalidArgument(
                f"The 'observe' of {type(self._target).__name__} must return one row for each of {count} "
                f"runs. Got shape {seen.shape} instead."
            )
        self.made += count
        self._advance(count)
        return seen


def _padded(rows: FloatArray, width: int) -> FloatArray:
    return np.pad(rows, ((0, 0), (0, width - rows.shape[1])), constant_values=np.nan)


def _promise(runs: _Runs, pair: Pair, count: int, limits: Limits) -> float:
    """How much an attack on a pair seems to prove; it decides nothing but where to look.

    Columns with one value in all runs of one neighbour and another in all runs of the other need few runs.
    For the rest there must be enough of them to choose an event on one half and look at the other.
    """
    first, second = runs.rows(pair, count)
    telling = int(frozen_differences(first, second).sum())
    half = count // 2
    if telling or half < LEAST:
        return 10.0 * min(telling, 1) + math.log1p(telling)
    candidates = _candidates(runs._target, pair, first[:half], second[:half], limits.score)
    scores = [[_scored(candidate, rows[:half]) for rows in (first, second)] for candidate in candidates]
    chosen, event = _best(candidates, scores, limits)
    counts = event.counts(*(_scored(chosen, rows[half:]) for rows in (first, second)))
    return float(loss_lower_bound(*counts, count - half, delta=limits.delta, confidence=0.5))


def frozen_differences(first: FloatArray, second: FloatArray) -> BoolArray:
    """Which columns have one value in all runs of one neighbour and another one in all runs of the other."""
    first, second = (np.nan_to_num(rows, nan=1e300) for rows in (first, second))
    telling: BoolArray = (
        (first == first[0]).all(axis=0) & (second == second[0]).all(axis=0) & (first[0] != second[0])
    )
    return telling


def _candidates(
    target: Any, pair: Pair, first: FloatArray, second: FloatArray, wanted: str | None
) -> list[Candidate]:
    ratio = getattr(target, "log_ratio", lambda first, second: None)
    exact = ratio(pair.first, pair.second) if wanted != "learned" else None
    found = [] if exact is None else [Candidate("log-likelihood ratio", "likelihood", exact)]
    if wanted == "likelihood" and exact is None:
        raise InvalidArgument(
            f"The likelihoods of {type(target).__name__} are not known for these neighbours."
        )
    if wanted != "likelihood":
        names = getattr(target, "column", lambda j: f"column {j + 1}")
        found += learned_scores(first, second, names)
    return found or [Candidate("nothing that differs", "learned", lambda rows: np.zeros(len(rows)))]


def _scored(candidate: Candidate, rows: FloatArray) -> FloatArray:
    return np.nan_to_num(np.asarray(candidate.score(rows), dtype=np.float64), nan=-np.inf)


def _best(
    candidates: list[Candidate], scores: list[list[FloatArray]], limits: Limits
) -> tuple[Candidate, Event]:
    events = [best_event(*pair, delta=limits.delta, confidence=limits.confidence) for pair in scores]
    best = max(range(len(events)), key=lambda k: events[k][0])
    return candidates[best], events[best][1]
