"""A consistency check for custom streams."""

from __future__ import annotations

import itertools

import numpy as np

from discreet import checks
from discreet.environments.stream import Stream, chain_costs, prefix_cost
from discreet.errors import InvalidArgument, InvalidType
from discreet.set_functions import SetFunction

#: Tolerance per round, as a share of the range.
TOLERANCE = 1e-9
#: Totals are compared on so many random sets, and on the empty and the full one.
RANDOM_SETS = 20


def check_stream(stream: Stream, *, seed: int = 0) -> None:
    """Check that the functions, the compiled costs and the totals of a stream agree.

    In every round, at a random point and along a random order of the items: costs are in the `cost_range`;
    `prefix_cost` agrees with `chain_costs`, also when they are called again for the same round; both agree
    with the round's set function. On random sets: `total`, and `total_until` half of the rounds, are the sums
    of these functions. An adaptive stream has no functions to compare with.

    Every round is played, so use a short stream. Submodularity is not checked; see
    :func:`discreet.set_functions.is_submodular`.

    Args:
        stream: A stream with a `compiled` form, or one that can be iterated.
        seed: The seed of the points, orders and sets.

    Raises:
        InvalidArgument: Names the round and what differs in it.

    Examples:
        >>> from discreet.environments import modular
        >>> check_stream(modular(n=4).stream(50))
    """
    rng = np.random.default_rng(checks.integer("check_stream", "seed", seed, 0))
    stream = stream.for_one_run()
    low, high = stream.cost_range
    tolerance = TOLERANCE * (high - low)
    functions = _functions(stream)

    def require(sound: bool | np.bool_, problem: str) -> None:
        if not sound:
            raise InvalidArgument(f"The stream {type(stream).__name__} is inconsistent: {problem}.")

    require(low < high, f"its cost_range is {stream.cost_range}")
    require(stream.compiled is not None or functions is not None, "it is neither compiled nor iterable")
    if functions is not None:
        found, sizes = len(functions), {function.n for function in functions}
        require(found == stream.rounds, f"it has {stream.rounds} rounds, but iterating gives {found}")
        require(sizes == {stream.n}, f"it has {stream.n} items, its functions have {sizes}")
    for t in range(stream.rounds):
        order, seen = rng.permutation(stream.n), []
        if functions is not None:
            seen.append(functions[t].chain_values(order))
        if stream.compiled is not None:
            arguments = (stream.compiled, t, rng.random(stream.n), order)
            costs, again = np.full((2, stream.n + 1), np.nan)
            chain_costs(*arguments, costs)
            single = [prefix_cost(*arguments, size) for size in range(stream.n + 1)]
            chain_costs(*arguments, again)
            require(np.array_equal(costs, again), f"round {t} costs {costs} first, and {again} when repeated")
            same = np.allclose(single, costs, rtol=0, atol=tolerance)
            require(same, f"in round {t} chain_costs gives {costs}, prefix_cost {single}")
            seen.append(costs)
        inside = low <= np.min(seen) and np.max(seen) <= high
        require(inside, f"a cost of round {t} lies outside {stream.cost_range}")
        same = np.allclose(seen[-1], seen[0], rtol=0, atol=tolerance)
        require(same, f"along {order} in round {t} its function has {seen[0]}, its compiled form {seen[-1]}")
    masks = [np.zeros(stream.n, dtype=bool), np.ones(stream.n, dtype=bool)]
    masks += [rng.random(stream.n) < 0.5 for _ in range(RANDOM_SETS)]
    for rounds, mask in itertools.product({max(stream.rounds // 2, 1), stream.rounds}, masks):
        if functions is not None:
            stated, added = stream.total_until(rounds)(mask), sum(f(mask) for f in functions[:rounds])
            same = abs(added - stated) <= tolerance * rounds
            where = f"at {np.flatnonzero(mask)} the total of {rounds} rounds"
            require(same, f"{where} is {stated:g}, but the functions add up to {added:g}")


def _functions(stream: Stream) -> list[SetFunction] | None:
    """The functions of all rounds; None for an adaptive stream."""
    try:
        return list(stream)
    except InvalidType:
        return None
