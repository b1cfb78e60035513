"""Choose a way to minimise a set function, from the most exact to the most general."""

from __future__ import annotations

from collections.abc import Callable

from discreet import checks
from discreet.errors import InvalidArgument, InvalidType
from discreet.minimizers.closed_form import minimize_closed_form
from discreet.minimizers.enumeration import minimize_by_enumeration
from discreet.minimizers.max_flow import minimize_by_max_flow
from discreet.minimizers.min_norm_point import minimize_by_min_norm_point
from discreet.minimizers.result import Method, Minimum, Progress
from discreet.set_functions import SetFunction

METHODS = ("auto", "closed form", "max-flow", "minimum-norm point", "enumeration")
#: Functions not known to be submodular are enumerated up to this many items.
MOST_ITEMS_TO_ENUMERATE = 12


def minimize(
    f: SetFunction,
    *,
    method: Method | str = "auto",
    tolerance: float = 1e-9,
    time_limit: float | None = None,
    progress: Callable[[Progress], None] | None = None,
) -> Minimum:
    """A set of least value, with a lower bound that certifies it.

    Ctrl-C stops an iterative method and returns the best set and bound so far.

    Args:
        f: A submodular function. Functions given as a table or as Python code are enumerated when
            they have few items, and need not be submodular then.
        method: "auto" takes the first that applies: "closed form" (concave of modular plus
            modular), "max-flow" (cuts, coverage, bundles, facility location and their sums),
            "enumeration" (tables), "minimum-norm point" (any submodular function).
        tolerance: The iterative methods stop once value - lower_bound is at most this part of
            1 + |value|. Whole-numbered functions are always solved exactly.
        time_limit: Seconds after which an iterative method returns what it has.
        progress: Called after every pass with a `Progress`.

    Returns:
        A `Minimum`: set, value, lower_bound, method, and why it stopped.

    Examples:
        >>> from discreet.set_functions import Iwata
        >>> m = minimize(Iwata(10))
        >>> sorted(m.set), m.value, m.lower_bound, m.method
        ([3, 4, 5, 6, 7, 8, 9], -84.0, -84.0, 'closed form')
    """
    if not isinstance(f, SetFunction):
        raise InvalidType(
            f"The 'f' of minimize must be a set function. Got {type(f).__name__} instead "
            "(wrap Python code in discreet.set_functions.FromCallable)."
        )
    if method not in METHODS:
        raise checks.invalid_argument("minimize", "method", f"one of {', '.join(METHODS)}", method)
    tolerance = checks.positive_number("minimize", "tolerance", tolerance)
    if time_limit is not None:
        time_limit = checks.positive_number("minimize", "time_limit", time_limit)

    found: Minimum | None = None
    if method in ("auto", "closed form"):
        found = minimize_closed_form(f)
    if found is None and method in ("auto", "max-flow"):
        found = minimize_by_max_flow(f, tolerance=tolerance, time_limit=time_limit, progress=progress)
    unproved = not f.known_submodular and f.n <= MOST_ITEMS_TO_ENUMERATE
    if found is None and (method == "enumeration" or (method == "auto" and unproved)):
        found = minimize_by_enumeration(f)
    if found is None and method in ("auto", "minimum-norm point"):
        found = minimize_by_min_norm_point(f, tolerance=tolerance, time_limit=time_limit, progress=progress)
    if found is None:
        raise InvalidArgument(f"The method {method!r} does not apply to {f!r}; use method='auto'.")
    return found
