"""The contract of a store: what every backend keeps, and how safely. One suite tests it for all of them.

* **Durable.** When `writing()` or `folding()` ends without an error, all that was written in it survives
  a crash of the process and of the machine. When it ends with one, nothing was written.
* **Exactly once.** `close_decisions` and `expire` give a decision to one caller only, whoever else tries,
  in this process or another.
* **One line of states.** `Fold.put` replaces the state of the generation that was read, or raises `Conflict`.
  Of several processes at most one folds a learner at a time.
* **Encoded.** A store sees bytes and public numbers. It never makes sense of a state, a draw or a payload.
* Ids of decisions and hashes of people have 16 bytes.
* Times are whole milliseconds, given by the caller.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager

from discreet.storage.records import (
    Counts,
    DecisionRecord,
    How,
    KeyRecord,
    LearnerRecord,
    Minute,
    NewLearner,
    PopulationRecord,
    Status,
    Waiting,
)


class Reading(ABC):
    """What can be looked at. Each call sees one consistent state, with all that was committed before it."""

    @abstractmethod
    def meta(self, key: str) -> str | None:
        """A noted fact about the whole store."""

    @abstractmethod
    def learners(self) -> list[LearnerRecord]:
        """All of them, by name and epoch."""

    @abstractmethod
    def heads(self, learners: Iterable[int]) -> dict[int, tuple[Status, int]]:
        """Status and generation of learners: what a cache must be compared with."""

    @abstractmethod
    def state(self, learner: int) -> tuple[int, bytes]:
        """The latest generation and its state."""

    @abstractmethod
    def decisions(self, ids: Iterable[bytes]) -> dict[bytes, DecisionRecord]:
        """Those of the decisions that are kept, open or closed."""

    @abstractmethod
    def recent(self, learner: int, most: int) -> list[tuple[int, bytes]]:
        """When decisions were asked for, and their subsets, latest first."""

    @abstractmethod
    def request(self, learner: int, name: str) -> list[bytes] | None:
        """The decisions that a request was answered with."""

    @abstractmethod
    def attempts(self, learner: int, person: bytes) -> int:
        """How many decisions a person's feedback has closed."""

    @abstractmethod
    def waiting(self) -> dict[int, int]:
        """How much feedback waits to be folded in, by learner; those with none are left out."""

    @abstractmethod
    def minutes(self, learner: int, since: int) -> list[Minute]:
        """What happened, minute by minute, in order."""

    @abstractmethod
    def counts(self, learner: int) -> Counts:
        """What happened in all."""

    @abstractmethod
    def populations(self) -> list[PopulationRecord]:
        """All of them, by name."""

    @abstractmethod
    def keys(self) -> list[KeyRecord]:
        """All bearer keys that have not been revoked."""


