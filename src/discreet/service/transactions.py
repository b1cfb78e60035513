"""How the committer performs operations: one durable transaction, then the new states are shown."""

from __future__ import annotations

import collections
import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

from discreet.errors import Conflict, DiscreetError, StoreError
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
        operations = [self._to_latest(operation) for operation in operations]
        try:
            with self._store.writing() as writing:
                batch = Batch(writing, self._clock(), alone=self._store.one_process)
                answers = batch.run(operations)
        except Conflict:
            # Another thread or process has updated a learner; the committer tries again.
            self._maintenance.refresh({operation.hosted for operation in operations})
            raise
        for hosted, ids in batch.closed.items():
            hosted.drawn.committed(ids)
        self._committed.extend(batch.applied.items())
        self._show_committed()
        if batch.queued or batch.behind:
            self._maintenance.wake(batch.behind, batch.closed)
        return [
            found if isinstance(found, Exception) else operation.answer(found)
            for operation, found in zip(operations, answers, strict=True)
        ]

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

    def _to_latest(self, operation: Ask | Tell) -> Ask | Tell:
        """The same ask for the next epoch, if the learner was restarted meanwhile.

        Not so for tells: hashed people and sealed costs belong to one epoch.
        """
        if isinstance(operation, Tell) or operation.hosted.record.status is not Status.CLOSED:
            return operation
        return dataclasses.replace(operation, hosted=self._registry.named(operation.hosted.record.name))
