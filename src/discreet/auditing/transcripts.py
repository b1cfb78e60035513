"""One learner, asked and told: all that can be seen of it, as numbers by which different things differ."""

from __future__ import annotations

import contextlib
import io
import json
import logging
import math
import numbers
import warnings
import zlib
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from discreet.errors import DiscreetError
from discreet.learners.session import Session
from discreet.state import arrays_in, decode

#: Arrays of a saved file that are secret by design, where a learner keeps secrets.
SECRET = ("release.", "phases.sums")
#: Public attributes that are not looked at: constants, and a random name.
_SKIPPED = {"guarantee", "items", "keeps_secrets", "learner", "lineage"}
#: Arrays that are longer than this are seen as a digest.
_LONGEST = 64

#: The part of the script, how many were told, what was seen, and which number of it.
Key = tuple[int, int, str, int]


class Run:
    """One learner through a script, whose parts are methods, and all that is seen of it."""

    def __init__(self, learner: Any, secret: bool) -> None:
        self.learner, self._secret = learner, secret
        self.seen: dict[Key, float] = {}
        self.part, self._tells, self.looks = 0, 0, True
        self._texts: list[str] = []
        self._printed = io.StringIO()
        self._caught: list[warnings.WarningMessage] = []
        kind = type(learner)
        self._properties = [
            name
            for name in dir(kind)
            if not name.startswith("_") and isinstance(getattr(kind, name), property) and name not in _SKIPPED
        ]

    # What is done

    def plain(self, values: list[Any]) -> None:
        for value in values:
            self.tell(self.ask(), value)

    def reversed(self, values: list[Any]) -> None:
        decisions = [self.ask() for _ in values]
        for decision, value in [*zip(decisions, values, strict=True)][::-1]:
            self.tell(decision, value)

    def many(self, values: list[Any]) -> None:
        if not hasattr(self.learner, "tell_many"):
            return self.plain(values)
        decisions = [self.ask() for _ in values]
        self.call(self.learner.tell_many, [*zip(decisions, values, strict=True)])
        return self.look()

    def late(self, values: list[Any]) -> None:
        first = self.ask()
        self.plain(values[1:])
        self.tell(first, values[0])

    def available(self, values: list[Any]) -> None:
        for value in values:
            decision = self.call(self.learner.ask, available=self.learner.items[:-1])
            self.tell(self.ask() if decision is None else decision, value)

    def bits(self, values: list[Any]) -> None:
        for value in values:
            try:
                randomizer = self.learner.randomizer()
            except (AttributeError, DiscreetError):
                self.plain([value])
                continue
            self.call(self.learner.tell, self.ask(), released=randomizer.release(value))
            self.look()

    def errors(self, values: list[Any]) -> None:
        """Calls that are wrong, with the private value in every place."""
        for value in values:
            decision, tell = self.ask(), self.learner.tell
            self.call(tell, value, decision)
            self.call(tell, -1, value)
            self.call(tell, decision, value, no_such_argument=value)
            if hasattr(self.learner, "tell_many"):
                self.call(self.learner.tell_many, [(10**9, value), (decision, value)])
            self.tell(decision, value)
            self.call(tell, decision, value)
            self.call(tell, decision.id, value)
            self.look()

    def load(self, values: list[Any]) -> None:
        """Save, look at the file, go on from it."""
        if isinstance(self.learner, Session):
            kind, source = type(self.learner), self.learner._source
            data = self.call(self.learner.to_bytes)
            if data is not None:
                self._file(data)
                self.call(kind.from_bytes, data, generation=-1)  # an error, which must not quote
                self.learner = kind.from_bytes(data, generation=json_generation(data), source=source)
        self.plain(values)

    def ask(self) -> Any:
        decision = self.learner.ask()
        self._note("the probability of the set", getattr(decision, "probability", 0.0))
        self._note("the set", decision.subset)
        return decision

    def tell(self, decision: Any, value: Any) -> None:
        self.call(self.learner.tell, decision, value)
        self.look()

    def call(self, method: Callable[..., Any], *given: Any, **named: Any) -> Any:
        """What a method returns; what it raises is text that is seen."""
        try:
            result = method(*given, **named)
        except Exception as error:
            self._texts.append(f"{type(error).__name__}: {error}; {error.__cause__!r} {error.__context__!r}")
            return None
        if method.__name__ in ("tell", "tell_many") and result is not None:
            self._texts.append(repr(result))
        return result

    # What is seen

    @contextlib.contextmanager
    def watching(self) -> Iterator[None]:
        """Notice everything that is logged, warned about and printed meanwhile; none of it gets out."""
        root, handle = logging.getLogger(), logging.Logger.callHandlers
        level = root.level
        # Every logger passes here, also those that do not hand on to others.
        setattr(logging.Logger, "callHandlers", lambda _, record: self._texts.append(record.getMessage()))  # noqa: B010
        root.setLevel(logging.NOTSET)
        try:
            with (
                warnings.catch_warnings(record=True) as caught,
                contextlib.redirect_stdout(self._printed),
                contextlib.redirect_stderr(self._printed),
            ):
                warnings.simplefilter("always")
                self._caught = caught
                yield
        finally:
            setattr(logging.Logger, "callHandlers", handle)  # noqa: B010 # mypy allows no plain assignment
            root.setLevel(level)

    def look(self, **others: Any) -> None:
        """All that is public after a tell."""
        self._tells += 1
        if not (self.looks or others):
            return
        learner = self.learner
        for name in self._properties:
            try:
                self._note(name, getattr(learner, name))
            except Exception as error:  # what is raised is seen, too
                self._texts.append(f"{name} {type(error).__name__}: {error}")
        for name, value in (vars(learner) if hasattr(learner, "__dict__") else {}).items():
            if not name.startswith("_") and name not in _SKIPPED:
                self._note(name, value)
        for name, array in arrays_in(getattr(learner, "_state", None), "state").items():
            self._note(name, array)
        self._note("repr", repr(learner))
        self._texts += [str(each.message) for each in self._caught]
        self._caught.clear()
        if self._printed.tell():
            self._texts.append(self._printed.getvalue())
            self._printed.seek(0)
            self._printed.truncate()
        self._note("errors, results, logs and prints", "\n".join(self._texts))
        self._texts.clear()
        for name, value in others.items():
            self._note(name, value)

    def _file(self, data: bytes) -> None:
        """What is public of a saved file."""
        try:
            values, arrays = decode(data)
        except DiscreetError:
            self._note("the saved file", repr(data))
            return
        values.pop("lineage", None)
        settings = values.pop("settings", {})
        for name, value in (values | settings).items():
            self._note(f"saved {name}", value if isinstance(value, int | float) else json.dumps(value))
        for name, array in arrays.items():
            if not (self._secret and name.startswith(SECRET)):
                self._note(f"saved {name}", array)

    def _note(self, name: str, value: Any) -> None:
        for place, number in enumerate(_as_numbers(value)):
            self.seen[self.part, self._tells, name, place] = number


def json_generation(data: bytes) -> int:
    """The generation that saved bytes are of."""
    return int(decode(data)[0]["generation"])


def _as_numbers(value: Any) -> list[float]:
    """A value as numbers, by which different values differ."""
    kind = type(value)
    if kind is float or kind is int or kind is bool:
        return [float(value)]
    if value is None:
        return [math.nan]
    if isinstance(value, np.ndarray) and value.dtype.kind in "ifb":
        if value.size <= _LONGEST:
            return value.ravel().astype(np.float64).tolist()
        return [float(value.size), float(zlib.crc32(value.tobytes())), float(value.sum())]
    if isinstance(value, numbers.Real):
        return [float(value)]
    if isinstance(value, frozenset | set):
        value = sorted(map(repr, value))
    text = value if isinstance(value, str) else repr(value)
    return [float(len(text)), float(zlib.crc32(text.encode("utf-8", "replace")))]
