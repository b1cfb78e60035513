"""Thompson sampling: beliefs from their formulas, and draws that follow them."""

import numpy as np
import pytest
from scipy import stats

from discreet.checks import FloatArray
from discreet.kernel import Released
from discreet.policies import ItemSampling
from discreet.policies.posterior import GUESS, PRIOR
from discreet.randomness import BitSource

DRAWS, ALPHA = 20_000, 1e-6
NOISE = 0.4


def released(note: FloatArray, means: FloatArray) -> Released:
    """Slots of two rounds each, in units of 1/8."""
    values = np.rint(16 * means).astype(np.int64).reshape(-1, 1)
    return Released(note.reshape(len(values), -1).copy(), np.full(len(values), 2), values)


def chosen(policy: ItemSampling, state: object, count: int = DRAWS) -> FloatArray:
    """How often each subset is drawn, by its code."""
    coins, counts = BitSource(3), np.zeros(1 << policy.start().x.size)
    for _ in range(count):
        phase = policy.plan(state, coins)
        assert (phase.rounds[0], phase.chance[0, phase.size[0]]) == (2, 1.0)
        counts[sum(1 << i for i in phase.order[0, : phase.size[0]].tolist())] += 1
    return counts


def test_items_are_drawn_from_the_belief_of_a_linear_model() -> None:
    """Set by set, against draws by numpy from the posterior as it is written in books.

    Seed 3 against 2^20 draws, alpha 1e-6 by chi-square; a belief without correlations is rejected.
    """
    policy, rng = ItemSampling(2, unit=1 / 8, rounds=2, noise=NOISE), np.random.default_rng(5)
    features = np.column_stack((np.array([[1, 1], [1, 1], [-1, -1], [1, -1.0], [1, 1]]), np.ones(5)))
    means = np.array([0.25, -0.5, 0.5, 0.125, 0.0])
    state = policy.learn(policy.start(), released(features, means))
    inverse = np.linalg.inv(features.T @ features + NOISE * 3 / PRIOR * np.eye(3))
    mean = inverse @ features.T @ means
    rest = means @ means - means @ features @ mean
    variance = (GUESS * NOISE + rest) / (GUESS + 5)

    def law(covariance: FloatArray) -> FloatArray:
        draws = rng.multivariate_normal(mean, covariance, 1 << 20)[:, :2] < 0
        counts: FloatArray = np.bincount(draws @ [1, 2], minlength=4) / len(draws)
        return counts

    counts = chosen(policy, state)
    right = law(variance * inverse)
    assert stats.chisquare(counts, DRAWS * right).pvalue > ALPHA
    assert stats.chisquare(counts, DRAWS * law(variance * np.diag(inverse.diagonal()))).pvalue < ALPHA
    assert policy.point(state) == pytest.approx([right[1] + right[3], right[2] + right[3]], abs=0.003)


def test_items_that_are_switched_off_count_as_left_out() -> None:
    """They are in no set, and the note says so."""
    policy, coins = ItemSampling(4, unit=1 / 8, rounds=2, noise=NOISE), BitSource(1)
    seen = set()
    for _ in range(50):
        phase = policy.plan(policy.start(), coins, np.array([1, 3]))
        taken = phase.order[0, : phase.size[0]].tolist()
        assert sorted(phase.order[0].tolist()) == [1, 3]
        assert phase.note[0].tolist() == [1.0 if i in taken else -1.0 for i in range(4)] + [1.0]
        seen.add(tuple(sorted(taken)))
    assert seen == {(), (1,), (3,), (1, 3)}
