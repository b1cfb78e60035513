"""Learners in a store, for many callers at once. Answers are given once they are durable.

Rules that always hold:

* A cost becomes a bit (a function becomes sealed costs) in the caller's thread, before it is queued.
* A decision is closed once. Telling again gets the same answer and changes nothing.
* A state is committed, and recorded by the rollback guard, before it is shown.
* A person's feedback is counted before its value plays any part; feedback beyond the cap gets the same
  answer.
* A decision without feedback is closed at its deadline with a neutral value, through the same mechanism.
"""

from __future__ import annotations

import collections
import os
import re
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from concurrent.futures import Future
from typing import Any, Self

from discreet import checks
from discreet.errors import Conflict, DiscreetError, InvalidArgument, StoreError
from discreet.service.api_keys import ApiKeys
from discreet.service.batch import Batch
from discreet.service.clock import milliseconds
from discreet.service.committer import Committer
from discreet.service.encryption import KeyRing
from discreet.service.health import Health, reason_of
from discreet.service.hosted_learner import Applied, HostedLearner
from discreet.service.maintenance import Maintenance
from discreet.service.management import Management
from discreet.service.opening import open_parts, require_latest
from discreet.service.operations import Ask, Tell, with_items
from discreet.service.records import Backlog, Choice, Feedback, Outcome
from discreet.service.rollback_guard import RollbackGuard
from discreet.service.sealing import TellToken, read_token
from discreet.storage.records import Status
from discreet.storage.store import Store

#: Valid request ids.
REQUEST_ID = re.compile(r"[!-~]{1,200}")
#: Decisions in one ask.
MOST_DECISIONS = 1_000


