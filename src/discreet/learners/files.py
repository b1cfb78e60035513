"""Learners in files: written whole or not at all, and never two of one secret.

A learner that keeps more than it has released (exact sums, noise that is in use) must go on only once: two
copies would share noise, or release the same data twice. So saving such a learner hands it over to the
file, and loading takes it out of the file again, which is renamed. Copies of the file made by other means
cannot be seen from here: do not go on from a backup.

Learners whose state is covered by their guarantee, local ones and those that are not private at all, are
saved and loaded at will. But a cost that is told to two copies, or again after an older file was loaded, is
released twice and spends epsilon twice. Clients that may have to tell again should send a bit they made
once (`randomizers.OneBit`).
"""

import contextlib
import os
import pathlib
import tempfile
from collections.abc import Callable, Iterator

from discreet.errors import StaleState

#: Added to the name of a file whose learner has been taken out of it.
TAKEN = ".taken"


@contextlib.contextmanager
def written_beside(path: str | os.PathLike[str], data: bytes) -> Iterator[Callable[[], None]]:
    """Write a file, readable by its owner only, beside the one it is to replace; gives what replaces it.

    After a crash there is the old file or the new one. If it was not put in place it is removed.
    """
    target = real_path(path)
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")  # mode 0600
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        yield lambda: os.replace(name, target)
    except BaseException:
        pathlib.Path(name).unlink(missing_ok=True)
        raise
    _sync_folder(target.parent)


def write_atomically(path: str | os.PathLike[str], data: bytes) -> None:
    """Write a file whole or not at all."""
    with written_beside(path, data) as put_in_place:
        put_in_place()


def read_unless_taken(path: str | os.PathLike[str]) -> bytes:
    """The contents of a file, or a reason if its learner has been taken out of it."""
    source = real_path(path)
    if not source.exists() and _taken(source).exists():
        raise StaleState(
            f"The learner in {source} has been loaded already. Two that go on would share noise. If it is "
            "lost, start a new one, with start= at its last point."
        )
    return source.read_bytes()


def take(path: str | os.PathLike[str]) -> bytes:
    """Rename a file whose learner goes on elsewhere; of two processes that try, one succeeds.

    Returns:
        What is in the renamed file: whoever goes on goes on from that, since another process may have loaded
        what was read before, gone on, and saved again.
    """
    source = real_path(path)
    try:
        if source.stat().st_nlink > 1:
            raise StaleState(
                f"The file {source} has several names (hard links), so its learner could be loaded twice. "
                "Remove all but one."
            )
        os.replace(source, _taken(source))
    except FileNotFoundError:
        raise StaleState(f"The learner in {source} was loaded by another process just now.") from None
    _sync_folder(source.parent)
    return _taken(source).read_bytes()


def real_path(path: str | os.PathLike[str]) -> pathlib.Path:
    """The file itself, where `path` is a symbolic link: the one name by which it is written and taken."""
    return pathlib.Path(os.path.realpath(path))


def _taken(source: pathlib.Path) -> pathlib.Path:
    return source.with_name(source.name + TAKEN)


def _sync_folder(folder: pathlib.Path) -> None:
    """Make a rename durable, where the system can."""
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
