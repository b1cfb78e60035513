"""Audits of learners: of what their mechanism releases, or of the sets and points that everybody sees."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from discreet import checks
from discreet.auditing import learner_ratios
from discreet.auditing.densities import telling_rounds
from discreet.auditing.sums import SHOWN_ROUNDS
from discreet.auditing.target import Score
from discreet.auditing.transcripts import Transcript, play_many, release_size
from discreet.checks import FloatArray, IntArray
from discreet.environments.pool import MOST_ITEMS
from discreet.errors import InvalidArgument
from discreet.learners.bandit_core import BanditCore
from discreet.learners.base import Learner
from discreet.learners.batched_core import LENGTH, BatchedCore
from discreet.learners.core import Core
from discreet.learners.feedback import BanditFeedback
from discreet.privacy.guarantee import Guarantee
from discreet.randomness import Seed
from discreet.set_functions import SetFunction, Table

View = Literal["released", "shown"]
Functions = Sequence[SetFunction]
Streams = tuple[list[SetFunction], list[SetFunction]]

#: Rounds that are played at most to see all levels of a tree.
TREE_ROUNDS = 64


class LearnerRuns:
    """A learner on two streams that differ in the first round (with k rounds per person, in the first k).

    Args:
        learner: Before its first round. It is not changed: a copy of its compiled core plays, as it is,
            whatever it claims.
        rounds: How many to play.
        view: "released": what the mechanism releases, which the guarantee covers, with exact likelihoods.
            "shown": the sets and the points, for a trained score.

    The data of an audit are sequences of set functions, one for each round.

    Examples:
        >>> from discreet import BanditLearner
        >>> runs = LearnerRuns(BanditLearner(2, epsilon=1.0, cost_range=(0, 1)), rounds=3)
        >>> stream, _ = runs.neighbours()
        >>> runs.view, [f([0]) for f in stream], runs.observe(stream, 100, seed=1).shape
        ('released', [1.0, 0.5, 0.5], (100, 12))
    """

    def __init__(self, learner: Learner, rounds: int | None = None, view: View | None = None) -> None:
        if learner.rounds:
            raise InvalidArgument(
                f"An audit needs a {type(learner).__name__} before its first round. Got one that has learnt "
                f"from {learner.rounds}."
            )
        if len(learner.items) > MOST_ITEMS:
            raise checks.invalid_argument(
                "audit", "target", f"of at most {MOST_ITEMS} items", f"{len(learner.items)} items"
            )
        if view not in (None, "released", "shown"):
            raise checks.invalid_argument("audit", "view", "'released' or 'shown'", view)
        self._learner, self._core = learner, learner._core
        self._bandit = isinstance(learner, BanditFeedback)
        self.view: View = view or ("released" if release_size(self._core) else "shown")
        wanted = enough_rounds(self._core, learner.guarantee.rounds_per_person)
        wanted = wanted if self.view == "released" else max(wanted, SHOWN_ROUNDS)
        chosen = min(wanted, learner.horizon) if rounds is None else rounds
        self._rounds = checks.integer("audit", "rounds", chosen, 1, learner.horizon)
        self._watched = self._watched_rounds()

    def _watched_rounds(self) -> IntArray:
        last = self._rounds - 1
        if self.view == "released" and isinstance(self._core, BanditCore):
            ends = np.arange(self._core.length - 1, self._rounds, self._core.length)
            return ends if ends.size else np.array([last])
        if self.view == "released" and isinstance(self._core, Core):
            return np.arange(self._rounds)
        doubling = [2**k - 1 for k in range(self._rounds.bit_length())]
        return np.unique([0, last, *(t for t in doubling if t <= last)])

    def claim(self) -> Guarantee:
        return self._learner.guarantee

    def neighbours(self) -> Streams:
        return worst_streams(
            self._core, self._bandit, self._rounds, self._learner.guarantee.rounds_per_person
        )

    def random_neighbours(self, seed: Seed) -> Streams:
        """Two functions without any structure, in the first round."""
        limits = limits_of(self._core)
        values = np.random.default_rng(seed).uniform(limits.low, limits.high, (2, 1 << self._core.x.size))
        people = self._learner.guarantee.rounds_per_person
        return streams(Table(values[0]), Table(values[1]), limits, self._rounds, people)

    def observe(self, data: Functions, runs: int, seed: Seed | None) -> FloatArray:
        seen = play_many(self._core, data, self._bandit, self._watched, runs, seed)
        parts: tuple[npt.NDArray[Any], ...]
        if self.view == "released":
            parts = (seen.sets.astype(np.float64), seen.points, seen.released)
        else:
            parts = (seen.sets[:, :, None] >> np.arange(self._core.x.size) & 1, seen.points)
        return np.concatenate([part.reshape(runs, -1).astype(np.float64) for part in parts], axis=1)

    def log_ratio(self, first: Functions, second: Functions) -> Score | None:
        if self.view == "shown":
            return None
        ratio = learner_ratios.log_ratio(self._core, self._watched, first, second)
        if ratio is None:
            return None
        return lambda seen: ratio(self._unflattened(seen))

    def _unflattened(self, seen: FloatArray) -> Transcript:
        runs, kept, n = len(seen), self._watched.size, self._core.x.size
        sets, points, released = np.split(seen, [kept, kept + kept * n], axis=1)
        return Transcript(
            sets.astype(np.int64), points.reshape(runs, kept, n), released.reshape(runs, kept, -1)
        )


class CostLimits(NamedTuple):
    """The declared range of costs."""

    low: float
    high: float


def limits_of(core: Any) -> CostLimits:
    """The range of costs of any core; one that learns nothing has none, and any will do."""
    held = getattr(core, "limits", core)
    return CostLimits(getattr(held, "low", -1.0), getattr(held, "high", 1.0))


def worst_streams(core: Any, bandit: bool, rounds: int, people: int) -> Streams:
    """Streams whose first rounds (as many as one person has) differ as much as costs in the range can."""
    limits, n = limits_of(core), core.x.size
    if bandit:
        first, second = constant(n, limits.high), constant(n, limits.low)
    else:
        first, second = opposed(learner_ratios.first_order(core), limits.low, limits.high)
    return streams(first, second, limits, rounds, people)


def streams(first: SetFunction, second: SetFunction, limits: CostLimits, rounds: int, people: int) -> Streams:
    """Streams that begin with one or the other function, so many times, and go on with the middle."""
    later = [constant(first.n, 0.5 * limits.low + 0.5 * limits.high)] * rounds
    changed = min(people, rounds)
    return [first] * changed + later[changed:], [second] * changed + later[changed:]


@functools.singledispatch
def enough_rounds(core: Any, people: int) -> int:
    """How many rounds show all that a learner releases about the first ones."""
    return max(SHOWN_ROUNDS, people)


@enough_rounds.register
def _(core: BanditCore, people: int) -> int:
    return core.length * -(-people // core.length)


@enough_rounds.register
def _(core: BatchedCore, people: int) -> int:
    length = int(core.counts[LENGTH])
    return length * -(-people // length)


@enough_rounds.register
def _(core: Core, people: int) -> int:
    telling = telling_rounds(core.mechanism, TREE_ROUNDS)
    return max(people, SHOWN_ROUNDS if telling is None else int(telling[-1]) + 1)


def constant(n: int, value: float) -> SetFunction:
    """The function that has one value everywhere."""
    return Table(np.full(1 << n, value))


def opposed(order: IntArray, low: float, high: float) -> tuple[SetFunction, SetFunction]:
    """Two functions whose gradients along a chain lie as far apart as any: by four times the width in L1.

    For three items or more they are directed cuts, from the second item of the order to the third and from
    the first to the second, so submodular; two items need functions that go up and down.
    """
    n = order.size
    codes = np.arange(1 << n)
    has = [(codes >> i & 1).astype(bool) for i in order]
    if n >= 3:
        first, second = has[1] & ~has[2], has[0] & ~has[1]
    elif n == 2:
        first = has[0] ^ has[1]
        second = ~first
    else:
        first, second = has[0], ~has[0]
    ours, theirs = (Table(np.where(high_there, high, low)) for high_there in (first, second))
    return ours, theirs
