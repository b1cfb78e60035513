"""The compiled loop: what a session and a stream do, in the same order and with the same random bits."""

import dataclasses
import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from discreet.checks import FloatArray, IntArray
from discreet.compiled import generic, lean_kernel
from discreet.constraints import Constraints
from discreet.environments.stream import Stream, chain_costs, part_costs, prefix_cost, set_costs
from discreet.errors import InvalidArgument
from discreet.kernel.phase import Phase, Released, Ticket, draw_size, empty_phase, shuffled_deck
from discreet.kernel.queries import CostAndItems, CostsOfSets
from discreet.kernel.releases import announce, close, measured
from discreet.learners.session import NOT_SIMULATED, Session
from discreet.minimizers import Minimum, minimize
from discreet.minimizers.dispatch import values_come_quickly
from discreet.minimizers.greedy import greedy_set
from discreet.policies.base import CompiledPolicy, learn, plan
from discreet.policies.sets import learn_nothing
from discreet.privacy.uniform import NEED_MORE_BITS
from discreet.randomness import BitArray, feed_both
from discreet.set_functions import SetFunction
from discreet.state import copied

#: Places in `Table.counts`.
DEALT, ROUNDS, CLOSED = 0, 1, 2
#: Up to so many items all sets are compared to find the best, if need be.
MOST_COMPARED = 20


class PlainPolicy(NamedTuple):
    """Stands for a policy in plain Python and its state: the loop stops where a phase has to be planned."""

    x: FloatArray  # the point that a stream may look at


@plan.register(PlainPolicy)
@lean_kernel
def _wait_for_phase(policy: PlainPolicy, state: Any, phase: Phase, coins: BitArray, cursor: int) -> int:
    return NEED_MORE_BITS


learn.register(PlainPolicy)(learn_nothing)


class OneNumber(NamedTuple):
    """A stream of which the cost of the chosen set is told; times the sign."""

    stream: Any
    sign: float


class WholeFunction(OneNumber):
    """A stream whose functions are told whole; times the sign."""


@generic
def pay(told: Any, t: int, x: FloatArray, order: IntArray, size: int, costs: FloatArray) -> float:
    """Write what is told of round t into `costs`; give the cost of the chosen prefix."""
    raise AssertionError("declares a generic function")


@pay.register(OneNumber)
@lean_kernel
def _pay_number(told: Any, t: int, x: FloatArray, order: IntArray, size: int, costs: FloatArray) -> float:
    costs[0] = told.sign * prefix_cost(told.stream, t, x, order, size)
    return float(costs[0])


@pay.register(WholeFunction)
@lean_kernel
def _pay_function(told: Any, t: int, x: FloatArray, order: IntArray, size: int, costs: FloatArray) -> float:
    chain_costs(told.stream, t, x, order, costs)
    for k in range(costs.size):
        costs[k] *= told.sign
    return float(costs[size])


class WithItems(NamedTuple):
    """A stream of which the cost of the chosen set is told, and what its items brought; times the sign."""

    stream: Any
    sign: float


@pay.register(WithItems)
@lean_kernel
def _pay_with_items(told: Any, t: int, x: FloatArray, order: IntArray, size: int, costs: FloatArray) -> float:
    costs[1:] = 0.0
    part_costs(told.stream, t, x, order, size, costs[1:])
    costs[0] = prefix_cost(told.stream, t, x, order, size)
    for k in range(costs.size):
        costs[k] *= told.sign
    return float(costs[0])


class AllSets(NamedTuple):
    """A stream of whose functions the costs of all sets are told; times the sign. `room` is for an order."""

    stream: Any
    sign: float
    room: IntArray


@pay.register(AllSets)
@lean_kernel
def _pay_all(told: Any, t: int, x: FloatArray, order: IntArray, size: int, costs: FloatArray) -> float:
    set_costs(told.stream, t, x, told.room, costs)
    for code in range(costs.size):
        costs[code] *= told.sign
    code = 0
    for k in range(size):
        code |= 1 << order[k]
    return float(costs[code])


class ListedSets(NamedTuple):
    """A stream of whose functions the costs of listed sets are told; times the sign.

    Each is a prefix of its order.
    """

    stream: Any
    sign: float
    orders: IntArray
    sizes: IntArray


