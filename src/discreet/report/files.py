"""Reports in files: written whole or not at all."""

from __future__ import annotations

import os
import pathlib
import secrets
import shutil

from discreet.learners.files import put_in_place, real_path


def write_whole(path: str | os.PathLike[str], text: str) -> pathlib.Path:
    """Write a text file; if it cannot be finished, what was there before stays as it was.

    Unlike files of learners it gets the permissions of any new file, or those of the file it replaces.
    """
    target = real_path(path)
    written = target.with_name(f".{target.name}.{secrets.token_hex(6)}")
    try:
        with open(written, "x", encoding="utf-8", newline="\n") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        if target.exists():
            shutil.copymode(target, written)
        put_in_place(written, target)
    except BaseException:  # Ctrl-C as well
        written.unlink(missing_ok=True)
        raise
    return pathlib.Path(path)
