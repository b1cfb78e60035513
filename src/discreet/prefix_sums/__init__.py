"""Private prefix sums: the sum of all private vectors so far, released after every round.

`BinaryTree` has exact noise, Laplace or Gaussian; the paper's algorithms use it.

Examples:
    >>> import numpy as np
    >>> from discreet.privacy import Budget, VectorBound
    >>> sums = BinaryTree(2, 1000, VectorBound(coordinate=10, l1=20), Budget(epsilon=1.0))
    >>> released = sums.add(np.array([3, -4]))  # a private vector goes in, a noisy sum comes out
    >>> released.round, released.values.shape, sums.guarantee.private, sums.horizon
    (1, (2,), True, 1000)
"""

from discreet.prefix_sums.base import PrefixSum, Released
from discreet.prefix_sums.binary import BinaryTree
from discreet.prefix_sums.steps import add_secret, draw_noise, samples_needed

__all__ = [
    "BinaryTree",
    "PrefixSum",
    "Released",
    "add_secret",
    "draw_noise",
    "samples_needed",
]
