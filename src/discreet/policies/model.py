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

Where there are segments, a phase is planned for one of them. Then `ModelState` is seen from that segment:
its best set, and its own counts. What is remembered is of all of them, and tells about each as much as the
process finds that they share. Only the segment that has changed starts again.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from discreet.checks import BoolArray, FloatArray, IntArray
from discreet.constraints import Constraints
from discreet.errors import InvalidType
from discreet.kernel.phase import Phase, Released
from discreet.policies.chain_bandit import BASELINE, NOTES, ChainBandit, ChainBanditState
from discreet.policies.gaussian_process import (
    FIRST,
    Covariance,
    Means,
    Posterior,
    Scales,
    fitted,
    one_thread,
)
from discreet.policies.memory import Seen, as_signs
from discreet.policies.parts import FIRST_PARTS, PartMeans, Parts, PartScales, fitted_parts
from discreet.policies.signed_parts import SignedParts, fitted_size
from discreet.randomness import BitSource

#: The scales are fitted to so many sets, whenever the rounds have grown by a third.
FIT, FIT_AGAIN = 200, 1.3
#: Places in a note: who planned the slot (MODEL or WORST_CASE), what its costs are compared with, the rest.
#: The rest comes one place later where there are segments, and the slot's segment is noted.
PLANNER, CENTRE, REST = 0, 1, 2
SEGMENT = REST
MODEL, WORST_CASE = 0.0, 1.0
#: Places in `ModelState.counts`: rounds learned from, those before this episode, the rounds of this episode
#: when the scales were fitted, restarts, whether the model has failed, the sum of released costs and of how
#: many rounds.
ROUNDS, BEFORE, FITTED, RESTARTS, FAILED, TOTAL, TOLD = range(7)

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
#: Where it is told what items brought, these take the place of others above: the rounds of the first phase
#: (times the deviation of what is released of an item, in parts of the declared total), GROWTH, the distance
#: of drawn functions, OTHERS.
FIRST_ROUNDS, ITEMS_GROWTH, ITEMS_FACTOR, ITEMS_OTHERS = 200.0, 0.3, 0.1, 0.03
#: In local mode a signed sum of what items brought is measured in this share of the rounds, with so many
#: signings of each set; and how far drawn functions are.
SIGNED, SIGNINGS, SIGNED_FACTOR = 0.75, 4, 0.4
#: No number of a state is larger, and no scale and no number of rounds smaller.
LARGEST, SMALLEST = 1e18, 1e-9
#: Restarts that are allowed at first, and rounds (times epsilon, if that is below 1) that allow one more.
RESTARTS_AT_FIRST, ROUNDS_PER_RESTART = 4, 4000.0


class Segments(NamedTuple):
    """The weight of each segment in what is best, its own best set, and the first three of its counts."""

    weights: FloatArray
    x: FloatArray  # a row each
    counts: FloatArray  # a row each


class ModelState(NamedTuple):
    """The best set, what was released, the scales of the model, counts, and the worst case's own state."""

    x: FloatArray
    seen: Seen
    scales: FloatArray
    part_scales: FloatArray
    signed: FloatArray  # what was released of sums with signs (`policies.signed_parts`); empty where none are
    counts: FloatArray
    segments: Segments  # nothing where there are none
    worst: ChainBanditState


class Noise(NamedTuple):
    """What a release adds: variance to every cost and to every sum, in squared halves of the range."""

    cost: float
    sum: float


class ItemFeedback(NamedTuple):
    """That it is told what items brought: the noise, what a unit is worth, and the total.

    All in halves of the range.
    """

    noise: Noise
    unit: float
    total: float


