"""A witness outside the database: how far each learner that keeps secrets has released.

A database that was restored from an old backup would release the same data again with other noise, or use
noise again for other data. It cannot know that it is old; the witness does. It is a file of lines ``lineage
releases``, to which a line is added, and synced to disk, *before* a release becomes visible. It lies beside
the key and must not be restored together with the database.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import pathlib
import threading

from discreet.atomic_files import write_atomically


class Witness:
    """The file, open for adding to it; processes on one machine may share it.

    Args:
        path: The file; made if there is none.
    """

    def __init__(self, path: pathlib.Path) -> None:
        self.path = path
        self._lock = threading.Lock()
        path.parent.mkdir(parents=True, exist_ok=True)
        self._handle = _opened(path)
        self._known = _read(path)

    def releases(self, lineage: str) -> int:
        """The most releases that were ever about to be shown."""
        return self._known.get(lineage, 0)

    def record(self, lineage: str, releases: int) -> None:
        """Note durably that so many releases are about to be shown."""
        with self._lock:
            if releases > self._known.get(lineage, 0):
                # On a line of its own, also after one that a dying process left unfinished.
                line = f"\n{lineage} {releases}\n".encode()
                if os.write(self._handle, line) != len(line):  # a full disk: as good as nothing
                    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(self.path))
                os.fdatasync(self._handle)
                self._known[lineage] = releases

    def close(self) -> None:
        """Let go of the file."""
        if self._handle >= 0:
            os.close(self._handle)
            self._handle = -1


def _read(path: pathlib.Path) -> dict[str, int]:
    known: dict[str, int] = {}
    for line in path.read_text(errors="replace").splitlines():
        # A line that was cut short by a power failure was not acted upon; a number cut short is too small.
        with contextlib.suppress(ValueError):
            lineage, releases = line.split(" ")
            known[lineage] = max(known.get(lineage, 0), int(releases))
    return known


def _opened(path: pathlib.Path) -> int:
    """A handle for adding lines, with a shared lock; a process that is alone first makes the file short."""
    while True:
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            lines = (f"{lineage} {releases}\n" for lineage, releases in sorted(_read(path).items()))
            if os.fstat(handle).st_ino == os.stat(path).st_ino:
                write_atomically(path, "".join(lines).encode())
            os.close(handle)
            handle = os.open(path, os.O_RDWR | os.O_APPEND)
        except BlockingIOError:
            pass
        fcntl.flock(handle, fcntl.LOCK_SH)
        if os.fstat(handle).st_ino == os.stat(path).st_ino:
            return handle
        os.close(handle)
