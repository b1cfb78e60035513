"""The one interface of private prefix sums: add a secret vector, get the released sum."""

import dataclasses
from abc import abstractmethod
from typing import Any

import numpy as np
import numpy.typing as npt

from discreet.checks import FloatArray, IntArray, integer
from discreet.errors import HorizonReached, InvalidArgument
from discreet.prefix_sums.steps import add_secret, draw_noise, samples_needed
from discreet.privacy import noise
from discreet.privacy.budget import Budget
from discreet.privacy.exclusive import Exclusive
from discreet.privacy.guarantee import Guarantee
from discreet.privacy.sensitivity import VectorBound, fitting_dimension
from discreet.randomness import BitArray, BitSource

#: One round moves a sum by at most 2^29 units, so this many rounds stay below 2^61.
MOST_ROUNDS = 1 << 32


@dataclasses.dataclass(frozen=True, eq=False)
class Released:
    """A noisy sum that anybody may see. Exact sums are never of this type.

    Attributes:
        values: The noisy sum of all vectors so far; read-only.
        round: How many vectors it covers.

    Examples:
        >>> from discreet.prefix_sums import KAryTree
        >>> tree = KAryTree(2, 1000, VectorBound(coordinate=10, l1=20), Budget(epsilon=1.0))
        >>> released = tree.add(np.array([3, -4]))
        >>> released.round, released.values.shape, released.values.flags.writeable
        (1, (2,), False)
    """

    values: FloatArray
    round: int


class PrefixSum(Exclusive):
    """Sums of all private vectors so far, released after every round.

    Args:
        dimension: Length of the vectors.
        bound: What each vector is forced to satisfy.
        budget: What one person may lose.
        source: Random bits.

    Examples:
        >>> from discreet.prefix_sums import KAryTree
        >>> tree = KAryTree(2, 1000, VectorBound(coordinate=10, l1=20), Budget(epsilon=1.0))
        >>> isinstance(tree, PrefixSum), tree.horizon, tree.guarantee.epsilon
        (True, 1000, 1.0)
    """

    def __init__(self, dimension: int, bound: VectorBound, budget: Budget, source: BitSource | None) -> None:
        super().__init__(source or BitSource())
        self.dimension = integer(type(self).__name__, "dimension", dimension, least=1)
        if not isinstance(bound, VectorBound) or not isinstance(budget, Budget):
            raise InvalidArgument(f"A {type(self).__name__} needs a VectorBound and a Budget, in this order.")
        self.bound = bound
        self.budget = budget
        self.round = 0
        self._released: npt.NDArray[Any] = np.zeros(self.dimension, dtype=np.int64)

    @property
    @abstractmethod
    def horizon(self) -> int | None:
        """The number of rounds it can take, or None for any number."""

    @property
    def dtype(self) -> Any:
        """Of released numbers in units: integers, unless the noise is made of floats."""
        return self._released.dtype

    @property
    @abstractmethod
    def guarantee(self) -> Guarantee:
        """What is promised to one person."""

    @property
    @abstractmethod
    def mean_variance(self) -> float:
        """Mean over the rounds (of the horizon, or so far) of the noise variance per coordinate of a sum."""

    def add(self, vector: FloatArray | IntArray) -> Released:
        """Add a private vector; return the noisy sum of all vectors so far.

        Args:
            vector: An array of floats (values) or of integers (grid units, see
                `VectorBound`). Values outside the
                bound are forced inside, what is not a finite number counts as zero.
        """
        fitting_dimension(type(self).__name__, vector, self.dimension)
        with self._alone():
            self._refuse_after_the_end()
            secret = self.bound.enforce(vector)
            self._source.feed(self._draw, self._samples_to_draw())
            with self._changing():
                self._released += self._advance(secret)
                values = self._released * self.bound.step
                self.round += 1
            values.flags.writeable = False
            return Released(values, self.round)

    def _law_for(self, nodes: int) -> noise.Law:
        """The noise of each node where one round's vector enters so many."""
        return self.budget.law(
            l1=self.bound.l1_distance(self.budget.neighbours),
            squared_l2=self.bound.squared_l2_distance(self.budget.neighbours),
            nodes=nodes,
        )

    def _refuse_after_the_end(self) -> None:
        last = MOST_ROUNDS if self.horizon is None else self.horizon
        if self.round >= last:
            raise HorizonReached(f"This {type(self).__name__} has taken all its {last} rounds.")

    @abstractmethod
    def _samples_to_draw(self) -> int:
        """How much noise the next round needs; a function of the round alone."""

    @abstractmethod
    def _draw(self, done: int, bits: BitArray, cursor: int) -> tuple[int, int]:
        """Draw that noise as far as the bits reach."""

    @abstractmethod
    def _advance(self, secret: IntArray) -> npt.NDArray[Any]:
        """Enter one vector in the state; return by how much the noisy sum grows, in units."""

    def _arrays(self) -> dict[str, npt.NDArray[Any]]:
        return {"released": self._released}

    def _settings(self) -> dict[str, Any]:
        return {
            "dimension": self.dimension,
            "bound": dataclasses.asdict(self.bound),
            "budget": self.budget.saved(),
        }

    def __repr__(self) -> str:
        return (
            f"{type(self).__name__}(dimension={self.dimension}, horizon={self.horizon}, "
            f"round={self.round}, private={self.guarantee.private})"
        )


class CompiledPrefixSum(PrefixSum):
    """A prefix sum whose rounds are the compiled steps that learners use too.

    Examples:
        >>> from discreet.prefix_sums import BinaryTree, Epochs
        >>> [issubclass(kind, CompiledPrefixSum) for kind in (BinaryTree, Epochs)]
        [True, False]
    """

    @property
    @abstractmethod
    def steps(self) -> Any:
        """The mechanism of `discreet.prefix_sums.steps`, with its secret state.

        A learner that takes it over must not use this object any more.
        """

    def _samples_to_draw(self) -> int:
        return int(samples_needed(self.steps))

    def _draw(self, done: int, bits: BitArray, cursor: int) -> tuple[int, int]:
        drawn: tuple[int, int] = draw_noise(self.steps, done, bits, cursor)
        return drawn

    def _advance(self, secret: IntArray) -> npt.NDArray[Any]:
        released: npt.NDArray[Any] = np.empty_like(self.steps.state.noise)
        add_secret(self.steps, secret, released)
        return released

    def _arrays(self) -> dict[str, npt.NDArray[Any]]:
        return {**super()._arrays(), **self.steps.state._asdict()}


def common_settings(settings: dict[str, Any]) -> dict[str, Any]:
    """The arguments that every prefix sum takes, from their saved form."""
    return {
        "dimension": settings["dimension"],
        "bound": VectorBound(**settings["bound"]),
        "budget": Budget.restored(settings["budget"]),
    }
