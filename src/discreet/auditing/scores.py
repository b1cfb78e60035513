"""From what an observer sees to one number: large for the first neighbour, small for the second."""

from __future__ import annotations

import itertools
from typing import Any, Literal

import numpy as np

from discreet import checks
from discreet.auditing.target import Score, Target, WithRatio
from discreet.checks import FloatArray
from discreet.errors import InvalidArgument
from discreet.extras import require_extra

ScoreKind = Literal["likelihood", "classifier", "value"]

#: With more columns than this the differences of all pairs are left out.
MOST_PAIRED = 24


def exact_score(target: Target, first: Any, second: Any) -> Score | None:
    """The log-likelihood ratio, where it is known: by Neyman and Pearson no other score separates better."""
    return target.log_ratio(first, second) if isinstance(target, WithRatio) else None


def checked_kind(wanted: str | None, target: Target, exact: Score | None) -> ScoreKind:
    """The kind of score to use: what is wanted, by default exact likelihoods where they are known.

    Raises:
        MissingExtra: It has to be trained, and what trains it is not installed.
    """
    if wanted is None:
        wanted = "classifier" if exact is None else "likelihood"
    if wanted == "classifier":
        require_extra("audit", "A trained score needs", "sklearn", "threadpoolctl")
    if wanted not in ("likelihood", "classifier", "value"):
        raise checks.invalid_argument("audit", "score", "'likelihood', 'classifier' or 'value'", wanted)
    if wanted == "likelihood" and exact is None:
        raise InvalidArgument(
            f"The likelihoods of {type(target).__name__} are not known for these neighbours. "
            "Use score='classifier'."
        )
    return wanted  # type: ignore[return-value] # checked above


def value_score(seen: FloatArray) -> FloatArray:
    """The first column as it is."""
    return np.asarray(seen[:, 0], dtype=np.float64)


def trained_score(first: FloatArray, second: FloatArray, threads: int) -> Score:
    """Boosted trees that were shown runs of both neighbours (needs the extra ``audit``).

    They are trained by so many threads, and the score uses one: it is called by several at once. Left alone,
    each call would take every core, in every process of a run that is itself spread over the cores.

    Trees cut along columns, so they are given the differences of columns as well: noise that two
    releases share, or the noise of one node of a tree of sums, shows there.
    """
    from sklearn.ensemble import HistGradientBoostingClassifier
    from threadpoolctl import ThreadpoolController

    shown = _features(np.concatenate((first, second)))
    labels = np.repeat([1, 0], [len(first), len(second)])
    model = HistGradientBoostingClassifier(
        max_iter=100, max_leaf_nodes=15, min_samples_leaf=40, early_stopping=False, random_state=0
    )
    pools = ThreadpoolController()
    with pools.limit(limits=threads, user_api="openmp"):
        model.fit(shown, labels)

    def score(seen: FloatArray) -> FloatArray:
        with pools.limit(limits=1, user_api="openmp"):
            return np.asarray(model.decision_function(_features(seen)), dtype=np.float64)

    return score


def _features(seen: FloatArray) -> FloatArray:
    columns = seen.shape[1]
    if not 2 <= columns <= MOST_PAIRED:
        return seen
    pairs = itertools.combinations(range(columns), 2)
    return np.concatenate([seen, np.stack([seen[:, i] - seen[:, j] for i, j in pairs], axis=1)], axis=1)
