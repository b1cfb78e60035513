"""An audit that cannot fail is no audit: everything here is broken, and must be found out.

All seeds are fixed. Each test also states the honest counterpart that must pass with the same runs.
"""

import pytest
from broken import (
    BOUND,
    KeepsLargeCostsOpen,
    LogsLargeCosts,
    LogsTheCost,
    OnlyCounts,
    RaisesOnLargeCosts,
    RawBit,
    RawTree,
    RestoredTwice,
    ReturnsTheCost,
    SameSeedTwice,
    ShowsBlockSums,
    ShowsTheCost,
    laplace_at_half_scale,
    one_bit_ten_percent_off,
    tree_for_zeroed_rounds,
    tree_with_a_level_forgotten,
)

from discreet import audit
from discreet.auditing import FirstNode
from discreet.errors import DiscreetError
from discreet.paper import TBAP, BanditSubmodPFTAL
from discreet.prefix_sums import BinaryTree, Epochs
from discreet.privacy import Budget, VectorBound, noise
from discreet.randomizers import LaplaceOnGrid, OneBit


def test_published_bandit_algorithm():
    """Erratum E1: noise made for L, where an estimate has the size 2M (n+1) / gamma."""
    published = BanditSubmodPFTAL(2, 2**14, 1.0, calibration="published")
    report = audit(published, rounds=64, runs=100_000, seed=1)
    assert not report.passed
    assert report.lower_bound > 2
    assert audit(BanditSubmodPFTAL(2, 2**14, 1.0), rounds=64, runs=100_000, seed=1).passed


def test_published_bandit_algorithm_by_what_it_shows():
    """The same from sets and points alone, by a trained score."""
    published = BanditSubmodPFTAL(2, 2**14, 1.0, calibration="published")
    report = audit(published, view="shown", rounds=64, runs=100_000, seed=1)
    assert not report.passed
    assert report.score == "classifier"


def test_published_tree():
    """Erratum E3: noise for mu, where replacing a vector moves 2 mu."""
    assert not audit(TBAP(1, 1, 1.0, 1.0, calibration="published"), runs=20_000, seed=1).passed


def test_half_the_noise():
    """Its loss is twice the claimed one, and the bound comes close to that."""
    report = audit(laplace_at_half_scale(), runs=100_000, seed=2)
    assert not report.passed
    assert 1.9 < report.lower_bound < 2.0
    assert audit(LaplaceOnGrid(1.0), runs=100_000, seed=2).passed


def test_a_bias_that_is_off_by_a_tenth():
    """A loss of 1.12 instead of 1."""
    report = audit(one_bit_ten_percent_off(), runs=200_000, seed=3)
    assert not report.passed
    assert report.least_found < 1.12
    assert audit(OneBit(1.0), runs=200_000, seed=3).passed


def test_noise_for_the_wrong_neighbours():
    """Made for zeroing a round out, used where rounds are replaced: twice the loss."""
    report = audit(tree_for_zeroed_rounds(), runs=100_000, seed=4)
    assert not report.passed
    assert 1.7 < report.lower_bound < 2.0
    assert audit(BinaryTree(2, 1, BOUND, Budget(epsilon=1.0)), runs=100_000, seed=4).passed


def test_a_level_that_was_not_counted():
    """Two levels, one of them counted: found in the transcript. Five, four counted: found in a node."""
    transcript = audit(tree_with_a_level_forgotten(2), runs=100_000, seed=5)
    assert not transcript.passed
    assert transcript.lower_bound > 1.7
    node = audit(FirstNode(tree_with_a_level_forgotten(16), nodes=5), runs=600_000, seed=5)
    assert not node.passed
    whole = BinaryTree(1, 16, VectorBound(coordinate=100, l1=100), Budget(epsilon=1.0))
    assert audit(FirstNode(whole, nodes=5), runs=600_000, seed=5).passed


def test_noise_used_again_after_a_restore():
    """Two branches of one saved tree: their difference is the data."""
    report = audit(RestoredTwice(), runs=4000, seed=6)
    assert not report.passed
    assert report.lower_bound > 4


def test_one_seed_for_two_replicas():
    """Their difference is the data."""
    report = audit(SameSeedTwice(), runs=4000, seed=7)
    assert not report.passed
    assert report.lower_bound > 4


@pytest.mark.parametrize(
    "kind",
    [LogsLargeCosts, KeepsLargeCostsOpen, RaisesOnLargeCosts, LogsTheCost, ReturnsTheCost, ShowsTheCost],
)
def test_behaviour_that_depends_on_the_cost(kind):
    """Log lines, decisions left open, exceptions: the noise is right, and yet all is told."""
    report = audit(kind(2, 1.0, (0, 1)), runs=3000, seed=8)
    assert not report.passed
    assert report.lower_bound > 4


def test_a_tell_of_ones_own_that_does_no_harm():
    """The same audit, by asking and telling, of a learner that behaves."""
    report = audit(OnlyCounts(2, 1.0, (0, 1)), runs=6000, seed=9)
    assert report.passed
    assert report.score == "classifier"
    assert report.lower_bound > 0.5


def test_rewards_are_told_to_learners_that_maximise():
    """The same leak is found where costs are turned round."""
    assert not audit(LogsTheCost(2, 1.0, (0, 1), maximize=True), runs=1500, seed=8).passed


def test_a_whole_block_is_played():
    """What shows only when a block is full is seen."""
    report = audit(ShowsBlockSums(2, 1.0, (0, 1), mode="central"), runs=1500, seed=8)
    assert not report.passed


def test_methods_of_ones_own_are_run():
    """A class that overrides what a compiled loop would pass by."""
    assert not audit(RawBit(1.0), runs=2000).passed
    tree = RawTree(2, 2, BOUND, Budget(epsilon=1.0))
    assert not audit(tree, runs=2000, seed=8).passed


def test_noise_for_one_round_of_a_person_who_has_three():
    """Neighbours differ in as many rounds as a person may have."""
    three, one = (
        BinaryTree(1, 4, VectorBound(coordinate=100, l1=100), Budget(epsilon=1.0, rounds_per_person=k))
        for k in (3, 1)
    )
    assert audit(three, runs=60_000, seed=9).passed
    three._law = one._law
    assert not audit(three, runs=60_000, seed=9).passed


def test_changes_that_a_copy_would_not_have_are_refused():
    """Rather than auditing something else."""
    sums = Epochs(1, BOUND, Budget(epsilon=1.0))
    sums._law = noise.laplace(sums._law.scale / 100)
    with pytest.raises(DiscreetError, match="changed after it was made"):
        audit(sums, runs=200)
    learner = OnlyCounts(2, 1.0, (0, 1))
    learner._core = learner._core._replace(step=2 * learner._core.step)
    with pytest.raises(DiscreetError, match="changed after it was made"):
        audit(learner, runs=200)
    patched = OneBit(1.0)
    patched.release = lambda value: value
    with pytest.raises(DiscreetError, match="method of its own, 'release'"):
        audit(patched, runs=200)


def test_an_audit_that_saw_nothing_says_so():
    """Two equal inputs: no power is claimed."""
    report = audit(OneBit(1.0), pairs=[(0.5, 0.5)], runs=2000, seed=1)
    assert report.passed
    assert report.to_dict()["least_found"] is None
    assert "not told apart" in str(report)
