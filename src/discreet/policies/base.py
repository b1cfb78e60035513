"""What a policy is: three pure functions on public values, in plain Python or compiled for speed."""

import functools
from collections.abc import Callable
from typing import Any, Protocol, TypeVar

import numpy as np
import numpy.typing as npt

from discreet.checks import FloatArray, IntArray
from discreet.compiled import Settled, generic, lean_kernel
from discreet.errors import InvalidArgument, InvalidType
from discreet.kernel.phase import Phase, Released, draw_prefix, empty_phase
from discreet.lovasz import sort_by_level
from discreet.privacy.uniform import NEED_MORE_BITS, uniform_float
from discreet.randomness import BitArray, BitSource
from discreet.state import copied

State = TypeVar("State")


class Policy(Protocol[State]):
    """Plans phases and learns from what was released of them.

    A state is a named tuple or a dictionary of numpy arrays, which do not change their shapes. A policy may
    also have ``point(state)``, an inclusion level in [0, 1] per item, and ``best(state)``, the items of the
    set it takes for the best.
    """

    def start(self) -> State:
        """The state before anything was released."""

    def plan(self, state: State, coins: BitSource, available: IntArray | None = None) -> Phase:
        """The next phase, from coins of its own (`coins.generator()` is numpy's). The state stays as it is.

        A policy that cannot choose among some `available` items leaves that argument out.
        """

    def learn(self, state: State, released: Released) -> State:
        """The next state, after some slots were released."""


def plan_of(policy: Policy[Any], segment: int | None) -> Callable[..., Phase]:
    """How it plans, for a segment if there are such: other policies have no such argument."""
    plan: Callable[..., Phase] = policy.plan
    return plan if segment is None else functools.partial(plan, segment=segment)


@generic
def plan(policy: Any, state: Any, phase: Phase, coins: BitArray, cursor: int) -> int:
    """Fill in the one slot of a phase, whose order lists the available items; the new cursor."""
    raise AssertionError("declares a generic function")


@generic
def learn(policy: Any, state: Any, note: FloatArray, rounds: IntArray, values: npt.NDArray[Any]) -> None:
    """Learn from released slots, one per row, in place."""
    raise AssertionError("declares a generic function")


class CompiledPolicy:
    """A policy made of kernels: `plan` and `learn` are registered for its constants, a named tuple.

    The first state is a named tuple of arrays, of which `x` is the point, in [0, 1]^n. So many numbers are
    noted per slot (`notes`), and so many released ones learned from (`numbers`).
    """

    #: Whether its `plan` can do with some of the items; otherwise it plans with all.
    chooses_among = True

    def __init__(self, constants: Any, first: Any, notes: int = 0, numbers: int = 1) -> None:
        self.constants, self._first = constants, first
        self.notes, self.numbers = notes, numbers
        self._items = np.arange(first.x.size)  # in their last order: sorting starts from there
        self._plan = Settled(plan)
        self._learn = {kind: Settled(learn) for kind in "if"}  # from integers, or from the paper's floats

    def start(self) -> Any:
        return copied(self._first)

    def plan(self, state: Any, coins: BitSource, available: IntArray | None = None) -> Phase:
        among = available if self.chooses_among else None
        phase = empty_phase(self._items if among is None else among, self.notes)
        run, constants = self._plan, self.constants
        coins.feed_one(lambda bits, cursor: run(constants, state, phase, bits, cursor))
        if among is None:
            self._items = phase.order[0]
        return phase

    def learn(self, state: Any, released: Released) -> Any:
        if not isinstance(released, Released):
            raise InvalidType(f"A policy learns from a Released. Got {type(released).__name__} instead.")
        note, rounds, values = released.note, released.rounds, released.values
        if note.shape[1] != self.notes or values.shape[1] < self.numbers:
            raise InvalidArgument("What was released has too few numbers per slot for this policy.")
        after = state._make([part.copy() for part in state])
        self._learn[values.dtype.kind](self.constants, after, note, rounds, values)
        return after

    def point(self, state: Any) -> FloatArray:
        return np.array(state.x)


@lean_kernel
def clip_to_cube(value: float) -> float:
    """The nearest number in [0, 1]; 0 for NaN, which noise never is."""
    return min(value, 1.0) if value > 0.0 else 0.0


@lean_kernel
def plan_prefix(
    x: FloatArray, levels: FloatArray, gamma: float, phase: Phase, coins: BitArray, cursor: int
) -> int:
    """Sort the items by level and draw a prefix of that chain, each with at least gamma / (n+1)."""
    if cursor >= coins.size:
        return NEED_MORE_BITS
    order = phase.order[0]
    sort_by_level(levels, order)
    size, probability = draw_prefix(x, order, gamma, uniform_float(coins[cursor]))
    phase.size[0] = size
    phase.chance[0, size] = probability
    phase.rounds[0] = 1
    return cursor + 1
