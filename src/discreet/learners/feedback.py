"""What learners are told: one number, or the whole cost function of the round."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from discreet.checks import BoolArray, FloatArray, IntArray
from discreet.errors import AlreadyTold, InvalidArgument, InvalidType
from discreet.kernel.queries import CostAndItems, CostsOfSets
from discreet.kernel.releases import Bits
from discreet.learners.session import Decision, Item, Session
from discreet.privacy.grid import no_warnings, number_or_nan
from discreet.randomizers import OneBit
from discreet.randomness import BitSource
from discreet.set_functions import FromCallable, SetFunction
from discreet.set_functions.descriptions import affordable

#: What a whole cost function is told as.
Told = SetFunction | Mapping[str, Any] | Callable[[Any], float]
#: Stands for a cost that was left out: a mistake in a program, and no value.
NOTHING: Any = object()
#: If there are so many times as many sets as are listed, the values of those are computed one by one.
FEWER_THAN_ALL = 16


class BanditFeedback(Session[Item]):
    """A learner that is told one number: what the chosen set cost."""

    def tell(
        self,
        decision: Decision | int,
        cost: Any = NOTHING,
        *,
        items: Mapping[Any, Any] | None = None,
        released: int | None = None,
    ) -> None:
        """Report the cost of a decision.

        Args:
            decision: What `ask` returned, or its id; in any order, but once, and before its phase closes.
            cost: A private number. Outside the declared range it is clipped; anything that is not a finite
                number counts as the middle of the range. Nothing is raised.
            items: Of a learner with an `item_total`: what items of the set brought, as parts of the cost.
                Those that are left out brought nothing, and those that were not shown are ignored. Beyond
                the total all are scaled down. The names are as private as the numbers.
            released: In local mode, instead of a cost: the bit that `randomizer` made of it. If it carries
                another epsilon or range (see `randomizers.Bit`), it is refused.
        """
        if released is not None:
            self._tell_bit(decision, cost, released)
            return
        if cost is NOTHING:
            raise TypeError("tell() needs a 'cost', or in local mode a 'released' bit.")
        costs = self._costs(cost, items)  # before the lock is taken: it may run the caller's code
        if not self._learns_from(decision):
            return
        with self._alone():
            ticket = self._ticket(decision)
            self._take(ticket, self._measured(ticket, costs))

    def _tell_bit(self, decision: Decision | int, cost: Any, released: int) -> None:
        owner = type(self).__name__
        if not isinstance(self.learner.release, Bits) or not (cost is NOTHING or cost is None):
            raise InvalidArgument(
                f"A 'released' bit is told to a local {owner} of finite epsilon, instead of a cost."
            )
        if isinstance(released, bool) or not isinstance(released, int | np.integer) or released not in (0, 1):
            # not quoted: it may be the cost, given in the wrong place
            raise InvalidArgument(f"The 'released' bit told to {owner} must be 0 or 1.")
        mine = self.randomizer()
        if not mine.fits(released):
            made_by = getattr(released, "randomizer", "")
            raise InvalidArgument(
                f"The 'released' bit was made by {made_by}, and this learner takes those of {mine!r}: "
                "make bits with its `randomizer()`."
            )
        if self.guarantee.private and not getattr(released, "private", True):
            raise InvalidArgument("The 'released' bit was made with a seed, and this learner is private.")
        if not self._learns_from(decision):
            raise InvalidArgument("Nothing is learned from that decision: make no bit, each is a release.")
        number = self._mechanism.magnitude * (1 if (released == 1) == (self._sign > 0) else -1)
        with self._alone():
            self._take(self._ticket(decision), np.array([number]))

    def randomizer(self, source: BitSource | None = None) -> OneBit:
        """What makes bits for this local learner, on a person's own device, of values as they would be told.

        Its epsilon is that of one round. Random bits come from the operating system, or from `source`.
        """
        release = self.learner.release
        if not isinstance(release, Bits):
            raise InvalidArgument(
                f"Only a local {type(self).__name__} of finite epsilon takes bits: this one is told costs."
            )
        low, high = sorted(self._sign * end for end in release.cost_range)
        return OneBit(release.budget.per_round, (low, high), source=source)

    def tell_many(self, feedback: Iterable[tuple[Any, ...]]) -> None:
        """Report many ``(decision, cost)`` pairs; none of them if one decision is unknown or told twice.

        Of a learner with an `item_total` they may be ``(decision, cost, items)``.
        """
        told = [(decision, self._costs(*costs)) for decision, *costs in feedback]
        pairs = [(decision, costs) for decision, costs in told if self._learns_from(decision)]
        with self._alone():
            tickets = [self._ticket(decision) for decision, _ in pairs]
            if len({ticket.id for ticket in tickets}) < len(pairs):
                raise AlreadyTold("A decision is told about twice in one call: none was taken.")
            for ticket, (_, costs) in zip(tickets, pairs, strict=True):
                self._take(ticket, self._measured(ticket, costs))

    def _costs(self, cost: Any, items: Mapping[Any, Any] | None = None) -> FloatArray:
        if issubclass(type(cost), Decision):  # `isinstance` would run code of the value's own
            raise InvalidType("tell() takes the decision first and the cost second. Got a Decision as cost.")
        by_item = isinstance(self.learner.query, CostAndItems)
        if items is not None and not by_item:
            owner = type(self).__name__
            raise InvalidArgument(f"Only a {owner} with an 'item_total' is told what 'items' brought.")
        if items is not None and not issubclass(type(items), Mapping):
            raise InvalidType("The 'items' that are told must be a mapping from items to numbers.")
        return self._sign * numbers_in(cost, items, self.items if by_item else ())


class FunctionFeedback(Session[Item]):
    """A learner that is told the whole cost function of the round."""

    def tell(
        self,
        decision: Decision | int,
        function: Told | None = None,
        *,
        factory: Callable[[], Told] | None = None,
    ) -> None:
        """Report the cost function of a decision's round.

        Args:
            decision: What `ask` returned, or its id; in any order, but once, and before its phase closes.
            function: A set function over item numbers, its description (what `SetFunction.to_dict` gives), or
                a Python function of a frozenset of items, whose errors are passed on, but not its warnings.
                Its values are private: clipped to the declared range, and the middle if they are not finite
                numbers.
            factory: Makes the function instead, without arguments. Nothing that goes wrong in it, or in a
                description, is raised, as that may be private: the function then counts as constant.
        """
        if (function is None) == (factory is None):
            raise TypeError("tell() needs a 'function' or a 'factory' of one.")
        quiet = factory is not None or isinstance(function, Mapping)
        told = None if quiet else as_set_function(type(self).__name__, function, self.items)
        if not self._learns_from(decision):
            return
        with self._alone():
            ticket = self._ticket(decision)
        # Outside the lock: the function is the caller's, and may be slow.
        make: Callable[[], Any] = factory or (lambda: function)
        order = None if isinstance(self.learner.query, CostsOfSets) else ticket.order
        along = order, self.learner.listed
        if told is None:
            costs = quiet_costs(make, self.items, *along)
        else:
            with no_warnings():
                costs = costs_along(told, *along)
        with self._alone():
            ticket = self._ticket(decision)
            self._take(ticket, self._measured(ticket, self._sign * costs))

    def tell_many(self, feedback: Iterable[tuple[Decision | int, Told]]) -> None:
        """Report many ``(decision, function)`` pairs, one after the other."""
        for decision, function in feedback:
            self.tell(decision, function)


def numbers_in(cost: Any, brought: Mapping[Any, Any] | None, items: Sequence[Any]) -> FloatArray:
    """A private cost, and what each item brought: as many numbers whatever is told; NaN for what is none."""
    numbers = np.zeros(1 + len(items))
    numbers[0] = number_or_nan(cost)
    if brought is not None:
        with no_warnings():
            numbers[1:] = [_told_of(brought, item) for item in items]
    return numbers


def _told_of(items: Mapping[Any, Any], item: Any) -> float:
    """What a mapping says of an item: 0 if nothing, NaN if it fails, as its names are private, too."""
    try:
        return number_or_nan(items.get(item, 0.0))
    except Exception:  # which one would tell something about the names
        return math.nan


def quiet_costs(
    make: Callable[[], Any], items: Sequence[Any], order: IntArray | None, listed: BoolArray | None = None
) -> FloatArray:
    """As `costs_along`, of the function that is made; those of a constant function if it fails."""
    sets = 1 << len(items) if listed is None else len(listed)
    costs = np.full(sets if order is None else order.size + 1, np.nan)
    try:
        with no_warnings():
            function = make()
            if isinstance(function, Mapping) and affordable(function, len(items)):
                function = SetFunction.from_dict(function)
            costs[:] = costs_along(as_set_function("tell", function, items), order, listed)
    except Exception:  # which one would tell something about the function
        costs[:] = np.nan
    return costs


def as_set_function(owner: str, function: Any, items: Sequence[Any]) -> SetFunction:
    """A function that was told, as a set function over item numbers."""
    if isinstance(function, SetFunction):
        if function.n != len(items):
            raise InvalidArgument(f"What is told to {owner} must have {len(items)} items. Got {function.n}.")
        return function
    if not callable(function):
        got = type(function).__name__
        raise InvalidType(f"What is told to {owner} must be a set function or callable. Got {got} instead.")
    return FromCallable(lambda chosen: function(frozenset(items[i] for i in chosen)), len(items))


def costs_along(function: SetFunction, order: IntArray | None, listed: BoolArray | None = None) -> FloatArray:
    """The costs of the prefixes of an order, without items that are switched off; if None, of all sets.

    Or of those listed, a row of members each.
    """
    with np.errstate(all="ignore"):  # a warning would depend on private values
        if order is None and listed is not None and len(listed) * FEWER_THAN_ALL < 1 << function.n:
            return np.array([function._value(members) for members in listed], dtype=np.float64)
        if order is None:
            every = np.ascontiguousarray(function._all_values(), dtype=np.float64)
            return every if listed is None else every[listed @ (1 << np.arange(function.n))]
        off = np.setdiff1d(np.arange(function.n), order) if order.size < function.n else ()
        costs: FloatArray = function.chain_values(np.append(order, off).astype(np.int64))
    return costs[: order.size + 1]
