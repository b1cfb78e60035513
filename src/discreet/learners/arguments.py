"""The public arguments that learners share: items, the first point, and what a saved file keeps of them."""

from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import numpy.typing as npt

from discreet import checks
from discreet.checks import FloatArray
from discreet.errors import InvalidArgument, InvalidType

if TYPE_CHECKING:
    from discreet.learners.session import Item

Constructor = TypeVar("Constructor", bound=Callable[..., None])

#: Ranges beyond these would overflow where costs are squared; choose another unit.
SMALLEST_WIDTH, LARGEST_WIDTH = 1e-100, 1e100

#: Each has a phase of its own, and a part of what is remembered.
MOST_SEGMENTS = 64

#: Where randomness comes from is not an argument to be kept: a loaded learner gets bits of its own.
_NOT_KEPT = {"seed", "source"}


def named_items(owner: str, items: int | Iterable[Item]) -> tuple[Item, ...]:
    """The names of the items: 0, 1, ... where only their number is given. A set has no order: refused."""
    if isinstance(items, int | np.integer) and not isinstance(items, bool):
        numbers: tuple[Any, ...] = tuple(range(checks.integer(owner, "items", items, 1)))
        return numbers
    if not isinstance(items, Iterable) or isinstance(items, str | bytes):
        raise checks.invalid_argument(owner, "items", "a number or an iterable of names", items)
    if isinstance(items, set | frozenset):
        raise InvalidType(f"The 'items' of {owner} need an order: give a list or a tuple, not a set.")
    names = tuple(items)
    if not names or len(set(names)) < len(names):
        raise checks.invalid_argument(owner, "items", "at least one name, all different", names)
    return names


def named_segments(owner: str, segments: Iterable[str | int] | None) -> tuple[str | int, ...]:
    """The names of the segments, none by default."""
    if segments is None:
        return ()
    if isinstance(segments, set | frozenset):
        raise InvalidType(f"The 'segments' of {owner} need an order: give a list or a tuple, not a set.")
    named = isinstance(segments, Iterable) and not isinstance(segments, str | bytes)
    names = tuple(plain(list(segments))) if named else ()
    sound = all(type(name) in (str, int) for name in names) and 2 <= len(names) <= MOST_SEGMENTS
    if not sound or len(set(names)) < len(names):
        wanted = f"a list of 2 to {MOST_SEGMENTS} names, all different, strings or integers"
        raise checks.invalid_argument(owner, "segments", wanted, segments)
    return names


def named_items_and_sizes(
    owner: str, n: int | Iterable[Item], T: int, M: float, most_rounds: int | None = None
) -> tuple[tuple[Item, ...], int, int, float]:
    """What the paper's algorithms and their baselines share: items, their number, rounds, range."""
    names = named_items(owner, n)
    rounds = checks.integer(owner, "T", T, 1, most_rounds)
    return names, len(names), rounds, checks.positive_number(owner, "M", M)


def first_point(
    owner: str, name: str, start: npt.ArrayLike | Iterable[Hashable] | None, items: tuple[Hashable, ...]
) -> FloatArray:
    """A point of the cube: from a set of items, from n levels, or all levels 1/2 by default."""
    if start is None:
        return np.full(len(items), 0.5)
    if isinstance(start, set | frozenset):
        strangers = start - set(items)
        if strangers:
            raise checks.invalid_argument(owner, name, "a set of items", sorted(map(str, strangers)))
        return np.array([float(item in start) for item in items])
    point = checks.finite_vector(owner, name, start, len(items))
    if point.min() < 0 or point.max() > 1:
        raise checks.invalid_argument(owner, name, "a point of [0, 1]^n", point.tolist())
    return point


