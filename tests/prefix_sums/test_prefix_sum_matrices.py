"""The premise of the proofs, read off the running code: releases are A x + L z with A = L R.

Instead of noise every new node gets a unit vector of its own, so that a released sum
shows which nodes it is made of: one row of L. The rows of R are the intervals that
the nodes stand for, known from where they were drawn.
"""

import numpy as np
import pytest

from discreet.prefix_sums import BinaryTree, binary
from discreet.prefix_sums.steps import samples_needed
from discreet.privacy import Budget, VectorBound
from discreet.randomness import BitSource

BOUND = VectorBound(coordinate=1, l1=1)
EPSILON = Budget(epsilon=1.0)


def materialise(sums, rounds, nodes_drawn):
    """L as a matrix and the interval of each node, from a run with unit vectors for noise.

    `nodes_drawn(t)` lists (row, start, end) of the nodes that round t draws.
    """
    size = sums.dimension
    intervals, coefficients = [], np.zeros((rounds, size), dtype=np.int64)

    def draw(_done, _bits, cursor):
        for row, start, end in nodes_drawn(sums.round + 1):
            unit = np.zeros(size, dtype=np.int64)
            unit[len(intervals)] = 1
            steps = sums.steps
            live = steps.state.live if hasattr(steps, "state") else steps.fresh
            live[row * size : (row + 1) * size] = unit
            intervals.append((start, end))
        return samples_needed(sums.steps), cursor

    sums._draw = draw
    for t in range(1, rounds + 1):
        coefficients[t - 1] = sums.add(np.zeros(size, dtype=np.int64)).values
    return coefficients[:, : len(intervals)], intervals


def check(coefficients, intervals, rounds, most_nodes):
    """A = L R, entries 0 and +-1, and no round in more than `most_nodes` nodes in use."""
    assert set(np.unique(coefficients)) <= {-1, 0, 1}
    members = np.array(
        [[start <= s < end for s in range(rounds)] for start, end in intervals], dtype=np.int64
    )
    assert np.array_equal(coefficients @ members, np.tri(rounds, dtype=np.int64))
    used = np.abs(coefficients).sum(axis=0) > 0
    assert used.all()
    assert members.sum(axis=0).max() <= most_nodes


def binary_nodes(t):
    """What round t of a binary tree draws."""
    level = (t & -t).bit_length() - 1
    return [(level, t - (1 << level), t)]


@pytest.mark.parametrize("horizon", [1, 2, 3, 7, 8, 9, 64, 100])
def test_the_binary_tree(horizon):
    """Round t completes one node, of length the lowest one-bit of t."""
    tree = BinaryTree(2 * horizon, horizon, BOUND, EPSILON, source=BitSource(seed=1))

    def drawn(t):
        assert 1 << binary.entering_level(tree.steps.state) == t & -t
        return binary_nodes(t)

    coefficients, intervals = materialise(tree, horizon, drawn)
    check(coefficients, intervals, horizon, tree.levels)
    assert np.abs(coefficients).sum() / horizon == pytest.approx(binary.mean_nodes(horizon))


def neighbours_ratio(horizon):
    """The largest |R e_s|_1 D / scale over rounds s: the privacy loss by the theorem, exactly."""
    tree = BinaryTree(1, horizon, VectorBound(coordinate=10, l1=10), Budget(epsilon=0.7))
    return tree.levels * 20 / tree.steps.law.scale


@pytest.mark.parametrize("horizon", [1, 5, 100, 2**14])
def test_the_loss_is_at_most_epsilon_in_exact_arithmetic(horizon):
    """Nodes per round times sensitivity over scale, as fractions; and hardly less than epsilon."""
    from fractions import Fraction

    loss = neighbours_ratio(horizon)
    assert Fraction(7, 10) * (1 - Fraction(1, 10**6)) < loss <= Fraction(0.7)


def adversary(seed, changed_round, changed):
    """Inputs in [-10, 10] that depend on all earlier output; the two worlds differ in one round."""

    def choose(t, outputs):
        told = hash((seed, t, tuple(outputs)))
        if t != changed_round:
            return told % 21 - 10
        sign = 1 if told % 2 else -1
        return -10 * sign if changed else 10 * sign

    return choose


def log_density(matrix, inputs, outputs, scale):
    """Log of the probability of integer outputs, up to a constant; L is square and invertible here."""
    noise = np.linalg.solve(matrix, np.array(outputs) - np.cumsum(inputs))
    return -np.abs(noise).sum() / scale


@pytest.mark.parametrize("changed_round", [1, 2, 3, 4])
def test_adaptive_inputs_do_not_raise_the_loss(changed_round):
    """For T = 4 and 3000 transcripts of adaptive adversaries the log ratio is at most epsilon.

    The first round lies in a node of each level and comes close to epsilon: less noise is caught.
    """
    bound = VectorBound(coordinate=10, l1=10)
    tree = BinaryTree(30, 4, bound, Budget(epsilon=0.7), source=BitSource(seed=1))
    matrix, _ = materialise(tree, 4, binary_nodes)
    assert matrix.shape == (4, 4)
    scale = float(tree.steps.law.scale)
    generator = np.random.default_rng(changed_round)
    worst = 0.0
    for seed in range(3000):
        outputs, worlds = [], ([], [])
        noise = np.rint(generator.laplace(scale=scale, size=4)).astype(int)
        for t in range(1, 5):
            for world, changed in zip(worlds, (False, True), strict=True):
                world.append(adversary(seed, changed_round, changed)(t, outputs))
            outputs.append(int(sum(worlds[0]) + matrix[t - 1] @ noise))
        ratio = log_density(matrix, worlds[0], outputs, scale) - log_density(
            matrix, worlds[1], outputs, scale
        )
        worst = max(worst, abs(ratio))
    used = {1: 3, 2: 2, 3: 2, 4: 1}[changed_round]  # nodes in use that hold the round
    assert worst <= 0.7 * used / 3 + 1e-9
    assert worst > 0.9 * 0.7 * used / 3
