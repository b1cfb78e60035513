"""The contract of a store. One test suite checks it for every backend.

* **Durable.** When `writing()` ends without an error, everything written in it survives a crash of the
  process and of the machine. When it ends with an error, nothing was written.
* **Exactly once.** `close_decisions` and `expire` give a decision to one caller only, among all threads and
  processes.
* **One line of states.** `StateUpdate.put` replaces the state of the generation that was read, or raises
  `Conflict`. At most one process at a time updates a learner.
* **Encoded.** A store sees bytes and public numbers. It never interprets a state, a draw or a payload.
* Decision ids and hashes of people have 16 bytes.
* Times are integer milliseconds, given by the caller.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager

from discreet.storage.records import (
    AuditRecord,
    Counts,
    DecisionRecord,
    How,
    KeyRecord,
    LearnerRecord,
    Loss,
    Minute,
    Moment,
    NewLearner,
    PhaseRecord,
    PopulationRecord,
    QueuedReport,
    Status,
)


class Reading(ABC):
    """Read access. All calls see one consistent state: everything committed before the first of them.

    In `writing()` each call sees what was committed before it.
    """

    @abstractmethod
    def meta(self, key: str) -> str | None:
        """A fact about the whole store."""

    @abstractmethod
    def learners(self, ids: Iterable[int] | None = None) -> list[LearnerRecord]:
        """All learners, or those with these ids, by name and epoch."""

    @abstractmethod
    def latest(
        self,
        *,
        names: Iterable[str] | None = None,
        search: str = "",
        after: str = "",
        most: int | None = None,
    ) -> list[LearnerRecord]:
        """The latest epoch of each learner, by name.

        Args:
            names: Only these.
            search: Only names that contain this, in capitals or not.
            after: Only names after this one.
            most: Only the first ones.
        """

    @abstractmethod
    def first_asked(self, ids: Iterable[int] | None = None) -> dict[int, tuple[float, int | None]]:
        """Of active learners, by id, the deadline, and when the first stored decision was asked for."""

    @abstractmethod
    def next_asked(self, learner: int, since: int) -> int | None:
        """When the first stored decision since a time was asked for."""

    @abstractmethod
    def to_compact(self, now: int, kept: int, counted: int) -> list[int]:
        """The ids of learners that have something to forget, or counts to merge.

        Args:
            now: Milliseconds.
            kept: Milliseconds that decisions are kept after their deadline.
            counted: Milliseconds after which counts by minute are merged.
        """

    @abstractmethod
    def ended(self) -> list[str]:
        """The lineages of all epochs that are not active."""

    @abstractmethod
    def heads(self, learners: Iterable[int]) -> dict[int, tuple[Status, int]]:
        """Status and generation of learners, to check a cache against."""

    @abstractmethod
    def state(self, learner: int) -> tuple[int, bytes]:
        """The latest generation and its state."""

    @abstractmethod
    def states(self, learners: Iterable[int]) -> dict[int, tuple[int, bytes, int]]:
        """The same for several learners, and how many reports are in open sums."""

    @abstractmethod
    def progress(self, learners: Iterable[int]) -> dict[int, tuple[int, int]]:
        """Generations, and how many reports are in open sums: each update changes one of them at least."""

    @abstractmethod
    def decisions(self, ids: Iterable[bytes]) -> dict[bytes, DecisionRecord]:
        """The decisions that are stored, open or closed."""

    @abstractmethod
    def phases(self, learner: int, numbers: Iterable[int]) -> dict[int, PhaseRecord]:
        """Phases by number; those that are closed may be gone."""

    @abstractmethod
    def sums(self, learner: int, numbers: Iterable[int] | None = None) -> dict[int, tuple[int, bytes]]:
        """Of open phases with reports, all or some, how many these are, and their sums."""

    @abstractmethod
    def applied(self, learner: int) -> int:
        """How many reports are in the sums of open phases."""

    @abstractmethod
    def complete_phases(self) -> list[tuple[int, int, int]]:
        """Learner, number and time of the last round of all phases whose reports are all there.

        By learner, and then by time.
        """

    @abstractmethod
    def due_phases(self, now: int) -> list[int]:
        """The ids of active learners with open phases whose last deadline has passed."""

    @abstractmethod
    def history(self, learner: int) -> list[Moment]:
        """What a learner had released over time, in order."""

    @abstractmethod
    def recent(self, learner: int, most: int) -> list[tuple[int, bytes]]:
        """Times and subsets of the latest decisions, latest first."""

    @abstractmethod
    def attempts(self, learner: int, person: bytes) -> int:
        """How many decisions a person's feedback has closed."""

    @abstractmethod
    def queued(self) -> dict[int, int]:
        """How many reports are queued, by learner; learners with none are left out."""

    @abstractmethod
    def minutes(self, learner: int, since: int) -> list[Minute]:
        """Counts by minute, in order."""

    @abstractmethod
    def counts(self, learner: int) -> Counts:
        """Counts in total."""

    @abstractmethod
    def totals(self, learners: Iterable[int]) -> dict[int, Counts]:
        """The same for several learners; those without any are left out."""

    @abstractmethod
    def pending(self) -> int:
        """How many decisions of active learners are open."""

    @abstractmethod
    def size(self) -> int:
        """Bytes of the database."""

    @abstractmethod
    def populations(self, name: str | None = None) -> list[PopulationRecord]:
        """All populations, or the one with a name, by name."""

    @abstractmethod
    def losses(self, population: str) -> list[Loss]:
        """The privacy losses of the learners on a population, by name and epoch."""

    @abstractmethod
    def keys(self, digests: Iterable[bytes] | None = None) -> list[KeyRecord]:
        """All API keys that have not been revoked, or those with these digests, oldest first."""

    @abstractmethod
    def audit(self, *, before: int | None = None, most: int = 100) -> list[AuditRecord]:
        """What admins did, latest first, before the record with an id."""


