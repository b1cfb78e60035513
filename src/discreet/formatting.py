"""Numbers and lists as people read them: few digits, a proper minus sign, nouns in the plural.

Examples:
    >>> number(0.048637), number(-0.5), number(12345.6), number(2e-6)
    ('0.0486', '−0.5', '12,346', '2e−06')
    >>> [short_number(x) for x in (1, 20_000, 3e6, 0.05, -0.5, 0.00002)]
    ['1', '20k', '3M', '0.05', '−0.5', '2e−05']
    >>> counted(4096, "round"), counted_range([3, 1], "seed"), listed(["a", "b", "c"])
    ('4,096 rounds', '1 to 3 seeds', 'a, b and c')
"""

from __future__ import annotations

import math
from collections.abc import Sequence


def number(value: float, digits: int = 3) -> str:
    """A number in so many digits; a zero has no sign."""
    if not math.isfinite(value):
        return "−∞" if value == -math.inf else "∞" if value == math.inf else "unknown"
    text = f"{value:,.0f}" if abs(value) >= 10**digits else f"{value:z.{digits}g}"
    return text.replace("-", "−")


def short_number(value: float) -> str:
    """The same with a letter for thousands, millions and more, for ticks and rates."""
    for size, letter in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if abs(value) >= size:
            return number(value / size) + letter
    return number(value)


def counted(count: int, noun: str) -> str:
    """A number of things."""
    return f"{count:,} {noun}" + ("" if count == 1 else "s")


def counted_range(counts: Sequence[int], noun: str) -> str:
    """The least and the largest of several numbers of things."""
    low, high = min(counts), max(counts)
    return counted(high, noun) if low == high else f"{low:,} to {counted(high, noun)}"


def listed(parts: Sequence[str]) -> str:
    """A list with "and" before the last."""
    return " and ".join(part for part in (", ".join(parts[:-1]), parts[-1]) if part)
