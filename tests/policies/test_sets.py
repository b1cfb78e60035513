"""Policies that choose whole sets: exponential weights over all of them, one set for ever, a random one."""

from collections import Counter

import numpy as np
import pytest

from discreet.kernel import Released
from discreet.policies import Arms, Fixed, Uniform
from discreet.randomness import BitSource


def sets(policy: Arms | Fixed | Uniform, state: object, count: int, seed: int = 0) -> Counter[frozenset[int]]:
    coins, seen = BitSource(seed), Counter[frozenset[int]]()
    for _ in range(count):
        phase = policy.plan(state, coins)
        assert sorted(phase.order[0].tolist()) == list(range(policy.start().x.size))
        seen[frozenset(phase.order[0, : phase.size[0]].tolist())] += 1
    return seen


def test_a_fixed_set_is_always_chosen() -> None:
    """With probability one, and it learns nothing."""
    policy = Fixed(np.array([False, True, True]))
    assert sets(policy, policy.start(), 20) == {frozenset({1, 2}): 20}
    assert policy.point(policy.start()).tolist() == [0, 1, 1]
    after = policy.learn(
        policy.start(), Released(np.zeros((1, 0)), np.ones(1, dtype=np.int64), np.ones((1, 1)))
    )
    assert after.x.tolist() == policy.start().x.tolist()


@pytest.mark.parametrize("n", [2, 70])
def test_a_random_set_is_uniform(n: int) -> None:
    """Of 4,000 draws (seed 0) an item is in half, within five standard errors (0.04); also with 70."""
    policy = Uniform(n)
    seen = sets(policy, policy.start(), 4000)
    for item in (0, n // 2, n - 1):
        assert abs(sum(count for chosen, count in seen.items() if item in chosen) / 4000 - 0.5) < 0.04
    assert policy.plan(policy.start(), BitSource(1)).chance.max() == max(0.5**n, 1e-300)


def test_every_set_is_an_arm() -> None:
    """Weights fall with the estimated loss, exploration keeps the others; chances are those of the draws."""
    policy = Arms(2, eta=1.0, gamma=0.2, unit=0.5)
    note = np.array([[1.0, 0.5], [2.0, 0.25]])  # the sets {0} and {1}
    made = Released(note, np.ones(2, dtype=np.int64), np.array([[2], [-1]]))
    state = policy.learn(policy.start(), made)
    assert state.losses.tolist() == [0.0, 2.0, -2.0, 0.0]
    weights = np.exp(-state.losses)
    chances = 0.8 * weights / weights.sum() + 0.05
    named = [frozenset(), frozenset({0}), frozenset({1}), frozenset({0, 1})]
    seen = sets(policy, state, 4000)
    for arm, chosen in enumerate(named):
        assert abs(seen[chosen] / 4000 - chances[arm]) < 0.04  # five standard errors
    phase = policy.plan(state, BitSource(9))
    assert phase.chance[0, phase.size[0]] == pytest.approx(chances[int(phase.note[0, 0])])
    assert policy.point(state) == pytest.approx([chances[1] + chances[3], chances[2] + chances[3]])
    assert policy.best(state).tolist() == [1]
