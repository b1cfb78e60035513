"""FullInformationLearner: blocks, trees, enforced bounds, what it promises and how well it learns."""

import math
from fractions import Fraction

import numpy as np
import pytest
from benchmarks.bench_regret import FIVE
from hypothesis import given, settings
from hypothesis import strategies as st
from learner_helpers import learnt, snapshot

import families
from discreet import DiscreetError, FullInformationLearner, bounds
from discreet.baselines import FullInformationWithoutNoise, RandomSet
from discreet.environments import cuts_with_prices
from discreet.errors import Expired, HorizonReached, InvalidArgument
from discreet.learners.batched_core import IN_BLOCK, LENGTH
from discreet.learners.core import new_core
from discreet.learners.feedback import FunctionFeedback
from discreet.learners.full_information import block_lengths
from discreet.learners.limits import UNITS, subgradient_limits
from discreet.learners.update_rules import DualAveraging
from discreet.prefix_sums import KAryTree
from discreet.prefix_sums.plain import no_noise
from discreet.privacy import noise
from discreet.privacy.budget import Budget
from discreet.privacy.grid import Grid
from discreet.privacy.sensitivity import VectorBound
from discreet.randomness import BitSource
from discreet.set_functions import FromCallable, Modular, SetFunction, Table
from discreet.simulation import regret
from discreet.simulation.loop import play

N = 3
GRID = Grid(-1.0, 1.0, UNITS)
LIMITS, BOUND = subgradient_limits(-1.0, 1.0)


def learner(**options) -> FullInformationLearner:
    return FullInformationLearner(
        **({"items": N, "epsilon": 1.0, "cost_range": (-1, 1), "seed": 5} | options)
    )


def bounded_gains(f: SetFunction, order: list[int], bound: VectorBound = BOUND) -> np.ndarray:
    """The gradient along a chain, on the grid and inside its bound; zero for items that are not in it."""
    gains = np.zeros(f.n, dtype=np.int64)
    for k, item in enumerate(order):
        gains[item] = GRID.of(f(order[: k + 1])) - GRID.of(f(order[:k]))
    return bound.enforce(gains)


HOSTILE = [
    FromCallable(lambda s: float("nan"), N),
    FromCallable(lambda s: 1e300 * (-1) ** len(s), N),
    FromCallable(lambda s: float("inf") if 0 in s else -1e300, N),
    *(Table(np.random.default_rng(k).choice([-1e300, -1.0, 0.3, 1.0, 1e300], 2**N)) for k in range(8)),
]
ORDINARY = [
    families.in_unit_range(families.FAMILIES[name](N, np.random.default_rng(0))[0])
    for name in sorted(families.FAMILIES)
]


# Blocks


@pytest.mark.parametrize("functions", [HOSTILE, ORDINARY], ids=["hostile", "ordinary"])
@pytest.mark.parametrize("bound", [None, 0.7])
def test_an_open_block_is_the_exact_sum_of_bounded_gradients(functions: list, bound: float | None) -> None:
    """In integers, each gradient within its bound whatever the function is; released only when it is full."""
    made = learner(gradient_bound=bound)
    core, total, exact = made._core, np.zeros(N, dtype=np.int64), np.zeros(N, dtype=np.int64)
    l1, coordinate = core.limits.l1, core.limits.coordinate
    assert l1 * core.limits.step <= (4.0 if bound is None else bound)
    made._core = core = core._replace(mechanism=no_noise(N))
    for t in range(60):
        decision, length = made.ask(), core.counts[LENGTH]
        order = made._pending[decision.id].order.tolist()
        gains = bounded_gains(functions[t % len(functions)], order, VectorBound(coordinate, l1))
        assert np.abs(gains).sum() <= l1
        assert np.abs(gains).max() <= coordinate
        closes = core.counts[IN_BLOCK] + 1 == length
        made.tell(decision, functions[t % len(functions)])
        exact += gains
        assert np.abs(core.block).sum() <= length * l1
        assert not core.vector.any()
        if closes:
            total += exact
            exact[:] = 0
        assert core.block.tolist() == exact.tolist()
        assert core.mechanism.total.tolist() == total.tolist()
        np.testing.assert_allclose(core.released, total * core.limits.step, rtol=1e-12)


