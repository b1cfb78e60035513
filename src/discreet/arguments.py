"""Checks of public arguments: never call them on private feedback, an exception would be a leak.

Set functions may be made of private numbers: checks with `quoted=False` quote none. Only Python is needed
here: clients have no arrays.
"""

import contextlib
import difflib
import math
import operator
from collections.abc import Iterable, Sequence
from typing import Any, TypeVar

from .errors import InvalidArgument, UnknownName

Option = TypeVar("Option", bound=str)

_NOT_QUOTED = object()


def invalid_argument(owner: str, name: str, wanted: str, got: object = _NOT_QUOTED) -> InvalidArgument:
    """The error for an argument that is not what was wanted, with the offending value if `got` is given."""
    sentence = f"The '{name}' of {owner} must be {wanted}."
    if got is not _NOT_QUOTED:
        shown = repr(got)
        sentence += f" Got {shown if len(shown) <= 200 else shown[:200] + '...'} instead."
    return InvalidArgument(sentence)


def unknown_name(sentence: str, name: str, known: Iterable[str], others: str = "") -> UnknownName:
    """The error for an unknown name: the sentence, the nearest known name, and the list of known names."""
    listed = list(known)
    return UnknownName(f"{sentence}{did_you_mean(name, listed)} Known: {', '.join(listed)}{others}.")


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """A suggestion to append to a message about an unknown name; empty if no known name is close."""
    near = difflib.get_close_matches(name, list(known), 1)
    return f" Did you mean {near[0]!r}?" if near else ""


def finite_number(owner: str, name: str, value: object, *, quoted: bool = True) -> float:
    """A finite real number, as a float."""
    return _number(owner, name, value, "a finite number", -math.inf, quoted=quoted)


def positive_number(owner: str, name: str, value: object, *, quoted: bool = True) -> float:
    """A finite number greater than zero."""
    return _number(owner, name, value, "a positive number", math.ulp(0.0), quoted=quoted)


def nonnegative_number(owner: str, name: str, value: object) -> float:
    """A finite number of at least zero."""
    return _number(owner, name, value, "a number of at least 0", 0.0)


def unit_number(owner: str, name: str, value: object) -> float:
    """A number from 0 to 1, both included."""
    return _number(owner, name, value, "a number from 0 to 1", 0.0, 1.0)


def share(owner: str, name: str, value: object) -> float:
    """A number greater than 0 and at most 1."""
    return _number(owner, name, value, "a number in (0, 1]", math.ulp(0.0), 1.0)


def _number(
    owner: str, name: str, value: Any, wanted: str, least: float, most: float = math.inf, quoted: bool = True
) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if not (math.isfinite(number) and least <= number <= most):
        raise invalid_argument(owner, name, wanted, value if quoted else _NOT_QUOTED)
    return number


def integer(owner: str, name: str, value: object, least: int, most: int | None = None) -> int:
    """An integer within [least, most]."""
    number = None
    if not isinstance(value, bool):
        with contextlib.suppress(TypeError):
            number = operator.index(value)  # type: ignore[arg-type] # suppressed above
    if number is None or number < least or (most is not None and number > most):
        limits = f"of at least {least}" if most is None else f"from {least} to {most}"
        raise invalid_argument(owner, name, f"an integer {limits}", value)
    return number


def one_of(owner: str, name: str, value: Option, options: Sequence[Option]) -> Option:
    """One of a few strings."""
    if value not in options:
        raise invalid_argument(owner, name, " or ".join(map(repr, options)), value)
    return value
