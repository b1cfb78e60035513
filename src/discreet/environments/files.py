"""Data by columns: from CSV and Parquet files, plain or gzipped, and from frames."""

from __future__ import annotations

import csv
import gzip
import io
import os
import pathlib
import zlib
from collections.abc import Hashable, Iterator, Sequence
from typing import Any, NamedTuple

from discreet import checks
from discreet.errors import InvalidArgument
from discreet.frames import columns_of, is_frame
from discreet.imports import require_extra

Path = str | os.PathLike[str]


class Sheet(NamedTuple):
    """Columns by their names, and where they come from: `line` has the line of each row of a file."""

    name: str
    columns: dict[Hashable, list[Any]]
    line: Sequence[int]

    def column(self, name: Hashable) -> list[Any]:
        """One column; none of that name is an error that names those there are."""
        if name in self.columns:
            return self.columns[name]
        known = [str(each) for each in self.columns]
        # A line with a number in it is not quoted: it may be somebody's data.
        data = not known or any(number(each) is not None for each in known)
        listed = f"{checks.did_you_mean(str(name), known)} It names: {', '.join(known)}"
        found = " It is not a line of names" if data else listed
        raise malformed(self.name, 1, f"the first line must name a column {name!r}.{found}")

    def malformed(self, row: int, wanted: str) -> InvalidArgument:
        """The error for a row that is not what was wanted."""
        return malformed(self.name, self.line[row], wanted)


def sheet_of(source: Any) -> Sheet:
    """A file, whose first line names the columns, or a frame."""
    if is_frame(source):
        columns = columns_of(source)
        return Sheet(f"the {type(source).__name__}", columns, _numbered(columns))
    if str(source).endswith((".parquet", ".pq")):
        require_extra("report", "To read Parquet files needs", "polars")
        import polars

        try:
            columns = columns_of(polars.read_parquet(source))
        except (OSError, polars.exceptions.PolarsError) as error:
            raise InvalidArgument(f"Cannot read {source!s}: {str(error).splitlines()[0]}.") from None
        return Sheet(os.fspath(source), columns, _numbered(columns))
    found = rows(source)
    _, header = next(found, (0, []))
    names = [name.strip() for name in header]
    read, lines = list[list[str]](), list[int]()
    for line, row in found:
        if len(row) != len(names):
            raise malformed(source, line, f"there must be {len(names)} entries, as in the first line")
        read.append(row)
        lines.append(line)
    entries = zip(*read, strict=True) if read else ([] for _ in names)
    return Sheet(
        os.fspath(source),
        {name: [entry.strip() for entry in column] for name, column in zip(names, entries, strict=True)},
        lines,
    )


def _numbered(columns: dict[Hashable, list[Any]]) -> range:
    return range(1, len(next(iter(columns.values()), [])) + 1)


def number(entry: Any) -> float | None:
    """An entry as a number, if it is one."""
    try:
        return float(entry)
    except (TypeError, ValueError):
        return None


def rows(path: Path) -> Iterator[tuple[int, list[str]]]:
    """The rows of a CSV file with their line numbers."""
    content = b""
    try:
        content = pathlib.Path(path).read_bytes()
        if content.startswith(b"\x1f\x8b"):  # gzipped
            content = gzip.decompress(content)
        reader = csv.reader(io.StringIO(content.decode("utf-8-sig")), strict=True)
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise malformed(path, line, "the text is not UTF-8") from None
    except (OSError, EOFError, zlib.error, TypeError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else error
        raise InvalidArgument(f"Cannot read {path!s}: {reason}.") from None
    try:
        for row in reader:
            yield reader.line_num, row
    except csv.Error as error:
        raise malformed(path, reader.line_num, str(error)) from None


def malformed(path: Path, line: int, wanted: str) -> InvalidArgument:
    """The error for a line of a file that is not what was wanted."""
    return InvalidArgument(f"{os.fspath(path)}, line {line}: {wanted}.")
