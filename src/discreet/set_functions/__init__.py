"""Set functions: what is being minimised.

Every function gives its value on a set, its values along a chain in one pass, a certified
range, and a JSON description. They add up (`f + g`), scale (`2 * f`), negate (`-f`), `shift`, `restrict`,
`contract` and `complement`.

Examples:
    >>> f = Cut([[0, 2], [1, 0]]) + Modular([-3, 1])
    >>> f([0]), f.chain_values([1, 0])
    (-1.0, array([ 0.,  2., -2.]))
"""

from discreet.set_functions.algebra import Complement, Contraction, Negated, Restriction, Scaled, Sum
from discreet.set_functions.base import SetFunction
from discreet.set_functions.concave import ConcaveOfCardinality, ConcaveOfModular, Iwata, Modular
from discreet.set_functions.explicit import FromCallable, Table
from discreet.set_functions.gaussian import GaussianMutualInformation, LogDeterminant
from discreet.set_functions.graphs import Cut, FacilityLocation, MatroidRank
from discreet.set_functions.groups import Bundles, Coverage, HypergraphCut
from discreet.set_functions.submodularity import SubmodularityCheck, is_submodular

__all__ = [
    "Bundles",
    "Complement",
    "ConcaveOfCardinality",
    "ConcaveOfModular",
    "Contraction",
    "Coverage",
    "Cut",
    "FacilityLocation",
    "FromCallable",
    "GaussianMutualInformation",
    "HypergraphCut",
    "Iwata",
    "LogDeterminant",
    "MatroidRank",
    "Modular",
    "Negated",
    "Restriction",
    "Scaled",
    "SetFunction",
    "SubmodularityCheck",
    "Sum",
    "Table",
    "is_submodular",
]
