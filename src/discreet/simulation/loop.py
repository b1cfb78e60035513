"""The compiled loop: a learner's core against a stream, round after round."""

from typing import Any, NamedTuple

import numpy as np

from discreet.checks import FloatArray
from discreet.compiled import generic, lean_kernel
from discreet.environments.stream import Stream, chain_costs, prefix_cost
from discreet.errors import HorizonReached, InvalidArgument
from discreet.learners.base import Learner
from discreet.learners.core import choose, learn_cost, learn_function
from discreet.learners.draw import SIZE, Draw, new_draw
from discreet.learners.feedback import BanditFeedback
from discreet.minimizers import Minimum, minimize
from discreet.privacy.uniform import NEED_MORE_BITS
from discreet.randomness import BitArray
from discreet.set_functions import SetFunction


class OneNumber(NamedTuple):
    """A stream of whose functions only the value of the chosen set is told; as a cost, times the sign."""

    stream: Any
    sign: float


class WholeFunction(NamedTuple):
    """A stream whose functions are told whole; as costs, times the sign."""

    stream: Any
    sign: float


@generic
def play_round(
    told: Any, core: Any, draw: Draw, t: int, costs: FloatArray, bits: BitArray, cursor: int
) -> int:
    """Choose, pay and learn in round t; the new cursor, or NEED_MORE_BITS. The cost is at SIZE in `costs`."""
    raise AssertionError("declares a generic function")


@play_round.register(OneNumber)
@lean_kernel
def _play_for_a_number(
    told: OneNumber, core: Any, draw: Draw, t: int, costs: FloatArray, bits: BitArray, cursor: int
) -> int:
    after: int = choose(core, draw, bits, cursor)
    if after == NEED_MORE_BITS:
        return NEED_MORE_BITS
    size = draw.numbers[SIZE]
    costs[size] = told.sign * prefix_cost(told.stream, t, core.x, draw.order, size)
    learnt: int = learn_cost(core, draw, costs[size], bits, after)
    return learnt


@play_round.register(WholeFunction)
@lean_kernel
def _play_for_a_function(
    told: WholeFunction, core: Any, draw: Draw, t: int, costs: FloatArray, bits: BitArray, cursor: int
) -> int:
    after: int = choose(core, draw, bits, cursor)
    if after == NEED_MORE_BITS:
        return NEED_MORE_BITS
    chain_costs(told.stream, t, core.x, draw.order, costs)
    if told.sign < 0:
        for k in range(costs.size):
            costs[k] = -costs[k]
    learnt: int = learn_function(core, draw, costs, bits, after)
    return learnt


@lean_kernel
def play_rounds(
    told: Any,
    core: Any,
    draw: Draw,
    costs: FloatArray,
    paid: FloatArray,
    first: int,
    done: int,
    bits: BitArray,
    cursor: int,
) -> tuple[int, int]:
    """Play the rounds after `first`, of which `done` are, until `paid` is full or the bits run out.

    The numbers in `paid` are the stream's own, costs or rewards. There must be room in `costs` for those of a
    chain.
    """
    while done < paid.size:
        after = play_round(told, core, draw, first + done, costs, bits, cursor)
        if after == NEED_MORE_BITS:
            break
        paid[done] = told.sign * costs[draw.numbers[SIZE]]
        done += 1
        cursor = after
    return done, cursor


class Run:
    """A learner on its way through a stream, some rounds at a time.

    The compiled loop and the plain one pay the same costs for the same seed. For a learner that was made with
    `maximize=True` the numbers of the stream are rewards.

    Args:
        learner: Is changed: it goes on where it stands.
        stream: Compiled streams are played by compiled code, others by `ask` and `tell`.

    Attributes:
        rounds: How many have been played.
        subset: The last chosen set, as item numbers.

    Examples:
        >>> from discreet.baselines import FixedSet
        >>> from discreet.environments import ItemSigns
        >>> run = Run(FixedSet(4, [0, 2]), ItemSigns(4, rounds=100, gap=1.0))
        >>> float(run.play(60).sum()), run.rounds, sorted(run.subset)
        (-60.0, 60, [0, 2])
    """

    def __init__(self, learner: Learner, stream: Stream) -> None:
        if stream.n != len(learner.items):
            raise InvalidArgument(f"The stream has {stream.n} items, the learner {len(learner.items)}.")
        self.learner, self.stream = learner, stream
        self.rounds = 0
        self.subset: frozenset[int] = frozenset()
        self._bandit = isinstance(learner, BanditFeedback)
        self._draw = new_draw(np.arange(stream.n))
        self._functions = iter(stream) if stream.compiled is None else None

    def play(self, rounds: int) -> FloatArray:
        """The costs of the next so many rounds, or the rewards."""
        if self.rounds + rounds > self.stream.rounds:
            raise InvalidArgument(
                f"The stream has {self.stream.rounds - self.rounds} more rounds, not {rounds}."
            )
        left = self.learner.horizon - self.learner.rounds
        if rounds > left:  # compiled code trusts the number of rounds
            raise HorizonReached(f"This learner can take {left} more rounds, not {rounds}.")
        paid = np.empty(rounds)
        if self._functions is None:
            self._play_compiled(paid)
        else:
            for t in range(rounds):
                paid[t] = self._play_one(next(self._functions))
        self.rounds += rounds
        return paid

    def _play_compiled(self, paid: FloatArray) -> None:
        core, draw, first = self.learner._core, self._draw, self.rounds
        costs = np.empty(self.stream.n + 1)
        told = (OneNumber if self._bandit else WholeFunction)(self.stream.compiled, self.learner._sign)
        with self.learner._played_elsewhere(paid.size):
            self.learner._source.feed(
                lambda done, bits, cursor: play_rounds(
                    told, core, draw, costs, paid, first, done, bits, cursor
                ),
                paid.size,
            )
        self.subset = frozenset(draw.order[: draw.numbers[SIZE]].tolist())

    def _play_one(self, function: SetFunction) -> float:
        decision = self.learner.ask()
        self.subset = frozenset(i for i, item in enumerate(self.learner.items) if item in decision.subset)
        cost = function(self.subset)
        self.learner.tell(decision, cost if self._bandit else function)
        return cost


def play(learner: Learner, stream: Stream, rounds: int | None = None) -> FloatArray:
    """The costs paid in each round, or the rewards of a learner that maximises; the learner is changed.

    Examples:
        >>> from discreet.baselines import FixedSet
        >>> from discreet.environments import ItemSigns
        >>> play(FixedSet(4, [0, 2]), ItemSigns(4, rounds=5, gap=1.0))
        array([-1., -1., -1., -1., -1.])
    """
    return Run(learner, stream).play(stream.rounds if rounds is None else rounds)


def regret(learner: Learner, stream: Stream) -> float:
    """Play all rounds; what the learner paid more than the best fixed set in hindsight. It is changed.

    For a learner that maximises, what it earned less.

    Examples:
        >>> from discreet.baselines import FixedSet
        >>> from discreet.environments import ItemSigns
        >>> stream = ItemSigns(4, rounds=100, gap=1.0)
        >>> regret(FixedSet(4, [0, 2]), stream), regret(FixedSet(4, [1, 3]), stream)
        (0.0, 200.0)
    """
    paid = play(learner, stream)
    return float(learner._sign * paid.sum() - best_fixed_set(stream.total, learner.maximize).value)


def best_fixed_set(total: SetFunction, maximize: bool) -> Minimum:
    """The set of least cost, or of most reward: then the minimum is that of the negated total."""
    return minimize(-total if maximize else total)
