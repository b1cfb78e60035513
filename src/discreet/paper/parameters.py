"""The tree of the paper's algorithms in its two calibrations."""

import dataclasses
from typing import Literal

from discreet import checks
from discreet.bounds.corrected import Noise
from discreet.kernel.releases import Tree
from discreet.prefix_sums.binary import BinaryTree
from discreet.prefix_sums.spherical import SphericalTree
from discreet.privacy.budget import Budget
from discreet.privacy.guarantee import Guarantee
from discreet.privacy.sensitivity import VectorBound
from discreet.randomness import BitSource

Calibration = Literal["corrected", "published"]


@dataclasses.dataclass(frozen=True)
class PublishedTree(Tree):
    """A tree with the published noise; its guarantee is the published claim, marked as false."""

    claim: Guarantee

    @property
    def guarantee(self) -> Guarantee:
        """The claim, void, with the reason."""
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
    if calibration not in ("corrected", "published"):
        raise checks.invalid_argument(owner, "calibration", "'corrected' or 'published'", calibration)
    if noise not in (None, "laplace", "spherical"):
        raise checks.invalid_argument(owner, "noise", "'laplace' or 'spherical'", noise)
    if calibration == "corrected":
        kind = SphericalTree if noise == "spherical" else BinaryTree
        return Tree(kind(n, T, bound, budget, source=source))
    if noise == "laplace":
        raise checks.invalid_argument(owner, "noise", "'spherical' in the 'published' calibration", noise)
    published = SphericalTree(n, T, bound, budget, sensitivity=L, source=source)
    claim = budget.guarantee(proof="binary-tree", horizon=T)
    return PublishedTree(
        published, claim.void(f"the published theorem claims epsilon = {claim.epsilon:g}{but}")
    )