def cost_interval(owner: str, cost_range: object, maximize: bool) -> tuple[float, float]:
    """The range of costs; of rewards r the range of -r."""
    try:
        ends = tuple(cost_range)  # type: ignore[arg-type, var-annotated] # the except clause is the check
        low, high = (checks.finite_number(owner, "cost_range", end) for end in ends)
    except (TypeError, ValueError):
        raise checks.invalid_argument(owner, "cost_range", "a pair of finite numbers", cost_range) from None
    if not SMALLEST_WIDTH <= high - low <= LARGEST_WIDTH:
        wanted = f"a lower and a higher number, {SMALLEST_WIDTH:g} to {LARGEST_WIDTH:g} apart"
        raise checks.invalid_argument(owner, "cost_range", wanted, cost_range)
    return (-high, -low) if maximize else (low, high)


def keeps_arguments(constructor: Constructor) -> Constructor:
    """Decorate the constructor of a learner: note its arguments, so that the call can be repeated.

    The first argument stands for the items. Sequences may come back as lists.
    """
    signature = inspect.signature(constructor)
    own, first, *others = signature.parameters
    owner = constructor.__qualname__.split(".")[-2]

    @functools.wraps(constructor)
    def noting(*given: Any, **named: Any) -> None:
        try:
            bound = signature.bind(*given, **named)
        except TypeError as error:  # it quotes names, no values
            stranger = next((name for name in named if name not in signature.parameters), "")
            hint = checks.did_you_mean(stranger, [first, *others])
            raise InvalidType(f"{owner} cannot be called like this: {error}.{hint}") from None
        for name in others:
            if isinstance(bound.arguments.get(name), Iterator):  # it can be read only once
                bound.arguments[name] = list(bound.arguments[name])
        learner = bound.arguments[own]
        if not hasattr(learner, "_arguments"):  # a constructor that calls its parent's notes its own
            kept = {n: bound.arguments[n] for n in others if n in bound.arguments and n not in _NOT_KEPT}
            learner._arguments = {name: plain(value) for name, value in kept.items()}
        constructor(*bound.args, **bound.kwargs)

    noting.notes_arguments = True  # type: ignore[attr-defined] # read by `Session._kept_arguments`
    return noting  # type: ignore[return-value] # wraps keeps the signature


def plain(value: Any) -> Any:
    """An argument as JSON can hold it; what is of none of these kinds is left to be refused by JSON."""
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, Fraction) or (isinstance(value, Decimal) and value.is_finite()):
        return {"fraction": str(Fraction(value))}
    if isinstance(value, set | frozenset):
        return {"set": [plain(entry) for entry in sorted(value, key=repr)]}
    if isinstance(value, Mapping):
        return {"pairs": [[plain(key), plain(entry)] for key, entry in value.items()]}
    if isinstance(value, Iterable) and not isinstance(value, str | bytes):
        return [plain(entry) for entry in value]
    return value


def named_classes(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Arguments with classes replaced by their names, as files hold them."""
    return {
        name: {"class": [value.__module__, value.__qualname__]} if isinstance(value, type) else value
        for name, value in arguments.items()
    }


def _imported_class(module: str, name: str) -> type:
    """A policy's class by its name, from a module that has been imported: a file cannot run anything else."""
    found: Any = sys.modules.get(module)
    for part in name.split("."):
        found = getattr(found, part, None)
    if not isinstance(found, type) or not all(hasattr(found, each) for each in ("start", "plan", "learn")):
        raise InvalidArgument(f"The saved learner needs the policy {name} of {module}: import it first.")
    return found


def restored_argument(value: Any) -> Any:
    """What `keeps_arguments` wrote down, as it was given (sequences as lists)."""
    if isinstance(value, list):
        return [restored_argument(entry) for entry in value]
    if not isinstance(value, dict):
        return value
    if "fraction" in value:
        return Fraction(value["fraction"])
    if "class" in value:
        return _imported_class(*value["class"])
    if "set" in value:
        return {restored_argument(entry) for entry in value["set"]}
    return {restored_argument(key): restored_argument(entry) for key, entry in value["pairs"]}