@pay.register(ListedSets)
@lean_kernel
def _pay_listed(told: Any, t: int, x: FloatArray, order: IntArray, size: int, costs: FloatArray) -> float:
    for place in range(costs.size):
        cost = prefix_cost(told.stream, t, x, told.orders[place], told.sizes[place])
        costs[place] = told.sign * cost
    return float(told.sign * prefix_cost(told.stream, t, x, order, size))


class Table(NamedTuple):
    """Where a phase is played."""

    phase: Phase  # the present one
    deck: IntArray  # the slot of each of its rounds
    sums: IntArray  # exact sums of reports, one row per slot
    values: npt.NDArray[Any]  # what is released of them
    units: IntArray  # room for a report
    costs: FloatArray  # room for what is told
    counts: IntArray  # DEALT of ROUNDS, where 0 waits to be planned; CLOSED slots
    last: IntArray  # the chosen prefix and the slot of the last round


@lean_kernel
def play_rounds(
    told: Any,
    policy: Any,
    state: Any,
    query: Any,
    mechanism: Any,
    table: Table,
    paid: FloatArray,
    first: int,
    done: int,
    coins: BitArray,
    coin: int,
    noise: BitArray,
    cursor: int,
) -> tuple[int, int, int]:
    """Play the rounds after `first`, of which `done` are, until `paid` is full or bits run out."""
    phase, counts, units = table.phase, table.counts, table.units
    while done < paid.size:
        if counts[DEALT] == counts[ROUNDS]:
            cursor = turn(policy, state, mechanism, table, noise, cursor)
            if counts[ROUNDS] > 0:
                break
            after = plan(policy, state, phase, coins, coin)
            if after == NEED_MORE_BITS:
                break
            coin = after
            counts[ROUNDS] = phase.rounds.sum()
        slot = table.deck[counts[DEALT]] if table.sums.shape[0] > 1 else 0
        order, chance, note = phase.order[slot], phase.chance[slot], phase.note[slot]
        size, after = draw_size(chance, phase.size[slot], coins, coin)
        if after == NEED_MORE_BITS:
            break
        cost = pay(told, first + done, state.x, order, size, table.costs)
        units[:] = 0
        ticket = Ticket(0, 0, slot, size, chance[size], order, note)
        arrived = measured(query, mechanism, table.costs, ticket, units, noise, cursor)
        if arrived == NEED_MORE_BITS:
            break
        coin, cursor = after, arrived
        for i in range(units.size):
            table.sums[slot, i] += units[i]
        table.last[0], table.last[1] = size, slot
        counts[DEALT] += 1
        paid[done] = told.sign * cost
        done += 1
    return done, coin, cursor


@lean_kernel
def turn(policy: Any, state: Any, mechanism: Any, table: Table, noise: BitArray, cursor: int) -> int:
    """Close a phase that was played to its end, if there is one, and learn from it: then it has 0 rounds."""
    counts = table.counts
    if counts[ROUNDS] > 0:
        while counts[CLOSED] < table.sums.shape[0]:
            k = counts[CLOSED]
            announce(mechanism, table.phase.note[k])
            after = close(mechanism, table.sums[k], table.values[k], noise, cursor)
            if after == NEED_MORE_BITS:
                return cursor
            cursor = after
            table.sums[k, :] = 0
            counts[CLOSED] += 1
        learn(policy, state, table.phase.note, table.phase.rounds, table.values)
        counts[DEALT] = counts[ROUNDS] = counts[CLOSED] = 0
    return cursor


