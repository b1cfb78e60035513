"""The privacy kernel: what is measured of feedback, how sums of it leave, and with which guarantee.

Examples:
    >>> from discreet.privacy import Budget
    >>> query = CostOfSet(0.0, 1.0)
    >>> release = Laplace(query.bound, Budget(epsilon=0.5))
    >>> release.guarantee.epsilon, release.local, Bits(Budget(epsilon=0.5), (0.0, 1.0)).local
    (0.5, False, True)
"""

from discreet.kernel.choice import Choice, ExactChoice
from discreet.kernel.phase import EACH_ROUND, Phase, Released, Report, Ticket
from discreet.kernel.queries import (
    ChainGradient,
    CostAndItems,
    CostOfSet,
    CostsOfSets,
    MagnifiedGradient,
    OnePoint,
    Query,
)
from discreet.kernel.releases import Bits, Discard, Exact, Laplace, Release, Tree, arrive

__all__ = [
    "EACH_ROUND",
    "Bits",
    "ChainGradient",
    "Choice",
    "CostAndItems",
    "CostOfSet",
    "CostsOfSets",
    "Discard",
    "Exact",
    "ExactChoice",
    "Laplace",
    "MagnifiedGradient",
    "OnePoint",
    "Phase",
    "Query",
    "Release",
    "Released",
    "Report",
    "Ticket",
    "Tree",
    "arrive",
]
