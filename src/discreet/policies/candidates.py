"""Which sets a phase of the model has: the best one, drawn ones, and scouts; and for how long each."""

import math

import numpy as np

from discreet.checks import BoolArray, FloatArray, IntArray
from discreet.constraints import Constraints
from discreet.policies.beliefs import SCOUTED, Beliefs, first_rounds
from discreet.policies.gaussian_process import Scales
from discreet.policies.model_state import BEFORE, ROUNDS, ItemFeedback, ModelState, Noise

#: A phase has this share of the rounds before it, the smaller one after `SLOWER` rounds.
GROWTH, LATER_GROWTH, SLOWER = 0.2, 0.1, 20_000
#: No phase is longer than this (but for tiny epsilon: see `Phase`).
LONGEST = 1 << 18
#: Other sets than the best and the drawn ones have at most this share of a phase.
OTHERS = 0.1
#: Scouts are sent blindly while an episode has fewer rounds than this, times those that show a set clearly,
#: and later in this share of phases.
BLIND, OFTEN = 160, 0.2
#: Where sums are released of what items brought, these take the place of GROWTH, of the distance of drawn
#: functions, and of OTHERS.
ITEMS_GROWTH, ITEMS_FACTOR, ITEMS_OTHERS = 0.3, 0.1, 0.03


