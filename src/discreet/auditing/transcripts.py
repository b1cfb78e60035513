"""One learner, asked and told by a script: all that can be seen of it, as numbers that differ if it does."""

import contextlib
import io
import itertools
import json
import logging
import math
import numbers
import warnings
import zlib
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from discreet.errors import DiscreetError
from discreet.learners.session import Session
from discreet.state import arrays_in, decode

#: What is done (a method of `Run`), for how many rounds, and in which of them people may differ.
SCRIPT = (
    ("plain", 3, 1),
    ("many", 3, 1),
    ("late", 3, 0),
    ("available", 2, 0),
    ("bits", 2, 1),
    ("errors", 2, 0),
    ("load", 2, 0),
    ("plain", 35, None),
    ("late", 3, 0),
    ("plain", 2, 0),
)
#: Arrays of a saved file that are secret by design, where a learner keeps secrets.
SECRET = ("release.", "phases.sums")
#: Public attributes that are not looked at: constants, and a random name.
_SKIPPED = {"guarantee", "items", "keeps_secrets", "learner", "lineage"}
#: Arrays that are longer than this are seen as a digest.
_LONGEST = 64

#: After how many tells it was seen, what it is, and which number of it.
Key = tuple[int, str, int]


def transcript(learner: Any, told: Iterable[Any], *, keeps_secrets: bool) -> dict[Key, float]:
    """All that is seen of a learner that is told this by the script."""
    run, values = Run(learner, keeps_secrets), iter(told)
    with run.watching():
        for manner, length, place in SCRIPT:
            run.looks = place is not None
            given = [*itertools.islice(values, length)]
            if given:
                getattr(run, manner)(given)
        run.looks = True
        run.look()
        run.note("guarantee", str(run.learner.guarantee))
    return run.seen


class Run:
    """A learner, what is done with it, and all that was seen so far."""

    def __init__(self, learner: Any, keeps_secrets: bool) -> None:
        self.learner, self._keeps_secrets = learner, keeps_secrets
        self.seen: dict[Key, float] = {}
        self._tells, self.looks = 0, True
        self._texts: list[str] = []
        self._printed = io.StringIO()
        self._caught: list[warnings.WarningMessage] = []
        kind = type(learner)
        named = filter(_is_shown, dir(kind))
        self._properties = [name for name in named if isinstance(getattr(kind, name), property)]

    # What is done

    def plain(self, values: list[Any]) -> None:
        for value in values:
            self.tell(self.ask(), value)

    def many(self, values: list[Any]) -> None:
        if not hasattr(self.learner, "tell_many"):
            return self.plain(values)
        decisions = [self.ask() for _ in values]
        self.call(self.learner.tell_many, [*zip(decisions, values, strict=True)])
        return self.look()

    def late(self, values: list[Any]) -> None:
        """The first ones are told last, in reverse order."""
        decisions = [self.ask() for _ in values[:2]]
        self.plain(values[2:])
        for decision, value in [*zip(decisions, values[:2], strict=True)][::-1]:
            self.tell(decision, value)

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
        learner = self.learner
        data = self.call(learner.to_bytes) if isinstance(learner, Session) else None
        if data is not None:
            generation = self._file(data)
            self.call(learner.from_bytes, data, generation=-1)  # an error, which must not quote
            self.learner = learner.from_bytes(data, generation=generation, source=learner._source)
        self.plain(values)

    def ask(self) -> Any:
        decision = self.learner.ask()
        self.note("the probability of the set", getattr(decision, "probability", 0.0))
        self.note("the set", decision.subset)
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
        root, logger = logging.getLogger(), vars(logging)["Logger"]
        level, handle = root.level, logger.callHandlers
        # Every logger passes here, also those that do not hand on to others.
        logger.callHandlers = lambda _, record: self._texts.append(record.getMessage())
        root.setLevel(logging.NOTSET)
        try:
            with (
                warnings.catch_warnings(record=True) as self._caught,
                contextlib.redirect_stdout(self._printed),
                contextlib.redirect_stderr(self._printed),
            ):
                warnings.simplefilter("always")
                yield
        finally:
            logger.callHandlers = handle
            root.setLevel(level)

    def look(self) -> None:
        """Note all that is public after a tell."""
        self._tells += 1
        if not self.looks:
            return
        learner = self.learner
        public = {name: value for name, value in getattr(learner, "__dict__", {}).items() if _is_shown(name)}
        for name in self._properties:
            try:
                public[name] = getattr(learner, name)
            except Exception as error:  # what is raised is seen, too
                self._texts.append(f"{name} {type(error).__name__}: {error}")
        public |= arrays_in(getattr(learner, "_state", None), "state")
        public["repr"] = repr(learner)
        self._texts += [*(str(each.message) for each in self._caught), self._printed.getvalue()]
        public["errors, results, logs and prints"] = "\n".join(self._texts)
        self._texts.clear()
        self._caught.clear()
        self._printed.seek(0)
        self._printed.truncate()
        for name, value in public.items():
            self.note(name, value)

    def _file(self, data: bytes) -> int:
        """Note what is public of a saved file; its generation."""
        values, arrays = decode(data)
        values |= values.pop("settings", {})
        del values["lineage"]  # a random name
        for name, value in values.items():
            self.note(f"saved {name}", value if isinstance(value, int | float) else json.dumps(value))
        for name, array in arrays.items():
            if not (self._keeps_secrets and name.startswith(SECRET)):
                self.note(f"saved {name}", array)
        return int(values["generation"])

    def note(self, name: str, value: Any) -> None:
        """Keep a value as numbers."""
        for place, number in enumerate(_as_numbers(value)):
            self.seen[self._tells, name, place] = number


def _is_shown(name: str) -> bool:
    return not name.startswith("_") and name not in _SKIPPED


def _as_numbers(value: Any) -> list[float]:
    """A value as numbers, by which different values differ."""
    if isinstance(value, float | int):
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
