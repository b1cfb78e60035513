"""Whether a stream keeps its word: for those who write one of their own."""

from __future__ import annotations

from typing import Any

import numpy as np

from discreet import checks
from discreet.checks import FloatArray, IntArray
from discreet.environments.stream import Stream, chain_costs, prefix_cost
from discreet.errors import InvalidArgument, InvalidType
from discreet.set_functions import SetFunction

#: Costs of single rounds may differ by this share of the range, and totals by this for every round.
TOLERANCE = 1e-9
#: On how many random sets totals are compared, besides the empty one and the full one.
RANDOM_SETS = 20


def check_stream(stream: Stream, *, seed: int = 0) -> None:
    """Refuse a stream that does not keep its word; it is played once, so make a short one for this.

    The set functions, the compiled costs and the totals of a stream say the same thing in three ways, and
    mistakes are easy. In every round, at a random point and along a random order of the items: costs stay
    in the `cost_range`; `prefix_cost` agrees with `chain_costs`, both when they are called again for the
    same round; and both agree with the round's set function. On random sets: the `total` is the sum of
    these functions, and so is `total_until` half of the rounds. Where functions depend on what the learner
    does there are none to compare with.

    Whether the functions are submodular is for :func:`discreet.set_functions.is_submodular` to say.

    Args:
        stream: It must have a `compiled` form, or be iterable.
        seed: Of the points, orders and sets.

    Raises:
        InvalidArgument: With the round and what differs in it.

    Examples:
        >>> from discreet.environments import modular
        >>> check_stream(modular(n=4).stream(50))
    """
    rng = np.random.default_rng(checks.integer("check_stream", "seed", seed, 0))
    stream = stream.for_one_run()
    low, high = stream.cost_range
    if not low < high:
        raise _broken(stream, f"its cost_range is {stream.cost_range}")
    functions = _functions(stream)
    for t in range(stream.rounds):
        order = rng.permutation(stream.n)
        seen = [f.chain_values(order) for f in functions[t : t + 1]]
        if stream.compiled is not None:
            seen.append(_compiled_costs(stream, t, rng.random(stream.n), order))
        for costs in seen:
            if not (low <= costs.min() and costs.max() <= high):
                raise _broken(stream, f"a cost of round {t} lies outside {stream.cost_range}")
            if not np.allclose(costs, seen[0], rtol=0, atol=TOLERANCE * (high - low)):
                where = f"along {order.tolist()} in round {t}"
                raise _broken(
                    stream, f"{where} its function has {seen[0]}, but its compiled costs are {costs}"
                )
    if functions:
        for rounds in (stream.rounds // 2, stream.rounds):
            _compare_total(stream, rounds, functions[:rounds], rng)


def _functions(stream: Stream) -> list[SetFunction]:
    """The functions of all rounds; none where they depend on what the learner does."""
    try:
        found = list(stream)
    except InvalidType:
        if stream.compiled is None:
            raise _broken(stream, "it is neither compiled nor iterable") from None
        return []
    if len(found) != stream.rounds:
        raise _broken(stream, f"it has {stream.rounds} rounds, but iterating gives {len(found)}")
    for t, function in enumerate(found):
        if function.n != stream.n:
            raise _broken(stream, f"it has {stream.n} items, but {function.n} in round {t}")
    return found


def _compiled_costs(stream: Stream, t: int, x: FloatArray, order: IntArray) -> FloatArray:
    compiled: Any = stream.compiled
    costs = np.full(stream.n + 1, np.nan)
    chain_costs(compiled, t, x, order, costs)
    first = costs.copy()
    single = [prefix_cost(compiled, t, x, order, size) for size in range(stream.n + 1)]
    chain_costs(compiled, t, x, order, costs)
    if not np.allclose(costs, first, rtol=0, atol=0, equal_nan=True):
        raise _broken(stream, f"played again, round {t} has other costs: {costs} instead of {first}")
    scale = stream.cost_range[1] - stream.cost_range[0]
    if not np.allclose(single, costs, rtol=0, atol=TOLERANCE * scale):
        raise _broken(stream, f"in round {t} its chain costs {costs}, its prefixes one by one {single}")
    return costs


def _compare_total(
    stream: Stream, rounds: int, functions: list[SetFunction], rng: np.random.Generator
) -> None:
    if rounds == 0:
        return
    total, scale = stream.total_until(rounds), stream.cost_range[1] - stream.cost_range[0]
    masks = [np.zeros(stream.n, dtype=bool), np.ones(stream.n, dtype=bool)]
    for mask in masks + [rng.random(stream.n) < 0.5 for _ in range(RANDOM_SETS)]:
        added, stated = sum(function(mask) for function in functions), total(mask)
        if abs(added - stated) > TOLERANCE * scale * rounds:
            chosen = np.flatnonzero(mask).tolist()
            raise _broken(
                stream,
                f"of {rounds} rounds the total at {chosen} is {stated:g}, but they add up to {added:g}",
            )


def _broken(stream: Stream, what: str) -> InvalidArgument:
    return InvalidArgument(f"The stream {type(stream).__name__} does not keep its word: {what}.")
