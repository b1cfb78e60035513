"""The desk: where workers ask and tell. Thread-safe; answers are given once they are durable.

Rules that hold whatever happens:

* A cost becomes a bit (a function becomes sealed costs) in the thread that brings it, before it is queued.
* A decision is closed once. Telling again is answered like the first time and changes nothing.
* What is shown is committed first, and noted by the witness, so that an old backup is recognised.
* A person's feedback is counted before its value plays any part; what exceeds the cap is answered alike.
* A decision that nobody told about in time is closed with a neutral value through the same mechanism.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, Self

from discreet import checks
from discreet.errors import InvalidArgument
from discreet.learners.detached import DetachedFunctions
from discreet.privacy.guarantee import Guarantee
from discreet.service import ledger
from discreet.service.batch import Ask, Tell, Told
from discreet.service.bearers import Bearers
from discreet.service.clock import milliseconds
from discreet.service.committer import Committer
from discreet.service.housekeeping import Housekeeping
from discreet.service.kept import Kept
from discreet.service.keys import KeyRing
from discreet.service.opening import opened, require_latest
from discreet.service.promises import Promise, passed_on, then
from discreet.service.records import (
    Choice,
    Code,
    Feedback,
    LearnerView,
    MinuteView,
    Outcome,
    PopulationView,
    RecentChoice,
)
from discreet.service.registry import DEADLINE, Registry, members, most_pieces
from discreet.service.transactions import Transactions
from discreet.service.witness import Witness
from discreet.storage.base import Store
from discreet.storage.records import DecisionRecord, PopulationRecord

#: Names of requests: whatever can be kept and shown anywhere.
REQUEST_ID = re.compile(r"[!-~]{1,200}")
_ID = re.compile(r"[0-9a-f]{32}")
#: Decisions in one ask, pieces of feedback in one tell.
MOST_DECISIONS, MOST_FEEDBACK = 1_000, 10_000


class Desk:
    """Learners in a store, for many callers at once. :meth:`open` makes one.

    Args:
        store: Where everything is kept; closed with the desk.
        ring: The key.
        witness: Knows how far learners had released; closed with the desk.
        clock: Milliseconds since 1970.
        housekeeping: Whether a thread folds, expires and compacts by itself.

    Attributes:
        bearers: The bearer keys of the store.
        housekeeping: Folding, deadlines and compaction, to be called by hand where no thread does.

    Examples:
        >>> import tempfile
        >>> folder = tempfile.TemporaryDirectory()
        >>> with folder, Desk.open(f"{folder.name}/shop.db") as desk:
        ...     made = desk.create("till", "bandit", ["tea", "milk"], {"epsilon": 1.0, "cost_range": [0, 1]})
        ...     choice = desk.ask("till")[0]
        ...     desk.tell("till", [Feedback(choice.id, cost=0.3)])[0].code
        ...     desk.learner("till").summary.rounds
        <Code.ACCEPTED: 'accepted'>
        1
    """

    def __init__(
        self,
        store: Store,
        ring: KeyRing,
        witness: Witness,
        *,
        clock: Callable[[], int] | None = None,
        housekeeping: bool = True,
    ) -> None:
        self._store, self._witness = store, witness
        self._clock = clock or milliseconds
        self._registry = Registry(store, ring, witness, self._clock)
        self.bearers = Bearers(store, self._clock)
        self.housekeeping = Housekeeping(store, witness, self._registry.active, self._clock)
        perform = Transactions(store, self._registry, self.housekeeping, self._clock)
        self._committer: Committer[Ask | Tell] = Committer(perform, lambda operation: operation.cells)
        self._helpers = ThreadPoolExecutor(4, "discreet-desk")
        if housekeeping:
            self.housekeeping.start()

    @classmethod
    def open(
        cls,
        where: str | os.PathLike[str],
        *,
        key_file: str | os.PathLike[str] | None = None,
        witness_file: str | os.PathLike[str] | None = None,
        clock: Callable[[], int] | None = None,
        housekeeping: bool = True,
    ) -> Self:
        """A desk on the store at an address.

        Args:
            where: See `discreet.storage.open_store`.
            key_file: Where the key is, unless DISCREET_KEY has it; beside an SQLite file by default.
            witness_file: Where the witness is, unless DISCREET_WITNESS says so; beside an SQLite file by
                default.
            clock: Milliseconds since 1970.
            housekeeping: Whether a thread folds, expires and compacts by itself.

        Raises:
            WrongKey: The key is missing, or is not the one the store was made with.
            StoreInUse: Another process has the SQLite file.
            StaleState: The store is an old backup, or its witness is gone.
        """
        store, ring, witness = opened(where, key_file, witness_file)
        try:
            require_latest(store, witness)
            witness.begin()
            return cls(store, ring, witness, clock=clock, housekeeping=housekeeping)
        except BaseException:
            witness.close()
            store.close()
            raise

    # Learners

    def create(
        self,
        name: str,
        kind: str,
        items: int | Sequence[Hashable],
        arguments: Mapping[str, Any],
        *,
        population: str | None = None,
        deadline_seconds: float = DEADLINE,
    ) -> LearnerView:
        """Make a learner.

        Args:
            name: Letters, digits and ``_.-``, at most 100.
            kind: "bandit" (a local `BanditLearner`) or "full_information".
            items: How many, or their names: strings or whole numbers.
            arguments: The other arguments of the constructor, as JSON types.
            population: The people it learns from; its epsilon is added to what they may lose.
            deadline_seconds: When decisions that were not told about are closed.

        Raises:
            AlreadyExists: The name is taken.
            BudgetExceeded: The population's limit does not allow it.
        """
        settings = {"kind": kind, "items": items, "arguments": dict(arguments)}
        return self._registry.create(name, settings, population, deadline_seconds)

    def learners(self) -> list[LearnerView]:
        """The latest epoch of every learner, by name."""
        return self._registry.views()

    def learner(self, name: str) -> LearnerView:
        """What may be shown of a learner."""
        return self._registry.view(self._registry.named(name))

    def guarantee(self, name: str) -> Guarantee:
        """What is promised to each person by a learner."""
        return self._registry.named(name).shown.guarantee

    def archive(self, name: str) -> LearnerView:
        """End a learner, after folding in what was told. It can be looked at, and its loss stays counted."""
        return self._registry.archive(name)

    def restart(self, name: str) -> LearnerView:
        """Close a learner's epoch and start the next from its last released point.

        For learners that have become stale or have reached their horizon. Open decisions are forgotten, an
        open block is never released, and the new epoch's epsilon is added to the ledger.
        """
        return self._registry.restart(name)

    def minutes(self, name: str, since: int = 0) -> list[MinuteView]:
        """What happened to a learner since a time in milliseconds, minute by minute."""
        return self._registry.minutes(name, since)

    def recent(self, name: str, most: int = 50) -> list[RecentChoice]:
        """The sets chosen lately, latest first: `most` of them, or as many as one :meth:`ask` may give."""
        return self._registry.recent(name, checks.integer("recent", "most", most, 1, 1000))

    # Populations

    def set_population(self, name: str, limit: float | None = None) -> PopulationView:
        """Make a population, or change what its people may lose in all."""
        checks_name = self._registry.checked_name("population", name)
        if limit is not None:
            limit = checks.positive_number("population", "limit", limit)
        with self._store.writing() as writing:
            writing.add_population(PopulationRecord(checks_name, limit))
        return self.population(name)

    def populations(self) -> list[PopulationView]:
        """All populations, by name."""
        with self._store.reading() as reading:
            learners = reading.learners()
            return [ledger.view(population, learners) for population in reading.populations()]

    def population(self, name: str) -> PopulationView:
        """What the people of a population may lose, and to whom."""
        found = {view.name: view for view in self.populations()}
        return self._registry.found(found, "population", name)

    # Ask and tell

    def ask(
        self,
        name: str,
        count: int = 1,
        *,
        available: Iterable[Hashable] | None = None,
        request_id: str | None = None,
    ) -> list[Choice]:
        """Choose sets.

        Args:
            name: The learner's.
            count: How many, up to 1,000. Count times the number of items may be a million, and sets of all
                items must fit into 4 MiB of JSON: there are fewer where names are long.
            available: The items that can be chosen now: public, and never dependent on anybody's feedback.
            request_id: Names this request; if it was answered before, the same decisions are given again.
        """
        answer, made = self._asked(name, count, available, request_id)
        return made(answer.result())

    def submit_ask(
        self,
        name: str,
        count: int = 1,
        *,
        available: Iterable[Hashable] | None = None,
        request_id: str | None = None,
    ) -> Future[list[Choice]]:
        """Like :meth:`ask`, without waiting for the disk. Complaints about arguments are raised at once."""
        return then(*self._asked(name, count, available, request_id))

    def tell(self, name: str, feedback: Iterable[Feedback]) -> list[Outcome]:
        """Learn from what happened, however late, in any order.

        Telling the same decision again is answered alike and changes nothing, whatever the value. There may
        be 10,000 pieces; of functions, pieces times the number of items may be a million.

        Returns:
            What became of each piece, in order; see :class:`Code`.
        """
        answer, made = self._told(self._registry.named(name), _listed(feedback))
        return made(answer.result())

    def submit_tell(self, name: str, feedback: Iterable[Feedback]) -> Future[list[Outcome]]:
        """Like :meth:`tell`, without waiting for the disk or for the caller's functions."""
        kept, listed = self._registry.named(name), _listed(feedback)
        if isinstance(kept.shown, DetachedFunctions):
            return self._later(lambda: self._told(kept, listed))
        return then(*self._told(kept, listed))

    def close(self) -> None:
        """Write what waits and let go. Open blocks stay open, and are not released."""
        self._helpers.shutdown()
        self._committer.close()
        self.housekeeping.close()
        self._witness.close()
        self._store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _asked(
        self, name: str, count: int, available: Iterable[Hashable] | None, request: str | None
    ) -> Promise[list[Choice]]:
        wanted = checks.integer("ask", "count", count, 1, MOST_DECISIONS)
        if request is not None and not (isinstance(request, str) and REQUEST_ID.fullmatch(request)):
            raise InvalidArgument("A request is named by 1 to 200 printable ASCII letters.")
        kept = self._registry.named(name)
        kept.check()
        items = kept.shown.items
        most = self._registry.most_sets(kept)
        if wanted > most:
            wants = f"at most {most} for a learner of {len(items)} items with names as long as these"
            raise checks.invalid_argument("ask", "count", wants, wanted)
        among = None if available is None else kept.shown.among(available)
        answer = self._committer.submit(Ask(kept, wanted, among, request))
        return answer, lambda found: [_choice(items, decision) for decision in found]

    def _told(self, kept: Kept, feedback: list[Feedback]) -> Promise[list[Outcome]]:
        kept.check()
        most = most_pieces(len(kept.shown.items))
        if isinstance(kept.shown, DetachedFunctions) and len(feedback) > most:
            raise InvalidArgument(
                f"A tell of functions of {len(kept.shown.items)} items has at most {most} pieces. "
                f"Got {len(feedback)} instead."
            )
        codes: dict[int, Code] = {}
        ready: list[tuple[int, Feedback, bytes]] = []
        for place, each in enumerate(feedback):
            decision = _number(each.decision)
            if not kept.takes(each):
                codes[place] = Code.INVALID
            elif decision is None:
                codes[place] = Code.UNKNOWN
            else:
                ready.append((place, each, decision))
        told = self._ready(kept, [(each, decision) for _, each, decision in ready])
        names = [str(each.decision) for each in feedback]

        def outcomes(found: Sequence[Code]) -> list[Outcome]:
            for (place, _, _), code in zip(ready, found, strict=True):
                codes[place] = code
            return [Outcome(decision, codes[place]) for place, decision in enumerate(names)]

        return self._committer.submit(Tell(kept, told)), outcomes

    def _ready(self, kept: Kept, feedback: list[tuple[Feedback, bytes]]) -> list[Told]:
        """Feedback without anything private in it that is not randomised or sealed."""
        people = [None if each.person is None else kept.person(each.person) for each, _ in feedback]
        payloads: list[bytes | None]
        if isinstance(kept.shown, DetachedFunctions):
            with self._store.reading() as reading:
                known = reading.decisions(decision for _, decision in feedback)
            payloads = [
                kept.sealed_costs(decision, known[decision].draw, each.function)
                if decision in known and known[decision].learner == kept.id
                else None
                for each, decision in feedback
            ]
        else:
            payloads = [*kept.bits([each for each, _ in feedback])]
        return [
            Told(decision, payload, person)
            for (_, decision), payload, person in zip(feedback, payloads, people, strict=True)
        ]

    def _later(self, work: Callable[[], Promise[Any]]) -> Future[Any]:
        """The future of a future that a helper makes."""
        answer: Future[Any] = Future()

        def made(helper: Future[Promise[Any]]) -> None:
            if (error := helper.exception()) is not None:
                answer.set_exception(error)
            else:
                passed_on(*helper.result(), answer)

        self._helpers.submit(work).add_done_callback(made)
        return answer


def _listed(feedback: Iterable[Feedback]) -> list[Feedback]:
    listed = list(feedback)
    if len(listed) > MOST_FEEDBACK or not all(isinstance(each, Feedback) for each in listed):
        raise InvalidArgument(f"A tell is a list of at most {MOST_FEEDBACK} pieces of Feedback.")
    return listed


def _number(decision: str) -> bytes | None:
    """The bytes of an id, or None if there can be no such id."""
    # In one spelling: whoever randomises must not take one decision for two.
    return bytes.fromhex(decision) if isinstance(decision, str) and _ID.fullmatch(decision) else None


def _choice(items: Sequence[Hashable], decision: DecisionRecord) -> Choice:
    return Choice(decision.id.hex(), members(items, decision.subset))
