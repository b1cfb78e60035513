"""Scores: how many threads the trained one takes."""

from typing import Any

import numpy as np
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier
from threadpoolctl import threadpool_info, threadpool_limits

from discreet.auditing.scores import trained_score


def threads() -> int:
    """What the compiled loops of this thread may take."""
    return max(pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "openmp")


def test_boosted_trees_take_no_more_threads_than_they_are_given(monkeypatch: pytest.MonkeyPatch) -> None:
    """Training takes what it is told and scoring one; then all is as before. Left alone they take three."""
    seen: dict[str, int] = {}

    def watched(name: str) -> Any:
        method = getattr(HistGradientBoostingClassifier, name)

        def call(self: Any, *given: Any) -> Any:
            seen[name] = threads()
            return method(self, *given)

        return call

    for name in ("fit", "decision_function"):
        monkeypatch.setattr(HistGradientBoostingClassifier, name, watched(name))
    rng = np.random.default_rng(0)
    first, second = rng.normal(1.0, size=(200, 2)), rng.normal(size=(200, 2))
    with threadpool_limits(3, user_api="openmp"):
        score = trained_score(first, second, threads=2)
        assert np.mean(score(first)) > np.mean(score(second))
        assert seen == {"fit": 2, "decision_function": 1}
        assert threads() == 3
