"""Prefix sums without a horizon: epochs of growing length, fixed in advance, each with its own tree."""

from typing import Any, Self

import numpy as np
import numpy.typing as npt

from discreet.checks import IntArray, integer
from discreet.errors import InvalidArgument
from discreet.prefix_sums import kary
from discreet.prefix_sums.base import MOST_ROUNDS, PrefixSum, common_settings
from discreet.prefix_sums.tree import draw_rows, round_of
from discreet.privacy import noise
from discreet.privacy.budget import Budget
from discreet.privacy.guarantee import Guarantee
from discreet.privacy.sensitivity import VectorBound
from discreet.randomness import BitArray, BitSource


class Epochs(PrefixSum):
    """k-ary trees one after the other, each `growth` times as long as the one before.

    Epoch e = 0, 1, ... lasts growth^e rounds. Its last round releases one extra node that
    covers the epoch whole; the tree serves the rounds before. A past epoch thus costs
    the noise of one node for ever after, not that of a prefix of its tree.

    Args:
        dimension: Length of the vectors.
        bound: What each vector is forced to satisfy.
        budget: What one person may lose, in epsilon.
        growth: The ratio of successive lengths.
        source: Random bits; cryptographic by default.

    Formal guarantees:
        Neighbours: histories that differ in one round, inputs adaptive, any number of
        rounds. Sensitivity: a round lies in one epoch only, there in at most ``height``
        nodes of the tree and in the extra one. Noise: as for
        `KAryTree` with height + 1 for height, epoch by
        epoch. Proof: `docs/guarantees.md#epochs`.

    Examples:
        >>> sums = Epochs(2, VectorBound(coordinate=10, l1=20), Budget(epsilon=1.0))
        >>> [sums.add(np.array([1, 2])).round for _ in range(6)]
        [1, 2, 3, 4, 5, 6]
        >>> sums.epoch, sums.horizon
        (2, None)
    """

    def __init__(
        self,
        dimension: int,
        bound: VectorBound,
        budget: Budget,
        *,
        growth: int = 4,
        source: BitSource | None = None,
    ) -> None:
        super().__init__(dimension, bound, budget, source)
        kary.require_epsilon("Epochs", budget)
        self.growth = integer("Epochs", "growth", growth, least=2, most=64)
        self._plan(self._epoch_of(MOST_ROUNDS))  # refuses now a budget too small for the noise of late epochs
        self._past_noise = np.zeros(self.dimension, dtype=np.int64)
        self._begin(epoch=0)

    @property
    def horizon(self) -> None:
        """None: it takes any number of rounds."""

    @property
    def guarantee(self) -> Guarantee:
        """What is promised to one person."""
        return self.budget.guarantee(proof="epochs").void(self._not_private_because)

    @property
    def mean_variance(self) -> float:
        """Mean over the rounds of all epochs up to the present one of the variance per coordinate."""
        rounds, total, past = 0, 0.0, 0.0
        for epoch in range(self.epoch + 1):
            shape, law = self._plan(epoch)
            node, length = noise.variance(law), self.growth**epoch
            in_tree = kary.mean_nodes(shape, length - 1) * (length - 1) if length > 1 else 0.0
            total += node * (in_tree + 1) + past * length
            past += node
            rounds += length
        return total / rounds * self.bound.step**2

    def _plan(self, epoch: int) -> tuple[kary.Shape, noise.Law]:
        """The tree of an epoch, for all its rounds but the last, and the noise of each node."""
        length = self.growth**epoch
        shape = kary.best_shape(length - 1, extra_nodes=1) if length > 1 else kary.Shape(3, 0)
        return shape, self._law_for(shape.height + 1)

    def _epoch_of(self, rounds: int) -> int:
        """The epoch that is going on after so many rounds."""
        epoch, ended = 0, 1
        while ended <= rounds:
            epoch += 1
            ended += self.growth**epoch
        return epoch

    def _begin(self, epoch: int) -> None:
        """Start an epoch with a new tree; the noise of past epochs stays."""
        self.epoch = epoch
        self._rounds_left = self.growth**epoch
        self._shape, self._law = self._plan(epoch)
        self._state = kary.state_for(self._shape, self.dimension)
        self._state.noise[:] = self._past_noise

    def _rows_to_draw(self) -> tuple[int, int]:
        if self._rounds_left == 1:
            return 0, 1
        return kary.rows_to_draw(self._shape, self._state)

    def _samples_to_draw(self) -> int:
        first, last = self._rows_to_draw()
        return (last - first) * self.dimension

    def _draw(self, done: int, bits: BitArray, cursor: int) -> tuple[int, int]:
        first, last = self._rows_to_draw()
        return draw_rows(self._law, self._state, first, last, done, bits, cursor)

    def _advance(self, secret: IntArray) -> npt.NDArray[Any]:
        if self._rounds_left == 1:
            before = self._state.noise.copy()
            self._past_noise += self._state.live[: self.dimension]
            self._begin(self.epoch + 1)
            released: IntArray = secret - before + self._past_noise
            return released
        released = np.empty(self.dimension, dtype=np.int64)
        kary.advance(self._shape, self._state, secret, released)
        self._rounds_left -= 1
        return released

    def _settings(self) -> dict[str, Any]:
        return super()._settings() | {"growth": self.growth, "round": self.round}

    def _arrays(self) -> dict[str, npt.NDArray[Any]]:
        return super()._arrays() | {"past_noise": self._past_noise} | self._state._asdict()

    def _load(self, saved: Any) -> None:
        super()._load(saved)
        if self._shape.height:
            k, reach, length = self._shape.arity, self._shape.reach, self.growth**self.epoch
            inside = round_of(self._state.digits, k, least=-reach, most=reach, horizon=length - 1)
            if inside != length - self._rounds_left:
                raise InvalidArgument("The saved state is damaged: its digits are not those of its round.")

    @classmethod
    def _from_settings(cls, settings: dict[str, Any], source: BitSource) -> Self:
        restored = cls(**common_settings(settings), growth=settings["growth"], source=source)
        restored.round = integer("Epochs", "saved round", settings["round"], least=0, most=MOST_ROUNDS)
        restored._begin(restored._epoch_of(restored.round))
        ended = sum(restored.growth**epoch for epoch in range(restored.epoch))
        restored._rounds_left -= restored.round - ended
        return restored