def test_a_partial_block_is_not_released() -> None:
    """Until its last round nothing is released and no noise is drawn: one word a round, for the set."""
    made = learner()
    length, core = made.block_length, made._core
    bits = BitSource(5)
    for _ in range(length - 1):
        made.tell(made.ask(), Modular([0.3, -0.3, 0.1]))
        bits.bits64()
    assert core.block.any()
    for part in (core.released, core.mechanism.total, core.mechanism.fresh):
        assert not part.any()
    assert made.point.tolist() == [0.5] * N
    assert made._source.saved() == bits.saved()
    made._whole()
    assert not core.released.any()
    made.tell(made.ask(), Modular([0.3, -0.3, 0.1]))
    assert core.released.all()
    assert not core.block.any()
    assert not core.mechanism.fresh.any()


@pytest.mark.parametrize(("epsilon", "people"), [(1.0, 1), (0.25, 1), (Fraction(2, 3), 5)])
@pytest.mark.parametrize("bound", [None, 1.0])
def test_the_noise_of_blocks_is_laplace_of_twice_the_bound_over_epsilon(  # type: ignore[no-untyped-def]
    epsilon, people: int, bound: float | None
) -> None:
    """Scale 2 * l1 / (epsilon / k) in units, and the stated variance is that of the law in values."""
    made = learner(epsilon=epsilon, rounds_per_person=people, gradient_bound=bound)
    limits, law = made._core.limits, made._core.mechanism.law
    scale = Fraction(2 * limits.l1) * people / Fraction(epsilon)
    assert law == noise.laplace(scale)
    assert law.scale >= scale
    assert made.noise_variance == noise.variance(law) * limits.step**2
    assert made._core.noise_energy == N * made.noise_variance


def test_what_is_released_is_the_sum_plus_samples_of_that_law() -> None:
    """The noise of a seeded run is the next samples of its bits: none is added, left out or scaled."""
    made, bits = learner(), BitSource(5)
    core, f = made._core, Modular([0.3, -0.3, 0.1])
    for _ in range(made.block_length):
        made.tell(made.ask(), f)
        bits.bits64()
    drawn = noise.sample(core.mechanism.law, N, bits)
    exact = made.rounds * bounded_gains(f, [0, 1, 2])
    assert core.mechanism.total.tolist() == (exact + drawn).tolist()


def test_lengths_follow_what_is_released() -> None:
    """Constant costs give noise only, and blocks grow to the longest; large gradients keep them short."""
    quiet, loud = learner(), learner()
    assert (quiet._core.shortest, quiet._core.longest) == block_lengths(N, quiet.noise_variance, 8.0)
    steep = families.in_unit_range(Modular([1.0, -1.0, 1.0]))
    for _ in range(6000):
        quiet.tell(quiet.ask(), Modular([0.0] * N))
        loud.tell(loud.ask(), 50.0 * steep)
        assert quiet._core.shortest <= min(quiet.block_length, loud.block_length)
        assert max(quiet.block_length, loud.block_length) <= quiet._core.longest
    assert quiet.block_length > 0.8 * quiet._core.longest
    assert loud.block_length < 3 * loud._core.shortest


def test_a_horizon_limits_the_blocks() -> None:
    """A sixteenth of the rounds at most, and at least one; more rounds may follow."""
    assert block_lengths(6, 128.0, 8.0, horizon=320) == (10, 20)
    assert block_lengths(6, 128.0, 8.0, horizon=64) == (4, 4)
    assert block_lengths(6, 128.0, 8.0, horizon=3) == (1, 1)
    made = learner(horizon=4)
    for _ in range(9):
        made.tell(made.ask(), Modular([0.1] * N))
    assert made.rounds == 9


# The tree


