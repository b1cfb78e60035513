"""Rounds held out: a share of all, alike the others, released like them, and kept from the policy."""

from typing import Any

import numpy as np
import pytest
from scipy import stats

from discreet import BanditLearner
from discreet.errors import InvalidArgument

ITEMS = ["tea", "milk", "rice", "salt"]


def learner(**others: Any) -> BanditLearner[str]:
    given = {"epsilon": 2.0, "cost_range": (0, 1), "holdout": (["milk"], 0.2), "seed": 3}
    return BanditLearner(ITEMS, **(given | others))


@pytest.mark.parametrize("mode", ["central", "local"])
@pytest.mark.parametrize("method", ["model", "worst-case"])
def test_a_share_of_rounds_shows_the_default_set(mode: Any, method: Any) -> None:
    """Seed 3, 3,000 rounds, alpha = 1e-6 (binomial): a fifth of what was released, not a third."""
    made = learner(mode=mode, method=method)
    for _ in range(3_000):
        made.tell(made.ask(), 0.5)
    held = made.held
    assert held is not None
    total = held.rounds + held.learned_rounds
    assert total == made.rounds
    for share, fits in ((0.2, True), (1 / 3, False)):
        assert bool(stats.binomtest(held.rounds, total, share).pvalue > 1e-6) is fits


def test_the_uplift_is_that_of_learned_sets() -> None:
    """20 seeds: the interval has the difference that is true of the sets shown at least 17 times.

    With 95% each, fewer have probability below 2%. Half the difference is missed in most.
    """
    hits = halves = 0
    for seed in range(20):
        made, rng, means = learner(seed=seed), np.random.default_rng(seed), {True: [], False: []}
        for _ in range(2_000):
            decision = made.ask()
            mean = 0.7 - 0.1 * len(decision.subset)
            means[decision.subset == {"milk"}].append(mean)
            made.tell(decision, mean + rng.uniform(-0.2, 0.2))
        held = made.held
        assert held is not None
        assert held.low is not None
        assert held.high is not None
        true = 0.6 - (held.learned_mean or 0)
        hits += held.low < true < held.high
        halves += held.low < true / 2 < held.high
    assert hits >= 17
    assert halves <= 3


def test_rounds_with_some_of_the_items_are_compared_with_nothing() -> None:
    """Seed 3: they cost more, whatever set is shown; an uplift that counted them would be far below zero."""
    made, rng = learner(), np.random.default_rng(1)
    for t in range(6_000):
        some = ["tea", "rice", "salt"] if t % 2 else None
        decision = made.ask(available=some)
        made.tell(decision, (0.9 if some else 0.3) + rng.uniform(-0.1, 0.1))
    held = made.held
    assert held is not None
    assert held.low is not None
    assert held.high is not None
    assert held.low < 0 < held.high
    assert held.low > -0.2
    assert 2_000 < held.rounds + held.learned_rounds <= 3_000


def test_it_costs_no_privacy_and_survives_a_file(tmp_path: Any) -> None:
    """The guarantee is that of the same learner without; what was released is saved."""
    import discreet

    made = learner(seed=None)
    assert made.guarantee == BanditLearner(ITEMS, epsilon=2.0, cost_range=(0, 1)).guarantee
    for _ in range(500):
        made.tell(made.ask(), 0.5)
    held = made.held
    made.save(tmp_path / "learner")
    assert discreet.load(tmp_path / "learner").held == held
    assert BanditLearner(2, epsilon=1.0, cost_range=(0, 1)).held is None


@pytest.mark.parametrize("wrong", [(["coffee"], 0.1), (["tea"], 1.0), (["tea"], 0.0), ["tea"], 0.1])
def test_senseless_holdouts_are_refused(wrong: Any) -> None:
    """Sets of other items, shares that are none."""
    with pytest.raises(InvalidArgument):
        learner(holdout=wrong)
