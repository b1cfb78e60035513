"""The session: `ask` for a set, `tell` what it cost.

Telling only adds to sums. Every `ask` closes the phases that are due: noise is added, the policy learns.

**When a phase closes.** Once all its rounds were dealt and `expire_after` further decisions were asked for,
whoever has told by then: both numbers are public. A decision that nobody told about counts as the middle of
the range, so nothing that a central learner shows tells who has told, but for errors of a
second `tell`. Where reports are randomised on arrival, a phase also closes once all of them are there: local
privacy does not hide who has reported.
"""

import contextlib
import dataclasses
import inspect
import itertools
import os
from abc import abstractmethod
from collections.abc import Hashable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Generic, Self, overload

import numpy as np
import numpy.typing as npt

from discreet import checks, errors
from discreet.atomic_files import written_beside
from discreet.checks import FloatArray, IntArray
from discreet.errors import InvalidArgument, InvalidType
from discreet.html import as_html
from discreet.kernel.phase import (
    Ticket,
    chain_among,
    drawn_size,
    probability_of,
    shuffled_deck,
    slots_among,
)
from discreet.learners import changing
from discreet.learners.arguments import named_classes, plain, restored_argument
from discreet.learners.learner import Learner
from discreet.learners.packing import MOST_DECISIONS, OpenPhase, checked_current, packed, unpacked
from discreet.learners.people import People
from discreet.policies.holdout import Held
from discreet.privacy.exclusive import Exclusive
from discreet.privacy.guarantee import Guarantee
from discreet.randomness import BitSource, Seed, another_seed, as_source
from discreet.state import arrays_in, arrays_like, with_arrays

# Where only the number of items is known, type checkers let any name pass. Python 3.11 knows no defaults.
if TYPE_CHECKING:
    from typing_extensions import TypeVar

    Item = TypeVar("Item", bound=Hashable, covariant=True, default=Any)
else:
    from typing import TypeVar

    Item = TypeVar("Item", bound=Hashable, covariant=True)

#: For how many further decisions feedback is waited for where reports are randomised on arrival.
EXPIRE_AFTER = 100_000
MOST_AT_ONCE = 100_000
#: Items that a learner names in a notebook.
MOST_SHOWN = 20
#: Added to the name of a file whose learner has been loaded (`discreet.loading`).
TAKEN = ".taken"
NOT_SIMULATED = "A learner with segments cannot be simulated: a stream has none. Ask and tell it yourself."
#: Feedback that counts as the middle of the range.
_NOTHING = np.zeros(0)
#: What a file keeps of a session as plain numbers.
_COUNTS = ("asked", "rounds", "planned", "closed_until")
#: What stays when the items change: what makes it this one, and what was asked and told.
_STAYS = {
    *("_source", "_not_private_because", "lineage", "generation", "_holding", "_mark", "_interrupted"),
    *("_handed_over", "_coins", "_people", "_complete", "_phases", "_tickets", "_current"),
    *(f"_{name}" for name in _COUNTS),
}


@dataclasses.dataclass(frozen=True)
class Decision(Generic[Item]):
    """A chosen subset.

    Attributes:
        id: Its number. It is 0 if its person has no rounds left: nothing is learned from it, so `tell` does
            nothing. Make no bit of its cost then: each is a release.
        probability: With which just this set was chosen: public, and useful for off-policy evaluation.
        lineage: Of the learner that chose it; no other takes it.

    Examples:
        >>> from discreet import BanditLearner
        >>> decision = BanditLearner(["tea", "milk"], epsilon=1.0, cost_range=(0, 1)).ask()
        >>> decision.id, decision.subset <= {"tea", "milk"}
        (1, True)
    """

    id: int
    subset: frozenset[Item]
    round: int
    probability: float
    lineage: str = dataclasses.field(repr=False, compare=False)


