"""Private answers: the sensitivity is attained, audits find a wrong one, intervals include the noise."""

from typing import Any

import numpy as np
import pytest
from logs import SETS, World
from scipy import stats

from discreet import DiscreetError, audit, evaluate
from discreet.evaluation.private import COST_UNITS, WEIGHT_UNITS, WeightedSum, best_cap
from discreet.privacy import Budget, Grid, Guarantee, VectorBound
from discreet.randomness import BitSource

ALPHA = 1e-6
PLAN = {SETS[5]: 0.7, SETS[2]: 0.3}
WEIGHTS = np.array([0.0, 0.3, 4.0, 1.1, 2.5])


def release_of(epsilon: float = 1.0, k: int = 1, cap: float = 4.0) -> WeightedSum:
    return WeightedSum.of(WEIGHTS, cap, (0.0, 1.0), Budget(epsilon=epsilon, rounds_per_person=k))


def exact(release: WeightedSum, costs: Any) -> int:
    """The sum without noise."""
    return int(release.weights @ np.array([release.grid.of(cost) for cost in costs]))


@pytest.mark.parametrize("cap", [0.5, 1.7, 4.0, 100.0])
def test_one_cost_moves_the_sum_by_no_more_than_the_noise_allows(cap: float) -> None:
    """For each round and any two values; the heaviest round attains it."""
    release = release_of(cap=cap)
    values = [0.0, 1.0, 0.37, -5.0, 99.0, float("nan"), None, "text"]
    moved = []
    for row in range(5):
        sums = [exact(release, [value if t == row else 0.5 for t in range(5)]) for value in values]
        moved.append(max(sums) - min(sums))
    most = release.bound.l1_distance()
    assert max(moved) == most
    assert release.law.scale == most
    assert release_of(0.5, 3, cap).law.scale == most * 6
    assert most <= 2 * COST_UNITS * WEIGHT_UNITS


def test_weights_are_never_rounded_up() -> None:
    """So that what is cut off can only widen the interval."""
    for cap in (0.7, 3.3, 4.0):
        release = release_of(cap=cap)
        used = release.weights * release.unit
        assert np.all(used <= np.minimum(WEIGHTS, cap) + 1e-12)
        assert np.all(used > np.minimum(WEIGHTS, cap) - cap / WEIGHT_UNITS * 1.001)


class Released:
    """What an audit attacks: the number that is released, for two logs that differ in the heaviest round."""

    def __init__(self, release: WeightedSum) -> None:
        self.release = release

    def claim(self) -> Guarantee:
        return self.release.budget.guarantee(proof="evaluations")

    def neighbours(self) -> tuple[Any, Any]:
        return [0.2, 0.9, 0.0, 0.4, 0.4], [0.2, 0.9, 1.0, 0.4, 0.4]

    def observe(self, costs: Any, runs: int, seed: Any) -> Any:
        source = BitSource(seed)
        return np.array([[self.release.release(costs, source)] for _ in range(runs)], dtype=float)


class Typical(WeightedSum):
    """Broken on purpose: the noise fits a round of middling weight."""

    @property
    def bound(self) -> VectorBound:
        most = int(np.median(self.weights)) * self.grid.units
        return VectorBound(coordinate=most, l1=most, step=self.unit * self.grid.step)


def test_an_audit_finds_noise_that_is_scaled_to_the_wrong_weight() -> None:
    """And does not refute the right one."""
    right = audit(Released(release_of()), runs=40_000, seed=5)
    wrong = audit(Released(Typical(*release_of())), runs=40_000, seed=5)
    assert right.passed
    assert right.lower_bound > 0.8
    assert not wrong.passed


def test_nothing_about_the_costs_is_raised() -> None:
    """What is no number counts as the middle of the range."""
    log = {"set": [SETS[1]] * 4, "probability": [1.0] * 4, "cost": [None, "x", float("inf"), object()]}
    with pytest.warns(UserWarning, match="worth only 4 rounds"):
        found = evaluate(log, SETS[1], cost_range=(0, 10), epsilon=1e3, seed=1)
    assert found.value == pytest.approx(5.0, abs=0.1)
    assert found.logged is found.gain is None


def test_the_interval_covers_and_includes_the_noise() -> None:
    """With little epsilon; without the part for the noise it would not cover."""
    world, rng = World.drawn(7, floor=0.06), np.random.default_rng(1)
    covered, without, repeats, rounds, epsilon = 0, 0, 200, 300, 0.02
    truth = world.value(PLAN)
    for seed in range(repeats):
        log = world.log(rounds, rng)
        found = evaluate(log, PLAN, cost_range=(0, 1), epsilon=epsilon, seed=seed, weight_cap=20.0)
        exactly = evaluate(log, PLAN, cost_range=(0, 1), epsilon=100.0, seed=seed, weight_cap=20.0)
        covered += found.low <= truth <= found.high
        without += abs(found.value - truth) <= (exactly.high - exactly.low) / 2
    limit = stats.binom.ppf(ALPHA, repeats, 0.95)
    assert covered >= limit
    assert without < limit


def test_the_interval_holds_although_weights_are_cut() -> None:
    """A cap far below the weights widens it, and it still covers what the uncut estimate would."""
    world, rng = World.drawn(3), np.random.default_rng(2)
    log = world.log(4000, rng)
    given: dict[str, Any] = {"cost_range": (0, 1), "epsilon": 100.0, "seed": 1}
    ends = [evaluate(log, PLAN, **given, weight_cap=cap) for cap in (1.0, 3.0, 30.0)]
    assert all(found.low <= world.value(PLAN) <= found.high for found in ends)
    widths = [found.high - found.low for found in ends]
    assert widths[0] > widths[1]


def test_the_cap_is_chosen_from_public_weights() -> None:
    """With less epsilon a smaller one, which lets less noise in; its width is known beforehand."""
    weights = World.drawn(3).log(500, np.random.default_rng(0))["probability"] ** -1.0
    caps = [best_cap(weights, (0.0, 1.0), Budget(epsilon=epsilon), 0.05) for epsilon in (0.01, 100.0)]
    assert caps[0] < caps[1] <= weights.max()
    release = WeightedSum.of(weights, caps[1], (0.0, 1.0), Budget(epsilon=1.0))
    _, low, high = release.interval(0, 0.05)
    assert high - low == pytest.approx(release.width(0.05))
    assert release.grid == Grid(0.0, 1.0, COST_UNITS)


def test_the_promise() -> None:
    """Is in the result, for k rounds of a person; a seed voids it."""
    log = World.drawn(7, floor=0.06).log(500, np.random.default_rng(1))
    found = evaluate(log, PLAN, cost_range=(0, 1), epsilon=2.0, rounds_per_person=3)
    assert (found.guarantee.epsilon, found.guarantee.rounds_per_person, found.guarantee.private) == (
        2.0,
        3,
        True,
    )
    assert found.guarantee.proof == "docs/guarantees.md#evaluations"
    assert list(found.estimates) == ["inverse propensity"]
    assert not evaluate(log, PLAN, cost_range=(0, 1), epsilon=2.0, seed=1).guarantee.private
    for given in ({"cost_range": None}, {"cost_range": (0, 1), "epsilon": -1.0}):
        with pytest.raises(DiscreetError):
            evaluate(log, PLAN, **{"epsilon": 1.0, **given})  # type: ignore[arg-type]
