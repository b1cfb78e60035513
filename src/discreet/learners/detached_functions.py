"""Full-information learners whose decisions are kept elsewhere: costs along a chain are kept, sealed."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from discreet.checks import FloatArray, IntArray
from discreet.learners.batched_core import BLOCKS, BatchedCore
from discreet.learners.detached_base import Detached
from discreet.learners.draw import PROBABILITY, SIZE, Draw, new_draw
from discreet.learners.full_information import FullInformationLearner


class DetachedFunctions(Detached):
    """A `FullInformationLearner`. Feedback is kept as the costs along the chain of the draw: secret."""

    kind = "full_information"
    _learner: FullInformationLearner

    @property
    def releases(self) -> int:
        core = self._core
        return int(core.counts[BLOCKS] if isinstance(core, BatchedCore) else core.rounds[0])

    def chain_costs(self, draw: bytes, function: Any) -> bytes:
        """The costs of the prefixes of a draw's order, as bytes of a length that depends on the draw alone.

        Args:
            draw: The decision's.
            function: A set function over item numbers, its JSON description, or a Python function of a
                frozenset of items. It is private: one that is malformed, of another size, or raises counts
                as constant, like one whose values are no finite numbers, or one whose description asks for
                more memory than it has itself (`set_functions.descriptions`).
        """
        costs = self._learner._quiet_costs(lambda: function, self._decoded(draw))
        return costs.astype("<f8").tobytes()

    def neutral(self, draw: bytes) -> bytes:
        return np.full(self._decoded(draw).order.size + 1, np.nan).astype("<f8").tobytes()

    def _encoded(self, orders: IntArray, numbers: IntArray, chances: FloatArray) -> list[bytes]:
        kept = np.column_stack((numbers[:, SIZE], orders)).astype("<i4")
        return [row.tobytes() for row in kept]

    def _decoded(self, draw: bytes) -> Draw:
        if len(draw) < 4 or len(draw) % 4:
            raise self._damaged()
        size, *order = np.frombuffer(draw, dtype="<i4").tolist()
        n = len(self.items)
        if not (0 <= size <= len(order) == len(set(order)) and all(0 <= item < n for item in order)):
            raise self._damaged()
        decoded = new_draw(np.array(order, dtype=np.int64))
        decoded.numbers[SIZE] = size
        decoded.chances[PROBABILITY] = 1.0
        return decoded

    def _checked(self, draws: Sequence[bytes], payloads: Sequence[bytes]) -> Any:
        decoded = [self._decoded(draw) for draw in draws]
        if any(len(p) != 8 * (draw.order.size + 1) for p, draw in zip(payloads, decoded, strict=True)):
            raise self._damaged()
        return decoded

    def _fold(self, draws: Sequence[bytes], payloads: Sequence[bytes]) -> None:
        for draw, payload in zip(self._checked(draws, payloads), payloads, strict=True):
            costs: FloatArray = np.frombuffer(payload, dtype="<f8").astype(np.float64)
            self._learner._feed(self._learner._costs_step(draw, costs))