class Run:
    """A learner on its way through a stream, some rounds at a time.

    The learner is a session, or any object with `ask` and `tell`, which is told functions instead of costs if
    its `feedback` is "function". It is changed: it goes on where it stands. If it maximises, the numbers of
    the stream are rewards. Compiled streams are played by compiled code, with the same costs.

    Examples:
        >>> from discreet import baselines, environments
        >>> run = Run(baselines.FixedSet(4, [0, 2]), environments.modular(4, gap=1.0).stream(100))
        >>> float(run.play(60).sum()), run.rounds
        (-60.0, 60)
    """

    def __init__(self, learner: Any, stream: Stream) -> None:
        self.learner, self.stream = learner, stream
        self.rounds = 0
        self.subset: frozenset[int] = frozenset()
        self.sign = -1.0 if getattr(learner, "maximize", False) else 1.0
        self._numbers = self._numbered_items()
        self._host: CompiledHost | None = None
        if isinstance(learner, Session):
            if learner.segments:
                raise InvalidArgument(NOT_SIMULATED)
            self._whole = learner.learner.query.whole
            if (
                isinstance(learner.learner.query, CostAndItems)
                and type(stream.compiled) not in part_costs.kernels
            ):
                raise InvalidArgument(
                    f"The stream {type(stream).__name__} does not say what each item brought, which this "
                    "learner is told. Those of customers do: checkout, baskets, invoices, groups_of_four."
                )
            if stream.compiled is not None:
                self._host = CompiledHost(learner, stream.compiled, self.sign)
        else:
            self._whole = getattr(learner, "feedback", "") == "function"
        self._functions: Iterator[SetFunction] = iter(()) if self._host else iter(stream)

    def play(self, rounds: int) -> FloatArray:
        """The costs of the next so many rounds, or the rewards."""
        left = self.stream.rounds - self.rounds
        if rounds > left:
            raise InvalidArgument(f"The stream has {left} more rounds, not {rounds}.")
        self._numbers = self._numbered_items()
        if self._host is not None:
            if self._host.learner is not self.learner.learner:  # its items have changed
                self._host = CompiledHost(self.learner, self.stream.compiled, self.sign)
            paid = np.empty(rounds)
            self.subset = self._host.play(paid, self.rounds)
        else:
            paid = np.array([self._play_one() for _ in range(rounds)])
        self.rounds += rounds
        return paid

    def best(self, rounds: int) -> Minimum:
        """The best fixed set of the first rounds; of rewards, the minimum of the negated total."""
        total = self.stream.total_until(rounds)
        constraints = getattr(getattr(self.learner, "learner", self.learner), "constraints", None)
        return best_fixed_set(-total if self.sign < 0 else total, constraints)

    def _numbered_items(self) -> dict[Any, int]:
        """The number of each item in the stream. A learner may change its items between two plays."""
        items = tuple(getattr(self.learner, "items", range(self.stream.n)))
        if self.stream.n != len(items):
            raise InvalidArgument(f"The stream has {self.stream.n} items, the learner {len(items)}.")
        return {item: i for i, item in enumerate(items)}

    def _play_one(self) -> float:
        function = next(self._functions)
        decision = self.learner.ask()
        self.subset = frozenset(self._numbers[item] for item in getattr(decision, "subset", decision))
        cost = function(self.subset)
        self.learner.tell(decision, function if self._whole else cost)
        return cost