class Writing(Reading):
    """One durable transaction."""

    @abstractmethod
    def note_once(self, key: str, value: str) -> str:
        """Note a fact unless it is noted already; gives what is noted."""

    @abstractmethod
    def add_population(self, population: PopulationRecord) -> None:
        """Add a population, or change its limit."""

    @abstractmethod
    def lock_population(self, name: str) -> PopulationRecord | None:
        """Look at a population, and keep others from adding learners to it until the end."""

    @abstractmethod
    def add_learner(self, learner: NewLearner) -> int:
        """Add a learner and give its number; raises `AlreadyExists`."""

    @abstractmethod
    def hold(self, learners: Iterable[int], *, to_end: bool = False) -> dict[int, tuple[Status, int]]:
        """Like `heads`, and until the transaction ends nobody else changes the status of these learners.

        Many may hold a learner at once; who holds it `to_end` it waits for the others, and they for it. Held
        after any `fold` with `wait`, never before, or two processes could wait for each other.
        """

    @abstractmethod
    def set_status(self, learner: int, status: Status) -> None:
        """Change what may happen to a learner."""

    @abstractmethod
    def drop_waiting(self, learner: int) -> int:
        """Forget feedback that was not folded in, of a learner that will never fold it."""

    @abstractmethod
    def add_decisions(self, decisions: Sequence[DecisionRecord]) -> int:
        """Keep decisions that were made; how many were not kept before."""

    @abstractmethod
    def add_request(self, learner: int, name: str, ids: Sequence[bytes], at: int) -> list[bytes] | None:
        """Note what a request is answered with; if it was answered before, give that and note nothing."""

    @abstractmethod
    def close_decisions(self, learner: int, ids: Iterable[bytes], how: How, at: int) -> dict[bytes, bytes]:
        """Close those of the decisions that are open and this learner's; gives the draws of just these."""

    @abstractmethod
    def expire(self, learner: int, since: int, before: int, at: int, most: int) -> dict[bytes, bytes]:
        """Close open decisions asked for between two times, at most so many, and give their draws."""

    @abstractmethod
    def count_attempts(self, learner: int, people: Mapping[bytes, int]) -> dict[bytes, int]:
        """Add to the attempts of people, and give the new totals."""

    @abstractmethod
    def add_waiting(self, learner: int, feedback: Mapping[bytes, bytes]) -> None:
        """Keep payloads of closed decisions until they are folded in."""

    @abstractmethod
    def fold(self, learner: int, *, wait: bool = False, most: int = 10_000) -> Fold | None:
        """Become the only one who folds this learner, until the end; None if somebody else is."""

    @abstractmethod
    def resume(self, learner: int, generation: int, state: bytes) -> Fold:
        """A fold from a state that the caller takes for the latest, without what waits; nothing is read.

        If it is not the latest, `Fold.put` raises `Conflict`.
        """

    @abstractmethod
    def add_counts(self, learner: int, minute: int, counts: Counts) -> None:
        """Add to what happened in a minute (a time in milliseconds, of its start)."""

    @abstractmethod
    def compact(self, learner: int, before: int, *, open_too: bool = False, most: int = 10_000) -> int:
        """Forget closed decisions and requests asked for before a time, at most so many; how many went."""

    @abstractmethod
    def forget_people(self, learner: int, *, most: int = 10_000) -> int:
        """Forget how often people took part in a learner that has ended, at most so many; how many went."""

    @abstractmethod
    def merge_minutes(self, before: int, length: int) -> None:
        """Merge what happened before a time to spans of a length, and over the processes that wrote it."""

    @abstractmethod
    def add_key(self, key: KeyRecord) -> None:
        """Add a bearer key."""

    @abstractmethod
    def revoke_key(self, digest: bytes) -> bool:
        """Revoke a bearer key, if there is one."""


class Fold(ABC):
    """The latest state of a learner and what waits to be folded into it.

    Attributes:
        learner: The learner's number.
        generation: Of the state.
        state: Encoded.
        waiting: Feedback with the draws it needs.
    """

    learner: int
    generation: int
    state: bytes
    waiting: list[Waiting]

    @abstractmethod
    def put(self, state: bytes) -> None:
        """Write the state of the next generation, and remove what waited; raises `Conflict`."""


class Store(ABC):
    """A place that keeps learners, their decisions and their feedback.

    Attributes:
        one_process: Whether no other process can have the store open, so that feedback may be folded in by
            the transaction that brings it.
    """

    one_process: bool

    @abstractmethod
    def reading(self) -> AbstractContextManager[Reading]:
        """Look at the store without waiting for writers."""

    @abstractmethod
    def writing(self) -> AbstractContextManager[Writing]:
        """Write; durable at the end, or undone."""

    @abstractmethod
    def folding(
        self, learner: int, *, wait: bool = False, most: int = 10_000
    ) -> AbstractContextManager[Fold | None]:
        """A transaction that folds one learner; None if somebody else does."""

    @abstractmethod
    def close(self) -> None:
        """Let go of files and connections."""
