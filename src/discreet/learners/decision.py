"""What `ask` returns."""

from collections.abc import Hashable
from dataclasses import dataclass


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
