"""A learner whose open decisions and reports are kept elsewhere, by a store.

A phase of several rounds is a row of the store, which deals them one by one; a phase of one round is its
ticket alone. Every decision gives one report: what was told of it, or nothing once its deadline has passed.
A phase is closed when all its reports are there. Who has told, and how many, is public in a store; a central
phase waits for the deadline of its last decision even so, so that what is released does not depend on who has
told.
"""

import dataclasses
import json
import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from discreet.checks import BoolArray, FloatArray, IntArray
from discreet.errors import HorizonReached, InvalidArgument
from discreet.kernel.phase import (
    Phase,
    Released,
    Ticket,
    chain_among,
    drawn_size,
    probability_of,
    slots_among,
)
from discreet.kernel.queries import CostAndItems, CostsOfSets, numbers_told
from discreet.kernel.releases import release_bits
from discreet.learners import changing
from discreet.learners.bandit import BanditLearner, PolicyLearner
from discreet.learners.feedback import BanditFeedback, numbers_in, quiet_costs
from discreet.learners.full_information import MOST_BY_DEFAULT, FullInformationLearner
from discreet.learners.session import Session
from discreet.learners.tickets import INLINE, Dealt, Plan, StoredTicket, damaged, inline_notes, phase_of
from discreet.policies import ChainBandit, Choose
from discreet.policies.holdout import Held
from discreet.privacy.grid import no_warnings, number_or_nan
from discreet.privacy.guarantee import Guarantee
from discreet.randomizers import OneBit
from discreet.state import arrays_in, copied, decode, encode, with_arrays

log = logging.getLogger("discreet.learners")

#: Places in `HostState.counts`: rounds learned from, and releases: sums, or bits of a local learner.
ROUNDS, RELEASES = 0, 1

#: Characters times sets of a function whose values are all needed: about four seconds of work at most.
MOST_WORK = 1 << 28
NOTHING: Mapping[int, Any] = MappingProxyType({})
#: What can be hosted, by kind. `register` adds to it.
KINDS: dict[str, Callable[..., Session]] = {
    "bandit": BanditLearner._made,
    "full_information": FullInformationLearner._made,
}
BUILT_IN = tuple(KINDS)


def register(kind: str, policy: Callable[[int], Any]) -> None:
    """Let learners with a custom policy be hosted; their arguments are those of a `PolicyLearner`."""
    if kind in BUILT_IN:
        raise InvalidArgument(f"There is a built-in kind of learner called {kind!r}.")
    KINDS[kind] = lambda items, arguments: PolicyLearner(items, policy, **arguments)


class HostState(NamedTuple):
    """The policy's state (public), the release's (secret), and two counts."""

    policy: Any
    mechanism: Any
    counts: IntArray


class Changed(NamedTuple):
    """A learner with other items, its state, and whether what is told of open decisions still counts."""

    host: "Host"
    state: HostState
    takes_reports: bool


class OpenSums(NamedTuple):
    """The sums of an open phase, one row per slot, and how many reports are in them. Secret, unless local."""

    sums: IntArray
    applied: int

    def encode(self) -> bytes:
        """As bytes."""
        return encode({}, {"sums": self.sums})


@dataclasses.dataclass(frozen=True)
class Summary:
    """What anybody may see of a learner: all of it is covered by the guarantee."""

    point: tuple[float, ...]  # the inclusion level of each item
    best: tuple[Any, ...]  # the items of the set that it takes for the best
    rounds: int  # how many were learned from
    releases: int  # how often something was released: bits of a local learner, or sums
    mean: float | None  # of costs (or rewards), as far as it was released
    noise_variance: float  # of one released number
    held: Held | None  # what was released of the rounds that are held out
    guarantee: Guarantee


