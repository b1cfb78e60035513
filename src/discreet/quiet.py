"""Warnings are dropped while private values are handled, since their text may depend on them."""

import contextlib
import threading
import warnings
from collections.abc import Iterator

_lock, _inside, _before = threading.Lock(), 0, warnings.catch_warnings()


@contextlib.contextmanager
def no_warnings() -> Iterator[None]:
    """Ignore warnings in all threads until the last has left: `catch_warnings` alone is not thread-safe."""
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
