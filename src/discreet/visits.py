"""How often people come back, and how many of their rounds are left to learn from with a cap."""

from __future__ import annotations

import collections
import dataclasses
import functools
from collections.abc import Iterable, Mapping
from fractions import Fraction

import numpy as np
from scipy.stats import binom

from discreet import checks
from discreet.checks import FloatArray, IntArray
from discreet.privacy.noise import laplace, sample
from discreet.privacy.rational import privacy_loss
from discreet.randomness import BitSource

#: Caps beyond this are not looked at: each round would have next to no epsilon.
MOST_ROUNDS = 100
#: Shares of all rounds, at which it is computed how much was learned from.
_MOMENTS = np.linspace(0.0, 1.0, 21) ** 2


@dataclasses.dataclass(frozen=True, eq=False)
class Visits:
    """In how many rounds people appear, over all of them.

    Attributes:
        counts: Numbers of rounds.
        shares: Of the people who appear in so many.
    """

    counts: IntArray
    shares: FloatArray

    @classmethod
    def of(cls, owner: str, visits: float | Mapping[int, float] | Iterable[int]) -> Visits:
        """From a number for each person, from how many people have each number, or from the mean.

        With a mean alone the law is taken for a geometric one: whoever came may always come again.

        Examples:
            >>> made = Visits.of("plan", [1, 1, 2, 4])
            >>> made.mean, [made.share(cap) for cap in (1, 2, 4)]
            (2.0, [0.5, 0.75, 1.0])
        """
        if isinstance(visits, int | float | np.number):
            mean = checks.finite_number(owner, "visits", visits)
            if mean < 1:
                raise checks.invalid_argument(owner, "visits", "a mean of at least 1", mean)
            counts = np.arange(1, max(2, int(10 * mean)))
            return cls(counts, _normal(np.power(1 - 1 / mean, counts - 1.0)))
        found = visits if isinstance(visits, Mapping) else collections.Counter(visits)
        wanted = "a mean, a number of rounds for each person, or how many people have each number"
        try:
            counts = np.array([int(count) for count in found], dtype=np.int64)
            people = np.array([float(found[count]) for count in found])
            sound = all(count == int(count) >= 1 for count in found) and np.isfinite(people).all()
        except (TypeError, ValueError, OverflowError):
            sound = False
        if not sound or people.min(initial=0) < 0 or people.sum() == 0:
            raise checks.invalid_argument(owner, "visits", wanted)  # not quoted: it may be somebody's
        return cls(counts, _normal(people))

    @property
    def mean(self) -> float:
        """Rounds per person."""
        return float(self.counts @ self.shares)

    @property
    def most(self) -> int:
        """Rounds of the person with the most."""
        return int(self.counts[self.shares > 0].max())

    @property
    def caps(self) -> list[int]:
        """Caps that are worth a look, from 1 to the most rounds of a person."""
        tried = {1, 2, 3, 4, *(round(1.4**j) for j in range(4, 14)), MOST_ROUNDS, self.most}
        return sorted(cap for cap in tried if cap <= min(self.most, MOST_ROUNDS))

    @functools.cached_property
    def _learned(self) -> FloatArray:
        """The share of all rounds that are learned from, by cap and moment.

        People come back evenly over the rounds, so early on nearly everybody is new.
        """
        below = np.arange(min(MOST_ROUNDS, self.most))[:, None, None]
        more = binom.sf(below, self.counts[:, None], _MOMENTS)  # by cap, count and moment
        learned: FloatArray = np.einsum("kcm,c->km", more, self.shares).cumsum(axis=0) / self.mean
        return learned

    def share(self, cap: int) -> float:
        """The share of all rounds that are learned from, of each person the first `cap`."""
        return float(self._learned[min(cap, len(self._learned)) - 1, -1])

    def until(self, needed: float, cap: int, rounds: int) -> float:
        """After how many rounds so many were learned from; `rounds` are what the visits are of."""
        learned = self._learned[min(cap, len(self._learned)) - 1] * rounds
        if needed > learned[-1]:
            return rounds * needed / float(learned[-1])
        return rounds * float(np.interp(needed, learned, _MOMENTS))


def noisy_visits(
    rounds: Iterable[int], epsilon: float | Fraction, *, most: int = 20, source: BitSource | None = None
) -> dict[int, int]:
    """How many people appear in 1, 2, ..., `most` rounds, with noise: visits from which a plan may be made.

    Args:
        rounds: Of each person; whoever has more than `most` counts as having so many.
        epsilon: What a person loses by it, besides what they lose to learners.
        most: Declared beforehand.
        source: Random bits, for experiments.

    Formal guarantees:
        Neighbours: data that differ in one person, who may be missing. Two numbers of people change by one at
        most, and each gets discrete Laplace noise of scale 2 / epsilon. Then negative ones become 0. Proof:
        `docs/guarantees.md#slots`.

    Examples:
        >>> sorted(noisy_visits([1, 1, 2, 7, 30], epsilon=1.0, most=5))
        [1, 2, 3, 4, 5]
    """
    cells = np.zeros(checks.integer("noisy_visits", "most", most, 1, 10_000), dtype=np.int64)
    for count in rounds:
        cells[min(max(int(count), 1), most) - 1] += 1
    law = laplace(2 / privacy_loss("noisy_visits", "epsilon", epsilon))
    noisy = cells + sample(law, most, source or BitSource())
    return {k + 1: max(0, number) for k, number in enumerate(noisy.tolist())}


def _normal(weights: FloatArray) -> FloatArray:
    normal: FloatArray = np.divide(weights, weights.sum())
    return normal
