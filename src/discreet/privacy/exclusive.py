"""A secret state of which only one copy may go on.

Two copies that go on from the same noise with different data expose the exact difference of those data. Two
that draw fresh noise for the same data spend the budget twice.
"""

import contextlib
import secrets
import threading
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from typing import Any, NoReturn, Self

import numpy.typing as npt

from discreet.checks import integer
from discreet.errors import DiscreetError, InvalidArgument, InvalidType, NotCopyable, StaleState
from discreet.randomness import BitSource, process_mark
from discreet.state import decode, encode, with_arrays


class Exclusive(ABC):
    """Holds exact private sums with the noise that hides them; neither copied nor pickled nor forked.

    All saved generations have the same random `lineage`. The `generation` grows by one with every release and
    every restoration. A store records it *before* a release is shown, by compare-and-set from g - 1 to g, so
    a restored state and an original that still runs cannot both go on.
    """

    def __init__(self, source: BitSource) -> None:
        self._source = source
        self._not_private_because = source.not_private_because
        self.lineage = secrets.token_hex(16)
        self.generation = 0
        self._holding = _Holding(self)
        self._mark = process_mark()
        self._interrupted = False
        self._handed_over = False

    def to_bytes(self) -> bytes:
        """The whole state, with exact sums and unreleased noise: as secret as the data. Seal it."""
        with self._alone():
            return self._whole()

    def _whole(self) -> bytes:
        """The same, for a caller that holds the state."""
        document = {
            "kind": type(self).__name__,
            "lineage": self.lineage,
            "generation": self.generation,
            "not_private_because": self._not_private_because,
            "settings": self._settings(),
        }
        arrays = self._arrays()
        try:
            return encode(document, arrays)
        except (TypeError, ValueError):
            name = type(self).__name__
            raise InvalidType(f"This {name} cannot be saved: JSON cannot hold its arguments.") from None

    @classmethod
    def from_bytes(cls, data: bytes, *, generation: int, source: BitSource | None = None) -> Self:
        """Go on from what `to_bytes` returned, if it is the latest state; one generation on.

        Args:
            data: What was saved.
            generation: What the caller's store knows to be the latest of this lineage; any other raises
                `StaleState`. Record the new number before using the state: it is not restored twice then.
            source: Bits for the noise to come; new cryptographic ones by default.
        """
        document, arrays = decode(data)
        if document.get("kind") != cls.__name__:
            raise InvalidArgument(f"This is the state of a {document.get('kind')}, not of a {cls.__name__}.")
        latest = integer(cls.__name__, "generation", generation, least=0)
        if document.get("generation") != latest:
            raise StaleState(
                f"This saved state is of generation {document.get('generation')}, the latest is {latest}. "
                "Going on from it would use noise again. Restore the latest, or start a new one."
            )
        try:
            state = cls._from_settings(document["settings"], source or BitSource())
            state.lineage = document["lineage"]
            state.generation = document["generation"] + 1
            if document["not_private_because"]:
                state._not_private_because = document["not_private_because"]
            state._load(arrays)
        except DiscreetError:
            raise
        except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError):
            # Without the cause, which may quote a secret.
            raise InvalidArgument(f"The saved state does not fit a {cls.__name__}.") from None
        return state

    @abstractmethod
    def _settings(self) -> dict[str, Any]:
        """The public arguments it was made with, as plain JSON values."""

    @abstractmethod
    def _arrays(self) -> dict[str, npt.NDArray[Any]]:
        """Everything that changes, including the secrets."""

    @classmethod
    @abstractmethod
    def _from_settings(cls, settings: dict[str, Any], source: BitSource) -> Self:
        """A new object made with those arguments."""

    def _load(self, saved: Mapping[str, npt.NDArray[Any]]) -> None:
        """Put saved arrays in place of the present ones, which have the same shapes."""
        present = self._arrays()
        for name, array in with_arrays(present, saved).items():
            present[name][...] = array

    def _alone(self) -> "_Holding":
        """Hold the state in a `with` block."""
        return self._holding

    @contextlib.contextmanager
    def _changing(self) -> Iterator[None]:
        """A change that must be whole: the next generation if it ends, no further use if it does not."""
        self._interrupted = True
        yield
        self.generation += 1
        self._interrupted = False

    def __reduce__(self) -> NoReturn:
        name = type(self).__name__
        raise NotCopyable(f"A {name} cannot be copied or pickled: two would share noise. Save and load it.")


class _Holding:
    """Lets one thread of one process use a state, unless it is a copy or was left half-way."""

    def __init__(self, state: Exclusive) -> None:
        self._state = state
        self._lock = threading.Lock()

    def __enter__(self) -> None:
        state, name = self._state, type(self._state).__name__
        if state._mark != process_mark():
            raise StaleState(f"This {name} belongs to the process that forked this one. Save and load it.")
        self._lock.acquire()
        if state._handed_over or state._interrupted:
            self._lock.release()
            raise StaleState(
                f"This {name} was saved and so handed over. Load what was saved to go on."
                if state._handed_over
                else f"This {name} was interrupted in the middle of a round and cannot go on."
            )

    def __exit__(self, *_: object) -> None:
        self._lock.release()
