"""The arguments that the paper's algorithms share, checked."""

from collections.abc import Hashable, Iterable
from typing import Literal, NamedTuple

from discreet import checks
from discreet.bounds.corrected import Noise
from discreet.learners.arguments import named_items
from discreet.prefix_sums.base import MOST_ROUNDS
from discreet.prefix_sums.binary import BinaryTree
from discreet.prefix_sums.spherical import SphericalTree
from discreet.privacy.budget import Budget
from discreet.privacy.sensitivity import VectorBound
from discreet.randomness import BitSource

Calibration = Literal["corrected", "published"]


class Parameters(NamedTuple):
    """Checked arguments; `noise` is the default of the calibration where none was given."""

    items: tuple[Hashable, ...]
    T: int
    epsilon: float
    M: float
    noise: Noise


def checked(
    owner: str,
    n: int | Iterable[Hashable],
    T: int,
    epsilon: float,
    M: float,
    calibration: Calibration,
    noise: Noise | None,
) -> Parameters:
    """The common arguments, each refused by its name if it cannot be used."""
    return Parameters(
        named_items(owner, n),
        checks.integer(owner, "T", T, 1, MOST_ROUNDS),
        checks.positive_number(owner, "epsilon", epsilon),
        checks.positive_number(owner, "M", M),
        checked_noise(owner, calibration, noise),
    )


def checked_noise(owner: str, calibration: Calibration, noise: Noise | None) -> Noise:
    """The noise to use; what is published is spherical."""
    if calibration not in ("corrected", "published"):
        raise checks.invalid_argument(owner, "calibration", "'corrected' or 'published'", calibration)
    if noise not in (None, "laplace", "spherical"):
        raise checks.invalid_argument(owner, "noise", "'laplace' or 'spherical'", noise)
    if calibration == "published":
        if noise == "laplace":
            raise checks.invalid_argument(
                owner, "noise", "'spherical' where the calibration is 'published'", noise
            )
        return "spherical"
    return noise or "laplace"


def tree(
    owner: str,
    n: int,
    T: int,
    bound: VectorBound,
    epsilon: float,
    source: BitSource,
    noise: Noise,
    sensitivity: float | None = None,
) -> BinaryTree:
    """TBAP's tree with exact Laplace noise, or with the paper's spherical noise made for `sensitivity`."""
    budget = Budget.of(owner, epsilon)
    if noise == "laplace":
        return BinaryTree(n, T, bound, budget, source=source)
    return SphericalTree(n, T, bound, budget, sensitivity=sensitivity, source=source)
