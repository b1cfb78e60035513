"""Short names of simulated learners, for legends and tables."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from discreet.simulation.trace import Trace

#: Choices that do not learn, what learners are compared with: by their class, as `labels` calls them, and as
#: sweeps do (where "full" is a learner with full information).
_REFERENCES = ("RandomSet", "FixedSet")
_REFERENCE_WORDS = {"random set", "empty set", "full set", "random", "empty", "everything"}
#: Fixed sets of more items are not listed.
_LISTED = 3


def is_reference(learner: str) -> bool:
    """Whether this is the name of a choice that does not learn.

    Examples:
        >>> is_reference("RandomSet"), is_reference("everything"), is_reference("full")
        (True, True, False)
    """
    return learner.startswith(_REFERENCES) or learner.lower() in _REFERENCE_WORDS


def family(learner: str) -> str:
    """The name without its epsilon: what stays the same when epsilon is varied.

    Examples:
        >>> family("BanditLearner (central, epsilon=0.5)"), family("PFTAL (epsilon=1)")
        ('BanditLearner (central)', 'PFTAL')
    """
    return re.sub(r"(, )?epsilon=[^,)]*", "", learner).replace("(, ", "(").replace(" ()", "")


def labels(traces: Sequence[Trace]) -> list[str]:
    """A name for each trace, all different: "empty set" rather than "FixedSet", a number after namesakes."""
    plain = [_label(trace) for trace in traces]
    namesakes, seen = Counter(plain), Counter[str]()
    found = []
    for label in plain:
        seen[label] += 1
        found.append(f"{label} #{seen[label]}" if namesakes[label] > 1 else label)
    return found


def _label(trace: Trace) -> str:
    if trace.learner.startswith("RandomSet"):
        return "random set"
    if not trace.learner.startswith("FixedSet"):
        return trace.learner
    chosen = np.flatnonzero(trace.final_points[0])
    if chosen.size in (0, len(trace.items)):
        return "full set" if chosen.size else "empty set"
    if chosen.size > _LISTED:
        return f"fixed set of {chosen.size} items"
    return "fixed set {" + ", ".join(str(trace.items[i]) for i in chosen) + "}"
