"""Atomic file writes: after a crash there is either the old file or the new one."""

import contextlib
import errno
import os
import pathlib
import secrets
import shutil
from collections.abc import Callable, Iterator


@contextlib.contextmanager
def written_beside(
    path: str | os.PathLike[str], data: bytes, *, secret: bool = False
) -> Iterator[Callable[[], None]]:
    """Write a temporary file next to `path`, and yield a function that moves it into place.

    Only the owner may read what is secret; other files keep the permissions of the file they replace.
    """
    check_place(path)
    target = real_path(path)
    beside = name_beside(target)

    def put_in_place() -> None:
        with errors_name(path):
            os.replace(beside, target)

    with errors_name(path):
        handle = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600 if secret else 0o666)
    try:
        with errors_name(path), os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
            if not secret and target.exists():
                shutil.copymode(target, beside)
        yield put_in_place
    except BaseException:  # Ctrl-C as well
        beside.unlink(missing_ok=True)
        raise
    sync_folder(target.parent)


def write_atomically(path: str | os.PathLike[str], data: bytes) -> None:
    """Write a file completely or not at all."""
    with written_beside(path, data) as put_in_place:
        put_in_place()


@contextlib.contextmanager
def errors_name(path: str | os.PathLike[str]) -> Iterator[None]:
    """Let errors of temporary files name the file that the user asked for."""
    try:
        yield
        return
    except OSError as error:
        code, why = error.errno, error.strerror
    check_place(path)
    raise OSError(code, why, os.fspath(path)) from None


def check_place(path: str | os.PathLike[str]) -> None:
    """Raise the `OSError` that writing there would, before work is done whose result would be lost."""
    target = os.path.realpath(path)
    folder = os.path.dirname(target)
    if os.path.isdir(target):
        code, why = errno.EISDIR, "that is a folder"
    elif not os.path.exists(folder):
        code, why = errno.ENOENT, f"there is no folder {folder}"
    elif not os.path.isdir(folder):
        code, why = errno.ENOTDIR, f"{folder} is not a folder"
    elif not os.access(folder, os.W_OK | os.X_OK):
        code, why = errno.EACCES, f"nothing may be written to the folder {folder}"
    else:
        return
    raise OSError(code, why, os.fspath(path))


def name_beside(target: pathlib.Path) -> pathlib.Path:
    """An unused name in the same folder, for the temporary file."""
    return target.with_name(f".{target.name}.{secrets.token_hex(6)}")


def real_path(path: str | os.PathLike[str]) -> pathlib.Path:
    """The file that `path` points to, with symbolic links resolved."""
    return pathlib.Path(os.path.realpath(path))


def sync_folder(folder: pathlib.Path) -> None:
    """Make a rename durable, where the system can."""
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
