"""Attacks on whole learners: they are asked and told, and all that can be seen of them is compared.

One script is played over and over: tells in order, reordered, in bulk and late, bits made by a client, items
that are switched off, wrong calls, saving and loading, and some of this again after round 50. Neighbours
differ in one round of it. Noise that is a little too small is left to `releases`; here is found what a
learner shows beside its noise, in every public property, text, error or file.
"""

import itertools
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from discreet.auditing.attack import LEAST, frozen_differences, padded
from discreet.auditing.releases import pairs_of_values
from discreet.auditing.target import Pair, seed_sequence
from discreet.auditing.transcripts import SCRIPT, Key, transcript
from discreet.checks import FloatArray
from discreet.learners.feedback import FunctionFeedback
from discreet.learners.session import Session
from discreet.privacy.guarantee import Guarantee
from discreet.randomness import Seed

#: Runs of each history that are compared to see where to look.
FEW = 8
#: To find that what always shows breaks a claim takes a number of runs that grows with exp(epsilon).
RUNS, MOST_RUNS = 64, 4000


class Sessions:
    """A learner that is asked and told round by round, in Python.

    Args:
        make: From a seed (or None) to a new learner with `ask`, `tell`, `items` and `guarantee`.
        cost_range: The range of what it is told.
        functions: Whether it is told functions of sets, not numbers.
        source: Random bits for all of them, if not their own.

    The data of an audit are sequences of feedback, one for each round.

    Examples:
        >>> from discreet import BanditLearner
        >>> sessions = Sessions(lambda seed: BanditLearner(2, epsilon=1.0, cost_range=(0, 1), seed=seed))
        >>> sessions.claim().epsilon, len(sessions.observe([0.0, 0.5, 1.0], runs=2, seed=1))
        (1.0, 2)
    """

    def __init__(
        self,
        make: Callable[[Seed | None], Any],
        *,
        cost_range: tuple[float, float] = (0.0, 1.0),
        functions: bool = False,
        source: Any = None,
    ) -> None:
        self._make, self._source, self._functions = make, source, functions
        pattern = make(None)
        self._claim: Guarantee = pattern.guarantee
        self._low, self._high = sorted(cost_range)
        self._items: tuple[Any, ...] = tuple(pattern.items)
        self._keeps_secrets = getattr(pattern, "keeps_secrets", False)
        self._columns: dict[Key, int] = {}
        starts = [0, *itertools.accumulate(length for _, length, _ in SCRIPT)]
        self._rounds = min(starts[-1], getattr(pattern, "horizon", 1 << 30))
        #: The rounds in which people may differ, and what is done there.
        self._places = [
            (about, start + place)
            for start, (about, _, place) in zip(starts, SCRIPT, strict=False)
            if place is not None and start + place < self._rounds
        ]
        growth = math.exp(min(self._claim.epsilon or 1.0, 10.0))
        self.most_runs = int(min(max(2 * LEAST, RUNS * growth), MOST_RUNS))

    def claim(self) -> Guarantee:
        return self._claim

    def pairs(self) -> list[Pair]:
        """Histories that differ in one round, of the kinds that seem to show something.

        Histories that differ in all places at once are played a few times each, to see whether something has
        one value in all runs of one and another one in all runs of the other.
        """
        middle, ends, *others = self._told()
        places = {place: k for k, (_, place) in enumerate(self._places)}
        # One low cost among high ones decides where a sum passes a threshold.
        high = Pair(
            "one low cost among high ones", *self._histories(ends.first, {min(1, self._rounds - 1): ends})
        )
        for kind in (None, 0, 4):
            told = {t: ends if kind is None else others[(k + kind) % len(others)] for t, k in places.items()}
            if self._differ(*self._histories(middle, told)):
                return [high, *(self._pair(middle, k, told[t]) for t, k in places.items())]
        return [high if self._differ(*high[1:]) else self._pair(middle, 0, ends)]

    def _pair(self, base: Any, k: int, change: Pair) -> Pair:
        about, place = self._places[k]
        return Pair(f"round {place + 1} ({about}): {change.about}", *self._histories(base, {place: change}))

    def _histories(self, base: Any, changes: dict[int, Pair]) -> list[list[Any]]:
        return [[changes[t][side] if t in changes else base for t in range(self._rounds)] for side in (1, 2)]

    def _differ(self, *told: list[Any]) -> bool:
        first, second = (self.observe(data, FEW, seed) for seed, data in enumerate(told))
        return bool(frozen_differences(padded(first, second.shape[1]), second).any())

    def _told(self) -> list[Any]:
        """What is told where nothing differs; pairs of what one person may tell, ends of the range first."""
        low, high = self._low, self._high
        told = pairs_of_values(low, high, (high - low) / 2**21)
        told.append(Pair("text and the upper end", "much", high))
        middle = low + (high - low) / 2
        if not self._functions:
            return [middle, *told]
        first, last = self._items[0], self._items[-1] if len(self._items) > 1 else None

        def cut(value: Any, one: Any, other: Any) -> Callable[[Any], Any]:
            return lambda chosen: value if one in chosen and other not in chosen else low

        turned = [Pair(about, cut(one, first, last), cut(other, last, first)) for about, one, other in told]
        return [cut(middle, first, last), *turned]

    def observe(self, data: Sequence[Any], runs: int, seed: Seed | None) -> FloatArray:
        seeds = [None] * runs if seed is None else seed_sequence(seed).spawn(runs)
        rows = [self._one_run(one, data) for one in seeds]
        for key in itertools.chain(*rows):
            self._columns.setdefault(key, len(self._columns))
        seen = np.full((runs, len(self._columns)), np.nan)
        for k, row in enumerate(rows):
            seen[k, [self._columns[key] for key in row]] = list(row.values())
        return seen

    def _one_run(self, seed: Seed | None, data: Sequence[Any]) -> dict[Key, float]:
        learner = self._make(seed)
        if seed is None and self._source is not None:
            learner._source = self._source
        return transcript(learner, data, keeps_secrets=self._keeps_secrets)

    def column(self, index: int) -> str:
        tells, name, place = list(self._columns)[index]
        return f"{name}[{place}] after {tells} tells" if place else f"{name} after {tells} tells"


def sessions_of(given: Session[Any]) -> Sessions:
    """The attack on a learner of this package, or of a class derived from one."""
    query, sign = given.learner.query, given._sign
    return Sessions(
        given.fresh,
        cost_range=(sign * query.low, sign * query.high),
        functions=isinstance(given, FunctionFeedback),
        source=given._source,
    )
