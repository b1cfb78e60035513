"""Restored cores: compiled code trusts the numbers in a core, so a file must not bring in impossible ones."""

import functools
from typing import Any

import numpy as np

from discreet.errors import InvalidArgument
from discreet.learners.bandit_core import RELEASED, UPDATES, BanditCore
from discreet.learners.batched_core import BLOCKS, EXACT_LENGTH, IN_BLOCK, LENGTH, SPENT, BatchedCore
from discreet.learners.core import Core, horizon_of
from discreet.learners.pending import arrays_of
from discreet.prefix_sums.steps import check_round
from discreet.privacy.bounded_sums import LARGEST_SUM


def check_core(owner: str, core: Any) -> None:
    """Refuse a core whose numbers no run could have led to."""
    # Only levels, which decide an order, may have run off to infinity.
    floats = (a for name, a in arrays_of(core).items() if a.dtype == np.float64 and name != "core.levels")
    sound = (
        0 <= core.rounds[0] <= horizon_of(core)
        and core.x.min() >= 0
        and core.x.max() <= 1
        and all(np.isfinite(array).all() for array in floats)
        and not np.isnan(getattr(core, "levels", core.x)).any()
    )
    if not sound or not possible(core):
        raise InvalidArgument(f"The saved state of this {owner} is damaged: its numbers make no sense.")


@functools.singledispatch
def possible(core: Any) -> bool:
    """Whether the numbers that are special to a kind of core are possible ones."""
    return True


@possible.register
def _(core: Core) -> bool:
    check_round(core.mechanism, int(core.rounds[0]))
    return not core.vector.any() and not core.estimate.any()


@possible.register
def _(core: BanditCore) -> bool:
    sums = (core.gradients, core.rounds[RELEASED:])
    return bool(
        0 <= int(core.rounds[UPDATES]) * core.length <= core.rounds[0]
        and min(part.min() for part in sums) >= -LARGEST_SUM
        and max(part.max() for part in sums) <= LARGEST_SUM
    )


@possible.register
def _(core: BatchedCore) -> bool:
    in_block, length = int(core.counts[IN_BLOCK]), int(core.counts[LENGTH])
    largest = in_block * core.limits.coordinate
    return bool(
        0 <= in_block < length
        and core.shortest <= length <= core.longest
        and core.shortest <= core.adapted[EXACT_LENGTH] <= core.longest
        and 0 <= core.counts[BLOCKS] <= core.rounds[0]
        and core.adapted[SPENT] > 0
        and not core.vector.any()
        and -largest <= core.block.min()
        and core.block.max() <= largest
    )
