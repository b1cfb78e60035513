"""What `ask` returns, and what a learner remembers of it until it is told the cost."""

from collections.abc import Hashable
from dataclasses import dataclass

from discreet.checks import IntArray


@dataclass(frozen=True)
class Decision:
    """A chosen subset.

    Attributes:
        id: Names the decision when its cost is told.
        subset: The chosen items, as the caller named them.
        round: When it was chosen, counting from 1.
    """

    id: int
    subset: frozenset[Hashable]
    round: int


@dataclass(frozen=True)
class Pending:
    """How a decision was drawn: all that a late cost needs in order to be learnt from.

    Attributes:
        order: The items by decreasing level when it was drawn.
        size: How many of them were chosen.
        probability: The probability of just that choice.
    """

    order: IntArray
    size: int
    probability: float
