"""From a released sum of gradients to the next point of the cube.

Each rule is a named tuple of its constants and whatever public numbers it keeps. `enter` may add a
public term to what goes into the sum; `next_point` reads the released sum only.
"""

from typing import Any, NamedTuple

from discreet.checks import FloatArray, IntArray
from discreet.compiled import generic, lean_kernel


@generic
def enter(rule: Any, x: FloatArray, step: float, vector: IntArray) -> None:
    """Add to the round's gradient (in units of `step`) what the rule wants in the sum.

    Examples:
        >>> import numpy as np
        >>> vector = np.array([7, 7])
        >>> enter(PublishedLeader(2.0, np.zeros(2)), np.array([0.5, 1.0]), 1.0, vector)
        >>> vector
        array([8, 9])
    """


@generic
def next_point(rule: Any, total: FloatArray, rounds: int, x: FloatArray, levels: FloatArray) -> None:
    """Move x, given the released sum (as values) of the gradients of so many rounds.

    The levels decide the order of the items; clipping them to [0, 1] gives x. Where several items lie at a
    side of the cube their levels go on ranking them, so the chain follows what was learnt.

    Examples:
        >>> import numpy as np
        >>> x, levels = np.empty(2), np.empty(2)
        >>> next_point(DualAveraging(0.1, np.full(2, 0.5)), np.array([2.0, -9.0]), 1, x, levels)
        >>> levels, x
        (array([0.3, 1.4]), array([0.3, 1. ]))
    """


class ApproximateLeader(NamedTuple):
    """Follow the approximate leader on losses g.x + H/2 |x|^2.

    The leader minimises sum of (g_j + H x_j).x + H/2 |x - x_j|^2. The terms H x_j cancel (erratum
    E5), which leaves x = clip(-(sum of g_j) / (H t), 0, 1): only gradients need be summed in private.
    """

    H: float


class PublishedLeader(NamedTuple):
    """The same leader as the paper prints it: g_j + H x_j enters the sum, and x_j is added up beside it."""

    H: float
    points: FloatArray


class DualAveraging(NamedTuple):
    """x = clip(start - eta * sum of gradients, 0, 1), with a fixed step eta."""

    eta: float
    start: FloatArray


class ProjectedDescent(NamedTuple):
    """x = clip(x - eta * last gradient, 0, 1), as in Hazan and Kale."""

    eta: float
    before: FloatArray


@lean_kernel
def clip_to_cube(value: float) -> float:
    """The nearest number in [0, 1]; 0 for what is not a number, which noise never is."""
    return min(value, 1.0) if value > 0.0 else 0.0


@enter.register(ApproximateLeader)
@enter.register(DualAveraging)
@enter.register(ProjectedDescent)
@lean_kernel
def _enter_nothing(rule: Any, x: FloatArray, step: float, vector: IntArray) -> None:
    pass


@enter.register(PublishedLeader)
@lean_kernel
def _enter_regularizer(rule: PublishedLeader, x: FloatArray, step: float, vector: IntArray) -> None:
    for i in range(x.size):
        vector[i] += round(rule.H * x[i] / step)


@next_point.register(ApproximateLeader)
@lean_kernel
def _lead(rule: ApproximateLeader, total: FloatArray, rounds: int, x: FloatArray, levels: FloatArray) -> None:
    for i in range(x.size):
        x[i] = levels[i] = clip_to_cube(-total[i] / (rule.H * rounds))


@next_point.register(PublishedLeader)
@lean_kernel
def _lead_as_published(
    rule: PublishedLeader, total: FloatArray, rounds: int, x: FloatArray, levels: FloatArray
) -> None:
    for i in range(x.size):
        rule.points[i] += x[i]
        x[i] = levels[i] = clip_to_cube((rule.points[i] - total[i] / rule.H) / rounds)


@next_point.register(DualAveraging)
@lean_kernel
def _average(rule: DualAveraging, total: FloatArray, rounds: int, x: FloatArray, levels: FloatArray) -> None:
    for i in range(x.size):
        levels[i] = rule.start[i] - rule.eta * total[i]
        x[i] = clip_to_cube(levels[i])


@next_point.register(ProjectedDescent)
@lean_kernel
def _descend(
    rule: ProjectedDescent, total: FloatArray, rounds: int, x: FloatArray, levels: FloatArray
) -> None:
    for i in range(x.size):
        x[i] = levels[i] = clip_to_cube(x[i] - rule.eta * (total[i] - rule.before[i]))
        rule.before[i] = total[i]
