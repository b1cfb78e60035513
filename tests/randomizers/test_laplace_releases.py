"""Single numbers with Laplace noise, on arrival or on the sum of a block, compared with one bit each."""

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from discreet.kernel.phase import Phase, Ticket
from discreet.kernel.queries import CostOfSet
from discreet.kernel.releases import Laplace
from discreet.learners import Learner
from discreet.learners.bandit import best_length
from discreet.policies import Uniform
from discreet.privacy import Budget
from discreet.randomizers import OneBit
from discreet.randomness import BitSource

QUERY = CostOfSet(0.0, 1.0)


def released(cost: float, block: int, local: bool, runs: int, seed: int) -> np.ndarray:
    """Released means of blocks in which each cost is the same, one per run; in costs."""
    learner = Learner(1, Uniform(1), QUERY, Laplace(QUERY.bound, Budget(epsilon=1.0), local=local))
    mechanism, noise = learner.mechanism(), BitSource(seed=seed)
    phase = Phase.of_sets(1, [[0]], rounds=block)
    ticket = Ticket(1, 0, 0, 1, 1.0, np.array([0]), np.zeros(0))
    means = np.empty(runs)
    for run in range(runs):
        reports = [learner.report(ticket, np.array([cost]), mechanism, noise) for _ in range(block)]
        sums = np.sum([report.units._units for report in reports], axis=0)[None]
        means[run] = learner.close(mechanism, phase, sums, noise).values[0, 0] / block
    return 0.5 + means * QUERY.bound.step


def second_moment(epsilon: float, block: int = 1) -> float:
    """Block length times the largest E(y - middle)^2, in units of half the range squared."""
    noise = Laplace(QUERY.bound, Budget(epsilon=epsilon)).noise_variance
    return block * (1 + noise / (block * QUERY.units) ** 2)


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 7.3])
def test_noise_is_calibrated_in_exact_arithmetic(epsilon: float) -> None:
    """Twice the units over the scale is at most epsilon, for sums and for single reports."""
    for local in (False, True):
        mechanism = Laplace(QUERY.bound, Budget(epsilon=epsilon), local=local).mechanism(1)
        assert 2 * QUERY.units / mechanism.law.scale <= Fraction(epsilon)
    assert second_moment(epsilon) == pytest.approx(1 + 8 / epsilon**2, rel=1e-5)


@pytest.mark.parametrize(("block", "local"), [(1, True), (1, False), (3, False)])
def test_noise_has_its_law(block: int, local: bool) -> None:
    """Seed 1, 3000 releases, Kolmogorov-Smirnov at 1e-6; 2/3 and 3/2 of the scale are rejected."""
    errors = released(0.8, block, local, 3000, seed=1) - 0.8
    for factor, fits in ((1, True), (2 / 3, False), (3 / 2, False)):
        assert bool(stats.kstest(errors, stats.laplace(scale=factor / block).cdf).pvalue > 1e-6) is fits


def test_local_noise_hides_each_report() -> None:
    """Seed 2: the mean of a block of 16 noisy reports has 16 times the variance that one noise gives it."""
    each, once = (released(0.2, 16, local, 2000, seed=2).var() for local in (True, False))
    assert each / once == pytest.approx(16, rel=0.4)


@pytest.mark.parametrize("epsilon", [0.05, 0.25, 0.5, 1.0])
def test_the_length_of_a_block_is_the_best(epsilon: float) -> None:
    """Against all lengths nearby, and close to sqrt(8) / epsilon."""
    chosen = best_length(Fraction(epsilon))
    costs = {length: second_moment(epsilon, length) for length in range(1, 200)}
    assert costs[chosen] == pytest.approx(min(costs.values()), rel=1e-6)
    assert abs(chosen - math.sqrt(8) / epsilon) < 1


def test_one_bit_is_the_best_local_choice_at_every_epsilon() -> None:
    """By computed second moments; sums of blocks win below an epsilon of about 0.78."""
    for epsilon in np.geomspace(0.01, 20, 25):
        assert OneBit(float(epsilon)).second_moment < second_moment(float(epsilon))
    for epsilon, blocks_win in ((0.05, True), (0.3, True), (0.7, True), (0.9, False), (5.0, False)):
        best = second_moment(epsilon, best_length(Fraction(epsilon)))
        assert (best < OneBit(epsilon).second_moment) is blocks_win
