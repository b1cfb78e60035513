"""What the model believes, given what was released: laws of the costs of sets and of what items bring."""

import math

import numpy as np

from discreet.checks import FloatArray
from discreet.policies.gaussian_process import Covariance, Means, Posterior, Scales
from discreet.policies.gaussian_process import fitted as fitted_scales
from discreet.policies.memory import Seen
from discreet.policies.model_state import BEFORE, ROUNDS, ItemFeedback, ModelState, Noise
from discreet.policies.parts import PartMeans, Parts, PartScales, fitted_parts

#: The scales are fitted to so many sets, whenever the rounds have grown by a third.
FIT, FIT_AGAIN = 200, 1.3
#: The part of all orders has at least this size, in halves of the range: sets speak for themselves. It is
#: reached slowly, after `SPOKEN` times the rounds that show a set clearly. Scouts believe in more at once.
ORDERS, SPOKEN, SCOUTED = 0.05, 600, 0.2
#: No slot adds more than this to the test for a change; the smaller one where Laplace noise prevails, which
#: has heavier tails.
CAP, NOISY_CAP = 49.0, 9.0
#: One or two slots must add more than this: single means are off more often than many together.
FAR_OUT = 36.0
#: The rounds of the first phase where sums are released of what items brought: so many times the deviation of
#: one, in parts of the declared total.
FIRST_ROUNDS = 200.0


class Beliefs:
    """For sets of n items, given the noise of releases and what is told of items.

    There are so many `segments`; 0 where there are none.
    """

    def __init__(self, n: int, noise: Noise, items: ItemFeedback | None, segments: int) -> None:
        self.n, self._covariance = n, Covariance(n)
        self._noise, self._items, self._segments = noise, items, segments
        #: Rounds after which the mean of a set is known to about a fourth of the range; better if there are
        #: many items to tell apart.
        deviations = min(max(3.0, 2 + n / 8), 4.0)
        self.clear = max(8.0, deviations * math.sqrt(8 * noise.sum), 14 * noise.cost)
        if items is not None:
            self.clear = max(8.0, first_rounds(items) / 20)

    def fitted(self, state: ModelState) -> ModelState:
        """The state with scales that fit what was released."""
        if self._items is not None:
            of_items = _part_means(self._items, state.seen.played())
            part_scales = fitted_parts(of_items, PartScales(*state.part_scales))
            state = state._replace(part_scales=np.array(part_scales))
        observed = self.means(state.seen.played()).heaviest(FIT)
        first, variance = Scales(*state.scales), self._fits_variance()
        scales = fitted_scales(self._covariance, observed, first, variance, self.parts(state))
        return state._replace(scales=np.array(scales))

    def parts(self, state: ModelState) -> Parts | None:
        """What is known of what items bring."""
        if self._items is None:
            return None
        observed = _part_means(self._items, state.seen.played())
        return Parts(observed, PartScales(*state.part_scales))

    def surprised(self, state: ModelState, new: Seen) -> bool:
        """Whether what was released of a phase is too far from what the model expected of it."""
        of_it = state.seen.segments == new.segments[0]
        if new.rounds.sum() < self.clear or not (state.seen.known & of_it).any():
            return False
        means, posterior = self.means(new), self.posterior(state)
        expected, variance = posterior.predicted(new.signs)
        # The largest variance of costs with that mean: what was fitted is for all sets, from few at first.
        variance += means.per_cost * (1 - np.clip(expected, -1.0, 1.0) ** 2) + means.noise
        squares = _surprise(means.means - expected, variance, self._noise.sum / new.rounds**2)
        parts = posterior.parts
        if parts is not None and self._items is not None:
            told = _part_means(self._items, new)
            expected, variance = parts.predicted(told, self._items.total)
            variance += told.noise[:, None]
            laplace = np.broadcast_to((self._items.noise / new.rounds**2)[:, None], variance.shape)
            of_items = _surprise(told.means - expected, variance, laplace)
            squares = np.append(squares, of_items[told.members > 0])
        number = squares.size
        most = number + 4 * math.sqrt(2 * number) + 8 if number > 2 else FAR_OUT
        return bool(squares.sum() > most)

    def posterior(self, state: ModelState, orders: float = 0.0) -> Posterior:
        """What is known; the part of all orders has at least this size."""
        episode = state.counts[ROUNDS] - state.counts[BEFORE]
        least = max(orders, ORDERS * min(1.0, episode / (SPOKEN * self.clear)))
        scales = Scales(*state.scales)
        scales = scales._replace(orders=max(scales.orders, least / scales.items))
        aims = np.vstack((state.segments.weights, np.eye(self._segments))) if self._segments else None
        means = self.means(state.seen.played())
        return Posterior(self._covariance, means, scales, self.parts(state), aims)

    def means(self, seen: Seen) -> Means:
        noise = self._noise.cost / seen.rounds + self._noise.sum * seen.releases / seen.rounds**2
        per_cost = 1 / seen.rounds if self._fits_variance() else np.zeros(seen.rounds.size)
        segments = seen.segments.astype(np.int64) if self._segments else None
        return Means(seen.signs, seen.totals / seen.rounds, per_cost, noise, segments)

    def _fits_variance(self) -> bool:
        """Bits have all the variance they can have already."""
        return self._noise.cost == 0.0


def _surprise(error: FloatArray, variance: FloatArray, laplace: FloatArray) -> FloatArray:
    """Squared deviations, capped; so much of the variance is that of Laplace noise."""
    return np.minimum(error**2 / variance, np.where(laplace > 0.5 * variance, NOISY_CAP, CAP))


def _part_means(items: ItemFeedback, seen: Seen) -> PartMeans:
    rounds, noise = seen.rounds, items.noise * seen.releases / seen.rounds**2
    return PartMeans((seen.signs + 1) / 2, seen.parts / rounds[:, None], 1 / rounds, noise)


def first_rounds(items: ItemFeedback) -> float:
    """After so many rounds it is known about well enough what items bring."""
    return FIRST_ROUNDS * math.sqrt(items.noise) / items.total
