"""Choose: hold the set that was best in the phase before, watch whether it still is, and give up if not.

Phases double. They are cut into slots, of each of which is released by how much more the held set cost than
the best set of that slot. If that is more than chance explains, the functions are not drawn alike: then there
is an alarm, and `Averaging`, which has a bound for any functions, goes on from its start, for good.
"""

import math
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from discreet.checks import BoolArray, FloatArray, IntArray
from discreet.compiled import lean_kernel
from discreet.kernel.choice import CHOSEN, DIFFERENCE, ENDS, HELD, KIND, PHASE
from discreet.kernel.phase import Phase
from discreet.kernel.queries import GRADIENT
from discreet.policies.averaging import Averaging, AveragingState
from discreet.policies.base import CompiledPolicy, learn, plan
from discreet.randomness import BitArray

#: The noise of a difference is as large as `sureness` times its scale with probability exp(-SURE) / (2 k), in
#: the k-th slot.
SURE = 4.0
#: After the numbers in `kernel.choice`, a slot's note has the difference above which there is an alarm.
THRESHOLD = PHASE + 1
#: A threshold that no difference exceeds.
NEVER = 2.0**62

#: Places in `ChooseState.counts`: the number of the phase, its rounds, how many of them were learned from;
#: all rounds and slots that were learned from, the stage, and the code (or place) of the set that is held.
NUMBER, LENGTH, LEARNED, ROUNDS, SLOTS, STAGE, PLACE = range(7)
#: Stages: before the first set is chosen, while one is held, and after an alarm.
STARTING, HOLDING, AVERAGING = range(3)


class _Choosing(NamedTuple):
    first: int  # rounds of the first phase
    shortest: int  # rounds of the shortest slot
    noise: float  # the scale of the noise of a difference, in units
    spread: float  # by how much differences vary in slots of one round, in units
    averaging: Any  # the constants of `Averaging`
    listed: BoolArray  # the members of each allowed set, if not all sets are


class ChooseState(NamedTuple):
    """The state of `Averaging`, whose point is the set that is held before that begins; and counts."""

    x: FloatArray
    levels: FloatArray
    released: FloatArray
    adapted: FloatArray
    counts: IntArray


class Choose(CompiledPolicy):
    """For a query of the costs of all sets, released as a `Choice`.

    The first phase, of `first` rounds, plays the point where the `averaging` starts. Slots have at least
    `shortest` rounds. There is an alarm if a difference exceeds `sureness` times the scale of its `noise`,
    and `spread` times the root of the slot's rounds. If only `listed` sets are allowed, a row of members
    each, an alarm does not lead to averaging, which could not keep to them: after one more slot a set is
    chosen again, and phases are short once more.
    """

    def __init__(
        self,
        averaging: Averaging,
        *,
        first: int,
        shortest: int,
        noise: float,
        spread: float,
        listed: BoolArray | None = None,
    ) -> None:
        state: AveragingState = averaging.start()
        counts = np.zeros(PLACE + 1, dtype=np.int64)
        counts[LENGTH] = first
        if listed is None:
            listed = np.zeros((0, state.x.size), dtype=np.bool_)
        else:  # the first phase plays the nearest set, not the point
            counts[PLACE] = np.abs(listed - state.x).sum(axis=1).argmin()
            nearest = listed[counts[PLACE]].astype(np.float64)
            state = state._replace(x=nearest, levels=nearest.copy())
        constants = _Choosing(first, shortest, noise, spread, averaging.constants, listed)
        numbers = max(state.x.size, CHOSEN + 1)
        super().__init__(constants, ChooseState(*state, counts), notes=THRESHOLD + 1, numbers=numbers)

    def widened(self, state: ChooseState, replaced: IntArray) -> ChooseState:
        """The state where items were added or retired: a first phase, of what was held, if allowed."""
        start: ChooseState = self.start()
        listed = self.constants.listed
        start.counts[SLOTS] = state.counts[SLOTS]
        if state.counts[STAGE] != AVERAGING:
            held = start.x if state.counts[STAGE] == STARTING else np.zeros(start.x.size)
            held[: state.x.size] = state.x
            held[replaced] = 0.0
            if len(listed):
                start.counts[PLACE] = np.abs(listed - held).sum(axis=1).argmin()
                held = listed[start.counts[PLACE]]
            start.x[:] = start.levels[:] = held
        return start

    def restarted(self, state: ChooseState) -> ChooseState:
        """The state where the totals of the open phase are lost: a first phase, of what was held."""
        if state.counts[STAGE] == AVERAGING:
            return state
        return self.widened(state, np.zeros(0, dtype=np.int64))