class Host:
    """A learner without its open decisions. Its methods may be called by several threads.

    It is made from "kind", "items" and "arguments" (those of the constructor, as JSON types). Its `settings`
    also have "constants", which must be the same when it is made again. Where it `keeps_secrets`, states,
    sums and reports hold more than the guarantee covers.
    """

    def __init__(self, settings: Mapping[str, Any]) -> None:
        kind, arguments = settings["kind"], dict(settings["arguments"])
        if "seed" in arguments or "source" in arguments or "expire_after" in arguments:
            raise InvalidArgument(
                "A learner in a service draws its own bits and has a deadline in seconds: no 'seed', no "
                "'source' and no 'expire_after'."
            )
        if kind not in KINDS:
            custom = ", ".join(repr(name) for name in KINDS if name not in BUILT_IN) or "none"
            raise InvalidArgument(
                "There is no such policy here. A server has the custom policies that it was started with "
                f"(discreet serve --policy NAME=MODULE:NAME): {custom}."
            )
        try:
            session = KINDS[kind](settings["items"], arguments)
        except (TypeError, LookupError, AttributeError):
            raise InvalidArgument("The 'arguments' do not fit: some are misshapen.") from None
        if not session.guarantee.private:
            raise InvalidArgument(
                f"A learner in a service must be private. This is not: {session.guarantee.reason}."
            )
        if session.segments:
            raise InvalidArgument(
                "A learner in a service has no 'segments' yet: make one learner for each segment, or take a "
                "BanditLearner in your own process."
            )
        if not all(isinstance(item, str | int) for item in session.items):
            raise InvalidArgument("The items of a learner in a service must be strings or integers.")
        session.retired = tuple(settings.get("retired", ()))
        self._session, self.learner = session, session.learner
        self.items: tuple[Any, ...] = session.items
        self.local, self.horizon = self.learner.release.local, session.horizon
        self.keeps_secrets = session.keeps_secrets
        self.guarantee = dataclasses.replace(session.guarantee, absence_hidden=False)
        self.whole = self.learner.query.whole
        #: Whether it is also told what each item brought.
        self.by_item = isinstance(self.learner.query, CostAndItems)
        #: Whether all sets are compared: reports have the cost of each.
        self.compares_sets = isinstance(self.learner.query, CostsOfSets)
        if self.compares_sets and self.learner.dimension > 1 << MOST_BY_DEFAULT:
            raise InvalidArgument(
                f"In a service method='choose' compares the sets of {MOST_BY_DEFAULT} items at most, or as "
                "many allowed ones: use 'leader' or stricter constraints."
            )
        #: How many costs of a function are needed, about.
        self.costs_told = self.learner.dimension if self.compares_sets else len(self.items)
        #: The items whose parts of a cost are told, as JSON names them.
        self._names = [str(item) for item in self.items] if self.by_item else []
        if len(set(self._names)) < len(self._names):
            raise InvalidArgument(
                "With an 'item_total' no two items may be written alike: they are told by their names."
            )
        self.randomizer: OneBit | None = None
        if self.local and isinstance(session, BanditFeedback):
            self.randomizer = session.randomizer()
        if "constants" in settings:
            self.learner.check_constants(type(session).__name__, settings["constants"])
        for name in ("mode", "method"):  # defaults may change, a learner does not
            if name not in arguments and hasattr(session, name):
                arguments[name] = getattr(session, name)
        self.settings = {
            "kind": kind,
            "items": list(self.items),
            "retired": list(session.retired),
            "arguments": arguments,
            "constants": self.learner.constants(),
        }
        policy = self.learner.policy
        #: Whether each round is a phase by itself, always.
        self.by_rounds = self.local and isinstance(policy, ChainBandit) and policy.constants.rounds == 1

    def restarted(self, state: HostState) -> HostState:
        """The first state of the next epoch: it goes on with what was learned, which is public.

        The secrets of the release are dropped. Where its policy counts on them, that begins a new phase.
        """
        policy, learned = self.learner.policy, state.policy
        if isinstance(policy, Choose):
            learned = policy.restarted(learned)
        counts = np.array([state.counts[ROUNDS], 0])
        return HostState(learned, self.learner.mechanism(), counts)

    def changed(
        self,
        state: HostState,
        add: Iterable[Any],
        retire: Iterable[Any],
        open_phases: Iterable[Phase],
        shown: BoolArray,
    ) -> Changed:
        """The same learner with other items; see `Session.change_items`.

        Args:
            state: As it is before.
            add: Items that are new, or that were retired.
            retire: Items that are offered now.
            open_phases: Those that are not closed.
            shown: Sets whose decisions are remembered, a row of members each.
        """
        session, owner = self._session, type(self._session).__name__
        before = changing.Offer(
            self.items, session.retired, self.settings["arguments"] | changing.settled(session)
        )
        in_use = np.concatenate([changing.open_sets(self.learner, open_phases), shown])
        offer = before.changed(owner, add, retire, session.most_items, in_use)
        host = Host({"kind": self.settings["kind"]} | offer._asdict())
        policy: Any = host.learner.policy
        takes_reports = changing.takes_reports_for(self.learner, host.learner)
        return Changed(
            host,
            HostState(
                policy.widened(state.policy, offer.replaced(before)),
                state.mechanism if takes_reports else host.learner.mechanism(),
                state.counts,
            ),
            takes_reports,
        )

    @property
    def most_items(self) -> int:
        """How many it can have, those that are retired included."""
        return self._session.most_items

    def start(self) -> HostState:
        """The state before the first round."""
        learner = self.learner
        return HostState(learner.policy.start(), learner.mechanism(), np.zeros(2, dtype=np.int64))

    def encode(self, state: HostState) -> bytes:
        """A state as bytes. Secret where `keeps_secrets` is."""
        return encode({}, arrays_in(state))

    def decode(self, data: bytes) -> HostState:
        """The state in `data`, if it can be one of this learner's."""
        _, arrays = decode(data)
        state = with_arrays(self.start(), arrays)
        self.learner.check_state(state.policy, state.mechanism)
        if state.counts.min() < 0 or state.counts[RELEASES] > state.counts[ROUNDS]:
            raise InvalidArgument("The saved state is damaged: its numbers make no sense.")
        return state

    def summary(self, state: HostState) -> Summary:
        """What anybody may see."""
        return Summary(
            point=tuple(self.learner.point(state.policy).tolist()),
            best=tuple(self.items[i] for i in self.learner.best(state.policy).tolist()),
            rounds=self.rounds(state),
            releases=self.releases(state),
            mean=self._session.mean_of(state.policy),
            noise_variance=float(self._session.noise_variance),
            held=self._session.held_of(state.policy),
            guarantee=self.guarantee,
        )

    @staticmethod
    def rounds(state: HostState) -> int:
        """How many rounds have been learned from."""
        return int(state.counts[ROUNDS])

    @staticmethod
    def releases(state: HostState) -> int:
        """How often something was released: a state with fewer must not go on once one with more was seen."""
        return int(state.counts[RELEASES])

    # Asking

    def among(self, available: Iterable[Any]) -> IntArray | None:
        """The numbers of the items that can be chosen, None for all; refused if they are not items."""
        return self._session._among(available)

    def plan(self, state: HostState, available: IntArray | None = None) -> Plan:
        """The next phase. The state stays as it is."""
        coins = self._session._coins
        return Plan(self.learner.plan(state.policy, coins, available), coins.bits64() >> 1)

    def is_inline(self, plan: Plan) -> bool:
        """Whether the phase is its one ticket, and needs no row of its own."""
        return self.local and plan.total == 1

    def brought_forward(self, plan: Plan, place: int, available: IntArray | None) -> tuple[Plan, bool]:
        """Whether a set of the phase can be dealt next among these items (or all); see `Session`.

        And the plan, from this place on in another order if some of its sets cannot.
        """
        if available is None or not self.learner.deals_among:
            return plan, available is None
        fit = slots_among(plan.phase, available)
        if fit.all() or fit.size == 1:
            return plan, bool(fit.all())
        plan = plan.from_here(place, fit, self._session._coins)
        return plan, plan.rest.first >= 0

    def dealt(self, plan: Plan, number: int, place: int, available: IntArray | None) -> Dealt:
        """The set of a round of the phase with this number (or `INLINE`), among the available items."""
        phase, slot = plan.phase, plan.slot_of(place)
        order, chance = chain_among(phase, slot, available)
        size = drawn_size(chance, int(phase.size[slot]), self._session._coins)
        chosen = order[:size]
        self.learner.require_allowed(chosen, available)
        probability = float(chance[size])
        if len(phase.rounds) > 1:
            shares = phase._replace(rounds=plan.shares(place))
            probability = probability_of(shares, set(chosen.tolist()), available)
        mask = np.zeros(self.learner.n, dtype=np.bool_)
        mask[chosen] = True
        ticket = StoredTicket(
            number,
            slot,
            size,
            probability,
            order if self.whole else order[: size if self.by_item else 0],
            phase.note[slot] if number == INLINE else phase.note[slot, :0],
        )
        return Dealt(np.packbits(mask, bitorder="little").tobytes(), ticket.encode())

    # Telling

    def bits(self, costs: Sequence[Any]) -> list[int]:
        """The bits of private values of any kind. Nothing is raised, and no value takes another path."""
        assert self.randomizer is not None
        values = np.fromiter(map(number_or_nan, costs), dtype=np.float64, count=len(costs))
        out = np.zeros(values.size, dtype=np.int64)
        grid = self.randomizer.grid
        law = grid.low, grid.high, grid.units, self.randomizer.slope
        self._session._source.feed(
            lambda done, bits, cursor: release_bits(values, *law, out, done, bits, cursor), values.size
        )
        return out.tolist()

    def takes_bit(self, bit: Any) -> bool:
        """Whether this is a bit that a person's device may have made for this learner."""
        if self.randomizer is None or not isinstance(bit, int) or isinstance(bit, bool):
            return False
        return bit in (0, 1) and self.randomizer.fits(bit) and getattr(bit, "private", True)

    def cost_report(self, cost: Any, items: Any = None) -> bytes:
        """The report of a private cost, for a central learner; what is not a number counts as nothing.

        The `items` are what each brought, by item or by its name in JSON: of a learner that is told it.
        """
        return numbers_in(cost, _by_name(items), self._names).astype("<f8").tobytes()

    def function_report(self, ticket: bytes, function: Any) -> bytes:
        """The report of a private function; one that fails counts as constant.

        Where all sets are compared, so does a description that is longer than `longest_description`.
        """
        stored = StoredTicket.decode(ticket, self.learner.n)
        order = None if self.compares_sets else stored.order
        costs = quiet_costs(lambda: self._short(function), self.items, order, self.learner.listed)
        return costs.astype("<f8").tobytes()

    @property
    def longest_description(self) -> int:
        """Characters of JSON of a function all of whose values are needed: time grows with both."""
        return MOST_WORK // self.learner.dimension

    def _short(self, function: Any) -> Any:
        described = self.compares_sets and isinstance(function, Mapping)
        if described and len(json.dumps(function)) > self.longest_description:
            raise InvalidArgument("The description of the function is too long.")
        return function

    def neutral(self, ticket: bytes) -> bytes:
        """The report of a decision that nobody told in time: as long as any other."""
        if self.local:
            return bytes(self.bits([None]))
        return np.full(self._width(StoredTicket.decode(ticket, self.learner.n)), np.nan).tobytes()

    def _width(self, ticket: StoredTicket) -> int:
        """How many costs a central report has."""
        return numbers_told(self.learner.query, self.learner.n, ticket.order.size)

    def apply(
        self,
        state: HostState,
        tickets: Sequence[bytes],
        reports: Sequence[bytes],
        plans: Mapping[int, Plan] = NOTHING,
        sums: Mapping[int, OpenSums] = NOTHING,
    ) -> tuple[HostState, dict[int, OpenSums]]:
        """The state and the sums of open phases with as many reports more; refused if any is damaged.

        Args:
            state: Before.
            tickets: Of the reports.
            reports: In order.
            plans: Of the phases that the tickets belong to.
            sums: The sums of those that have some.
        """
        if self.by_rounds:
            self._check_room(state, len(tickets))
            return (
                self._apply_bits(state, *self._notes_and_bits(tickets, reports)) if tickets else state
            ), {}
        read = [
            self._read(ticket, report, plans.get(phase_of(ticket)))
            for ticket, report in zip(tickets, reports, strict=True)
        ]
        inline = [each for each in read if each[0] == INLINE]
        self._check_room(state, len(inline))
        if inline:
            notes = np.array([ticket.note for _, ticket, _ in inline])
            state = self._apply_bits(state, notes, np.array([bit for *_, bit in inline], dtype=np.int64))
        changed: dict[int, OpenSums] = {}
        for number, ticket, report in read:
            if number == INLINE:
                continue
            if number not in changed:
                changed[number] = self.opened(plans[number], sums.get(number))
            before = changed[number]
            self._add(before.sums[ticket.slot], ticket, report, state.mechanism)
            changed[number] = before._replace(applied=before.applied + 1)
        return state, changed

    def opened(self, plan: Plan, sums: OpenSums | None) -> OpenSums:
        """A copy of a phase's sums, zero if it has none."""
        if sums is not None:
            return sums._replace(sums=sums.sums.copy())
        return OpenSums(np.zeros((len(plan.phase.rounds), self.learner.dimension), dtype=np.int64), 0)

    def decode_sums(self, data: bytes, applied: int, plan: Plan) -> OpenSums:
        """The sums in `data`, if they can be this phase's."""
        _, arrays = decode(data)
        return OpenSums(**with_arrays({"sums": self.opened(plan, None).sums}, arrays), applied=applied)

    def is_complete(self, plan: Plan, sums: OpenSums) -> bool:
        """Whether all reports of a phase are there."""
        return sums.applied >= plan.total

    def closed(self, state: HostState, plan: Plan, sums: OpenSums) -> HostState:
        """The state after the release of a phase's sums: noise is drawn, once, and the policy learns."""
        if not self.is_complete(plan, sums):
            raise InvalidArgument("A phase is closed when all its reports are there.")
        mechanism = copied(state.mechanism)
        phase, dealt = plan.dealt(sums.sums)
        released = self.learner.close(mechanism, phase, dealt, self._session._source)
        counts = state.counts + np.array([plan.total, plan.total if self.local else 1])
        return HostState(self._learned(state.policy, released), mechanism, counts)

    def _learned(self, policy: Any, released: Released) -> Any:
        """The policy's next state. What was released is final, also if the policy fails on it.

        Otherwise noise would be drawn again until the policy likes it, and that is another law.
        """
        try:
            return self.learner.learn(policy, released)
        except Exception as error:
            log.error(
                "a policy failed on what was released, with a %s; it forgets that", type(error).__name__
            )
            return policy

    def _read(self, ticket: bytes, report: bytes, plan: Plan | None) -> tuple[int, Ticket, Any]:
        """The phase, the ticket and the report: a bit, or costs."""
        stored = StoredTicket.decode(ticket, self.learner.n)
        note = stored.note
        if self.by_item and stored.order.size < stored.size:  # the kernel reads the shown items in it
            raise damaged()
        if stored.phase == INLINE:
            if not self.local:
                raise damaged()
            fits = getattr(self.learner.policy, "fits", None)
            if fits is not None and not fits(note.reshape(1, -1)):
                raise damaged()
        elif plan is None or stored.slot >= len(plan.phase.rounds):
            raise damaged()
        else:
            note = plan.phase.note[stored.slot]
        if self.local:
            if len(report) != 1 or report[0] > 1:
                raise damaged()
            return stored.phase, stored.ticket(note), report[0]
        if len(report) != 8 * self._width(stored):
            raise damaged()
        return stored.phase, stored.ticket(note), np.frombuffer(report, dtype="<f8").astype(np.float64)

    def _add(self, row: IntArray, ticket: Ticket, report: Any, mechanism: Any) -> None:
        """Add a report to the sum of its slot."""
        if self.local:
            row += self._bit_value(report, mechanism)
            return
        costs = self._session._sign * report
        units = self.learner.report(ticket, costs, mechanism, self._session._source).units._units
        np.add(row, units, out=row)

    def _bit_value(self, bit: Any, mechanism: Any) -> Any:
        return int(self._session._sign) * mechanism.magnitude * (2 * bit - 1)

    def _check_room(self, state: HostState, rounds: int) -> None:
        left = self.horizon - self.rounds(state)
        if rounds > left:
            raise HorizonReached(f"This learner can take {left} more rounds.")

    def _notes_and_bits(
        self, tickets: Sequence[bytes], reports: Sequence[bytes]
    ) -> tuple[FloatArray, IntArray]:
        """What rounds that are phases by themselves have noted, and the bits: all at once, for speed."""
        notes = inline_notes(tickets)
        bits = np.frombuffer(b"".join(reports), dtype=np.uint8).astype(np.int64)
        fits = getattr(self.learner.policy, "fits", None)
        if (fits is not None and not fits(notes)) or bits.size != len(tickets) or bits.max(initial=0) > 1:
            raise damaged()
        return notes, bits

    def _apply_bits(self, state: HostState, notes: FloatArray, bits: IntArray) -> HostState:
        values = self._bit_value(bits, state.mechanism).reshape(-1, 1)
        released = Released(notes, np.ones(bits.size, dtype=np.int64), values)
        counts = state.counts + bits.size
        return state._replace(policy=self._learned(state.policy, released), counts=counts)


def _by_name(items: Any) -> dict[str, Any] | None:
    """What was told of items, by the names that they have in JSON; None if that cannot be read."""
    try:
        with no_warnings():
            return {str(item): told for item, told in items.items() if isinstance(item, str | int)}
    except Exception:  # which one would tell something about the items
        return None
