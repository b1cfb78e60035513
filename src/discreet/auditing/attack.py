"""The attack: choose a pair of neighbours and an event on some runs, and test that event on others."""

import bisect
import dataclasses
import math
from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

import numpy as np

from discreet.auditing.scores import Candidate, learned_scores
from discreet.auditing.statistics import best_event, loss_lower_bound
from discreet.checks import BoolArray, FloatArray, invalid_argument
from discreet.errors import InvalidArgument
from discreet.privacy.guarantee import Guarantee
from discreet.randomness import Seed

#: Each neighbour is run at least so often where pairs are compared, and so often in total.
LEAST_SCREENED, LEAST = 8, 64
#: Runs from which scores are learned, and with which pairs are compared, at most.
MOST_LEARNED, MOST_SCREENED = 20_000, 10_000
#: Rows that are made at once.
PART = 20_000
#: How much less noise the simulated power tries; runs of each simulated attack, at most.
FACTORS, MOST_SIMULATED = (1.05, 1.1, 1.15, 1.2, 1.3, 1.5, 2.0, 3.0), 400_000


class Target(Protocol):
    """Something that claims to be private and can be run many times.

    Optional methods make an audit stronger: `pairs()`, a list of `Pair` to try, instead of `neighbours`;
    `log_ratio(first, second)`, the exact log-likelihood ratio as a function of rows, or None;
    `weakened(factor)`, the same target with that much less noise, for simulating power; and `column(index)`,
    the name of a column.

    Examples:
        >>> import discreet
        >>> class Shown:
        ...     claim = lambda self: discreet.privacy.Guarantee(epsilon=1.0)
        ...     neighbours = lambda self: (0, 9)
        ...     observe = lambda self, data, runs, seed: data + np.random.default_rng(seed).random((runs, 1))
        >>> discreet.audit(Shown(), runs=2000, seed=1).passed
        False
    """

    def claim(self) -> Guarantee:
        """What is promised: the epsilon (and delta) that the audit tries to refute."""

    def neighbours(self) -> tuple[Any, Any]:
        """Two inputs between which nobody should be able to tell."""

    def observe(self, data: Any, runs: int, seed: Seed | None) -> FloatArray:
        """Run it on `data` so many times, independently; one row per run of all that an observer sees.

        With a seed the rows are the same again; without, noise is what it is in production.
        """


class Pair(NamedTuple):
    """Two neighbouring inputs, and what they are.

    Examples:
        >>> Pair("both ends of the range", 0.0, 1.0).about
        'both ends of the range'
    """

    about: str
    first: Any
    second: Any


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


