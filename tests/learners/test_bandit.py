"""BanditLearner: bits made by clients, blocks, deadlines, what it promises and how well it learns."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from learner_helpers import learnt, snapshot
from scipy import stats

from discreet import BanditLearner, DiscreetError
from discreet.baselines import BanditWithoutNoise, RandomSet
from discreet.environments import ItemSigns, cuts_with_prices
from discreet.errors import AlreadyTold, Expired, InvalidArgument
from discreet.learners.bandit_core import RELEASED, UPDATES
from discreet.learners.draw import TOLD, TOTAL
from discreet.learners.scalar_release import AsItIs
from discreet.privacy import noise
from discreet.privacy.grid import DEFAULT_UNITS, Grid
from discreet.randomizers import OneBit
from discreet.randomness import BitSource
from discreet.simulation import regret

#: How often a test of a law may fail although the law is right.
ALPHA = 1e-6


def bits(*values: int) -> BitSource:
    """A source that gives these bits and then zeros."""
    queue = iter(values)

    def draw(count: int) -> np.ndarray:
        return np.array([next(queue, 0) for _ in range(count)], dtype=np.uint64)

    return BitSource(fresh=lambda: draw)


# A client's bit


@settings(max_examples=60)
@given(st.floats(-0.5, 2.5), st.integers(0, 2**64 - 1), st.sampled_from([0.3, 1.0, 5.0]))
def test_a_clients_bit_is_the_bit_the_learner_would_make(cost: float, word: int, epsilon: float) -> None:
    """From the same word, telling the cost and telling its bit leave the same sums and the same point."""
    told, sent = (BanditLearner(3, epsilon, (0, 2), source=bits(2**63, word)) for _ in range(2))
    assert told.ask() == sent.ask()
    told.tell(1, cost)
    sent.tell(1, released=OneBit(epsilon, (0, 2), source=bits(word)).release(cost))
    assert learnt(told) == learnt(sent)


@settings(max_examples=60)
@given(st.integers(-DEFAULT_UNITS, DEFAULT_UNITS), st.integers(0, 2**63 - 1))
def test_a_clients_bit_about_a_reward_has_the_same_law(units: int, uniform: int) -> None:
    """Of the 2^63 uniform integers u, the client's u and the learner's 2^63 - 1 - u give the same state."""
    reward = units / DEFAULT_UNITS  # on the grid, so that its negative is too
    mirrored = 2**63 - 1 - uniform
    told = BanditLearner(3, 1.0, (-1, 1), maximize=True, source=bits(2**63, 2 * mirrored))
    sent = BanditLearner(3, 1.0, (-1, 1), maximize=True, source=bits(2**63))
    assert told.ask() == sent.ask()
    told.tell(1, reward)
    sent.tell(1, released=OneBit(1.0, source=bits(2 * uniform)).release(reward))
    assert learnt(told) == learnt(sent)


@pytest.mark.parametrize("mode", ["local", "central"])
def test_rewards_are_costs_with_the_other_sign(mode: str) -> None:
    """With one seed, maximising r over [-3, 1] is minimising -r over [-1, 3], to the last bit."""
    rng = np.random.default_rng(0)
    rewards = BanditLearner(3, 1.0, (-3, 1), mode=mode, maximize=True, seed=5)
    costs = BanditLearner(3, 1.0, (-1, 3), mode=mode, seed=5)
    for reward in rng.uniform(-3, 1, size=60):
        assert rewards.ask() == costs.ask()
        rewards.tell(costs._asked, reward)
        costs.tell(costs._asked, -reward)
        assert snapshot(rewards) == snapshot(costs)
    assert rewards.mean_cost == -costs.mean_cost


def test_rewards_as_bits_are_costs_with_flipped_bits() -> None:
    """A bit 1 about a reward is a bit 0 about a cost."""
    rewards, costs = (BanditLearner(3, 1.0, (-1, 1), maximize=flip, seed=5) for flip in (True, False))
    for bit in np.random.default_rng(0).integers(2, size=30):
        assert rewards.ask() == costs.ask()
        rewards.tell(costs._asked, released=bit)
        costs.tell(costs._asked, released=1 - bit)
    assert snapshot(rewards) == snapshot(costs)


@pytest.mark.parametrize("mode", ["local", "central"])
@pytest.mark.parametrize(
    ("feedback", "message"),
    [
        ({"released": 2}, "'released'"),
        ({"released": -1}, "'released'"),
        ({"released": True}, "'released'"),
        ({"released": 0.5}, "'released'"),
        ({"released": "1"}, "'released'"),
        ({"released": 1, "cost": 0.123456789}, "instead of a cost"),
    ],
)
def test_bad_bits_change_nothing(mode: str, feedback: dict, message: str) -> None:
    """Neither does a good one in central mode; the message never quotes a cost."""
    learner = BanditLearner(3, 1.0, (-1, 1), mode=mode, seed=1)
    decision = learner.ask()
    before = snapshot(learner)
    with pytest.raises(InvalidArgument, match="'released'" if mode == "central" else message) as caught:
        learner.tell(decision, **feedback)
    if mode == "central":
        with pytest.raises(InvalidArgument, match="'released' bit is told to a local"):
            learner.tell(decision, released=1)
    assert "123456789" not in str(caught.value)
    assert snapshot(learner) == before


def test_a_bit_is_told_once() -> None:
    """Telling a second bit, or one about no decision, is a named error that changes nothing."""
    learner = BanditLearner(3, 1.0, (-1, 1), seed=1)
    learner.tell(learner.ask(), released=1)
    before = snapshot(learner)
    with pytest.raises(AlreadyTold):
        learner.tell(1, released=1)
    with pytest.raises(KeyError, match="No such decision"):
        learner.tell(2, released=1)
    with pytest.raises(AlreadyTold, match="twice"):
        learner.tell_many([(decision := learner.ask(), 0.5), (decision, 0.5)])
    assert learner.rounds == 1
    assert learnt(learner) == {name: part for name, part in before.items() if name.startswith("core.")}


# Central blocks


def central(block: int, **options) -> BanditLearner:  # type: ignore[no-untyped-def]
    return BanditLearner(3, 1.0, (-1, 1), mode="central", block=block, seed=7, **options)


def test_a_set_is_held_for_a_block_of_asks() -> None:
    """Blocks are consecutive asks, whatever is told meanwhile; the sets of different blocks do differ."""
    learner = central(4)
    decisions = [learner.ask(), *learner.ask(count=9)]
    learner.tell(decisions[0], 0.1)
    decisions += learner.ask(count=30)
    chunks = [{decision.subset for decision in decisions[k : k + 4]} for k in range(0, 40, 4)]
    assert all(len(chunk) == 1 for chunk in chunks)
    assert len(set.union(*chunks)) > 1
    assert learner.block == 4


def test_a_block_is_released_when_its_last_decision_is_told() -> None:
    """Not before: nothing is released, no random word is used; three blocks are open at once."""
    learner = central(3)
    decisions = learner.ask(count=9)
    first, second, third = (decisions[k : k + 3] for k in (0, 3, 6))
    at_first = learner._source.saved()
    for decision in [*first[:2], *second[1:], *third[::2]]:
        learner.tell(decision, 0.9)
    core = learner._core
    assert learner.rounds == 6
    assert (core.rounds[UPDATES], core.rounds[RELEASED], core.gradients.any()) == (0, 0, False)
    assert learner.point.tolist() == [0.5] * 3
    assert learner.mean_cost is None
    assert learner._source.saved() == at_first
    learner.tell(second[0], 0.9)
    assert core.rounds[UPDATES] == 1
    assert learner._source.saved() != at_first
    learner.tell_many([(third[1], 0.9), (first[2], 0.9)])
    assert core.rounds[UPDATES] == 3
    assert learner.pending == 0


def test_a_partial_block_is_never_released() -> None:
    """Neither by saving nor by playing on: only its own decisions can complete it."""
    learner = central(3)
    decisions = learner.ask(count=30)
    for decision in decisions:
        if decision.id != 2:
            learner.tell(decision, 0.5)
    learner._whole()
    assert learner._core.rounds[UPDATES] == 9
    draw = learner._pending[2]
    assert draw.numbers[TOLD] == 2
    assert draw.numbers[TOTAL] == 2 * Grid(-1, 1).of(0.5)


def test_a_released_block_leaves_no_sum_behind() -> None:
    """Once a block has been released its exact sum is cleared, also where a draw is held on to."""
    learner = central(2)
    decisions = learner.ask(count=2)
    draw = learner._pending[1]
    learner.tell(decisions[0], 0.5)
    assert draw.numbers[TOTAL] != 0
    learner.tell(decisions[1], 0.5)
    assert draw.numbers[TOTAL] == 0
    assert not learner._core.kind.fresh.any()


@pytest.mark.parametrize(("epsilon", "people"), [(1.0, 1), (0.3, 1), (Fraction(1, 3), 4)])
def test_the_noise_of_a_block_is_laplace_of_the_width_over_epsilon(epsilon, people: int) -> None:  # type: ignore[no-untyped-def]
    """Scale 2 * units / (epsilon / k) for any length: a cost moves its block's sum by 2 * units at most."""
    for block in (None, 1, 50):
        learner = BanditLearner(
            2, epsilon, (-1, 1), mode="central", block=block, rounds_per_person=people, seed=0
        )
        scale = Fraction(2 * DEFAULT_UNITS) / (Fraction(epsilon) / people)
        assert learner._core.kind.law == noise.laplace(scale)
        assert learner._core.kind.law.scale >= scale