def test_the_tree_is_dual_averaging_on_a_kary_tree_at_the_proved_step() -> None:
    """The same core put together by hand plays the same rounds from the same bits."""
    T, bits = 300, BitSource(5)
    tree = KAryTree(N, T, BOUND, Budget(epsilon=1.0), source=bits)
    eta = bounds.tree_step(N, T, 1.0, tree.mean_variance)
    start = np.full(N, 0.5)
    core = new_core(
        mechanism=tree.steps, rule=DualAveraging(eta, start), limits=LIMITS, start=start, horizon=T
    )
    by_hand = FunctionFeedback(tuple(range(N)), core, bits, tree.guarantee)
    made = learner(method="tree", horizon=T)
    stream = cuts_with_prices(N, T, seed=0)
    assert play(made, stream).tolist() == play(by_hand, stream).tolist()
    assert made._core.released.tolist() == core.released.tolist()
    assert made._core.mechanism.shape == tree.shape
    assert made.noise_variance == tree.mean_variance
    assert made.guarantee.proof == "docs/guarantees.md#tree-with-subtraction"
    assert (made.guarantee.horizon, made.block_length) == (T, 1)
    assert learner(method="tree", horizon=T, step=0.02)._core.rule.eta == 0.02


def test_the_tree_needs_a_horizon_and_keeps_it() -> None:
    """Without one it is refused; after that many rounds a tell is refused and changes nothing."""
    with pytest.raises(InvalidArgument, match="needs a 'horizon'"):
        learner(method="tree")
    made = learner(method="tree", horizon=4)
    decisions = made.ask(count=6)
    for decision in decisions[:4]:
        made.tell(decision, ORDINARY[0])
    before = snapshot(made)
    for decision in decisions[4:]:
        with pytest.raises(HorizonReached, match="all its 4 rounds"):
            made.tell(decision, ORDINARY[0])
    assert snapshot(made) == before


def test_decisions_after_the_horizon_are_forgotten_too() -> None:
    """They can never be learnt from, and take no more memory than any others."""
    made = learner(method="tree", horizon=6, expire_after=3)
    decisions = [made.ask() for _ in range(50)]
    assert (made.rounds, made.pending) == (6, 3)
    with pytest.raises(HorizonReached):
        made.tell(decisions[-1], ORDINARY[0])
    with pytest.raises(Expired):
        made.tell(decisions[20], ORDINARY[0])


# What is learnt from


@settings(max_examples=30)
@given(st.floats(1e-3, 20.0))
def test_a_gradient_bound_lowers_the_noise_in_proportion(bound: float) -> None:
    """Never above 4M; the scale of the noise is that of 4M times the share of the bound."""
    for method in ("batched", "tree"):
        made, default = (
            learner(method=method, horizon=500 if method == "tree" else None, gradient_bound=c)
            for c in (bound, None)
        )
        limits = made._core.limits
        assert limits.l1 * limits.step <= min(bound, 4.0)
        assert limits.coordinate == min(limits.l1, 2 * UNITS)
        ratio = min(bound, 4.0) / 4.0
        assert made._core.mechanism.law.scale / default._core.mechanism.law.scale == Fraction(
            limits.l1, 4 * UNITS
        )
        assert math.sqrt(made.noise_variance / default.noise_variance) == pytest.approx(ratio, rel=1e-3)


@pytest.mark.parametrize("method", ["batched", "tree"])
def test_switched_off_items_are_neither_chosen_nor_learnt_about(method: str) -> None:
    """The sum of gradients is that of the functions restricted to the available items, exactly."""
    made = learner(method=method, horizon=200 if method == "tree" else None)
    rng, exact = np.random.default_rng(2), np.zeros(N, dtype=np.int64)
    rounds = made.block_length - 1 if method == "batched" else 100
    for t in range(rounds):
        available = np.flatnonzero(rng.random(N) < 0.6).tolist()
        decision = made.ask(available=available)
        assert decision.subset <= set(available)
        order = made._pending[decision.id].order.tolist()
        assert sorted(order) == available
        made.tell(decision, ORDINARY[t % len(ORDINARY)])
        gains = bounded_gains(ORDINARY[t % len(ORDINARY)], order)
        assert not gains[np.setdiff1d(np.arange(N), available)].any()
        exact += gains
        kept = made._core.block if method == "batched" else made._core.mechanism.state.total
        assert kept.tolist() == exact.tolist()
    assert exact.any()


