"""Attacks on whole learners: they are asked and told, and all that can be seen of them is compared.

One script is played over and over: tells in order, reordered, in bulk and late, bits made by a client, items
that are switched off, wrong calls, saving and loading, and some of this again after round 50. Neighbours
differ in one round of it. Noise that is a little too small is left to `releases`; here is found what a
learner shows beside its noise, in every public property, text, error or file.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from discreet.auditing.attack import frozen_differences
from discreet.auditing.numbers import number_pairs
from discreet.auditing.target import Pair, seed_sequence
from discreet.auditing.transcripts import Key, Run
from discreet.checks import FloatArray
from discreet.learners.feedback import FunctionFeedback
from discreet.learners.session import Session
from discreet.privacy.guarantee import Guarantee
from discreet.randomness import Seed

#: What is done, for how many rounds, and in which of them people may differ.
SCRIPT = (
    ("plain", 6, (1,)),
    ("reversed", 4, (1,)),
    ("many", 4, (2,)),
    ("late", 4, (0,)),
    ("available", 2, (0,)),
    ("bits", 2, (1,)),
    ("errors", 2, (0,)),
    ("load", 4, (1,)),
    ("plain", 23, ()),
    ("reversed", 4, (1,)),
    ("late", 4, (0,)),
    ("plain", 4, (0,)),
)
#: The rounds in which people may differ: the part of the script, its name, and the round.
PLACES = [
    (part, about, sum(length for _, length, _ in SCRIPT[:part]) + place)
    for part, (about, _, places) in enumerate(SCRIPT)
    for place in places
]
#: Runs of each history that are compared to see where to look.
FEW = 8


class Sessions:
    """A learner that is asked and told round by round, in Python.

    Args:
        make: From a seed (or None) to a new learner with `ask`, `tell`, `items` and `guarantee`.
        cost_range: The range of what it is told.
        functions: Whether it is told functions of sets, not numbers.
        keeps_secrets: Whether its saved file is as secret as the data, so that only part of it is looked at.
        source: Random bits for all of them, if not their own.

    The data of an audit are sequences of feedback, one for each round.

    Examples:
        >>> from discreet import BanditLearner
        >>> sessions = Sessions(lambda seed: BanditLearner(2, epsilon=1.0, cost_range=(0, 1), seed=seed))
        >>> _, first, second = sessions.pairs()[0]
        >>> len(first), sum(a != b for a, b in zip(first, second)), sessions.claim().epsilon
        (63, 1, 1.0)
    """

    most_runs = 300

    def __init__(
        self,
        make: Callable[[Seed | None], Any],
        *,
        cost_range: tuple[float, float] = (0.0, 1.0),
        functions: bool = False,
        keeps_secrets: bool | None = None,
        source: Any = None,
    ) -> None:
        self._make, self._source, self._functions = make, source, functions
        pattern = make(None)
        self._claim: Guarantee = pattern.guarantee
        self._low, self._high = sorted(cost_range)
        self._items: tuple[Any, ...] = tuple(pattern.items)
        self._secret = getattr(pattern, "keeps_secrets", False) if keeps_secrets is None else keeps_secrets
        self._rounds = min(sum(part[1] for part in SCRIPT), getattr(pattern, "horizon", 1 << 30))
        self._columns: dict[Key, int] = {}
        self._middle, self._told = self._values()
        self._places = [place for place in PLACES if place[2] < self._rounds]

    def claim(self) -> Guarantee:
        return self._claim

    def pairs(self) -> list[Pair]:
        """Both ends of the range in each kind of round, and other values in turn."""
        return [
            *(pair for k in range(len(self._places)) for pair in self._pairs_at(k)),
            self._where_all_are_high(),
        ]

    def shortlist(self, seed: Seed | None) -> list[Pair]:
        """The pairs that seem to show most, or the first one.

        Some histories that differ in all places at once are played a few times. Where something has one value
        in all runs of one and another one in all runs of the other, what was told last is looked at.
        """
        high = self._where_all_are_high()
        for kind in range(3):
            changes = {place[2]: self._changes(k)[kind] for k, place in enumerate(self._places)}
            part = self._first_difference(self._histories(self._middle, changes), seed)
            if part is not None:
                before = [k for k, place in enumerate(self._places) if place[0] <= part]
                return [*(pair for k in before[-2:] for pair in self._pairs_at(k)), high]
        return [high if self._first_difference([*high[1:]], seed) is not None else self._pairs_at(0)[0]]

    def _changes(self, k: int) -> list[Pair]:
        """What people may tell in a place: both ends, and two of the other pairs."""
        ends, *others = self._told
        return [ends, others[k % len(others)], others[(k + 4) % len(others)]]

    def _pairs_at(self, k: int) -> list[Pair]:
        _, about, place = self._places[k]
        return [
            Pair(
                f"round {place + 1} ({about}): {change.about}",
                *self._histories(self._middle, {place: change}),
            )
            for change in self._changes(k)
        ]

    def _where_all_are_high(self) -> Pair:
        """One low cost among high ones decides where a sum passes a threshold."""
        ends, place = self._told[0], min(1, self._rounds - 1)
        return Pair("one low cost among high ones", *self._histories(ends.first, {place: ends}))

    def _histories(self, base: Any, changes: dict[int, Pair]) -> list[list[Any]]:
        return [[changes[t][side] if t in changes else base for t in range(self._rounds)] for side in (1, 2)]

    def _first_difference(self, told: list[Any], seed: Seed | None) -> int | None:
        """The first part of the script after which something differs in all of a few runs."""
        seeds = [None] * 2 if seed is None else seed_sequence(seed).spawn(2)
        first, second = (self.observe(data, FEW, one) for data, one in zip(told, seeds, strict=True))
        first = np.pad(first, ((0, 0), (0, second.shape[1] - first.shape[1])), constant_values=np.nan)
        telling = np.flatnonzero(frozen_differences(first, second))
        parts = np.array([key[0] for key in self._columns])[telling]
        return int(parts.min()) if parts.size else None

    def _values(self) -> tuple[Any, list[Pair]]:
        """What is told where nothing differs, and pairs of what one person may tell."""
        middle, step = self._low + (self._high - self._low) / 2, (self._high - self._low) / 2**21
        told = number_pairs(self._low, self._high, step)
        told.append(Pair("text and the upper end", "much", self._high))
        if not self._functions:
            return middle, told
        cuts = [Pair(about, self._cut(one), self._cut(other, turned=True)) for about, one, other in told]
        return self._cut(middle), cuts

    def _cut(self, value: Any, *, turned: bool = False) -> Callable[[Any], Any]:
        """A directed cut: this value where the first item is in and the next out, or turned."""
        one, other = (self._items * 2)[:2] if not turned else (self._items * 2)[1::-1]
        alone = len(self._items) == 1

        def cost(chosen: Any) -> Any:
            cut = (one in chosen) != turned if alone else one in chosen and other not in chosen
            return value if cut else self._low

        return cost

    def observe(self, data: Sequence[Any], runs: int, seed: Seed | None) -> FloatArray:
        seeds = [None] * runs if seed is None else [*seed_sequence(seed).spawn(runs)]
        rows = [self._one_run(one, data) for one in seeds]
        for row in rows:
            for key in row:
                self._columns.setdefault(key, len(self._columns))
        seen = np.full((runs, len(self._columns)), np.nan)
        for k, row in enumerate(rows):
            seen[k, [self._columns[key] for key in row]] = list(row.values())
        return seen

    def column(self, index: int) -> str:
        _, tells, name, place = next(key for key, number in self._columns.items() if number == index)
        return f"{name}[{place}] after {tells} tells" if place else f"{name} after {tells} tells"

    def _one_run(self, seed: Seed | None, data: Sequence[Any]) -> dict[Key, float]:
        learner = self._make(seed)
        if seed is None and self._source is not None:
            learner._source = self._source
        run = Run(learner, self._secret)
        told = iter(data)
        with run.watching():
            for run.part, (manner, length, places) in enumerate(SCRIPT):
                run.looks = bool(places)
                values = [*itertools.islice(told, length)]
                if values:
                    getattr(run, manner)(values)
            run.look(guarantee=str(run.learner.guarantee))
        return run.seen


def session_target(given: Session[Any]) -> Sessions:
    """The attack on a learner of this package, or of a class derived from one."""
    query, sign = given.learner.query, given._sign
    return Sessions(
        given.fresh,
        cost_range=(sign * query.low, sign * query.high),
        functions=isinstance(given, FunctionFeedback),
        keeps_secrets=given.keeps_secrets,
        source=given._source,
    )
