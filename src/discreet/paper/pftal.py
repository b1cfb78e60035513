"""TBAP, the paper's tree of noisy sums; PFTAL, private follow the approximate leader; and its convex sets."""

import dataclasses
import math
from abc import ABC, abstractmethod
from typing import Literal

import numpy as np
import numpy.typing as npt

from discreet import checks
from discreet.bounds import Noise
from discreet.checks import FloatArray
from discreet.errors import InvalidArgument, InvalidType
from discreet.kernel.releases import Tree
from discreet.prefix_sums.base import MOST_ROUNDS
from discreet.prefix_sums.binary import BinaryTree
from discreet.prefix_sums.spherical import SphericalTree
from discreet.privacy.budget import Budget
from discreet.privacy.guarantee import Guarantee
from discreet.privacy.sensitivity import MOST_L2_COORDINATES, VectorBound
from discreet.randomness import BitSource, Seed, as_source

Calibration = Literal["corrected", "published"]

UNITS = 1 << 22  # grid steps in the norm bound mu


@dataclasses.dataclass(frozen=True)
class PublishedTree(Tree):
    """A tree with the published noise; its guarantee is the published claim, marked as false."""

    claim: Guarantee

    @property
    def guarantee(self) -> Guarantee:
        return self.claim


def tree_release(
    owner: str,
    n: int,
    T: int,
    bound: VectorBound,
    budget: Budget,
    calibration: Calibration,
    noise: Noise | None,
    L: float,
    but: str,
    source: BitSource | None = None,
) -> Tree:
    """TBAP's tree. As published, its noise is spherical, made for L; `but` is why its claim is false."""
    checks.one_of(owner, "calibration", calibration, ("corrected", "published"))
    if noise is not None:
        checks.one_of(owner, "noise", noise, ("laplace", "spherical"))
    if calibration == "corrected":
        kind = SphericalTree if noise == "spherical" else BinaryTree
        return Tree(kind(n, T, bound, budget, source=source))
    if noise == "laplace":
        raise checks.invalid_argument(owner, "noise", "'spherical' in the 'published' calibration", noise)
    claim = budget.guarantee(proof="binary-tree", horizon=T)
    false = claim.void(f"the published theorem claims epsilon = {claim.epsilon:g}{but}")
    return PublishedTree(SphericalTree(n, T, bound, budget, sensitivity=L, source=source), false)


class TBAP:
    """Noisy sums of all vectors so far, by a complete binary tree.

    Args:
        d: Length of the vectors.
        T: The number of rounds.
        mu: Bound on the Euclidean norm of each vector; longer ones are scaled down.
        epsilon: Privacy loss. As published the noise is made for mu, not 2 mu: the real loss is twice this.
        owner: Whose arguments these are, for messages.

    Formal guarantees:
        Corrected. Neighbours: streams that differ in one vector, chosen adaptively. Sensitivity: replacing it
        moves each of ceil(log2 T) + 1 nodes by at most 2 mu in L2, 2 mu sqrt(d) in L1. Noise: discrete
        Laplace of scale levels * 2 mu sqrt(d) / epsilon. Proof: `docs/guarantees.md#binary-tree`.
    """

    def __init__(
        self,
        d: int,
        T: int,
        mu: float,
        epsilon: float,
        *,
        calibration: Calibration = "corrected",
        noise: Noise | None = None,
        seed: Seed | None = None,
        source: BitSource | None = None,
        owner: str = "TBAP",
    ) -> None:
        self.d = d = checks.integer(owner, "d", d, 1, MOST_L2_COORDINATES)
        self.T = T = checks.integer(owner, "T", T, 1, MOST_ROUNDS)
        self.mu = checks.positive_number(owner, "mu", mu)
        budget, self.epsilon = Budget.of(owner, epsilon), float(epsilon)
        l1 = math.isqrt(d * UNITS**2 - 1) + 1
        bound = VectorBound(coordinate=UNITS, l1=l1, step=self.mu / UNITS, l2=UNITS)
        but = (
            ", but neighbours replace a vector, which moves a node by up to 2 mu: the real loss is bounded "
            f"by {2 * self.epsilon:g} (erratum E3); and its noise is made of floats"
        )
        bits = as_source(source, seed, owner=owner)
        self._sums = tree_release(owner, d, T, bound, budget, calibration, noise, self.mu, but, bits)

    def add(self, z: npt.ArrayLike) -> FloatArray:
        """The noisy sum so far, with this private vector. What is not a finite number counts as zero."""
        vector = np.array(z, dtype=np.float64)
        if vector.shape != (self.d,):
            raise InvalidArgument(f"The 'z' of TBAP must be a vector of length {self.d}.")
        return self._sums.prefix_sum.add(_scaled_down(vector, self.mu)).values

    @property
    def guarantee(self) -> Guarantee:
        """What is promised, or as published what is false."""
        return self._sums.guarantee


