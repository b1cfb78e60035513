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

import numpy as np

from discreet.checks import BoolArray, FloatArray, IntArray
from discreet.constraints import Constraints
from discreet.errors import InvalidType
from discreet.kernel.phase import Phase, Released
from discreet.policies.beliefs import FIT_AGAIN, Beliefs
from discreet.policies.candidates import Candidates, allowed, random_sets
from discreet.policies.chain_bandit import NOTES, ChainBandit
from discreet.policies.gaussian_process import FIRST, Scales, one_thread
from discreet.policies.memory import Seen, as_signs
from discreet.policies.model_state import (
    BEFORE,
    FAILED,
    FITTED,
    RESTARTS,
    ROUNDS,
    TOTAL,
    ItemFeedback,
    ModelState,
    Noise,
    Segments,
    best_sets,
    seen_from,
    seen_from_all,
)
from discreet.policies.parts import FIRST_PARTS
from discreet.randomness import BitSource

#: Places in a note: who planned the slot (MODEL or WORST_CASE), and the rest. The rest comes one place later
#: where there are segments, and the slot's segment is noted.
PLANNER, REST = 0, 1
SEGMENT = REST
MODEL, WORST_CASE = 0.0, 1.0
#: No number of a state is larger, and no scale and no number of rounds smaller.
LARGEST, SMALLEST = 1e18, 1e-9
#: Restarts that are allowed at first, and rounds (times epsilon, if that is below 1) that allow one more.
RESTARTS_AT_FIRST, ROUNDS_PER_RESTART = 4, 4000.0


