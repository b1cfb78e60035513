"""From zero-concentrated loss to (epsilon, delta), by the accountant of `dp-accounting`."""

import functools
import math
from types import ModuleType

from discreet.checks import invalid_argument, positive_number
from discreet.imports import require_extra

_RENYI_ORDERS = tuple(1 + 2 ** (j / 8) for j in range(-64, 97))


def epsilon_of_rho(rho: float, delta: float) -> float:
    """The least epsilon this accountant finds such that rho-zCDP implies (epsilon, delta).

    Formal guarantees:
        rho-zCDP bounds the Renyi divergence of every order a > 1 by a rho, so it is the
        Renyi curve of a Gaussian mechanism; the conversion is the accountant's
        (`docs/guarantees.md#gaussian-noise`).
    """
    if not isinstance(delta, float) or not 0 < delta < 1 or math.isnan(delta):
        raise invalid_argument("epsilon_of_rho", "delta", "a number strictly between 0 and 1", delta)
    rho = positive_number("epsilon_of_rho", "rho", rho)
    library = _dp_accounting()
    accountant = library.rdp.RdpAccountant(_RENYI_ORDERS)
    accountant.compose(library.ZCDpEvent(rho))
    return float(accountant.get_epsilon(delta))


@functools.cache
def _dp_accounting() -> ModuleType:
    require_extra("accounting", "Converting rho into (epsilon, delta) needs", "dp_accounting")
    import dp_accounting
    from dp_accounting import rdp  # noqa: F401 # its import makes dp_accounting.rdp available

    return dp_accounting  # type: ignore[no-any-return] # the package is untyped
