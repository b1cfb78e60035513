"""Gradients from one number: the cost of the chosen prefix of the chain.

The subgradient has the entries f(B_i) - f(B_{i-1}), so the value f(B_k) appears twice: with a plus
at the k-th item of the order and with a minus at the next one. If B_k was chosen with probability
rho_k, dividing by rho_k makes the estimate unbiased.

* `one_point` uses both places at once: (y / rho_k) (e_(k) - e_(k+1)), the item that does not exist at
  k = 0 or k = n left out. If E y^2 <= sigma^2 and every rho_k >= gamma / (n+1), its mean squared norm is
  at most 2n (n+1) sigma^2 / gamma: two places each for the n-1 inner prefixes, one for the two ends.
* `one_point_with_coin` is the paper's: a fair coin picks one of the two places, with twice the
  weight. Its mean squared norm is at most (4n - 2)(n+1) M^2 / gamma (the paper says 16 M^2 n^2 / gamma).
"""

from __future__ import annotations

from discreet.checks import FloatArray, IntArray
from discreet.compiled import lean_kernel


@lean_kernel
def one_point(order: IntArray, size: int, probability: float, cost: float, out: FloatArray) -> None:
    """Write the coin-free estimate into `out`.

    Args:
        order: The items by decreasing x.
        size: The length k of the chosen prefix.
        probability: The probability rho_k with which it was chosen.
        cost: Its cost, or an unbiased estimate of it.
        out: Receives the gradient, one entry per item.

    Examples:
        >>> import numpy as np
        >>> g = np.empty(3)
        >>> one_point(np.array([2, 0, 1]), 1, 0.5, 4.0, g)
        >>> g
        array([-8.,  0.,  8.])
    """
    out[:] = 0.0
    if size > 0:
        out[order[size - 1]] = cost / probability
    if size < order.size:
        out[order[size]] = -cost / probability


@lean_kernel
def coin_entry(order: IntArray, size: int, heads: bool) -> tuple[int, float]:
    """Where the paper's estimate is not zero: the item, and the factor of cost / probability there.

    There must be an item.

    Examples:
        >>> import numpy as np
        >>> [coin_entry(np.array([2, 0, 1]), size, heads=False) for size in range(4)]
        [(2, -1.0), (0, -2.0), (1, -2.0), (1, 1.0)]
    """
    if size == 0:
        return order[0], -1.0
    if size == order.size:
        return order[size - 1], 1.0
    return (order[size - 1], 2.0) if heads else (order[size], -2.0)


@lean_kernel
def one_point_with_coin(
    order: IntArray, size: int, probability: float, cost: float, heads: bool, out: FloatArray
) -> None:
    """Write the paper's estimate into `out`; `heads` is its coin xi = +1.

    Examples:
        >>> import numpy as np
        >>> g = np.empty(3)
        >>> one_point_with_coin(np.array([2, 0, 1]), 1, 0.5, 4.0, True, g)
        >>> g
        array([ 0.,  0., 16.])
    """
    out[:] = 0.0
    if order.size > 0:
        item, factor = coin_entry(order, size, heads)
        out[item] = factor * cost / probability