class LearnerService(Management):
    """Learners in a store, for many threads at once. Create one with `open`.

    Attributes:
        api_keys: The API keys of the store.
        maintenance: What the background thread does, to be called by hand without it.
        health: What works and what does not.

    Examples:
        >>> import tempfile
        >>> folder = tempfile.TemporaryDirectory()
        >>> with folder, LearnerService.open(f"{folder.name}/shop.db") as service:
        ...     arguments = {"epsilon": 1.0, "cost_range": [0, 1]}
        ...     made = service.create("till", "bandit", ["tea", "milk"], arguments)
        ...     choice = service.ask("till")[0]
        ...     service.tell("till", [Feedback(choice.id, cost=0.3)])[0].code
        ...     service.learner("till").counts.told
        <Code.ACCEPTED: 'accepted'>
        1
    """

    def __init__(
        self,
        store: Store,
        ring: KeyRing,
        guard: RollbackGuard,
        clock: Callable[[], int],
        *,
        maintenance: bool,
    ) -> None:
        super().__init__(store, ring, guard, clock)
        self._guard = guard
        self.api_keys = ApiKeys(store, self._clock)
        self.health = Health()
        self.maintenance = Maintenance(
            store,
            guard,
            self.registry,
            self._clock,
            lambda: self._committer.busy,
            self.health,
        )
        #: States that are committed and not shown yet.
        self._committed: collections.deque[tuple[HostedLearner, Applied]] = collections.deque()
        self._committer: Committer[Ask | Tell] = Committer(self._perform, lambda each: each.size, self.health)
        if maintenance:
            self.maintenance.start()

    @classmethod
    def open(
        cls,
        where: str | os.PathLike[str],
        *,
        key_file: str | os.PathLike[str] | None = None,
        guard_file: str | os.PathLike[str] | None = None,
        clock: Callable[[], int] | None = None,
        maintenance: bool = True,
    ) -> Self:
        """Open the service on the store at an address.

        Args:
            where: See `discreet.storage.open_store`.
            key_file: The encryption key, unless DISCREET_KEY has it; beside an SQLite file by default.
            guard_file: The rollback guard, a path or the address of a database, unless
                DISCREET_ROLLBACK_GUARD has it. By default beside an SQLite file, or in a schema apart of a
                PostgreSQL database.
            clock: Milliseconds since 1970; those of this machine by default.
            maintenance: Whether a background thread applies queued feedback, expires and compacts decisions.

        Raises:
            WrongKey: The key is missing, or is not the one the store was made with.
            StoreInUse: Another process has the SQLite file open.
            StaleState: The store is an old backup, or its rollback guard is missing.
        """
        store, ring, guard = open_parts(where, key_file, guard_file)
        try:
            require_latest(store, guard)
            guard.begin()
            return cls(store, ring, guard, clock or milliseconds, maintenance=maintenance)
        except BaseException:
            guard.close()
            store.close()
            raise

    # Ask and tell

    def ask(
        self,
        name: str,
        count: int = 1,
        *,
        available: Iterable[Hashable] | None = None,
        request_id: str | None = None,
        tokens: bool = False,
    ) -> list[Choice]:
        """Choose sets.

        Args:
            name: Of the learner.
            count: Up to 1,000. Count times the number of items may be a million, and `count` sets of all
                items must fit into 4 MiB of JSON.
            available: The items that can be chosen now: public, and never dependent on anybody's feedback.
            request_id: A retry with the same id gets the same decisions.
            tokens: Whether to give a token for each decision, for a device that tells it; see `token`.
        """
        asked = self.submit_ask(name, count, available=available, request_id=request_id, tokens=tokens)
        return asked.result()

    def submit_ask(
        self,
        name: str,
        count: int = 1,
        *,
        available: Iterable[Hashable] | None = None,
        request_id: str | None = None,
        tokens: bool = False,
    ) -> Future[list[Choice]]:
        """Like `ask`, without waiting for the disk. Invalid arguments raise immediately."""
        count = checks.integer("ask", "count", count, 1, MOST_DECISIONS)
        if request_id is not None and not (isinstance(request_id, str) and REQUEST_ID.fullmatch(request_id)):
            raise InvalidArgument("A request id has 1 to 200 printable ASCII characters.")
        hosted = self.registry.named(name)
        hosted.check()
        most = hosted.most_sets
        if count > most:
            items = len(hosted.host.items)
            wants = f"at most {most} for a learner of {items} items with names as long as these"
            raise checks.invalid_argument("ask", "count", wants, count)
        if tokens and hosted.host.whole:
            raise InvalidArgument("Tokens are for costs and bits; this learner takes functions.")
        named = list(available) if isinstance(available, Iterator) else available  # it can be read only once
        return self._committer.submit(self._of_latest(Ask(hosted, count, None, request_id, tokens, named)))

    def _of_latest(self, ask: Ask) -> Ask:
        """The ask with the numbers of its items, which another process may just have added."""
        try:
            return ask.of(ask.hosted)
        except InvalidArgument:
            latest = self.registry.stored(ask.hosted.record.name)
            if latest is ask.hosted:
                raise
            return ask.of(latest)

    def tell(self, name: str, feedback: Iterable[Feedback]) -> list[Outcome]:
        """Learn from feedback, in any order, however late.

        Telling the same decision again gets the same answer and changes nothing, whatever the value. There
        may be 10,000 pieces; of functions, pieces times the number of items may be a million.

        Returns:
            The outcome of each piece, in order; see `Code`.
        """
        return self.submit_tell(name, feedback).result()

    def submit_tell(self, name: str, feedback: Iterable[Feedback]) -> Future[list[Outcome]]:
        """Like `tell`, without waiting for the disk. Functions are evaluated before it returns."""
        hosted = self.registry.named(name)
        hosted.check()
        pieces = list(feedback)
        try:
            told = Tell.of(hosted, pieces, self._store)
        except Conflict:  # another process has changed its items
            told = Tell.of(self.registry.stored(name), pieces, self._store)
        return self._committer.submit(told)

    def _perform(self, operations: Sequence[Ask | Tell]) -> Sequence[Any]:
        """An answer for each operation, or an exception to raise for it; all of them durable and shown.

        It is called in the committer's thread only.
        """
        self._show_committed()  # of an earlier transaction, whose states could not be shown
        latest = dict(enumerate(map(with_items, operations, self._latest(operations))))
        fitting = {k: each for k, each in latest.items() if not isinstance(each, DiscreetError)}
        try:
            with self._store.writing() as writing:
                batch = Batch(writing, self._clock(), alone=self._store.one_process)
                found = dict(zip(fitting, batch.run([*fitting.values()]), strict=True))
        except Conflict:
            # Another thread or process has updated a learner; the committer tries again.
            self.maintenance.refresh({operation.hosted for operation in fitting.values()})
            raise
        for hosted, ids in batch.closed.items():
            hosted.drawn.committed(ids)
        self._committed.extend(batch.applied.items())
        self._show_committed()
        if batch.queued or batch.behind:
            self.maintenance.wake(batch.behind, batch.closed)
        answers: dict[int, Any] = dict(latest)
        for k, made in found.items():
            answers[k] = made if isinstance(made, Exception) else fitting[k].answer(made)
        return [*answers.values()]

    def _show_committed(self) -> None:
        """Show what was committed. If that fails, it is retried before anything else."""
        while self._committed:
            hosted, applied = self._committed[0]
            try:
                hosted.show(applied)
            except Exception as error:
                raise StoreError(f"What was committed cannot be shown: {reason_of(error)}") from None
            self._committed.popleft()

    def _latest(self, operations: Sequence[Ask | Tell]) -> list[HostedLearner]:
        """The learner of each operation with its present items; of an ask also the next epoch.

        Not so for tells: hashed people and sealed costs belong to one epoch. All operations on a learner get
        the same object, even if it is replaced just now.
        """
        found = [
            self.registry.named(each.hosted.record.name)
            if isinstance(each, Ask) and each.hosted.record.status is Status.CLOSED
            else self.registry.latest(each.hosted)
            for each in operations
        ]
        newest = {hosted.id: hosted for hosted in sorted(found, key=lambda hosted: hosted.record.revision)}
        return [newest[hosted.id] for hosted in found]

    def ready(self) -> None:
        """Write to the store; raises `StoreError` if that, or what was written last, has failed."""
        try:
            with self._store.writing() as writing:
                writing.note("touched", str(self._clock()))
        except StoreError as error:
            self.health.failed("the readiness check", error)
            raise
        self.health.worked("the readiness check")
        self.health.require()

    def time_commits(self, seen: Callable[[float], None]) -> None:
        """Tell somebody the seconds that each transaction of asks and tells takes."""
        self._committer.committed = seen

    @property
    def queued(self) -> int:
        """How many asks and tells wait for a transaction."""
        return self._committer.queued

    def backlog(self) -> Backlog:
        """What waits, and how large the store is."""
        with self._store.reading() as reading:
            pending, size = reading.pending(), reading.size()
        return Backlog(pending, size, sum(hosted.stale for hosted in self.registry.active()))

    def token(self, token: str) -> TellToken | None:
        """What a token allows its holder to tell; None if the service has not made it."""
        return read_token(self._ring, token)

    def is_current(self, name: str, lineage: str) -> bool:
        """Whether the latest epoch of a learner has a lineage: tokens end with their epoch."""
        return self.registry.named(name, lineage).record.lineage == lineage

    def close(self) -> None:
        """Write what is queued, and close the store. Open blocks stay open, and are not released."""
        self._committer.close()
        self.maintenance.close()
        self._guard.close()
        self._store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
