"""Regret of learners with constraints is against the best allowed set."""

import itertools
import math
from typing import Any

import numpy as np
import pytest

from discreet import BanditLearner, FullInformationLearner, environments
from discreet.baselines import RandomSet
from discreet.constraints import Constraints
from discreet.environments import FunctionStream, Pool
from discreet.minimizers.greedy import greedy_set
from discreet.set_functions import Coverage, FromCallable, Modular, SetFunction
from discreet.simulation import regret, simulate

N, T = 5, 300
GIVEN: dict[str, Any] = {"at_most": 2, "groups": [[0, 1]], "forbidden": [4]}
COVERS = Coverage([[0, 1, 2], [0, 1], [2, 3], [3], [0, 1, 2, 3]], np.full(4, 0.25))


def allowed(chosen: frozenset[int]) -> bool:
    return len(chosen) <= 2 and 4 not in chosen and not {0, 1} <= chosen


def best_allowed(total: SetFunction, sign: float) -> tuple[frozenset[int], float]:
    sets = (frozenset(c) for k in range(N + 1) for c in itertools.combinations(range(N), k))
    best = min(filter(allowed, sets), key=lambda chosen: sign * total(chosen))
    return best, total(best)


@pytest.mark.parametrize("maximize", [False, True])
@pytest.mark.parametrize("kind", [BanditLearner, FullInformationLearner])
def test_the_best_fixed_set_is_the_best_allowed_one(kind: Any, maximize: bool) -> None:
    """At every checkpoint, by brute force; the best of all sets would be another."""
    learner, sign = kind(N, 4.0, (-2, 2), maximize=maximize, **GIVEN), -1.0 if maximize else 1.0
    covers = COVERS if maximize else -COVERS
    stream = Pool([covers, Modular(sign * np.array([0.2, -0.5, 0.1, -0.3, -0.6]))], T, seed=2)
    trace = simulate(stream, learner, seeds=[1], checkpoints=[20, T])
    for mark, found, bound in zip((20, T), trace.best[0], trace.best_lower_bound[0], strict=True):
        chosen, value = best_allowed(stream.total_until(mark), sign)
        assert (found, bound) == pytest.approx((value, value))
    assert set(np.flatnonzero(trace.best_sets[0])) == chosen
    assert sign * stream.total(range(N)) < sign * value
    assert regret(learner.fresh([1, 1]), stream) == pytest.approx(trace.regret[0, -1])


def test_the_bounds_are_said_where_too_many_sets_are_allowed() -> None:
    """Of additive costs the best set is found; nothing is proved of functions that nobody knows."""
    weights = np.linspace(-1, 0.2, 24) / 24
    learner = BanditLearner(24, 4.0, (-1, 1), at_most=11)
    trace = simulate(FunctionStream([Modular(weights)] * 50), learner, seeds=1)
    assert trace.best[0, -1] == pytest.approx(50 * weights[:11].sum())
    assert trace.best_lower_bound[0, -1] == pytest.approx(50 * weights[:11].sum())

    def unknown(chosen: frozenset[int]) -> float:
        return sum(weights[i] for i in chosen)

    functions = FunctionStream([FromCallable(unknown, 24)] * 50, cost_range=(-1, 1))
    trace = simulate(functions, learner, seeds=1, checkpoints=1)
    assert trace.best[0, -1] == pytest.approx(50 * weights[:11].sum())
    assert trace.best_lower_bound[0, -1] == -math.inf


@pytest.mark.parametrize("seed", [4, 6])
def test_all_sets_are_compared_of_functions_that_are_not_submodular(seed: int) -> None:
    """Substitutes with prices, too many for `minimize` to compare by itself, which notices one of them."""
    stream = environments.substitutes(20, price=1.0).stream(600, seed=seed)
    trace = simulate(stream, RandomSet(20), seeds=1, checkpoints=1)
    values = stream.total.table().values
    assert trace.best[0, -1] == trace.best_lower_bound[0, -1] == pytest.approx(values.min())


def test_a_greedy_set_keeps_to_the_constraints_and_to_its_guarantee() -> None:
    """On monotone submodular rewards it earns at least 1 - 1/e of the best, with a size limit only."""
    rng = np.random.default_rng(3)
    for _ in range(30):
        worth = Coverage([rng.permutation(12)[:4].tolist() for _ in range(8)], rng.random(12))
        for constraints in (Constraints(8, 3), Constraints(8, 4, 2, (1,), (0, 2), ((3, 4, 5),))):
            listed = constraints.listed()
            chosen = greedy_set(-worth, constraints)
            members = np.isin(np.arange(8), list(chosen))
            assert constraints.allows(members[None])[0]
            if not constraints.groups:
                assert worth(members) >= (1 - 1 / math.e) * max(worth(row) for row in listed)


def test_a_greedy_set_has_as_many_items_as_it_must() -> None:
    """And no more, where each makes it worse."""
    costs = Modular([3.0, 1.0, 2.0, 4.0])
    assert greedy_set(costs, Constraints(4, 4)) == frozenset()
    assert greedy_set(costs, Constraints(4, 4, 2)) == {1, 2}
    assert greedy_set(costs, Constraints(4, 4, 2, (3,), (), ((1, 3),))) == {2, 3}