def test_the_sum_of_a_block_is_exact() -> None:
    """Without the noise, what is released is the sum of the clipped costs on the grid, in integers."""
    costs = [0.25, -7.0, float("nan"), 1e300, 1 / 3]
    learner = central(5)
    learner._core = learner._core._replace(kind=AsItIs())
    learner.tell_many(zip(learner.ask(count=5), costs, strict=True))
    assert learner._core.rounds[RELEASED] == sum(Grid(-1, 1).of(cost) for cost in costs)
    assert learner.mean_cost == pytest.approx((0.25 - 1 + 0 + 1 + 1 / 3) / 5, abs=1e-6)


def test_items_cannot_be_switched_off_within_blocks() -> None:
    """A block longer than one round refuses; local learners and blocks of one take it."""
    learner = central(2)
    before = snapshot(learner)
    with pytest.raises(InvalidArgument, match="cannot switch items off"):
        learner.ask(available=[0, 1])
    assert snapshot(learner) == before
    for other in (central(1), BanditLearner(3, 1.0, (-1, 1), seed=7)):
        for decision in other.ask(count=40, available=[0, 2]):
            assert decision.subset <= {0, 2}
            other.tell(decision, 0.5)
        assert other._core.gradients[1] == 0
        assert other._core.gradients[[0, 2]].any()
        assert other.ask(available=[]).subset == frozenset()
        other.tell(other._asked, 1.0)  # nothing to choose, nothing to learn
    with pytest.raises(InvalidArgument, match="items of this learner"):
        BanditLearner(["a", "b"], 1.0, (0, 1)).ask(available=["c"])


