"""A learner whose open decisions and reports are kept elsewhere, by a store.

Reports are applied in the order in which they came, and a phase closes once it has as many as it has rounds.
So who has reported, and when, is public; the guarantee says so.
"""

import dataclasses
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from discreet.checks import FloatArray, IntArray
from discreet.errors import HorizonReached, InvalidArgument
from discreet.kernel.phase import Phase, Released, Ticket, chain_among, drawn_size, shuffled_deck
from discreet.kernel.queries import CostsOfSets
from discreet.kernel.releases import Bits, release_bits
from discreet.learners.bandit import BanditLearner, PolicyLearner
from discreet.learners.feedback import BanditFeedback, quiet_costs
from discreet.learners.full_information import FullInformationLearner
from discreet.learners.session import Session
from discreet.policies import Model
from discreet.privacy.grid import number_or_nan
from discreet.privacy.guarantee import Guarantee
from discreet.randomizers import OneBit
from discreet.state import arrays_in, copied, decode, encode, with_arrays

#: Places in `HostState.counts`: rounds applied, sums released, rounds in the open phase.
ROUNDS, RELEASES, IN_PHASE = 0, 1, 2

_WORST_CASE = {"mode": "local", "method": "worst-case"}
#: What can be hosted, by kind. `register` adds to it.
KINDS: dict[str, Callable[..., Session]] = {
    "bandit": lambda items, arguments: BanditLearner._made(items, _WORST_CASE | arguments),
    "full_information": lambda items, arguments: FullInformationLearner._made(
        items, arguments | {"method": arguments.get("method") or "blocks"}
    ),
}


def register(kind: str, policy: Callable[[int], Any]) -> None:
    """Let learners with a custom policy be hosted; their arguments are those of a local `PolicyLearner`."""
    if kind in ("bandit", "full_information"):
        raise InvalidArgument(f"There is a built-in kind of learner called {kind!r}.")
    KINDS[kind] = lambda items, arguments: PolicyLearner(items, policy, mode="local", **arguments)


class HostState(NamedTuple):
    """The policy's state (public); the release's and the open phase's sum (secret); three counts."""

    policy: Any
    mechanism: Any
    sums: IntArray
    counts: IntArray


class Dealt(NamedTuple):
    """A chosen set, a bit for each item, the first item's lowest; and a ticket for its feedback."""

    subset: bytes
    ticket: bytes


@dataclasses.dataclass(frozen=True)
class Summary:
    """What anybody may see of a learner: all of it is covered by the guarantee."""

    point: tuple[float, ...]  # the inclusion level of each item
    rounds: int  # how many were learned from
    releases: int  # how often something was released: bits of a bandit, blocks, or rounds of a tree
    mean: float | None  # of costs (or rewards), as far as it was released
    noise_variance: float  # of one released number
    guarantee: Guarantee


