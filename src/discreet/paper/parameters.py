"""The arguments that the paper's algorithms share, checked and put into the parts of a core."""

from typing import Literal

from discreet import checks
from discreet.bounds.corrected import Noise
from discreet.learners.core import Limits
from discreet.prefix_sums.binary import BinaryTree
from discreet.prefix_sums.spherical import SphericalTree
from discreet.privacy.budget import Budget
from discreet.privacy.sensitivity import VectorBound
from discreet.randomness import WordSource

Calibration = Literal["corrected", "published"]

#: Grid steps in the largest coordinate of a gradient.
UNITS = 1 << 24


def check_calibration(owner: str, calibration: Calibration, noise: Noise) -> None:
    """Refuse anything but the documented words."""
    if calibration not in ("corrected", "published"):
        raise checks.complaint(owner, "calibration", "'corrected' or 'published'", calibration)
    if noise not in ("laplace", "spherical"):
        raise checks.complaint(owner, "noise", "'laplace' or 'spherical'", noise)
    if calibration == "published" and noise != "spherical":
        raise checks.complaint(owner, "noise", "'spherical' where the calibration is 'published'", noise)


def limits_of(M: float, bound: VectorBound) -> Limits:
    """Costs in [-M, M] and gradients within `bound`."""
    return Limits(-M, M, UNITS, bound.step, bound.coordinate, bound.l1)


def tree(
    n: int,
    T: int,
    bound: VectorBound,
    budget: Budget,
    source: WordSource,
    noise: Noise,
    sensitivity: float | None = None,
) -> BinaryTree:
    """TBAP's tree with exact Laplace noise, or with the paper's spherical noise made for `sensitivity`."""
    if noise == "laplace":
        return BinaryTree(n, T, bound, budget, source=source)
    return SphericalTree(n, T, bound, budget, sensitivity=sensitivity, source=source)
