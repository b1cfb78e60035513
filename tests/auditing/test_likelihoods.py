"""Exact likelihoods: the nodes of trees are what they are said to be."""

import numpy as np

from discreet import audit
from discreet.auditing import Pair
from discreet.auditing.likelihoods import spans_of
from discreet.auditing.releases import Slots
from discreet.prefix_sums import BinaryTree
from discreet.privacy import Budget, VectorBound
from discreet.privacy.noise import variance
from discreet.randomness import BitSource

BOUND = VectorBound(coordinate=5, l1=5)


def test_nodes_have_independent_noise_of_the_stated_variance() -> None:
    """Seed 1, 4,000 trees without data: the covariance of all nodes is that of the law times the identity.

    Entries lie within 0.2 of it (six deviations and more); prefix sums instead of nodes are rejected.
    """
    tree = BinaryTree(1, 16, BOUND, Budget(epsilon=1.0))
    rounds, nothing = tree.horizon, np.zeros(1, dtype=np.int64)
    target = Slots(tree.steps, [Pair("nothing", nothing, nothing)], 1, BitSource(1), rounds, slots=rounds)
    grown = target.observe(np.zeros((rounds, 1), dtype=np.int64), 4000, seed=1)
    sums = np.pad(np.cumsum(grown, axis=1), ((0, 0), (1, 0)))
    spans = spans_of(tree.steps, range(1, rounds + 1))
    assert len(spans) >= rounds - 2 * len(tree.steps.state.digits)
    nodes = np.stack([sums[:, end] - sums[:, start] for start, end in spans], axis=1)
    scale = variance(tree.steps.law)
    assert np.abs(np.cov(nodes.T) / scale - np.eye(len(spans))).max() < 0.35
    assert np.abs(np.cov(sums[:, 1:].T) / scale - np.eye(rounds)).max() > 0.5


def test_they_prove_more_than_what_is_learned() -> None:
    """Of a tree whose loss is spread over four levels."""
    tree = BinaryTree(2, 8, VectorBound.for_costs(-1, 1, units=1000), Budget(epsilon=1.0))
    exact, learned = (
        audit(tree, score=score, seed=1, runs=200_000, power=False) for score in ("likelihood", "learned")
    )
    assert exact.passed
    assert exact.score == "likelihood"
    assert exact.lower_bound > learned.lower_bound + 0.1
