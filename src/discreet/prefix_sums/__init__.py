"""Private prefix sums: the sum of all private vectors so far, released after every round.

============================  =================================  ====================================
class                         noise                              use it when
============================  =================================  ====================================
:class:`KAryTree`             exact, Laplace                     the number of rounds is known
:class:`Epochs`               exact, Laplace                     it is not
:class:`BinaryTree`           exact, Laplace or Gaussian         comparing with the literature
:class:`SquareRootToeplitz`   Gaussian, in floating point        (epsilon, delta) is enough
============================  =================================  ====================================
"""

from discreet.prefix_sums.base import PrefixSum, Released
from discreet.prefix_sums.binary import BinaryTree
from discreet.prefix_sums.epochs import Epochs
from discreet.prefix_sums.kary import KAryTree
from discreet.prefix_sums.toeplitz import SquareRootToeplitz

__all__ = ["BinaryTree", "Epochs", "KAryTree", "PrefixSum", "Released", "SquareRootToeplitz"]