def test_default_blocks_are_longer_for_smaller_epsilon() -> None:
    """About 5.7 / epsilon rounds; local learners have none."""
    lengths = {e: BanditLearner(2, e, (0, 1), mode="central").block for e in (0.1, 1.0, 10.0)}
    assert lengths == {0.1: 56, 1.0: 6, 10.0: 2}
    assert BanditLearner(2, 1.0, (0, 1)).block == 1
    assert BanditLearner(2, 1e-7, (0, 1), mode="central").block == 2**24


# Deadlines


@pytest.mark.parametrize("block", [None, 1, 3])
def test_an_untold_decision_is_closed_at_its_deadline_as_if_told_nothing(block: int | None) -> None:
    """The ask that is `expire_after` later learns NaN first, from the same bits; the one before does not."""
    options = {} if block is None else {"mode": "central", "block": block}
    punctual = BanditLearner(3, 1.0, (-1, 1), seed=3, **options)
    forgetful = BanditLearner(3, 1.0, (-1, 1), seed=3, expire_after=4, **options)
    for t in range(1, 40):
        if t > 4:
            assert t - 4 in forgetful._pending
            punctual.tell(t - 4, float("nan"))
        assert punctual.ask() == forgetful.ask()
        assert t - 4 not in forgetful._pending
        assert forgetful.pending <= 4
        assert snapshot(punctual)["bits"] == snapshot(forgetful)["bits"]
        assert learnt(punctual) == learnt(forgetful)
    assert forgetful.rounds == 35


