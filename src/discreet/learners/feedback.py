"""What learners are told: one number, or the whole cost function of the round."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from discreet.checks import FloatArray
from discreet.errors import AlreadyTold, HorizonReached, InvalidArgument, InvalidType
from discreet.learners.base import Learner
from discreet.learners.core import learn_cost, learn_function
from discreet.learners.decision import Decision, Item
from discreet.learners.draw import Draw
from discreet.privacy.grid import number_or_nan
from discreet.quiet import no_warnings
from discreet.randomness import BitArray
from discreet.set_functions import FromCallable, SetFunction
from discreet.set_functions.descriptions import affordable

#: What a whole cost function is told as.
Told = SetFunction | Mapping[str, Any] | Callable[[Any], float]


def from_named(function: Callable[[Any], float], items: Sequence[Any]) -> FromCallable:
    """A Python function of a frozenset of items, as they are named, as a set function over their numbers.

    Examples:
        >>> f = from_named(lambda chosen: 1.0 if "tea" in chosen else 0.0, ["milk", "tea"])
        >>> f([0]), f([1])
        (0.0, 1.0)
    """
    return FromCallable(lambda chosen: function(frozenset(items[i] for i in chosen)), len(items))


class BanditFeedback(Learner[Item]):
    """A learner that is told one number: what the chosen set cost.

    Examples:
        >>> from discreet import BanditLearner, FullInformationLearner
        >>> [issubclass(kind, BanditFeedback) for kind in (BanditLearner, FullInformationLearner)]
        [True, False]
    """

    def tell(self, decision: Decision | int, cost: Any) -> None:
        """Learn from the cost of a decision.

        Args:
            decision: What `ask` returned, or its id; in any order, however late, but once.
            cost: A private number. Outside the declared range it is clipped; what is no
                finite number counts as the middle of the range. Nothing is raised for any value.
        """
        number = self._number(cost)  # before the lock is taken: it may run the caller's code
        with self._alone():
            name = self._number_of(decision)
            self._learn(name, self._cost_step(self._pending[name], number))

    def tell_many(self, feedback: Iterable[tuple[Decision | int, Any]]) -> None:
        """Learn from many ``(decision, cost)`` pairs; from none if one decision is unknown or told twice."""
        pairs = [(decision, self._number(cost)) for decision, cost in feedback]
        with self._alone():
            names = self._numbers_of(decision for decision, _ in pairs)
            for name, (_, number) in zip(names, pairs, strict=True):
                self._learn(name, self._cost_step(self._pending[name], number))

    def _number(self, cost: Any) -> float:
        if issubclass(type(cost), Decision):  # `isinstance` would run code of the value's own
            raise InvalidType("tell() takes the decision first and the cost second. Got a Decision as cost.")
        return self._sign * number_or_nan(cost)

    def _numbers_of(self, decisions: Iterable[Decision | int]) -> list[int]:
        names: dict[int, None] = {}
        for decision in decisions:
            name = self._number_of(decision)
            if name in names:
                raise AlreadyTold("A decision is told about twice in one call; nothing was changed.")
            names[name] = None
        if self._struck + len(names) > self.horizon:
            raise HorizonReached(
                f"This {type(self).__name__} can take {self.horizon - self._struck} more rounds."
            )
        return list(names)

    def _cost_step(self, draw: Draw, number: float) -> Callable[[BitArray, int], int]:
        return lambda bits, cursor: learn_cost(self._core, draw, number, bits, cursor)

    def _neutral_step(self, draw: Draw) -> Callable[[BitArray, int], int]:
        return self._cost_step(draw, float("nan"))


class FunctionFeedback(Learner[Item]):
    """A learner that is told the whole cost function of the round.

    Examples:
        >>> from discreet import BanditLearner, FullInformationLearner
        >>> [issubclass(kind, FunctionFeedback) for kind in (BanditLearner, FullInformationLearner)]
        [False, True]
    """

    def tell(
        self,
        decision: Decision | int,
        function: Told | None = None,
        *,
        factory: Callable[[], Told] | None = None,
    ) -> None:
        """Learn from the cost function of a decision's round.

        Args:
            decision: What `ask` returned, or its id; in any order, however late, but once.
            function: A set function over item numbers, its description (what `SetFunction.to_dict` gives), or
                a Python function of a frozenset of the items as they were named. Its values are private:
                they are clipped to the declared range, and a value that is not a finite number counts as
                the middle. A description that does not fit counts as a constant function. An exception
                inside a Python function is passed on, before anything has changed.
            factory: Instead of a function: makes it, without arguments. Nothing that goes wrong in it is
                raised, since that could depend on private numbers: the function then counts as constant.
        """
        if (function is None) == (factory is None):
            raise TypeError("tell() needs a 'function' or a 'factory' of one.")
        quiet = factory is not None or isinstance(function, Mapping)
        told = None if quiet else self._as_set_function(function)
        with self._alone():
            draw = self._pending[self._number_of(decision)]
        # Outside the lock: the function is the caller's, and may be slow.
        if told is None:
            costs = self._quiet_costs(factory or (lambda: function), draw)
        else:
            costs = self._sign * self._chain_costs(told, draw)
        with self._alone():
            self._learn(self._number_of(decision), self._costs_step(draw, costs))

    def tell_many(self, feedback: Iterable[tuple[Decision | int, Told]]) -> None:
        """Learn from many ``(decision, function)`` pairs, one after the other."""
        for decision, function in feedback:
            self.tell(decision, function)

    def _quiet_costs(self, make: Callable[[], Any], draw: Draw) -> FloatArray:
        """The costs along a draw's chain of the function that is made; those of a constant if it fails."""
        costs = np.full(draw.order.size + 1, np.nan)
        try:
            with no_warnings():
                function = make()
                if isinstance(function, Mapping) and affordable(function, len(self.items)):
                    function = SetFunction.from_dict(function)
                costs[:] = self._sign * self._chain_costs(self._as_set_function(function), draw)
        except Exception:  # which one would tell something about the function
            costs[:] = np.nan
        return costs

    def _as_set_function(self, function: Any) -> SetFunction:
        if isinstance(function, SetFunction):
            if function.n != len(self.items):
                raise InvalidArgument(
                    f"The 'function' told to {type(self).__name__} must have {len(self.items)} items. "
                    f"Got {function.n} instead."
                )
            return function
        if callable(function):
            return from_named(function, self.items)
        raise InvalidType(
            f"The 'function' told to {type(self).__name__} must be a set function, its description or "
            f"callable. Got {type(function).__name__} instead."
        )

    def _chain_costs(self, function: SetFunction, draw: Draw) -> FloatArray:
        """The costs of the prefixes of a draw's order; items that were switched off are in none of them."""
        off = (
            np.setdiff1d(np.arange(len(self.items)), draw.order) if draw.order.size < len(self.items) else ()
        )
        with np.errstate(all="ignore"):  # a warning would depend on private values
            costs: FloatArray = function.chain_values(np.append(draw.order, off).astype(np.int64))
        return costs[: draw.order.size + 1]

    def _costs_step(self, draw: Draw, costs: FloatArray) -> Callable[[BitArray, int], int]:
        return lambda bits, cursor: learn_function(self._core, draw, costs, bits, cursor)

    def _neutral_step(self, draw: Draw) -> Callable[[BitArray, int], int]:
        return self._costs_step(draw, np.full(draw.order.size + 1, np.nan))
