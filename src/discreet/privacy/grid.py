"""Private numbers become integers in a declared range. No compiler is loaded here: clients use it, too."""

import contextlib
import dataclasses
import math
import threading
import warnings
from collections.abc import Iterator
from typing import Any

from ..arguments import finite_number, integer, invalid_argument

DEFAULT_UNITS = 1 << 20  # steps of the grid in half the declared range: a millionth each
MOST_UNITS = 1 << 28  # the finest grid: products of two bounded numbers must stay far below 2^63

_lock, _inside, _before = threading.Lock(), 0, warnings.catch_warnings()


@contextlib.contextmanager
def no_warnings() -> Iterator[None]:
    """Drop what a user's own code warns of while it handles private values: the text may have them.

    Filters belong to the process, and `catch_warnings` alone restores those of another thread. So they are
    off in all threads until the last has left. A thread that changes filters meanwhile can switch them on.
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


def number_or_nan(value: Any) -> float:
    """A private value of any kind as a float, NaN if it is not a number; nothing is raised or warned of."""
    kind = type(value)
    if issubclass(kind, float):  # nearly always; what a subclass may do is not asked
        return float.__float__(value)
    try:
        if kind is int:
            return float(value)
        with no_warnings():
            return float(value)
    except Exception:  # an error or a warning would tell something about the value
        return math.nan


def to_units(value: float, low: float, high: float, units: int) -> int:
    """The grid point of any float: 0 if it is not finite, otherwise clipped to [-units, units].

    It depends on this value only: replacing it moves the result by at most 2 * units, however floats round.
    """
    if not math.isfinite(value):
        return 0
    half = 0.5 * high - 0.5 * low
    centred = min(max(value, low), high) - (low + half)
    return min(max(math.floor(centred / half * units + 0.5), -units), units)


@dataclasses.dataclass(frozen=True)
class Grid:
    """A declared range of costs; the integers from -units to units stand for its values.

    The range must be fixed before the data are seen: a range chosen from data is itself a release.
    """

    low: float
    high: float
    units: int = DEFAULT_UNITS

    def __post_init__(self) -> None:
        object.__setattr__(self, "low", finite_number("Grid", "low", self.low))
        object.__setattr__(self, "high", finite_number("Grid", "high", self.high))
        # Python's own integers: those of numpy would wrap around in the scales made from them.
        object.__setattr__(self, "units", integer("Grid", "units", self.units, least=1, most=MOST_UNITS))
        if not (self.low < self.high and self.step > 0 and self.low < self.midpoint < self.high):
            ends = (self.low, self.high)
            raise invalid_argument("Grid", "low, high", "a range whose ends a float can tell apart", ends)

    @property
    def half_width(self) -> float:
        return 0.5 * self.high - 0.5 * self.low

    @property
    def midpoint(self) -> float:
        """The value that stands for everything that is not a finite number."""
        return self.low + self.half_width

    @property
    def step(self) -> float:
        return self.half_width / self.units

    def of(self, value: Any) -> int:
        """The integer that stands for a private value; it raises nothing, whatever it is given."""
        return to_units(number_or_nan(value), self.low, self.high, self.units)

    def value(self, units: float) -> float:
        """The cost that a (possibly noisy) number of units stands for."""
        return self.midpoint + self.step * units
