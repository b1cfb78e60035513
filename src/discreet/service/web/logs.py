"""Logs as JSON lines on standard error: one line per request, without body, query string, key or value.

There is also one line for each thing that an admin did.
"""

from __future__ import annotations

import asyncio
import json
import logging
import sys
import time
import traceback
from typing import IO

from discreet.service import admin_log

#: Seconds that lines are buffered, so that many are written at once.
_DELAY = 0.1
#: Lines written at once: less than 4096 bytes, so that lines of several processes do not mix in a pipe.
_AT_ONCE = 12
#: Loggers of libraries, and their levels.
OTHERS = {
    "uvicorn": logging.NOTSET,
    "uvicorn.error": logging.NOTSET,
    "uvicorn.asgi": logging.NOTSET,
    "uvicorn.access": logging.NOTSET,
    "sqlalchemy": logging.WARNING,
    "asyncio": logging.WARNING,
}


class RequestLog:
    """Lines about requests.

    Args:
        stream: Where to write them; None for nowhere.
    """

    def __init__(self, stream: IO[str] | None) -> None:
        self._stream = stream
        self._lines: list[str] = []

    def add(
        self,
        method: str,
        route: str,
        status: int,
        seconds: float | None,
        key: str | None,
        learner: str | None,
    ) -> None:
        """Add a request that was answered. No argument is text of a client, except known names."""
        if self._stream is None:
            return
        now = time.time()
        taken = "null" if seconds is None else f"{1000 * seconds:.2f}"
        self._lines.append(
            f'{{"time":"{_stamp(now)}","level":"info","event":"request","method":"{method}",'
            f'"route":"{route}","status":{status},"milliseconds":{taken},'
            f'"key":{_quoted(key)},"learner":{_quoted(learner)}}}\n'
        )
        if len(self._lines) == 1:
            asyncio.get_running_loop().call_later(_DELAY, self.flush)

    def flush(self) -> None:
        """Write the buffered lines."""
        lines, self._lines = self._lines, []
        try:
            for first in range(0, len(lines), _AT_ONCE):
                if self._stream is not None:
                    self._stream.write("".join(lines[first : first + _AT_ONCE]))
                    self._stream.flush()
        except (OSError, ValueError):  # the stream was closed
            self._stream = None


class JsonLines(logging.Formatter):
    """Other messages in the same form. Of an exception only type and place: its message may quote data."""

    def format(self, record: logging.LogRecord) -> str:
        line = {
            "time": _stamp(record.created),
            "level": record.levelname.lower(),
            "event": "message",
            "logger": record.name,
            "message": record.getMessage(),
        }
        if record.name == admin_log.NAME:
            line = {"time": line["time"], "level": "info", "event": "admin", **vars(record)["admin"]}
        if record.exc_info and record.exc_info[1] is not None:
            line["error"] = place_of(record.exc_info[1])
        return json.dumps(line)


def place_of(error: BaseException) -> str:
    """The type of an exception and where it was raised, without its message."""
    frames = traceback.extract_tb(error.__traceback__)
    where = f" at {frames[-1].filename}:{frames[-1].lineno} in {frames[-1].name}" if frames else ""
    return type(error).__name__ + where


def configure(level: str) -> None:
    """Send all messages of this process to standard error as JSON lines."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines())
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(level.upper())
    for name, least in OTHERS.items():
        logger = logging.getLogger(name)
        logger.handlers.clear()
        logger.propagate = True
        logger.setLevel(least)
    logging.getLogger(admin_log.NAME).setLevel(logging.INFO)  # whatever else is written
    logging.getLogger("uvicorn.access").disabled = True  # it would write URLs with query strings


def _stamp(seconds: float) -> str:
    whole = int(seconds)
    return f"{_second(whole)}.{int(1000 * (seconds - whole)):03d}Z"


_last: tuple[int, str] = (0, "")


def _second(whole: int) -> str:
    global _last
    if _last[0] != whole:
        _last = whole, time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(whole))
    return _last[1]


def _quoted(name: str | None) -> str:
    return "null" if name is None else f'"{name}"'  # ids and names of learners need no escapes