@dataclasses.dataclass
class Attack:
    """Runs of a target, each with a seed of its own if there is one, and what they show."""

    target: Any
    runs: int
    delta: float
    confidence: float
    score: str | None
    seed: Seed | None
    advance: Callable[[int], object] = lambda count: None

    def __post_init__(self) -> None:
        self._seeds = None if self.seed is None else seed_sequence(self.seed)
        self._made = 0

    def on(self, pairs: list[Pair]) -> Found:
        """Prove as large a loss as possible on the pair that promises most."""
        each = min(self.runs, getattr(self.target, "most_runs", self.runs)) // 2
        if each < LEAST:
            raise invalid_argument("audit", "runs", f"at least {2 * LEAST}", self.runs)
        best, screened = pairs[0], 0
        if len(pairs) > 1:
            screened = max(LEAST_SCREENED, min(each // 4 // len(pairs), MOST_SCREENED))
            best = max(pairs, key=lambda pair: self._promise(pair, screened))
        return self._prove(best, max(LEAST, each - screened * len(pairs)))

    def found_factor(self, found: Found, claimed: float) -> float | None:
        """The smallest factor by which noise may be too small for such an attack to refute the claim.

        Attacks on weaker noise are simulated, with fewer runs and the counts of as many as this one had.
        Infinity if no factor is noticed; None if it is not known how to lessen the noise.
        """
        weaken = getattr(self.target, "weakened", None)
        if weaken is None or weaken(FACTORS[0]) is None:
            return None
        seed = None if self.seed is None else seed_sequence(self.seed).spawn(1)[0]
        score = "likelihood" if found.score == "likelihood" else self.score
        runs = min(self.runs, MOST_SIMULATED)

        def noticed(factor: float) -> bool:
            weak = Attack(weaken(factor), runs, self.delta, self.confidence, score, seed).on([found.pair])
            scale = found.trials / weak.trials
            return self._proved(scale * weak.hits, scale * (weak.false_alarms + 1), found.trials) > claimed

        place = bisect.bisect_left(FACTORS, True, key=noticed)
        return FACTORS[place] if place < len(FACTORS) else math.inf

    def _promise(self, pair: Pair, count: int) -> float:
        """How much an attack on a pair seems to prove; it decides nothing but where to look.

        With few runs it is the number of columns that tell the neighbours apart in all of them.
        """
        if count >= 2 * LEAST:
            return self._prove(pair, count).lower_bound
        return float(frozen_differences(*self._rows(pair, count)).sum())

    def _prove(self, pair: Pair, count: int) -> Found:
        """Learn scores on a quarter of the runs, choose one and an event on another, test it on the rest."""
        learned, compared = min(count // 4, MOST_LEARNED), count // 4
        candidates = self._candidates(pair, *self._rows(pair, learned))
        events = [
            best_event(*scores, delta=self.delta, confidence=self.confidence)
            for scores in self._scores(pair, compared, candidates)
        ]
        best = max(range(len(events)), key=lambda k: events[k][0])
        chosen, event = candidates[best], events[best][1]
        tested = count - learned - compared
        [scores] = self._scores(pair, tested, [chosen])
        hits, alarms = event.counts(*scores)
        bound, about = self._proved(hits, alarms, tested), f"{chosen.about}: {event}"
        return Found(bound, about, pair, hits, alarms, tested, self._made, chosen.kind)

    def _proved(self, hits: float, alarms: float, trials: int) -> float:
        return float(loss_lower_bound(hits, alarms, trials, delta=self.delta, confidence=self.confidence))

    def _candidates(self, pair: Pair, first: FloatArray, second: FloatArray) -> list[Candidate]:
        target, found = self.target, []
        exact = None
        if self.score != "learned" and hasattr(target, "log_ratio"):
            exact = target.log_ratio(pair.first, pair.second)
        if exact is not None:
            found.append(Candidate("log-likelihood ratio", "likelihood", exact))
        elif self.score == "likelihood":
            name = type(target).__name__
            raise InvalidArgument(f"The likelihoods of {name} are not known for these neighbours.")
        if self.score != "likelihood":
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
        seen = np.asarray(self.target.observe(data, count, seed), dtype=np.float64)
        if seen.ndim != 2 or len(seen) != count:
            wanted, name = f"return one row for each of {count} runs", type(self.target).__name__
            raise InvalidArgument(f"The 'observe' of {name} must {wanted}. Got shape {seen.shape} instead.")
        self._made += count
        self.advance(count)
        return seen


def seed_sequence(seed: Seed) -> np.random.SeedSequence:
    """A seed of any kind as one of which nothing was spawned yet."""
    if isinstance(seed, np.random.SeedSequence):
        return np.random.SeedSequence(seed.entropy, spawn_key=seed.spawn_key)
    try:
        return np.random.SeedSequence(seed)
    except (TypeError, ValueError):
        raise invalid_argument("audit", "seed", "an integer of at least 0, or several", seed) from None


def padded(rows: FloatArray, width: int) -> FloatArray:
    """Rows of at least this width; what is missing is not a number."""
    return np.pad(rows, ((0, 0), (0, max(0, width - rows.shape[1]))), constant_values=np.nan)


def frozen_differences(first: FloatArray, second: FloatArray) -> BoolArray:
    """Which columns have one value in all runs of one neighbour and another one in all runs of the other."""
    first, second = (np.nan_to_num(rows, nan=1e300) for rows in (first, second))
    frozen = (first == first[0]).all(axis=0) & (second == second[0]).all(axis=0)
    return np.asarray(frozen & (first[0] != second[0]))
