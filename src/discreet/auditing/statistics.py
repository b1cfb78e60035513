"""What samples of a score prove about a privacy loss, with a stated confidence; and a test of random bits.

Privacy promises P_A(E) <= e^epsilon P_B(E) + delta for every event E and neighbours A and B. So each event
bounds epsilon from below by ln((P_A(E) - delta) / P_B(E)). The event is "the score is at least s" (or at most
s), with s chosen on runs that are not looked at again.
"""

import itertools
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.stats

from discreet.checks import FloatArray
from discreet.randomness import BitSource

#: Thresholds that are looked at when one is chosen.
CANDIDATES = 1001
#: 64-bit integers that are drawn to test a source of bits; the probability that a good one is refused.
DRAWN, FALSE_ALARM = 4096, 1e-9


class Event(NamedTuple):
    """What an audit looks for: a score beyond a threshold."""

    side: str  # which neighbour makes it more likely, "first" or "second"
    threshold: float
    above: bool  # at least the threshold, or else at most

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


def clopper_pearson(hits: npt.ArrayLike, trials: int, alpha: float) -> tuple[FloatArray, FloatArray]:
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
) -> FloatArray:
    """The epsilon that is proved by so many hits under one neighbour and false alarms under the other.

    Both are out of as many trials; 0 where they prove nothing.

    Examples:
        >>> round(float(loss_lower_bound(900, 100, 1000, delta=0.0, confidence=0.95)), 3)
        1.99
    """
    alpha = (1 - confidence) / 2  # the two bounds must hold at once
    least, most = clopper_pearson(hits, trials, alpha)[0], clopper_pearson(false_alarms, trials, alpha)[1]
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(least > delta, np.maximum(np.log((least - delta) / most), 0.0), 0.0)


def best_event(
    first: FloatArray, second: FloatArray, *, delta: float, confidence: float
) -> tuple[float, Event]:
    """The event that proves most on these scores, and about how much; to be tested on others."""
    trials = min(first.size, second.size)
    first, second = np.sort(first[:trials]), np.sort(second[:trials])
    pooled = np.concatenate((first, second))
    thresholds = np.unique(np.quantile(pooled, np.linspace(0, 1, CANDIDATES), method="nearest"))
    # Wider than the confidence asks for: of very many events that are tried, rare ones look good by chance.
    deviations = scipy.stats.norm.ppf(1 - (1 - confidence) / 2) + 1
    below = {"first": first, "second": second}
    best = (-np.inf, Event("first", float(thresholds[0]), above=True))
    for above, (side, other) in itertools.product((True, False), itertools.permutations(below)):
        hits, alarms = (
            trials - np.searchsorted(below[name], thresholds, "left")
            if above
            else np.searchsorted(below[name], thresholds, "right")
            for name in (side, other)
        )
        # About what `loss_lower_bound` gives, and much faster: good enough to choose by.
        ours, theirs = hits / trials, (alarms + 1) / (trials + 1)
        least = ours - deviations * np.sqrt(ours * (1 - ours) / trials + 1 / trials**2) - delta
        most = theirs + deviations * np.sqrt(theirs * (1 - theirs) / trials)
        bounds = np.log(np.maximum(least, 1e-12) / most)
        k = int(np.argmax(bounds))
        if bounds[k] > best[0]:
            best = float(bounds[k]), Event(side, float(thresholds[k]), above)
    return best


def proved_loss(
    first: FloatArray, second: FloatArray, *, delta: float = 0.0, confidence: float = 0.95
) -> float:
    """The epsilon that scores of runs under two neighbours prove.

    The event is chosen on the first half of the runs and tested on the second.

    Examples:
        >>> generator = np.random.default_rng(0)
        >>> proved_loss(generator.laplace(1.0, 1.0, 40_000), generator.laplace(0.0, 1.0, 40_000)) > 0.85
        True
    """
    half = min(first.size, second.size) // 2
    _, event = best_event(first[:half], second[:half], delta=delta, confidence=confidence)
    hits, false_alarms = event.counts(first[half : 2 * half], second[half : 2 * half])
    return float(loss_lower_bound(hits, false_alarms, half, delta=delta, confidence=confidence))


def fault_of_bits(source: BitSource) -> str | None:
    """What is wrong with a source of bits, or None. It is no test of cryptographic strength."""
    drawn = np.array([source.bits64() for _ in range(DRAWN)], dtype=np.uint64)
    if np.unique(drawn).size < DRAWN:  # of good bits, two in 8,192 integers are equal with probability 2e-12
        return "its source of bits repeats itself"
    if source.private:
        again = BitSource(fresh=source._fresh)
        other = np.array([again.bits64() for _ in range(DRAWN)], dtype=np.uint64)
        if np.intersect1d(drawn, other).size:
            return "a second source of bits made like its own gives the same bits"
    bits = np.unpackbits(drawn.view(np.uint8)).reshape(DRAWN, 64)
    counts = np.concatenate([bits.sum(axis=0), (bits[1:] ^ bits[:-1]).sum(axis=0)])
    low, high = (scipy.stats.binom.ppf(p, DRAWN - 1, 0.5) for p in (FALSE_ALARM / 256, 1 - FALSE_ALARM / 256))
    if counts.min() < low or counts.max() > high + 1:
        return "the bits of its source are not balanced, or follow each other"
    return None
