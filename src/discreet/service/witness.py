"""A witness outside the database: how far each learner has released.

A database that was restored from an old backup would release the same data again: with other noise, or by a
second bit. It cannot know that it is old; the witness does. It is a file with a line for each learner, of
``lineage releases``, which is changed *before* a release becomes visible. It must not be restored together
with the database.

Where a learner keeps secrets, the line is on disk before anything is shown. A bandit's is written at once,
which survives the process, and is on disk within about a second: waiting for it would halve the throughput,
and only a backup of the last second before a power failure could pass for the latest state.

Every line has its place and 64 bytes, so it lies in one sector, is never half written, and needs no room that
a full disk might lack. Processes on one machine share the file.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import pathlib
import threading
from collections.abc import Iterator, Mapping

from discreet.atomic_files import sync_folder, write_atomically
from discreet.errors import StaleState, StoreError

_LINE = 64
_HEAD = "discreet witness of"


class Witness:
    """The file; made by the first :meth:`record`.

    Args:
        path: Of the file.
        store: The name of the store whose learners it knows.
        shared: Whether others, with witnesses of their own, may go on with learners that this one never heard
            of: processes on other machines.
        look_only: Whether to leave the file alone.

    Attributes:
        path: As above.
        fresh: Whether there was no file.

    Raises:
        StaleState: The file is about another store.
    """

    def __init__(
        self, path: pathlib.Path, store: str, *, shared: bool = False, look_only: bool = False
    ) -> None:
        self.path = path
        self._head = _line(_HEAD, store)
        self._shared, self._look_only = shared, look_only
        self._lock = threading.Lock()
        self._handle = -1
        self._dirty = False
        self._known: dict[str, int] = {}
        self._places: dict[str, int] = {}
        lines = _whole_lines(path.read_bytes()) if path.exists() else []
        self.fresh = not lines
        if lines and lines[0] != self._head:
            raise StaleState(
                f"The witness {path} knows the learners of another store. If that store is gone for good, "
                "remove the file; if this is an old backup, restore the latest state."
            )
        self._note_places(lines)

    @property
    def lineages(self) -> frozenset[str]:
        """All learners it knew when it was opened, and those recorded since."""
        return frozenset(self._known)

    def knows_more(self, lineage: str, releases: int) -> bool:
        """Whether more was released than that, so that a state with so many releases is an old one."""
        known = self._known.get(lineage)
        if known is None:  # every learner is noted when it is made, by whoever made it
            return releases > 0 and not self._shared
        return releases < known

    def record(self, lineage: str, releases: int, *, durable: bool) -> None:
        """Note that so many releases are about to be shown.

        Args:
            lineage: The learner.
            releases: How many.
            durable: Whether to wait for the disk; new learners always do.
        """
        with self._lock:
            known = self._known.get(lineage)
            if self._look_only or (known is not None and releases <= known):
                return
            try:
                new = self._write(lineage, releases)
                self._dirty = True
                if durable or new:
                    self._sync()
            except OSError as error:
                raise StoreError(
                    f"The witness {self.path} cannot be written; nothing is shown until it can be."
                ) from error
            self._known[lineage] = releases

    def sync(self) -> None:
        """Have on disk what was written."""
        with self._lock:
            self._sync()

    def replace(self, releases: Mapping[str, int]) -> None:
        """Know nothing but this, all of it on disk; for a store that no process serves."""
        with self._lock:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            lines = [_line(lineage, f"{count:020d}") for lineage, count in releases.items()]
            write_atomically(self.path, b"".join([self._head, *lines]))

    def close(self) -> None:
        """Let go of the file, with all of it on disk."""
        with self._lock:
            self._sync()
            if self._handle >= 0:
                os.close(self._handle)
                self._handle = -1

    def _write(self, lineage: str, releases: int) -> bool:
        """Change a line, unless there is more in it, or add it; whether it is new."""
        with self._alone() as handle:
            if lineage not in self._places:  # unless another process has made the line meanwhile
                self._note_places(_whole_lines(os.pread(handle, os.fstat(handle).st_size, 0)))
            place = self._places.get(lineage, len(self._places) + 1)
            new = lineage not in self._places
            if new or releases > _number(os.pread(handle, _LINE, place * _LINE)):
                line = _line(lineage, f"{releases:020d}")
                if os.pwrite(handle, line, place * _LINE) != len(line):  # a full disk: as good as nothing
                    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            self._places[lineage] = place
            return new

    def _sync(self) -> None:
        if self._dirty:
            os.fdatasync(self._handle)
            self._dirty = False

    @contextlib.contextmanager
    def _alone(self) -> Iterator[int]:
        """The open file, with other processes kept out."""
        if self._handle < 0:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._handle = os.open(self.path, os.O_RDWR | os.O_CREAT, 0o600)
            sync_folder(self.path.parent)
        fcntl.flock(self._handle, fcntl.LOCK_EX)
        try:
            if os.fstat(self._handle).st_size < _LINE:
                os.pwrite(self._handle, self._head, 0)
            yield self._handle
        finally:
            fcntl.flock(self._handle, fcntl.LOCK_UN)

    def _note_places(self, lines: list[bytes]) -> None:
        """Remember where lines are, and at first what is in them: later ones are other processes' affair."""
        for place, line in enumerate(lines[1:], 1):
            lineage = line[: line.index(b" ")].decode("ascii", "replace")
            if lineage not in self._places:
                self._places[lineage] = place
                if self._handle < 0:
                    self._known[lineage] = _number(line)


def _line(*words: str) -> bytes:
    return " ".join(words).ljust(_LINE - 1).encode("ascii") + b"\n"


def _number(line: bytes) -> int:
    return int(line.split()[1])


def _whole_lines(content: bytes) -> list[bytes]:
    """Lines; one that a power failure cut short, or left empty, was not acted upon."""
    content = content.rstrip(b"\0")
    whole = [content[k : k + _LINE] for k in range(0, len(content) - _LINE + 1, _LINE)]
    damaged = [line for line in whole if not line.endswith(b"\n") or b" " not in line]
    if damaged:
        raise StaleState("The witness is damaged: it cannot say how far learners had released.")
    return whole