def test_named_items_can_be_switched_off() -> None:
    """By the names they were given; a function is then never asked about the others."""
    made = FullInformationLearner(["tea", "milk", "sugar"], 1.0, (0, 1))
    seen = []
    decision = made.ask(available={"milk", "sugar"})
    made.tell(decision, lambda chosen: seen.append(chosen) or 0.5)
    assert frozenset({"milk", "sugar"}) in seen
    with pytest.raises(InvalidArgument, match="items of this learner"):
        made.ask(available=["coffee"])


@pytest.mark.parametrize("method", ["batched", "tree"])
def test_expiry_is_a_constant_function(method: str) -> None:
    """A decision that is never told about counts as a constant function told at its deadline, exactly."""
    options = {"method": method, "horizon": 100 if method == "tree" else None}
    punctual, forgetful = learner(**options), learner(expire_after=3, **options)
    for t in range(1, 60):
        if t > 3:
            punctual.tell(t - 3, FromCallable(lambda s: 0.77, N))
        assert punctual.ask() == forgetful.ask()
        assert t - 3 not in forgetful._pending
        assert forgetful.pending <= 3
        assert learnt(punctual) == learnt(forgetful)
        assert snapshot(punctual)["bits"] == snapshot(forgetful)["bits"]
    with pytest.raises(Expired):
        forgetful.tell(1, ORDINARY[0])
    assert forgetful._core.released.any()


@pytest.mark.parametrize("method", ["batched", "tree"])
def test_rewards_are_costs_with_the_other_sign(method: str) -> None:
    """With one seed, maximising -f over [-1, 3] is minimising f over [-3, 1], to the last bit."""
    options = {"method": method, "horizon": 100 if method == "tree" else None}
    costs = learner(cost_range=(-3, 1), **options)
    rewards = learner(cost_range=(-1, 3), maximize=True, **options)
    for t in range(60):
        assert costs.ask() == rewards.ask()
        f = ORDINARY[t % len(ORDINARY)]
        costs.tell(t + 1, lambda chosen, f=f: f(chosen))
        rewards.tell(t + 1, lambda chosen, f=f: -f(chosen))
        assert snapshot(costs) == snapshot(rewards)


# How well it learns


@pytest.mark.parametrize("name", FIVE)
@pytest.mark.parametrize("method", ["batched", "tree"])
def test_regret_is_below_its_bound(name: str, method: str) -> None:
    """Seeds 0 to 3, 2^14 rounds, 6 items: the mean is below a bound that is less than the trivial 2MT."""
    T, n = 2**14, 6
    ours, random = [], []
    for seed in range(4):
        made = learner(items=n, method=method, horizon=T if method == "tree" else None, seed=seed)
        ours.append(regret(made, FIVE[name](n, T, seed)))
        random.append(regret(RandomSet(n, seed=seed), FIVE[name](n, T, seed)))
    assert np.mean(ours) <= made.regret_bound(T) < T
    if name != "modular, gap 0.05":  # where random sets are not bad either
        assert np.mean(ours) < (0.15 if method == "batched" else 0.6) * np.mean(random)


@pytest.mark.parametrize("name", FIVE)
def test_without_noise_it_learns_faster(name: str) -> None:
    """FullInformationWithoutNoise, seeds 0 to 3, 2^14 rounds: less regret than epsilon 1; not private."""
    T, n = 2**14, 6
    plain, noisy = [], []
    for seed in range(4):
        plain.append(regret(FullInformationWithoutNoise(n, (-1, 1), seed=seed), FIVE[name](n, T, seed)))
        noisy.append(regret(learner(items=n, seed=seed), FIVE[name](n, T, seed)))
    assert np.mean(plain) < 0.6 * np.mean(noisy)
    assert not FullInformationWithoutNoise(n, (-1, 1)).guarantee.private


def test_a_start_counts_in_the_bound() -> None:
    """From a corner the regulariser is four times as large: for blocks, for the tree and for its step."""
    T = 2**12
    for method in ("batched", "tree"):
        corner, middle = (
            learner(method=method, horizon=T, start=start, seed=None) for start in ({0, 2}, [0.5] * N)
        )
        assert corner.point.tolist() == [1, 0, 1]
        assert corner.regret_bound(T) > 1.5 * middle.regret_bound(T)
    assert corner._core.rule.eta == pytest.approx(2 * middle._core.rule.eta)
    assert corner.regret_bound(T) == pytest.approx(2 * middle.regret_bound(T))