class Host:
    """A learner without its open decisions. Its methods may be called by several threads.

    It is made from "kind", "items" and "arguments" (those of the constructor, as JSON types). Its `settings`
    also have "constants", which must be the same when it is made again. Where it `keeps_secrets`, states and
    reports hold more than the guarantee covers, and must be sealed.
    """

    def __init__(self, settings: Mapping[str, Any]) -> None:
        kind, arguments = settings["kind"], dict(settings["arguments"])
        if "seed" in arguments or "source" in arguments:
            raise InvalidArgument("A learner in a service draws its own bits: no 'seed' and no 'source'.")
        if kind not in KINDS:
            raise InvalidArgument(f"The 'kind' of a learner must be one of {', '.join(map(repr, KINDS))}.")
        try:
            session = KINDS[kind](settings["items"], arguments)
        except (TypeError, LookupError, AttributeError):
            raise InvalidArgument("The 'arguments' do not fit: some are misshapen.") from None
        if not all(isinstance(item, str | int) for item in session.items):
            raise InvalidArgument("The items of a learner in a service must be strings or integers.")
        self._session, self.learner = session, session.learner
        self.items: tuple[Any, ...] = session.items
        self.local, self.horizon = self.learner.release.local, session.horizon
        self.keeps_secrets = session.keeps_secrets
        self.guarantee = dataclasses.replace(session.guarantee, absence_hidden=False)
        if isinstance(self.learner.query, CostsOfSets):
            raise InvalidArgument("A service cannot host method='choose': use 'blocks' or 'tree'.")
        if not self.learner.query.whole and not isinstance(self.learner.release, Bits):
            raise InvalidArgument("A bandit learner in a service must have mode='local'.")
        if isinstance(self.learner.policy, Model):
            raise InvalidArgument("A bandit learner in a service must have method='worst-case'.")
        self.randomizer: OneBit | None = None
        if isinstance(session, BanditFeedback):
            self.randomizer = session.randomizer()
        if "constants" in settings:
            self.learner.check_constants(type(session).__name__, settings["constants"])
        self.settings = {
            "kind": kind,
            "items": list(self.items),
            "arguments": arguments,
            "constants": self.learner.constants(),
        }

    def start_at(self, point: tuple[float, ...]) -> dict[str, Any]:
        """The arguments by which a new learner starts at a released point; custom policies start afresh."""
        return {} if isinstance(self._session, PolicyLearner) else {"start": list(point)}

    def start(self) -> HostState:
        """The state before the first round."""
        learner = self.learner
        sums, counts = np.zeros(learner.dimension, dtype=np.int64), np.zeros(3, dtype=np.int64)
        return HostState(learner.policy.start(), learner.mechanism(), sums, counts)

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
            rounds=self.rounds(state),
            releases=self.releases(state),
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

    def among(self, available: Iterable[Any]) -> IntArray | None:
        """The numbers of the items that can be chosen, None for all; refused if they are not items."""
        return self._session._among(available)

    def deal(self, state: HostState, count: int = 1, available: IntArray | None = None) -> list[Dealt]:
        """Choose so many sets. The state stays as it is."""
        whole, coins = self.learner.query.whole, self._session._coins
        dealt: list[Dealt] = []
        mask = np.zeros(self.learner.n, dtype=np.bool_)
        phase: Phase
        deck: IntArray
        left = 0
        for _ in range(count):
            if left == 0:
                phase = self.learner.plan(state.policy, coins, available)
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

    def chain_costs(self, ticket: bytes, function: Any) -> bytes:
        """The costs of a private function along a ticket's order; one that fails counts as constant."""
        costs = self._session._sign * quiet_costs(lambda: function, self.items, self._order(ticket))
        return costs.astype("<f8").tobytes()

    def neutral(self, ticket: bytes) -> bytes:
        """The report of a decision that nobody told in time, through the same mechanism as any other."""
        if self.local:
            return bytes(self.bits([None]))
        return np.full(self._order(ticket).size + 1, np.nan).astype("<f8").tobytes()

    def sound(self, ticket: bytes, report: bytes) -> bool:
        """Whether a ticket and its report can be applied; others were damaged where they were kept."""
        read: Callable[..., object] = self._notes_and_bits if self.local else self._order_and_costs
        try:
            read([ticket], [report])
        except InvalidArgument:
            return False
        return True

    def apply(self, state: HostState, tickets: Sequence[bytes], reports: Sequence[bytes]) -> HostState:
        """The state after learning from as many reports, in this order; refused if any is damaged."""
        left = self.horizon - self.rounds(state)
        if len(tickets) > left:
            raise HorizonReached(f"This learner can take {left} more rounds.")
        if not tickets:
            return state
        apply = self._apply_bits if self.local else self._apply_costs
        return apply(state, tickets, reports)

    def _apply_bits(self, state: HostState, tickets: Sequence[bytes], reports: Sequence[bytes]) -> HostState:
        notes, bits = self._notes_and_bits(tickets, reports)
        magnitude = int(self._session._sign) * state.mechanism.magnitude
        values = (magnitude * (2 * bits - 1)).reshape(-1, 1)
        released = Released(notes, np.ones(bits.size, dtype=np.int64), values)
        counts = state.counts + np.array([bits.size, bits.size, 0])
        return state._replace(policy=self.learner.learn(state.policy, released), counts=counts)

    def _apply_costs(self, state: HostState, tickets: Sequence[bytes], reports: Sequence[bytes]) -> HostState:
        learner, noise, coins = self.learner, self._session._source, self._session._coins
        policy, mechanism, sums, counts = state.policy, *map(copied, state[1:])
        phase = learner.plan(policy, coins)
        for order, costs in self._order_and_costs(tickets, reports):
            dealt = Ticket(0, 0, 0, 0, 1.0, order, phase.note[0])
            sums += learner.report(dealt, costs, mechanism, noise).units._units
            counts[[ROUNDS, IN_PHASE]] += 1
            if counts[IN_PHASE] >= phase.rounds[0]:
                policy = learner.learn(policy, learner.close(mechanism, phase, sums.reshape(1, -1), noise))
                phase = learner.plan(policy, coins)
                sums[:] = counts[IN_PHASE] = 0
                counts[RELEASES] += 1
        return HostState(policy, mechanism, sums, counts)

    def _order(self, ticket: bytes) -> IntArray:
        """The order of a ticket; compiled code indexes by it, so it is checked."""
        if len(ticket) % 4:
            raise _damaged()
        order = np.frombuffer(ticket, dtype="<i4").astype(np.int64)
        inside = order.min(initial=0) >= 0 and order.max(initial=0) < self.learner.n
        if not inside or np.unique(order).size < order.size:
            raise _damaged()
        return order

    def _order_and_costs(
        self, tickets: Sequence[bytes], reports: Sequence[bytes]
    ) -> list[tuple[IntArray, FloatArray]]:
        """The order of each ticket and the costs along it."""
        orders = [self._order(ticket) for ticket in tickets]
        pairs = list(zip(orders, reports, strict=True))
        if any(len(report) != 8 * (order.size + 1) for order, report in pairs):
            raise _damaged()
        return [(order, np.frombuffer(report, dtype="<f8").astype(np.float64)) for order, report in pairs]

    def _notes_and_bits(
        self, tickets: Sequence[bytes], reports: Sequence[bytes]
    ) -> tuple[FloatArray, IntArray]:
        """The notes of tickets, one row each, checked by the policy if it can; and the bits reported."""
        width = len(tickets[0])
        bits = np.frombuffer(b"".join(reports), dtype=np.uint8).astype(np.int64)
        if width % 8 or any(len(ticket) != width for ticket in tickets):
            raise _damaged()
        notes = np.frombuffer(b"".join(tickets), dtype="<f8").astype(np.float64).reshape(len(tickets), -1)
        fits = getattr(self.learner.policy, "fits", None)
        if not np.isfinite(notes).all() or (fits is not None and not fits(notes)):
            raise _damaged()
        if bits.size != len(tickets) or bits.max(initial=0) > 1:
            raise _damaged()
        return notes, bits


def _damaged() -> InvalidArgument:
    return InvalidArgument("A decision that was kept is damaged: its ticket or report makes no sense.")
