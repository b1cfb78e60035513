"""What the tests of our two learners share."""

from typing import Any

import numpy as np

from discreet.learners.base import Learner


def snapshot(learner: Learner) -> dict[str, Any]:
    """Everything that a seeded learner is: equal snapshots go on alike for ever."""
    arrays = {name: array.tolist() for name, array in learner._arrays().items()}
    return arrays | {
        "asked": learner._asked,
        "struck": learner._struck,
        "generation": learner.generation,
        "bits": learner._source.saved(),
    }


def learnt(learner: Learner) -> dict[str, Any]:
    """The arrays of a learner's core."""
    return {name: array for name, array in snapshot(learner).items() if name.startswith("core.")}


def copied(part: Any) -> Any:
    """A core (or a part of one, or a draw) with arrays of its own."""
    if isinstance(part, np.ndarray):
        return part.copy()
    if hasattr(part, "_fields"):
        return type(part)(*(copied(inner) for inner in part))
    return part
