"""Numbers as readers want them: few digits, and a proper minus sign."""

from __future__ import annotations

import math

#: Regret below this share of the costs that it is a difference of is the rounding of sums.
ROUNDING = 1e-6


def number(value: float, digits: int = 3) -> str:
    """A number in so many digits.

    Examples:
        >>> number(0.048637), number(-0.5), number(12345.6), number(2e-6)
        ('0.0486', '−0.5', '12,346', '2e−06')
    """
    if not math.isfinite(value):
        return "−∞" if value == -math.inf else "∞" if value == math.inf else "unknown"
    value += 0.0  # a zero has no sign
    text = f"{value:,.0f}" if abs(value) >= 10**digits else f"{value:.{digits}g}"
    return text.replace("-", "−")


def difference(value: float, *terms: float) -> float:
    """A difference of such terms; 0 where it is not more than the rounding of their sums.

    Examples:
        >>> difference(-3e-9, 0.25, 0.25), difference(0.01, 0.26, 0.25)
        (0.0, 0.01)
    """
    return value if abs(value) > ROUNDING * max(map(abs, terms)) else 0.0


def interval(low: float, high: float) -> str:
    """The ends of an interval.

    Examples:
        >>> interval(-0.25, 1)
        '−0.25 to 1'
    """
    return f"{number(low)} to {number(high)}"


def percent(share: float) -> str:
    """A share as a percentage; above 99 with one decimal.

    Examples:
        >>> percent(0.9625), percent(0.9987)
        ('96%', '99.9%')
    """
    return f"{100 * share:.0f}%" if share < 0.99 else f"{100 * share:.1f}%"


def listed(parts: list[str]) -> str:
    """A list in words.

    Examples:
        >>> listed(["a", "b", "c"]), listed(["a"])
        ('a, b and c', 'a')
    """
    return parts[0] if len(parts) == 1 else ", ".join(parts[:-1]) + " and " + parts[-1]
