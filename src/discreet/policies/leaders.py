"""Policies that follow the leader: take every item that has lowered costs so far.

With few releases there is little noise in total, so slots grow with the number of rounds. That is much better
than small steps as long as people come as they came, and as long as the worth of an item does not depend
much on the others; where it does, a leader can lose in every round. `WatchedLeader` notices by itself, from
the same released numbers, and goes over to small steps (`docs/guarantees.md#a-leader-that-is-watched`).
"""

import math
from typing import NamedTuple

import numpy as np

from discreet import bounds
from discreet.checks import FloatArray, IntArray
from discreet.kernel.phase import EACH_ROUND, Phase, Released
from discreet.policies.averaging import LENGTH, Averaging, AveragingState
from discreet.randomness import BitSource

#: What an item adds to the regret that is seen in a slot, by noise alone and at most, in its deviations.
CHANCE = 0.45
#: How many deviations of chance are allowed in what is seen, and in what was cut off.
ALLOWED, ALLOWED_CUT = 1.5, 4.0

#: Places in `WatchedState.counts`: rounds and slots so far, what their sets have paid, the variance of
#: chance (noise, and people's differences), the regret seen lately, what was cut off of doubled gradients.
ROUNDS, SLOTS, PAID, CHANCES, SEEN, CUT = range(6)
#: Notes of slots: small steps, a leader, a leader on doubled gradients.
STEPS, PLAIN, DOUBLED = 0.0, -1.0, 1.0


def hold(levels: FloatArray, x: FloatArray, rounds: int, note: float, items: IntArray | None = None) -> Phase:
    """One slot, which draws a level set of the point x in each round; levels sort the items as x does."""
    among = np.arange(levels.size) if items is None else items
    order = among[np.argsort(-levels[among], kind="stable")]
    chance = -np.diff(x[order], prepend=1.0, append=0.0)
    return Phase(
        order.reshape(1, -1).astype(np.int64),
        chance.reshape(1, -1),
        np.array([EACH_ROUND]),
        np.array([rounds]),
        np.array([[note]]),
    )


class LeaderState(NamedTuple):
    """The sum of all released gradients in units, and the number of rounds."""

    released: FloatArray
    rounds: IntArray


class DoublingLeader:
    """After a `first` slot with all or nothing, the set of all negative sums, for as long as it took so far.

    For a query of gradients. The order of the items does not follow what was learned: for additive costs.
    """

    def __init__(self, n: int, first: int) -> None:
        self._n, self._first = n, first

    def start(self) -> LeaderState:
        return LeaderState(np.zeros(self._n), np.zeros(1, dtype=np.int64))

    def plan(self, state: LeaderState, coins: BitSource, available: IntArray | None = None) -> Phase:
        x = self.point(state)
        return hold(x, x, max(self._first, int(state.rounds[0])), PLAIN, available)

    def learn(self, state: LeaderState, released: Released) -> LeaderState:
        more = released.values.sum(axis=0)
        return LeaderState(state.released + more, state.rounds + released.rounds.sum())

    def point(self, state: LeaderState) -> FloatArray:
        """1 for the items that are taken; 1/2 before anything was released."""
        return np.where(state.released < 0, 1.0, 0.0) if state.rounds[0] else np.full(self._n, 0.5)


class WatchedState(NamedTuple):
    """The leader's weighted sum; the plain sum but for the first slot; the counts; the mode, a note."""

    weighted: FloatArray
    released: FloatArray
    counts: FloatArray
    mode: FloatArray
    averaging: AveragingState


