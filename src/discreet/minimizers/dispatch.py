"""Choose a method to minimise a set function, from the most exact to the most general."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from discreet import checks
from discreet.constraints import Constraints
from discreet.errors import InvalidArgument, InvalidType
from discreet.minimizers.constrained import minimize_constrained
from discreet.minimizers.max_flow import minimize_by_max_flow
from discreet.minimizers.min_norm_point import minimize_by_min_norm_point
from discreet.minimizers.result import Method, Minimum, Stopping
from discreet.set_functions import SetFunction, Sum, Table

METHODS = ("auto", "closed form", "max-flow", "minimum-norm point", "enumeration")
#: Functions not known to be submodular are enumerated up to this many items, or if all values come quickly.
MOST_ITEMS_TO_ENUMERATE, MOST_ITEMS_IF_QUICK = 12, 18


def minimize(
    f: SetFunction,
    *,
    at_most: int | None = None,
    at_least: int | None = None,
    required: Iterable[int] | None = None,
    forbidden: Iterable[int] | None = None,
    groups: Iterable[Iterable[int]] | None = None,
    method: Method | str = "auto",
    tolerance: float = 1e-9,
    time_limit: float | None = None,
    progress: Callable[[int, float, float], None] | None = None,
) -> Minimum:
    """A set of least value, with a lower bound that certifies it.

    Tables, Python code and negated functions are not known to be submodular. Up to 12 items they are
    enumerated (18, if they are made of tables, groups and prices). **Beyond that they are assumed to be
    submodular: if one is not, the set may be far from optimal and the lower bound wrong, without an error or
    a warning.** The result then has `assumes_submodular=True`. Check such a function with `is_submodular`
    first, or enumerate up to 24 items with `method="enumeration"`. Ctrl-C stops an iterative method, which
    returns what it has.

    **With constraints** the minimum is that of the allowed sets. It is exact with required and forbidden
    items alone, for modular functions (also with a concave function of the number of items on top), up to a
    million allowed sets, and wherever the bound turns out to be attained. Else `stopped` is "stalled", the
    set is the best that was found, and `lower_bound` is proved: by "multipliers" for submodular functions; by
    a "greedy" set and what its items can add where -f is submodular; minus infinity for others, which are not
    assumed to be submodular here unless a method is named.

    Args:
        f: The function.
        at_most: How many items the set may have.
        at_least: How many it must have.
        required: Items that must be in it.
        forbidden: Items that must not.
        groups: Groups of items, which do not overlap, of each of which at most one may be in it.
        method: "auto" takes the first that applies: "closed form" (concave of modular plus modular),
            "max-flow" (cuts, coverage, bundles, facility location and their sums), "enumeration" (see
            above), "minimum-norm point" (any submodular function). With constraints the last but one compares
            the allowed sets, and others find the bound.
        tolerance: The largest gap, as a fraction of 1 + |value|; integer-valued functions are solved exactly.
        time_limit: Seconds after which an iterative method returns what it has.
        progress: Called after every pass with its number, and the best value and lower bound so far.

    Examples:
        >>> from discreet.set_functions import Iwata
        >>> found = minimize(Iwata(10))
        >>> sorted(found.set), found.value, found.lower_bound, found.method
        ([3, 4, 5, 6, 7, 8, 9], -84.0, -84.0, 'closed form')
        >>> found = minimize(Iwata(10), at_most=3, forbidden=[9])
        >>> sorted(found.set), found.value, found.certified
        ([6, 7, 8], -39.0, True)
    """
    if not isinstance(f, SetFunction):
        raise InvalidType("The 'f' of minimize must be a set function (wrap Python code in FromCallable).")
    checks.one_of("minimize", "method", method, METHODS)
    tolerance = checks.positive_number("minimize", "tolerance", tolerance)
    if time_limit is not None:
        time_limit = checks.positive_number("minimize", "time_limit", time_limit)
    limits: dict[str, Any] = {"at_most": at_most, "at_least": at_least, "groups": groups}
    constraints = Constraints.of("minimize", range(f.n), **limits, required=required, forbidden=forbidden)
    stopping = Stopping(f.integer_valued, tolerance, time_limit, progress)
    if constraints is None:
        return _minimize(f, method, stopping)

    def unconstrained(g: SetFunction, seconds: float | None) -> Minimum:
        return _minimize(g, method, Stopping(g.integer_valued, tolerance, seconds, None))

    return minimize_constrained(f, constraints, method, stopping, unconstrained)


def _minimize(f: SetFunction, method: str, stopping: Stopping) -> Minimum:
    """Among all sets."""
    found: Minimum | None = None
    if method in ("auto", "closed form"):
        found = _by_closed_form(f)
    if found is None and method in ("auto", "max-flow"):
        found = minimize_by_max_flow(f, stopping)
    most = MOST_ITEMS_IF_QUICK if values_come_quickly(f) else MOST_ITEMS_TO_ENUMERATE
    unproved = not f.known_submodular and f.n <= most
    if found is None and (method == "enumeration" or (method == "auto" and unproved)):
        found = _by_enumeration(f)
    if found is None and method in ("auto", "minimum-norm point"):
        found = minimize_by_min_norm_point(f, stopping)
    if found is None:
        raise InvalidArgument(f"The method {method!r} does not apply to {f!r}; use method='auto'.")
    return found


def values_come_quickly(f: SetFunction) -> bool:
    """Whether all values are found at once: of tables, groups and prices."""
    terms = f.terms if isinstance(f, Sum) else (f,)
    return all(isinstance(term, Table) or term.group_form() is not None for term in terms)


def _by_closed_form(f: SetFunction) -> Minimum | None:
    """Concave of modular plus modular, by one chain pass (see `set_functions.structure`)."""
    form = f.concave_form()
    if form is None:
        return None
    order = form.minimizing_order()
    best = order[: int(np.argmin(f.chain_values(order)))]
    value = f(best)
    return Minimum(frozenset(best.tolist()), value, value, "closed form")


def _by_enumeration(f: SetFunction) -> Minimum:
    values = f.table().values
    code = int(np.argmin(values))
    chosen = frozenset(i for i in range(f.n) if code >> i & 1)
    value = f(chosen)  # the table's value may differ by rounding
    return Minimum(chosen, value, value, "enumeration", iterations=values.size)
