"""A learner whose open decisions and reports are kept elsewhere, by a store.

A `Host` deals tickets from a state, turns feedback into bytes that may be queued, and applies many of them
to a state at once. A state is a value: it is passed in and given back, and `Host.encode` is its only form in
bytes. Nothing here knows what a store is.

**When phases close.** Reports are applied in the order in which they came, and a phase closes once it has as
many as it has rounds. So who has reported, and when, is public; the guarantee says so. Where reports are
randomised on arrival each of them is released by itself.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from discreet.checks import FloatArray, IntArray
from discreet.errors import HorizonReached, InvalidArgument
from discreet.kernel.phase import Phase, Released, Ticket, chain_among, drawn_size, shuffled_deck
from discreet.kernel.releases import BitNoise, Bits, release_bits
from discreet.learners.bandit import BanditLearner
from discreet.learners.feedback import BanditFeedback, quiet_costs
from discreet.learners.full_information import FullInformationLearner
from discreet.learners.policy_learner import PolicyLearner
from discreet.learners.session import Session
from discreet.privacy.grid import number_or_nan
from discreet.privacy.guarantee import Guarantee
from discreet.randomizers import OneBit
from discreet.randomness import BitArray
from discreet.state import arrays_in, copied, decode, encode, with_arrays

#: Places in `HostState.counts`: rounds applied, sums released, rounds in the open phase.
ROUNDS, RELEASES, IN_PHASE = 0, 1, 2

#: What can be hosted, by kind. `register` adds to it.
KINDS: dict[str, Callable[..., Session]] = {
    "bandit": BanditLearner._made,
    "full_information": FullInformationLearner._made,
}


def register(kind: str, policy: Callable[[int], Any]) -> None:
    """Let learners with a custom policy be hosted, in every process that hosts them.

    Their arguments are those of a local `PolicyLearner`: epsilon, cost_range, maximize, rounds_per_person.

    Args:
        kind: What they are called in settings.
        policy: A policy, or a function of the number of items that makes one.
    """
    if kind in ("bandit", "full_information"):
        raise InvalidArgument(f"There is a built-in kind of learner called {kind!r}.")

    def make(items: Any, arguments: dict[str, Any]) -> Session:
        return PolicyLearner(items, policy, mode="local", **arguments)

    KINDS[kind] = make


class HostState(NamedTuple):
    """All that changes.

    Attributes:
        policy: The policy's state: public.
        mechanism: The release's: secret.
        sums: The sum of the open phase's reports: secret.
        counts: ROUNDS, RELEASES and IN_PHASE.
    """

    policy: Any
    mechanism: Any
    sums: IntArray
    counts: IntArray


class Dealt(NamedTuple):
    """A chosen set, and what must be kept until its feedback comes.

    Attributes:
        subset: A bit for each item, the first item's lowest in the first byte.
        ticket: What its feedback will need.
    """

    subset: bytes
    ticket: bytes


@dataclasses.dataclass(frozen=True)
class Summary:
    """What anybody may see of a learner: all of it is covered by the guarantee.

    Attributes:
        point: The inclusion level of each item.
        rounds: How many rounds have been learned from.
        releases: How often something was released: bits of a bandit, blocks, or rounds of a tree.
        mean: The mean cost (or reward) as far as it was released, or None.
        noise_variance: Of one released number: how much of a mean is still noise.
        guarantee: What is promised to each person.
    """

    point: tuple[float, ...]
    rounds: int
    releases: int
    mean: float | None
    noise_variance: float
    guarantee: Guarantee


class Host:
    """A learner without its open decisions. Its methods may be called by several threads.

    Args:
        settings: "kind", "items" and "arguments" (those of the constructor, as JSON types); where they were
            read from :attr:`settings` also "constants", which must be what they were.

    Attributes:
        kind: As in the settings.
        items: The items' names, in order.
        learner: Policy, query and release.
        local: Whether reports are randomised before they are kept, so that nothing need be sealed.
    """

    def __init__(self, settings: Mapping[str, Any]) -> None:
        self.kind, self._arguments, self._session = _session(settings)
        self.items: tuple[Any, ...] = self._session.items
        self.learner = self._session.learner
        release = self.learner.release
        self.local = release.local
        if not self.learner.query.whole and not isinstance(release, Bits):
            raise InvalidArgument("A bandit learner in a service must have mode='local'.")
        self._randomizer = (
            self._session.randomizer() if isinstance(self._session, BanditFeedback) and self.local else None
        )
        if "constants" in settings:
            self.learner.check_constants(type(self._session).__name__, settings["constants"])

    @property
    def settings(self) -> dict[str, Any]:
        """All that is needed to make it again, as JSON types."""
        return {
            "kind": self.kind,
            "items": list(self.items),
            "arguments": self._arguments,
            "constants": self.learner.constants(),
        }

    @property
    def guarantee(self) -> Guarantee:
        """What is promised to each person. Phases close by arrival here, so absence is not hidden."""
        return dataclasses.replace(self._session.guarantee, absence_hidden=False)

    @property
    def keeps_secrets(self) -> bool:
        """Whether states and reports hold more than the guarantee covers, and must be sealed."""
        return self._session.keeps_secrets

    @property
    def horizon(self) -> int:
        """How many rounds can be learned from."""
        return self._session.horizon

    @property
    def randomizer(self) -> OneBit | None:
        """What makes bits on a person's device, for a local learner."""
        return self._randomizer

    def start_at(self, point: tuple[float, ...]) -> dict[str, Any]:
        """The arguments by which a new learner starts at a released point; custom policies start afresh."""
        return {} if isinstance(self._session, PolicyLearner) else {"start": list(point)}

    def start(self) -> HostState:
        """The state before the first round."""
        return HostState(
            self.learner.policy.start(),
            self.learner.mechanism(),
            np.zeros(self.learner.dimension, dtype=np.int64),
            np.zeros(3, dtype=np.int64),
        )

    def encode(self, state: HostState) -> bytes:
        """A state as bytes. Secret where :attr:`keeps_secrets` is."""
        return encode({}, arrays_in(state))

    def decode(self, data: bytes) -> HostState:
        """The state in `data`, if it can be one of this learner's."""
        _, arrays = decode(data)
        state = with_arrays(self.start(), arrays)
        self.learner.check_state(state.policy, state.mechanism)
        if state.counts.min() < 0 or state.counts[RELEASES] > max(state.counts[ROUNDS], 0):
            raise InvalidArgument("The saved state is damaged: its numbers make no sense.")
        return state

    def summary(self, state: HostState) -> Summary:
        """What anybody may see."""
        return Summary(
            point=tuple(self.learner.point(state.policy).tolist()),
            rounds=int(state.counts[ROUNDS]),
            releases=int(state.counts[RELEASES]),
            mean=self._session.mean_of(state.policy),
            noise_variance=float(self._session.noise_variance),
            guarantee=self.guarantee,
        )

    @staticmethod
    def rounds(state: HostState) -> int:
        """How many rounds have been applied."""
        return int(state.counts[ROUNDS])

    @staticmethod
    def releases(state: HostState) -> int:
        """How often something was released: a state with fewer must not go on once one with more was seen."""
        return int(state.counts[RELEASES])

    # Asking

    def among(self, available: Iterable[Any] | None) -> IntArray | None:
        """The numbers of the items that can be chosen; public, and refused if they are not items."""
        return self._session._among(available)

    def deal(self, state: HostState, count: int = 1, available: IntArray | None = None) -> list[Dealt]:
        """Choose so many sets. The state stays as it is."""
        n, whole, coins = self.learner.n, self.learner.query.whole, self._session._coins
        dealt: list[Dealt] = []
        deck: IntArray = np.zeros(0, dtype=np.int64)
        phase: Phase
        left = 0
        mask = np.zeros(n, dtype=np.bool_)
        for _ in range(count):
            if left == 0:
                phase = self.learner.plan_for(state.policy, coins, available)
                deck, left = shuffled_deck(phase, coins), int(phase.rounds.sum())
            left -= 1
            slot = int(deck[left]) if deck.size else 0
            order, chance = chain_among(phase, slot, available)
            size = drawn_size(chance, int(phase.size[slot]), coins)
            mask[:] = False
            mask[order[:size]] = True
            ticket = order.astype("<i4") if whole else phase.note[slot].astype("<f8")
            dealt.append(Dealt(np.packbits(mask, bitorder="little").tobytes(), ticket.tobytes()))
        return dealt

    # Telling

    def bits(self, costs: Sequence[Any]) -> list[int]:
        """The bits of private values of any kind. Nothing is raised, and no value takes another path."""
        assert self._randomizer is not None
        values = np.fromiter(map(number_or_nan, costs), dtype=np.float64, count=len(costs))
        out = np.zeros(values.size, dtype=np.int64)
        grid, slope = self._randomizer.grid, self._randomizer.slope

        def consume(done: int, bits: BitArray, cursor: int) -> tuple[int, int]:
            return release_bits(values, grid.low, grid.high, grid.units, slope, out, done, bits, cursor)

        self._session._source.feed(consume, values.size)
        return out.tolist()

    def takes_bit(self, bit: Any) -> bool:
        """Whether this is a bit that a person's device may have made for this learner."""
        whole = isinstance(bit, int) and not isinstance(bit, bool)
        fits = whole and bit in (0, 1) and self._randomizer is not None and self._randomizer.fits(bit)
        return fits and getattr(bit, "private", True)

    def chain_costs(self, ticket: bytes, function: Any) -> bytes:
        """The costs of a private function along a ticket's order, as bytes whose length the ticket decides.

        Args:
            ticket: As it was dealt.
            function: A set function over item numbers, its JSON description, or a Python function of a
                frozenset of items. It is private: one that is malformed, of another size, or raises counts
                as constant, like one whose values are not finite, or one whose description asks for more
                memory than it has itself (`set_functions.descriptions`).
        """
        costs = self._session._sign * quiet_costs(lambda: function, self.items, self._order(ticket))
        return costs.astype("<f8").tobytes()

    def neutral(self, ticket: bytes) -> bytes:
        """The report of a decision that nobody told in time, through the same mechanism as any other."""
        if self.local:
            return bytes(self.bits([None]))
        return np.full(self._order(ticket).size + 1, np.nan).astype("<f8").tobytes()

    def apply(self, state: HostState, tickets: Sequence[bytes], reports: Sequence[bytes]) -> HostState:
        """The state after learning from reports, in this order.

        Raises:
            InvalidArgument: A ticket or a report is damaged.
            HorizonReached: There are more than it can take.
        """
        if len(tickets) != len(reports):
            raise InvalidArgument("There must be as many tickets as reports.")
        left = self.horizon - int(state.counts[ROUNDS])
        if len(tickets) > left:
            raise HorizonReached(f"This learner can take {left} more rounds.")
        if not tickets:
            return state
        return (
            self._apply_bits(state, tickets, reports) if self.local else self._apply(state, tickets, reports)
        )

    def sound(self, ticket: bytes, report: bytes) -> bool:
        """Whether a ticket and its report can be applied; others were damaged where they were kept."""
        try:
            if self.local:
                self._notes([ticket])
                return report in (b"\0", b"\1")
            return len(report) == 8 * (self._order(ticket).size + 1)
        except InvalidArgument:
            return False

    def _apply_bits(self, state: HostState, tickets: Sequence[bytes], reports: Sequence[bytes]) -> HostState:
        notes = self._notes(tickets)
        bits = np.frombuffer(b"".join(reports), dtype=np.uint8)
        if bits.size != len(tickets) or bits.max(initial=0) > 1:
            raise _damaged()
        assert isinstance(state.mechanism, BitNoise)
        magnitude = int(self._session._sign) * state.mechanism.magnitude
        values = (magnitude * (2 * bits.astype(np.int64) - 1)).reshape(-1, 1)
        released = Released(notes, np.ones(bits.size, dtype=np.int64), values)
        counts = state.counts + np.array([bits.size, bits.size, 0])
        return state._replace(policy=self.learner.learn(state.policy, released), counts=counts)

    def _apply(self, state: HostState, tickets: Sequence[bytes], reports: Sequence[bytes]) -> HostState:
        learner, noise = self.learner, self._session._source
        policy, sums, counts = state.policy, state.sums.copy(), state.counts.copy()
        mechanism = copied(state.mechanism)
        phase = learner.plan(policy, self._session._coins)
        for ticket, report in zip(tickets, reports, strict=True):
            order = self._order(ticket)
            if len(report) != 8 * (order.size + 1):
                raise _damaged()
            costs: FloatArray = np.frombuffer(report, dtype="<f8").astype(np.float64)
            report_of = learner.report(Ticket(0, 0, 0, 0, 1.0, order, phase.note[0]), costs, mechanism, noise)
            sums += report_of.units._units
            counts[[ROUNDS, IN_PHASE]] += 1
            if counts[IN_PHASE] >= phase.rounds[0]:
                released = learner.close(mechanism, phase, sums.reshape(1, -1), noise)
                policy = learner.learn(policy, released)
                phase = learner.plan(policy, self._session._coins)
                sums[:] = counts[IN_PHASE] = 0
                counts[RELEASES] += 1
        return HostState(policy, mechanism, sums, counts)

    def _order(self, ticket: bytes) -> IntArray:
        """The order of a ticket; compiled code indexes by it, so it is checked."""
        order = (
            np.frombuffer(ticket, dtype="<i4").astype(np.int64) if len(ticket) % 4 == 0 else np.array([-1])
        )
        n = self.learner.n
        if order.min(initial=0) < 0 or order.max(initial=0) >= n or np.unique(order).size < order.size:
            raise _damaged()
        return order

    def _notes(self, tickets: Sequence[bytes]) -> FloatArray:
        """The notes of tickets, one row each, checked by the policy if it can."""
        data, width = b"".join(tickets), len(tickets[0])
        if width % 8 or any(len(ticket) != width for ticket in tickets):
            raise _damaged()
        notes = np.frombuffer(data, dtype="<f8").astype(np.float64).reshape(len(tickets), -1)
        fits = getattr(self.learner.policy, "fits", None)
        if not np.isfinite(notes).all() or (fits is not None and not fits(notes)):
            raise _damaged()
        return notes

    def mean_of(self, ones: int, count: int) -> float | None:
        """The mean value that so many bits stand for, of which so many were 1; an unbiased estimate."""
        if count == 0 or self._randomizer is None:
            return None
        low, high = (self._randomizer.estimate(bit) for bit in (0, 1))
        return low + (high - low) * (ones / count)


def _session(settings: Mapping[str, Any]) -> tuple[str, dict[str, Any], Session]:
    """The kind, the arguments, and a session made from them, whose parts are used."""
    try:
        kind, items = settings["kind"], settings["items"]
        arguments = dict(settings["arguments"])
    except (KeyError, TypeError, ValueError):
        raise InvalidArgument("The settings of a learner need 'kind', 'items' and 'arguments'.") from None
    if "seed" in arguments or "source" in arguments:
        raise InvalidArgument("A learner in a service draws its own bits: no 'seed' and no 'source'.")
    if kind not in KINDS:
        raise InvalidArgument(f"The 'kind' of a learner must be one of {', '.join(map(repr, KINDS))}.")
    try:
        session = KINDS[kind](items, arguments)
    except (TypeError, LookupError, AttributeError):
        raise InvalidArgument("The 'arguments' do not fit: some are misshapen.") from None
    if not all(isinstance(item, str | int) for item in session.items):
        raise InvalidArgument("The items of a learner in a service must be strings or integers.")
    return kind, arguments, session


def _damaged() -> InvalidArgument:
    return InvalidArgument("A decision that was kept is damaged: its ticket or report makes no sense.")