class Model:
    """For a query of one cost, whose released unit is worth `unit` halves of the range.

    The `worst` case's policy takes over where no model fits. The `prior` holds what is known from elsewhere.
    With a `half_life` old rounds count half after so many further rounds, and there are no restarts. With
    `constraints` only allowed sets are played, and the worst case, which cannot keep to them, never takes
    over. Nor does it where there are `segments`, so many.
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
        constraints: Constraints | None = None,
        items: ItemFeedback | None = None,
        segments: int = 0,
    ) -> None:
        self.n = worst.constants.start.size
        self._items = items
        self._worst, self._noise, self._unit = worst, noise, unit
        self._prior, self._half_life = prior, half_life
        self._constraints = constraints
        self._beliefs = Beliefs(self.n, noise, items, segments)
        self._candidates = Candidates(self._beliefs, noise, items, constraints, half_life)
        self._restart_share = min(1.0, epsilon) / ROUNDS_PER_RESTART
        self._width = REST + max(self.n, NOTES)
        self._segments, self._rest = segments, REST
        if segments:
            self._width, self._rest = self._width + 1, REST + 1

    def start(self) -> ModelState:
        n = self.n
        seen = Seen.nothing(n, n if self._items is not None else 0)
        worst = self._worst.start()
        first = worst.x.copy()
        if self._constraints is not None:  # the point is a set that is allowed
            first = self._constraints.repaired(first[None] > 0.5, -first[None])[0].astype(np.float64)
        scales = np.array(FIRST), np.array(FIRST_PARTS)
        many = self._segments
        segments = Segments(np.full(many, 1 / max(1, many)), np.tile(first, (many, 1)), np.zeros((many, 3)))
        state = ModelState(first, seen, *scales, np.zeros(6), segments, worst)
        if self._prior is not None:
            for segment in range(max(1, many)):
                seen.add(self._prior.in_segment(segment, max(1, many)))
            state = self._with_best_sets(state)
        return state

    def point(self, state: ModelState, segment: int | None = None) -> FloatArray:
        return (state.x if segment is None else state.segments.x[segment]).copy()

    def makes_sense(self, state: ModelState) -> bool:
        """Whether a state that was kept elsewhere may be one of this policy's."""
        parts = (state.x, *state.seen, *state[2:5], *state.segments)
        numbers, levels = np.concatenate([part.ravel() for part in parts]), best_sets(state)
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
        seen = state.seen.widened(self.n)
        seen.rounds[(seen.signs[:, replaced] > 0).any(axis=1)] = 0.0
        of_each = state.segments.counts.copy()
        of_each[:, BEFORE], of_each[:, FITTED] = of_each[:, ROUNDS], 0.0
        if not seen.known.any():
            return start._replace(counts=counts, segments=start.segments._replace(counts=of_each))
        best = best_sets(state)
        best = np.hstack((best, np.zeros((len(best), self.n - state.x.size))))
        best[:, replaced] = 0.0
        segments = state.segments._replace(x=best[1:], counts=of_each)
        state = state._replace(x=best[0], seen=seen, counts=counts, segments=segments)
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
            phase = self._planned(seen_from(state, segment), coins, available)
            phase.note[:, SEGMENT] = segment
            return phase
        return self._planned(state, coins, available)

    def _planned(self, state: ModelState, coins: BitSource, available: IntArray | None) -> Phase:
        if state.counts[FAILED]:
            phase = self._worst.plan(state.worst, coins, available)
            if available is not None:
                phase = phase._replace(rounds=np.ones(1, dtype=np.int64))
            return self._noted(phase, WORST_CASE, phase.note)
        rng = coins.generator()
        with one_thread():
            if available is not None:
                return self._one_round(state, rng, available)
            sets, most = self._candidates.sets(state, rng)
            return self._phase(sets, self._candidates.rounds(state, most), np.arange(self.n))

    def _one_round(self, state: ModelState, rng: np.random.Generator, available: IntArray) -> Phase:
        """One of the available sets for one round, best by a drawn function."""
        among = (self._constraints or Constraints(self.n, self.n)).among("ask", available)
        starts = np.concatenate((2 * state.x[None] - 1, random_sets(3, self.n, rng)))
        starts = allowed(starts, among, rng)
        chosen = starts[-1:]
        if state.seen.known.any():
            chosen = (
                self._beliefs.posterior(state)
                .drawn(np.array([self._candidates.factor]), rng)
                .least(starts, among)
            )
        return self._phase(chosen, np.ones(1, dtype=np.int64), available)

    def _phase(self, signs: FloatArray, rounds: IntArray, items: IntArray) -> Phase:
        """Sets, given by signs, among these items."""
        among = signs[:, items]
        order = items[np.argsort(-among, axis=1, kind="stable")]
        chance = np.ones((len(signs), items.size + 1))
        phase = Phase(order, chance, (among > 0).sum(axis=1), rounds, signs)
        return self._noted(phase, MODEL, signs)

    def _noted(self, phase: Phase, planner: float, rest: FloatArray) -> Phase:
        note = np.zeros((len(rest), self._width))
        note[:, PLANNER] = planner
        note[:, self._rest : self._rest + rest.shape[1]] = rest
        return phase._replace(note=note)

    # Learning

    def learn(self, state: ModelState, released: Released) -> ModelState:
        if not isinstance(released, Released):
            raise InvalidType(f"A policy learns from a Released. Got {type(released).__name__} instead.")
        rounds, counts = released.rounds.astype(np.float64), state.counts.copy()
        totals = released.values[:, 0] * self._unit
        by_model = released.note[:, PLANNER] == MODEL
        counts[ROUNDS] += rounds.sum()
        counts[TOTAL] += totals.sum()
        state = state._replace(counts=counts)
        if not by_model.all():
            state = self._learn_worst(state, released, totals, ~by_model)
        if not counts[FAILED] and by_model.any():
            signs = as_signs(released.note[by_model, self._rest : self._rest + self.n], self.n)
            parts, segments = np.zeros((len(signs), 0)), np.zeros(len(signs))
            if self._items is not None:
                parts = released.values[by_model, 1:] * self._items.unit
            if self._segments:
                segments = released.note[by_model, SEGMENT]
            new = Seen(signs, segments, totals[by_model], rounds[by_model], np.ones(len(signs)), parts)
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
        seen, rounds = state.seen.copy(), new.rounds.sum()
        of_all, segment = state.counts, int(new.segments[0])  # a phase is of one segment
        if self._segments:
            state = seen_from(state, segment)
            state.counts[ROUNDS] += rounds
        counts = state.counts.copy()
        if self._half_life is not None:
            share = 0.5 ** (rounds / self._half_life)
            seen.fade(share)
        elif self._beliefs.surprised(state, new):
            seen.rounds[seen.segments == segment] = 0.0
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
            state = self._beliefs.fitted(state)
            of_each = state.segments.counts.copy()
            of_each[:, FITTED] = of_each[:, ROUNDS] - of_each[:, BEFORE]
            state = state._replace(segments=state.segments._replace(counts=of_each))
        if self._segments:
            state = seen_from_all(state, segment, of_all)
        return self._with_best_sets(state)

    def _with_best_sets(self, state: ModelState) -> ModelState:
        """With the sets of least expected cost that descents find, from the best known ones and the last."""
        posterior = self._beliefs.posterior(state)
        signs = posterior.observed.signs
        known = signs[posterior.expected(signs).argmin(axis=1)]
        last = np.where(best_sets(state) > 0.5, 1.0, -1.0)
        starts = allowed(np.stack((known, last), axis=1).reshape(-1, self.n), self._constraints)
        least = posterior.mean().least(starts.reshape(len(last), -1, self.n), self._constraints)
        best = (least + 1) / 2
        return state._replace(x=best[0], segments=state.segments._replace(x=best[1:]))
