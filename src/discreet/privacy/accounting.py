"""Between zero-concentrated loss and (epsilon, delta), by the accountants of `dp-accounting`."""

import functools
import math
from collections.abc import Callable
from types import ModuleType

import numpy as np

from discreet.checks import complaint, positive_number
from discreet.errors import InvalidArgument
from discreet.extras import require_extra
from discreet.privacy.rational import privacy_loss


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
    with np.errstate(divide="ignore"):  # it takes log(0) where a delta is too small for floats, as meant
        return float(_dp_accounting().get_epsilon_gaussian(ratio, delta))


def rho_of_epsilon(epsilon: float, delta: float) -> float:
    """The largest rho for which :func:`epsilon_of_rho` stays within `epsilon` at `delta`.

    Formal guarantees:
        With the rho that is returned, rho-zCDP implies (epsilon, delta) by the conversion of
        :func:`epsilon_of_rho`: the accountant was asked about this very number, and a margin
        covers its rounding. Good for discrete and for real Gaussians
        (`docs/guarantees.md#gaussian-noise`).

    Examples:
        >>> rho = rho_of_epsilon(1.0, 1e-6)
        >>> f"{rho:.5f}", epsilon_of_rho(rho, 1e-6) <= 1.0
        ('0.02435', True)
    """
    return _largest_rho("rho_of_epsilon", epsilon, delta, lambda rho: epsilon_of_rho(rho, delta))


def gaussian_rho_of_epsilon(epsilon: float, delta: float) -> float:
    """The largest rho whose Gaussian noise stays within `epsilon` by :func:`epsilon_of_gaussian`.

    The noise for rho and a sensitivity D has sigma = D / sqrt(2 rho).

    Formal guarantees:
        Normal noise with this sigma is (epsilon, delta)-private for one round per person,
        **over the real numbers** (`docs/guarantees.md#gaussian-noise`). The discrete
        Gaussian goes through :func:`rho_of_epsilon`, which gives a smaller rho.

    Examples:
        >>> rho = gaussian_rho_of_epsilon(1.0, 1e-6)
        >>> f"{rho:.5f}", epsilon_of_gaussian(1 / math.sqrt(2 * rho), 1.0, 1e-6) <= 1.0
        ('0.02801', True)
    """
    return _largest_rho(
        "gaussian_rho_of_epsilon",
        epsilon,
        delta,
        lambda rho: epsilon_of_gaussian(1 / math.sqrt(2 * rho), 1.0, delta),
    )


_RENYI_ORDERS = tuple(1 + 2 ** (j / 8) for j in range(-64, 97))


_LEAST_RHO = 1e-15  # sigma is 2 * 10^7 sensitivities; far below, the accountants' floats cancel
_MARGIN = 1e-11  # absolute up to epsilon = 1, then relative: ten times the tolerance of their solver


def _largest_rho(owner: str, epsilon: float, delta: float, epsilon_of: Callable[[float], float]) -> float:
    """The largest rho with ``epsilon_of(rho)`` at most `epsilon`, up to a margin on the safe side."""
    _check_delta(owner, delta)
    asked = float(privacy_loss(owner, "epsilon", epsilon))
    target = max(0.0, asked - _MARGIN * max(1.0, asked))
    if epsilon_of(_LEAST_RHO) > target:
        raise InvalidArgument(
            f"The 'epsilon' and 'delta' of {owner} must be reachable with a rho of at least {_LEAST_RHO}. "
            f"Got {epsilon!r} and {delta!r} instead."
        )
    low, high = _LEAST_RHO, 1.0
    while epsilon_of(high) <= target:
        low, high = high, 2 * high
    while True:
        middle = math.sqrt(low * high)  # bisection of the logarithm
        if not low < middle < high:
            return low
        if epsilon_of(middle) <= target:
            low = middle
        else:
            high = middle


def _check_delta(owner: str, delta: float) -> None:
    if not isinstance(delta, float) or not 0 < delta < 1 or math.isnan(delta):
        raise complaint(owner, "delta", "a number strictly between 0 and 1", delta)


@functools.cache
def _dp_accounting() -> ModuleType:
    require_extra("accounting", "Converting rho into (epsilon, delta) needs", "dp_accounting")
    import dp_accounting
    from dp_accounting import rdp  # noqa: F401 # its import makes dp_accounting.rdp available

    return dp_accounting  # type: ignore[no-any-return] # the package is untyped
