"""SubmodPFTAL and BanditSubmodPFTAL: their parameters, their noise, their guarantees and their regret."""

import math
from fractions import Fraction

import numpy as np
import pytest
from examples.errata.streams import modular_stream, regret_rate

from discreet import DiscreetError, bounds
from discreet.environments import Pool
from discreet.kernel.queries import GRADIENT_UNITS as UNITS
from discreet.paper import BanditSubmodPFTAL, SubmodPFTAL
from discreet.prefix_sums import BinaryTree
from discreet.privacy import Budget
from discreet.randomness import BitSource
from discreet.set_functions import Cut, Modular


@pytest.mark.parametrize(("T", "epsilon"), [(1, 1.0), (2, 3.0), (1000, 0.1), (2**20, 1.0)])
def test_corrected_noise_is_made_for_the_enforced_distance(T: int, epsilon: float) -> None:
    """Full information: levels * 8M / epsilon; bandit: levels * 4M(n+1)/(gamma epsilon); in exact units."""
    levels = math.ceil(math.log2(T)) + 1 if T > 1 else 1
    full = SubmodPFTAL(3, T, epsilon, M=2.0)
    # One unit is M / UNITS, so 8M is 8 * UNITS units.
    assert full._mechanism.law.scale >= Fraction(levels * 8 * UNITS) / Fraction(epsilon)
    assert float(full._mechanism.law.scale) == pytest.approx(levels * 8 * UNITS / epsilon)
    assert full.learner.query.bound.step * UNITS == pytest.approx(2.0)
    bandit = BanditSubmodPFTAL(3, T, epsilon, M=2.0, gamma=0.5)
    assert bandit._mechanism.law.scale >= Fraction(levels * 2 * UNITS) / Fraction(epsilon)
    assert bandit.learner.query.bound.step * UNITS == pytest.approx(2 * 2.0 * 4 / 0.5)


def test_published_noise_is_what_is_printed() -> None:
    """Scale levels * L / epsilon with the theorem's H and L, in values."""
    T, n, M, epsilon = 2**20, 2, 1.0, 1.0
    learner = BanditSubmodPFTAL(n, T, epsilon, M, calibration="published")
    assert math.isclose(M / (math.sqrt(n) * T**0.25), learner.H)
    assert math.isclose(4 * M + 2 * learner.H * math.sqrt(n), learner.L)
    assert learner.gamma == pytest.approx(n / T**0.25)
    assert learner._mechanism.scale * learner.learner.query.bound.step == pytest.approx(
        21 * learner.L / epsilon
    )
    full = SubmodPFTAL(n, T, epsilon, M, calibration="published")
    assert pytest.approx(M * math.sqrt(T) / math.sqrt(n)) == full.H
    assert pytest.approx(4 * M + full.H * math.sqrt(n)) == full.L


def test_published_guarantees_say_what_is_false() -> None:
    """The reasons name the errata and the real loss."""
    bandit = BanditSubmodPFTAL(2, 2**20, 1.0, calibration="published").guarantee
    assert not bandit.private
    # 2 sqrt(2) M (n+1) / (gamma L) with gamma = 1/16 and L = 4 + 2/32.
    assert f"{2 * math.sqrt(2) * 3 * 16 / (4 + 2 / 32):.3g}" in bandit.reason
    assert "E1" in bandit.reason
    full = SubmodPFTAL(3, 1000, 1.0, calibration="published", L=1.0).guarantee
    assert not full.private
    assert f"{2 * math.sqrt(6):.3g}" in full.reason
    assert "E2" in full.reason


def test_largest_estimates_reach_the_enforced_bound_and_no_further() -> None:
    """A cost of M on a prefix of least probability is not clipped; a cost of 100 M changes nothing."""
    for cost in (1.0, 100.0):
        learner = BanditSubmodPFTAL(2, 10**4, 1000.0, gamma=0.5, x1=[0.0, 0.0], seed=0)
        sizes = []
        for _ in range(200):
            learner.tell(learner.ask(), cost)
            (told,) = learner._phases.values()
            sizes.append(int(np.abs(told.sums).max()))
        assert max(sizes) == UNITS