class WatchedLeader:
    """Follow the leader in slots that grow, and go over to `averaging` for good when that seems to lose.

    For a query of magnified gradients. In the leader's sum a slot weighs as the root of its length: long ones
    have less noise per round. Items are in the order of their sums, so that the doubtful ones have exact
    marginal costs. What is watched is the regret of each slot to its own best set, which tells of change, and
    that of all slots to one set. Doubling ends when too much was cut off.

    Args:
        averaging: What plays once the leader has lost.
        unit: The value of one released unit.
        noise: The deviation of the noise on a released number, in values.
        half: Half the width of the range of costs.
        first: The rounds of the first slot.
    """

    def __init__(self, averaging: Averaging, *, unit: float, noise: float, half: float, first: int) -> None:
        self.averaging, self.first = averaging, first
        self._start = averaging.constants.start
        self._unit, self._noise, self._half = unit, noise, half

    def start(self) -> WatchedState:
        n = self._start.size
        mode = np.array([DOUBLED])
        return WatchedState(np.zeros(n), np.zeros(n), np.zeros(6), mode, self.averaging.start())

    def length(self, state: WatchedState) -> int:
        """For how many rounds the next slot is planned."""
        if state.mode[0] == STEPS:
            return int(state.averaging.adapted[LENGTH])
        return leader_length(self.first, int(state.counts[ROUNDS]))

    def plan(self, state: WatchedState, coins: BitSource, available: IntArray | None = None) -> Phase:
        mode = state.mode[0]
        if mode == STEPS:
            phase = self.averaging.plan(state.averaging, coins, available)
            return phase._replace(note=np.array([[STEPS]]))
        levels = -state.weighted if state.counts[SLOTS] else self._start
        return hold(levels, self.point(state), self.length(state), mode, available)

    def learn(self, state: WatchedState, released: Released) -> WatchedState:
        for note, rounds, values in zip(
            released.note[:, 0], released.rounds, released.values * self._unit, strict=True
        ):
            if state.mode[0] != STEPS and note != STEPS:
                state = self._watch(state, note == DOUBLED, int(rounds), values)
        if state.mode[0] == STEPS and released.note[0, 0] == STEPS:
            plain = Released(np.zeros((len(released.rounds), 0)), released.rounds, released.values)
            state = state._replace(averaging=self.averaging.learn(state.averaging, plain))
        return state

    def _watch(self, state: WatchedState, doubled: bool, rounds: int, values: FloatArray) -> WatchedState:
        gradient, noise = (values[:-1] / 2, self._noise / 2) if doubled else (values[:-1], self._noise)
        n, counts, plain_sum, mode = gradient.size, state.counts.copy(), state.released, state.mode
        if counts[SLOTS]:
            plain_sum = plain_sum + gradient
            paid = float(gradient @ self.point(state))
            chance = n * noise**2 + 2 * self._half**2 * rounds
            seen = paid - np.minimum(gradient, 0.0).sum() - CHANCE * math.sqrt(n * chance)
            counts[PAID] += paid
            counts[CHANCES] += chance
            counts[SEEN] = max(0.0, counts[SEEN] + seen)
            counts[CUT] += values[-1]
            deviation = math.sqrt(counts[CHANCES])
            regret = counts[PAID] - np.minimum(plain_sum, 0.0).sum()
            if doubled and counts[CUT] > ALLOWED_CUT * self._noise * math.sqrt(counts[SLOTS]):
                mode = np.array([PLAIN])
            if max(counts[SEEN], regret - CHANCE * math.sqrt(n) * deviation) > ALLOWED * deviation:
                mode = np.array([STEPS])
        counts[ROUNDS] += rounds
        counts[SLOTS] += 1
        weighted = state.weighted + math.sqrt(rounds) * gradient
        return WatchedState(weighted, plain_sum, counts, mode, state.averaging)

    def point(self, state: WatchedState) -> FloatArray:
        """1 for the items that the leader takes; the levels of `averaging` after it has lost."""
        if state.mode[0] == STEPS:
            return self.averaging.point(state.averaging)
        return np.where(state.weighted < 0, 1.0, 0.0) if state.counts[SLOTS] else self._start.copy()

    def regret_bound(self, rounds: int) -> float:
        """What the leader costs at most, on top of the bound of `averaging`."""
        return bounds.watched_leader(
            self._start.size,
            rounds,
            self._half,
            self._noise**2,
            self.first,
            chance=CHANCE,
            allowed=ALLOWED,
            allowed_cut=ALLOWED_CUT,
        )


def leader_length(first: int, rounds: int) -> int:
    """The length of the leader's slot after so many rounds: as long again, but at most 2 sqrt(first t)."""
    return max(first, min(rounds, int(2 * math.sqrt(first * rounds))))
