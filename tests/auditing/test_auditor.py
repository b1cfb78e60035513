"""The function `audit`: what it takes, what it refuses, and that it is repeatable."""

import dataclasses
import json

import numpy as np
import pytest

from discreet import Audit, BanditLearner, FullInformationLearner, audit
from discreet.auditing import Sessions
from discreet.errors import DiscreetError
from discreet.prefix_sums import BinaryTree
from discreet.privacy import Budget, Guarantee, VectorBound
from discreet.randomizers import OneBit
from discreet.set_functions import Modular

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


class Shared(Leaky):
    """Two numbers with the same noise."""

    def observe(self, data, runs, seed):
        noise = np.random.default_rng(seed).laplace(scale=100.0, size=(runs, 1))
        return noise + np.array([data, 0.0])


class Wider(Leaky):
    """The data are the scale of the noise."""

    def observe(self, data, runs, seed):
        return np.random.default_rng(seed).normal(scale=1.0 if data > 0 else 5.0, size=(runs, 2))


def test_a_seed_makes_it_repeatable():
    """The same numbers, down to the counts."""
    first, again, other = (audit(OneBit(1.0), runs=4000, seed=seed) for seed in (3, 3, 4))
    assert dataclasses.replace(first, seconds=0.0) == dataclasses.replace(again, seconds=0.0)
    assert first.hits != other.hits


def test_without_a_seed_the_noise_is_that_of_production():
    """And the audit still passes (it is wrong about a sound mechanism with probability at most 1e-9)."""
    assert audit(OneBit(1.0), runs=20_000, confidence=1 - 1e-9, power=False).passed


def test_what_is_audited_is_not_changed():
    """A learner is as it was; one that has begun is refused."""
    learner = BanditLearner(3, 1.0, (0, 1))
    audit(learner, runs=2000, seed=1, power=False, view="released")
    assert (learner.rounds, learner.generation) == (0, 0)
    learner.tell(learner.ask(), 0.5)
    with pytest.raises(DiscreetError, match="before its first round"):
        audit(learner)
    tree = BinaryTree(1, 4, BOUND, Budget(epsilon=1.0))
    audit(tree, runs=2000, seed=1, power=False)
    tree.add(np.array([1]))
    with pytest.raises(DiscreetError, match="before its first round"):
        audit(tree)


@pytest.mark.parametrize("target", [Leaky(3), Leaky(200), Shared(), Wider()])
def test_learned_scores_find_what_is_hidden_among_noise(target):
    """In one column of many, in a difference, in the scale."""
    assert not audit(target, runs=8000, seed=1).passed


def test_pairs_that_are_given():
    """The best of them is reported; two equal inputs show nothing."""
    given = audit(OneBit(1.0), pairs=[(0.0, 0.0), (1.0, -1.0)], runs=40_000, seed=1, power=False)
    assert (given.pairs, given.pair) == (2, "given pair 2")
    assert 0.8 < given.lower_bound < 1
    assert audit(OneBit(1.0), pairs=[(0.5, 0.5)], runs=2000, seed=1, power=False).lower_bound < 0.2


def test_histories_of_feedback_can_be_given():
    """A stream of functions, and the same with its first one exchanged."""
    usual = [Modular([0.1, 0.2]), Modular([0.0, 0.2])]
    learner = FullInformationLearner(2, 1.0, (-1, 1))
    other = [Modular([0.4, -0.4]), usual[1]]
    assert audit(learner, pairs=[(usual, other)], runs=128, seed=1).passed


def test_anything_that_is_asked_and_told():
    """A learner of another make, through a function that makes it: it remembers the last cost."""

    class Stubborn:
        items = ("tea",)
        guarantee = Guarantee(epsilon=1.0)
        last = 0.0

        def ask(self, **_):
            return type("Decision", (), {"id": 1, "subset": frozenset(self.items)})()

        def tell(self, decision, cost, **_):
            self.last = float(cost) if isinstance(cost, float) else 0.0

    report = audit(Sessions(lambda seed: Stubborn()))
    assert not report.passed
    assert "last after" in report.event


def test_claims_in_rho_are_restated():
    """At the delta that is asked for; 1e-5 otherwise."""
    mechanism = BinaryTree(1, 4, BOUND, Budget(rho=2.0))
    usual, larger = (audit(mechanism, runs=8000, seed=1, delta=delta, power=False) for delta in (None, 0.01))
    assert (usual.delta, larger.delta) == (1e-5, 0.01)
    assert usual.claimed > larger.claimed > larger.lower_bound > 0


@pytest.mark.slow
def test_forty_rounds_of_one_person_with_a_delta():
    """What is claimed is not refuted; half the epsilon, which bits of that size do not have, is."""
    learner = BanditLearner(2, 1.0, (0, 1), mode="local", rounds_per_person=40, delta=0.01)
    half = dataclasses.replace(learner.guarantee, epsilon=0.5)
    claimed, less = (audit(learner, runs=40_000, seed=1, claim=c, power=False) for c in (None, half))
    assert (claimed.claimed, claimed.delta) == (1.0, 0.01)
    assert claimed.passed
    assert not less.passed


def test_the_report():
    """Words and JSON."""
    good, bad = audit(OneBit(1.0), runs=60_000, seed=1), audit(Leaky(), runs=8000, seed=1, name="mine")
    assert "not refuted" in str(good)
    assert "would have found noise too small by a factor of 1." in str(good)
    assert "VIOLATED" in str(bad)
    assert json.loads(bad.to_json())["passed"] is False
    assert isinstance(good, Audit)
    blind = audit(OneBit(8.0), runs=128, seed=1)
    assert blind.to_dict()["finds_factor"] is None
    assert "take more runs" in str(blind)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"runs": 0}, "'runs'"),
        ({"confidence": 1.0}, "'confidence'"),
        ({"confidence": float("nan")}, "'confidence'"),
        ({"delta": 1.5}, "'delta'"),
        ({"score": "guess"}, "'score'"),
        ({"pairs": []}, "'pairs'"),
        ({"seed": -1}, "'seed'"),
        ({"rounds": 3}, "one release"),
        ({"view": "inside"}, "'view'"),
    ],
)
def test_bad_arguments(arguments, message):
    """Are named."""
    with pytest.raises(DiscreetError, match=message):
        audit(OneBit(1.0), **{"runs": 2000} | arguments)


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
        audit(Leaky(), score="likelihood", runs=1000)
