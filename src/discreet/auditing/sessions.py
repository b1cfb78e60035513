"""Attacks on whole learners: they are asked and told, and all that can be seen of them is compared.

One script is played over and over: tells in order, reordered, in bulk and late, bits made by a client, items
that are switched off, wrong calls, saving and loading, and some of this again after round 50. Neighbours
differ in one round of it. Noise that is a little too small is left to `releases`; here is found what a
learner shows beside its noise, in every public property, text, error or file.
"""

import contextlib
import io
import itertools
import json
import logging
import math
import numbers
import warnings
import zlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from discreet.auditing.attack import LEAST, frozen_differences, padded
from discreet.auditing.releases import pairs_of_values
from discreet.auditing.target import Pair, seed_sequence
from discreet.checks import FloatArray
from discreet.errors import DiscreetError
from discreet.learners.feedback import FunctionFeedback
from discreet.learners.session import Session
from discreet.privacy.guarantee import Guarantee
from discreet.randomness import Seed
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
#: Runs of each history that are compared to see where to look.
FEW = 8
#: To find that what always shows breaks a claim takes a number of runs that grows with exp(epsilon).
RUNS, MOST_RUNS = 64, 4000


class Sessions:
    """A learner that is asked and told round by round, in Python.

    Args:
        make: From a seed (or None) to a new learner with `ask`, `tell`, `items` and `guarantee`.
        cost_range: The range of what it is told.
        functions: Whether it is told functions of sets, not numbers.
        source: Random bits for all of them, if not their own.

    The data of an audit are sequences of feedback, one for each round.

    Examples:
        >>> from discreet import BanditLearner
        >>> sessions = Sessions(lambda seed: BanditLearner(2, epsilon=1.0, cost_range=(0, 1), seed=seed))
        >>> sessions.claim().epsilon, len(sessions.observe([0.0, 0.5, 1.0], runs=2, seed=1))
        (1.0, 2)
    """

    def __init__(
        self,
        make: Callable[[Seed | None], Any],
        *,
        cost_range: tuple[float, float] = (0.0, 1.0),
        functions: bool = False,
        source: Any = None,
    ) -> None:
        self._make, self._source, self._functions = make, source, functions
        pattern = make(None)
        self._claim: Guarantee = pattern.guarantee
        self._low, self._high = sorted(cost_range)
        self._items: tuple[Any, ...] = tuple(pattern.items)
        self._keeps_secrets = getattr(pattern, "keeps_secrets", False)
        self._columns: dict[Key, int] = {}
        starts = [0, *itertools.accumulate(length for _, length, _ in SCRIPT)]
        self._rounds = min(starts[-1], getattr(pattern, "horizon", 1 << 30))
        #: The rounds in which people may differ, and what is done there.
        self._places = {
            start + place: about
            for start, (about, _, place) in zip(starts, SCRIPT, strict=False)
            if place is not None and start + place < self._rounds
        }
        growth = math.exp(min(self._claim.epsilon or 1.0, 10.0))
        self.most_runs = int(min(max(2 * LEAST, RUNS * growth), MOST_RUNS))

    def claim(self) -> Guarantee:
        return self._claim

    def pairs(self) -> list[Pair]:
        """Histories that differ in one round, of the kinds that seem to show something.

        Histories that differ in all places at once are played a few times each, to see whether something has
        one value in all runs of one and another one in all runs of the other.
        """
        middle, ends, *others = self._told()
        # One low cost among high ones decides where a sum passes a threshold.
        high = Pair(
            "one low cost among high ones", *self._histories(ends.first, {min(1, self._rounds - 1): ends})
        )
        for kind in (None, 0, 4):
            told = {
                place: ends if kind is None else others[(k + kind) % len(others)]
                for k, place in enumerate(self._places)
            }
            if self._differ(*self._histories(middle, told)):
                return [high, *(self._pair(middle, place, change) for place, change in told.items())]
        return [high if self._differ(*high[1:]) else self._pair(middle, min(self._places), ends)]

    def _pair(self, base: Any, place: int, change: Pair) -> Pair:
        about = f"round {place + 1} ({self._places[place]}): {change.about}"
        return Pair(about, *self._histories(base, {place: change}))

    def _histories(self, base: Any, changes: dict[int, Pair]) -> list[list[Any]]:
        return [[changes[t][side] if t in changes else base for t in range(self._rounds)] for side in (1, 2)]

    def _differ(self, *told: list[Any]) -> bool:
        first, second = (self.observe(data, FEW, seed) for seed, data in enumerate(told))
        return bool(frozen_differences(padded(first, second.shape[1]), second).any())

    def _told(self) -> list[Any]:
        """What is told where nothing differs; pairs of what one person may tell, ends of the range first."""
        low, high = self._low, self._high
        told = pairs_of_values(low, high, (high - low) / 2**21)
        told.append(Pair("text and the upper end", "much", high))
        middle = low + (high - low) / 2
        if not self._functions:
            return [middle, *told]
        first, last = self._items[0], self._items[-1] if len(self._items) > 1 else None

        def cut(value: Any, one: Any, other: Any) -> Callable[[Any], Any]:
            return lambda chosen: value if one in chosen and other not in chosen else low

        turned = [Pair(about, cut(one, first, last), cut(other, last, first)) for about, one, other in told]
        return [cut(middle, first, last), *turned]

    def observe(self, data: Sequence[Any], runs: int, seed: Seed | None) -> FloatArray:
        seeds = [None] * runs if seed is None else seed_sequence(seed).spawn(runs)
        rows = [self._one_run(one, data) for one in seeds]
        for key in itertools.chain(*rows):
            self._columns.setdefault(key, len(self._columns))
        seen = np.full((runs, len(self._columns)), np.nan)
        for k, row in enumerate(rows):
            seen[k, [self._columns[key] for key in row]] = list(row.values())
        return seen

    def _one_run(self, seed: Seed | None, data: Sequence[Any]) -> dict[Key, float]:
        learner = self._make(seed)
        if seed is None and self._source is not None:
            learner._source = self._source
        return Run(learner, self._keeps_secrets).play(data)

    def column(self, index: int) -> str:
        tells, name, place = list(self._columns)[index]
        return f"{name}[{place}] after {tells} tells" if place else f"{name} after {tells} tells"