def test_a_late_tell_says_that_it_is_late() -> None:
    """`Expired`, and nothing is changed; decisions in time are still taken, and memory does not grow."""
    learner = BanditLearner(3, 1.0, (-1, 1), seed=3, expire_after=5)
    decisions = [learner.ask() for _ in range(200)]
    assert learner.pending == 5
    assert learner.rounds == 195
    before = snapshot(learner)
    for late in (decisions[194], 1, decisions[100].id):
        with pytest.raises(Expired, match="is closed"):
            learner.tell(late, 0.3)
        with pytest.raises(Expired):
            learner.tell(late, released=1)
        with pytest.raises(Expired):
            learner.tell_many([(decisions[199], 0.3), (late, 0.3)])
    assert snapshot(learner) == before
    learner.tell_many((decision, 0.3) for decision in decisions[195:])
    assert (learner.pending, learner.rounds) == (0, 200)


def test_a_deadline_can_complete_a_block() -> None:
    """Costs that were told and one that expired make a whole block, which is released then and not before."""
    learner = central(2, expire_after=3)
    decisions = learner.ask(count=3)
    learner.tell(decisions[1], 0.9)
    assert learner._core.rounds[UPDATES] == 0
    learner.ask()
    assert learner._core.rounds[UPDATES] == 1
    with pytest.raises(Expired):
        learner.tell(decisions[0], 0.9)


# What is promised


@pytest.mark.parametrize("people", [1, 2, 7])
def test_rounds_per_person_divide_epsilon(people: int) -> None:
    """Each cost gets the bit of epsilon / k; the guarantee states the whole epsilon and k."""
    learner = BanditLearner(3, 0.9, (0, 5), rounds_per_person=people)
    assert learner._core.kind.slope == OneBit(Fraction(0.9) / people, (0, 5)).slope
    assert learner._core.kind.magnitude == round(OneBit(Fraction(0.9) / people, (0, 5)).magnitude)
    guarantee = learner.guarantee
    assert (guarantee.epsilon, guarantee.delta, guarantee.rounds_per_person) == (0.9, 0.0, people)
    assert guarantee.horizon is None


def test_the_guarantee_tells_local_from_central_and_seeds_from_noise() -> None:
    """Local only where no exact sum is kept; private only without a seed."""
    for mode in ("local", "central"):
        guarantee = BanditLearner(3, 1.0, (0, 1), mode=mode).guarantee
        assert guarantee.local == (mode == "local")
        assert guarantee.private
        assert guarantee.proof == "docs/guarantees.md#bandit-loop"
        assert BanditLearner(3, 1.0, (0, 1), mode=mode).keeps_secrets == (mode == "central")
        seeded = BanditLearner(3, 1.0, (0, 1), mode=mode, seed=1).guarantee
        assert not seeded.private
        assert "seed" in seeded.reason


def released_and_kept(mode: str, cost: float) -> tuple[tuple[int, ...], bytes]:
    """What was released after each of three tells of a cost, and all that is kept in the end."""
    options = {} if mode == "local" else {"block": 2}
    learner = BanditLearner(3, 3.0, (-1, 1), mode=mode, seed=8, **options)
    learner.lineage = "the same"
    released = []
    for decision in learner.ask(count=3):
        learner.tell(decision, cost)
        released.append(int(learner._core.rounds[RELEASED]))
    return tuple(released), learner._whole()


def test_nothing_of_a_raw_cost_is_kept_in_local_mode() -> None:
    """Costs that gave the same bits leave the same bytes; in central mode an open block tells them apart."""
    found = {}
    for cost in [0.123456789, *np.linspace(-1, 1, 81)]:
        released, kept = released_and_kept("local", cost)
        assert found.setdefault(released, kept) == kept
    assert 1 < len(found) <= 4
    assert released_and_kept("central", 0.123456789)[1] != released_and_kept("central", 0.1234)[1]


# The mean cost


@pytest.mark.parametrize("maximize", [False, True])
def test_the_mean_cost_is_the_mean_of_what_bits_stand_for(maximize: bool) -> None:
    """Exactly (in floats) the mean of the client's estimates; None before the first."""
    learner = BanditLearner(3, 0.8, (2, 5), maximize=maximize, seed=1)
    randomizer = OneBit(0.8, (2, 5))
    assert learner.mean_cost is None
    estimates = []
    for bit in np.random.default_rng(1).integers(2, size=25):
        learner.tell(learner.ask(), released=bit)
        estimates.append(randomizer.estimate(bit))
        assert learner.mean_cost == pytest.approx(np.mean(estimates), rel=1e-6)