@lean_kernel
def sureness(slots: int) -> float:
    """How many scales of its noise the difference of a slot may be, after so many slots."""
    return SURE + math.log(slots + 1.0)


@lean_kernel
def slot_length(shortest: int, rounds: int, left: int) -> int:
    """The rounds of a slot, after so many rounds, where a phase has so many left."""
    wanted = max(shortest, int(rounds ** (2.0 / 3.0)))
    return wanted if 2 * left > 3 * wanted else left


def regret_before_alarm(policy: Any, width: int, rounds: int) -> float:
    """What sets cost more than the best of each slot, at most, in units: `docs/guarantees.md#regret`.

    In a slot without alarm that is the threshold and half a scale of noise; in the first phase, and in a slot
    with one, the `width` of the range for each round.
    """
    regret, longest = float(width * policy.first), 0
    done = left = policy.first
    slots = 1 + policy.first // policy.shortest
    while done < rounds:
        slot = slot_length(policy.shortest, done, left)
        most = policy.noise * (sureness(slots) + 0.5) + policy.spread * math.sqrt(slot)
        regret += min(most, float(width * slot))
        done, left, slots, longest = done + slot, left - slot, slots + 1, max(longest, slot)
        left = left or done
    return regret + width * longest


@plan.register(_Choosing)
@lean_kernel
def _plan_slot(policy: _Choosing, state: ChooseState, phase: Phase, coins: BitArray, cursor: int) -> int:
    counts, note = state.counts, phase.note[0]
    point = AveragingState(state.x, state.levels, state.released, state.adapted)
    cursor = plan(policy.averaging, point, phase, coins, cursor)
    if counts[STAGE] == AVERAGING:
        note[KIND] = GRADIENT
        return cursor
    left = max(counts[LENGTH] - counts[LEARNED], 1)
    rounds = slot_length(policy.shortest, counts[ROUNDS], left)
    threshold = NEVER
    if counts[STAGE] == HOLDING:
        threshold = policy.noise * sureness(counts[SLOTS]) + policy.spread * math.sqrt(rounds)
    phase.rounds[0] = rounds
    note[KIND], note[HELD], note[ENDS] = 0.0, counts[PLACE], 1.0 if rounds == left else 0.0
    note[PHASE], note[THRESHOLD] = counts[NUMBER], threshold
    return cursor


@learn.register(_Choosing)
@lean_kernel
def _learn_slots(
    policy: _Choosing,
    state: ChooseState,
    note: FloatArray,
    rounds: IntArray,
    values: npt.NDArray[Any],
) -> None:
    counts = state.counts
    for k in range(rounds.size):
        if note[k, KIND] == GRADIENT:
            point = AveragingState(state.x, state.levels, state.released, state.adapted)
            learn(policy.averaging, point, note[k : k + 1], rounds[k : k + 1], values[k : k + 1])
        elif counts[STAGE] != AVERAGING:
            counts[LEARNED] += rounds[k]
            counts[ROUNDS] += rounds[k]
            counts[SLOTS] += 1
            chosen = int(values[k, CHOSEN])
            alarm = values[k, DIFFERENCE] > note[k, THRESHOLD]
            if alarm and policy.listed.shape[0] == 0:
                counts[STAGE] = AVERAGING
                for i in range(state.x.size):
                    state.x[i] = state.levels[i] = policy.averaging.start[i]
                continue
            if alarm and note[k, PHASE] == counts[NUMBER]:
                counts[ROUNDS] = counts[LEARNED]
                counts[LENGTH] = counts[LEARNED] + policy.shortest
            if chosen >= 0:
                counts[STAGE], counts[PLACE] = HOLDING, chosen
                counts[NUMBER] += 1
                counts[LENGTH] = max(counts[ROUNDS], 1)
                counts[LEARNED] = 0
                _hold(policy.listed, chosen, state)


@lean_kernel
def _hold(listed: BoolArray, place: int, state: ChooseState) -> None:
    """Hold a set, given by its place in the list, or by its code if there is none."""
    for i in range(state.x.size):
        state.x[i] = listed[place, i] if listed.shape[0] > 0 else place >> i & 1
        state.levels[i] = state.x[i]
