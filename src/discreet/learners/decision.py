"""What `ask` returns."""

import dataclasses
from collections.abc import Hashable
from typing import TYPE_CHECKING, Any, Generic

# Names of items are of any kind. Type checkers find out which from the items that a learner is given; where
# that is only their number, or a learner is loaded, they let any name pass. Python 3.11 knows no defaults.
if TYPE_CHECKING:
    from typing_extensions import TypeVar

    Item = TypeVar("Item", bound=Hashable, covariant=True, default=Any)
else:
    from typing import TypeVar

    Item = TypeVar("Item", bound=Hashable, covariant=True)


@dataclasses.dataclass(frozen=True)
class Decision(Generic[Item]):
    """A chosen subset.

    Attributes:
        id: Identifies the decision when its cost is told.
        subset: The chosen items, as the caller named them.
        round: When it was chosen, counting from 1.
        probability: With which just this set was chosen: public, and useful for off-policy evaluation.
        lineage: Of the learner that chose it, or of the one that it was loaded from; no other takes it.

    Examples:
        >>> from discreet import BanditLearner
        >>> decision = BanditLearner(["tea", "milk"], epsilon=1.0, cost_range=(0, 1)).ask()
        >>> decision.id, decision.round, decision.subset <= {"tea", "milk"}
        (1, 1, True)
    """

    id: int
    subset: frozenset[Item]
    round: int
    probability: float
    lineage: str = dataclasses.field(repr=False, compare=False)
