"""The model policy: sets whose mean cost may be least, by a model of all that was released.

A phase plays some sets, and the sum of each one's costs is released. A Gaussian process over sets
(`policies.gaussian_process`) says what these sums tell about all others. The next phase has the set of least
expected cost; sets that are best for functions drawn from the process (Thompson sampling); and *scouts*: sets
two or more items away from the best one, all on one side of it. With submodular costs a set is the best of
all if no subset and no superset of it is better. So scouts are drawn from a process that believes less in
single items and pairs, and find what these do not show.

Two tests look at released sums. If the sets of a phase cost what could not be expected, the world has
changed, and the policy starts again from that phase. If that happens too often no model fits, and the
worst-case policy takes over for good.
"""

import math
from typing import NamedTuple

import numpy as np

from discreet.checks import BoolArray, FloatArray, IntArray
from discreet.constraints import Constraints
from discreet.errors import InvalidType
from discreet.kernel.phase import Phase, Released
from discreet.policies.chain_bandit import BASELINE, ChainBandit, ChainBanditState
from discreet.policies.gaussian_process import (
    FIRST,
    Covariance,
    Means,
    Posterior,
    Scales,
    fitted,
    one_thread,
)
from discreet.randomness import BitSource

#: So many sets are remembered; those played least are forgotten first. The scales are fitted to some of them,
#: whenever the rounds have grown by a third.
KEEP, FIT, FIT_AGAIN = 400, 200, 1.3
#: With a half-life, a set that counts for fewer rounds than this is forgotten.
FORGOTTEN = 1e-3
#: Places in a note: who planned the slot (MODEL or WORST_CASE), what its costs are compared with, the rest.
PLANNER, CENTRE, REST = 0, 1, 2
MODEL, WORST_CASE = 0.0, 1.0
#: Places in `ModelState.counts`: rounds learned from, those before this episode, the rounds of this episode
#: when the scales were fitted, restarts, whether the model has failed, the sum of released costs.
ROUNDS, BEFORE, FITTED, RESTARTS, FAILED, TOTAL = range(6)

#: A phase has this share of the rounds before it, the smaller one after `SLOWER` rounds.
GROWTH, LATER_GROWTH, SLOWER = 0.2, 0.1, 20_000
#: No phase is longer than this (but for tiny epsilon: see `Phase`).
LONGEST = 1 << 18
#: Other sets than the best and the drawn ones have at most this share of a phase.
OTHERS = 0.1
#: The part of all orders has at least this size, in halves of the range: sets speak for themselves. It is
#: reached slowly, after `SPOKEN` times the rounds that show a set clearly. Scouts believe in more at once.
ORDERS, SPOKEN, SCOUTED = 0.05, 600, 0.2
#: Scouts are sent blindly while an episode has fewer rounds than this, times those that show a set clearly,
#: and later in this share of phases.
BLIND, OFTEN = 160, 0.2
#: No slot adds more than this to the test for a change; the smaller one where Laplace noise prevails, which
#: has heavier tails.
CAP, NOISY_CAP = 49.0, 9.0
#: One or two slots must add more than this: single means are off more often than many together.
FAR_OUT = 36.0
#: Restarts that are allowed at first, and rounds (times epsilon, if that is below 1) that allow one more.
RESTARTS_AT_FIRST, ROUNDS_PER_RESTART = 4, 4000.0


class Seen(NamedTuple):
    """What was released of each set: the sum in halves of the range, of so many rounds and releases."""

    signs: FloatArray
    totals: FloatArray
    rounds: FloatArray  # 0: no set is here
    releases: FloatArray


class ModelState(NamedTuple):
    """The best set, what was released, the scales of the model, counts, and the worst case's own state."""

    x: FloatArray
    seen: Seen
    scales: FloatArray
    counts: FloatArray
    worst: ChainBanditState


class Noise(NamedTuple):
    """What a release adds: variance to every cost and to every sum, in squared halves of the range."""

    cost: float
    sum: float


