"""Silence about private values: while one is handled, warnings that its handling leads to are dropped."""

import contextlib
import threading
import warnings
from collections.abc import Iterator

_lock = threading.Lock()
_inside = 0
_before = warnings.catch_warnings()


@contextlib.contextmanager
def no_warnings() -> Iterator[None]:
    """No warnings from here on, in any thread, until the last one has left.

    `warnings.catch_warnings` alone belongs to the process: of two threads that overlap, the first to leave
    would bring warnings back, and the second would leave them off for good.
    """
    global _inside, _before
    with _lock:
        if _inside == 0:
            _before = warnings.catch_warnings()
            _before.__enter__()
            warnings.simplefilter("ignore")
        _inside += 1
    try:
        yield
    finally:
        with _lock:
            _inside -= 1
            if _inside == 0:
                _before.__exit__(None, None, None)
