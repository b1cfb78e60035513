"""Choose a set from the chain of a point, exploring a little.

The prefix B_k is chosen with probability rho_k = (1 - gamma) mu_k + gamma / (n + 1), where mu
are the weights of the chain. With gamma = 0 this is the random level set of the Lovász
extension; with gamma > 0 every prefix has a chance, which the one-point estimates need.

Since E f(S) - f^(x) = gamma (mean of f over the chain - f^(x)), exploring costs at most
2 gamma M a round when f lies in [-M, M].
"""

from __future__ import annotations

import numpy as np

from discreet.checks import FloatArray
from discreet.compiled import kernel


@kernel
def chain_probabilities(weights: FloatArray, gamma: float) -> FloatArray:
    """The probabilities rho_0, ..., rho_n of the prefixes, from the chain weights mu.

    Examples:
        >>> chain_probabilities(np.array([0.5, 0.5, 0.0]), 0.3).round(3)
        array([0.45, 0.45, 0.1 ])
    """
    probabilities = np.empty(weights.size)
    for k in range(weights.size):
        probabilities[k] = (1.0 - gamma) * weights[k] + gamma / weights.size
    return probabilities


@kernel
def draw_prefix(probabilities: FloatArray, uniform: float) -> int:
    """The length k of a prefix drawn with the given probabilities, from a uniform in [0, 1).

    A prefix of probability zero is never drawn, whatever the sums round to.

    Examples:
        >>> draw_prefix(np.array([0.25, 0.0, 0.75]), 0.25)
        2
    """
    last = 0
    for k in range(probabilities.size):
        if probabilities[k] > 0.0:
            if uniform < probabilities[k]:
                return k
            uniform -= probabilities[k]
            last = k
    return last
