"""What a learner is saved as: the arrays of its core, and the decisions that are still to be told about."""

import math
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from discreet.checks import IntArray
from discreet.errors import InvalidArgument
from discreet.learners.draw import SIZE, Draw

Arrays = Mapping[str, npt.NDArray[Any]]


def arrays_of(core: Any) -> dict[str, npt.NDArray[Any]]:
    """All arrays of a core, under the names of the parts they belong to."""
    return {f"core.{name}": array for name, array in _walk(core)}


def constants_of(core: Any) -> dict[str, float]:
    """All numbers of a core that do not change, likewise: scales of noise, bounds, steps."""
    return {name: float(value) for name, value in _scalars(core)}


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


def put_back(owner: str, core: Any, saved: Arrays) -> None:
    """Overwrite the arrays of a core with saved ones of the same shapes."""
    for name, array in arrays_of(core).items():
        if name not in saved or saved[name].shape != array.shape or saved[name].dtype != array.dtype:
            raise InvalidArgument(f"The saved state does not fit a {owner}: '{name}' differs.")
        array[...] = saved[name]


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


def unpacked(owner: str, saved: Arrays, n: int, asked: int) -> tuple[dict[int, Draw], Draw | None]:
    """The open decisions and the last draw. Kernels index by these numbers, so each is checked."""
    try:
        ends = np.cumsum(saved["draws.lengths"])
        orders = [
            saved["draws.orders"][end - length : end]
            for end, length in zip(ends, saved["draws.lengths"], strict=True)
        ]
        parts = zip(orders, saved["draws.numbers"], saved["draws.chances"], strict=True)
        draws = [Draw(order.copy(), numbers.copy(), chances.copy()) for order, numbers, chances in parts]
        sound = (
            all(_sound(draw, n) for draw in draws)
            and int(saved["draws.lengths"].sum()) == saved["draws.orders"].size
        )
        names = saved["pending.names"].tolist()
        places = saved["pending.draws"].tolist()
        last = saved["pending.last"].tolist()
        sound = sound and all(0 <= place < len(draws) for place in places + last) and len(last) <= 1
        sound = sound and all(1 <= name <= asked for name in names) and len(set(names)) == len(names)
        found = {name: draws[place] for name, place in zip(names, places, strict=True)} if sound else {}
    except (KeyError, ValueError, IndexError):
        sound = False
    if not sound:
        raise InvalidArgument(
            f"The saved state of this {owner} is damaged: its open decisions make no sense."
        )
    return found, draws[last[0]] if last else None


def _sound(draw: Draw, n: int) -> bool:
    order, size = draw.order, draw.numbers[SIZE]
    return bool(
        np.unique(order).size == order.size
        and (order.size == 0 or (order.min() >= 0 and order.max() < n))
        and 0 <= size <= order.size
        and draw.numbers[1:].min() >= 0 - 2**62
        and np.isfinite(draw.chances).all()
        and 0 < draw.chances[0] <= 1 + 1e-9
    )


def _integers(values: Any) -> IntArray:
    return np.array(list(values), dtype=np.int64)
