"""What the committer does with operations: one durable transaction, and then what it led to is shown."""

from __future__ import annotations

import collections
import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

from discreet.errors import Conflict, DiscreetError, StoreError
from discreet.service.batch import Ask, Batch, Tell
from discreet.service.housekeeping import Housekeeping
from discreet.service.kept import Folded, Kept
from discreet.service.registry import Registry
from discreet.storage.base import Store
from discreet.storage.records import Status


class Transactions:
    """Called in the committer's thread, by nobody else.

    Args:
        store: Where everything is kept.
        registry: Knows the latest epoch of each learner.
        housekeeping: Is told what should happen next.
        clock: Milliseconds since 1970.
    """

    def __init__(
        self, store: Store, registry: Registry, housekeeping: Housekeeping, clock: Callable[[], int]
    ) -> None:
        self._store, self._registry, self._housekeeping, self._clock = store, registry, housekeeping, clock
        self._committed: collections.deque[tuple[Kept, Folded]] = collections.deque()

    def __call__(self, operations: Sequence[Ask | Tell]) -> Sequence[Any]:
        """An answer for each operation, all of them durable and shown."""
        self._show_committed()  # what could not be shown before: nothing is answered that the witness missed
        operations = [self._to_latest(operation) for operation in operations]
        try:
            with self._store.writing() as writing:
                batch = Batch(writing, self._clock(), alone=self._store.one_process)
                done = batch.run(operations)
        except Conflict:
            self._housekeeping.refresh()  # somebody else went on with a learner; the committer tries again
            raise
        self._committed.extend(done.folded)
        self._show_committed()
        if done.waiting or done.behind:
            self._housekeeping.hurry(done.behind)
        return done.answers

    def _show_committed(self) -> None:
        """Show what was committed. If that fails, it is tried again before anything else is done."""
        while self._committed:
            kept, folded = self._committed[0]
            try:
                kept.show(folded.generation, folded.state)
            except DiscreetError as error:
                raise StoreError(f"What was committed cannot be shown: {error}") from None
            except Exception as error:  # not quoted: it may be about something private
                raise StoreError(f"What was committed cannot be shown ({type(error).__name__}).") from None
            self._committed.popleft()

    def _to_latest(self, operation: Ask | Tell) -> Ask | Tell:
        """The same for the next epoch, where a restart came first: epochs differ in where they start only.

        Not so for tells: people and sealed costs belong to the epoch they were made ready for.
        """
        if isinstance(operation, Tell) or operation.kept.record.status is not Status.CLOSED:
            return operation
        return dataclasses.replace(operation, kept=self._registry.named(operation.kept.record.name))