@pytest.mark.parametrize("maximize", [False, True])
def test_the_mean_cost_estimates_the_mean(maximize: bool) -> None:
    """Seed 6, 10,000 rounds of 0.3: the binomial test at alpha 1e-6 passes, and rejects 0.2 and 0.4."""
    rounds = 10_000
    learner = BanditLearner(2, 1.0, (0, 1), maximize=maximize, seed=6)
    for _ in range(rounds):
        learner.tell(learner.ask(), 0.3)
    randomizer = OneBit(1.0, (0, 1))
    high, low = randomizer.estimate(1), randomizer.estimate(0)
    ones = round(rounds * (learner.mean_cost - low) / (high - low))

    def passes(mean: float) -> bool:
        chance = float(randomizer.probability_of_one(randomizer.grid.of(mean)))
        return bool(stats.binomtest(ones, rounds, chance).pvalue > ALPHA)

    assert passes(0.3)
    assert not passes(0.2)
    assert not passes(0.4)


# How well it learns


@pytest.mark.parametrize("mode", ["local", "central"])
@pytest.mark.parametrize("stream", ["signs", "cuts"])
def test_regret_is_below_its_bound_and_far_below_a_random_sets(mode: str, stream: str) -> None:
    """Seeds 0 to 3, 2^16 rounds, 3 items, with the default tuning and with that of the least bound."""
    T, n = 2**16, 3
    make = {
        "signs": lambda seed: ItemSigns(n, T, 0.5, seed=seed),
        "cuts": lambda seed: cuts_with_prices(n, T, seed=seed),
    }[stream]
    rates = {"default": [], "least bound": [], "random": []}
    for seed in range(4):
        tuned = BanditLearner(n, 1.0, (-1, 1), mode=mode, exploration=1.0, step=1.0, seed=seed)
        rates["least bound"].append(regret(tuned, make(seed)))
        default = BanditLearner(n, 1.0, (-1, 1), mode=mode, seed=seed)
        rates["default"].append(regret(default, make(seed)))
        rates["random"].append(regret(RandomSet(n, seed=seed), make(seed)))
    means = {name: np.mean(values) for name, values in rates.items()}
    assert means["least bound"] <= tuned.regret_bound(T) < default.regret_bound(T)
    assert tuned.regret_bound(T) < T  # half of what any learner loses at most
    assert means["default"] <= default.regret_bound(T)
    assert means["default"] < 0.15 * means["random"]
    assert means["least bound"] < 0.3 * means["random"]


def test_without_noise_it_learns_faster() -> None:
    """BanditWithoutNoise, seeds 0 to 3, 2^14 rounds: less than half the regret of epsilon 1; not private."""
    T, n = 2**14, 4
    plain = [
        regret(BanditWithoutNoise(n, (-1, 1), seed=seed), cuts_with_prices(n, T, seed=seed))
        for seed in range(4)
    ]
    noisy = [
        regret(BanditLearner(n, 1.0, (-1, 1), seed=seed), cuts_with_prices(n, T, seed=seed))
        for seed in range(4)
    ]
    assert 0 < sum(plain) < sum(noisy) / 2
    assert not BanditWithoutNoise(n, (-1, 1)).guarantee.private


def test_a_bound_grows_with_what_makes_learning_hard() -> None:
    """More rounds, a smaller epsilon, more people's rounds, a worse start: each has a larger bound."""

    def bound(epsilon: float = 1.0, rounds: int = 10**6, width: float = 1.0, **options) -> float:  # type: ignore[no-untyped-def]
        return BanditLearner(4, epsilon, (0, width), **options).regret_bound(rounds)

    base = bound()
    assert bound(rounds=2 * 10**6) > base
    assert bound(epsilon=0.5) > base
    assert bound(rounds_per_person=2) == pytest.approx(bound(epsilon=0.5))
    assert bound(start={0, 1}) > base
    assert bound(width=3.0) == pytest.approx(3 * base)


# Arguments


