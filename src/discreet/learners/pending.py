"""What a learner is saved as: the arrays of its core, and the decisions that are still to be told about."""

import math
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from discreet.checks import IntArray
from discreet.errors import InvalidArgument
from discreet.learners.draw import PROBABILITY, Draw
from discreet.privacy.grid import MOST_UNITS

Arrays = Mapping[str, npt.NDArray[Any]]

#: Decisions are numbered in 64 bits.
MOST_DECISIONS = 1 << 62

_LISTS = ("pending.names", "pending.draws", "pending.last", "draws.lengths", "draws.orders")


def arrays_of(core: Any) -> dict[str, npt.NDArray[Any]]:
    """All arrays of a core, under the names of the parts they belong to."""
    return {f"core.{name}": array for name, array in _walk(core)}


def constants_of(core: Any) -> dict[str, float]:
    """All numbers of a core that do not change, likewise: scales of noise, bounds. Not those of its rule.

    A rule only post-processes what was released.
    """
    return {name: float(value) for name, value in _scalars(core) if not name.startswith("rule.")}


def _scalars(part: Any, prefix: str = "") -> Iterator[tuple[str, Any]]:
    for name in part._fields:
        value = getattr(part, name)
        if hasattr(value, "_fields"):
            yield from _scalars(value, f"{prefix}{name}.")
        elif not isinstance(value, np.ndarray):
            yield prefix + name, value


def same_constants(owner: str, core: Any, saved: Mapping[str, float]) -> None:
    """Refuse to go on with other constants than a state was made with: noise and sums would not fit."""
    present = constants_of(core)
    if present.keys() != saved.keys() or any(
        not math.isclose(present[name], saved[name], rel_tol=1e-12) for name in present
    ):
        raise InvalidArgument(
            f"This {owner} was saved with other constants than this release (or this machine) computes from "
            "the same arguments. Load it where it was made, or start a new one at its point."
        )


def _walk(part: Any, prefix: str = "") -> Iterator[tuple[str, npt.NDArray[Any]]]:
    for name in part._fields:
        value = getattr(part, name)
        if isinstance(value, np.ndarray):
            yield prefix + name, value
        elif hasattr(value, "_fields"):
            yield from _walk(value, f"{prefix}{name}.")


def packed(pending: Mapping[int, Draw], drawn: Draw | None) -> dict[str, npt.NDArray[Any]]:
    """Open decisions and the last draw as a few arrays; a draw that several decisions share is kept once."""
    draws = list({id(draw): draw for draw in [*pending.values(), *([drawn] if drawn else [])]}.values())
    place = {id(draw): k for k, draw in enumerate(draws)}
    return {
        "pending.names": _integers(pending),
        "pending.draws": _integers(place[id(draw)] for draw in pending.values()),
        "pending.last": _integers([place[id(drawn)]] if drawn else []),
        "draws.lengths": _integers(draw.order.size for draw in draws),
        "draws.orders": np.concatenate([np.empty(0, np.int64), *(draw.order for draw in draws)]),
        "draws.numbers": np.array([draw.numbers for draw in draws], dtype=np.int64).reshape(-1, 3),
        "draws.chances": np.array([draw.chances for draw in draws], dtype=np.float64).reshape(-1, 2),
    }


def unpacked(
    owner: str, saved: Arrays, n: int, asked: int, rounds_per_draw: int
) -> tuple[dict[int, Draw], Draw | None]:
    """The open decisions and the last draw. Kernels index by these numbers, so each is checked."""
    names, places, last, lengths, orders = (_whole(owner, saved, name) for name in _LISTS)
    count = lengths.size
    numbers = saved.get("draws.numbers", np.empty(0))
    chances = saved.get("draws.chances", np.empty(0))
    fits = (
        numbers.shape == (count, 3)
        and numbers.dtype == np.int64
        and chances.shape == (count, 2)
        and chances.dtype == np.float64
        and lengths.min(initial=0) >= 0
        and lengths.max(initial=0) <= n
        and int(lengths.sum()) == orders.size
        and names.size == places.size
        and np.unique(names).size == names.size
        and names.min(initial=1) >= 1
        and names.max(initial=1) <= max(asked, 1)
        and last.size <= 1
        and min(places.min(initial=0), last.min(initial=0)) >= 0
        and max(places.max(initial=-1), last.max(initial=-1)) < count
    )
    if not fits:
        raise _damaged(owner)
    cut = np.split(orders, np.cumsum(lengths)[:-1]) if count else []
    draws = [Draw(order.copy(), numbers[k].copy(), chances[k].copy()) for k, order in enumerate(cut)]
    if not all(_sound(draw, n, rounds_per_draw) for draw in draws):
        raise _damaged(owner)
    found = {name: draws[place] for name, place in zip(names.tolist(), places.tolist(), strict=True)}
    return found, draws[last[0]] if last.size else None


def _whole(owner: str, saved: Arrays, name: str) -> IntArray:
    """A saved list of whole numbers."""
    if name not in saved or saved[name].ndim != 1 or saved[name].dtype != np.int64:
        raise _damaged(owner)
    return saved[name]


def _sound(draw: Draw, n: int, rounds_per_draw: int) -> bool:
    order = draw.order
    size, told, total = draw.numbers.tolist()
    return bool(
        np.unique(order).size == order.size
        and order.min(initial=0) >= 0
        and order.max(initial=0) < n
        and 0 <= size <= order.size
        and 0 <= told <= rounds_per_draw
        and abs(total) <= told * MOST_UNITS
        and np.isfinite(draw.chances).all()
        and 0 < draw.chances[PROBABILITY] <= 1 + 1e-9
    )


def _damaged(owner: str) -> InvalidArgument:
    return InvalidArgument(f"The saved state of this {owner} is damaged: its open decisions make no sense.")


def _integers(values: Any) -> IntArray:
    return np.array(list(values), dtype=np.int64)
