"""Export a store to JSON lines, and import it into an empty store of the same or another backend.

Everything in a store is public, randomised or sealed, and so are the lines. A learner must not continue twice
from one state: the same data would be released twice, and people counted twice. So an export hands learners
over: they end here in the transaction that reads them.
"""

from __future__ import annotations

import base64
import dataclasses
import json
import os
from collections.abc import Callable, Iterable, Iterator
from typing import IO, Any

from sqlalchemy import Connection, func, insert, select, text, update

from discreet.atomic_files import errors_name, name_beside, real_path, sync_folder
from discreet.errors import InvalidArgument, StoreError
from discreet.storage import tables
from discreet.storage.migrate import latest_version
from discreet.storage.records import AuditRecord, Status
from discreet.storage.store import Store

_FORMAT = "discreet store"
_TABLES = {table.name: table for table in tables.metadata.sorted_tables}
_AT_ONCE = 1_000


@dataclasses.dataclass(frozen=True)
class Exported:
    """The number of exported rows, and the names of the learners that ended here."""

    rows: int
    handed_over: tuple[str, ...]


def export_store(
    store: Store,
    path: str | os.PathLike[str],
    ended: Callable[[Iterable[str]], None],
    audit: AuditRecord,
) -> Exported:
    """Write everything to a new file that only its owner can read.

    The file is complete and on disk before learners are marked as handed over, and gets its name afterwards:
    at no time could a learner continue in both places. From then on the file is never removed: it is the only
    copy of the learners.

    Args:
        store: The store.
        path: The file.
        ended: Called with the lineages that ended here.
        audit: What to record about it, here and in the file.

    Raises:
        StoreError: A step after the handover failed; the message says where the file is.
    """
    target = real_path(path)
    if target.exists():
        raise InvalidArgument(f"The file {target} already exists.")
    beside = name_beside(target)
    with errors_name(path):
        handle = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    handed_over: dict[str, str] = {}
    try:
        with os.fdopen(handle, "w", encoding="ascii") as file, store.writing() as writing:
            connection = writing.connection
            block_writers(connection)
            writing.add_audit(audit)
            rows = _write(connection, file)
            file.flush()
            os.fsync(file.fileno())
            handed_over = _hand_over(connection)
    except BaseException:
        if not _may_be_handed_over(store, handed_over):
            beside.unlink(missing_ok=True)
        raise
    try:
        os.rename(beside, target)
        sync_folder(target.parent)
        ended(handed_over.values())
    except Exception as error:
        place = target if target.exists() else beside
        raise StoreError(
            f"The learners were handed over and the export is complete, in {place}, but the last step failed "
            f"({type(error).__name__}). Export the old store once more, so that its rollback guard records "
            "it."
        ) from None
    return Exported(rows, tuple(handed_over))


def import_store(store: Store, path: str | os.PathLike[str], audit: AuditRecord) -> int:
    """Import a file into an empty store, completely or not at all; return the number of rows."""
    with open(path, encoding="ascii") as file, store.writing() as writing:
        connection = writing.connection
        block_writers(connection)
        if any(connection.scalar(select(func.count()).select_from(table)) for table in _TABLES.values()):
            raise InvalidArgument("Only an empty store can be imported into, and this one is not empty.")
        count = 0
        for name, rows in _batches(file):
            connection.execute(insert(_TABLES[name]), rows)
            count += len(rows)
        if connection.dialect.name == "postgresql":
            for table in (tables.learners.name, tables.audit.name):
                connection.execute(
                    text(f"SELECT setval(pg_get_serial_sequence('{table}', 'id'), max(id)) FROM {table}")
                )
        writing.add_audit(audit)
        return count


def noted_in(path: str | os.PathLike[str], key: str) -> str | None:
    """A fact about the store that a file was exported from."""
    with open(path, encoding="ascii") as file:
        for name, rows in _batches(file):
            if name == tables.meta.name:
                return next((str(row["value"]) for row in rows if row["key"] == key), None)
    return None


def block_writers(connection: Connection) -> None:
    """Block other writers until the transaction ends, as SQLite does anyway."""
    if connection.dialect.name == "postgresql":
        connection.execute(text(f"LOCK TABLE {', '.join(_TABLES)} IN EXCLUSIVE MODE"))


def _write(connection: Connection, file: IO[str]) -> int:
    def put(line: dict[str, Any]) -> None:
        file.write(json.dumps(line, separators=(",", ":")) + "\n")

    put({"format": _FORMAT, "schema": latest_version()})
    count = 0
    for table in (tables.meta, *(t for t in _TABLES.values() if t is not tables.meta)):
        options = {"stream_results": True, "yield_per": _AT_ONCE}
        for row in connection.execute(select(table), execution_options=options).mappings():
            put({"table": table.name, "row": {key: _plain(value) for key, value in row.items()}})
            count += 1
    put({"rows": count})
    return count


def _hand_over(connection: Connection) -> dict[str, str]:
    """End all active learners; return their lineages by name."""
    t = tables.learners
    ending = t.c.status == Status.ACTIVE.value
    rows = connection.execute(select(t.c.name, t.c.lineage).where(ending).order_by(t.c.name)).all()
    connection.execute(update(t).where(ending).values(status=Status.HANDED_OVER.value))
    return {row.name: row.lineage for row in rows}


def _may_be_handed_over(store: Store, handed_over: dict[str, str]) -> bool:
    """Whether a transaction with unknown outcome has, or may have, handed learners over."""
    if not handed_over:
        return False
    try:
        with store.reading() as reading:
            records = reading.learners()
    except StoreError:
        return True
    ended = {record.lineage for record in records if record.status is Status.HANDED_OVER}
    return not ended.isdisjoint(handed_over.values())


def _batches(file: IO[str]) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """Batches of rows, table by table; raises `StoreError` if the export is incomplete."""
    damaged = StoreError("The file is not a complete export of a store: it is damaged or truncated.")
    try:
        head = json.loads(file.readline())
        if head["format"] != _FORMAT:
            raise damaged
        if head["schema"] != latest_version():
            raise StoreError(
                f"The export has version {head['schema']} of the schema, and this release uses "
                f"{latest_version()}: import it with the release that wrote it, and migrate the store."
            )
        name, rows = "", list[dict[str, Any]]()
        for count, line in enumerate(file):
            entry = json.loads(line)
            if "rows" in entry:
                if entry["rows"] != count:
                    raise damaged
                if rows:
                    yield name, rows
                return
            if rows and (entry["table"] != name or len(rows) == _AT_ONCE):
                yield name, rows
                rows = []
            name = _TABLES[entry["table"]].name
            rows.append({key: _restored(value) for key, value in entry["row"].items()})
        raise damaged
    except (ValueError, KeyError, TypeError, AttributeError):
        raise damaged from None


def _plain(value: Any) -> Any:
    if isinstance(value, bytes | memoryview):
        return {"bytes": base64.b64encode(bytes(value)).decode()}
    return value


def _restored(value: Any) -> Any:
    return base64.b64decode(value["bytes"], validate=True) if isinstance(value, dict) else value