@pytest.mark.parametrize("mode", ["local", "central"])
def test_the_step_leads_from_the_estimates_to_the_levels(mode: str) -> None:
    """In costs, so that another range changes it; and the argument multiplies it."""
    learner = BanditLearner(3, 1.0, (2, 6), mode=mode, seed=3)
    first = learner.step
    for _ in range(50):
        learner.tell(learner.ask(), 5.0)
    core = learner._core
    estimates = core.gradients * (2.0 / core.units)
    np.testing.assert_allclose(core.levels, 0.5 - learner.step * estimates, rtol=1e-12)
    assert learner.step < first
    assert BanditLearner(3, 1.0, (2, 6), mode=mode, step=6.0).step == pytest.approx(2 * first)


def test_a_start_is_a_set_or_levels() -> None:
    """A set of names is its corner of the cube; levels are taken as they are, and copied."""
    corner = BanditLearner(["a", "b", "c"], 1.0, (0, 1), start={"c"})
    assert corner.point.tolist() == [0, 0, 1]
    levels = np.array([0.1, 0.9, 0.4])
    learner = BanditLearner(3, 1.0, (0, 1), start=levels)
    levels[:] = 0
    assert learner.point.tolist() == [0.1, 0.9, 0.4]
    assert BanditLearner(3, 1.0, (0, 1), start=set()).point.tolist() == [0, 0, 0]
    assert BanditLearner(3, 1.0, (0, 1)).point.tolist() == [0.5] * 3


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"epsilon": 0}, "'epsilon'"),
        ({"epsilon": -1.0}, "'epsilon'"),
        ({"epsilon": float("nan")}, "'epsilon'"),
        ({"epsilon": "1"}, "'epsilon'"),
        ({"epsilon": 1e-15}, "'epsilon'"),
        ({"epsilon": 1e-320}, "'epsilon'"),
        ({"epsilon": 1e-320, "mode": "central"}, "'epsilon'"),
        ({"epsilon": 1e-60, "mode": "central"}, "'scale'"),
        ({"rounds_per_person": 10**400}, "'epsilon'"),
        ({"cost_range": (1, 0)}, "'cost_range'"),
        ({"cost_range": (0, 0)}, "'cost_range'"),
        ({"cost_range": (0, float("inf"))}, "'cost_range'"),
        ({"cost_range": (0, 1, 2)}, "'cost_range'"),
        ({"cost_range": 1.0}, "'cost_range'"),
        ({"cost_range": "01x"}, "'cost_range'"),
        ({"items": []}, "'items'"),
        ({"mode": "global"}, "'mode'"),
        ({"block": 3}, "needs mode='central'"),
        ({"mode": "central", "block": 0}, "'block' of BanditLearner"),
        ({"mode": "central", "block": 2.5}, "'block' of BanditLearner"),
        ({"mode": "central", "block": 2**25}, "'block' of BanditLearner"),
        ({"rounds_per_person": 0}, "'rounds_per_person'"),
        ({"rounds_per_person": 1.5}, "'rounds_per_person'"),
        ({"start": [0.5]}, "'start'"),
        ({"start": [0.5, 0.5, 1.5]}, "'start'"),
        ({"start": [0.5, 0.5, float("nan")]}, "'start'"),
        ({"start": {7}}, "'start'"),
        ({"exploration": 0}, "'exploration'"),
        ({"step": -1}, "'step'"),
        ({"expire_after": 0}, "'expire_after'"),
        ({"seed": -1}, "'seed'"),
        ({"seed": 1, "source": BitSource(1)}, "not both"),
    ],
)
def test_wrong_arguments_are_refused_in_one_line(arguments: dict, message: str) -> None:
    """The line names the argument."""
    with pytest.raises(DiscreetError, match=message) as caught:
        BanditLearner(**({"items": 3, "epsilon": 1.0, "cost_range": (0, 1)} | arguments))
    assert "\n" not in str(caught.value)


def test_a_cost_that_is_left_out_is_a_mistake_in_the_program() -> None:
    """No value is refused; but no value at all, where one belongs, depends on nobody's data."""
    learner = BanditLearner(2, epsilon=1.0, cost_range=(0, 1))
    decision = learner.ask()
    with pytest.raises(TypeError, match="needs a 'cost'"):
        learner.tell(decision)
    learner.tell(decision, None)
    assert learner.rounds == 1
