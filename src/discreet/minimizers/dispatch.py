"""Choose a method to minimise a set function, from the most exact to the most general."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from discreet import checks
from discreet.errors import InvalidArgument, InvalidType
from discreet.minimizers.max_flow import minimize_by_max_flow
from discreet.minimizers.min_norm_point import minimize_by_min_norm_point
from discreet.minimizers.result import Method, Minimum, Stopping
from discreet.set_functions import SetFunction

METHODS = ("auto", "closed form", "max-flow", "minimum-norm point", "enumeration")
MOST_ITEMS_TO_ENUMERATE = 12  # functions not known to be submodular are enumerated up to this many items


def minimize(
    f: SetFunction,
    *,
    method: Method | str = "auto",
    tolerance: float = 1e-9,
    time_limit: float | None = None,
    progress: Callable[[int, float, float], None] | None = None,
) -> Minimum:
    """A set of least value, with a lower bound that certifies it.

    Tables, Python code and negated functions are not known to be submodular. Up to 12 items they are
    enumerated. **Beyond that they are assumed to be submodular: if one is not, the set may be far from
    optimal and the lower bound wrong, without an error or a warning.** The result then has
    `assumes_submodular=True`. Check such a function with `is_submodular` first, or enumerate up to 24 items
    with `method="enumeration"`. Ctrl-C stops an iterative method, which returns what it has.

    Args:
        f: The function.
        method: "auto" takes the first that applies: "closed form" (concave of modular plus modular),
            "max-flow" (cuts, coverage, bundles, facility location and their sums), "enumeration" (see
            above), "minimum-norm point" (any submodular function).
        tolerance: The largest gap, as a fraction of 1 + |value|; integer-valued functions are solved exactly.
        time_limit: Seconds after which an iterative method returns what it has.
        progress: Called after every pass with its number, and the best value and lower bound so far.

    Examples:
        >>> from discreet.set_functions import Iwata
        >>> found = minimize(Iwata(10))
        >>> sorted(found.set), found.value, found.lower_bound, found.method
        ([3, 4, 5, 6, 7, 8, 9], -84.0, -84.0, 'closed form')
    """
    if not isinstance(f, SetFunction):
        raise InvalidType("The 'f' of minimize must be a set function (wrap Python code in FromCallable).")
    checks.one_of("minimize", "method", method, METHODS)
    tolerance = checks.positive_number("minimize", "tolerance", tolerance)
    if time_limit is not None:
        time_limit = checks.positive_number("minimize", "time_limit", time_limit)
    stopping = Stopping(f.integer_valued, tolerance, time_limit, progress)

    found: Minimum | None = None
    if method in ("auto", "closed form"):
        found = _by_closed_form(f)
    if found is None and method in ("auto", "max-flow"):
        found = minimize_by_max_flow(f, stopping)
    unproved = not f.known_submodular and f.n <= MOST_ITEMS_TO_ENUMERATE
    if found is None and (method == "enumeration" or (method == "auto" and unproved)):
        found = _by_enumeration(f)
    if found is None and method in ("auto", "minimum-norm point"):
        found = minimize_by_min_norm_point(f, stopping)
    if found is None:
        raise InvalidArgument(f"The method {method!r} does not apply to {f!r}; use method='auto'.")
    return found


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
