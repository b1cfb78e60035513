"""Scores learned on some runs: from what is seen to a number that is large for the first neighbour."""

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from discreet.checks import FloatArray

#: From rows of what was seen to one number each.
Score = Callable[[FloatArray], FloatArray]

#: Stands for what is not a number: below all others.
NOTHING = -1e300
#: Rows that are looked at to rank columns; columns of each kind that are then looked at one by one.
RANKED_ON, SINGLE = 2000, 2
#: Columns whose evidence is added up; bins of each.
MOST_ADDED, BINS = 64, 16
#: A column with at most so many distinct values is also taken value by value.
FEW_VALUES = 64
#: With more columns than this no linear score is fitted.
MOST_LINEAR = 400

View = Callable[[FloatArray, FloatArray], FloatArray]
#: What is done to columns, given their medians, before they are looked at; by name.
VIEWS: dict[str, View] = {
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
            yield Candidate(about, "value", _value(view, middle, j))
            if np.unique(np.concatenate((ours[:, j], theirs[:, j]))).size <= min(FEW_VALUES, len(first)):
                evidence = _sum_of_evidence(view, middle, ours, theirs, [j])
                yield Candidate(f"which value {about} has", "value", evidence)
        chance_level = 1.6 * np.sqrt(2 / min(len(ours), RANKED_ON))
        added = [j for j in order[:MOST_ADDED].tolist() if ranks[j] > chance_level]
        if name == "{}" and len(added) > 1:
            evidence = _sum_of_evidence(view, middle, ours, theirs, added)
            yield Candidate("evidence from several columns", "sum", evidence)
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


def _value(view: View, middle: FloatArray, j: int) -> Score:
    return lambda seen: view(_clean(seen[:, j]), middle[j])


def _sum_of_evidence(
    view: View, middle: FloatArray, first: FloatArray, second: FloatArray, columns: Sequence[int]
) -> Score:
    """How much more often, as a logarithm, the first runs had what is seen: bin by bin, or value by value."""
    parts = []
    for j in columns:
        pooled = np.concatenate((first[:, j], second[:, j]))
        edges = np.unique(pooled)
        if edges.size > FEW_VALUES:
            edges = np.unique(np.quantile(pooled, np.linspace(0, 1, BINS + 1)[1:-1]))
        bins = edges.size + 1
        ours, theirs = (
            (np.bincount(np.searchsorted(edges, side[:, j]), minlength=bins) + 0.5) / (len(side) + 0.5 * bins)
            for side in (first, second)
        )
        parts.append((_value(view, middle, j), edges, np.log(ours / theirs)))
    return lambda seen: sum(
        (evidence[np.searchsorted(edges, value(seen))] for value, edges, evidence in parts),
        start=np.zeros(len(seen)),
    )


def _linear(first: FloatArray, second: FloatArray, columns: npt.NDArray[np.intp]) -> Score:
    """Fisher's discriminant, by least squares: the combination that comes nearest to 1 and to -1."""
    rows = np.concatenate((first, second))[:, columns]
    spread = rows.std(axis=0)
    spread[spread == 0] = 1.0
    rows = (rows - rows.mean(axis=0)) / spread
    labels = np.repeat([1.0, -1.0], [len(first), len(second)])
    weights = np.linalg.lstsq(rows.T @ rows, rows.T @ labels, rcond=1e-13)[0] / spread
    return lambda seen: _clean(seen[:, columns]) @ weights
