"""The words that users know: `ask` for a set, `tell` what it cost."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable, Iterable
from typing import Any, NoReturn, overload

import numpy as np

from discreet import checks
from discreet.checks import FloatArray
from discreet.errors import (
    AlreadyTold,
    HorizonReached,
    InvalidArgument,
    InvalidType,
    NotCopyable,
    StaleState,
    UnknownDecision,
)
from discreet.learners.core import choose, horizon_of, learn_cost, learn_function
from discreet.learners.decision import Decision, Pending
from discreet.privacy.guarantee import Guarantee
from discreet.privacy.uniform import DRY
from discreet.randomness import WordArray, WordSource, process_mark
from discreet.set_functions import FromCallable, SetFunction
from discreet.set_functions.from_callable import number_or_nan


class Learner:
    """Chooses subsets and learns from their costs.

    Subclasses build a `core` (see `discreet.learners.core`) and say what it guarantees.

    Args:
        items: The names of the items (see `named_items`).
        core: The compiled parts.
        source: Random words, the same that the core's noise is made of.
        guarantee: What is promised to each person.
        maximize: Whether feedback is a reward to be made large, not a cost.

    Attributes:
        items: The items' names, in order.
        guarantee: What is promised to each person.
    """

    def __init__(
        self,
        items: tuple[Hashable, ...],
        core: Any,
        source: WordSource,
        guarantee: Guarantee,
        maximize: bool = False,
    ) -> None:
        self.items = items
        self.guarantee = guarantee
        self._core, self._source = core, source
        self._sign = -1.0 if maximize else 1.0
        self._pending: dict[int, Pending] = {}
        self._asked = self._struck = 0
        self._lock = threading.Lock()
        self._mark = process_mark()

    @property
    def point(self) -> FloatArray:
        """The released inclusion level of each item, a number in [0, 1]."""
        levels: FloatArray = self._core.x.copy()
        return levels

    @property
    def rounds(self) -> int:
        """How many rounds have been learnt from."""
        return int(self._core.rounds[0])

    @property
    def horizon(self) -> int:
        """How many rounds can be learnt from."""
        return horizon_of(self._core)

    @property
    def pending(self) -> int:
        """How many decisions have not been told about."""
        return len(self._pending)

    @overload
    def ask(self) -> Decision: ...
    @overload
    def ask(self, count: int) -> list[Decision]: ...
    def ask(self, count: int | None = None) -> Decision | list[Decision]:
        """Choose a subset, or a list of `count` of them."""
        if count is not None:
            wanted = checks.integer(type(self).__name__, "count", count, 0)
            return [self.ask() for _ in range(wanted)]
        drawn: list[Pending] = []

        def draw(done: int, words: WordArray, cursor: int) -> tuple[int, int]:
            order, size, probability, after = choose(self._core, words, cursor)
            if after == DRY:
                return done, cursor
            drawn.append(Pending(order, size, probability))
            return 1, after

        self._source.feed(draw, 1)
        chosen = drawn[0]
        with self._lock:
            self._asked += 1
            number = self._asked
            self._pending[number] = chosen
        subset = frozenset(self.items[i] for i in chosen.order[: chosen.size].tolist())
        return Decision(number, subset, number)

    def _look_up(self, decision: Decision | int) -> tuple[int, Pending]:
        """The id and the draw of a decision that is still to be told about."""
        if self._mark != process_mark():
            raise StaleState(
                f"This {type(self).__name__} belongs to the process that forked this one. "
                "Both going on would share its noise."
            )
        name = decision.id if isinstance(decision, Decision) else decision
        if not isinstance(name, int) or not 1 <= name <= self._asked:
            raise UnknownDecision(f"No decision {name!r} was asked for.")
        pending = self._pending.get(name)
        if pending is None:
            raise AlreadyTold(f"The decision {name} has been told about already; nothing was changed.")
        return name, pending

    def _strike(self, name: int) -> None:
        """Take a decision off the list, of several threads only once, and never beyond the horizon."""
        with self._lock:
            if self._struck >= self.horizon:
                raise HorizonReached(f"This {type(self).__name__} has taken all its {self.horizon} rounds.")
            if self._pending.pop(name, None) is None:
                raise AlreadyTold(f"The decision {name} has been told about already; nothing was changed.")
            self._struck += 1

    def _learn(self, name: int, step: Callable[[WordArray, int], int]) -> None:
        """Strike out a decision and run its learning step, with as many words as it takes."""
        # Struck out first: an interruption may lose a round, never count it twice.
        self._strike(name)

        def consume(done: int, words: WordArray, cursor: int) -> tuple[int, int]:
            after = step(words, cursor)
            return (done, cursor) if after == DRY else (1, after)

        self._source.feed(consume, 1)

    def __reduce__(self) -> NoReturn:
        raise NotCopyable(
            f"A {type(self).__name__} cannot be copied or pickled: two copies would share noise."
        )

    def __repr__(self) -> str:
        return (
            f"{type(self).__name__}(items={len(self.items)}, rounds={self.rounds}, "
            f"private={self.guarantee.private})"
        )


class BanditFeedback(Learner):
    """A learner that is told one number: what the chosen set cost."""

    def tell(self, decision: Decision | int, cost: Any) -> None:
        """Learn from the cost of a decision.

        Args:
            decision: What `ask` returned, or its id; in any order, however late, but once.
            cost: A private number. Outside the declared range it is clipped; what is no
                finite number counts as the middle of the range. Nothing is raised for any value.
        """
        name, pending = self._look_up(decision)
        number = self._sign * number_or_nan(cost)
        self._learn(
            name,
            lambda words, cursor: learn_cost(
                self._core, pending.order, pending.size, pending.probability, number, words, cursor
            ),
        )


class FunctionFeedback(Learner):
    """A learner that is told the whole cost function of the round."""

    def tell(self, decision: Decision | int, function: SetFunction | Callable[[Any], float]) -> None:
        """Learn from the cost function of a decision's round.

        Args:
            decision: What `ask` returned, or its id; in any order, however late, but once.
            function: A set function over item numbers, or a Python function of a frozenset of
                the items as they were named. Its values are private: they are clipped to
                the declared range, and what is no finite number counts as the middle. An
                exception inside a Python function is passed on, before anything has changed.
        """
        if isinstance(function, SetFunction):
            if function.n != len(self.items):
                raise InvalidArgument(
                    f"The 'function' told to {type(self).__name__} must have {len(self.items)} items. "
                    f"Got {function.n} instead."
                )
        elif callable(function):
            told = function
            function = FromCallable(
                lambda chosen: told(frozenset(self.items[i] for i in chosen)), len(self.items)
            )
        else:
            raise InvalidType(
                f"The 'function' told to {type(self).__name__} must be a set function or callable. "
                f"Got {type(function).__name__} instead."
            )
        name, pending = self._look_up(decision)
        with np.errstate(all="ignore"):  # a warning would depend on private values
            costs = self._sign * function.chain_values(pending.order)
        self._learn(
            name, lambda words, cursor: learn_function(self._core, pending.order, costs, words, cursor)
        )


def named_items(owner: str, items: int | Iterable[Hashable]) -> tuple[Hashable, ...]:
    """The names of the items: 0, 1, ... where only their number is given."""
    if isinstance(items, int | np.integer) and not isinstance(items, bool):
        return tuple(range(checks.integer(owner, "items", items, 1)))
    if not isinstance(items, Iterable) or isinstance(items, str | bytes):
        raise checks.complaint(owner, "items", "a number or an iterable of names", items)
    names = tuple(items)
    if not names or len(set(names)) < len(names):
        raise checks.complaint(owner, "items", "at least one name, all different", names)
    return names
