"""The compiled loop: a learner against a stream, round after round.

It runs the functions that a session calls one by one, in the same order and with the same random bits: plan,
deal, pay, measure, and at the next round close and learn. A policy in plain Python runs between its phases.
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from discreet.checks import FloatArray, IntArray
from discreet.compiled import generic, lean_kernel
from discreet.environments.stream import Stream, chain_costs, prefix_cost
from discreet.errors import InvalidArgument
from discreet.kernel.phase import Phase, Released, draw_size, empty_phase, shuffled_deck
from discreet.kernel.queries import measure
from discreet.kernel.releases import arrive, close
from discreet.learners.session import Session
from discreet.minimizers import Minimum, minimize
from discreet.policies.base import CompiledPolicy, learn, plan
from discreet.privacy.uniform import NEED_MORE_BITS
from discreet.randomness import BitArray, feed_both
from discreet.set_functions import SetFunction
from discreet.state import copied

#: What `plan` gives instead of a cursor where the phase must come from Python.
NEEDS_PHASE = -2
#: Places in `Table.counts`.
DEALT, ROUNDS, CLOSED, WAITS = 0, 1, 2, 3


class PlainPolicy(NamedTuple):
    """Stands for a policy in plain Python."""

    n: int


class PlainState(NamedTuple):
    """The point that a stream may look at."""

    x: FloatArray


@plan.register(PlainPolicy)
@lean_kernel
def _wait_for_phase(policy: PlainPolicy, state: Any, phase: Phase, coins: BitArray, cursor: int) -> int:
    return NEEDS_PHASE


@learn.register(PlainPolicy)
@lean_kernel
def _learn_in_python(
    policy: PlainPolicy, state: Any, note: FloatArray, rounds: IntArray, values: npt.NDArray[Any]
) -> None:
    pass


class OneNumber(NamedTuple):
    """A stream of whose functions only the cost of the chosen set is told; times the sign."""

    stream: Any
    sign: float


class WholeFunction(NamedTuple):
    """A stream whose functions are told whole; times the sign."""

    stream: Any
    sign: float


@generic
def pay(told: Any, t: int, x: FloatArray, order: IntArray, size: int, costs: FloatArray) -> float:
    """Write what is told of round t into `costs`; give the cost of the chosen prefix."""
    raise AssertionError("declares a generic function")


@pay.register(OneNumber)
@lean_kernel
def _pay_number(
    told: OneNumber, t: int, x: FloatArray, order: IntArray, size: int, costs: FloatArray
) -> float:
    costs[0] = told.sign * prefix_cost(told.stream, t, x, order, size)
    cost: float = costs[0]
    return cost


@pay.register(WholeFunction)
@lean_kernel
def _pay_function(
    told: WholeFunction, t: int, x: FloatArray, order: IntArray, size: int, costs: FloatArray
) -> float:
    chain_costs(told.stream, t, x, order, costs)
    for k in range(costs.size):
        costs[k] *= told.sign
    cost: float = costs[size]
    return cost


class Table(NamedTuple):
    """Where a phase is played.

    Attributes:
        phase: The present one.
        deck: The slot of each of its rounds.
        sums: Exact sums of reports, one row per slot.
        values: What is released of them.
        units: Room for a report.
        costs: Room for what is told.
        counts: DEALT of ROUNDS; CLOSED slots; whether the phase WAITS to be planned in Python.
        last: The chosen prefix and the slot of the last round.
    """

    phase: Phase
    deck: IntArray
    sums: IntArray
    values: npt.NDArray[Any]
    units: IntArray
    costs: FloatArray
    counts: IntArray
    last: IntArray


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
    """Play the rounds after `first`, of which `done` are, until `paid` is full or bits run out.

    The numbers in `paid` are the stream's own, costs or rewards.
    """
    phase, counts, units = table.phase, table.counts, table.units
    while done < paid.size:
        if counts[DEALT] == counts[ROUNDS]:
            after = turn(policy, state, mechanism, table, noise, cursor)
            if after == NEED_MORE_BITS:
                break
            cursor = after
            after = plan(policy, state, phase, coins, coin)
            if after == NEEDS_PHASE:
                counts[WAITS] = 1
                break
            if after == NEED_MORE_BITS:
                break
            coin = after
            counts[DEALT] = 0
            counts[ROUNDS] = phase.rounds.sum()
        slot = table.deck[counts[DEALT]] if table.sums.shape[0] > 1 else 0
        order, chance, note = phase.order[slot], phase.chance[slot], phase.note[slot]
        size, after = draw_size(chance, phase.size[slot], coins, coin)
        if after == NEED_MORE_BITS:
            break
        cost = pay(told, first + done, state.x, order, size, table.costs)
        units[:] = 0
        measure(query, table.costs, order, size, chance[size], note, units)
        arrived = arrive(mechanism, units, noise, cursor)
        if arrived == NEED_MORE_BITS:
            break
        coin, cursor = after, arrived
        for i in range(units.size):
            table.sums[slot, i] += units[i]
            units[i] = 0
        table.last[0], table.last[1] = size, slot
        counts[DEALT] += 1
        paid[done] = told.sign * cost
        done += 1
    return done, coin, cursor


@lean_kernel
def turn(policy: Any, state: Any, mechanism: Any, table: Table, noise: BitArray, cursor: int) -> int:
    """Close a phase that was played to its end, if there is one, and learn from what is released."""
    counts, slots = table.counts, table.sums.shape[0]
    if counts[ROUNDS] == 0:
        return cursor
    while counts[CLOSED] < slots:
        k = counts[CLOSED]
        after = close(mechanism, table.sums[k], table.values[k], noise, cursor)
        if after == NEED_MORE_BITS:
            return NEED_MORE_BITS
        cursor = after
        table.sums[k, :] = 0
        counts[CLOSED] += 1
    learn(policy, state, table.phase.note, table.phase.rounds, table.values)
    counts[DEALT] = counts[ROUNDS] = counts[CLOSED] = 0
    return cursor


class Run:
    """A learner on its way through a stream, some rounds at a time.

    The compiled loop and the plain one pay the same costs for the same seed. For a learner that was made with
    `maximize=True` the numbers of the stream are rewards.

    Args:
        learner: A session, or any object with `ask` and `tell`. It is changed: it goes on where it stands.
        stream: Compiled streams are played by compiled code, others by `ask` and `tell`.

    Attributes:
        rounds: How many have been played.
        subset: The last chosen set, as item numbers.

    Examples:
        >>> from discreet.baselines import FixedSet
        >>> from discreet.environments import modular
        >>> run = Run(FixedSet(4, [0, 2]), modular(4, gap=1.0).stream(100))
        >>> float(run.play(60).sum()), run.rounds, sorted(run.subset)
        (-60.0, 60, [0, 2])
    """

    def __init__(self, learner: Any, stream: Stream) -> None:
        self.items = tuple(getattr(learner, "items", range(stream.n)))
        if stream.n != len(self.items):
            raise InvalidArgument(f"The stream has {stream.n} items, the learner {len(self.items)}.")
        self.learner, self.stream = learner, stream
        self.rounds = 0
        self.subset: frozenset[int] = frozenset()
        self.sign = -1.0 if getattr(learner, "maximize", False) else 1.0
        self.whole = told_whole(learner)
        self._numbers = {item: i for i, item in enumerate(self.items)}
        compiled = isinstance(learner, Session) and stream.compiled is not None
        self._host = CompiledHost(learner, stream, self.sign) if compiled else None
        self._functions = iter(stream) if self._host is None else None

    def play(self, rounds: int) -> FloatArray:
        """The costs of the next so many rounds, or the rewards."""
        if self.rounds + rounds > self.stream.rounds:
            raise InvalidArgument(
                f"The stream has {self.stream.rounds - self.rounds} more rounds, not {rounds}."
            )
        paid = np.empty(rounds)
        if self._host is not None:
            self._host.play(paid, self.rounds)
            self.subset = self._host.subset
        else:
            assert self._functions is not None
            for t in range(rounds):
                paid[t] = self._play_one(next(self._functions))
        self.rounds += rounds
        return paid

    def _play_one(self, function: SetFunction) -> float:
        decision = self.learner.ask()
        chosen = getattr(decision, "subset", decision)
        self.subset = frozenset(self._numbers[item] for item in chosen)
        cost = function(self.subset)
        self.learner.tell(decision, function if self.whole else cost)
        return cost


class CompiledHost:
    """Runs the parts of a session in the compiled loop.

    Args:
        session: Its parts are used and changed; what it was in the middle of is given up.
        stream: With a compiled form.
        sign: Of its numbers.
    """

    def __init__(self, session: Session, stream: Stream, sign: float) -> None:
        learner = session.learner
        self._session, self._learner = session, learner
        self._told = (WholeFunction if learner.query.whole else OneNumber)(stream.compiled, sign)
        self._state = copied(session._learned_state())
        self._compiled = isinstance(learner.policy, CompiledPolicy)
        n = learner.n
        if isinstance(learner.policy, CompiledPolicy):
            self._policy, self._seen = learner.policy.constants, self._state
            phase = empty_phase(np.arange(n), learner.policy.notes)
        else:
            self._policy, self._seen = PlainPolicy(n), PlainState(learner.point(self._state))
            phase = empty_phase(np.arange(n), 0)
        self._planned = False
        self._costs = np.zeros(n + 1 if learner.query.whole else 1)
        self._set_table(phase, np.zeros(0, dtype=np.int64))

    def _set_table(self, phase: Phase, deck: IntArray) -> None:
        shape = len(phase.rounds), self._learner.dimension
        self._table = Table(
            phase,
            deck,
            np.zeros(shape, dtype=np.int64),
            np.zeros(shape, dtype=self._learner.release.dtype),
            np.zeros(shape[1], dtype=np.int64),
            self._costs,
            np.zeros(4, dtype=np.int64),
            np.zeros(2, dtype=np.int64),
        )

    @property
    def subset(self) -> frozenset[int]:
        """The last chosen set, as item numbers."""
        size, slot = self._table.last.tolist()
        return frozenset(self._table.phase.order[slot, :size].tolist())

    def play(self, paid: FloatArray, first: int) -> None:
        """Play as many rounds as there is room in `paid`."""
        session, done = self._session, 0
        with session._played_elsewhere(paid.size):
            while done < paid.size:
                done = self._play_phases(paid, first, done)
                if self._table.counts[WAITS]:
                    self._plan_in_python()
            self._learn_what_arrived()
            session._state = self._state

    def _play_phases(self, paid: FloatArray, first: int, done: int) -> int:
        session, table, reached = self._session, self._table, done
        query, mechanism = self._learner.query, session._mechanism

        def consume(_: int, coins: BitArray, coin: int, noise: BitArray, cursor: int) -> tuple[int, int, int]:
            nonlocal reached
            reached, coin, cursor = play_rounds(
                self._told,
                self._policy,
                self._seen,
                query,
                mechanism,
                table,
                paid,
                first,
                reached,
                coins,
                coin,
                noise,
                cursor,
            )
            stops = reached == paid.size or table.counts[WAITS] == 1
            return int(stops), coin, cursor

        feed_both(session._coins, session._source, consume, 1)
        return reached

    def _learn_what_arrived(self) -> None:
        """Close a phase that is over where reports are randomised on arrival, as a session does when read."""
        counts, source = self._table.counts, self._session._source
        if self._learner.release.local and 0 < counts[ROUNDS] == counts[DEALT]:
            source.feed_one(
                lambda bits, cursor: turn(
                    self._policy, self._seen, self._session._mechanism, self._table, bits, cursor
                )
            )
            self._learn_in_python()

    def _learn_in_python(self) -> None:
        if self._compiled or not self._planned:
            return
        phase, values = self._table.phase, self._table.values
        self._planned = False
        self._state = self._learner.learn(
            self._state, Released(phase.note.copy(), phase.rounds.copy(), values.copy())
        )

    def _plan_in_python(self) -> None:
        learner, coins = self._learner, self._session._coins
        self._learn_in_python()
        phase = learner.plan(self._state, coins)
        self._seen = PlainState(learner.point(self._state))
        self._planned = True
        self._set_table(phase, shuffled_deck(phase, coins))
        self._table.counts[ROUNDS] = phase.rounds.sum()


def told_whole(learner: Any) -> bool:
    """Whether a learner is told whole cost functions; others are told the cost of the chosen set.

    An object that is not of this package says so by an attribute ``feedback = "function"``.
    """
    if isinstance(learner, Session):
        return learner.learner.query.whole
    return getattr(learner, "feedback", "cost") == "function"


def play(learner: Any, stream: Stream, rounds: int | None = None) -> FloatArray:
    """The costs paid in each round, or the rewards of a learner that maximises; the learner is changed.

    Examples:
        >>> from discreet.baselines import FixedSet
        >>> from discreet.environments import modular
        >>> play(FixedSet(4, [0, 2]), modular(4, gap=1.0).stream(5))
        array([-1., -1., -1., -1., -1.])
    """
    return Run(learner, stream).play(stream.rounds if rounds is None else rounds)


def regret(learner: Any, stream: Stream) -> float:
    """Play all rounds; what the learner paid more than the best fixed set in hindsight. It is changed.

    For a learner that maximises, what it earned less.

    Examples:
        >>> from discreet.baselines import FixedSet
        >>> from discreet.environments import modular
        >>> stream = modular(4, gap=1.0).stream(100)
        >>> regret(FixedSet(4, [0, 2]), stream), regret(FixedSet(4, [1, 3]), stream)
        (0.0, 200.0)
    """
    run = Run(learner, stream)
    paid = run.play(stream.rounds)
    return float(run.sign * paid.sum() - best_fixed_set(stream.total, run.sign < 0).value)


def best_fixed_set(total: SetFunction, maximize: bool) -> Minimum:
    """The set of least cost, or of most reward: then the minimum is that of the negated total."""
    return minimize(-total if maximize else total)
