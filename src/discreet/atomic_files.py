"""Files that are written whole or not at all: after a crash there is the old one or the new one."""

import contextlib
import os
import pathlib
import secrets
import shutil
from collections.abc import Callable, Iterator


@contextlib.contextmanager
def written_beside(
    path: str | os.PathLike[str], data: bytes, *, secret: bool = False
) -> Iterator[Callable[[], None]]:
    """Write a file beside the one it is to replace; gives what replaces it. Unless called it is removed.

    Args:
        path: The file; a symbolic link stands for what it points to.
        data: What to write.
        secret: Whether only the owner may read it. Others get the permissions of any new file, or those of
            the file they replace.
    """
    target = real_path(path)
    beside = name_beside(target)
    handle = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600 if secret else 0o666)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        if not secret and target.exists():
            shutil.copymode(target, beside)
        yield lambda: os.replace(beside, target)
    except BaseException:  # Ctrl-C as well
        beside.unlink(missing_ok=True)
        raise
    sync_folder(target.parent)


def write_atomically(path: str | os.PathLike[str], data: bytes) -> None:
    """Write a file whole or not at all."""
    with written_beside(path, data) as put_in_place:
        put_in_place()


def name_beside(target: pathlib.Path) -> pathlib.Path:
    """A name that nothing has, in the folder of a file that is written there before it gets its own name."""
    return target.with_name(f".{target.name}.{secrets.token_hex(6)}")


def real_path(path: str | os.PathLike[str]) -> pathlib.Path:
    """The file itself, where `path` is a symbolic link: the one name by which it is written and taken."""
    return pathlib.Path(os.path.realpath(path))


def sync_folder(folder: pathlib.Path) -> None:
    """Make a rename durable, where the system can."""
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