class Model:
    """For a query of one cost, whose released unit is worth `unit` halves of the range.

    The `worst` case's policy takes over where no model fits. The `prior` holds what is known from elsewhere.
    With a `half_life` old rounds count half after so many further rounds, and there are no restarts. If costs
    are measured from what was expected of a set, that is noted with every slot as a cost, given the `middle`
    and `half` of the range of costs. With `constraints` only allowed sets are played, and the
    worst case, which cannot keep to them, never takes over. Nor does it where there are `segments`, so many.
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
        items: ItemFeedback | None = None,
        segments: int = 0,
    ) -> None:
        self.n = worst.constants.start.size
        self._items = items
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
        self._others = OTHERS
        #: How long the best known set is played, times one that was drawn; whether all items come first.
        self._beside, self._each_first = self._draws / 2, False
        if items is not None and noise.cost:
            self._factor = SIGNED_FACTOR
        elif items is not None:
            # Every slot costs every one of its items its noise: few of them, and long ones.
            first = FIRST_ROUNDS * math.sqrt(items.noise.sum) / items.total
            self._clear = max(8.0, first / 20)
            self._shortest, self._growth = first / self._clear, ITEMS_GROWTH
            self._draws, self._factor, self._others = 1, ITEMS_FACTOR, ITEMS_OTHERS
            self._beside, self._each_first = 0.0, True
        self._restart_share = min(1.0, epsilon) / ROUNDS_PER_RESTART
        self._signed = items is not None and noise.cost > 0
        self._width = signs_place(self.n) + (1 + self.n if self._signed else 0)
        self._segments, self._rest = segments, REST
        if segments:
            self._width, self._rest = self._width + 1, REST + 1

    def start(self) -> ModelState:
        n = self.n
        seen = Seen.nothing(n, n if self._items is not None and not self._signed else 0)
        worst = self._worst.start()
        first = worst.x.copy()
        if self._constraints is not None:  # the point is a set that is allowed
            first = self._constraints.repaired(first[None] > 0.5, -first[None])[0].astype(np.float64)
        scales, signed = (np.array(FIRST), np.array(FIRST_PARTS)), np.zeros((n + 1, n if self._signed else 0))
        many = self._segments
        segments = Segments(np.full(many, 1 / max(1, many)), np.tile(first, (many, 1)), np.zeros((many, 3)))
        state = ModelState(first, seen, *scales, signed, np.zeros(7), segments, worst)
        if self._prior is not None:
            for segment in range(max(1, many)):
                seen.add(self._prior.in_segment(segment, max(1, many)))
            state = self._with_best_sets(state)
        return state

    def point(self, state: ModelState, segment: int | None = None) -> FloatArray:
        return (state.x if segment is None else state.segments.x[segment]).copy()

    def makes_sense(self, state: ModelState) -> bool:
        """Whether a state that was kept elsewhere may be one of this policy's."""
        parts = (state.x, *state.seen, *state[2:6], *state.segments)
        numbers, levels = np.concatenate([part.ravel() for part in parts]), _best_sets(state)
        scales, seen = np.concatenate((state.scales, state.part_scales)), state.seen
        return bool(
            (np.abs(numbers) < LARGEST).all()
            and ((levels >= 0) & (levels <= 1)).all()
            and ((scales > SMALLEST) & (scales < 1 / SMALLEST)).all()
            and 0 < Scales(*state.scales).shared <= 1
            and np.isin(seen.segments, np.arange(max(1, self._segments))).all()
            and ((seen.rounds == 0) | (seen.rounds > SMALLEST)).all()
        )

    def mean(self, state: ModelState) -> float | None:
        """The mean of all released costs, in halves of the range around its middle; None before any."""
        rounds, total = state.counts[[TOLD, TOTAL]].tolist()
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
        seen = state.seen.widened(self.n)
        seen.rounds[(seen.signs[:, replaced] > 0).any(axis=1)] = 0.0
        of_each = state.segments.counts.copy()
        of_each[:, BEFORE], of_each[:, FITTED] = of_each[:, ROUNDS], 0.0
        signed = start.signed.copy()
        if self._signed:
            old = state.signed.shape[1]
            signed[:old, :old], signed[-1, :old] = state.signed[:-1], state.signed[-1]
            signed[replaced], signed[:, replaced] = 0.0, 0.0
        if not seen.known.any():
            segments = start.segments._replace(counts=of_each)
            return start._replace(signed=signed, counts=counts, segments=segments)
        best = _best_sets(state)
        best = np.hstack((best, np.zeros((len(best), self.n - state.x.size))))
        best[:, replaced] = 0.0
        segments = state.segments._replace(x=best[1:], counts=of_each)
        state = state._replace(x=best[0], seen=seen, signed=signed, counts=counts, segments=segments)
        with one_thread():
            return self._with_best_sets(state._replace(worst=start.worst))

    # Planning

    def plan(
        self,
        state: ModelState,
        coins: BitSource,
        available: IntArray | None = None,
        segment: int | None = None,
    ) -> Phase:
        if segment is not None:
            phase = self._planned(_seen_from(state, segment), coins, available)
            phase.note[:, SEGMENT] = segment
            return phase
        return self._planned(state, coins, available)

    def _planned(self, state: ModelState, coins: BitSource, available: IntArray | None) -> Phase:
        if state.counts[FAILED]:
            phase = self._worst.plan(state.worst, coins, available)
            if available is not None:
                phase = phase._replace(rounds=np.ones(1, dtype=np.int64))
            return self._noted(phase, WORST_CASE, phase.note[:, BASELINE] * self._worst.unit, phase.note)
        rng = coins.generator()
        with one_thread():
            if available is not None:
                phase = self._one_round(state, rng, available)
            else:
                sets, most = self._candidates(state, rng)
                phase = self._phase(state, sets, self._rounds(state, most), np.arange(self.n))
        return self._signing(phase, rng) if self._signed else phase

    def _candidates(self, state: ModelState, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
        """Sets for a phase, the best one first, and for how many rounds each is played at most."""
        draws, known, among = self._draws, state.seen.known.any(), self._constraints
        ends = _allowed(np.array([np.ones(self.n), -np.ones(self.n)]), among, rng)
        best = np.where(state.x > 0.5, 1.0, -1.0)[None]
        some = _allowed(_random_sets(1 if known else draws + 4, self.n, rng), among, rng)
        starts = np.concatenate((best, ends, some))
        first = self._with_new_items(state, rng) if self._each_first else starts[: 0 if known else None]
        if len(first):
            first = _distinct(first)
            return first, np.full(len(first), np.inf)
        episode = self._experience(state)
        blindly = episode < BLIND * self._clear or rng.random() < OFTEN
        factors = np.array([self._factor] * draws + [1.0] * 4)
        drawn = self._posterior(state).drawn(factors, rng).least(starts, among)
        parts = [
            (np.concatenate((best[: int(self._beside > 0)], drawn[:draws])), np.inf),
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

    def _one_round(self, state: ModelState, rng: np.random.Generator, available: IntArray) -> Phase:
        """One of the available sets for one round, best by a drawn function."""
        among = (self._constraints or Constraints(self.n, self.n)).among("ask", available)
        starts = np.concatenate((2 * state.x[None] - 1, _random_sets(3, self.n, rng)))
        starts = _allowed(starts, among, rng)
        chosen = starts[-1:]
        if state.seen.known.any():
            chosen = self._posterior(state).drawn(np.array([self._factor]), rng).least(starts, among)
        return self._phase(state, chosen, np.ones(1, dtype=np.int64), available)

    def _phase(self, state: ModelState, signs: FloatArray, rounds: IntArray, items: IntArray) -> Phase:
        """Sets, given by signs, among these items."""
        among = signs[:, items]
        order = items[np.argsort(-among, axis=1, kind="stable")]
        chance = np.ones((len(signs), items.size + 1))
        phase = Phase(order, chance, (among > 0).sum(axis=1), rounds, signs)
        centre = np.zeros(len(signs))
        if self._half and state.seen.known.any():
            centre = np.clip(self._posterior(state).predicted(signs)[0], -1.0, 1.0)
        return self._noted(phase, MODEL, centre, signs)

    def _signing(self, phase: Phase, rng: np.random.Generator) -> Phase:
        """The same sets, for as long: in some rounds the cost is measured, in the others signed sums."""
        slots, place = len(phase.rounds), signs_place(self.n)
        shares = np.append(1 - SIGNED, np.full(SIGNINGS, SIGNED / SIGNINGS))
        rounds = rng.multinomial(phase.rounds, shares).ravel()
        repeated: list[Any] = [np.repeat(part, 1 + SIGNINGS, axis=0) for part in phase]
        made = Phase(*repeated)
        made.note[:, place] = np.tile(np.arange(1 + SIGNINGS) > 0, slots)
        made.note[:, place + 1 :] = rng.choice((-1.0, 1.0), (len(made.note), self.n))
        made.note[:: 1 + SIGNINGS, place + 1 :] = 0.0
        kept = rounds > 0
        left: list[Any] = [part[kept] for part in made._replace(rounds=rounds)]
        return Phase(*left)

    def _noted(self, phase: Phase, planner: float, centre: FloatArray, rest: FloatArray) -> Phase:
        note = np.zeros((len(rest), self._width))
        note[:, PLANNER], note[:, CENTRE] = planner, self._middle + centre * self._half
        note[:, self._rest : self._rest + rest.shape[1]] = rest
        return phase._replace(note=note)

    # Learning

    def learn(self, state: ModelState, released: Released) -> ModelState:
        if not isinstance(released, Released):
            raise InvalidType(f"A policy learns from a Released. Got {type(released).__name__} instead.")
        rounds, counts = released.rounds.astype(np.float64), state.counts.copy()
        totals = released.values[:, 0] * self._unit
        if self._half:
            totals = totals + rounds * (released.note[:, CENTRE] - self._middle) / self._half
        signed, by_model = self._with_signs(released), released.note[:, PLANNER] == MODEL
        counts[ROUNDS] += rounds.sum()
        counts[TOLD] += rounds[~signed].sum()
        counts[TOTAL] += totals[~signed].sum()
        state = state._replace(counts=counts)
        if signed.any() and not counts[FAILED]:
            state = self._learn_signed(state, released, signed)
        if not by_model.all():
            state = self._learn_worst(state, released, totals, ~by_model)
        by_model &= ~signed
        if not counts[FAILED] and by_model.any():
            signs = as_signs(released.note[by_model, self._rest : self._rest + self.n], self.n)
            parts, segments = np.zeros((len(signs), 0)), np.zeros(len(signs))
            if self._items is not None and not self._signed:
                parts = released.values[by_model, 1:] * self._items.unit
            if self._segments:
                segments = released.note[by_model, SEGMENT]
            new = Seen(signs, segments, totals[by_model], rounds[by_model], np.ones(len(signs)), parts)
            with one_thread():
                state = self._learn_sets(state, new)
        return state

    def _with_signs(self, released: Released) -> BoolArray:
        """In which slots sums of parts with signs were measured, not costs."""
        place = signs_place(self.n)
        if not self._signed or released.note.shape[1] <= place:
            return np.zeros(len(released.note), dtype=np.bool_)
        return np.asarray(released.note[:, place] == 1.0)

    def _learn_signed(self, state: ModelState, released: Released, rows: BoolArray) -> ModelState:
        assert self._items is not None
        place, note = signs_place(self.n) + 1, released.note[rows]
        signs = note[:, place : place + self.n] * (note[:, REST : REST + self.n] > 0)
        totals = released.values[rows, 0] * self._items.unit
        products = (signs * released.rounds[rows, None]).T @ signs
        return state._replace(signed=state.signed + np.vstack((products, totals @ signs)))

    def _learn_worst(
        self, state: ModelState, released: Released, totals: FloatArray, rows: BoolArray
    ) -> ModelState:
        units = np.rint(totals[rows] / self._worst.unit).astype(np.int64)
        note = np.ascontiguousarray(released.note[rows, REST : REST + self._worst.notes])
        worst = self._worst.learn(state.worst, Released(note, released.rounds[rows], units[:, None]))
        return state._replace(worst=worst, x=worst.x.copy() if state.counts[FAILED] else state.x)

    def _learn_sets(self, state: ModelState, new: Seen) -> ModelState:
        seen, rounds = state.seen.copy(), new.rounds.sum()
        of_all, segment = state.counts, int(new.segments[0])  # a phase is of one segment
        if self._segments:
            state = _seen_from(state, segment)
            state.counts[ROUNDS] += rounds
        counts = state.counts.copy()
        if self._half_life is not None:
            share = 0.5 ** (rounds / self._half_life)
            seen.fade(share)
            state = state._replace(signed=state.signed * share)
        elif self._surprised(state, new):
            seen.rounds[seen.segments == segment] = 0.0
            state = state._replace(signed=np.zeros_like(state.signed))
            counts[BEFORE], counts[FITTED] = counts[ROUNDS] - rounds, 0.0
            counts[RESTARTS] += 1
            allowed = RESTARTS_AT_FIRST + counts[ROUNDS] * self._restart_share
            if counts[RESTARTS] > allowed and self._constraints is None and not self._segments:
                counts[FAILED] = 1.0
                return state._replace(counts=counts, x=state.worst.x.copy())
        seen.add(new)
        state, episode = state._replace(seen=seen, counts=counts), counts[ROUNDS] - counts[BEFORE]
        if episode >= FIT_AGAIN * counts[FITTED]:
            counts[FITTED] = episode
            state = self._fitted(state)
            of_each = state.segments.counts.copy()
            of_each[:, FITTED] = of_each[:, ROUNDS] - of_each[:, BEFORE]
            state = state._replace(segments=state.segments._replace(counts=of_each))
        if self._segments:
            state = _seen_from_all(state, segment, of_all)
        return self._with_best_sets(state)

    def _fitted(self, state: ModelState) -> ModelState:
        """The state with scales that fit what was released."""
        if self._signed and self._items is not None:
            size = fitted_size(state.signed, self._items.noise.cost, float(state.part_scales[0]))
            state = state._replace(part_scales=np.array(FIRST_PARTS._replace(own=size)))
        elif self._items is not None:
            of_items = _part_means(self._items, state.seen.played())
            part_scales = fitted_parts(of_items, PartScales(*state.part_scales))
            state = state._replace(part_scales=np.array(part_scales))
        observed = self._means(state.seen.played()).heaviest(FIT)
        first, variance = Scales(*state.scales), self._fits_variance()
        scales = fitted(self._covariance, observed, first, variance, self._parts(state))
        return state._replace(scales=np.array(scales))

    def _parts(self, state: ModelState) -> Parts | SignedParts | None:
        """What is known of what items bring."""
        if self._items is None:
            return None
        if self._signed:
            return SignedParts(state.signed, self._items.noise.cost, float(state.part_scales[0]))
        observed = _part_means(self._items, state.seen.played())
        return Parts(observed, PartScales(*state.part_scales))

    def _surprised(self, state: ModelState, new: Seen) -> bool:
        """Whether what was released of a phase is too far from what the model expected of it."""
        of_it = state.seen.segments == new.segments[0]
        if new.rounds.sum() < self._clear or not (state.seen.known & of_it).any():
            return False
        means = self._means(new)
        expected, variance = self._posterior(state).predicted(new.signs)
        # The largest variance of costs with that mean: what was fitted is for all sets, from few at first.
        variance += means.per_cost * (1 - np.clip(expected, -1.0, 1.0) ** 2) + means.noise
        squares = _surprise(means.means - expected, variance, self._noise.sum / new.rounds**2)
        parts = self._parts(state)
        if isinstance(parts, Parts) and self._items is not None:
            told = _part_means(self._items, new)
            expected, variance = parts.predicted(told, self._items.total)
            variance += told.noise[:, None]
            laplace = np.broadcast_to((self._items.noise.sum / new.rounds**2)[:, None], variance.shape)
            of_items = _surprise(told.means - expected, variance, laplace)
            squares = np.append(squares, of_items[told.members > 0])
        number = squares.size
        most = number + 4 * math.sqrt(2 * number) + 8 if number > 2 else FAR_OUT
        return bool(squares.sum() > most)

    def _with_best_sets(self, state: ModelState) -> ModelState:
        """With the sets of least expected cost that descents find, from the best known ones and the last."""
        posterior = self._posterior(state)
        signs = posterior.observed.signs
        known = signs[posterior.expected(signs).argmin(axis=1)]
        last = np.where(_best_sets(state) > 0.5, 1.0, -1.0)
        starts = _allowed(np.stack((known, last), axis=1).reshape(-1, self.n), self._constraints)
        least = posterior.mean().least(starts.reshape(len(last), -1, self.n), self._constraints)
        best = (least + 1) / 2
        return state._replace(x=best[0], segments=state.segments._replace(x=best[1:]))

    def _posterior(self, state: ModelState, orders: float = 0.0) -> Posterior:
        """What is known; the part of all orders has at least this size."""
        episode = state.counts[ROUNDS] - state.counts[BEFORE]
        least = max(orders, ORDERS * min(1.0, episode / (SPOKEN * self._clear)))
        scales = Scales(*state.scales)
        scales = scales._replace(orders=max(scales.orders, least / scales.items))
        aims = np.vstack((state.segments.weights, np.eye(self._segments))) if self._segments else None
        means = self._means(state.seen.played())
        return Posterior(self._covariance, means, scales, self._parts(state), aims)

    def _means(self, seen: Seen) -> Means:
        noise = self._noise.cost / seen.rounds + self._noise.sum * seen.releases / seen.rounds**2
        per_cost = 1 / seen.rounds if self._fits_variance() else np.zeros(seen.rounds.size)
        segments = seen.segments.astype(np.int64) if self._segments else None
        return Means(seen.signs, seen.totals / seen.rounds, per_cost, noise, segments)

    def _fits_variance(self) -> bool:
        """Bits have all the variance they can have already."""
        return self._noise.cost == 0.0


def signs_place(n: int) -> int:
    """Where the signs of items are noted, with a 1 before them: only where their signed sum is measured."""
    return REST + max(n, NOTES)


def _best_sets(state: ModelState) -> FloatArray:
    """A row for all together, and one for each segment."""
    return np.vstack((state.x, state.segments.x))


def _seen_from(state: ModelState, segment: int) -> ModelState:
    """The state in which this segment is all there is to plan for."""
    counts, segments = state.counts.copy(), state.segments
    counts[: FITTED + 1] = segments.counts[segment]
    weights = np.zeros(len(segments.weights))
    weights[segment] = 1.0
    return state._replace(x=segments.x[segment], counts=counts, segments=segments._replace(weights=weights))


def _seen_from_all(state: ModelState, segment: int, before: FloatArray) -> ModelState:
    """The state of all, from one seen from a segment that has learned; of all, these were the counts."""
    counts, of_each = state.counts.copy(), state.segments.counts.copy()
    of_each[segment], counts[: FITTED + 1] = counts[: FITTED + 1], before[: FITTED + 1]
    weights = of_each[:, ROUNDS] / of_each[:, ROUNDS].sum()
    return state._replace(counts=counts, segments=state.segments._replace(weights=weights, counts=of_each))


def _surprise(error: FloatArray, variance: FloatArray, laplace: FloatArray) -> FloatArray:
    """Squared deviations, capped; so much of the variance is that of Laplace noise."""
    return np.minimum(error**2 / variance, np.where(laplace > 0.5 * variance, NOISY_CAP, CAP))


def _part_means(items: ItemFeedback, seen: Seen) -> PartMeans:
    noise = items.noise.cost / seen.rounds + items.noise.sum * seen.releases / seen.rounds**2
    rounds = seen.rounds
    return PartMeans((seen.signs + 1) / 2, seen.parts / rounds[:, None], 1 / rounds, noise)


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
