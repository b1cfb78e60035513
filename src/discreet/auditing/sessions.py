"""Attacks on whole learners: they are asked and told, and all that can be seen of them is compared.

One script is played over and over, and neighbours differ in one round of it. Noise that is a little too small
is left to `releases`; here is found what a learner shows beside its noise.
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

from discreet.auditing.attack import LEAST, Pair, frozen_differences, padded, seed_sequence
from discreet.auditing.inputs import pairs_of_values
from discreet.checks import FloatArray
from discreet.errors import DiscreetError
from discreet.kernel.queries import CostAndItems
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
SKIPPED = {"guarantee", "items", "keeps_secrets", "learner", "lineage"}
#: Arrays that are longer than this are seen as a digest.
LONGEST = 64
#: Runs of each history that are compared to see where to look.
FEW = 8
#: To find that what always shows breaks a claim takes a number of runs that grows with exp(epsilon).
RUNS, MOST_RUNS = 64, 4000

#: After how many tells it was seen, what it is, and which number of it.
Key = tuple[int, str, int]


class Sessions:
    """A learner that is asked and told round by round, in Python; the data are feedback for each round.

    Args:
        make: From a seed (or None) to a new learner with `ask`, `tell`, `items` and `guarantee`.
        cost_range: The range of what it is told.
        functions: Whether it is told functions of sets, not numbers.
        source: Random bits for all of them, if not their own.

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
        self._make, self._functions, self._source = make, functions, source
        pattern = make(None)
        self._claim: Guarantee = pattern.guarantee
        self._low, self._high = sorted(cost_range)
        self._items: tuple[Any, ...] = tuple(pattern.items)
        self._keeps_secrets = getattr(pattern, "keeps_secrets", False)  # one with a seed need not
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

        def in_round(place: int, change: Pair) -> Pair:
            about = f"round {place + 1} ({self._places[place]}): {change.about}"
            return self._pair(about, middle, {place: change})

        # One low cost among high ones decides where a sum passes a threshold.
        high = self._pair("one low cost among high ones", ends.first, {min(1, self._rounds - 1): ends})
        for kind in (None, 0, 4):
            told = {
                place: ends if kind is None else others[(k + kind) % len(others)]
                for k, place in enumerate(self._places)
            }
            if self._differ(self._pair("all places", middle, told)):
                return [high, *itertools.starmap(in_round, told.items())]
        return [high if self._differ(high) else in_round(min(self._places), ends)]

    def _pair(self, about: str, base: Any, changes: dict[int, Pair]) -> Pair:
        sides = ([changes[t][k] if t in changes else base for t in range(self._rounds)] for k in (1, 2))
        return Pair(about, *sides)

    def _differ(self, pair: Pair) -> bool:
        first, second = (self.observe(data, FEW, seed) for seed, data in enumerate(pair[1:]))
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
        rows = []
        for one in [None] * runs if seed is None else seed_sequence(seed).spawn(runs):
            learner = self._make(one)
            if seed is None and self._source is not None:
                learner._source = self._source
            rows.append(Run(learner, self._keeps_secrets).play(data))
        for key in itertools.chain(*rows):
            self._columns.setdefault(key, len(self._columns))
        seen = np.full((runs, len(self._columns)), np.nan)
        for k, row in enumerate(rows):
            seen[k, [self._columns[key] for key in row]] = list(row.values())
        return seen

    def column(self, index: int) -> str:
        tells, name, place = list(self._columns)[index]
        return f"{name}[{place}] after {tells} tells" if place else f"{name} after {tells} tells"


def sessions_of(given: Session[Any]) -> Sessions:
    """The attack on a learner of this package, or of a class derived from one."""
    query, functions = given.learner.query, isinstance(given, FunctionFeedback)
    costs = given._sign * query.low, given._sign * query.high
    return Sessions(given.fresh, cost_range=costs, functions=functions, source=given._source)


