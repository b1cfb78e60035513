"""Prefix sums without a horizon: epochs of growing length, fixed in advance, each with its own tree."""

from typing import Any, Self

import numpy.typing as npt

from discreet.checks import IntArray, integer
from discreet.errors import InvalidArgument
from discreet.prefix_sums import kary
from discreet.prefix_sums.base import MOST_ROUNDS, PrefixSum
from discreet.prefix_sums.steps import check_round, fresh_noise
from discreet.privacy import noise
from discreet.privacy.budget import Budget
from discreet.privacy.sensitivity import VectorBound
from discreet.randomness import BitSource


class Epochs(PrefixSum):
    """k-ary trees one after the other, each `growth` times as long as the one before.

    Epoch e = 0, 1, ... lasts growth^e rounds. Its last round releases one extra node that covers the epoch
    whole; the tree serves the rounds before. A past epoch thus costs the noise of one node for ever after,
    not that of a prefix of its tree.

    Formal guarantees:
        Neighbours: histories that differ in one round, inputs adaptive, any number of rounds. Sensitivity: a
        round lies in one epoch only, there in at most ``height`` nodes of the tree and in the extra one.
        Noise: as for `KAryTree` with height + 1 for height, epoch by epoch. Proof:
        `docs/guarantees.md#epochs`.
    """

    _proof = "epochs"
    _own = ("growth",)

    def __init__(
        self,
        dimension: int,
        bound: VectorBound,
        budget: Budget,
        *,
        growth: int = 4,
        source: BitSource | None = None,
    ) -> None:
        super().__init__(dimension, None, bound, budget, source)
        kary.require_epsilon("Epochs", budget)
        self.growth = integer("Epochs", "growth", growth, least=2, most=64)
        self._plan(self._epoch_of(MOST_ROUNDS))  # refuses now a budget too small for the noise of late epochs
        self._begin(epoch=0)

    @property
    def mean_variance(self) -> float:
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
        """Start an epoch with a new tree; what was released of past epochs keeps its noise."""
        self.epoch = epoch
        self._rounds_left = self.growth**epoch
        shape, law = self._plan(epoch)
        self._tree = kary.KArySteps(law, shape, kary.state_for(shape, self.dimension))
        self._whole_epoch = fresh_noise(self.dimension, law)

    @property
    def steps(self) -> Any:
        return self._whole_epoch if self._rounds_left == 1 else self._tree

    def _advance(self, secret: IntArray) -> npt.NDArray[Any]:
        grown = super()._advance(secret)
        self._rounds_left -= 1
        if self._rounds_left == 0:
            grown -= self._tree.state.noise  # the node of the whole epoch takes its place
            self._begin(self.epoch + 1)
        return grown

    def _arrays(self) -> dict[str, npt.NDArray[Any]]:
        return super()._arrays() | self._tree.state._asdict()

    def _settings(self) -> dict[str, Any]:
        return super()._settings() | {"round": self.round}

    @classmethod
    def _from_settings(cls, settings: dict[str, Any], source: BitSource) -> Self:
        made = super()._from_settings(settings, source)
        made.round = integer("Epochs", "saved round", settings["round"], least=0, most=MOST_ROUNDS)
        made._begin(made._epoch_of(made.round))
        made._rounds_left -= made.round - sum(made.growth**epoch for epoch in range(made.epoch))
        return made

    def _load(self, saved: Any) -> None:
        super()._load(saved)
        if check_round(self._tree) != self.growth**self.epoch - self._rounds_left:
            raise InvalidArgument("The saved state is damaged: its digits are not those of its round.")
