"""The argument checks and the grid search that all bounds share."""

import functools
import inspect
import math
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

from discreet import checks

P = ParamSpec("P")
R = TypeVar("R")

#: How an argument of any bound is checked, by its name. All others must be positive numbers.
_CHECKS: dict[str, Callable[[str, str, Any], Any]] = {
    **dict.fromkeys(("n", "T", "block"), functools.partial(checks.integer, least=1)),
    **dict.fromkeys(("variance", "noise_variance", "first_spent", "outstanding"), checks.nonnegative_number),
    "gamma": checks.share,
    "noise": functools.partial(checks.one_of, options=("laplace", "spherical")),
    "adaptive": lambda owner, name, value: value,
}


def checked(bound: Callable[P, R]) -> Callable[P, R]:
    """Check the arguments of a bound by their names. None passes where it is the default."""
    signature = inspect.signature(bound)
    optional = {name for name, parameter in signature.parameters.items() if parameter.default is None}

    @functools.wraps(bound)
    def with_checks(*args: P.args, **kwargs: P.kwargs) -> R:
        given = signature.bind(*args, **kwargs)
        for name, value in given.arguments.items():
            if value is not None or name not in optional:
                check = _CHECKS.get(name, checks.positive_number)
                given.arguments[name] = check(bound.__name__, name, value)
        return bound(*given.args, **given.kwargs)

    return with_checks


def best_on_grid(bound: Callable[[float], float]) -> float:
    """The number in (0, 1], in steps of 1%, at which a bound is least."""
    return min((math.pow(1.01, -k) for k in range(1500)), key=bound)
