"""A rollback guard in an object store: one object for each store, such as ``s3://bucket/shop.guard``.

Whoever writes says which version of the object was read, and reads again if another one was faster. So the
object store must support conditional writes, as those of Amazon, Google and Azure do. Credentials and the
region come from the environment (``AWS_ACCESS_KEY_ID``, ``AWS_REGION``, ``AWS_ENDPOINT``, ...).
"""

from __future__ import annotations

import contextlib
import datetime
import json
import os
from collections.abc import Iterator, Mapping
from typing import Any

import obstore
from obstore.exceptions import AlreadyExistsError, BaseError, PreconditionError

from discreet.errors import StaleState, StoreError
from discreet.service.rollback_guard import DamagedGuard, RollbackGuard

#: How often a write that others have overtaken is tried.
_TRIES = 50
_RETRIES: Any = {"max_retries": 3, "retry_timeout": datetime.timedelta(seconds=20)}
_OPTIONS: Any = {"connect_timeout": "5s", "timeout": "20s"}


class ObjectGuard(RollbackGuard):
    """A rollback guard in an object.

    Args:
        address: Of the object.
        store: The name of the store.
        look_only: Whether to leave the object unchanged, until `settle`.
        repair: Whether to treat a damaged object as missing.

    Raises:
        DamagedGuard: The object is damaged.
        StaleState: The object belongs to another store.
        StoreError: The object store cannot be reached.
    """

    def __init__(self, address: str, store: str, *, look_only: bool = False, repair: bool = False) -> None:
        super().__init__(address, look_only=look_only)
        bucket, _, self._path = address.rpartition("/")
        self._store, self._repair = store, repair
        plain = os.environ.get("AWS_ENDPOINT", "").startswith("http://")  # such as one in the same cluster
        options = _OPTIONS | {"allow_http": plain}
        with self._clear_errors():
            self._objects = obstore.store.from_url(bucket, client_options=options, retry_config=_RETRIES)
        self.fresh = False
        self._known, version = self._load()
        self.fresh = self.fresh or version is None

    def _read(self) -> dict[str, int]:
        return self._load()[0]

    def _load(self) -> tuple[dict[str, int], Any]:
        """All numbers, and the version of the object; none if it is missing."""
        with self._clear_errors():
            try:
                found = obstore.get(self._objects, self._path)
                version, content = {"e_tag": found.meta["e_tag"]}, bytes(found.bytes())
            except FileNotFoundError:
                return {}, None
        try:
            head, numbers = json.loads(content)["store"], json.loads(content)["releases"]
            numbers = {str(lineage): int(count) for lineage, count in numbers.items()}
        except (ValueError, LookupError, TypeError, AttributeError):
            if self._repair:
                self.fresh = True
                return {}, version
            raise DamagedGuard(
                f"The rollback guard {self.where} is damaged. Replace it by an undamaged one, or see "
                "`discreet store adopt --help`."
            ) from None
        if head != self._store:
            raise StaleState(
                f"The rollback guard {self.where} belongs to another store: name another object in "
                "DISCREET_ROLLBACK_GUARD, or, if this is an old backup, restore the latest state."
            )
        return numbers, version

    def _raise(self, numbers: Mapping[str, int]) -> None:
        for _ in range(_TRIES):
            known, version = self._load()
            higher = {lineage: max(count, known.get(lineage, 0)) for lineage, count in numbers.items()}
            if version is not None and known | higher == known:
                return
            content = json.dumps({"store": self._store, "releases": known | higher}).encode()
            with self._clear_errors():
                try:
                    obstore.put(self._objects, self._path, content, mode=version or "create")
                    return
                except (AlreadyExistsError, PreconditionError):
                    continue  # another process was faster: its numbers count, too
        raise StoreError(f"The rollback guard {self.where} is written by too many processes at once.")

    @contextlib.contextmanager
    def _clear_errors(self) -> Iterator[None]:
        try:
            yield
        except (BaseError, ValueError, NotImplementedError) as error:  # whose messages may quote credentials
            raise StoreError(
                f"The rollback guard {self.where} cannot be used ({type(error).__name__})."
            ) from error
