"""Set functions: what is being minimised.

Functions add up (`f + g`), scale (`2 * f`), negate (`-f`), `shift`, `restrict`, `contract`, `complement`.

Examples:
    >>> f = Cut([[0, 2], [1, 0]]) + Modular([-3, 1])
    >>> f([0]), f.chain_values([1, 0]), SetFunction.from_dict(f.to_dict())([True, False])
    (-1.0, array([ 0.,  2., -2.]), -1.0)
    >>> Bundles(3, groups=[[0], [0, 1]], values=[2, 5], costs=[1, 1, 1])([0, 1])
    -5.0
    >>> Coverage([[0, 1], [1, 2]], weights=[5, 1, 2])([0]), HypergraphCut(3, [[0, 1, 2], [1, 2]])([0])
    (6.0, 1.0)
    >>> FacilityLocation([[3, 1], [0, 2]])([0, 1]), MatroidRank([(0, 1), (1, 2), (0, 2)])([0, 1, 2])
    (5.0, 2.0)
    >>> ConcaveOfCardinality([0, 3, 4])([1]), ConcaveOfModular([4, 5], "sqrt")([0, 1]), Iwata(4)([2, 3])
    (3.0, 3.0, -15.0)
    >>> shared = GaussianMutualInformation([[1, 0.5], [0.5, 1]])
    >>> LogDeterminant([[1, 0], [0, 1]])([0, 1]), round(shared([0]), 4)
    (0.0, 0.1438)
    >>> Table([0, 1, 2, 2.5])([1]), FromCallable(lambda chosen: len(chosen) ** 0.5, n=4)([0, 1, 2, 3])
    (2.0, 2.0)
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
