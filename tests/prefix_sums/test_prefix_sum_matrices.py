"""The premise of the proofs, read off the running code: releases are A x + L z with A = L R.

Instead of noise every new node gets a unit vector of its own, so that a released sum
shows which nodes it is made of: one row of L. The rows of R are the intervals that
the nodes stand for, known from where they were drawn.
"""

import numpy as np
import pytest

from discreet.prefix_sums import BinaryTree, KAryTree, binary, kary
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


@pytest.mark.parametrize("horizon", [1, 2, 3, 7, 8, 9, 64, 100])
def test_the_binary_tree(horizon):
    """Round t completes one node, of length the lowest one-bit of t."""
    tree = BinaryTree(2 * horizon, horizon, BOUND, EPSILON, source=BitSource(seed=1))

    def drawn(t):
        level = binary.entering_level(tree.steps.state)
        assert 1 << level == t & -t
        return [(level, t - (1 << level), t)]

    coefficients, intervals = materialise(tree, horizon, drawn)
    check(coefficients, intervals, horizon, tree.levels)
    assert np.abs(coefficients).sum() / horizon == pytest.approx(binary.mean_nodes(horizon))


def balanced(t, k, height):
    """Balanced digits, lowest first, from the definition."""
    digits, reach = [], (k - 1) // 2
    for _ in range(height):
        digit = (t + reach) % k - reach
        digits.append(digit)
        t = (t - digit) // k
    assert t == 0
    return digits


def subtraction_nodes(steps, t, offset=0):
    """What round t of a k-ary tree draws, from the definition of the nodes."""
    k, reach = steps.shape.arity, steps.shape.reach
    digits = balanced(t, k, steps.shape.height)

    def position(level):
        return sum(digit * k**m for m, digit in enumerate(digits) if m > level)

    drawn = []
    for row in range(samples_needed(steps) // steps.state.noise.size):
        level, back = divmod(row - 1, reach)
        if row > 0:  # a node to be subtracted now
            end = position(level) - back * k**level
        else:
            level = next(level for level, digit in enumerate(digits) if digit != -reach)
            if digits[level] > 0:  # the node that is added
                end = position(level) + digits[level] * k**level
            else:  # the node that will stand in the place of the one just dropped
                end = position(level) + k ** (level + 1) + digits[level] * k**level
        drawn.append((row, offset + end - k**level, offset + end))
    return drawn


@pytest.mark.parametrize(
    ("arity", "horizon"), [(3, 1), (3, 4), (3, 5), (3, 121), (5, 62), (7, 171), (13, 100)]
)
def test_the_tree_with_subtraction(arity, horizon):
    """Every prefix is the exact sum plus the signed noise of its nodes, and each round is in h at most."""
    tree = KAryTree(2 * horizon + 4 * arity, horizon, BOUND, EPSILON, arity=arity, source=BitSource(seed=1))
    coefficients, intervals = materialise(tree, horizon, lambda t: subtraction_nodes(tree.steps, t))
    # Nodes may reach beyond the horizon; there is nothing to check there.
    used = np.abs(coefficients).sum(axis=0) > 0
    intervals = [interval for interval, keep in zip(intervals, used, strict=True) if keep]
    check(coefficients[:, used], intervals, horizon, tree.shape.height)
    for t in range(1, horizon + 1):
        nodes = sum(map(abs, balanced(t, arity, tree.shape.height)))
        assert np.abs(coefficients[t - 1]).sum() == nodes
    assert np.abs(coefficients).sum() / horizon == pytest.approx(kary.mean_nodes(tree.shape, horizon))


def test_a_round_draws_one_node_as_a_rule():
    """Only when a level wraps for the first time are its nodes drawn at once: height - 1 times in all."""
    tree = KAryTree(4, 1093, BOUND, EPSILON, arity=3, source=BitSource(seed=1))
    drawn = []
    for _ in range(1093):
        drawn.append(samples_needed(tree.steps) // 4)
        tree.add(np.zeros(4, dtype=np.int64))
    assert sum(count > 1 for count in drawn) == tree.shape.height - 1
    assert set(drawn) - {1} == {1 + level * tree.shape.reach for level in range(1, tree.shape.height)}


def neighbours_ratio(tree_class, horizon, **options):
    """The largest |R e_s|_1 D / scale over rounds s: the privacy loss by the theorem, exactly."""
    tree = tree_class(1, horizon, VectorBound(coordinate=10, l1=10), Budget(epsilon=0.7), **options)
    nodes = tree.levels if tree_class is BinaryTree else tree.shape.height
    return nodes * 20 / tree.steps.law.scale


@pytest.mark.parametrize("horizon", [1, 5, 100, 2**14])
def test_the_loss_is_at_most_epsilon_in_exact_arithmetic(horizon):
    """Nodes per round times sensitivity over scale, as fractions; and hardly less than epsilon."""
    from fractions import Fraction

    for tree_class in (BinaryTree, KAryTree):
        loss = neighbours_ratio(tree_class, horizon)
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
    """For k = 3, T = 4 and 3000 transcripts of adaptive adversaries the log ratio is at most epsilon.

    Rounds that lie in both levels' nodes come close to epsilon, so less noise would be caught.
    """
    bound = VectorBound(coordinate=10, l1=10)
    tree = KAryTree(30, 4, bound, Budget(epsilon=0.7), arity=3, source=BitSource(seed=1))
    matrix, _ = materialise(tree, 4, lambda t: subtraction_nodes(tree.steps, t))
    matrix = matrix[:, np.abs(matrix).sum(axis=0) > 0]
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
    used = {1: 2, 2: 1, 3: 2, 4: 1}[changed_round]  # nodes in use that hold the round
    assert worst <= 0.7 * used / 2 + 1e-9
    assert worst > 0.9 * 0.7 * used / 2