def _scaled_down(vector: FloatArray, mu: float) -> FloatArray:
    """The nearest vector of norm at most mu, for accuracy: the exact bound is enforced afterwards."""
    vector = np.nan_to_num(vector, nan=0.0, posinf=0.0, neginf=0.0)
    largest = float(np.abs(vector).max(initial=0.0))
    if largest == 0.0:
        return vector
    norm = largest * float(np.linalg.norm(vector / largest))
    return vector if norm <= mu else vector / largest * (mu / (norm / largest))


class ConvexSet(ABC):
    """A convex and compact subset of R^n."""

    n: int

    @abstractmethod
    def project(self, point: FloatArray) -> FloatArray:
        """The nearest point of the set."""

    @property
    @abstractmethod
    def diameter(self) -> float:
        """The largest distance between two of its points: D_X."""

    @abstractmethod
    def start(self) -> FloatArray:
        """A point of the set."""


class Box(ConvexSet):
    """All points between two corners, coordinate by coordinate."""

    def __init__(self, low: npt.ArrayLike, high: npt.ArrayLike) -> None:
        self.low = checks.finite_vector("Box", "low", low)
        self.n = self.low.size
        self.high = checks.finite_vector("Box", "high", high, self.n)
        if np.any(self.low > self.high):
            raise InvalidArgument("The 'low' of Box must not exceed its 'high' in any coordinate.")

    def project(self, point: FloatArray) -> FloatArray:
        return np.clip(point, self.low, self.high)

    @property
    def diameter(self) -> float:
        return float(np.linalg.norm(self.high - self.low))

    def start(self) -> FloatArray:
        return (self.low + self.high) / 2


class Ball(ConvexSet):
    """All points within a distance of a centre."""

    def __init__(self, centre: npt.ArrayLike, radius: float) -> None:
        self.centre = checks.finite_vector("Ball", "centre", centre)
        self.radius = checks.positive_number("Ball", "radius", radius)
        self.n = self.centre.size

    def project(self, point: FloatArray) -> FloatArray:
        away = point - self.centre
        distance = float(np.linalg.norm(away))
        return point.copy() if distance <= self.radius else self.centre + away * (self.radius / distance)

    @property
    def diameter(self) -> float:
        return 2 * self.radius

    def start(self) -> FloatArray:
        return self.centre.copy()


class Simplex(ConvexSet):
    """All nonnegative vectors of sum 1. The projection is that of Held, Wolfe and Crowder, 1974."""

    def __init__(self, n: int) -> None:
        self.n = checks.integer("Simplex", "n", n, 1)

    def project(self, point: FloatArray) -> FloatArray:
        falling = np.sort(point)[::-1]
        excess = (np.cumsum(falling) - 1.0) / np.arange(1, self.n + 1)
        kept = int(np.flatnonzero(falling > excess)[-1])
        nearest: FloatArray = np.maximum(point - excess[kept], 0.0)
        return nearest

    @property
    def diameter(self) -> float:
        return math.sqrt(2.0) if self.n > 1 else 0.0

    def start(self) -> FloatArray:
        return np.full(self.n, 1.0 / self.n)


class PFTAL:
    """Private follow the approximate leader, for strongly convex losses on a convex set.

    It plays the minimiser of v.x + H/2 * sum of |x - x_j|^2, with v a noisy sum of gradients: the projection
    of (mean of the x_j) - v / (H t). H is the strong convexity of the losses, L bounds the norm of a gradient
    (longer ones are scaled down), x1 is the first point. Other arguments are as of `TBAP`.

    Formal guarantees:
        Those of `TBAP` with mu = L; gradients may depend on earlier releases.
    """

    def __init__(
        self,
        X: ConvexSet,
        T: int,
        epsilon: float,
        H: float,
        L: float,
        *,
        calibration: Calibration = "corrected",
        noise: Noise | None = None,
        x1: npt.ArrayLike | None = None,
        seed: Seed | None = None,
        source: BitSource | None = None,
    ) -> None:
        if not isinstance(X, ConvexSet):
            raise InvalidType(f"The 'X' of PFTAL must be a ConvexSet. Got {type(X).__name__} instead.")
        self.X, self.H = X, checks.positive_number("PFTAL", "H", H)
        self.L = checks.positive_number("PFTAL", "L", L)
        bits = as_source(source, seed, owner="PFTAL")
        self._sums = TBAP(
            X.n, T, self.L, epsilon, calibration=calibration, noise=noise, source=bits, owner="PFTAL"
        )
        given = X.start() if x1 is None else checks.finite_vector("PFTAL", "x1", x1, X.n)
        self._point = X.project(given)
        if not np.allclose(self._point, given):
            raise checks.invalid_argument("PFTAL", "x1", "a point of X", given.tolist())
        self._points = np.zeros(X.n)
        self.rounds = 0

    @property
    def point(self) -> FloatArray:
        """The point of the present round, x_t."""
        return self._point.copy()

    def tell(self, gradient: npt.ArrayLike) -> None:
        """Learn from the gradient of the round's loss at `point`; the next round begins."""
        v = self._sums.add(gradient)
        self._points += self._point
        self.rounds += 1
        self._point = self.X.project((self._points - v / self.H) / self.rounds)

    @property
    def guarantee(self) -> Guarantee:
        return self._sums.guarantee
