"""Confidence intervals of means over seeds, by Student's t."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import scipy.stats

from discreet.checks import FloatArray

#: How sure the intervals of figures and tables are.
CONFIDENCE = 0.95


def mean_interval(
    values: FloatArray, confidence: float = CONFIDENCE
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """The mean over the first axis, and the ends of its interval; with one row all three are the same."""
    mean: FloatArray = values.mean(axis=0)
    count = values.shape[0]
    spread = values.std(axis=0, ddof=1) if count > 1 else np.zeros_like(mean)
    width = half_width(spread, count, confidence)
    return mean, mean - width, mean + width


def half_width(spread: npt.ArrayLike, count: npt.ArrayLike, confidence: float = CONFIDENCE) -> FloatArray:
    """Half the interval of a mean of so many values with this standard deviation; 0 where there is one."""
    counts = np.asarray(count, dtype=np.float64)
    several = counts > 1
    quantile = scipy.stats.t.ppf(0.5 + confidence / 2, np.where(several, counts - 1, 1.0))
    error = np.where(several, np.nan_to_num(np.asarray(spread, dtype=np.float64)), 0.0) / np.sqrt(counts)
    width: FloatArray = quantile * error
    return width
