"""FullInformationLearner: enforced bounds, blocks, what it promises."""

import math
from typing import Any

import numpy as np
import pytest

import families
from discreet.errors import DiscreetError
from discreet.learners import FullInformationLearner
from discreet.learners.full_information import block_lengths
from discreet.privacy import noise
from discreet.privacy.grid import Grid
from discreet.privacy.sensitivity import VectorBound
from discreet.randomness import BitSource
from discreet.set_functions import FromCallable, Modular, SetFunction, Table

N = 3


def learner(**options: Any) -> FullInformationLearner[Any]:
    return FullInformationLearner(
        **({"items": N, "epsilon": 1.0, "cost_range": (-1, 1), "method": "blocks", "seed": 5} | options)
    )


HOSTILE: list[SetFunction] = [
    FromCallable(lambda s: float("nan"), N),
    FromCallable(lambda s: 1e300 * (-1) ** len(s), N),
    FromCallable(lambda s: float("inf") if 0 in s else -1e300, N),
    *(Table(np.random.default_rng(k).choice([-1e300, -1.0, 0.3, 1.0, 1e300], 2**N)) for k in range(8)),
]
ORDINARY = [
    families.in_unit_range(families.FAMILIES[name](N, np.random.default_rng(0))[0])
    for name in sorted(families.FAMILIES)
]


def first_block(made: FullInformationLearner[int]) -> int:
    policy: Any = made.learner.policy
    return int(policy.constants.shortest)


@pytest.mark.parametrize("functions", [HOSTILE, ORDINARY], ids=["hostile", "ordinary"])
def test_an_open_block_is_the_exact_sum_of_bounded_gradients(functions: Any) -> None:
    """In integers, each gradient within its bound whatever the function is."""
    made = learner(expire_after=100)
    query, exact, grid = made._query, np.zeros(N, dtype=np.int64), Grid(-1.0, 1.0, 1 << 24)
    assert query.l1 * query.step <= 4.0
    for t in range(first_block(made)):
        decision, f = made.ask(), functions[t % len(functions)]
        order = made._tickets[decision.id].order.tolist()
        gains = np.zeros(N, dtype=np.int64)
        for k, item in enumerate(order):
            gains[item] = grid.of(f(order[: k + 1])) - grid.of(f(order[:k]))
        bounded = VectorBound(query.coordinate, query.l1).enforce(gains)
        made.tell(decision, f)
        exact += bounded
        assert np.abs(bounded).sum() <= query.l1
        assert made._phases[0].sums.tolist() == [exact.tolist()]


def test_what_is_released_is_the_sum_plus_samples_of_the_law() -> None:
    """The noise of a seeded run is the next samples of its bits: none is added, left out or scaled."""
    made, bits = learner(), BitSource(5)
    for _ in range(first_block(made)):
        made.tell(made.ask(), Modular([0.3, -0.3, 0.1]))
    exact = made._phases[0].sums[0].copy()
    made.ask()
    drawn = noise.sample(made._mechanism.law, N, bits)
    np.testing.assert_allclose(made._state.released, (exact + drawn) * made._query.step, rtol=1e-12)
    assert made.noise_variance == pytest.approx(noise.variance(made._mechanism.law) * made._query.step**2)


def test_blocks_follow_from_noise_and_gradients() -> None:
    """The shortest balances the energies; a horizon of few rounds limits both."""
    assert block_lengths(6, 128.0, 8.0) == (10, 160)
    assert block_lengths(6, 128.0, 8.0, horizon=64) == (4, 4)
    assert block_lengths(6, 1e-9, 8.0) == (1, 16)


def test_bounds_are_those_of_the_module() -> None:
    """With the learner's own constants."""
    made = learner()
    assert made.regret_bound(10**6) < 10**6
    assert learner(cost_range=(-2, 2)).regret_bound(10**5) == pytest.approx(2 * made.regret_bound(10**5))
    assert math.isfinite(made.regret_bound(1))


def test_many_items_have_a_leader_whose_bound_adds_to_that_of_blocks() -> None:
    """By default from 17 items; the sum has the order of the root of the rounds."""
    assert [learner(items=n, method=None).method for n in (16, 17)] == ["choose", "leader"]
    made, blocks = learner(items=20, method="leader"), learner(items=20)
    assert made.noise_variance == blocks.noise_variance
    added = [made.regret_bound(T) - blocks.regret_bound(T) for T in (10**6, 10**8)]
    assert 0 < added[0] < blocks.regret_bound(10**6)
    assert added[1] < 11 * added[0]
    assert learner(items=20, method="leader", cost_range=(-2, 2)).regret_bound(10**5) == pytest.approx(
        2 * made.regret_bound(10**5)
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"horizon": 0}, "'horizon'"),
        ({"method": "batched"}, "'method'"),
    ],
    ids=str,
)
def test_wrong_arguments_are_refused(arguments: Any, message: str) -> None:
    """By name."""
    with pytest.raises(DiscreetError, match=message):
        learner(**arguments)