class CompiledHost:
    """Runs the parts of a session, which it changes; what it was in the middle of is given up."""

    def __init__(self, session: Session, stream: Any, sign: float) -> None:
        learner = session.learner
        self._session, self.learner = session, learner
        self._told: Any = (WholeFunction if learner.query.whole else OneNumber)(stream, sign)
        if isinstance(learner.query, CostAndItems):
            self._told = WithItems(stream, sign)
        elif isinstance(learner.query, CostsOfSets):
            self._told = AllSets(stream, sign, np.zeros(learner.n, dtype=np.int64))
        if learner.listed is not None:
            orders = np.argsort(~learner.listed, axis=1, kind="stable")
            self._told = ListedSets(stream, sign, orders, learner.listed.sum(axis=1))
        self._state = copied(session._learned_state())
        self._policy: Any = PlainPolicy(learner.point(self._state))
        self._seen: Any = self._policy
        self._plain, notes = True, 0
        if isinstance(learner.policy, CompiledPolicy):
            self._policy, self._seen = learner.policy.constants, self._state
            self._plain, notes = False, learner.policy.notes
        self._planned = False
        self._set_table(empty_phase(np.arange(learner.n), notes), np.zeros(0, dtype=np.int64))

    def _set_table(self, phase: Phase, deck: IntArray) -> None:
        learner = self.learner
        slots, numbers = len(phase.rounds), learner.dimension
        self._table = Table(
            phase,
            deck,
            np.zeros((slots, numbers), dtype=np.int64),
            np.zeros((slots, learner.release.width(numbers)), dtype=learner.release.dtype),
            np.zeros(numbers, dtype=np.int64),
            np.zeros(numbers if isinstance(self._told, AllSets | ListedSets) else learner.n + 1),
            np.zeros(3, dtype=np.int64),
            np.zeros(2, dtype=np.int64),
        )

    def play(self, paid: FloatArray, first: int) -> frozenset[int]:
        """Play as many rounds as there is room in `paid`; the last chosen set, as item numbers."""
        session, query, done = self._session, self.learner.query, 0

        def consume(_: int, coins: BitArray, coin: int, noise: BitArray, cursor: int) -> tuple[int, int, int]:
            nonlocal done
            parts = self._told, self._policy, self._seen, query, session._mechanism, self._table
            done, coin, cursor = play_rounds(*parts, paid, first, done, coins, coin, noise, cursor)
            waits = self._plain and self._table.counts[ROUNDS] == 0  # for a policy in Python to plan
            return int(done == paid.size or waits), coin, cursor

        with session._played_elsewhere(paid.size):
            while done < paid.size:
                feed_both(session._coins, session._source, consume, 1)
                if done < paid.size:
                    self._plan()
            self._learn_what_arrived()
            session._state = self._state
        size, slot = self._table.last.tolist()
        return frozenset(self._table.phase.order[slot, :size].tolist())

    def _learn_what_arrived(self) -> None:
        """Close a phase that is over where reports are randomised on arrival, as a session does when read."""
        table, mechanism = self._table, self._session._mechanism
        if self.learner.release.local and 0 < table.counts[ROUNDS] == table.counts[DEALT]:

            def consume(_: int, bits: BitArray, cursor: int) -> tuple[int, int]:
                cursor = turn(self._policy, self._seen, mechanism, table, bits, cursor)
                return int(table.counts[ROUNDS] == 0), cursor

            self._session._source.feed(consume, 1)
            self._learn()

    def _learn(self) -> None:
        """What a policy in Python learns of the phase that was closed."""
        if self._planned:
            phase, values = self._table.phase, self._table.values
            released = Released(phase.note.copy(), phase.rounds.copy(), values.copy())
            self._state = self.learner.learn(self._state, released)
            self._planned = False

    def _plan(self) -> None:
        learner, coins = self.learner, self._session._coins
        self._learn()
        phase = learner.plan(self._state, coins)
        self._seen = PlainPolicy(learner.point(self._state))
        self._planned = True
        self._set_table(phase, shuffled_deck(phase, coins))
        self._table.counts[ROUNDS] = phase.rounds.sum()


def play(learner: Any, stream: Stream, rounds: int | None = None) -> FloatArray:
    """The costs paid in each round, or the rewards of a learner that maximises; the learner is changed.

    Examples:
        >>> from discreet import baselines, environments
        >>> play(baselines.FixedSet(4, [0, 2]), environments.modular(4, gap=1.0).stream(5))
        array([-1., -1., -1., -1., -1.])
    """
    return Run(learner, stream).play(stream.rounds if rounds is None else rounds)


def regret(learner: Any, stream: Stream) -> float:
    """Play all rounds; what the learner paid more, or earned less, than the best fixed set in hindsight.

    If the learner has constraints, that is the best of the allowed sets.

    Examples:
        >>> from discreet import baselines, environments
        >>> regret(baselines.FixedSet(4, [1, 3]), environments.modular(4, gap=1.0).stream(100))
        200.0
    """
    run = Run(learner, stream)
    paid = run.play(stream.rounds)
    return float(run.sign * paid.sum() - run.best(stream.rounds).value)


def best_fixed_set(total: SetFunction, constraints: Constraints | None) -> Minimum:
    """The allowed set of least cost: exactly, or only with a bound where too many sets are allowed."""
    if constraints is not None:
        limits = dataclasses.asdict(constraints)
        del limits["n"]
        return minimize(total, **limits)
    comparable = total.n <= MOST_COMPARED
    try:
        found = minimize(total)
        if not (found.assumes_submodular and comparable and values_come_quickly(total)):
            return found
    except InvalidArgument:
        pass  # it is not submodular
    if comparable:
        return minimize(total, method="enumeration")
    chosen = greedy_set(total, Constraints(total.n, total.n))
    return Minimum(chosen, total(chosen), -math.inf, "greedy", stopped="stalled")