class Candidates:
    """For the items of these beliefs. Other arguments are as of `Model`."""

    def __init__(
        self,
        beliefs: Beliefs,
        noise: Noise,
        items: ItemFeedback | None,
        constraints: Constraints | None,
        half_life: float | None,
    ) -> None:
        self.n, self._clear = beliefs.n, beliefs.clear
        self._beliefs, self._constraints, self._half_life = beliefs, constraints, half_life
        #: Drawn functions are this far from the expected one, relative to what is believed.
        self.factor = 0.4 if noise.cost else 0.5
        self._draws, self._scouts = (14, 2) if noise.cost else (4, 1)
        #: Bits cost the same in many short phases; noise on sums does not.
        self._shortest, self._growth = (2.0, LATER_GROWTH) if noise.cost else (4.0, GROWTH)
        self._others = OTHERS
        #: How long the best known set is played, times one that was drawn; whether all items come first.
        self._beside, self._each_first = self._draws / 2, False
        if items is not None:
            # Every slot costs every one of its items its noise: few of them, and long ones.
            self._shortest, self._growth = first_rounds(items) / self._clear, ITEMS_GROWTH
            self._draws, self.factor, self._others = 1, ITEMS_FACTOR, ITEMS_OTHERS
            self._beside, self._each_first = 0.0, True

    def sets(self, state: ModelState, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
        """Sets for a phase, the best one first, and for how many rounds each is played at most."""
        draws, known, among = self._draws, state.seen.known.any(), self._constraints
        ends = allowed(np.array([np.ones(self.n), -np.ones(self.n)]), among, rng)
        best = np.where(state.x > 0.5, 1.0, -1.0)[None]
        some = allowed(random_sets(1 if known else draws + 4, self.n, rng), among, rng)
        starts = np.concatenate((best, ends, some))
        first = self._with_new_items(state, rng) if self._each_first else starts[: 0 if known else None]
        if len(first):
            first = distinct(first)
            return first, np.full(len(first), np.inf)
        episode = self._experience(state)
        blindly = episode < BLIND * self._clear or rng.random() < OFTEN
        factors = np.array([self.factor] * draws + [1.0] * 4)
        drawn = self._beliefs.posterior(state).drawn(factors, rng).least(starts, among)
        parts = [
            (np.concatenate((best[: int(self._beside > 0)], drawn[:draws])), np.inf),
            (drawn[draws:], max(self._clear, self._length(state) / 50)),
            (self._scouting(state, best[0], blindly, rng), self._clear),
            (ends if episode < 8 * self._clear else ends[:0], self._clear),
            (self._blind(best[0], rng, int(blindly)), self._clear / 2),
        ]
        sets = distinct(np.concatenate([part for part, _ in parts]))
        limits = {signs.tobytes(): limit for part, limit in reversed(parts) for signs in part}
        most = np.array([limits[signs.tobytes()] for signs in sets])
        others = rng.permutation(np.flatnonzero(np.isfinite(most)))
        before = np.cumsum(most[others]) - most[others]
        some = others[before < self._others * self._length(state)]
        kept = np.sort(np.append(np.flatnonzero(np.isinf(most)), some))
        return sets[kept], most[kept]

    def _with_new_items(self, state: ModelState, rng: np.random.Generator) -> FloatArray:
        """Allowed sets that have every item of which nothing is known yet, if it can be shown."""
        among = self._constraints or Constraints(self.n, self.n)
        left = ~(state.seen.signs[state.seen.known] > 0).any(axis=0)
        sets = np.zeros((0, self.n), dtype=np.bool_)
        while True:
            chosen = among.repaired(np.ones((1, self.n)) > 0, (rng.random(self.n) - left)[None])
            if not chosen[0, left].any():
                return np.where(sets, 1.0, -1.0)
            sets, left = np.concatenate((sets, chosen)), left & ~chosen[0]

    def _scouting(
        self, state: ModelState, best: FloatArray, blindly: bool, rng: np.random.Generator
    ) -> FloatArray:
        """Subsets or supersets of the best set, two or more items away, that a drawn function prefers.

        And what is best on the other side, near everything or nothing: `blindly` even if it is not better.
        """
        scouts, wide, among = self._scouts, self._beliefs.posterior(state, SCOUTED), self._constraints
        free = np.array([self._side(best, rng) for _ in range(scouts)])
        found, gain = wide.drawn(np.ones(scouts), rng).walked(best, free, 2, among)
        far = allowed(np.full((scouts, self.n), -1.0 if best.sum() > 0 else 1.0), among, rng)
        drawn = wide.drawn(np.ones(scouts), rng)
        other = drawn.descended(far, among)
        better = drawn.values(other) < drawn.values(np.tile(best, (scouts, 1)))
        return np.concatenate((found[gain < 0], other[better | blindly]))

    def _blind(self, best: FloatArray, rng: np.random.Generator, count: int) -> FloatArray:
        """So many random subsets or supersets of the best set, two or more items away."""
        found = np.tile(best, (count, 1))
        for signs in found:
            items = rng.permutation(np.flatnonzero(self._side(best, rng)))
            signs[items[: rng.integers(2, max(2, items.size), endpoint=True)]] *= -1
        return allowed(found, self._constraints, rng)

    def _side(self, best: FloatArray, rng: np.random.Generator) -> BoolArray:
        """The items inside the best set, or those outside, if they are at least two."""
        side = np.asarray(best < 0 if rng.random() < 0.5 else best > 0)
        return side if side.sum() >= 2 else ~side

    def rounds(self, state: ModelState, most: FloatArray) -> IntArray:
        """How long each set of a phase is played: the best one as long as half of the draws."""
        length = self._length(state)
        rounds = np.minimum(most, length / most.size)
        shares = np.where(np.isinf(most), 1.0, 0.0)
        if state.seen.known.any() and self._beside:
            shares[0] = self._beside
        rounds[shares > 0] = 0.0
        rounds += (length - rounds.sum()) * shares / shares.sum()
        return np.asarray(np.maximum(1, rounds).astype(np.int64))

    def _experience(self, state: ModelState) -> float:
        """The rounds of this episode, and those of other segments by how much they tell about this one."""
        of_each = state.segments.counts[:, ROUNDS] - state.segments.counts[:, BEFORE]
        own = float(state.counts[ROUNDS] - state.counts[BEFORE])
        others = (of_each * (1 - state.segments.weights)).sum()
        return own + Scales(*state.scales.tolist()).shared ** 2 * float(others)

    def _length(self, state: ModelState) -> float:
        """The rounds of the next phase."""
        episode = min(state.counts[ROUNDS] - state.counts[BEFORE], self._half_life or math.inf)
        early = min(self._growth * episode, self._growth * SLOWER)
        return float(min(max(self._shortest * self._clear, early, LATER_GROWTH * episode), LONGEST))


def random_sets(count: int, n: int, rng: np.random.Generator) -> FloatArray:
    """Sets that are all as likely, given by signs."""
    return np.where(rng.random((count, n)) < 0.5, 1.0, -1.0)


def allowed(
    signs: FloatArray, among: Constraints | None, rng: np.random.Generator | None = None
) -> FloatArray:
    """The same sets, or allowed ones near them; which items stay or come is random, given a generator."""
    if among is None:
        return signs
    preference = rng.random(signs.shape) if rng is not None and among.competing else None
    return np.where(among.repaired(signs > 0, preference), 1.0, -1.0)


def distinct(signs: FloatArray) -> FloatArray:
    """Each set once, in the order of their first places."""
    _, first = np.unique(signs, axis=0, return_index=True)
    return signs[np.sort(first)]
