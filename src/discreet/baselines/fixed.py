"""Choices that do not learn: a fixed set, the best one in hindsight, a random one."""

from collections.abc import Hashable, Iterable
from typing import Any, NamedTuple

import numpy as np

from discreet import checks
from discreet.checks import BoolArray, FloatArray, IntArray
from discreet.compiled import kernel, lean_kernel
from discreet.learners.arguments import keeps_arguments, named_items
from discreet.learners.core import choose, learn_cost, learn_function, put_first
from discreet.learners.draw import PROBABILITY, Draw
from discreet.learners.feedback import BanditFeedback
from discreet.minimizers import Minimum, minimize
from discreet.privacy.guarantee import Guarantee
from discreet.privacy.uniform import NEED_MORE_BITS
from discreet.randomness import BitArray, Seed, as_source
from discreet.set_functions import SetFunction

IGNORES_FEEDBACK = Guarantee(epsilon=0.0)
KNOWS_ALL = Guarantee(epsilon=float("inf")).void("it is chosen in hindsight from the exact data")


#: Many items have chances below the least float; a chance of zero would look like damage in a saved file.
LEAST_PROBABILITY = 5e-324


class FixedCore(NamedTuple):
    """Always the same items."""

    chosen: BoolArray
    x: FloatArray
    rounds: IntArray


class RandomCore(NamedTuple):
    """Every item with probability one half."""

    x: FloatArray
    rounds: IntArray


class _IgnoresFeedback(BanditFeedback):
    """Takes costs or functions alike and learns nothing from them."""

    _takes_available = False


class FixedSet(_IgnoresFeedback):
    """The same set in every round.

    Args:
        n: The number of items, or their names.
        subset: The set, as item numbers.
        maximize: Whether its regret is that of rewards, as of the learners it is compared with.

    Examples:
        >>> sorted(FixedSet(4, [1, 3]).ask().subset)
        [1, 3]
    """

    @keeps_arguments
    def __init__(
        self, n: int | Iterable[Hashable], subset: Iterable[int] = (), *, maximize: bool = False
    ) -> None:
        items = named_items("FixedSet", n)
        mask = checks.subset_mask("FixedSet", "subset", subset, len(items))
        core = FixedCore(mask, mask.astype(np.float64), np.zeros(1, dtype=np.int64))
        super().__init__(items, core, as_source(None, None), IGNORES_FEEDBACK, maximize=maximize)


class BestFixedSet(FixedSet):
    """The best fixed set in hindsight: what regret is measured against. It has seen all the data.

    Args:
        total: The sum of all rounds' cost functions.

    Attributes:
        minimum: The exact minimum with its certificate.

    Examples:
        >>> from discreet.set_functions import Modular
        >>> sorted(BestFixedSet(Modular([3.0, -1.0, -2.0])).ask().subset)
        [1, 2]
    """

    def __init__(self, total: SetFunction) -> None:
        self.minimum: Minimum = minimize(total)
        super().__init__(total.n, self.minimum.set)
        self._guarantee = KNOWS_ALL
        del self._arguments


class RandomSet(_IgnoresFeedback):
    """Each item in or out with probability one half, anew in every round.

    Args:
        n: The number of items, or their names.
        maximize: Whether its regret is that of rewards, as of the learners it is compared with.
        seed: Makes a run repeatable.

    Examples:
        >>> RandomSet(["tea", "milk"]).ask().subset <= {"tea", "milk"}
        True
    """

    @keeps_arguments
    def __init__(
        self, n: int | Iterable[Hashable], *, maximize: bool = False, seed: Seed | None = None
    ) -> None:
        items = named_items("RandomSet", n)
        core = RandomCore(np.full(len(items), 0.5), np.zeros(1, dtype=np.int64))
        source = as_source(None, seed, owner="RandomSet")
        super().__init__(items, core, source, IGNORES_FEEDBACK, maximize=maximize)


@choose.register(FixedCore)
@lean_kernel
def _choose_fixed(core: FixedCore, draw: Draw, bits: BitArray, cursor: int) -> int:
    put_first(core.chosen, draw)
    draw.chances[PROBABILITY] = 1.0
    return cursor


@choose.register(RandomCore)
@kernel
def _choose_random(core: RandomCore, draw: Draw, bits: BitArray, cursor: int) -> int:
    n = core.x.size
    after = cursor + (n + 63) // 64
    if after > bits.size:
        return NEED_MORE_BITS
    chosen = np.empty(n, dtype=np.bool_)
    for i in range(n):
        chosen[i] = (bits[cursor + i // 64] >> np.uint64(i % 64)) & np.uint64(1) == np.uint64(1)
    put_first(chosen, draw)
    draw.chances[PROBABILITY] = max(0.5**n, LEAST_PROBABILITY)
    return after


@learn_cost.register(FixedCore)
@learn_cost.register(RandomCore)
@lean_kernel
def _learn_no_cost(core: Any, draw: Draw, cost: float, bits: BitArray, cursor: int) -> int:
    core.rounds[0] += 1
    return cursor


@learn_function.register(FixedCore)
@learn_function.register(RandomCore)
@lean_kernel
def _learn_no_function(core: Any, draw: Draw, costs: FloatArray, bits: BitArray, cursor: int) -> int:
    core.rounds[0] += 1
    return cursor
