"""The attack: choose a pair of neighbours and an event on some runs, and test that event on others."""

import bisect
import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from discreet.auditing.scores import Candidate, learned_scores
from discreet.auditing.statistics import best_event, loss_lower_bound
from discreet.auditing.target import Pair, seed_sequence
from discreet.checks import BoolArray, FloatArray, invalid_argument
from discreet.errors import InvalidArgument
from discreet.randomness import Seed

#: Each neighbour is run at least so often where pairs are compared, and so often in total.
LEAST_SCREENED, LEAST = 8, 64
#: Runs from which scores are learned, and with which pairs are compared, at most.
MOST_LEARNED, MOST_SCREENED = 20_000, 10_000
#: Rows that are made at once.
PART = 20_000
#: How much less noise the simulated power tries; runs of each simulated attack, at most.
FACTORS, MOST_SIMULATED = (1.05, 1.1, 1.15, 1.2, 1.3, 1.5, 2.0, 3.0), 400_000


class Found(NamedTuple):
    """What an attack proved."""

    lower_bound: float
    event: str
    pair: Pair
    hits: int
    false_alarms: int
    trials: int
    runs: int
    score: str


class Limits(NamedTuple):
    """What an attack may do, and what it must show."""

    runs: int
    delta: float
    confidence: float
    score: str | None
    seed: Seed | None

    def proved(self, hits: float, false_alarms: float, trials: int) -> float:
        """The epsilon that counts prove."""
        return float(
            loss_lower_bound(hits, false_alarms, trials, delta=self.delta, confidence=self.confidence)
        )


