"""A rollback guard in a file, which processes on one machine share.

It has a line ``lineage releases`` for each learner. The line of a bandit is written at once, which survives
the process, and is on disk within about a second.

Every line has a fixed position and 64 bytes, so it lies in one sector, is never half written, and needs no
space that a full disk might lack. It ends with a checksum, and the first line has the number of lines, so
that a truncated or changed file is detected.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import pathlib
import re
import zlib
from collections.abc import Iterable, Iterator, Mapping

from discreet.atomic_files import sync_folder
from discreet.errors import StaleState
from discreet.service.rollback_guard import DamagedGuard, RollbackGuard

_LINE = 64
_HEAD = "discreet guard of"
_FORM = re.compile(rb"(([!-~]+) (\d{20})) ([0-9a-f]{8}) *\n")


class FileGuard(RollbackGuard):
    """A rollback guard in a file.

    Args:
        path: Of the file, which `begin` creates.
        store: The name of the store.
        shared: Whether processes on other machines, with their own guards, may create and continue learners.
        look_only: Whether to leave the file unchanged, until `settle`.
        repair: Whether to treat a damaged file as missing.

    Raises:
        DamagedGuard: The file is damaged.
        StaleState: The file belongs to another store.
    """

    every = 0.0  # a line costs little

    def __init__(
        self,
        path: pathlib.Path,
        store: str,
        *,
        shared: bool = False,
        look_only: bool = False,
        repair: bool = False,
    ) -> None:
        super().__init__(str(path), look_only=look_only)
        self.path = path
        self._name = f"{_HEAD} {store} ".encode("ascii")
        self._shared, self._handle = shared, -1
        #: Whether what was written need not be on disk yet, and whether the file must begin again.
        self._dirty = self._damage = False
        #: Line numbers of learners, and of the next one, when the file was last read.
        self._places: dict[str, int] = {}
        self._end = 1
        content = path.read_bytes() if path.exists() else b""
        self.fresh = len(content) < _LINE
        try:
            self._known = self._parsed(content) if content else {}
        except DamagedGuard:
            if not repair:
                raise
            self.fresh = self._damage = True

    def close(self) -> None:
        super().close()
        with self._lock:
            if self._handle >= 0:
                os.close(self._handle)
                self._handle = -1

    def _recorded(self, lineage: str) -> int | None:
        return self._numbers([lineage]).get(lineage) if self._handle >= 0 else None

    def _recorded_by_others(self, lineage: str) -> bool:
        return self._shared

    def _is_recorded(self, lineage: str, releases: int) -> bool:
        return False  # `_raise` looks

    def _raise(self, numbers: Mapping[str, int]) -> None:
        with self._locked():
            written, end = self._numbers(numbers), self._end
            for lineage, releases in numbers.items():
                if releases > written.get(lineage, -1):
                    place = self._places.setdefault(lineage, self._end)
                    self._put(_line(lineage, releases), place)
                    self._end = max(self._end, place + 1)
            if self._end > end:
                os.fdatasync(self._handle)  # on disk before it is counted
                self._put(self._head(self._end - 1), 0)
        self._dirty = True

    def _numbers(self, lineages: Iterable[str]) -> Mapping[str, int]:
        """Numbers in the file now; another process may have added or moved lines."""
        found = {}
        for lineage in lineages:
            entry = _entry(os.pread(self._handle, _LINE, self._places.get(lineage, 0) * _LINE))
            if entry is None or entry[0] != lineage:
                return self._read()
            found[lineage] = entry[1]
        return found

    def _read(self) -> dict[str, int]:
        return self._parsed(os.pread(self._handle, os.fstat(self._handle).st_size, 0))

    def _parsed(self, content: bytes) -> dict[str, int]:
        """The numbers in a file; remember the line numbers."""
        # A power failure may leave zeros, or a partial line, that nobody relied on.
        content = content.rstrip(b"\0")
        lines = [content[k : k + _LINE] for k in range(0, len(content) - _LINE + 1, _LINE)]
        if len(lines) < 1 + self._check_head(content[:_LINE]):
            raise self._damaged()
        known: dict[str, int] = {}
        self._places, self._end = {}, max(1, len(lines))
        for place, line in enumerate(lines[1:], 1):
            found = _entry(line)
            if found is None:
                raise self._damaged()
            lineage, releases = found
            self._places[lineage] = place
            known[lineage] = max(releases, known.get(lineage, 0))
        return known

    def _head(self, lines: int) -> bytes:
        return self._name + f"{lines:010d}".rjust(_LINE - 1 - len(self._name)).encode("ascii") + b"\n"

    def _check_head(self, head: bytes) -> int:
        """Check the first line; return how many lines there are at least."""
        if head.startswith(self._name) and len(head) == _LINE:
            count = head[len(self._name) :].strip()
            if not count.isdigit():
                raise self._damaged()
            return int(count)
        if head == self._name[: len(head)] or (len(head) < _LINE and head.startswith(self._name)):
            return 0  # truncated by a power failure: nothing was recorded after it
        if not head.startswith(_HEAD.encode()):
            raise self._damaged()
        raise StaleState(
            f"The rollback guard {self.path} belongs to another store. If that store is gone for good, "
            "remove the file; if this is an old backup, restore the latest state."
        )

    def _damaged(self) -> DamagedGuard:
        return DamagedGuard(
            f"The rollback guard {self.path} is damaged. Replace it by an undamaged one, or see `discreet "
            "store adopt --help`."
        )

    def _sync(self) -> None:
        if self._dirty:
            os.fdatasync(self._handle)
            self._dirty = False

    @contextlib.contextmanager
    def _locked(self) -> Iterator[None]:
        """Open, lock and check the file; one that is to be repaired begins again."""
        if self._handle < 0:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._handle = os.open(self.path, os.O_RDWR | os.O_CREAT, 0o600)
            sync_folder(self.path.parent)
        fcntl.flock(self._handle, fcntl.LOCK_EX)
        try:
            if self._damage:
                os.ftruncate(self._handle, 0)
                self._damage = False
            head = os.pread(self._handle, _LINE, 0)
            self._check_head(head)
            if len(head) < _LINE:
                self._put(self._head(0), 0)
            yield
        finally:
            fcntl.flock(self._handle, fcntl.LOCK_UN)

    def _put(self, line: bytes, place: int) -> None:
        if os.pwrite(self._handle, line, place * _LINE) != len(line):  # the disk is full
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def _line(lineage: str, releases: int) -> bytes:
    entry = f"{lineage} {releases:020d}".encode("ascii")
    return entry + f" {zlib.crc32(entry):08x}".encode("ascii").ljust(_LINE - 1 - len(entry)) + b"\n"


def _entry(line: bytes) -> tuple[str, int] | None:
    """The lineage and the releases in a line; None for a damaged one."""
    found = _FORM.fullmatch(line)
    if found is None or int(found[4], 16) != zlib.crc32(found[1]):
        return None
    return found[2].decode(), int(found[3])
