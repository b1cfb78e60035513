"""What works and what does not, and since when: for logs, readiness and metrics."""

from __future__ import annotations

import logging
import threading
import time

from discreet.errors import DiscreetError, StoreError

#: Seconds for which a failure counts against readiness, unless the same has worked since.
_FRESH = 30.0

log = logging.getLogger("discreet.service")


class Health:
    """The state of each part of a service. Each reason of a failure is logged once until the part works."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._failing: dict[str, tuple[float, set[str]]] = {}
        self._worked: dict[str, float] = {}
        self._begun = time.monotonic()

    def worked(self, part: str) -> None:
        """A part has done its work."""
        self._worked[part] = time.monotonic()
        if part in self._failing:
            with self._lock:
                if self._failing.pop(part, None):
                    log.warning("%s: works again", part)

    def failed(self, part: str, error: BaseException) -> None:
        """A part has failed."""
        reason = reason_of(error)
        with self._lock:
            _, logged = self._failing.get(part, (0.0, set()))
            if reason not in logged:
                log.error("%s: %s", part, reason)
            self._failing[part] = time.monotonic(), logged | {reason}

    def seconds_since(self, part: str) -> float:
        """How long ago a part last worked; from the start, if it never has."""
        return time.monotonic() - self._worked.get(part, self._begun)

    def require(self) -> None:
        """Raise `StoreError` if something has failed lately and not worked since."""
        with self._lock:
            for part, (at, _) in self._failing.items():
                if time.monotonic() - at < _FRESH:
                    raise StoreError(f"The store is not ready, {part} failed: the log says why.")


def reason_of(error: BaseException) -> str:
    """The message of an error of ours. That of another is not quoted: it may contain something private."""
    return str(error) if isinstance(error, DiscreetError) else f"failed with a {type(error).__name__}"