class Session(Exclusive, Generic[Item]):
    """Chooses subsets and learns from their costs.

    Subclasses put a `Learner` together. Their constructors take the items first and are decorated with
    `keeps_arguments`, so that they can be saved and simulated. The arguments are as of `BanditLearner`.

    Examples:
        >>> from discreet import BanditLearner
        >>> session = BanditLearner(["tea", "milk"], epsilon=1.0, cost_range=(0, 1))
        >>> session.items, session.point
        (('tea', 'milk'), array([0.5, 0.5]))
    """

    #: Those that are retired included.
    most_items = MOST_DECISIONS
    _arguments: dict[str, Any]

    def __init__(
        self,
        items: tuple[Item, ...],
        learner: Learner,
        *,
        source: BitSource | None = None,
        seed: Seed | None = None,
        maximize: bool = False,
        expire_after: int | None = None,
        segments: tuple[str | int, ...] = (),
    ) -> None:
        owner = type(self).__name__
        super().__init__(as_source(source, seed, owner=owner))
        self._coins = BitSource() if seed is None else BitSource(another_seed(seed))
        self.items, self.learner = items, learner
        #: The items that are not offered any more, the longest ago first.
        self.retired: tuple[Item, ...] = ()
        #: The names of the segments, if it learns for each of several.
        self.segments = segments
        self._local = learner.release.local
        if expire_after is None:
            expire_after = EXPIRE_AFTER if self._local else 0
        self.expire_after = checks.integer(owner, "expire_after", expire_after, 1 if self._local else 0)
        self.horizon = learner.release.horizon
        self.maximize = bool(maximize)
        self._sign = -1.0 if maximize else 1.0
        self._state = learner.policy.start()
        self._mechanism = learner.mechanism()
        #: Open phases by number; open tickets by id.
        self._phases: dict[int, OpenPhase] = {}
        self._tickets: dict[int, Ticket] = {}
        #: Numbers of local phases whose reports are all there.
        self._complete: list[int] = []
        self._people = People(learner.release.guarantee.rounds_per_person)
        self._asked = self._rounds = self._planned = self._closed_until = 0
        #: The number of the phase that is dealt from: of each segment, if there are such.
        self._current = [-1] * max(1, len(segments))

    @property
    def guarantee(self) -> Guarantee:
        """What is promised to each person."""
        return self.learner.guarantee.void(self._not_private_because)

    @property
    def point(self) -> FloatArray:
        """The inclusion level of each item, in [0, 1], from what was released so far."""
        return self.learner.point(self._learned_state())

    @property
    def best(self) -> frozenset[Item]:
        """The set that it takes for the best, from what was released so far."""
        return frozenset(self.items[i] for i in self.learner.best(self._learned_state()).tolist())

    def best_for(self, segment: str | int) -> frozenset[Item]:
        """The set that it takes for the best in a segment; `best` is for all of them, weighed by rounds."""
        best = self.learner.best(self._learned_state(), segment=self._segment(segment))
        return frozenset(self.items[i] for i in best.tolist())

    @property
    def rounds(self) -> int:
        """How many rounds were learned from, those without feedback included."""
        self._learned_state()
        return self._rounds

    @property
    def pending(self) -> int:
        """How many decisions are open; in central mode whether they were told about or not."""
        return len(self._tickets) if self._local else sum(each.dealt for each in self._phases.values())

    @property
    def noise_variance(self) -> float:
        """Of one released number, in squared costs."""
        return self.learner.release.noise_variance * self.learner.query.bound.step**2

    def mean_of(self, state: Any) -> float | None:
        """The mean cost (or reward) that was released so far in a policy's state, if it keeps one."""
        return None

    def held_of(self, state: Any) -> Held | None:
        """What was released of rounds held out, in a policy's state, if there are such."""
        return None

    @overload
    def ask(
        self,
        *,
        available: Iterable[Hashable] | None = None,
        person: str | int | None = None,
        segment: str | int | None = None,
    ) -> Decision[Item]: ...
    @overload
    def ask(
        self,
        count: int,
        *,
        available: Iterable[Hashable] | None = None,
        person: str | int | None = None,
        segment: str | int | None = None,
    ) -> list[Decision[Item]]: ...
    def ask(
        self,
        count: int | None = None,
        *,
        available: Iterable[Hashable] | None = None,
        person: str | int | None = None,
        segment: str | int | None = None,
    ) -> Decision[Item] | list[Decision[Item]]:
        """Choose a subset.

        Args:
            count: Return a list of so many decisions.
            available: The items to choose among: public, by default all.
            person: An opaque id, of which a keyed hash is kept. Of the first `rounds_per_person` rounds of
                each person is learned; in further ones the `best` set is chosen, and nothing is learned.
            segment: One of the declared `segments`, for a learner that has such: public, not protected.
        """
        place = self._segment(segment)
        among = None if available is None else self._among(available)
        owner = type(self).__name__
        wanted = 1 if count is None else checks.integer(owner, "count", count, 0, MOST_AT_ONCE)
        with self._alone():
            self._close_due()
            if self._asked + wanted > self.horizon:
                raise errors.HorizonReached(f"This learner was made for {self.horizon} rounds.")
            learned = wanted if person is None else self._people.admitted(owner, person, wanted)
            made = [self._deal(among, place) for _ in range(learned)]
            if learned < wanted:
                made += [self._not_learned_from(among, place)] * (wanted - learned)
        return made[0] if count is None else made

    @abstractmethod
    def tell(self, decision: Decision | int, feedback: Any, /) -> None:
        """Report what a decision cost: one number, or the whole cost function of its round."""

    def _among(self, available: Iterable[Hashable]) -> IntArray | None:
        """The numbers of the items that can be chosen; None for all."""
        owner = type(self).__name__
        if isinstance(available, str | bytes) or not isinstance(available, Iterable):
            raise checks.invalid_argument(owner, "available", "an iterable of items", available)
        wanted = set(available)
        unknown = wanted - set(self.items)
        if unknown:
            named = sorted(map(str, unknown))
            raise checks.invalid_argument(owner, "available", "items of this learner", named)
        if wanted.issuperset(set(self.items) - set(self.retired)):
            return None
        return np.array([i for i, item in enumerate(self.items) if item in wanted], dtype=np.int64)

    def _segment(self, segment: str | int | None) -> int | None:
        """The number of a segment; None where there are none."""
        owner = type(self).__name__
        if not self.segments and segment is not None:
            raise InvalidArgument(
                f"This {owner} has no segments: leave 'segment' out. Only a BanditLearner with the method "
                "'model' learns for several, if they are declared beforehand: segments=['young', 'old']."
            )
        if not self.segments:
            return None
        for number, name in enumerate(self.segments):
            if type(name) is type(segment) and name == segment:
                return number
        listed = ", ".join(map(repr, self.segments))
        if segment is None:
            raise InvalidArgument(f"This {owner} learns for segments: say which with 'segment': {listed}.")
        raise checks.invalid_argument(owner, "segment", f"one of {listed}", segment)

    # Dealing

    def _not_learned_from(self, available: IntArray | None, segment: int | None) -> Decision[Item]:
        best = self.learner.best(self._state, available, segment).tolist()
        subset = frozenset([self.items[i] for i in best])
        return Decision(0, subset, 0, 1.0, self.lineage)

    def _deal(self, available: IntArray | None, segment: int | None) -> Decision[Item]:
        line = segment or 0
        number = self._current[line]
        current = self._phases.get(number)
        if current is None or current.dealt == current.total or not self._brought_forward(current, available):
            number, current = self._planned, self._opened(available, segment, beside=current)
        phase, deck = current.phase, current.deck
        slot = int(deck[current.dealt]) if deck.size else 0
        order, chance = chain_among(phase, slot, available)
        size = drawn_size(chance, int(phase.size[slot]), self._coins)
        self.learner.require_allowed(order[:size], available)
        # From here on nothing fails; a phase whose first round cannot be dealt is planned again.
        if number == self._planned:
            before = self._phases.get(self._current[line])
            self._phases[number] = current
            self._planned += 1
            if before is None or before.dealt == before.total:
                self._current[line] = number
        self._asked = current.last = decision_id = self._asked + 1
        self.generation += 1
        current.dealt += 1
        probability = float(chance[size])
        self._tickets[decision_id] = Ticket(
            decision_id, number, slot, size, probability, order, phase.note[slot]
        )
        chosen = order[:size].tolist()
        if deck.size:
            probability = probability_of(phase._replace(rounds=current.left), set(chosen), available)
            if not slots_among(phase, available).all():
                current.left = _left(current)
        subset = frozenset([self.items[i] for i in chosen])
        return Decision(decision_id, subset, decision_id, probability, self.lineage)

    def _brought_forward(self, current: OpenPhase, available: IntArray | None) -> bool:
        if available is None:
            return True
        return self.learner.deals_among and _brought_forward(current, available, self._coins)

    def _opened(self, available: IntArray | None, segment: int | None, beside: OpenPhase | None) -> OpenPhase:
        """A new phase; if none of the sets of an unfinished one can be dealt, beside it and of one round."""
        planned = self.learner.plan(self._state, self._coins, available, segment)
        deck = shuffled_deck(planned, self._coins)
        total = deck.size or int(planned.rounds[0])
        if beside is not None and beside.dealt < beside.total and total > 1:
            raise InvalidArgument("This learner cannot switch these items off now.")
        sums = np.zeros((len(planned.rounds), self.learner.dimension), dtype=np.int64)
        return OpenPhase(planned, deck, sums, planned.rounds, total)

    # Other items

    def change_items(self, *, add: Iterable[Hashable] = (), retire: Iterable[Hashable] = ()) -> None:
        """Go on with other items, with all that was learned and with the same budget.

        From the next `ask` on, added items may be in a set, and retired ones never are. These stay in `items`
        (and in `point`), where the new ones come last, and are named by `retired`; to add one again offers it
        again. At `most_items` a new one takes the place of the one retired longest ago. Open decisions can
        still be told about, but not where whole functions are told, or where items come and it is told what
        items brought: then their phases are given up. Who is told whole functions compares the sets again
        from the start. Decide by what is public or released.

        Args:
            add: New items, or retired ones, in order.
            retire: Items that are offered now. The sets that are shown no longer have them.
        """
        owner = type(self).__name__
        with self._alone():
            arguments = self._kept_arguments() | changing.settled(self)
            before = changing.Offer(self.items, self.retired, arguments)
            open_sets = changing.open_sets(self.learner, [each.phase for each in self._phases.values()])
            offer = before.changed(owner, add, retire, self.most_items, open_sets)
            made = self._made(offer.items, offer.arguments)
            self._close_due()
            policy: Any = made.learner.policy
            state = policy.widened(self._state, offer.replaced(before))
            with self._changing():
                if changing.takes_reports_for(self.learner, made.learner):
                    self._end_dealing()
                    made._mechanism = self._mechanism
                else:
                    self._phases.clear()
                    self._tickets.clear()
                    self._closed_until = self._asked
                made._state, made.retired, made._arguments = state, offer.retired, offer.arguments
                vars(self).update({k: v for k, v in vars(made).items() if k not in _STAYS})

    def _end_dealing(self) -> None:
        """Drop the undealt rest of the open phases."""
        for number, phase in self._phases.items():
            if phase.dealt == phase.total:
                continue
            places = changing.cut_short(phase)
            for ticket in self._tickets.values():
                if ticket.phase == number:
                    self._tickets[ticket.id] = ticket._replace(slot=int(places[ticket.slot]))
            if self._local and phase.told == phase.total:
                self._complete.append(number)

    # Closing

    def _close_due(self) -> None:
        """Close the phases whose time has come, in order, and learn from what is released of them."""
        if self._complete:
            self._close_complete()
        deadline = self._asked - self.expire_after
        due = []
        for number, phase in self._phases.items():
            if phase.dealt == phase.total:  # those beside the current phase may close before it
                if phase.last <= deadline:
                    due.append(number)
                elif not self.segments:  # a later phase of another segment may have ended before
                    break
        for number in due:
            phase = self._phases[number]
            self._closed_until = max(self._closed_until, phase.last)
            for ticket_id in self._missing(number, phase.last):
                missing = self._tickets.pop(ticket_id)
                if self._local:  # a fair bit, as if the middle of the range had been told
                    phase.sums[missing.slot] += self._measured(missing, _NOTHING)
            self._release(number)

    def _missing(self, number: int, last: int) -> list[int]:
        """The tickets of a phase that nobody told about."""
        older = itertools.takewhile(lambda ticket_id: ticket_id <= last, self._tickets)
        return [ticket_id for ticket_id in older if self._tickets[ticket_id].phase == number]

    def _close_complete(self) -> None:
        """Close the local phases whose reports are all there."""
        complete, self._complete = self._complete, []
        for number in sorted(complete):
            self._release(number)

    def _release(self, number: int) -> None:
        """Take a phase out, release its sums, and learn. Sums go in once, whatever is interrupted."""
        closed = self._phases.pop(number)
        self.generation += 1
        released = self.learner.close(self._mechanism, closed.phase, closed.sums, self._source)
        self._state = self.learner.learn(self._state, released)
        self._rounds += closed.total

    def _learned_state(self) -> Any:
        """The policy's state, after learning from all that has arrived and is public."""
        if self._complete:
            with self._alone():
                self._close_complete()
        return self._state

    # Feedback

    def _measured(self, ticket: Ticket, costs: FloatArray) -> IntArray:
        return self.learner.report(ticket, costs, self._mechanism, self._source).units._units

    def _take(self, ticket: Ticket, units: IntArray) -> None:
        """Add the report of a ticket to its slot."""
        # Struck out first: an interruption may lose a round, never count it twice.
        del self._tickets[ticket.id]
        phase = self._phases[ticket.phase]
        row = phase.sums[ticket.slot]
        np.add(row, units, out=row)  # arrays wrap around without a warning, single numbers do not
        if self._local:
            self.generation += 1  # in central mode it would show who has told
            phase.told += 1
            if phase.told == phase.total:
                self._complete.append(ticket.phase)

    def _learns_from(self, decision: Decision | int) -> bool:
        """Whether a decision is of a round that counts."""
        return not (isinstance(decision, Decision) and decision.id == 0 and decision.lineage == self.lineage)

    def _ticket(self, decision: Decision | int) -> Ticket:
        """The ticket of an open decision. An id is never quoted: it may be the cost, in the wrong place."""
        decision_id = 0
        if isinstance(decision, Decision):
            decision_id = decision.id
            if decision.lineage != self.lineage:
                raise errors.UnknownDecision("That decision was made by another learner.")
        elif isinstance(decision, int | np.integer):
            decision_id = int(decision)
        ticket = self._tickets.get(decision_id)
        if ticket is not None:
            return ticket
        if not 1 <= decision_id <= self._asked:
            raise errors.UnknownDecision("No such decision was asked for. Tell it itself, or by its id.")
        if decision_id <= self._closed_until:
            closed = (
                f"That decision was closed after {self.expire_after} further decisions, or other items came"
            )
            raise errors.Expired(f"{closed}. Make the learner with a larger 'expire_after' to wait longer.")
        raise errors.AlreadyTold("That decision has been told about already.")

    # Hosting elsewhere, copies, files

    @contextlib.contextmanager
    def _played_elsewhere(self, rounds: int) -> Iterator[None]:
        """Hold the session while a compiled loop plays rounds with its parts; open phases end here."""
        if self.segments:
            raise InvalidArgument(NOT_SIMULATED)
        with self._alone():
            left = self.horizon - self._asked
            if rounds > left:  # compiled code trusts the number of rounds
                raise errors.HorizonReached(f"This learner can take {left} more rounds, not {rounds}.")
            self._phases.clear()
            self._tickets.clear()
            self._asked += rounds
            self._rounds += rounds
            self.generation += rounds
            self._closed_until = self._asked
            yield

    def fresh(self, seed: Seed | None) -> Self:
        """A new session made like this one, before its first round; with a seed repeatable, not private."""
        keywords = {"seed": seed} if "seed" in inspect.signature(type(self)).parameters else {}
        made = self._made(self.items, self._kept_arguments(), **keywords)
        made.retired = self.retired
        return made

    @classmethod
    def _made(cls, items: Any, arguments: dict[str, Any], **others: Any) -> Self:
        """What the constructor makes of items and of arguments as `keeps_arguments` noted them."""
        numbers = isinstance(items, list | tuple) and all(type(item) is int for item in items)
        if numbers and items and list(items) == list(range(len(items))):
            items = len(items)  # a custom class may want no names
        given = {name: restored_argument(value) for name, value in arguments.items()}
        return cls(items, **given, **others)

    def _kept_arguments(self) -> dict[str, Any]:
        if not hasattr(type(self).__init__, "notes_arguments"):
            why = "it is made from data, or its constructor is not decorated with `keeps_arguments`"
            raise InvalidType(f"A {type(self).__name__} cannot be saved or repeated: {why}.")
        return self._arguments

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write everything to a file, atomically, for `discreet.load`.

        If it keeps secrets it is handed over: this object cannot go on, the file is as secret as the data.
        """
        if str(path).endswith(TAKEN):
            raise InvalidArgument(f"A learner is not saved under a name that ends with {TAKEN!r}.")
        with self._alone(), written_beside(path, self._whole(), secret=True) as put_in_place:
            # Before the file is there: an interruption may lose the learner, never leave two of it.
            self._handed_over = self.keeps_secrets
            try:
                put_in_place()
            except OSError:
                self._handed_over = False
                raise

    def to_bytes(self) -> bytes:
        """The whole session as `save` writes it; one that keeps secrets is handed over likewise."""
        with self._alone():
            data = self._whole()
            self._handed_over = self.keeps_secrets
            return data

    @property
    def keeps_secrets(self) -> bool:
        """Whether the state holds more than its guarantee covers, so that only one copy may go on."""
        holds = not self._local or len(self._people) > 0  # two copies would count people apart
        return self.guarantee.private and holds and self.guarantee.epsilon != 0

    def _settings(self) -> dict[str, Any]:
        kept = self._kept_arguments()
        if not all(isinstance(item, str | int | np.integer) for item in self.items):
            raise InvalidType("Only a learner whose items are named by strings or integers can be saved.")
        return {
            "items": plain(self.items),
            "retired": plain(self.retired),
            "arguments": named_classes(kept),
            **{name: getattr(self, f"_{name}") for name in _COUNTS},
            "current": self._current,
            "coins": self._coins.saved(),
            "bits": self._source.saved(),
            "constants": self.learner.constants(),
        }

    def _arrays(self) -> dict[str, npt.NDArray[Any]]:
        policy = arrays_like(self._state, self.learner.policy.start(), "policy")
        release = arrays_in(self._mechanism, "release")
        return policy | release | packed(self._phases, self._tickets) | self._people.packed()

    @classmethod
    def _from_settings(cls, settings: dict[str, Any], source: BitSource) -> Self:
        session = cls._made(settings["items"], settings["arguments"])
        session.retired = tuple(settings["retired"])
        session.learner.check_constants(cls.__name__, settings["constants"])
        if settings["bits"] is not None:
            source = BitSource.restored(settings["bits"])
        if settings["coins"] is not None:
            session._coins = BitSource.restored(settings["coins"])
        session._source = source
        session._not_private_because = source.not_private_because
        most = MOST_DECISIONS
        for name in _COUNTS:
            number = checks.integer(cls.__name__, f"saved '{name}'", settings[name], 0, most)
            setattr(session, f"_{name}", number)
            most = session._asked
        session._current = checked_current(settings["current"], len(session._current), session._planned)
        return session

    def _load(self, saved: Mapping[str, npt.NDArray[Any]]) -> None:
        self._state = with_arrays(self._state, saved, "policy")
        self._mechanism = with_arrays(self._mechanism, saved, "release")
        self.learner.check_state(self._state, self._mechanism)
        self._phases, self._tickets = unpacked(saved, self.learner, self._planned, self._current, self._asked)
        self._complete = [number for number, each in self._phases.items() if each.told == each.total]
        self._people.restore(saved)

    def __repr__(self) -> str:
        name, n, private = type(self).__name__, len(self.items), self.guarantee.private
        return f"{name}(items={n}, asked={self._asked}, private={private})"

    def _repr_html_(self) -> str:
        shown = [str(item) for item in self.items[:MOST_SHOWN]]
        more = [f"and {len(self.items) - MOST_SHOWN} more"] if len(self.items) > MOST_SHOWN else []
        rows = {name: getattr(self, name) for name in ("mode", "method") if hasattr(self, name)}
        rows["items"] = ", ".join(shown + more)
        if self.segments:
            rows["segments"] = ", ".join(map(str, self.segments))
        rows |= {"asked": f"{self._asked:,}", "promise": self.guarantee}
        return as_html(type(self).__name__, rows)


def _brought_forward(current: OpenPhase, available: IntArray, coins: BitSource) -> bool:
    """Whether a set of the phase can be dealt next: any of those that are left, each as likely.

    Then what is left is in random order still. The probabilities of this round and of later ones are as of
    what is left, since which sets were dealt so far decides about it.
    """
    fit = slots_among(current.phase, available)
    if fit.all() or not current.deck.size:
        return bool(fit.all())
    current.left = _left(current)
    rest = current.deck[current.dealt :]
    places = np.flatnonzero(fit[rest])
    if places.size:
        place = places[coins.generator().integers(places.size)]
        rest[[0, place]] = rest[[place, 0]]
    return bool(places.size)


def _left(current: OpenPhase) -> IntArray:
    """How many rounds of each slot are not dealt yet."""
    return np.bincount(current.deck[current.dealt :], minlength=len(current.phase.rounds))
