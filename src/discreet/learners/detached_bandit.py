"""Bandit learners whose decisions are kept elsewhere: every cost becomes one bit before anything is kept."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from discreet.checks import FloatArray, IntArray
from discreet.errors import InvalidArgument
from discreet.learners.bandit import BanditLearner
from discreet.learners.bandit_core import learn_many_released
from discreet.learners.detached_base import Detached
from discreet.learners.draw import BASELINE, PROBABILITY, SIZE
from discreet.privacy.grid import number_or_nan
from discreet.randomizers.kernels import release_bits
from discreet.randomness import BitArray

#: What a bandit's late bit needs of its draw: `raised` and `lowered` are the two items of the chain between
#: which the set ends, -1 where there is none.
_BIT_DRAW = np.dtype([("raised", "<i4"), ("lowered", "<i4"), ("probability", "<f8"), ("baseline", "<f8")])

_BITS = (b"\0", b"\1")


class DetachedBandit(Detached):
    """A local `BanditLearner`. Feedback is kept as one byte, the bit."""

    kind = "bandit"
    _learner: BanditLearner

    def __init__(self, learner: BanditLearner) -> None:
        if learner.mode != "local":
            raise InvalidArgument(
                "A bandit learner whose decisions are kept elsewhere must have mode='local': blocks would "
                "need exact sums to be kept."
            )
        super().__init__(learner)
        self.randomizer = learner.randomizer(source=learner._source)
        assert self.randomizer.slope == self._core.kind.slope

    @property
    def releases(self) -> int:
        return int(self._core.rounds[0])

    def privatised(self, cost: Any) -> bytes:
        """The bit of a private value of any kind. Nothing is raised, and no value takes another path."""
        return bytes((self.randomizer.release(cost),))

    def privatised_many(self, costs: Sequence[Any]) -> list[bytes]:
        """The bits of many private values, as :meth:`privatised` makes them."""
        if len(costs) == 1:
            return [self.privatised(costs[0])]
        values = np.fromiter(map(number_or_nan, costs), dtype=np.float64, count=len(costs))
        out = np.zeros(values.size, dtype=np.int64)
        grid, slope = self.randomizer.grid, self.randomizer.slope
        ends = grid.low, grid.high, grid.units

        def consume(done: int, bits: BitArray, cursor: int) -> tuple[int, int]:
            return release_bits(values, *ends, slope, out, done, bits, cursor)

        self._learner._source.feed(consume, values.size)
        return [_BITS[bit] for bit in out.tolist()]

    def neutral(self, draw: bytes) -> bytes:
        return self.privatised(None)

    def mean_of(self, ones: int, count: int) -> float | None:
        """The mean value that so many bits stand for, of which so many were 1; an unbiased estimate."""
        if count == 0:
            return None
        low, high = (self.randomizer.estimate(bit) for bit in (0, 1))
        return low + (high - low) * (ones / count)

    def _mean(self) -> float | None:
        return self._learner.mean_cost

    def _encoded(self, orders: IntArray, numbers: IntArray, chances: FloatArray) -> list[bytes]:
        sizes, rows, n = numbers[:, SIZE], np.arange(len(orders)), orders.shape[1]
        kept = np.zeros(len(orders), dtype=_BIT_DRAW)
        if n:
            kept["raised"] = np.where(sizes > 0, orders[rows, np.maximum(sizes - 1, 0)], -1)
            kept["lowered"] = np.where(sizes < n, orders[rows, np.minimum(sizes, n - 1)], -1)
        else:
            kept["raised"] = kept["lowered"] = -1
        kept["probability"] = chances[:, PROBABILITY]
        kept["baseline"] = chances[:, BASELINE]
        data, size = kept.tobytes(), _BIT_DRAW.itemsize
        return [data[k : k + size] for k in range(0, len(data), size)]

    def _checked(self, draws: Sequence[bytes], payloads: Sequence[bytes]) -> Any:
        if any(len(draw) != _BIT_DRAW.itemsize for draw in draws) or any(len(p) != 1 for p in payloads):
            raise self._damaged()
        kept = np.frombuffer(b"".join(draws), dtype=_BIT_DRAW)
        bits = np.frombuffer(b"".join(payloads), dtype=np.uint8)
        raised, lowered = (kept[name].astype(np.int64) for name in ("raised", "lowered"))
        chances, baselines = (kept[name].astype(np.float64) for name in ("probability", "baseline"))
        n = len(self.items)
        sound = (
            min(raised.min(initial=-1), lowered.min(initial=-1)) >= -1
            and max(raised.max(initial=-1), lowered.max(initial=-1)) < n
            and bool(((chances > 0) & (chances <= 1 + 1e-9)).all())
            and bool(np.isfinite(baselines).all())
            and bits.max(initial=0) <= 1
        )
        if not sound:
            raise self._damaged()
        return raised, lowered, chances, baselines, bits

    def _fold(self, draws: Sequence[bytes], payloads: Sequence[bytes]) -> None:
        raised, lowered, chances, baselines, bits = self._checked(draws, payloads)
        sign = 1 if self._learner._sign > 0 else -1
        numbers = sign * self._core.kind.magnitude * (2 * bits.astype(np.int64) - 1)
        learn_many_released(self._core, raised, lowered, chances, baselines, numbers)
