"""What samples of a score prove about a privacy loss, with a stated confidence.

If a mechanism is (epsilon, delta)-differentially private then for every event E and neighbours A and B,
P_A(E) <= e^epsilon P_B(E) + delta. So one event that is likely under A and unlikely under B bounds epsilon
from below by ln((P_A(E) - delta) / P_B(E)). The event is "the score is at least s" (or at most s); s is
chosen on runs that are not looked at again, and the bounds on the two probabilities are those of Clopper
and Pearson, which hold for every number of runs.
"""

from __future__ import annotations

import dataclasses
from typing import Literal, get_args

import numpy as np
import numpy.typing as npt
import scipy.stats

from discreet.checks import FloatArray

#: Thresholds that are looked at when one is chosen.
CANDIDATES = 2001

Side = Literal["first", "second"]


@dataclasses.dataclass(frozen=True)
class Event:
    """What an audit looks for: a score beyond a threshold.

    Attributes:
        side: Which neighbour makes it more likely.
        threshold: The least score that counts, or the largest.
        above: Which of the two.
    """

    side: Side
    threshold: float
    above: bool

    def counts(self, first: FloatArray, second: FloatArray) -> tuple[int, int]:
        """How often it happened, under the neighbour that makes it more likely and under the other."""
        ours, theirs = (
            int((scores >= self.threshold).sum() if self.above else (scores <= self.threshold).sum())
            for scores in (first, second)
        )
        return (ours, theirs) if self.side == "first" else (theirs, ours)

    def __str__(self) -> str:
        relation = "at least" if self.above else "at most"
        return f"score {relation} {self.threshold:.4g} (more likely under the {self.side} neighbour)"


def clopper_pearson(
    hits: npt.ArrayLike, trials: int, alpha: float
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """A lower and an upper bound on a probability; each fails with probability at most `alpha`.

    Examples:
        >>> low, high = clopper_pearson(0, 100, 0.05)
        >>> float(low), round(float(high), 4)
        (0.0, 0.0295)
    """
    k = np.asarray(hits, dtype=np.float64)
    with np.errstate(invalid="ignore"):
        low = np.where(k > 0, scipy.stats.beta.ppf(alpha, k, trials - k + 1), 0.0)
        high = np.where(k < trials, scipy.stats.beta.ppf(1 - alpha, k + 1, trials - k), 1.0)
    return low, high


def loss_lower_bound(
    hits: npt.ArrayLike, false_alarms: npt.ArrayLike, trials: int, *, delta: float, confidence: float
) -> npt.NDArray[np.float64]:
    """The epsilon that these counts prove, or 0 where they prove nothing.

    Args:
        hits: Runs under one neighbour in which the event happened.
        false_alarms: The same under the other.
        trials: Runs under each.
        delta: That of the claim.
        confidence: The bound is wrong with probability at most 1 - confidence.

    Examples:
        >>> round(float(loss_lower_bound(900, 100, 1000, delta=0.0, confidence=0.95)), 3)
        1.99
    """
    alpha = (1 - confidence) / 2  # the two bounds must hold at once
    least, _ = clopper_pearson(hits, trials, alpha)
    _, most = clopper_pearson(false_alarms, trials, alpha)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(least > delta, np.maximum(np.log((least - delta) / most), 0.0), 0.0)


def best_event(first: FloatArray, second: FloatArray, *, delta: float, confidence: float) -> Event:
    """The event that proves most on these scores; to be tested on others."""
    trials = min(first.size, second.size)
    first, second = np.sort(first[:trials]), np.sort(second[:trials])
    pooled = np.concatenate((first, second))
    thresholds = np.unique(np.quantile(pooled, np.linspace(0, 1, CANDIDATES), method="nearest"))
    best = (-1.0, Event("first", float(thresholds[0]), above=True))
    for above in (True, False):
        ours, theirs = (
            trials - np.searchsorted(scores, thresholds, "left")
            if above
            else np.searchsorted(scores, thresholds, "right")
            for scores in (first, second)
        )
        for side in get_args(Side):
            likely, other = (ours, theirs) if side == "first" else (theirs, ours)
            bounds = loss_lower_bound(likely, other, trials, delta=delta, confidence=confidence)
            k = int(np.argmax(bounds))
            best = max(best, (float(bounds[k]), Event(side, float(thresholds[k]), above)), key=lambda b: b[0])
    return best[1]


def proved_loss(
    first: FloatArray, second: FloatArray, *, delta: float = 0.0, confidence: float = 0.95
) -> float:
    """The epsilon that scores of runs under two neighbours prove.

    The event is chosen on the first half of the runs and tested on the second, which it has not seen.

    Examples:
        >>> generator = np.random.default_rng(0)
        >>> proved_loss(generator.laplace(1.0, 1.0, 40_000), generator.laplace(0.0, 1.0, 40_000)) > 0.85
        True
    """
    half = min(first.size, second.size) // 2
    event = best_event(first[:half], second[:half], delta=delta, confidence=confidence)
    hits, false_alarms = event.counts(first[half : 2 * half], second[half : 2 * half])
    return float(loss_lower_bound(hits, false_alarms, half, delta=delta, confidence=confidence))


def least_found(
    claimed: float, frequency: float, trials: int, *, delta: float, confidence: float, power: float = 0.9
) -> float:
    """The smallest loss at an event of this frequency that an audit of this size finds.

    Args:
        claimed: What the bound must exceed.
        frequency: How often the event happens under the neighbour that makes it more likely.
        trials: Runs under each.
        delta: That of the claim.
        confidence: Of the audit.
        power: With at least this probability it is found.

    Returns:
        The loss, or infinity if no loss would be found at an event so rare.

    Examples:
        >>> round(least_found(1.0, 0.5, 250_000, delta=0.0, confidence=0.95), 3)
        1.023
    """

    def finds(loss: float) -> bool:
        # Both counts at the unlucky end of what has probability `power`.
        unlucky = (1 - power) / 2
        other = max(frequency - delta, 0.0) * np.exp(-loss)
        hits = scipy.stats.binom.ppf(unlucky, trials, frequency)
        alarms = scipy.stats.binom.ppf(1 - unlucky, trials, other)
        bound = loss_lower_bound(hits, alarms, trials, delta=delta, confidence=confidence)
        return bool(bound > claimed)

    low, high = claimed, claimed + 40.0
    if not finds(high):
        return float("inf")
    while high - low > 1e-4 * max(1.0, high):
        middle = (low + high) / 2
        low, high = (low, middle) if finds(middle) else (middle, high)
    return high
