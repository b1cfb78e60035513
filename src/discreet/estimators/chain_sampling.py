"""Choose a set from the chain of a point, exploring a little.

The prefix B_k is chosen with probability rho_k = (1 - gamma) mu_k + gamma / (n + 1), where mu
are the weights of the chain. With gamma = 0 this is the random level set of the Lovász
extension; with gamma > 0 every prefix has a chance, which the one-point estimates need.

Since E f(S) - f^(x) = gamma (mean of f over the chain - f^(x)), exploring costs at most
2 gamma M a round when f lies in [-M, M].
"""

from __future__ import annotations

import numpy as np

from discreet.checks import FloatArray, IntArray
from discreet.compiled import kernel, lean_kernel


@lean_kernel
def prefix_probability(above: float, below: float, gamma: float, prefixes: int) -> float:
    """rho_k, where the chain weight mu_k is the difference of two successive levels."""
    return (1.0 - gamma) * (above - below) + gamma / prefixes


@kernel
def chain_probabilities(weights: FloatArray, gamma: float) -> FloatArray:
    """The probabilities rho_0, ..., rho_n of the prefixes, from the chain weights mu.

    Examples:
        >>> chain_probabilities(np.array([0.5, 0.5, 0.0]), 0.3).round(3)
        array([0.45, 0.45, 0.1 ])
    """
    probabilities = np.empty(weights.size)
    for k in range(weights.size):
        probabilities[k] = prefix_probability(weights[k], 0.0, gamma, weights.size)
    return probabilities


@lean_kernel
def draw_prefix(x: FloatArray, order: IntArray, gamma: float, uniform: float) -> tuple[int, float]:
    """The length k of a prefix of `order`, which sorts x decreasingly, and its probability rho_k.

    From a uniform number in [0, 1). A prefix of probability zero is never drawn, whatever the sums
    round to.

    Examples:
        >>> draw_prefix(np.array([0.75, 0.75]), np.array([0, 1]), 0.0, 0.25)
        (2, 0.75)
    """
    last, chance, above = 0, 0.0, 1.0
    for k in range(order.size + 1):
        below = x[order[k]] if k < order.size else 0.0
        probability = prefix_probability(above, below, gamma, order.size + 1)
        if probability > 0.0:
            if uniform < probability:
                return k, probability
            uniform -= probability
            last, chance = k, probability
        above = below
    return last, chance
