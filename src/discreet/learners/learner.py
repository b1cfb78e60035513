"""A learner: a policy, a query and a release. Hosts (session, service, simulator, audit) run it."""

import dataclasses
import inspect
import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from discreet.checks import BoolArray, FloatArray, IntArray
from discreet.compiled import Settled
from discreet.constraints import Constraints
from discreet.errors import InvalidArgument, InvalidType
from discreet.kernel import Phase, Released, Report
from discreet.kernel.phase import (
    EACH_ROUND,
    FLOAT,
    Secret,
    Ticket,
    checked_phase,
    require_dealable,
    sets_in,
)
from discreet.kernel.queries import CostsOfSets, Query, numbers_told
from discreet.kernel.releases import Release, close_many, measured
from discreet.policies.base import CompiledPolicy, Policy, plan_of
from discreet.prefix_sums.steps import check_round
from discreet.privacy.guarantee import Guarantee
from discreet.randomness import BitSource
from discreet.state import arrays_in, constants_in

_NOT_LEFT = (
    "This learner cannot switch these items off now: what is left of its set does not keep to the "
    "constraints."
)


@dataclasses.dataclass(eq=False)
class Learner:
    """A policy, a query and a release, for n items, and what hosts do with them in a round.

    Its guarantee comes from the query's bound and the release alone: whatever the policy does with released
    numbers is post-processing. It holds no state: what changes is the policy's state, which is public, and
    the release's mechanism, which is secret and single-use.

    Examples:
        >>> from discreet.kernel import CostOfSet, Laplace
        >>> from discreet.policies import Uniform
        >>> from discreet.privacy import Budget
        >>> query = CostOfSet(0.0, 1.0)
        >>> Learner(3, Uniform(3), query, Laplace(query.bound, Budget(epsilon=1.0))).guarantee.epsilon
        1.0
    """

    n: int
    policy: Policy[Any]
    query: Query
    release: Release
    constraints: Constraints | None = None  # every set that is dealt keeps to them

    def __post_init__(self) -> None:
        for name in ("start", "plan", "learn"):
            if not callable(getattr(self.policy, name, None)):
                raise InvalidType(f"A policy needs the methods start, plan and learn. It has no {name!r}.")
        if not self.release.covers(self.query, self.n):
            release, query = type(self.release).__name__, type(self.query).__name__
            raise InvalidArgument(f"The noise of this {release} does not hide every report of its {query}.")
        #: How many integers a report has.
        self.dimension = self.query.dimension(self.n)
        self._compiled = isinstance(self.policy, CompiledPolicy)
        #: The members of each allowed set, if a query lists them.
        self.listed: BoolArray | None = None
        if isinstance(self.query, CostsOfSets) and self.constraints is not None:
            self.listed = self.constraints.listed()
        self._measure, self._close = Settled(measured), Settled(close_many)

    @property
    def guarantee(self) -> Guarantee:
        """What is promised to each person, if the random bits are cryptographic."""
        return self.release.guarantee

    def _chooses_among(self) -> bool:
        """Whether the policy can plan with some of the items."""
        try:
            inspect.signature(self.policy.plan).bind("state", "coins", "available")
        except TypeError:
            return False
        return getattr(self.policy, "chooses_among", True)

    @property
    def deals_among(self) -> bool:
        """Whether rounds of a phase that was planned with all items may be dealt among some of them."""
        return getattr(self.policy, "deals_among", True)

    def mechanism(self) -> Any:
        """The release's secret state before the first slot."""
        return self.release.mechanism(self.dimension)

    def plan(
        self,
        state: Any,
        coins: BitSource,
        available: IntArray | None = None,
        segment: int | None = None,
    ) -> Phase:
        """The policy's next phase, checked. Among available items it has one round or draws its sets."""
        plan = plan_of(self.policy, segment)
        if available is not None:
            if not self._chooses_among():
                why = "its policy does not choose among available items"
                raise InvalidArgument(f"This learner cannot switch items off: {why}.")
            phase = self._checked(plan(state, coins, available), available)
            if not np.isin(phase.order, available).all():
                raise InvalidArgument("A policy planned a set with items that are not available.")
            if phase.rounds.sum() == 1:
                return phase
        phase = self._checked(plan(state, coins))
        if available is not None and (phase.size != EACH_ROUND).any():
            # Whether its set happens to fit must not decide: what is dealt would not have the noted chance.
            raise InvalidArgument("This learner cannot switch items off now: it plays sets for some rounds.")
        return phase

    def _checked(self, phase: Phase, available: IntArray | None = None) -> Phase:
        phase = require_dealable(phase, self.n) if self._compiled else checked_phase(phase, self.n)
        if self.constraints is not None:
            among = self.constraints.among("ask", available)
            if not among.allows(sets_in(phase, self.n)).all():
                broken = "A policy planned a set that does not keep to the constraints."
                raise InvalidArgument(broken if available is None else _NOT_LEFT)
        return phase

    def require_allowed(self, chosen: IntArray, available: IntArray | None) -> None:
        """Refuse to deal what is left of a set without unavailable items, if it is not allowed."""
        if self.constraints is not None and available is not None:
            members = np.isin(np.arange(self.n), chosen)
            if not self.constraints.allows(members[None])[0]:
                raise InvalidArgument(_NOT_LEFT)

    def report(self, ticket: Ticket, costs: FloatArray, mechanism: Any, noise: BitSource) -> Report:
        """What is measured of the costs of a ticket's set or prefixes; if local, randomised at once."""
        wanted = numbers_told(self.query, self.n, ticket.order.size)
        if costs.shape != (wanted,) or costs.dtype != FLOAT or not costs.flags.c_contiguous:
            costs = np.full(wanted, np.nan)  # nothing is raised: it may depend on private numbers
        units = np.zeros(self.dimension, dtype=np.int64)
        run, query = self._measure, self.query
        noise.feed_one(lambda bits, cursor: run(query, mechanism, costs, ticket, units, bits, cursor))
        return Report(ticket, Secret(units))

    def close(self, mechanism: Any, phase: Phase, sums: IntArray, noise: BitSource) -> Released:
        """Release the sums of a phase's slots, with noise unless reports have it; each may go in once."""
        values: npt.NDArray[Any] = sums
        if not self.release.local:
            shape, note, run = (len(sums), self.release.width(self.dimension)), phase.note, self._close
            values = out = np.zeros(shape, dtype=self.release.dtype)
            noise.feed(lambda done, bits, at: run(mechanism, note, sums, out, done, bits, at), len(sums))
        return Released(phase.note, phase.rounds, values)

    def learn(self, state: Any, released: Released) -> Any:
        """The policy's next state."""
        if not isinstance(released, Released):
            raise InvalidType(f"A policy learns from a Released. Got {type(released).__name__} instead.")
        return self.policy.learn(state, released)

    def point(self, state: Any, segment: int | None = None) -> FloatArray:
        """The inclusion level of each item, if the policy has such; else all are 1/2."""
        own, place = getattr(self.policy, "point", None), () if segment is None else (segment,)
        return np.full(self.n, 0.5) if own is None else np.array(own(state, *place), dtype=np.float64)

    def best(self, state: Any, available: IntArray | None = None, segment: int | None = None) -> IntArray:
        """The items of the set that the policy takes for the best; by default, those of levels above 1/2.

        If not all are available, what is left of them; and others, if too few are left to be allowed.
        """
        own = getattr(self.policy, "best", None)
        found = np.flatnonzero(self.point(state, segment) > 0.5) if own is None else own(state)
        if available is not None:
            members = np.isin(np.arange(self.n), np.intersect1d(found, available))[None]
            if self.constraints is not None:
                members = self.constraints.among("ask", available).repaired(members)
            found = np.flatnonzero(members[0])
        return np.array(found, dtype=np.int64)

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
                "from the same arguments. Load it where it was made, or start a new one."
            )

    def check_state(self, state: Any, mechanism: Any) -> None:
        """Refuse a restored state that no run could have led to: compiled code trusts its numbers."""
        check_round(mechanism)
        makes_sense = getattr(self.policy, "makes_sense", None)
        if makes_sense is not None and not makes_sense(state):
            raise InvalidArgument("The saved state is damaged: its numbers make no sense.")
        if not self._compiled:
            return
        x, levels = state.x, getattr(state, "levels", state.x)
        floats = [a for name, a in arrays_in(state).items() if a.dtype == FLOAT and name != "levels"]
        in_cube = x.min(initial=0) >= 0 and x.max(initial=0) <= 1
        if not (in_cube and all(np.isfinite(a).all() for a in floats) and not np.isnan(levels).any()):
            raise InvalidArgument("The saved state is damaged: its numbers make no sense.")
