"""The law of draws, and how clear the best set of a stream is."""

from typing import Any

import numpy as np
from scipy import stats

from discreet import minimize
from discreet.checks import FloatArray

#: How often a test of a law may fail although the law is right.
ALPHA = 1e-6


def gap_of_the_best(stream: Any) -> float:
    """How much less the best set costs a round than the empty, the full and a random one (of 200, seed 0)."""
    rng = np.random.default_rng(0)
    total = stream.total
    random = float(np.mean([total(rng.random(stream.n) < 0.5) for _ in range(200)]))
    others = min(total([]), total(range(stream.n)), random)
    return float(others - minimize(total).value) / stream.rounds


def fits(counts: FloatArray, law: FloatArray) -> bool:
    """Whether counts of draws pass the chi-squared test of a law at the rate ALPHA."""
    return bool(stats.chisquare(counts, law * counts.sum()).pvalue > ALPHA)
