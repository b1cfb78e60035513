"""Hold out a share of the rounds: they get a default set, whatever was learned, to see what learning earns.

A phase gets one slot more, so a person's cost enters one sum as before, and the guarantee stays. What was
released of both kinds of rounds is added up; the policy never sees those held out. Rounds in which only some
items can be chosen are of neither kind: they may differ from others, and the default set may not fit.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from discreet.checks import FloatArray, IntArray
from discreet.kernel.phase import EACH_ROUND, Phase, Released
from discreet.policies.base import Policy, plan_of
from discreet.randomness import BitSource

#: Places in `HoldoutState.sums`: rounds, released sum in halves of the range, and number of releases, of
#: those held out and then of the others.
_KIND = 3
#: What kind of round a slot has, at the end of its note.
LEARNED, HELD, NEITHER = 0.0, 1.0, -1.0
#: Standard deviations of an interval of 95%: more than for normal noise, since that of a few sums has heavier
#: tails. It is for one look, not for stopping when it looks best.
_WIDE = 2.12


class HoldoutState(NamedTuple):
    """The state of the policy, and what was released."""

    policy: Any
    sums: FloatArray


class Held(NamedTuple):
    """What was released of the rounds held out, and of the others, as means of costs (or rewards).

    The interval of the uplift is one of 95%, from the noise, and the largest variance that values can have.
    """

    rounds: int
    mean: float | None
    learned_rounds: int
    learned_mean: float | None
    uplift: float | None  # by how much learned sets were better
    low: float | None
    high: float | None


class Holdout:
    """A policy for a query of one cost, whose default set is shown in a share of the rounds.

    Args:
        policy: The policy, which has never more than one default set beside it.
        members: The item numbers of the default set.
        share: Of the rounds, above 0 and below 1.
        unit: Halves of the range that a released unit is worth.
    """

    #: Rounds of a phase are not dealt among some items: those of each kind must be alike.
    deals_among = False

    def __init__(self, policy: Policy[Any], members: IntArray, share: float, unit: float, n: int) -> None:
        self.policy, self._share, self._unit = policy, share, unit
        others = np.setdiff1d(np.arange(n), members)
        self._order, self._size = np.append(np.sort(members), others), members.size

    def start(self) -> HoldoutState:
        return HoldoutState(self.policy.start(), np.zeros(2 * _KIND))

    def plan(
        self,
        state: HoldoutState,
        coins: BitSource,
        available: IntArray | None = None,
        segment: int | None = None,
    ) -> Phase:
        plan = plan_of(self.policy, segment)
        if available is not None:
            return _marked(plan(state.policy, coins, available), NEITHER)
        phase = _marked(plan(state.policy, coins), LEARNED)
        total, n = int(phase.rounds.sum()), self._order.size
        held = Phase(
            self._order.reshape(1, -1).astype(np.int64),
            np.ones((1, n + 1)),
            np.array([self._size]),
            np.ones(1, dtype=np.int64),
            np.append(np.zeros(phase.note.shape[1] - 1), HELD).reshape(1, -1),
        )
        if total == 1:  # a coin for each round
            chosen, chance = (held, self._share) if coins.generator().random() < self._share else (phase, 1.0)
            if chosen is phase and phase.size[0] != EACH_ROUND:
                chance = 1 - self._share
            return chosen._replace(chance=chosen.chance * chance)
        wanted = total * self._share / (1 - self._share) + coins.generator().random()
        if wanted < 1:
            return phase
        held.rounds[0] = int(wanted)
        return Phase(*[np.concatenate(pair) for pair in zip(phase, held, strict=True)])

    def learn(self, state: HoldoutState, released: Released) -> HoldoutState:
        kind, sums = released.note[:, -1], state.sums.copy()
        held = kind == HELD
        for place, rows in ((0, held), (_KIND, kind == LEARNED)):
            total = float(released.values[rows, 0].sum()) * self._unit
            sums[place : place + _KIND] += (released.rounds[rows].sum(), total, rows.sum())
        policy = state.policy
        if not held.all():
            note = np.ascontiguousarray(released.note[~held, :-1])
            others = Released(note, released.rounds[~held], released.values[~held])
            policy = self.policy.learn(policy, others)
        return HoldoutState(policy, sums)

    def widened(self, state: HoldoutState, replaced: IntArray) -> HoldoutState:
        """The state where items were added or retired, as the policy has it."""
        policy: Any = self.policy
        return state._replace(policy=policy.widened(state.policy, replaced))

    def makes_sense(self, state: HoldoutState) -> bool:
        """Whether a state that was kept elsewhere may be one of this policy's."""
        own = getattr(self.policy, "makes_sense", None)
        return bool(np.isfinite(state.sums).all()) and (own is None or own(state.policy))

    def point(self, state: HoldoutState, segment: int | None = None) -> FloatArray:
        own, place = getattr(self.policy, "point", None), () if segment is None else (segment,)
        return np.full(self._order.size, 0.5) if own is None else np.array(own(state.policy, *place))

    def mean(self, state: HoldoutState) -> float | None:
        """The mean of what was released of the rounds that are not held out, in halves of the range."""
        rounds, total = state.sums[_KIND : _KIND + 2].tolist()
        return total / rounds if rounds else None

    def held(self, state: HoldoutState, noise: float, local: bool, middle: float, factor: float) -> Held:
        """What was released, in costs or rewards.

        Args:
            state: Of this policy.
            noise: The variance of the noise on a released sum (or bit), in squared halves of the range.
            local: Whether every round is released by itself: a bit has all the variance it can have.
            middle: The cost or reward in the middle of the range.
            factor: What a half of the range is worth; negative where rewards are maximised.
        """
        means: list[float | None] = []
        variances = []
        for rounds, total, releases in state.sums.reshape(2, _KIND).tolist():
            means.append(total / rounds if rounds else None)
            spread = noise * rounds if local else rounds + noise * releases
            variances.append(spread / rounds**2 if rounds else math.inf)
        held, learned = (None if mean is None else middle + factor * mean for mean in means)
        uplift = low = high = None
        if means[0] is not None and means[1] is not None:
            uplift = abs(factor) * (means[0] - means[1])
            margin = _WIDE * abs(factor) * math.sqrt(sum(variances))
            low, high = uplift - margin, uplift + margin
        counts = state.sums[[0, _KIND]].astype(int).tolist()
        return Held(counts[0], held, counts[1], learned, uplift, low, high)


def _marked(phase: Phase, kind: float) -> Phase:
    return phase._replace(note=np.hstack((phase.note, np.full((len(phase.note), 1), kind))))
