"""A secret state of which only one copy may go on.

Two copies that go on from the same noise with different data expose the exact
difference of those data, and two that draw fresh noise for the same data spend the
budget twice. So such a state is neither copied nor pickled, is refused in a forked
child, and is saved with a lineage and a generation by which a store tells the latest
copy from a stale one.
"""

import base64
import contextlib
import hashlib
import json
import secrets
import threading
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from typing import Any, NoReturn, Self

import numpy as np
import numpy.typing as npt

from discreet.checks import integer
from discreet.errors import DiscreetError, InvalidArgument, InvalidType, NotCopyable, StaleState
from discreet.randomness import BitSource, process_mark

_FORMAT = "discreet secret state"
_VERSION = 1
_FIELDS = {"kind", "lineage", "generation", "not_private_because", "settings", "arrays"}


class Exclusive(ABC):
    """Base of everything that holds exact private sums together with the noise that hides them.

    Attributes:
        lineage: A random name, the same for all saved generations of one state.
        generation: Grows by one with every release and every restoration. A store
            records it, durably, *before* a release is shown, by compare-and-set: from
            g - 1 to g, and if it finds another number the release is not shown. Two
            branches of one state (a restored one and an original that still runs) then
            cannot both go on. :meth:`from_bytes` is given the recorded number, and the
            number after restoring is recorded in the same way.
    """

    def __init__(self, source: BitSource) -> None:
        self._source = source
        self._not_private_because = source.not_private_because
        self.lineage = secrets.token_hex(16)
        self.generation = 0
        self._lock = threading.Lock()
        self._mark = process_mark()
        self._interrupted = False
        self._handed_over = False

    def to_bytes(self) -> bytes:
        """The whole state, exactly, as versioned JSON.

        It holds exact sums and unreleased noise: as secret as the data. Seal it, and
        never export it with results.
        """
        with self._alone():
            return self._whole()

    def _whole(self) -> bytes:
        """The same, for a caller that holds the state."""
        document = {
            "format": _FORMAT,
            "version": _VERSION,
            "kind": type(self).__name__,
            "lineage": self.lineage,
            "generation": self.generation,
            "not_private_because": self._not_private_because,
            "settings": self._settings(),
            "arrays": {name: _packed(array) for name, array in self._arrays().items()},
        }
        try:
            return sealed(document)
        except (TypeError, ValueError):
            raise InvalidType(
                f"This {type(self).__name__} cannot be saved: it was made with an argument that JSON cannot "
                "hold."
            ) from None

    @classmethod
    def from_bytes(cls, data: bytes, *, generation: int, source: BitSource | None = None) -> Self:
        """Go on from a saved state, if it is the latest one.

        Args:
            data: What :meth:`to_bytes` returned.
            generation: The generation that the caller's store knows to be the latest of
                this lineage. Any other is refused.
            source: Words for the noise to come; new cryptographic ones by default.

        Returns:
            The state, one generation on: record that number before using it, and the
            same data cannot be restored twice.

        Raises:
            StaleState: The saved state is not of the stated generation.
        """
        document = opened(data)
        if document.get("kind") != cls.__name__:
            raise InvalidArgument(f"This is the state of a {document.get('kind')}, not of a {cls.__name__}.")
        latest = integer(cls.__name__, "generation", generation, least=0)
        if document.get("generation") != latest:
            raise StaleState(
                f"This saved state is of generation {document.get('generation')}, the latest is {latest}. "
                "Going on from it would use noise again that was released with other data. Restore the "
                "latest state, or start a new one and add to it what was last released."
            )
        try:
            state = cls._from_settings(document["settings"], source or BitSource())
            state.lineage = document["lineage"]
            state.generation = document["generation"] + 1
            if document["not_private_because"]:
                state._not_private_because = document["not_private_because"]
            state._load({name: _unpacked(packed) for name, packed in document["arrays"].items()})
        except DiscreetError:
            raise
        except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError):
            # Without the cause, which may quote a secret.
            raise InvalidArgument(
                f"The saved state does not fit a {cls.__name__}: its parts make no sense together."
            ) from None
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
        overwrite(type(self).__name__, self._arrays(), saved)

    @contextlib.contextmanager
    def _alone(self) -> Iterator[None]:
        """Hold the state; refuse it where it is a copy or was left half-way."""
        if self._mark != process_mark():
            raise StaleState(
                f"This {type(self).__name__} belongs to the process that forked this one. Both going on "
                "would reuse its noise. Save it there and load it here."
            )
        with self._lock:
            if self._handed_over:
                raise StaleState(
                    f"This {type(self).__name__} was saved and so handed over. Load what was saved to go on: "
                    "two that do would share noise."
                )
            if self._interrupted:
                raise StaleState(
                    f"This {type(self).__name__} was interrupted in the middle of a round and cannot go on."
                )
            yield

    @contextlib.contextmanager
    def _changing(self) -> Iterator[None]:
        """A change that must be whole: the next generation if it ends, no further use if it does not."""
        self._interrupted = True
        yield
        self.generation += 1
        self._interrupted = False

    def __reduce__(self) -> NoReturn:
        raise NotCopyable(
            f"A {type(self).__name__} cannot be copied or pickled: two copies would share noise. "
            "Save and load it instead."
        )