def test_the_bound_of_a_tree_is_for_its_rounds() -> None:
    """Part of the horizon has at most the whole horizon's noise; beyond it there is no bound."""
    made = learner(method="tree", horizon=1000)
    eta, shape = made._core.rule.eta, made._core.mechanism.shape
    law, step = made._core.mechanism.law, made._core.limits.step
    for rounds in (1, 10, 500, 998, 1000):
        tree = KAryTree(N, rounds, BOUND, Budget(epsilon=1.0), arity=shape.arity)
        # The nodes of the first rounds, with the noise of the whole tree.
        nodes = tree.mean_variance / (noise.variance(tree.steps.law) * step**2)
        exact = nodes * noise.variance(law) * step**2
        assert made.regret_bound(rounds) >= bounds.tree_dual_averaging(N, rounds, 1.0, exact, eta) * (
            1 - 1e-12
        )
    assert made.regret_bound(1000) == bounds.tree_dual_averaging(N, 1000, 1.0, made.noise_variance, eta)
    with pytest.raises(InvalidArgument, match="'rounds'"):
        made.regret_bound(1001)


# Promises and arguments


@pytest.mark.parametrize("method", ["batched", "tree"])
def test_the_guarantee_is_for_all_rounds_of_a_person(method: str) -> None:
    """Pure, exact and central; the whole epsilon is stated, each round gets its share; no seed is private."""
    options = {"method": method, "horizon": 100 if method == "tree" else None, "rounds_per_person": 4}
    made = learner(seed=None, **options)
    guarantee = made.guarantee
    assert (guarantee.epsilon, guarantee.delta, guarantee.rounds_per_person) == (1.0, 0.0, 4)
    assert guarantee.private
    assert not guarantee.local
    assert made.keeps_secrets
    single = learner(epsilon=0.25, **(options | {"rounds_per_person": 1}))
    assert made._core.mechanism.law == single._core.mechanism.law
    assert not single.guarantee.private


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"epsilon": 0}, "'epsilon'"),
        ({"epsilon": 1e-320}, "'epsilon'"),
        ({"epsilon": 1e-60}, "'scale'"),
        ({"epsilon": None}, "'epsilon'"),
        ({"cost_range": (1, -1)}, "'cost_range'"),
        ({"items": 0}, "'items'"),
        ({"method": "forest"}, "'method'"),
        ({"method": "tree", "horizon": 0}, "'horizon'"),
        ({"method": "tree", "horizon": 2**40}, "'horizon'"),
        ({"horizon": 2.5}, "'horizon'"),
        ({"step": 0.1}, "'step' needs method='tree'"),
        ({"method": "tree", "horizon": 9, "step": 0}, "'step'"),
        ({"gradient_bound": 0}, "'gradient_bound'"),
        ({"gradient_bound": float("nan")}, "'gradient_bound'"),
        ({"rounds_per_person": -1}, "'rounds_per_person'"),
        ({"start": [0.5]}, "'start'"),
        ({"start": {"x"}}, "'start'"),
        ({"expire_after": 0}, "'expire_after'"),
    ],
)
def test_wrong_arguments_are_refused_in_one_line(arguments: dict, message: str) -> None:
    """The line names the argument."""
    with pytest.raises(DiscreetError, match=message) as caught:
        learner(**arguments)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("options", [{}, {"method": "tree", "horizon": 512}])
def test_the_step_leads_from_what_was_released_to_the_levels(options: dict) -> None:
    """Whether it adapts or not."""
    made = learner(**options, cost_range=(2, 6))
    for _ in range(200):
        made.tell(made.ask(), Modular([1.0, 2.0, 1.0]).shift(2.0))
    core = made._core
    np.testing.assert_allclose(core.levels, 0.5 - made.step * core.released, rtol=1e-12)
    assert core.released.any()


def test_the_step_of_a_tree_is_the_one_it_was_given() -> None:
    """Or the one of least bound."""
    assert learner(method="tree", horizon=64, step=0.25).step == 0.25
    assert learner(method="tree", horizon=64).step < 0.25
