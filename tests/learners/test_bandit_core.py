"""The bandit core: every outcome of a round by enumeration, and whole runs against plain Python."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from learner_helpers import copied

import families
from discreet import BanditLearner
from discreet.baselines import BanditWithoutNoise
from discreet.learners.bandit_core import RELEASED, UPDATES, learn_released
from discreet.learners.core import choose, learn_cost
from discreet.learners.detached import detached
from discreet.learners.draw import BASELINE, PROBABILITY, SIZE, new_draw
from discreet.learners.restored import possible
from discreet.privacy import noise
from discreet.privacy.bounded_sums import LARGEST_SUM
from discreet.privacy.grid import DEFAULT_UNITS, Grid
from discreet.randomizers import OneBit
from discreet.randomness import BitSource

GRID = Grid(-1.0, 1.0)
ZERO, ONES = np.zeros(1, dtype=np.uint64), np.full(1, 2**64 - 1, dtype=np.uint64)
seeds = st.integers(0, 10**6)


def somewhere(learner, rng: np.random.Generator):
    """The core after an odd number of random costs: released bits have a sum, so the baseline is not zero."""
    for _ in range(2 * rng.integers(0, 15) + 1):
        learner.tell(learner.ask(), rng.uniform(-0.2, 1.0))
    return learner._core


def prefixes(core, items: np.ndarray):
    """All draws that can be made from these items, each made by the word in the middle of its share."""
    gamma = min(1.0, core.exploration * (core.rounds[UPDATES] + 1) ** (-1 / 3))
    order = sorted(items, key=lambda i: (-core.levels[i], i))
    levels = np.array([1.0, *core.x[order], 0.0])
    rho = (1 - gamma) * (levels[:-1] - levels[1:]) + gamma / (len(order) + 1)
    for size, middle in enumerate(np.cumsum(rho) - rho / 2):
        draw = new_draw(items.copy())
        choose(core, draw, np.array([int(middle * 2**53) << 11], dtype=np.uint64), 0)
        assert draw.order.tolist() == order
        assert draw.numbers[SIZE] == size
        assert draw.chances[PROBABILITY] == pytest.approx(rho[size], rel=1e-12)
        yield draw


def mean_estimate(core, items: np.ndarray, f, releases) -> np.ndarray:
    """The mean, over all prefixes and all released bits, of what one round adds to the gradient sum."""
    total = np.zeros(core.x.size)
    for draw in prefixes(core, items):
        cost = f(draw.order[: draw.numbers[SIZE]])
        for chance, bits in releases(GRID.of(cost)):
            after = copied(core)
            learn_cost(after, copied(draw), cost, bits, 0)
            total += draw.chances[PROBABILITY] * chance * (after.gradients - core.gradients)
    return total


def gains(f, order: list[int], n: int) -> np.ndarray:
    """The gradient along a chain, in grid units; zero for items that are not in it."""
    out = np.zeros(n)
    for k, item in enumerate(order):
        out[item] = GRID.of(f(order[: k + 1])) - GRID.of(f(order[:k]))
    return out


@settings(max_examples=60)
@given(st.sampled_from(sorted(families.FAMILIES)), seeds, st.integers(1, 4), st.booleans(), st.booleans())
def test_the_estimate_is_unbiased(name: str, seed: int, n: int, restricted: bool, private: bool) -> None:
    """The mean over all prefixes and both bits is the gradient, of the restriction where items are off."""
    rng = np.random.default_rng(seed)
    f = families.in_unit_range(families.FAMILIES[name](n, rng)[0])
    items = np.flatnonzero(rng.random(n) < 0.6) if restricted else np.arange(n)
    if private:
        one = OneBit(1.5, (-1, 1)).probability_of_one
        core = somewhere(BanditLearner(n, 1.5, (-1, 1), seed=seed), rng)
        # The word 0 always gives the bit 1, and the largest word the bit 0.
        mean = mean_estimate(core, items, f, lambda v: [(float(one(v)), ZERO), (float(1 - one(v)), ONES)])
    else:
        core = somewhere(BanditWithoutNoise(n, (-1, 1), seed=seed), rng)
        mean = mean_estimate(core, items, f, lambda v: [(1.0, ZERO)])
    assert next(prefixes(core, items)).chances[BASELINE] != 0
    order = sorted(items, key=lambda i: (-core.levels[i], i))
    # Shares, and the size of the two values that a bit stands for, are rounded to whole units.
    np.testing.assert_allclose(mean, gains(f, order, n), atol=2.5)
    assert not mean[np.setdiff1d(np.arange(n), items)].any()


class SlowBandit:
    """The formulas of `bandit_core` in plain Python, from the same bits."""

    def __init__(self, n: int, epsilon: float, length: int | None, start: float, seed: int) -> None:
        self.n, self.length, self.start, self.source = n, length or 1, start, BitSource(seed)
        if length is None:
            self.bit = OneBit(epsilon)
            self.moment = self.bit.second_moment
        else:
            self.law = noise.laplace(Fraction(2 * DEFAULT_UNITS) / Fraction(epsilon))
            self.moment = 1 + noise.variance(self.law) / (length * DEFAULT_UNITS) ** 2
        self.local = length is None
        spread = 12 * (n + 1) * self.moment
        least = (n * math.sqrt(spread) / 24) ** (2 / 3)
        self.a, self.b = 0.4 * least, 3 * math.sqrt(least / spread)
        self.sum, self.released, self.updates = [0] * n, 0, 0

    @property
    def levels(self) -> list[float]:
        eta = self.b * (self.updates + 1) ** (-2 / 3) / DEFAULT_UNITS
        return [self.start - eta * g for g in self.sum]

    def draw(self) -> dict:
        levels = self.levels
        order = sorted(range(self.n), key=lambda i: (-levels[i], i))
        x = [1.0, *(min(max(levels[i], 0.0), 1.0) for i in order), 0.0]
        gamma = min(1.0, self.a * (self.updates + 1) ** (-1 / 3))
        rho = [(1 - gamma) * (x[k] - x[k + 1]) + gamma / (self.n + 1) for k in range(self.n + 1)]
        uniform, size = (self.source.bits64() >> 11) * 2.0**-53, 0
        while uniform >= rho[size]:
            uniform -= rho[size]
            size += 1
        baseline = self.released / (self.length * (self.updates + self.moment))
        baseline = min(max(baseline, -DEFAULT_UNITS), DEFAULT_UNITS)
        return {"order": order, "size": size, "rho": rho[size], "baseline": baseline, "costs": []}

    def tell(self, draw: dict, cost: float) -> None:
        draw["costs"].append(math.floor(cost * DEFAULT_UNITS + 0.5))
        if len(draw["costs"]) < self.length:
            return
        total = sum(draw["costs"])
        if self.local:
            one = (self.source.bits64() >> 1) < 2**62 + total * self.bit.slope
            number = round(self.bit.magnitude) * (1 if one else -1)
        else:
            number = total + int(noise.sample(self.law, 1, self.source)[0])
        share = round((number / self.length - draw["baseline"]) / draw["rho"])
        if draw["size"] > 0:
            self.sum[draw["order"][draw["size"] - 1]] += share
        if draw["size"] < self.n:
            self.sum[draw["order"][draw["size"]]] -= share
        self.released += number
        self.updates += 1


@pytest.mark.parametrize("length", [None, 1, 3])
@pytest.mark.parametrize("ahead", [1, 7])
def test_runs_are_those_of_the_formulas(length: int | None, ahead: int) -> None:
    """Sets, sums and points of a slow computation, told at once or up to seven asks late, in both modes."""
    n, epsilon, start = 4, 1.25, 0.6
    mode = {"mode": "local"} if length is None else {"mode": "central", "block": length}
    learner = BanditLearner(n, epsilon, (-1, 1), start=[start] * n, seed=11, **mode)
    slow = SlowBandit(n, epsilon, length, start, seed=11)
    rng = np.random.default_rng(3)
    open_draws: list[tuple] = []
    draw: dict = {}
    for t in range(300):
        decision = learner.ask()
        draw = slow.draw() if t % slow.length == 0 else draw
        assert decision.subset == set(draw["order"][: draw["size"]])
        open_draws.append((decision, draw))
        while len(open_draws) >= ahead:
            told, drawn = open_draws.pop(rng.integers(len(open_draws)))
            cost = rng.uniform(-1, 1)
            learner.tell(told, cost)
            slow.tell(drawn, cost)
            core = learner._core
            assert core.gradients.tolist() == slow.sum
            assert (core.rounds[RELEASED], core.rounds[UPDATES]) == (slow.released, slow.updates)
            np.testing.assert_allclose(learner.point, np.clip(slow.levels, 0, 1), atol=1e-12)
    assert slow.updates >= 290 // slow.length - ahead


@pytest.mark.parametrize("order", ["reversed", "shuffled"])
def test_the_order_of_tells_does_not_matter(order: str) -> None:
    """The same draws with the same bits, in another order and however late: the same integers."""
    rng = np.random.default_rng(0)
    punctual, late = (BanditLearner(5, 0.7, (-1, 1), seed=2) for _ in range(2))
    for learner in (punctual, late):
        for bit in (1, 1, 0, 1):  # so that the baseline is not zero
            learner.tell(learner.ask(), released=bit)
    told = [(decision, int(rng.integers(2))) for decision in punctual.ask(count=60)]
    assert late.ask(count=60) == [decision for decision, _ in told]
    for decision, bit in told:
        punctual.tell(decision, released=bit)
    for k in reversed(range(60)) if order == "reversed" else rng.permutation(60):
        late.tell(told[k][0].id, released=told[k][1])
    assert late._core.gradients.any()
    for part in ("gradients", "rounds", "x", "levels"):
        assert getattr(late._core, part).tolist() == getattr(punctual._core, part).tolist()


def test_bulk_tells_in_any_order_are_the_same_tells() -> None:
    """At epsilon 60 a cost at an end of the range has one bit for certain, so costs may be shuffled too."""
    rng = np.random.default_rng(1)
    one_by_one, bulk = (BanditLearner(4, 60.0, (-1, 1), seed=4) for _ in range(2))
    told = [(decision, float(rng.choice([-1, 1]))) for decision in one_by_one.ask(count=80)]
    bulk.ask(count=80)
    for decision, cost in told:
        one_by_one.tell(decision, cost)
    bulk.tell_many((told[k][0].id, told[k][1]) for k in rng.permutation(80))
    assert bulk._core.gradients.any()
    assert bulk._core.gradients.tolist() == one_by_one._core.gradients.tolist()
    assert bulk.point.tolist() == one_by_one.point.tolist()


def test_the_exploration_is_capped_and_falls() -> None:
    """While a t^(-1/3) is above 1 all prefixes are equally likely, wherever the point is; not for ever."""
    learner = BanditLearner(3, 1.0, (-1, 1), exploration=50.0, seed=0)
    core = learner._core
    assert core.exploration > 5
    for _ in range(125):
        decision = learner.ask()
        assert learner._pending[decision.id].chances[PROBABILITY] == pytest.approx(1 / 4, rel=1e-12)
        learner.tell(decision, 0.3)
    core.rounds[UPDATES] = int(core.exploration**3) + 10**6
    assert learner._pending[learner.ask().id].chances[PROBABILITY] != pytest.approx(1 / 4, rel=1e-6)


@pytest.mark.parametrize("sign", [1, -1])
def test_absurd_estimates_are_cut_off(sign: int) -> None:
    """A vanishing chance and huge noise give the largest share, in 64 bits, not one that wrapped around."""
    core = BanditLearner(2, 1.0, (-1, 1), seed=0)._core
    draw = new_draw(np.arange(2))
    draw.numbers[SIZE], draw.chances[PROBABILITY] = 1, 1e-12
    learn_released(core, draw, sign * 2**51)
    assert core.gradients.tolist() == [sign * 2**61, -sign * 2**61]
    assert core.x.tolist() == ([0.0, 1.0] if sign > 0 else [1.0, 0.0])


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("kept", [False, True])
def test_sums_stay_at_the_end_of_64_bits(kept: bool, sign: int) -> None:
    """A released number of 53 bits, a few hundred times, would wrap around and turn the mean's sign."""
    arguments = {"epsilon": 1.0, "cost_range": [0, 1], "rounds_per_person": 2**32}
    end = detached({"kind": "bandit", "items": 2, "arguments": arguments})
    learner = end._learner
    assert isinstance(learner, BanditLearner)
    assert learner._core.kind.magnitude > 2**52
    draws = end.draw(1)
    learner._core.rounds[RELEASED] = sign * (LARGEST_SUM - 5)
    learner._core.gradients[:] = [LARGEST_SUM - 5, 5 - LARGEST_SUM]
    bit = int(sign > 0)
    for _ in range(600):
        if kept:
            end.fold([draws[0].draw] * 2, [bytes([bit])] * 2)
        else:
            learner.tell(learner.ask(), released=bit)
    assert learner._core.rounds[RELEASED] == sign * LARGEST_SUM
    assert np.abs(learner._core.gradients).max() <= LARGEST_SUM
    assert learner.mean_cost is not None
    assert sign * (learner.mean_cost - 0.5) > 0
    end.restore(end.state())


def test_a_state_with_sums_beyond_the_end_is_damaged() -> None:
    """None could have led to it."""
    learner = BanditLearner(2, 1.0, (-1, 1))
    for array, place in ((learner._core.gradients, 1), (learner._core.rounds, RELEASED)):
        array[place] = -LARGEST_SUM - 1
        assert not possible(learner._core)
        array[place] = -LARGEST_SUM
        assert possible(learner._core)
