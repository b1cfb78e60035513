"""The statistics of audits: against scipy, against exact probabilities, and how often they are wrong."""

import math

import numpy as np
import pytest
import scipy.stats

from discreet.auditing.statistics import (
    Event,
    best_event,
    clopper_pearson,
    loss_lower_bound,
)


@pytest.mark.parametrize("trials", [1, 7, 100, 12_345])
@pytest.mark.parametrize("alpha", [0.2, 0.025, 1e-4])
def test_clopper_pearson_is_that_of_scipy(trials, alpha):
    """Both ends, for all numbers of hits or a spread of them."""
    hits = np.unique(np.linspace(0, trials, 40).astype(int))
    low, high = clopper_pearson(hits, trials, alpha)
    for k, ours_low, ours_high in zip(hits.tolist(), low, high, strict=True):
        theirs = scipy.stats.binomtest(k, trials).proportion_ci(1 - 2 * alpha, method="exact")
        assert ours_low == pytest.approx(theirs.low, abs=1e-12)
        assert ours_high == pytest.approx(theirs.high, abs=1e-12)


def test_bounds_at_the_ends():
    """No hits prove nothing; delta is taken off; all against none is limited by the number of runs."""
    assert loss_lower_bound(0, 0, 100, delta=0.0, confidence=0.95) == 0
    assert loss_lower_bound(5, 95, 100, delta=0.0, confidence=0.95) == 0
    assert loss_lower_bound(5, 0, 100, delta=0.2, confidence=0.95) == 0
    proved = float(loss_lower_bound(100, 0, 100, delta=0.0, confidence=0.95))
    assert proved == pytest.approx(math.log(0.025 ** (1 / 100) / (1 - 0.025 ** (1 / 100))))


def test_the_bound_is_wrong_as_rarely_as_it_says():
    """Seed 5, 4,000 audits of 500 runs, false-alarm rate 1e-4; ratios without a margin are rejected."""
    generator = np.random.default_rng(5)
    first, second = 0.6, 0.6 / math.e
    hits, alarms = generator.binomial(500, first, 4000), generator.binomial(500, second, 4000)
    wrong = int((loss_lower_bound(hits, alarms, 500, delta=0.0, confidence=0.95) > 1).sum())
    plain = int((np.log(hits / alarms) > 1).sum())
    limit = scipy.stats.binom.ppf(1 - 1e-4, 4000, 0.05)
    assert wrong <= limit < plain


def test_the_best_event_is_found_on_either_side():
    """Scores are bits: 0 is the telling one if the first neighbour hardly ever gives it."""
    generator = np.random.default_rng(7)
    often, rarely = (generator.random(5000) < p for p in (0.5, 0.98))
    _, event = best_event(rarely.astype(float), often.astype(float), delta=0.0, confidence=0.95)
    assert event == Event("second", 0.0, above=False)
    assert event.counts(rarely.astype(float), often.astype(float))[0] > 2000
    assert "at most 0" in str(event)
    _, mirrored = best_event(1.0 - often, 1.0 - rarely, delta=0.0, confidence=0.95)
    assert mirrored == Event("first", 1.0, above=True)
