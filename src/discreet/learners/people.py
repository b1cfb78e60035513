"""How many rounds of each person were learned from: only so many count, whatever was fed back in them."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from discreet.errors import InvalidArgument, InvalidType

_SIZE = 16


class People:
    """Counts rounds by keyed hashes of the ids of persons: the first `most` of each count.

    Examples:
        >>> people = People(most=2)
        >>> [people.admitted("Owner", "ann", rounds=1) for _ in range(3)], people.admitted("Owner", "ben", 5)
        ([1, 1, 0], 2)
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._key = b""  # made with the first person
        self._rounds: dict[bytes, int] = {}

    def __len__(self) -> int:
        return len(self._rounds)

    def admitted(self, owner: str, person: str | int, rounds: int) -> int:
        """How many of so many further rounds of a person count; they are counted."""
        if isinstance(person, bool) or not isinstance(person, str | int | np.integer):
            raise InvalidType(f"The 'person' given to {owner} must be a string or an integer, an opaque id.")
        self._key = self._key or secrets.token_bytes(_SIZE)
        name = str(person).encode("utf-8", "surrogatepass")
        digest = hashlib.blake2b(name, key=self._key, digest_size=_SIZE).digest()
        before = self._rounds.get(digest, 0)
        after = min(self._most, before + rounds)
        self._rounds[digest] = after
        return after - before

    def packed(self) -> dict[str, npt.NDArray[Any]]:
        """All that `restore` needs."""
        who = np.frombuffer(b"".join(self._rounds), dtype=np.int64).reshape(-1, 2)
        rounds = np.array(list(self._rounds.values()), dtype=np.int64)
        key = np.frombuffer(self._key, dtype=np.int64)
        return {"people.key": key, "people.rounds": np.column_stack([who, rounds])}

    def restore(self, saved: Mapping[str, npt.NDArray[Any]]) -> None:
        """Go on from what `packed` made."""
        key, table = saved["people.key"], saved["people.rounds"]
        whole = key.dtype == table.dtype == np.int64 and table.ndim == 2 and table.shape[1] == 3
        counts = table[:, 2].tolist() if whole else [-1]
        if key.shape != ((2,) if counts else (0,)) or not all(0 <= c <= self._most for c in counts):
            raise InvalidArgument("The saved state is damaged: its counts of people make no sense.")
        self._key = key.tobytes()
        self._rounds = {who.tobytes(): count for who, count in zip(table[:, :2], counts, strict=True)}
