"""From a point to a set, and from the set's cost back to a gradient.

All estimators are for the Lovász extension of the round's cost at the round's point, and all
are unbiased. Which one applies depends on what is seen: the whole function (`subgradient` of
`discreet.lovasz`), or the cost of the chosen set alone (the one-point estimates here).

Examples:
    >>> import numpy as np
    >>> order, gradient = np.array([2, 0, 1]), np.empty(3)
    >>> size, probability = draw_prefix(np.array([0.5, 0.25, 0.75]), order, 0.1, 0.3)
    >>> one_point(order, size, probability, 0.5, gradient)  # 0.5 is what the first `size` items cost
    >>> size, gradient
    (1, array([-2.,  0.,  2.]))
"""

from discreet.estimators.chain_sampling import chain_probabilities, draw_prefix
from discreet.estimators.one_point import one_point, one_point_with_coin

__all__ = ["chain_probabilities", "draw_prefix", "one_point", "one_point_with_coin"]
