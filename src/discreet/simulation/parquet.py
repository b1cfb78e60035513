"""Frames as Parquet files, written whole or not at all."""

from __future__ import annotations

import io
import os
from typing import TYPE_CHECKING

from discreet.atomic_files import write_atomically

if TYPE_CHECKING:
    import polars


def write_parquet(path: str | os.PathLike[str], frame: polars.DataFrame) -> None:
    """Write a frame to a file."""
    buffer = io.BytesIO()
    frame.write_parquet(buffer)
    write_atomically(path, buffer.getvalue())
