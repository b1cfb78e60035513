"""The one interface of private prefix sums: add a secret vector, get the released sum."""

import dataclasses
from abc import abstractmethod
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from discreet.checks import FloatArray, IntArray, integer, invalid_argument
from discreet.errors import HorizonReached, InvalidArgument
from discreet.prefix_sums.steps import add_secret, check_round, draw_noise, samples_needed
from discreet.privacy.budget import Budget
from discreet.privacy.exclusive import Exclusive
from discreet.privacy.guarantee import Guarantee
from discreet.privacy.sensitivity import VectorBound
from discreet.randomness import BitArray, BitSource

MOST_ROUNDS = 1 << 32  # one round moves a sum by at most 2^29 units, so this many rounds stay below 2^61


@dataclasses.dataclass(frozen=True, eq=False)
class Released:
    """The noisy sum of so many vectors, which anybody may see; read-only."""

    values: FloatArray
    round: int


class PrefixSum(Exclusive):
    """Sums of all private vectors so far, released after every round.

    Each vector is forced to satisfy the bound. `steps` is the compiled mechanism of the next round, with the
    secrets in `steps.state`.
    """

    steps: Any
    _proof: str
    _own: tuple[str, ...] = ()  # further arguments that it is made with, which are also attributes

    def __init__(
        self,
        dimension: int,
        horizon: int,
        bound: VectorBound,
        budget: Budget,
        source: BitSource | None,
    ) -> None:
        super().__init__(source or BitSource())
        name = type(self).__name__
        self.dimension = integer(name, "dimension", dimension, least=1)
        if not isinstance(bound, VectorBound) or not isinstance(budget, Budget):
            raise InvalidArgument(f"A {name} needs a VectorBound and a Budget, in this order.")
        budget.require_pure()
        self.bound, self.budget = bound, budget
        self.horizon = integer(name, "horizon", horizon, 1, MOST_ROUNDS)
        self.round = 0
        self._released: npt.NDArray[Any] = np.zeros(self.dimension, dtype=np.int64)

    @property
    @abstractmethod
    def mean_variance(self) -> float:
        """Mean over the rounds of the noise variance per coordinate of a sum."""

    @property
    def dtype(self) -> Any:
        return self._released.dtype

    @property
    def guarantee(self) -> Guarantee:
        promise = self.budget.guarantee(proof=self._proof, horizon=self.horizon)
        return promise.void(self._not_private_because)

    def add(self, vector: FloatArray | IntArray) -> Released:
        """Add a private vector; return the noisy sum of all vectors so far.

        Floats are values, integers are grid units (see `VectorBound`). Vectors outside the bound are forced
        inside; what is not a finite number counts as zero.
        """
        if isinstance(vector, np.ndarray) and vector.ndim == 1 and len(vector) != self.dimension:
            raise invalid_argument(type(self).__name__, "vector", f"of length {self.dimension}", len(vector))
        with self._alone():
            if self.round >= self.horizon:
                raise HorizonReached(f"This {type(self).__name__} has taken all its {self.horizon} rounds.")
            secret = self.bound.enforce(vector)
            self._source.feed(self._draw, samples_needed(self.steps))
            with self._changing():
                self._released += self._advance(secret)
                values = self._released * self.bound.step
                self.round += 1
            values.flags.writeable = False
            return Released(values, self.round)

    def _draw(self, done: int, bits: BitArray, cursor: int) -> tuple[int, int]:
        drawn: tuple[int, int] = draw_noise(self.steps, done, bits, cursor)
        return drawn

    def _advance(self, secret: IntArray) -> npt.NDArray[Any]:
        """Enter one vector in the state; return by how much the noisy sum grows, in units."""
        grown = np.empty_like(self._released)
        add_secret(self.steps, secret, grown)
        return grown

    def _arrays(self) -> dict[str, npt.NDArray[Any]]:
        return {"released": self._released, **self.steps.state._asdict()}

    def _load(self, saved: Any) -> None:
        super()._load(saved)
        self.round = check_round(self.steps)
        if self.round > self.horizon:
            raise InvalidArgument("The saved state is damaged: it is beyond its horizon.")

    def _settings(self) -> dict[str, Any]:
        return {
            "dimension": self.dimension,
            "bound": dataclasses.asdict(self.bound),
            "budget": self.budget.saved(),
            **{name: getattr(self, name) for name in self._own},
        }

    @classmethod
    def _from_settings(cls, settings: dict[str, Any], source: BitSource) -> Self:
        bound, budget = VectorBound(**settings["bound"]), Budget.restored(settings["budget"])
        own = {name: settings[name] for name in cls._own}
        return cls(dimension=settings["dimension"], bound=bound, budget=budget, source=source, **own)

    def __repr__(self) -> str:
        private = self.guarantee.private
        return f"{type(self).__name__}(dimension={self.dimension}, round={self.round}, private={private})"
