"""From zero-concentrated loss to (epsilon, delta), by the accountants of `dp-accounting`."""

import functools
import math
from types import ModuleType

from discreet.checks import complaint, positive_number
from discreet.errors import MissingExtra


def epsilon_of_rho(rho: float, delta: float) -> float:
    """The least epsilon this accountant finds such that rho-zCDP implies (epsilon, delta).

    Formal guarantees:
        rho-zCDP bounds the Renyi divergence of every order a > 1 by a rho, so it is the
        Renyi curve of a Gaussian mechanism; the conversion is the accountant's
        (`docs/guarantees.md#gaussian-noise`). Good for discrete and for real Gaussians.
    """
    _check_delta("epsilon_of_rho", delta)
    rho = positive_number("epsilon_of_rho", "rho", rho)
    library = _dp_accounting()
    accountant = library.rdp.RdpAccountant(_RENYI_ORDERS)
    accountant.compose(library.ZCDpEvent(rho))
    return float(accountant.get_epsilon(delta))


def epsilon_of_gaussian(sigma: float, sensitivity: float, delta: float) -> float:
    """The exact epsilon at `delta` of real-valued Gaussian noise (Balle and Wang 2018).

    Tighter than :func:`epsilon_of_rho`, and only for noise that is Gaussian over the
    real numbers; the discrete Gaussian goes through its rho.
    """
    _check_delta("epsilon_of_gaussian", delta)
    ratio = positive_number("epsilon_of_gaussian", "sigma", sigma) / positive_number(
        "epsilon_of_gaussian", "sensitivity", sensitivity
    )
    return float(_dp_accounting().get_epsilon_gaussian(ratio, delta))


_RENYI_ORDERS = tuple(1 + 2 ** (j / 8) for j in range(-64, 97))


def _check_delta(owner: str, delta: float) -> None:
    if not isinstance(delta, float) or not 0 < delta < 1 or math.isnan(delta):
        raise complaint(owner, "delta", "a number strictly between 0 and 1", delta)


@functools.cache
def _dp_accounting() -> ModuleType:
    try:
        import dp_accounting
        from dp_accounting import rdp  # noqa: F401 # its import makes dp_accounting.rdp available
    except ImportError:
        raise MissingExtra(
            "Converting rho into (epsilon, delta) needs the package dp-accounting: "
            "pip install 'discreet[accounting]'"
        ) from None
    return dp_accounting  # type: ignore[no-any-return] # the package is untyped