class Model:
    """For a query of one cost, whose released unit is worth `unit` halves of the range.

    The `worst` case's policy takes over where no model fits. The `prior` holds what is known from elsewhere.
    With a `half_life` old rounds count half after so many further rounds, and there are no restarts. If costs
    are measured from what was expected of a set, that is noted with every slot as a cost, given the `middle`
    and `half` of the range of costs. With `constraints` only allowed sets are played, and the
    worst case, which cannot keep to them, never takes over.
    """

    def __init__(
        self,
        worst: ChainBandit,
        noise: Noise,
        *,
        unit: float,
        epsilon: float,
        prior: Seen | None = None,
        half_life: float | None = None,
        half: float = 0.0,
        middle: float = 0.0,
        constraints: Constraints | None = None,
    ) -> None:
        self.n = worst.constants.start.size
        self._worst, self._noise, self._unit = worst, noise, unit
        self._half, self._middle = half, middle
        self._prior, self._half_life = prior, half_life
        self._constraints = constraints
        self._covariance = Covariance(self.n)
        #: Rounds after which the mean of a set is known to about a fourth of the range; better if there are
        #: many items to tell apart.
        deviations = min(max(3.0, 2 + self.n / 8), 4.0)
        self._clear = max(8.0, deviations * math.sqrt(8 * noise.sum), 14 * noise.cost)
        #: Drawn functions are this far from the expected one, relative to what is believed.
        self._factor = 0.4 if noise.cost else 0.5
        self._draws, self._scouts = (14, 2) if noise.cost else (4, 1)
        #: Bits cost the same in many short phases; noise on sums does not.
        self._shortest, self._growth = (2, LATER_GROWTH) if noise.cost else (4, GROWTH)
        self._restart_share = min(1.0, epsilon) / ROUNDS_PER_RESTART
        self._width = REST + max(self.n, worst.notes)

    def start(self) -> ModelState:
        n = self.n
        seen = Seen(np.zeros((KEEP, n)), np.zeros(KEEP), np.zeros(KEEP), np.zeros(KEEP))
        worst = self._worst.start()
        first = worst.x.copy()
        if self._constraints is not None:  # the point is a set that is allowed
            first = self._constraints.repaired(first[None] > 0.5, -first[None])[0].astype(np.float64)
        state = ModelState(first, seen, np.array(FIRST), np.zeros(6), worst)
        if self._prior is not None:
            _remember(seen, self._prior)
            state = state._replace(x=self._least(state))
        return state

    def point(self, state: ModelState) -> FloatArray:
        return state.x.copy()

    def mean(self, state: ModelState) -> float | None:
        """The mean of all released costs, in halves of the range around its middle; None before any."""
        rounds, total = state.counts[[ROUNDS, TOTAL]].tolist()
        return total / rounds if rounds else None

    def widened(self, state: ModelState, replaced: IntArray) -> ModelState:
        """The state where items were added, at the end or in these places, or retired.

        No set had the added ones, so sets with what was in their places are forgotten. A new episode begins,
        with short phases; a model that had failed is tried again.
        """
        start, counts = self.start(), state.counts.copy()
        counts[BEFORE], counts[FITTED] = counts[ROUNDS], 0.0
        if counts[FAILED]:
            counts[[FAILED, RESTARTS]] = 0.0
        seen = Seen(_signs(state.seen.signs, self.n), *[part.copy() for part in state.seen[1:]])
        seen.rounds[(seen.signs[:, replaced] > 0).any(axis=1)] = 0.0
        if not _known(seen).any():
            return start._replace(counts=counts)
        x = np.append(state.x, np.zeros(self.n - state.x.size))
        x[replaced] = 0.0
        state = ModelState(x, seen, state.scales.copy(), counts, start.worst)
        with one_thread():
            return state._replace(x=self._least(state))

    # Planning

    def plan(self, state: ModelState, coins: BitSource, available: IntArray | None = None) -> Phase:
        if state.counts[FAILED]:
            phase = self._worst.plan(state.worst, coins, available)
            if available is not None:
                phase = phase._replace(rounds=np.ones(1, dtype=np.int64))
            return self._noted(phase, WORST_CASE, phase.note[:, BASELINE] * self._worst.unit, phase.note)
        rng = coins.generator()
        with one_thread():
            if available is not None:
                return self._one_round(state, rng, available)
            sets, most = self._candidates(state, rng)
            return self._phase(state, sets, self._rounds(state, most), np.arange(self.n))

    def _candidates(self, state: ModelState, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
        """Sets for a phase, the best one first, and for how many rounds each is played at most."""
        draws, known, among = self._draws, _known(state.seen).any(), self._constraints
        ends = _allowed(np.array([np.ones(self.n), -np.ones(self.n)]), among, rng)
        best = np.where(state.x > 0.5, 1.0, -1.0)[None]
        some = _allowed(_random_sets(1 if known else draws + 4, self.n, rng), among, rng)
        starts = np.concatenate((best, ends, some))
        if not known:
            return _distinct(starts), np.full(len(_distinct(starts)), np.inf)
        episode = state.counts[ROUNDS] - state.counts[BEFORE]
        blindly = episode < BLIND * self._clear or rng.random() < OFTEN
        factors = np.array([self._factor] * draws + [1.0] * 4)
        drawn = self._posterior(state).drawn(factors, rng).least(starts, among)
        parts = [
            (np.concatenate((best, drawn[:draws])), np.inf),
            (drawn[draws:], max(self._clear, self._length(state) / 50)),
            (self._scouting(state, best[0], blindly, rng), self._clear),
            (ends if episode < 8 * self._clear else ends[:0], self._clear),
            (self._blind(best[0], rng, int(blindly)), self._clear / 2),
        ]
        sets = _distinct(np.concatenate([part for part, _ in parts]))
        limits = {signs.tobytes(): limit for part, limit in reversed(parts) for signs in part}
        most = np.array([limits[signs.tobytes()] for signs in sets])
        others = rng.permutation(np.flatnonzero(np.isfinite(most)))
        before = np.cumsum(most[others]) - most[others]
        some = others[before < OTHERS * self._length(state)]
        kept = np.sort(np.append(np.flatnonzero(np.isinf(most)), some))
        return sets[kept], most[kept]

    def _scouting(
        self, state: ModelState, best: FloatArray, blindly: bool, rng: np.random.Generator
    ) -> FloatArray:
        """Subsets or supersets of the best set, two or more items away, that a drawn function prefers.

        And what is best on the other side, near everything or nothing: `blindly` even if it is not better.
        """
        scouts, wide, among = self._scouts, self._posterior(state, SCOUTED), self._constraints
        free = np.array([self._side(best, rng) for _ in range(scouts)])
        found, gain = wide.drawn(np.ones(scouts), rng).walked(best, free, 2, among)
        far = _allowed(np.full((scouts, self.n), -1.0 if best.sum() > 0 else 1.0), among, rng)
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
        return _allowed(found, self._constraints, rng)

    def _side(self, best: FloatArray, rng: np.random.Generator) -> BoolArray:
        """The items inside the best set, or those outside, if they are at least two."""
        side = np.asarray(best < 0 if rng.random() < 0.5 else best > 0)
        return side if side.sum() >= 2 else ~side

    def _rounds(self, state: ModelState, most: FloatArray) -> IntArray:
        """How long each set of a phase is played: the best one as long as half of the draws."""
        length = self._length(state)
        rounds = np.minimum(most, length / most.size)
        shares = np.where(np.isinf(most), 1.0, 0.0)
        if _known(state.seen).any():
            shares[0] = self._draws / 2
        rounds[shares > 0] = 0.0
        rounds += (length - rounds.sum()) * shares / shares.sum()
        return np.asarray(np.maximum(1, rounds).astype(np.int64))

    def _length(self, state: ModelState) -> float:
        """The rounds of the next phase."""
        episode = min(state.counts[ROUNDS] - state.counts[BEFORE], self._half_life or math.inf)
        early = min(self._growth * episode, self._growth * SLOWER)
        return float(min(max(self._shortest * self._clear, early, LATER_GROWTH * episode), LONGEST))

    def _one_round(self, state: ModelState, rng: np.random.Generator, available: IntArray) -> Phase:
        """One of the available sets for one round, best by a drawn function."""
        among = (self._constraints or Constraints(self.n, self.n)).among("ask", available)
        starts = np.concatenate((2 * state.x[None] - 1, _random_sets(3, self.n, rng)))
        starts = _allowed(starts, among, rng)
        chosen = starts[-1:]
        if _known(state.seen).any():
            chosen = self._posterior(state).drawn(np.array([self._factor]), rng).least(starts, among)
        return self._phase(state, chosen, np.ones(1, dtype=np.int64), available)

    def _phase(self, state: ModelState, signs: FloatArray, rounds: IntArray, items: IntArray) -> Phase:
        """Sets, given by signs, among these items."""
        among = signs[:, items]
        order = items[np.argsort(-among, axis=1, kind="stable")]
        chance = np.ones((len(signs), items.size + 1))
        phase = Phase(order, chance, (among > 0).sum(axis=1), rounds, signs)
        centre = np.zeros(len(signs))
        if self._half and _known(state.seen).any():
            centre = np.clip(self._posterior(state).predicted(signs)[0], -1.0, 1.0)
        return self._noted(phase, MODEL, centre, signs)

    def _noted(self, phase: Phase, planner: float, centre: FloatArray, rest: FloatArray) -> Phase:
        note = np.zeros((len(rest), self._width))
        note[:, PLANNER], note[:, CENTRE] = planner, self._middle + centre * self._half
        note[:, REST : REST + rest.shape[1]] = rest
        return phase._replace(note=note)

    # Learning

    def learn(self, state: ModelState, released: Released) -> ModelState:
        if not isinstance(released, Released):
            raise InvalidType(f"A policy learns from a Released. Got {type(released).__name__} instead.")
        rounds, counts = released.rounds.astype(np.float64), state.counts.copy()
        totals = released.values[:, 0] * self._unit
        if self._half:
            totals = totals + rounds * (released.note[:, CENTRE] - self._middle) / self._half
        counts[ROUNDS] += rounds.sum()
        counts[TOTAL] += totals.sum()
        by_model = released.note[:, PLANNER] == MODEL
        state = state._replace(counts=counts)
        if not by_model.all():
            state = self._learn_worst(state, released, totals, ~by_model)
        if not counts[FAILED] and by_model.any():
            signs = _signs(released.note[by_model, REST : REST + self.n], self.n)
            new = Seen(signs, totals[by_model], rounds[by_model], np.ones(int(by_model.sum())))
            with one_thread():
                state = self._learn_sets(state, new)
        return state

    def _learn_worst(
        self, state: ModelState, released: Released, totals: FloatArray, rows: BoolArray
    ) -> ModelState:
        units = np.rint(totals[rows] / self._worst.unit).astype(np.int64)
        note = np.ascontiguousarray(released.note[rows, REST : REST + self._worst.notes])
        worst = self._worst.learn(state.worst, Released(note, released.rounds[rows], units[:, None]))
        return state._replace(worst=worst, x=worst.x.copy() if state.counts[FAILED] else state.x)

    def _learn_sets(self, state: ModelState, new: Seen) -> ModelState:
        counts, seen = state.counts.copy(), Seen(*[part.copy() for part in state.seen])
        rounds = new.rounds.sum()
        if self._half_life is not None:
            seen.rounds[seen.rounds < FORGOTTEN] = 0.0
            for part in seen[1:]:
                part *= 0.5 ** (rounds / self._half_life)
        elif self._surprised(state, new):
            seen.rounds[:] = 0.0
            counts[BEFORE], counts[FITTED] = counts[ROUNDS] - rounds, 0.0
            counts[RESTARTS] += 1
            allowed = RESTARTS_AT_FIRST + counts[ROUNDS] * self._restart_share
            if counts[RESTARTS] > allowed and self._constraints is None:
                counts[FAILED] = 1.0
                return state._replace(counts=counts, x=state.worst.x.copy())
        _remember(seen, new)
        scales, episode = state.scales, counts[ROUNDS] - counts[BEFORE]
        if episode >= FIT_AGAIN * counts[FITTED]:
            counts[FITTED] = episode
            observed = self._means(_played(seen)).heaviest(FIT)
            scales = np.array(fitted(self._covariance, observed, Scales(*scales), self._fits_variance()))
        state = state._replace(seen=seen, scales=scales, counts=counts)
        return state._replace(x=self._least(state))

    def _surprised(self, state: ModelState, new: Seen) -> bool:
        """Whether what was released of a phase is too far from what the model expected of it."""
        slots = len(new.rounds)
        if new.rounds.sum() < self._clear or not _known(state.seen).any():
            return False
        means = self._means(new)
        expected, variance = self._posterior(state).predicted(new.signs)
        # The largest variance of costs with that mean: what was fitted is for all sets, from few at first.
        variance += means.per_cost * (1 - np.clip(expected, -1.0, 1.0) ** 2) + means.noise
        cap = np.where(self._noise.sum / new.rounds**2 > 0.5 * variance, NOISY_CAP, CAP)
        squares = np.minimum((means.means - expected) ** 2 / variance, cap)
        most = slots + 4 * math.sqrt(2 * slots) + 8 if slots > 2 else FAR_OUT
        return bool(squares.sum() > most)

    def _least(self, state: ModelState) -> FloatArray:
        """The set of least expected cost that descents find, from the best known one and the last."""
        posterior = self._posterior(state)
        signs = posterior.observed.signs
        known = signs[int(posterior.predicted(signs)[0].argmin())]
        starts = _allowed(np.array([known, np.where(state.x > 0.5, 1.0, -1.0)]), self._constraints)
        return np.asarray((posterior.mean().least(starts, self._constraints)[0] + 1) / 2)

    def _posterior(self, state: ModelState, orders: float = 0.0) -> Posterior:
        """What is known; the part of all orders has at least this size."""
        episode = state.counts[ROUNDS] - state.counts[BEFORE]
        least = max(orders, ORDERS * min(1.0, episode / (SPOKEN * self._clear)))
        scales = Scales(*state.scales)
        scales = scales._replace(orders=max(scales.orders, least / scales.items))
        return Posterior(self._covariance, self._means(_played(state.seen)), scales)

    def _means(self, seen: Seen) -> Means:
        noise = self._noise.cost / seen.rounds + self._noise.sum * seen.releases / seen.rounds**2
        per_cost = 1 / seen.rounds if self._fits_variance() else np.zeros(seen.rounds.size)
        return Means(seen.signs, seen.totals / seen.rounds, per_cost, noise)

    def _fits_variance(self) -> bool:
        """Bits have all the variance they can have already."""
        return self._noise.cost == 0.0


def _known(seen: Seen) -> BoolArray:
    return np.asarray(seen.rounds > 0)


def _played(seen: Seen) -> Seen:
    known = _known(seen)
    return Seen(*[part[known] for part in seen])


def _signs(signs: FloatArray, n: int) -> FloatArray:
    """Sets, given by signs, that have none of the items which were added since."""
    widened = np.full((len(signs), n), -1.0)
    widened[:, : signs.shape[1]] = np.where(signs > 0, 1.0, -1.0)
    return widened


def _random_sets(count: int, n: int, rng: np.random.Generator) -> FloatArray:
    return np.where(rng.random((count, n)) < 0.5, 1.0, -1.0)


def _allowed(
    signs: FloatArray, among: Constraints | None, rng: np.random.Generator | None = None
) -> FloatArray:
    """The same sets, or allowed ones near them; which items stay or come is random, given a generator."""
    if among is None:
        return signs
    preference = rng.random(signs.shape) if rng is not None and among.competing else None
    return np.where(among.repaired(signs > 0, preference), 1.0, -1.0)


def _distinct(signs: FloatArray) -> FloatArray:
    """Each set once, in the order of their first places."""
    _, first = np.unique(signs, axis=0, return_index=True)
    return signs[np.sort(first)]


def _remember(seen: Seen, new: Seen) -> None:
    """Add sums to those of the same sets; a new set takes the place of the one that was played least."""
    places = {signs.tobytes(): i for i, signs in enumerate(seen.signs) if seen.rounds[i] > 0}
    for signs, *numbers in zip(*new, strict=True):
        place = places.get(signs.tobytes())
        if place is None:
            place = int(seen.rounds.argmin())
            places.pop(seen.signs[place].tobytes(), None)
            places[signs.tobytes()] = place
            seen.signs[place] = signs
            for part in seen[1:]:
                part[place] = 0.0
        for part, number in zip(seen[1:], numbers, strict=True):
            part[place] += number