class Attack:
    """Runs of a target, each with a seed of its own if there is one, and what they show."""

    def __init__(
        self, target: Any, limits: Limits, advance: Callable[[int], object] = lambda count: None
    ) -> None:
        self._target, self._limits, self._advance = target, limits, advance
        self._seeds = None if limits.seed is None else seed_sequence(limits.seed)
        self._made = 0

    def on(self, pairs: list[Pair]) -> Found:
        """Prove as large a loss as possible on the pair that promises most."""
        wanted = self._limits.runs
        each = min(wanted, getattr(self._target, "most_runs", wanted)) // 2
        if each < LEAST:
            raise invalid_argument("audit", "runs", f"at least {2 * LEAST}", wanted)
        best, screened = pairs[0], 0
        if len(pairs) > 1:
            screened = max(LEAST_SCREENED, min(each // 4 // len(pairs), MOST_SCREENED))
            best = max(pairs, key=lambda pair: self._promise(pair, screened))
        return self._prove(best, max(LEAST, each - screened * len(pairs)))

    def _promise(self, pair: Pair, count: int) -> float:
        """How much an attack on a pair seems to prove; it decides nothing but where to look.

        With few runs it is the number of columns that tell the neighbours apart in all of them.
        """
        if count >= 2 * LEAST:
            return self._prove(pair, count).lower_bound
        return float(frozen_differences(*self._rows(pair, count)).sum())

    def _prove(self, pair: Pair, count: int) -> Found:
        """Learn scores on a quarter of the runs, choose one and an event on another, test it on the rest."""
        limits = self._limits
        learned, compared = min(count // 4, MOST_LEARNED), count // 4
        candidates = self._candidates(pair, *self._rows(pair, learned))
        events = [
            best_event(*scores, delta=limits.delta, confidence=limits.confidence)
            for scores in self._scores(pair, compared, candidates)
        ]
        best = max(range(len(events)), key=lambda k: events[k][0])
        chosen, event = candidates[best], events[best][1]
        tested = count - learned - compared
        [scores] = self._scores(pair, tested, [chosen])
        hits, alarms = event.counts(*scores)
        bound, about = limits.proved(hits, alarms, tested), f"{chosen.about}: {event}"
        return Found(bound, about, pair, hits, alarms, tested, self._made, chosen.kind)

    def _candidates(self, pair: Pair, first: FloatArray, second: FloatArray) -> list[Candidate]:
        target, wanted, found = self._target, self._limits.score, []
        ratio = getattr(target, "log_ratio", lambda first, second: None)
        exact = ratio(pair.first, pair.second) if wanted != "learned" else None
        if exact is not None:
            found.append(Candidate("log-likelihood ratio", "likelihood", exact))
        elif wanted == "likelihood":
            name = type(target).__name__
            raise InvalidArgument(f"The likelihoods of {name} are not known for these neighbours.")
        if wanted != "likelihood":
            found += learned_scores(first, second, getattr(target, "column", lambda j: f"column {j + 1}"))
        return found or [Candidate("nothing that differs", "learned", lambda rows: np.zeros(len(rows)))]

    def _rows(self, pair: Pair, count: int) -> tuple[FloatArray, FloatArray]:
        """So many rows of both neighbours, of the same width."""
        first, second = self._observe(pair.first, count), self._observe(pair.second, count)
        return padded(first, second.shape[1]), padded(second, first.shape[1])

    def _scores(self, pair: Pair, count: int, candidates: list[Candidate]) -> list[list[FloatArray]]:
        """For each candidate the scores of so many rows of both neighbours."""
        found = [[np.empty(count), np.empty(count)] for _ in candidates]
        for side, data in enumerate(pair[1:]):
            for start in range(0, count, PART):
                rows = self._observe(data, min(PART, count - start))
                for candidate, scores in zip(candidates, found, strict=True):
                    seen = np.nan_to_num(np.asarray(candidate.score(rows), dtype=np.float64), nan=-np.inf)
                    scores[side][start : start + PART] = seen
        return found

    def _observe(self, data: Any, count: int) -> FloatArray:
        seed = None if self._seeds is None else self._seeds.spawn(1)[0]
        seen = np.asarray(self._target.observe(data, count, seed), dtype=np.float64)
        if seen.ndim != 2 or len(seen) != count:
            raise InvalidArgument(
                f"The 'observe' of {type(self._target).__name__} must return one row for each of {count} "
                f"runs. Got shape {seen.shape} instead."
            )
        self._made += count
        self._advance(count)
        return seen


def found_factor(target: Any, found: Found, limits: Limits, claimed: float) -> float | None:
    """The smallest factor by which noise may be too small and such an attack would still refute the claim.

    Attacks on weaker noise are simulated, with fewer runs; counts are those of as many as this one had.
    Infinity if no factor is noticed; None if it is not known how to lessen the noise.
    """
    weaken = getattr(target, "weakened", None)
    if weaken is None or weaken(FACTORS[0]) is None:
        return None
    seed = None if limits.seed is None else seed_sequence(limits.seed).spawn(1)[0]
    score = "likelihood" if found.score == "likelihood" else limits.score
    fewer = limits._replace(runs=min(limits.runs, MOST_SIMULATED), seed=seed, score=score)

    def noticed(factor: float) -> bool:
        weak = Attack(weaken(factor), fewer).on([found.pair])
        scale = found.trials / weak.trials
        return limits.proved(scale * weak.hits, scale * (weak.false_alarms + 1), found.trials) > claimed

    place = bisect.bisect_left(FACTORS, True, key=noticed)
    return FACTORS[place] if place < len(FACTORS) else math.inf


def padded(rows: FloatArray, width: int) -> FloatArray:
    """Rows of at least this width; what is missing is not a number."""
    return np.pad(rows, ((0, 0), (0, max(0, width - rows.shape[1]))), constant_values=np.nan)


def frozen_differences(first: FloatArray, second: FloatArray) -> BoolArray:
    """Which columns have one value in all runs of one neighbour and another one in all runs of the other."""
    first, second = (np.nan_to_num(rows, nan=1e300) for rows in (first, second))
    telling: BoolArray = (
        (first == first[0]).all(axis=0) & (second == second[0]).all(axis=0) & (first[0] != second[0])
    )
    return telling