def overwrite(
    owner: str, arrays: Mapping[str, npt.NDArray[Any]], saved: Mapping[str, npt.NDArray[Any]]
) -> None:
    """Put saved arrays in place of the present ones, which must have the same shapes and types."""
    for name, array in arrays.items():
        if name not in saved or saved[name].shape != array.shape or saved[name].dtype != array.dtype:
            raise InvalidArgument(f"The saved state does not fit a {owner}: '{name}' differs.")
        array[...] = saved[name]


def _packed(array: npt.NDArray[Any]) -> dict[str, Any]:
    data = base64.b64encode(np.ascontiguousarray(array).astype(array.dtype.newbyteorder("<")).tobytes())
    return {"dtype": array.dtype.str.lstrip("<>=|"), "shape": list(array.shape), "data": data.decode()}


def _unpacked(packed: dict[str, Any]) -> npt.NDArray[Any]:
    if packed["dtype"] not in ("i8", "f8", "b1"):
        raise InvalidArgument(f"The saved state holds an array of the unknown type {packed['dtype']!r}.")
    raw = np.frombuffer(base64.b64decode(packed["data"], validate=True), dtype="<" + packed["dtype"])
    return raw.reshape(packed["shape"]).astype(packed["dtype"])


def sealed(document: dict[str, Any]) -> bytes:
    """A document with a digest of itself, by which :func:`opened` notices damage; it is no signature."""
    return json.dumps(document | {"sha256": _digest(document)}, sort_keys=True).encode()


def opened(data: bytes) -> dict[str, Any]:
    """The document in `data`, if it is whole and of a known version."""
    try:
        document = json.loads(data)
        known = document["format"] == _FORMAT
    except (ValueError, KeyError, TypeError, RecursionError):
        known = False
    if not known:
        raise InvalidArgument("These bytes are not a saved state of discreet, or were cut short.") from None
    if document.get("version") != _VERSION:
        raise InvalidArgument(
            f"This state was saved in version {document.get('version')} of the format. Known: {_VERSION}. "
            "A newer release of discreet may read it."
        )
    if document.pop("sha256", None) != _digest(document):
        raise InvalidArgument("The saved state is damaged: its contents do not match their digest.")
    if not document.keys() >= _FIELDS:
        raise InvalidArgument(f"The saved state lacks {sorted(_FIELDS - document.keys())}.")
    return document  # type: ignore[no-any-return] # JSON objects are dictionaries


def _digest(document: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(document, sort_keys=True).encode()).hexdigest()
