"""How the committer performs operations: one durable transaction, then the new states are shown."""

from __future__ import annotations

import collections
import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

from discreet.errors import Busy, Conflict, DiscreetError, StoreError
from discreet.service.batch import Batch
from discreet.service.hosted_learner import Applied, HostedLearner
from discreet.service.maintenance import Maintenance
from discreet.service.operations import Ask, Tell
from discreet.service.registry import Registry
from discreet.storage.records import Status
from discreet.storage.store import Store


class Transactions:
    """Called in the committer's thread only.

    Args:
        store: The store.
        registry: Knows the latest epoch of each learner.
        maintenance: Is told what is due.
        clock: Milliseconds since 1970.
    """

    def __init__(
        self, store: Store, registry: Registry, maintenance: Maintenance, clock: Callable[[], int]
    ) -> None:
        self._store, self._registry, self._maintenance, self._clock = store, registry, maintenance, clock
        self._committed: collections.deque[tuple[HostedLearner, Applied]] = collections.deque()

    def __call__(self, operations: Sequence[Ask | Tell]) -> Sequence[Any]:
        """An answer for each operation, or an exception to raise for it; all of them durable and shown."""
        self._show_committed()  # of an earlier transaction, whose states could not be shown
        latest = dict(enumerate(map(_with_items, operations, self._latest(operations))))
        fitting = {k: each for k, each in latest.items() if not isinstance(each, DiscreetError)}
        try:
            with self._store.writing() as writing:
                batch = Batch(writing, self._clock(), alone=self._store.one_process)
                found = dict(zip(fitting, batch.run([*fitting.values()]), strict=True))
        except Conflict:
            # Another thread or process has updated a learner; the committer tries again.
            self._maintenance.refresh({operation.hosted for operation in fitting.values()})
            raise
        for hosted, ids in batch.closed.items():
            hosted.drawn.committed(ids)
        self._committed.extend(batch.applied)
        self._show_committed()
        if batch.queued or batch.behind:
            self._maintenance.wake(batch.behind, batch.closed)
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
            except DiscreetError as error:
                raise StoreError(f"What was committed cannot be shown: {error}") from None
            except Exception as error:  # not quoted: it may contain something private
                raise StoreError(f"What was committed cannot be shown ({type(error).__name__}).") from None
            self._committed.popleft()

    def _latest(self, operations: Sequence[Ask | Tell]) -> list[HostedLearner]:
        """The learner of each operation with its present items; of an ask also the next epoch.

        Not so for tells: hashed people and sealed costs belong to one epoch. All operations on a learner get
        the same object, even if it is replaced just now.
        """
        found = [
            self._registry.named(each.hosted.record.name)
            if isinstance(each, Ask) and each.hosted.record.status is Status.CLOSED
            else self._registry.latest(each.hosted)
            for each in operations
        ]
        newest = {hosted.id: hosted for hosted in sorted(found, key=lambda hosted: hosted.record.revision)}
        return [newest[hosted.id] for hosted in found]


def _with_items(operation: Ask | Tell, hosted: HostedLearner) -> Ask | Tell | DiscreetError:
    """The same operation on a learner that may have other items; or why it cannot be done."""
    if hosted is operation.hosted:
        return operation
    if isinstance(operation, Tell):
        if hosted.host.whole:  # costs of other sets
            return Busy(f"The items of {hosted.record.name!r} were changed just now; nothing else was.")
        return dataclasses.replace(operation, hosted=hosted)
    try:
        return operation.of(hosted)
    except DiscreetError as error:  # an item that is not known any more
        return error
