"""A learner: a policy, a query and a release. Hosts run it.

Its methods are what every host (session, service, simulator, audit) does in a round. They hold no state: what
changes is the policy's state, which is public, and the release's mechanism, which is secret and single-use.
"""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from discreet.checks import FloatArray, IntArray
from discreet.compiled import Settled
from discreet.errors import InvalidArgument, InvalidType
from discreet.kernel.phase import (
    FLOAT,
    Phase,
    Released,
    Report,
    Secret,
    Ticket,
    checked_phase,
    require_dealable,
)
from discreet.kernel.queries import Query
from discreet.kernel.releases import Release, close_many, measured
from discreet.policies.base import CompiledPolicy, Policy
from discreet.prefix_sums.steps import check_round
from discreet.privacy.guarantee import Guarantee
from discreet.randomness import BitSource
from discreet.state import arrays_in, constants_in


@dataclasses.dataclass(frozen=True)
class Learner:
    """A policy, a query and a release.

    Its guarantee comes from the query's bound and the release alone: whatever the policy does with released
    numbers is post-processing.

    Args:
        n: The number of items.
        policy: Plans and learns.
        query: What is measured of feedback.
        release: How sums of it leave.

    Examples:
        >>> from discreet.kernel import CostOfSet, Laplace
        >>> from discreet.policies import Uniform
        >>> from discreet.privacy import Budget
        >>> query = CostOfSet(0.0, 1.0)
        >>> learner = Learner(3, Uniform(3), query, Laplace(query.bound, Budget(epsilon=1.0)))
        >>> learner.guarantee.epsilon, learner.dimension
        (1.0, 1)
    """

    n: int
    policy: Policy[Any]
    query: Query
    release: Release
    _measured: Settled = dataclasses.field(
        default_factory=lambda: Settled(measured), init=False, repr=False, compare=False
    )
    _close: Settled = dataclasses.field(
        default_factory=lambda: Settled(close_many), init=False, repr=False, compare=False
    )

    def __post_init__(self) -> None:
        for name in ("start", "plan", "learn"):
            if not callable(getattr(self.policy, name, None)):
                raise InvalidType(f"A policy needs the methods start, plan and learn. It has no {name!r}.")
        if not self.release.covers(self.query, self.n):
            raise InvalidArgument(
                f"The noise of this {type(self.release).__name__} does not hide every report of its "
                f"{type(self.query).__name__}: make it for the query's bound."
            )

    @property
    def guarantee(self) -> Guarantee:
        """What is promised to each person, if the random bits are cryptographic."""
        return self.release.guarantee

    @functools.cached_property
    def dimension(self) -> int:
        """How many integers a report has."""
        return self.query.dimension(self.n)

    def mechanism(self) -> Any:
        """The release's secret state before the first slot."""
        return self.release.mechanism(self.dimension)

    def plan(self, state: Any, coins: BitSource, available: IntArray | None = None) -> Phase:
        """The policy's next phase, checked."""
        if isinstance(self.policy, CompiledPolicy):
            return require_dealable(self.policy.plan(state, coins, available), self.n)
        if available is None:
            return checked_phase(self.policy.plan(state, coins), self.n)
        phase = checked_phase(self.policy.plan(state, coins, available), self.n)
        if not np.isin(phase.order, available).all():
            raise InvalidArgument("A policy planned a set with items that are not available.")
        return phase

    def plan_for(self, state: Any, coins: BitSource, available: IntArray | None) -> Phase:
        """A phase for a round among the available items: for it alone, or one that can be restricted."""
        if available is not None and getattr(self.policy, "chooses_among", True):
            phase = self.plan(state, coins, available)
            if phase.rounds.sum() == 1:
                return phase
        return self.plan(state, coins)

    def report(self, ticket: Ticket, costs: FloatArray, mechanism: Any, noise: BitSource) -> Report:
        """What is measured of a ticket's feedback; where the release is local, randomised at once.

        Args:
            ticket: As it was dealt.
            costs: The private cost of its set, alone; or those of all prefixes of its order. An array that
                is not of so many floats counts as the middle of the range.
            mechanism: The release's.
            noise: Random bits.
        """
        wanted = ticket.order.size + 1 if self.query.whole else 1
        if costs.shape != (wanted,) or costs.dtype != FLOAT or not costs.flags.c_contiguous:
            costs = np.full(wanted, np.nan)  # nothing is raised: it may depend on private numbers
        units = np.zeros(self.dimension, dtype=np.int64)
        run, query = self._measured, self.query
        noise.feed_one(lambda bits, cursor: run(query, mechanism, costs, ticket, units, bits, cursor))
        return Report(ticket, Secret(units))

    def close(self, mechanism: Any, phase: Phase, sums: IntArray, noise: BitSource) -> Released:
        """Release the sums of a phase's slots: now noise is added, unless reports have it already.

        Args:
            mechanism: The release's; it is changed, and each sum may go in once.
            phase: Whose rounds were dealt. It and the sums must not be used any more.
            sums: The exact sums of the slots' reports, one row per slot.
            noise: Random bits.
        """
        values: npt.NDArray[Any] = sums
        if not self.release.local:
            values, run = np.zeros(sums.shape, dtype=self.release.dtype), self._close
            noise.feed(lambda done, bits, cursor: run(mechanism, sums, values, done, bits, cursor), len(sums))
        return Released(phase.note, phase.rounds, values)

    def learn(self, state: Any, released: Released) -> Any:
        """The policy's next state."""
        if not isinstance(released, Released):
            raise InvalidType(f"A policy learns from a Released. Got {type(released).__name__} instead.")
        return self.policy.learn(state, released)

    def point(self, state: Any) -> FloatArray:
        """The inclusion level of each item, if the policy has such; else all are 1/2."""
        own = getattr(self.policy, "point", None)
        return np.full(self.n, 0.5) if own is None else np.array(own(state), dtype=np.float64)

    def best(self, state: Any) -> IntArray:
        """The items of the set that the policy takes for the best; by default, those of levels above 1/2."""
        own = getattr(self.policy, "best", None)
        return (
            np.flatnonzero(self.point(state) > 0.5) if own is None else np.array(own(state), dtype=np.int64)
        )

    def constants(self) -> dict[str, float]:
        """The numbers that decide about privacy: those of the query and of the release."""
        return constants_in(self.query, "query") | constants_in(self.mechanism(), "release")

    def check_constants(self, owner: str, saved: Mapping[str, float]) -> None:
        """Refuse to go on with other constants than a state was made with: noise and sums would not fit."""
        present = self.constants()
        if present.keys() != saved.keys() or any(
            not math.isclose(present[name], saved[name], rel_tol=1e-12) for name in present
        ):
            raise InvalidArgument(
                f"This {owner} was saved with other constants than this release (or this machine) computes "
                "from the same arguments. Load it where it was made, or start a new one at its point."
            )

    def check_state(self, state: Any, mechanism: Any) -> None:
        """Refuse a restored state that no run could have led to: compiled code trusts its numbers."""
        check_round(mechanism)
        if not isinstance(self.policy, CompiledPolicy):
            return
        x = state.x
        floats = (a for name, a in arrays_in(state).items() if a.dtype == np.float64 and name != "levels")
        sound = (
            x.min(initial=0) >= 0
            and x.max(initial=0) <= 1
            and all(np.isfinite(array).all() for array in floats)
            and not np.isnan(getattr(state, "levels", x)).any()
        )
        if not sound:
            raise InvalidArgument("The saved state is damaged: its numbers make no sense.")
