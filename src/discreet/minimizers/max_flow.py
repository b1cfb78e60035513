"""Exact minimisation of cut-like functions by maximum flow.

scipy's max-flow takes 32-bit capacities only, so capacities are put on a 61-bit integer grid, rounded DOWN,
and the flow is found by refinement: push what fits in 31 bits of the leading digits, then go on with the next
digits of the residual network. Each stage leaves a cut whose residual capacity bounds what is still missing.
The flow is feasible in the original network too, so its value is a certified lower bound.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from discreet.checks import BoolArray, FloatArray, IntArray
from discreet.errors import InvalidArgument
from discreet.minimizers.result import Minimum, Stopping
from discreet.set_functions import SetFunction
from discreet.set_functions.structure import CutNetwork

GRID_BITS = 61  # total capacity of the grid: flows and sums of capacities stay within int64
STAGE_BITS = 31  # what one call of scipy's solver can carry


def minimize_by_max_flow(f: SetFunction, stopping: Stopping) -> Minimum | None:
    """The minimum, or None if f is not known to be a minimum cut (see `set_functions.structure`)."""
    network = f.cut_network()
    if network is None:
        return None
    flow = _Flow(network)
    best: BoolArray = np.zeros(f.n, dtype=np.bool_)
    value, stopped = f(best), None
    try:
        while stopped is None:
            flow.push_stage()
            candidate = flow.side[: f.n]
            if (reached := f(candidate)) < value:
                best, value = candidate, reached
            stopped = stopping.after_pass(value, flow.lower_bound())
            if flow.missing == 0:
                # The flow is maximum: optimal if the grid was exact, else as close as rounding allows.
                stopped = "optimal" if flow.exact else stopped or "stalled"
    except KeyboardInterrupt:
        stopped = "interrupted"
    bound = value if stopped == "optimal" else min(max(stopping.lower_bound, flow.lower_bound()), value)
    chosen = frozenset(np.flatnonzero(best).tolist())
    return Minimum(chosen, value, bound, "max-flow", stopped, iterations=stopping.iterations)


class _Flow:
    """A feasible flow on the integer grid and its residual network, arcs in mirrored pairs by (tail, head).

    In grid units, `value` is that of the flow and `missing` bounds what is still to be pushed; `side` has the
    nodes that the source still reaches along leading digits.
    """

    def __init__(self, network: CutNetwork) -> None:
        self._source, self._sink = network.nodes, network.nodes + 1
        with np.errstate(over="ignore"):  # an overflow is refused below, not warned about
            tails, heads, capacities, self._offset = _with_terminals(network)
            merged = self._pattern(tails, heads, capacities)
            total = float(merged[self._tails == self._source].sum())
        if not np.isfinite(2.0 * total):
            raise InvalidArgument("The function to minimise must have finite values. Its sums overflow.")
        # No arc ever carries more than all that leaves the source.
        merged = np.minimum(merged, total)
        self._scale, self.exact = _grid(merged, total)
        self._residual = np.floor(merged * self._scale).astype(np.int64)
        self.missing = int(self._residual[self._tails == self._source].sum())
        self.value = 0

    def _pattern(self, tails: IntArray, heads: IntArray, capacities: FloatArray) -> FloatArray:
        """Lay out the arcs and their mirrors; the capacity of each, parallel arcs added up."""
        nodes = self._sink + 1
        both_ways = np.concatenate((tails * nodes + heads, heads * nodes + tails))
        codes, place = np.unique(both_ways, return_inverse=True)
        self._tails, self._heads = np.divmod(codes, nodes)
        self._starts = np.searchsorted(self._tails, np.arange(nodes + 1))
        return np.bincount(place[: tails.size], capacities, minlength=codes.size).astype(np.float64)

    def push_stage(self) -> None:
        """Augment by the leading digits of the residual network, and find the cut that this leaves."""
        from scipy.sparse.csgraph import breadth_first_order, maximum_flow

        shift = max(self.missing.bit_length() - STAGE_BITS, 0)
        digits = np.minimum(self._residual, self.missing) >> shift
        pushed = maximum_flow(self._graph(digits), self._source, self._sink).flow
        if not np.array_equal(pushed.indices, self._heads):
            raise AssertionError("scipy changed the pattern of a symmetric matrix")
        steps = pushed.data.astype(np.int64) << shift
        self._residual -= steps
        self.value += int(steps[self._tails == self._source].sum())
        still_open = self._graph(self._residual >> shift > 0)
        still_open.eliminate_zeros()
        self.side: BoolArray = np.zeros(self._sink + 1, dtype=np.bool_)
        self.side[breadth_first_order(still_open, self._source, return_predecessors=False)] = True
        self.missing = int(self._residual[self.side[self._tails] & ~self.side[self._heads]].sum())

    def _graph(self, capacities: IntArray | BoolArray) -> Any:
        from scipy.sparse import csr_array

        parts = (array.astype(np.int32) for array in (capacities, self._heads, self._starts))
        return csr_array(tuple(parts), shape=(self._sink + 1, self._sink + 1))

    def lower_bound(self) -> float:
        return self._offset + self.value / self._scale


def _with_terminals(network: CutNetwork) -> tuple[IntArray, IntArray, FloatArray, float]:
    """All arcs, with rewards as arcs from the source and prices as arcs to the sink."""
    source, sink = network.nodes, network.nodes + 1
    rewarded, priced = np.flatnonzero(network.unary < 0), np.flatnonzero(network.unary > 0)
    tails = np.concatenate((network.tails, np.full(rewarded.size, source), priced))
    heads = np.concatenate((network.heads, rewarded, np.full(priced.size, sink)))
    capacities = np.concatenate((network.capacities, -network.unary[rewarded], network.unary[priced]))
    return tails, heads, capacities, network.constant + float(network.unary[rewarded].sum())


def _grid(capacities: FloatArray, total: float) -> tuple[float, bool]:
    """A power of two that scales capacities to integers, and whether no digit is lost."""
    room = GRID_BITS - int(np.frexp(total)[1])
    if room >= 0 and np.all(capacities == np.rint(capacities)):
        return 1.0, True
    scale = float(np.ldexp(1.0, min(room, 1000)))
    return scale, bool(np.all(capacities * scale % 1.0 == 0.0))
