"""Which inputs an audit compares: what two people may tell, and what a query measures of it."""

import itertools
import math
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from discreet.auditing.attack import Pair
from discreet.checks import FloatArray, IntArray
from discreet.kernel.phase import Ticket
from discreet.kernel.queries import CostsOfSets, Query, measure, numbers_told
from discreet.learners.learner import Learner
from discreet.privacy.guarantee import Neighbours
from discreet.privacy.sensitivity import VectorBound
from discreet.randomness import BitSource


def values_to_tell(low: float, high: float, step: float) -> dict[str, float]:
    """What one person may tell: ends of a range, inside, outside, not finite, one step off."""
    middle, width = low + (high - low) / 2, high - low
    return {
        "the upper end": high,
        "the lower end": low,
        "one step above the lower end": low + step,
        "far above": high + 1e9 * width,
        "far below": low - 1e9 * width,
        "not a number": math.nan,
        "infinite": math.inf,
        "the middle": middle,
        "above half the range": middle + 0.1 * width,
        "somewhat above": high + 2 * width,
    }


def pairs_of_values(low: float, high: float, step: float) -> list[Pair]:
    """Each such value against the end of the range that is farther from it; both ends come first."""
    values, middle = values_to_tell(low, high, step), low + (high - low) / 2
    del values["the lower end"]
    return [
        Pair(f"{name} against the lower end", value, low)
        if value > middle
        else Pair(f"{name} against the upper end", value, high)
        for name, value in values.items()
    ]


def pairs_in_slots(changes: list[Pair], slots: int, per_person: int) -> list[Pair]:
    """The farthest change in the first, a middle and the last slot, and the others in the first.

    Other reports are neutral; a person has as many as one may have.
    """
    farthest, *others = changes
    places = [(place, farthest) for place in sorted({0, min(5, slots - 1), slots - 1})]
    pairs = []
    for place, change in places + [(0, change) for change in others]:
        first = min(place, max(0, slots - per_person))
        told = np.zeros((2, slots, farthest.first.size), dtype=np.int64)
        told[:, first : first + per_person] = np.array(change[1:])[:, None]
        pairs.append(Pair(f"slot {place + 1}: {change.about}", *told))
    return pairs


def changes_of_numbers(grid: Any) -> list[Pair]:
    """What a grid makes of one person's number."""
    values = values_to_tell(grid.low, grid.high, grid.step)
    return farthest_first([{name: np.array([grid.of(value)]) for name, value in values.items()}])


def changes_of_vectors(bound: VectorBound, dimension: int, relation: Neighbours) -> list[Pair]:
    """Reports at corners of a bound, and what is forced into it."""
    before = np.minimum(bound.l1, bound.coordinate * np.arange(dimension + 1))
    corner = np.diff(before) * np.where(np.arange(dimension) % 2 == 0, 1.0, -1.0)
    values = values_to_tell(-1.0, 1.0, 1.0 / bound.coordinate)
    with np.errstate(invalid="ignore"):  # infinity times zero
        inputs = {name: bound.enforce(value * bound.step * corner) for name, value in values.items()}
    against = (
        {"zero": np.zeros(dimension, dtype=np.int64)} if relation is Neighbours.ZERO_OUT_ONE_ROUND else None
    )
    return farthest_first([inputs], against)


def changes_of_feedback(learner: Learner) -> list[Pair]:
    """What the query measures of two people's feedback, for many kinds of feedback and many tickets."""
    n, query = learner.n, learner.query
    width = max(1, learner.plan(learner.policy.start(), BitSource(seed=0)).note.shape[1])
    orders = {
        "": np.arange(n),
        "reversed order, ": np.arange(n)[::-1].copy(),
        "shuffled order, ": np.random.default_rng(0).permutation(n),
    }
    sizes, chances, signs = sorted({0, 1, n // 2, n}), [1.0, 0.5, 1e-3], [1.0, -1.0]
    if query.whole:  # which set was chosen plays no part
        sizes, chances, signs = [n], [1.0], [0.0]
    tickets = []
    for (name, order), size, chance, sign in itertools.product(orders.items(), sizes, chances, signs):
        measured: dict[str, IntArray] = {}
        for about, costs in _feedback(query, n):
            out = measured[name + about] = np.zeros(learner.dimension, dtype=np.int64)
            measure(query, costs, Ticket(1, 0, 0, size, chance, order, np.full(width, sign)), out)
        tickets.append(measured)
    return farthest_first(tickets)


def _feedback(query: Query, n: int) -> Iterator[tuple[str, FloatArray]]:
    """Costs of one set, all prefixes of an order, or all sets: a value in some places, else the lower end."""
    places = np.arange(numbers_told(query, n, n))
    masks = {"": places >= 0}
    if isinstance(query, CostsOfSets):  # the same for all of them shows nothing
        masks = {}
    for k in range(1, min(places.size, 5)):
        masks |= {f" after {k} items": places == k, f" except after {k} items": places != k}
    step = (query.high - query.low) / 2 / getattr(query, "units", 1 << 20)
    values = values_to_tell(query.low, query.high, step)
    for (about, value), (where, mask) in itertools.product(values.items(), masks.items()):
        yield about + where, np.where(mask, value, query.low)


def farthest_first(
    groups: Iterable[dict[str, IntArray]], against: dict[str, IntArray] | None = None
) -> list[Pair]:
    """The reports of a group that lie farthest apart in L1, for each kind of report; the farthest first."""
    kinds = ("", "odd", "far", "not a number", "infinite", "the middle", "order")
    best: dict[str, tuple[float, Pair]] = {}
    for inputs in groups:
        others = against or inputs
        units, other_units = (np.array([*group.values()], dtype=np.float64) for group in (inputs, others))
        apart = np.abs(units[:, None] - other_units)
        distance, odd = apart.sum(axis=2), (apart % 2 == 1).any(axis=2)
        for kind in kinds:
            fits = odd if kind == "odd" else np.array([[kind in name] for name in inputs])
            one, other = np.unravel_index(np.argmax(distance * fits), distance.shape)
            if (distance * fits)[one, other] > best.get(kind, (0.0,))[0]:
                names = [*inputs][one], [*others][other]
                pair = Pair(" against ".join(names), inputs[names[0]], others[names[1]])
                best[kind] = float(distance[one, other]), pair
    ranked = sorted(best.values(), key=lambda entry: -entry[0])
    once = {(pair.first.tobytes(), pair.second.tobytes()): pair for _, pair in ranked}
    nothing = next(iter(inputs.values()))
    return [*once.values()] or [Pair("nothing that differs", nothing, nothing)]
