"""All prefix sums, made alike, for the tests that every one of them must pass."""

import numpy as np

from discreet.prefix_sums import BinaryTree
from discreet.prefix_sums.spherical import SphericalTree
from discreet.privacy import Budget, VectorBound

BOUND = VectorBound(coordinate=100, l1=400, step=0.5)
EPSILON = Budget(epsilon=1.0)
RHO = Budget(rho=0.5)
HORIZON = 100

MAKERS = {
    "binary": lambda n, source, bound=BOUND: BinaryTree(n, HORIZON, bound, EPSILON, source=source),
    "binary gaussian": lambda n, source, bound=BOUND: BinaryTree(n, HORIZON, bound, RHO, source=source),
    "spherical": lambda n, source, bound=BOUND: SphericalTree(n, HORIZON, bound, EPSILON, source=source),
}


def stream(rounds, n, seed=0):
    """Vectors of integers inside the bound."""
    return np.random.default_rng(seed).integers(-20, 21, size=(rounds, n))
