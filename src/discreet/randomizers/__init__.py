"""Private numbers, one at a time: randomise on arrival, and all that follows is post-processing.

| class | trust | what is released |
|---|---|---|
| :class:`OneBit` | local | one bit; least second moment of all local ones, at every epsilon |
| :class:`LaplaceOnGrid` | local | the value plus noise; for values near the midpoint |
| :class:`Blocks` | central | noisy means of blocks; less noise for epsilon below about 0.8 |

Importing this package and using :class:`OneBit` loads no compiler.

Examples:
    >>> OneBit(epsilon=1.0, cost_range=(0.0, 1.0)).release(0.3) in (0, 1)
    True
"""

import importlib
from typing import TYPE_CHECKING

from discreet.randomizers.one_bit import Bit, OneBit

if TYPE_CHECKING:
    from discreet.randomizers.blocks import Blocks
    from discreet.randomizers.choice import best_randomizer
    from discreet.randomizers.laplace import LaplaceOnGrid

__all__ = ["Bit", "Blocks", "LaplaceOnGrid", "OneBit", "best_randomizer"]

_HOME = {"Blocks": "blocks", "LaplaceOnGrid": "laplace", "best_randomizer": "choice"}


def __getattr__(name: str) -> object:
    """Import what needs the compiler on first use (PEP 562)."""
    if name not in _HOME:
        raise AttributeError(f"module 'discreet.randomizers' has no attribute {name!r}")
    return getattr(importlib.import_module(f"discreet.randomizers.{_HOME[name]}"), name)
