"""PFTAL: private follow the approximate leader, for strongly convex losses on a convex set."""

import numpy as np
import numpy.typing as npt

from discreet import checks
from discreet.bounds.corrected import Noise
from discreet.checks import FloatArray
from discreet.errors import InvalidType
from discreet.paper.convex_sets import ConvexSet
from discreet.paper.parameters import Calibration
from discreet.paper.tbap import TBAP
from discreet.privacy.guarantee import Guarantee
from discreet.randomness import BitSource, Seed


class PFTAL:
    """Follow the minimiser of v.x + H/2 * sum of |x - x_j|^2, with v a noisy sum of gradients.

    Completing the square, that is the projection of (mean of the x_j) - v / (H t); the points x_j are
    public, so only gradients are summed in private.

    Args:
        X: The convex set: a `Box`, a `Ball`, a `Simplex`, or another `ConvexSet`.
        T: The number of rounds.
        epsilon: Privacy loss.
        H: Strong convexity of the losses.
        L: Bound on the norm of a gradient; longer ones are scaled down.
        calibration: "corrected" (private) or "published" (noise for L where replacing a loss moves
            2L: the real loss is 2 epsilon).
        noise: "laplace" or "spherical", see `TBAP`.
        x1: The first point; by default the middle of the set.
        seed: Makes a run repeatable and not private.
        source: Random bits, instead of a seed.

    Formal guarantees:
        Those of `TBAP` with mu = L. The gradient of a round depends on earlier releases through the
        point at which it is taken; the theorem of `docs/guarantees.md#factorisations` covers that.

    Examples:
        >>> from discreet.paper import Box
        >>> learner = PFTAL(Box([0, 0], [1, 1]), T=10, epsilon=1.0, H=1.0, L=2.0)
        >>> learner.point
        array([0.5, 0.5])
        >>> learner.tell([1.0, -1.0])
        >>> learner.rounds
        1
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
        self._sums = TBAP(
            X.n,
            T,
            self.L,
            epsilon,
            calibration=calibration,
            noise=noise,
            seed=seed,
            source=source,
            owner="PFTAL",
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
        """What is promised, or for the published calibration what is false."""
        return self._sums.guarantee
