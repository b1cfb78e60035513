r"""The least value among allowed sets: exactly where that can be done, else with a bound that is proved.

Required and forbidden items are contracted and restricted away, which leaves a submodular function. What is
left limits sizes and groups. Modular functions, also with a function of the size on top, are solved by taking
items in the order of their weights: the sets so built are the best of each size, as allowed sets are the
independent sets of a matroid. For other submodular functions, with multipliers mu >= 0,

    min over allowed S of f(S)  >=  max over mu of  min over all S of  f(S) + mu_1 (|S| - most)
                                      + mu_2 (least - |S|) + sum of mu_G (|S & G| - 1) over groups G,

and the inner minimum is one without constraints. The outer maximum is that of a concave function: each set
found cuts off a piece, and a linear program finds the next multipliers (Kelley, "The cutting-plane method for
solving convex programs", 1960). If -f is submodular, then for every set A

    f(S) >= f(A) + sum over S - A of (f(A + i) - f(A)) - sum over A - S of (f(V) - f(V - i)),

which is modular in S (Nemhauser, Wolsey, Fisher, "An analysis of approximations", 1978).
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable

import numpy as np
from scipy.optimize import linprog

from discreet.checks import BoolArray, FloatArray, IntArray
from discreet.constraints import MOST_ITEMS_LISTED, Constraints
from discreet.errors import InvalidArgument
from discreet.minimizers.greedy import greedy_set
from discreet.minimizers.result import Minimum, Stop, Stopping
from discreet.set_functions import Modular, SetFunction
from discreet.set_functions.base import MOST_ITEMS_OF_A_TABLE

#: Minimises without constraints, within so many seconds.
Minimize = Callable[[SetFunction, float | None], Minimum]

#: Up to so many allowed sets are compared at once, and so many where there is no other exact way.
FEW_SETS, MOST_SETS = 1 << 12, 1 << 20
#: All values at once take as long as so many single ones less.
_FASTER = 16
#: Inner minima that are found at most.
MOST_CUTS = 100


def minimize_constrained(
    f: SetFunction, constraints: Constraints, method: str, stopping: Stopping, inner: Minimize
) -> Minimum:
    """The best allowed set, or a good one and a bound; `inner` minimises without constraints."""
    constraints = _with_fixed_groups(constraints)
    free = np.flatnonzero(~constraints.fixed)
    required = np.array(constraints.required, dtype=np.int64)
    if free.size == 0:
        return Minimum(frozenset(constraints.required), f(required), f(required), "closed form")
    if free.size < f.n:
        start = f(required)
        left = _left(constraints, free)
        found = minimize_constrained(_reduced(f, constraints), left, method, stopping, inner)
        chosen = frozenset([*constraints.required, *free[sorted(found.set)].tolist()])
        value = f(chosen)
        bound = value if found.stopped == "optimal" else min(found.lower_bound + start, value)
        return dataclasses.replace(found, set=chosen, value=value, lower_bound=bound)
    if not constraints.competing:
        return inner(f, stopping.seconds_left)
    listable = constraints.n <= MOST_ITEMS_LISTED
    if method == "enumeration":
        if not listable or constraints.count > MOST_SETS:
            raise InvalidArgument(f"There are {constraints.count:,} allowed sets: too many to enumerate.")
        return _by_enumeration(f, constraints)
    exact = _by_weights(f, constraints) if method in ("auto", "closed form") else None
    if exact is not None:
        return exact
    if method == "closed form":
        raise InvalidArgument(f"The method {method!r} does not apply to {f!r}; use method='auto'.")
    if method == "auto" and listable and constraints.count <= FEW_SETS:
        return _by_enumeration(f, constraints)
    bounded = f.known_submodular or method != "auto"
    found = _by_multipliers(f, constraints, stopping, inner) if bounded else _greedy(f, constraints)
    in_time = found.stopped not in ("interrupted", "time limit")
    if method == "auto" and listable and in_time and not found.certified and constraints.count <= MOST_SETS:
        return _by_enumeration(f, constraints)
    return found


def _with_fixed_groups(constraints: Constraints) -> Constraints:
    """The same, where what shares a group with a required item is forbidden, and groups are of free items."""
    required, forbidden, groups = set(constraints.required), set(constraints.forbidden), []
    for group in constraints.groups:
        if required & set(group):
            forbidden |= set(group) - required
        elif len(left := set(group) - forbidden) > 1:
            groups.append(tuple(sorted(left)))
    return dataclasses.replace(constraints, forbidden=tuple(sorted(forbidden)), groups=tuple(groups))


def _reduced(f: SetFunction, constraints: Constraints) -> SetFunction:
    """S -> f(S + required) - f(required) on the free items."""
    kept = np.setdiff1d(np.arange(f.n), constraints.forbidden)
    if kept.size < f.n:
        f = f.restrict(kept)
    chosen = np.searchsorted(kept, constraints.required)
    return f.contract(chosen) if chosen.size else f


def _left(constraints: Constraints, free: IntArray) -> Constraints:
    """What is left to keep to, of the free items."""
    taken, place = len(constraints.required), {item: k for k, item in enumerate(free.tolist())}
    groups = tuple(tuple(place[item] for item in group) for group in constraints.groups)
    most, least = min(constraints.at_most - taken, free.size), max(constraints.at_least - taken, 0)
    return Constraints(free.size, most, least, groups=groups)


def _by_enumeration(f: SetFunction, constraints: Constraints) -> Minimum:
    listed = constraints.listed()
    if f.n <= MOST_ITEMS_OF_A_TABLE and len(listed) * _FASTER >= 1 << f.n:
        values = f._all_values()[listed @ (1 << np.arange(f.n))]
    else:
        values = np.array([f._value(members) for members in listed])
    chosen = _as_set(listed[int(np.argmin(values))])
    value = f(chosen)
    return Minimum(chosen, value, value, "enumeration", iterations=len(listed))


def _by_weights(f: SetFunction, constraints: Constraints) -> Minimum | None:
    """Exactly, for weights and a function of the number of items: the best set of each size, in one pass."""
    form = f.concave_form()
    if form is None or (form.direction is not None and np.ptp(form.direction) > 0):
        return None
    order, most = _best_first(form.linear, constraints)
    sizes = slice(constraints.at_least, most + 1)
    values = f.chain_values(order)[sizes]
    chosen = frozenset(order[: constraints.at_least + int(np.argmin(values))].tolist())
    value = f(chosen)
    return Minimum(chosen, value, value, "closed form")


def _best_first(weights: FloatArray, constraints: Constraints) -> tuple[IntArray, int]:
    """An order of all items whose prefixes, up to a size, are the lightest allowed sets of their sizes."""
    order = np.argsort(weights, kind="stable")
    first = np.ones(order.size, dtype=np.bool_)
    place = np.empty(order.size, dtype=np.int64)
    place[order] = np.arange(order.size)
    for group in constraints.groups:
        places = np.sort(place[list(group)])
        first[places[1:]] = False  # but for the lightest of a group
    return np.concatenate((order[first], order[~first])), min(constraints.at_most, int(first.sum()))


def _by_multipliers(f: SetFunction, constraints: Constraints, stopping: Stopping, inner: Minimize) -> Minimum:
    """The bound by multipliers, and the best allowed set that was met on the way."""
    sides, limits = _sides(constraints)
    low, high = f.range()
    best = greedy_set(f, constraints)
    value, assumed = f(best), not f.known_submodular
    multipliers, bound = np.zeros(limits.size), -math.inf
    values, excess = list[float](), list[FloatArray]()
    stopped: Stop | None = None
    while stopped is None:
        found = inner(f + Modular(multipliers @ sides), stopping.seconds_left)
        bound = max(bound, found.lower_bound - float(multipliers @ limits))
        members = _as_mask(found.set, f.n)
        candidate = _made_allowed(f, members, constraints)
        if (reached := f(candidate)) < value:
            best, value = candidate, reached
        stopped = stopping.after_pass(value, min(bound, value))
        if found.stopped in ("interrupted", "time limit"):
            stopped = found.stopped
        values.append(f(found.set))
        excess.append(sides @ members - limits)
        multipliers, promised = _next_multipliers(np.array(values), np.array(excess), 2 * (high - low) + 1)
        if stopped is None and (len(values) == MOST_CUTS or promised <= bound + 1e-9 * (1 + abs(bound))):
            stopped = "stalled"
    least = value if stopped == "optimal" else min(bound, value)
    return Minimum(best, value, least, "multipliers", stopped, assumed, stopping.iterations)


def _made_allowed(f: SetFunction, members: BoolArray, constraints: Constraints) -> frozenset[int]:
    """A set that items were taken out of, and put into, one by one, each the best of those that help."""

    def flip_best(candidates: IntArray) -> None:
        values = [f(members ^ (np.arange(f.n) == item)) for item in candidates]
        members[candidates[int(np.argmin(values))]] ^= True

    members = members.copy()
    groups = [_as_mask(group, f.n) for group in constraints.groups]
    while crowded := [group for group in groups if (group & members).sum() > 1]:
        flip_best(np.flatnonzero(crowded[0] & members))
    while members.sum() > constraints.at_most:
        flip_best(np.flatnonzero(members))
    while members.sum() < constraints.at_least:
        flip_best(np.flatnonzero(constraints.may_enter(members[None])[0]))
    return _as_set(members)


def _sides(constraints: Constraints) -> tuple[FloatArray, FloatArray]:
    """The constraints as rows of sides @ members <= limits."""
    n = constraints.n
    rows, limits = list[FloatArray](), list[float]()
    if constraints.at_most < n:
        rows, limits = [*rows, np.ones(n)], [*limits, constraints.at_most]
    if constraints.at_least > 0:
        rows, limits = [*rows, -np.ones(n)], [*limits, -constraints.at_least]
    for group in constraints.groups:
        rows, limits = [*rows, _as_mask(group, n).astype(np.float64)], [*limits, 1.0]
    return np.array(rows), np.array(limits, dtype=np.float64)


def _next_multipliers(values: FloatArray, excess: FloatArray, most: float) -> tuple[FloatArray, float]:
    """Those at which the sets found so far allow the largest bound, and that bound."""
    count = excess.shape[1]
    solved = linprog(
        np.append(np.zeros(count), -1.0),
        A_ub=np.column_stack((-excess, np.ones(values.size))),
        b_ub=values,
        bounds=[(0.0, most)] * count + [(None, None)],
    )
    if solved.x is None:
        return np.zeros(count), -math.inf
    return np.maximum(solved.x[:count], 0.0), float(solved.x[-1])


def _greedy(f: SetFunction, constraints: Constraints) -> Minimum:
    """A greedy set; with a bound if -f is submodular."""
    chosen = greedy_set(f, constraints)
    value, bound = f(chosen), -math.inf
    if (-f).known_submodular:
        bound = min(max(_modular_bound(f, constraints, start) for start in (frozenset[int](), chosen)), value)
    stopped: Stop = "optimal" if bound >= value else "stalled"
    return Minimum(chosen, value, bound, "greedy", stopped)


def _modular_bound(f: SetFunction, constraints: Constraints, start: frozenset[int]) -> float:
    """The last inequality of the module's text, minimised over the allowed sets."""
    inside, everything = _as_mask(start, f.n), np.ones(f.n, dtype=np.bool_)
    base, whole = f(inside), f(everything)
    one = np.eye(f.n, dtype=np.bool_)
    into = np.array([f(inside | one[i]) - base for i in range(f.n)])
    out_of = np.array([whole - f(everything & ~one[i]) for i in range(f.n)])
    bound = Modular(np.where(inside, out_of, into), constant=base - float(out_of[inside].sum()))
    found = _by_weights(bound, constraints)
    assert found is not None
    return found.value


def _as_mask(chosen: frozenset[int] | tuple[int, ...], n: int) -> BoolArray:
    mask = np.zeros(n, dtype=np.bool_)
    mask[list(chosen)] = True
    return mask


def _as_set(members: BoolArray) -> frozenset[int]:
    return frozenset(np.flatnonzero(members).tolist())