def sessions_of(given: Session[Any]) -> Sessions:
    """The attack on a learner of this package, or of a class derived from one."""
    query, sign = given.learner.query, given._sign
    return Sessions(
        given.fresh,
        cost_range=(sign * query.low, sign * query.high),
        functions=isinstance(given, FunctionFeedback),
        source=given._source,
    )


class Run:
    """A learner, what is done with it, and all that was seen so far."""

    def __init__(self, learner: Any, keeps_secrets: bool) -> None:
        self.learner, self._keeps_secrets = learner, keeps_secrets
        self.seen: dict[Key, float] = {}
        self._tells, self._looks = 0, True
        self._texts: list[str] = []
        self._printed = io.StringIO()
        self._caught: list[warnings.WarningMessage] = []
        kind = type(learner)
        named = filter(_is_shown, dir(kind))
        self._properties = [name for name in named if isinstance(getattr(kind, name), property)]

    def play(self, told: Sequence[Any]) -> dict[Key, float]:
        """All that is seen of the learner while it is told this by the script."""
        values = iter(told)
        with self._watching():
            for manner, length, place in SCRIPT:
                self._looks = place is not None
                given = [*itertools.islice(values, length)]
                if given:
                    getattr(self, manner)(given)
            self._looks = True
            self.look()
            self.note("guarantee", str(self.learner.guarantee))
        return self.seen

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
    def _watching(self) -> Iterator[None]:
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
        if not self._looks:
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