@pytest.mark.parametrize("bandit", [False, True])
def test_regret_stays_below_the_corrected_bound(bandit: bool) -> None:
    """On cuts and modular streams the proved bound holds, with its best tuning (it is far from tight)."""
    T, n, epsilon = 2**14, 3, 2.0
    rng = np.random.default_rng(1)
    cuts = [Cut(rng.random((n, n)) / 3, rng.uniform(-0.2, 0.2, n)) for _ in range(8)]
    for pool in (modular_stream(n, 0.5, T, 0), Pool(cuts, T, seed=2)):
        if bandit:
            H, gamma = bounds.bandit_submod_pftal_tuning(n, T, 1.0, epsilon)
            learner = BanditSubmodPFTAL(n, T, epsilon, H=H, gamma=gamma, seed=3)
            limit = bounds.bandit_submod_pftal(n, T, 1.0, epsilon, H, gamma)
        else:
            H = bounds.submod_pftal_tuning(n, T, 1.0, epsilon)
            learner = SubmodPFTAL(n, T, epsilon, H=H, seed=3)  # type: ignore[assignment]
            limit = bounds.submod_pftal(n, T, 1.0, epsilon, H)
        assert T * regret_rate(learner, pool) <= limit


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: SubmodPFTAL(3, 0, 1.0), "'T' of SubmodPFTAL must be "),
        (lambda: SubmodPFTAL(3, 10, 0.0), "'epsilon' of SubmodPFTAL must be a positive number"),
        (lambda: SubmodPFTAL(3, 10, 1.0, L=3.9), "at least 4M = 4.0"),
        (lambda: SubmodPFTAL(3, 10, 1.0, calibration="right"), "'corrected' or 'published'"),  # type: ignore[arg-type]
        (lambda: SubmodPFTAL(3, 10, 1.0, noise="pink"), "'laplace' or 'spherical'"),  # type: ignore[arg-type]
        (lambda: SubmodPFTAL(3, 10, 1.0, S1=[3]), "'S1' of SubmodPFTAL"),
        (lambda: SubmodPFTAL(3, 10, 1.0, calibration="published", noise="laplace"), "spherical"),
        (lambda: BanditSubmodPFTAL(3, 80, 1.0), "needs T >= n^4 = 81. Got T = 80 instead. Give a 'gamma'"),
        (lambda: BanditSubmodPFTAL(3, 10, 1.0, gamma=1.5), "'gamma' of BanditSubmodPFTAL"),
        (lambda: BanditSubmodPFTAL(3, 100, 1.0, gamma=0.5, L=4), "at least 2M(n+1)/gamma = 16.0"),
        (lambda: BanditSubmodPFTAL(3, 100, 1.0, x1=[0, 0, 2]), "'x1' of BanditSubmodPFTAL"),
    ],
)
def test_bad_arguments_say_what_to_do(build, message: str) -> None:  # type: ignore[no-untyped-def]
    """Every argument of the paper is checked by its name."""
    with pytest.raises(DiscreetError) as caught:
        build()
    assert message in str(caught.value)


@pytest.mark.parametrize("bandit", [False, True])
def test_points_are_those_of_the_noisy_leader(bandit: bool) -> None:
    """x = clip(-v / (H t)) for the tree's noisy sum v of the bounded gradients: noise of the same seed."""
    n, T, H = 3, 40, 0.7
    if bandit:
        learner = BanditSubmodPFTAL(n, T, 5.0, H=H, gamma=0.5, seed=1)
    else:
        learner = SubmodPFTAL(n, T, 5.0, H=H, seed=1)  # type: ignore[assignment]
    query = learner.learner.query
    tree = BinaryTree(n, T, query.bound, Budget(epsilon=5.0), source=BitSource(seed=1))
    rng = np.random.default_rng(0)
    for t in range(1, T // 2):
        decision = learner.ask()
        f = Modular(rng.uniform(-0.3, 0.3, n))
        learner.tell(decision, f(decision.subset) if bandit else f)
        (told,) = learner._phases.values()
        v = tree.add(told.sums[0].copy()).values
        learner.ask()  # closes the round; this one is left without feedback
        np.testing.assert_allclose(learner.point, np.clip(-v / (H * (2 * t - 1)), 0, 1), atol=1e-9)
        tree.add(np.zeros(n, dtype=np.int64))