class Run:
    """A learner, what is done with it, and all that was seen so far."""

    def __init__(self, learner: Any, keeps_secrets: bool) -> None:
        self.learner, self._keeps_secrets = learner, keeps_secrets
        self.seen: dict[Key, float] = {}
        self._tells, self._looks = 0, True
        self._text = io.StringIO()
        self._caught: list[warnings.WarningMessage] = []
        kind, query = type(learner), getattr(getattr(learner, "learner", None), "query", None)
        self._by_item = isinstance(query, CostAndItems)
        self._properties = [name for name in dir(kind) if isinstance(getattr(kind, name), property)]

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

    def brought(self, value: Any) -> dict[Any, Any]:
        """What is told of items beside a cost: as much of each, and text as the name of another."""
        unknown = {value: value} if isinstance(value, str) else {}
        return dict.fromkeys(self.learner.items, value) | unknown

    def plain(self, values: list[Any]) -> None:
        for value in values:
            self.tell(self.ask(), value)

    def many(self, values: list[Any]) -> None:
        if not hasattr(self.learner, "tell_many"):
            return self.plain(values)
        decisions = [self.ask() for _ in values]
        told: list[tuple[Any, ...]] = [*zip(decisions, values, strict=True)]
        if self._by_item:
            told = [(decision, value, self.brought(value)) for decision, value in told]
        self.call(self.learner.tell_many, told)
        return self.look()

    def late(self, values: list[Any]) -> None:
        """The first ones are told last, in reverse order."""
        decisions = [self.ask() for _ in values[:2]]
        self.plain(values[2:])
        for decision, value in [*zip(decisions, values[:2], strict=True)][::-1]:
            self.tell(decision, value)

    def available(self, values: list[Any]) -> None:
        for value in values:
            given = {"available": self.learner.items[:-1]} | self._segment()
            decision = self.call(self.learner.ask, **given)
            self.tell(self.ask() if decision is None else decision, value)

    def bits(self, values: list[Any]) -> None:
        for value in values:
            try:
                randomizer = self.learner.randomizer()
            except (AttributeError, DiscreetError):
                self.plain([value])
            else:
                self.tell(self.ask(), released=randomizer.release(value))

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
            self.tell(decision.id, value)

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
        decision = self.learner.ask(**self._segment())
        self.note("the probability of the set", getattr(decision, "probability", 0.0))
        self.note("the set", decision.subset)
        return decision

    def _segment(self) -> dict[str, Any]:
        """The one whose turn it is, where there are such."""
        segments = getattr(self.learner, "segments", ())
        return {"segment": segments[self.learner._asked % len(segments)]} if segments else {}

    def tell(self, *given: Any, **named: Any) -> None:
        if self._by_item and len(given) > 1:
            named["items"] = self.brought(given[1])
        self.call(self.learner.tell, *given, **named)
        self.look()

    def call(self, method: Callable[..., Any], *given: Any, **named: Any) -> Any:
        """What a method returns; what it raises is text that is seen."""
        try:
            result = method(*given, **named)
        except Exception as error:
            print(type(error), error, repr(error.__cause__), repr(error.__context__), file=self._text)
            return None
        if method.__name__ in ("tell", "tell_many") and result is not None:
            print(repr(result), file=self._text)
        return result

    # What is seen

    @contextlib.contextmanager
    def _watching(self) -> Iterator[None]:
        """Notice everything that is logged, warned about and printed meanwhile; none of it gets out."""
        root, logger = logging.getLogger(), vars(logging)["Logger"]
        level, handle = root.level, logger.callHandlers
        # Every logger passes here, also those that do not hand on to others.
        logger.callHandlers = lambda _, record: print(record.getMessage(), file=self._text)
        root.setLevel(logging.NOTSET)
        try:
            with (
                warnings.catch_warnings(record=True) as self._caught,
                contextlib.redirect_stdout(self._text),
                contextlib.redirect_stderr(self._text),
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
        learner, public = self.learner, {}
        for name in [*getattr(learner, "__dict__", ()), *self._properties]:
            if not name.startswith("_") and name not in SKIPPED:
                public[name] = self.call(getattr, learner, name)
        public |= arrays_in(getattr(learner, "_state", None), "state")
        public["repr"] = repr(learner)
        warned = [str(each.message) for each in self._caught]
        public["errors, results, logs and prints"] = "\n".join([self._text.getvalue(), *warned])
        self._caught.clear()
        self._text.seek(0)
        self._text.truncate()
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
        """Keep a value as numbers, by which different values differ."""
        if value is None:
            found = [math.nan]
        elif isinstance(value, numbers.Real):
            found = [float(value)]
        elif isinstance(value, np.ndarray) and value.dtype.kind in "ifb":
            found = value.ravel().astype(np.float64).tolist()
            if value.size > LONGEST:
                found = [float(value.size), float(zlib.crc32(value.tobytes())), float(value.sum())]
        else:
            plain = sorted(map(repr, value)) if isinstance(value, frozenset | set) else value
            text = plain if isinstance(plain, str) else repr(plain)
            found = [float(len(text)), float(zlib.crc32(text.encode("utf-8", "replace")))]
        for place, number in enumerate(found):
            self.seen[self._tells, name, place] = number
