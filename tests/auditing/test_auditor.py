"""The function `audit`: what it takes, what it refuses, and that it is repeatable."""

import json

import numpy as np
import pytest

from discreet import Audit, BanditLearner, FullInformationLearner, audit
from discreet.auditing import Sums, from_functions, plot_audits, with_one_replaced
from discreet.errors import DiscreetError
from discreet.prefix_sums import BinaryTree
from discreet.privacy import Budget, Guarantee, VectorBound
from discreet.randomizers import Blocks, LaplaceOnGrid, OneBit
from discreet.set_functions import Modular, Table

BOUND = VectorBound(coordinate=100, l1=200)


class Leaky:
    """Shows the data in some column, among noise."""

    def __init__(self, columns: int = 3) -> None:
        self.columns = columns

    def claim(self):
        return Guarantee(epsilon=1.0)

    def neighbours(self):
        return 3.0, -3.0

    def observe(self, data, runs, seed):
        seen = np.random.default_rng(seed).normal(size=(runs, self.columns))
        seen[:, -1] += data
        return seen


def test_a_seed_makes_it_repeatable_and_threads_do_not_matter():
    """The same numbers, down to the counts."""
    reports = [audit(OneBit(1.0), runs=20_000, seed=3, workers=k).to_dict() for k in (1, 2)]
    for report in reports:
        del report["seconds"]
    assert reports[0] == reports[1]
    assert audit(OneBit(1.0), runs=20_000, seed=4).hits != reports[0]["hits"]


def test_without_a_seed_the_noise_is_that_of_production():
    """And the audit still passes (it is wrong about a sound mechanism with probability at most 1e-9)."""
    assert audit(OneBit(1.0), runs=20_000, confidence=1 - 1e-9).passed


def test_what_is_audited_is_not_changed():
    """A learner is as it was; one that has begun is refused."""
    learner = BanditLearner(3, 1.0, (0, 1))
    audit(learner, runs=2000, seed=1)
    assert (learner.rounds, learner.generation) == (0, 0)
    learner.tell(learner.ask(), 0.5)
    with pytest.raises(DiscreetError, match="before its first round"):
        audit(learner)
    tree = BinaryTree(1, 4, BOUND, Budget(epsilon=1.0))
    audit(tree, runs=2000, seed=1)
    tree.add(np.array([1]))
    with pytest.raises(DiscreetError, match="before its first round"):
        audit(tree)


def test_a_trained_score_finds_what_is_hidden_among_noise():
    """In one column out of three, or out of more than are paired."""
    for columns in (3, 40):
        report = audit(Leaky(columns), runs=8000, seed=1)
        assert report.score == "classifier"
        assert not report.passed


def test_a_score_of_the_first_number():
    """It sees nothing here, and is told so."""
    assert audit(Leaky(), runs=8000, score="value", seed=1).lower_bound < 0.5


def test_pairs_share_the_risk():
    """Random pairs are added to the worst one; the given ones are all tried, and the best is reported."""
    report = audit(OneBit(1.0), pairs=3, runs=40_000, seed=1)
    assert (report.pairs, report.runs) == (4, 40_000)
    assert report.passed
    given = audit(OneBit(1.0), pairs=[(0.0, 0.0), (1.0, -1.0)], runs=40_000, seed=1)
    assert 0.8 < given.lower_bound < 1
    for target in (
        BinaryTree(3, 4, BOUND, Budget(epsilon=1.0)),
        BanditLearner(3, 1.0, (0, 1)),
        FullInformationLearner(3, 1.0, (0, 1)),
        LaplaceOnGrid(1.0),
        Blocks(1.0, length=2),
    ):
        assert audit(target, pairs=2, runs=6000, seed=1, confidence=1 - 1e-4).passed
    with pytest.raises(DiscreetError, match="random neighbours"):
        audit(Leaky(), pairs=2)
    with pytest.raises(DiscreetError, match="at least one pair"):
        audit(Leaky(), pairs=[])


