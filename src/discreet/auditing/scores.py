"""From what an observer sees to one number: large for the first neighbour, small for the second.

Where likelihoods are known their ratio is the best score there is. Others are learned, on runs that are not
used again. An audit tries them all and keeps the one that proves most: a likelihood that does not fit hides
nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from discreet.auditing.target import Score
from discreet.checks import FloatArray

#: Stands for what is not a number: below all others.
NOTHING = -1e300
#: Rows that are looked at to rank columns; columns of each kind that are then looked at one by one.
RANKED_ON, SINGLE = 2000, 2
#: Columns whose evidence is added up; bins of each.
MOST_ADDED, BINS = 64, 16
#: A column with fewer distinct values than this is also taken value by value.
FEW_VALUES = 64
#: With more columns than this no linear score is fitted.
MOST_LINEAR = 400

#: What is done to columns before they are looked at, by name.
VIEWS: dict[str, Callable[[FloatArray, FloatArray], FloatArray]] = {
    "{}": lambda seen, middle: seen,
    "the distance of {} from its median": lambda seen, middle: np.abs(seen - middle),
    "{} modulo 2": lambda seen, middle: np.where(np.abs(seen) < 2**53, seen % 2, 0.0),
    "{} modulo 3": lambda seen, middle: np.where(np.abs(seen) < 2**53, seen % 3, 0.0),
}


class Candidate(NamedTuple):
    """A score, what it is of, and of which kind it is."""

    about: str
    kind: str
    score: Score


def learned_scores(
    first: FloatArray, second: FloatArray, column: Callable[[int], str]
) -> Iterator[Candidate]:
    """Scores that tell these runs of two neighbours apart, as far as simple ones can.

    Single columns, their distances from the middle (another scale of noise), their remainders (noise of one
    parity), their single values (texts, and numbers without noise); evidence added up over columns; and the
    linear combination that separates best (noise that was used twice cancels in differences).

    Args:
        first: One row per run.
        second: Likewise.
        column: Names the columns.
    """
    first, second = _clean(first), _clean(second)
    middle = np.median(np.concatenate((first[:RANKED_ON], second[:RANKED_ON])), axis=0)
    for name, view in VIEWS.items():
        ours, theirs = view(first, middle), view(second, middle)
        ranks = _separation(ours[:RANKED_ON], theirs[:RANKED_ON])
        order = np.argsort(-ranks, kind="stable")
        for j in order[:SINGLE].tolist():
            if ranks[j] == 0:
                break
            about = name.format(column(j))
            yield Candidate(about, "value", _single(view, middle, j))
            table = _value_table(ours[:, j], theirs[:, j])
            if table is not None:
                yield Candidate(f"which value {about} has", "value", _single(view, middle, j, table))
        if name == "{}":
            added = [j for j in order[:MOST_ADDED].tolist() if ranks[j] > _chance_level(ours, theirs)]
            if len(added) > 1:
                yield Candidate("evidence from several columns", "sum", _sum_of_evidence(ours, theirs, added))
    varying = np.flatnonzero(
        (np.concatenate((first, second)) != first[0]).any(axis=0) & (np.abs(first).max(axis=0) < 1e200)
    )
    if 1 < varying.size <= min(MOST_LINEAR, len(first) // 2):
        yield Candidate("a linear combination", "linear", _linear(first, second, varying))


def _clean(seen: FloatArray) -> FloatArray:
    return np.nan_to_num(seen, nan=NOTHING, posinf=-NOTHING, neginf=NOTHING / 2)


def _separation(first: FloatArray, second: FloatArray) -> FloatArray:
    """How far the distributions of each column lie apart, from 0 to 1 (Kolmogorov and Smirnov)."""
    pooled = np.concatenate((first, second))
    order = np.argsort(pooled, axis=0, kind="stable")
    walk = np.cumsum(np.where(order < len(first), 1 / len(first), -1 / len(second)), axis=0)
    values = np.take_along_axis(pooled, order, axis=0)
    last = np.ones(values.shape, dtype=bool)
    last[:-1] = values[1:] != values[:-1]
    farthest: FloatArray = np.where(last, np.abs(walk), 0.0).max(axis=0)
    return np.where(farthest > 1e-9, farthest, 0.0)


def _chance_level(first: FloatArray, second: FloatArray) -> float:
    """Separations below this are what chance makes of equal columns."""
    return 1.6 * float(np.sqrt(2 / min(len(first), RANKED_ON)))


def _single(
    view: Callable[[FloatArray, FloatArray], FloatArray],
    middle: FloatArray,
    j: int,
    table: tuple[FloatArray, FloatArray] | None = None,
) -> Score:
    def score(seen: FloatArray) -> FloatArray:
        values = view(_clean(seen[:, j]), middle[j])
        return values if table is None else _looked_up(values, *table)

    return score


def _value_table(first: FloatArray, second: FloatArray) -> tuple[FloatArray, FloatArray] | None:
    """The evidence of each single value, where there are few; others count as none."""
    values, codes = np.unique(np.concatenate((first, second)), return_inverse=True)
    if values.size > min(FEW_VALUES, len(first)):
        return None
    return values, _evidence(codes[: len(first)], codes[len(first) :], values.size)


def _looked_up(values: FloatArray, known: FloatArray, evidence: FloatArray) -> FloatArray:
    place = np.minimum(np.searchsorted(known, values), known.size - 1)
    return np.where(known[place] == values, evidence[place], 0.0)


def _evidence(first: npt.NDArray[np.intp], second: npt.NDArray[np.intp], bins: int) -> FloatArray:
    """The logarithm of how much more often each code occurs in the first runs than in the second."""
    ours, theirs = (
        (np.bincount(codes, minlength=bins) + 0.5) / (codes.size + 0.5 * bins) for codes in (first, second)
    )
    return np.log(ours / theirs)


def _sum_of_evidence(first: FloatArray, second: FloatArray, columns: list[int]) -> Score:
    parts = []
    for j in columns:
        edges = np.unique(
            np.quantile(np.concatenate((first[:, j], second[:, j])), np.linspace(0, 1, BINS + 1)[1:-1])
        )
        codes = [np.searchsorted(edges, side[:, j]) for side in (first, second)]
        parts.append((j, edges, _evidence(codes[0], codes[1], edges.size + 1)))

    def score(seen: FloatArray) -> FloatArray:
        total = np.zeros(len(seen))
        for j, edges, evidence in parts:
            total += evidence[np.searchsorted(edges, _clean(seen[:, j]))]
        return total

    return score


def _linear(first: FloatArray, second: FloatArray, columns: npt.NDArray[np.intp]) -> Score:
    """Fisher's discriminant; where there is no noise at all in a direction, that direction."""
    ours, theirs = first[:, columns], second[:, columns]
    spread = np.concatenate((ours, theirs)).std(axis=0)
    spread[spread == 0] = 1.0
    ours, theirs = ours / spread, theirs / spread
    centred = np.concatenate((ours - ours.mean(axis=0), theirs - theirs.mean(axis=0)))
    sizes, axes = np.linalg.eigh(centred.T @ centred / len(centred))
    moved = axes.T @ (ours.mean(axis=0) - theirs.mean(axis=0))
    weights = axes @ (moved / (np.maximum(sizes, 0.0) + 1e-13 * sizes.max() + 1e-300)) / spread
    return lambda seen: _clean(seen[:, columns]) @ weights