class Writing(Reading):
    """One durable transaction."""

    @abstractmethod
    def note_once(self, key: str, value: str) -> str:
        """Store a fact unless there is one; return the stored value."""

    @abstractmethod
    def note(self, key: str, value: str) -> None:
        """Store a fact, in place of an earlier one."""

    @abstractmethod
    def add_population(self, population: PopulationRecord) -> None:
        """Add a population, or change its limit."""

    @abstractmethod
    def lock_population(self, name: str) -> PopulationRecord | None:
        """Read a population, and block others from adding learners to it until the transaction ends."""

    @abstractmethod
    def add_learner(self, learner: NewLearner) -> int:
        """Add a learner and return its id; raises `AlreadyExists`."""

    @abstractmethod
    def hold(self, learners: Iterable[int], *, to_end: bool = False) -> dict[int, tuple[Status, int]]:
        """Like `heads`; nobody else changes the status of these learners until the transaction ends.

        Many transactions may hold a learner at once; `to_end` is exclusive. Call it after any `start_update`
        with `wait`, never before, or two processes could deadlock.
        """

    @abstractmethod
    def set_status(self, learner: int, status: Status) -> None:
        """Change the status of a learner."""

    @abstractmethod
    def drop_queued(self, learner: int) -> int:
        """Delete the queued reports of a learner that will never apply them."""

    @abstractmethod
    def add_decisions(self, decisions: Sequence[DecisionRecord]) -> int:
        """Store decisions; return how many were new."""

    @abstractmethod
    def current_phase(self, learner: int) -> PhaseRecord | None:
        """The first phase with rounds to deal. Nobody else deals them until the transaction ends."""

    @abstractmethod
    def add_phase(self, learner: int, plan: bytes, total: int, dealt: int, at: int) -> int:
        """Store a phase and return its number, which no other ever had; raises `Conflict` if others do so."""

    @abstractmethod
    def deal(self, learner: int, number: int, dealt: int, at: int) -> None:
        """So many rounds of a phase are dealt."""

    @abstractmethod
    def put_sums(self, learner: int, number: int, applied: int, sums: bytes) -> None:
        """Replace the sums of a phase."""

    @abstractmethod
    def drop_phases(self, learner: int, numbers: Iterable[int] | None = None) -> None:
        """Delete phases and their sums, by default all: they are closed, or will never be released."""

    @abstractmethod
    def add_moment(self, learner: int, moment: Moment) -> None:
        """Add to the history; it has one entry a minute at most, the latest."""

    @abstractmethod
    def close_decisions(self, learner: int, ids: Iterable[bytes], how: How, at: int) -> dict[bytes, bytes]:
        """Close those of the decisions that are open and this learner's; return the draws of these."""

    @abstractmethod
    def expire(
        self, learner: int, since: int, before: int, at: int, most: int
    ) -> tuple[dict[bytes, bytes], int]:
        """Close at most `most` open decisions that were asked between two times.

        Returns:
            Their draws, and the time before which none is open any more. It may be less than `before`, even
            if nothing was closed: no call looks at more than ten times `most`.
        """

    @abstractmethod
    def count_attempts(self, learner: int, people: Mapping[bytes, int]) -> dict[bytes, int]:
        """Add to the attempts of people; return the new totals."""

    @abstractmethod
    def queue_feedback(self, learner: int, feedback: Mapping[bytes, bytes]) -> None:
        """Store payloads of closed decisions until they are applied."""

    @abstractmethod
    def start_update(self, learner: int, *, wait: bool = False, most: int = 10_000) -> StateUpdate | None:
        """Become the only one to update this learner until the transaction ends; None if somebody else is."""

    @abstractmethod
    def resume(self, learner: int, generation: int, state: bytes) -> StateUpdate:
        """An update from a state that the caller believes to be the latest; nothing is read.

        If it is not the latest, `StateUpdate.put` raises `Conflict`.
        """

    @abstractmethod
    def add_counts(self, learner: int, minute: int, counts: Counts) -> None:
        """Add to the counts of a minute, given by its start in milliseconds."""

    @abstractmethod
    def compact(self, learner: int, before: int, *, open_too: bool = False, most: int = 10_000) -> int:
        """Delete closed decisions asked before a time; return how many decisions."""

    @abstractmethod
    def forget_people(self, learner: int, *, most: int = 10_000) -> int:
        """Delete the attempts of people for a learner that has ended; return how many were deleted."""

    @abstractmethod
    def merge_minutes(self, learner: int, before: int, length: int, *, most: int = 2_000) -> int:
        """Merge counts from before a time into spans of a length, over all processes that wrote them.

        Returns:
            How many rows were merged. If it is `most`, there may be more.
        """

    @abstractmethod
    def merge_history(self, learner: int, before: int, length: int) -> None:
        """Keep the last entry of each span of a length before a time."""

    @abstractmethod
    def add_key(self, key: KeyRecord) -> None:
        """Add an API key."""

    @abstractmethod
    def revoke_key(self, digest: bytes) -> bool:
        """Revoke an API key, if there is one."""

    @abstractmethod
    def let_key_expire(self, digest: bytes, at: int) -> None:
        """Change when an API key expires."""

    @abstractmethod
    def note_use(self, digests: Iterable[bytes], at: int) -> None:
        """Note that API keys were used, unless a later use is known."""

    @abstractmethod
    def add_audit(self, record: AuditRecord) -> None:
        """Record what an admin did. Records are never changed or deleted."""


class StateUpdate(ABC):
    """The latest state of a learner and the reports queued for it.

    Attributes:
        learner: The learner's id.
        generation: Of the state.
        state: Encoded.
        queued: Reports with the draws they need.
    """

    learner: int
    generation: int
    state: bytes
    queued: list[QueuedReport]

    @abstractmethod
    def put(self, state: bytes) -> None:
        """Write the state of the next generation and delete the queued reports; raises `Conflict`."""

    @abstractmethod
    def drop_queued(self) -> None:
        """Delete the queued reports, which were applied to sums."""


class Store(ABC):
    """Learners, their decisions and their feedback.

    Attributes:
        one_process: Whether no other process can open the store, so that feedback may be applied by the
            transaction that brings it.
    """

    one_process: bool

    @abstractmethod
    def reading(self) -> AbstractContextManager[Reading]:
        """Read without waiting for writers."""

    @abstractmethod
    def writing(self) -> AbstractContextManager[Writing]:
        """A transaction: durable at the end, or rolled back."""

    @abstractmethod
    def close(self) -> None:
        """Close files and connections."""
