"""A lower bound on a privacy loss from two samples of scores, good with a stated confidence."""

import numpy as np
import numpy.typing as npt
import scipy.stats

Scores = npt.NDArray[np.float64]


def epsilon_lower_bound(ours: Scores, theirs: Scores, confidence: float = 0.975) -> float:
    """The loss that the scores prove: ln(P(score >= s) / P'(score >= s)) for the best threshold s.

    The threshold is chosen on the first half of the runs; the second half, which it has not
    seen, gives Clopper-Pearson bounds on both probabilities.
    """
    half = min(ours.size, theirs.size) // 2
    candidates = np.unique(np.quantile(np.concatenate((ours[:half], theirs[:half])), np.linspace(0, 1, 2001)))
    tried = [_bound(ours[:half], theirs[:half], s, confidence) for s in candidates]
    best = candidates[int(np.argmax(tried))]
    return _bound(ours[half : 2 * half], theirs[half : 2 * half], best, confidence)


def _bound(ours: Scores, theirs: Scores, threshold: float, confidence: float) -> float:
    alpha = (1 - confidence) / 2  # two bounds must hold at once
    hits, false_alarms = int((ours >= threshold).sum()), int((theirs >= threshold).sum())
    if hits == 0:
        return 0.0
    least = scipy.stats.beta.ppf(alpha, hits, ours.size - hits + 1)
    most = scipy.stats.beta.ppf(1 - alpha, false_alarms + 1, theirs.size - false_alarms)
    most = 1.0 if np.isnan(most) else most
    return max(float(np.log(least / most)), 0.0)