def test_pairs_from_data():
    """A stream, and the same with its first round replaced by the most different function there is."""
    functions = [Modular([0.1, 0.2]), Modular([0.0, 0.2]), Modular([0.4, -0.4])]
    first, second = from_functions(functions, 2)
    assert first == functions[:2]
    assert second == [functions[2], functions[1]]
    learner = FullInformationLearner(2, 1.0, (-1, 1), method="tree", horizon=2)
    report = audit(learner, pairs=[(first, second)], rounds=2, runs=8000, seed=1)
    assert report.passed
    assert report.score == "classifier"  # the second function moves the point in a way that is not followed
    with pytest.raises(DiscreetError, match="same number of items"):
        from_functions([Modular([0.1]), Modular([0.1, 0.2])], 1)
    assert with_one_replaced([1, 2], 5) == ([1, 2], [5, 2])


def test_claims_in_rho_are_restated():
    """At the delta that is asked for; 1e-5 otherwise."""
    mechanism = BinaryTree(1, 4, BOUND, Budget(rho=2.0))
    usual, larger = (audit(mechanism, runs=4000, seed=1, delta=delta) for delta in (None, 0.01))
    assert (usual.delta, larger.delta) == (1e-5, 0.01)
    assert usual.claimed > larger.claimed > larger.lower_bound > 0


def test_a_change_in_a_later_round():
    """Likelihoods are not known there, so a score is trained."""
    target = Sums(BinaryTree(1, 4, BOUND, Budget(epsilon=2.0)), 4, changed=2)
    report = audit(target, runs=40_000, seed=1)
    assert report.passed
    assert report.score == "classifier"
    assert report.lower_bound > 0.3


def test_the_report(tmp_path):
    """Words, JSON, a picture."""
    good, bad = audit(OneBit(1.0), runs=8000, seed=1), audit(Leaky(), runs=8000, seed=1, name="mine")
    assert "not refuted" in str(good)
    assert "VIOLATED" in str(bad)
    assert "would have been found (90%)" in str(good)
    assert json.loads(bad.to_json())["passed"] is False
    assert isinstance(good, Audit)
    axes = plot_audits([good, bad])
    assert [label.get_text() for label in axes.get_yticklabels()] == ["OneBit", "mine"]
    with pytest.raises(DiscreetError, match="no audits"):
        plot_audits([])
    blind = audit(Leaky(), runs=200, seed=1, pairs=[(0.0, 0.0)])
    assert blind.to_dict()["least_found"] is None or blind.least_found > 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"runs": 0}, "'runs'"),
        ({"confidence": 1.0}, "'confidence'"),
        ({"confidence": float("nan")}, "'confidence'"),
        ({"delta": 1.5}, "'delta'"),
        ({"score": "guess"}, "'score'"),
        ({"workers": 0}, "'workers'"),
        ({"pairs": -1}, "'pairs'"),
        ({"pairs": [1.0]}, "'pairs'"),
        ({"seed": -1}, "'seed'"),
        ({"rounds": 3}, "one release"),
    ],
)
def test_bad_arguments(arguments, message):
    """Are named."""
    with pytest.raises(DiscreetError, match=message):
        audit(OneBit(1.0), **arguments)


def test_bad_targets():
    """What cannot be audited, what shows no rows, and likelihoods that nobody knows."""

    class Short(Leaky):
        def observe(self, data, runs, seed):
            return np.zeros((runs - 1, 2))

    with pytest.raises(DiscreetError, match="claim, neighbours and observe"):
        audit(object())
    with pytest.raises(DiscreetError, match="one row for each"):
        audit(Short(), runs=1000)
    with pytest.raises(DiscreetError, match="not known"):
        audit(Leaky(), score="likelihood")
    with pytest.raises(DiscreetError, match="at most 16 items"):
        audit(BanditLearner(70, 1.0, (0, 1)))
    with pytest.raises(DiscreetError, match="'view'"):
        audit(BanditLearner(2, 1.0, (0, 1)), view="inside")


def test_streams_that_likelihoods_are_not_known_for():
    """Are scored by training instead: later rounds that are not neutral, functions without a middle."""
    learner = FullInformationLearner(2, 1.0, (-1, 1), method="tree", horizon=4)
    steep, flat = Table([0.0, 1.0, -1.0, 0.0]), Table([0.0, 0.0, 0.0, 0.0])
    report = audit(learner, rounds=2, pairs=[([steep, steep], [flat, steep])], runs=4000, seed=1)
    assert report.score == "classifier"
