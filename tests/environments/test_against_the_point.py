"""The adversary: its sign, what it remembers, and a run against real learners."""

import numpy as np
import pytest
from stream_checks import assert_costs, assert_total_is_the_sum, fits

from discreet import DiscreetError
from discreet.environments import AgainstThePoint, chain_costs, prefix_cost
from discreet.paper import BanditSubmodPFTAL, SubmodPFTAL
from discreet.set_functions import Modular
from discreet.simulation.loop import play


def signed_item(n: int, item: int, x: np.ndarray) -> Modular:  # type: ignore[type-arg]
    """The function of a round at the point x, from the definition."""
    sign = 1 if x[item] > 0.5 else -1
    weights = np.zeros(n)
    weights[item] = 2 * sign
    return Modular(weights, constant=-sign)


@pytest.mark.parametrize("n", [1, 4, 30])
def test_costs_are_against_the_point_and_count_once(n: int) -> None:
    """In every round, though each is played many times (a chain, then all prefixes)."""
    rng = np.random.default_rng(0)
    stream = AgainstThePoint(n, 40, seed=1)
    functions = []
    for t in range(40):
        x = rng.choice([0.0, 0.3, 0.5, 0.7, 1.0], size=n)
        functions.append(signed_item(n, stream.compiled.items[t], x))
        assert_costs(stream.compiled, t, x, functions[t], rng)
        assert_total_is_the_sum(stream, functions)


def test_one_half_is_leaning_away() -> None:
    """At x_i = 1/2 exactly the sign is -1."""
    stream = AgainstThePoint(1, 2)
    assert prefix_cost(stream.compiled, 0, np.array([0.5]), np.array([0]), 1) == -1
    assert prefix_cost(stream.compiled, 1, np.nextafter([0.5], 1), np.array([0]), 1) == 1


def test_a_replayed_round_may_meet_another_point() -> None:
    """The last play counts, and the first round forgets an earlier and longer run."""
    stream, order, costs = AgainstThePoint(1, 3), np.array([0]), np.empty(2)
    for x in (1.0, 1.0, 0.0):
        for t in range(3):
            chain_costs(stream.compiled, t, np.array([x]), order, costs)
    assert stream.compiled.signs.tolist() == [-1, -1, -1]
    chain_costs(stream.compiled, 0, np.array([1.0]), order, costs)
    chain_costs(stream.compiled, 1, np.array([1.0]), order, costs)
    assert stream.compiled.signs.tolist() == [1, 1, 0]
    assert (stream.total([0]), stream.total([])) == (2, -2)


@pytest.mark.parametrize("bandit", [False, True])
def test_in_a_run_the_total_is_what_was_played(bandit: bool) -> None:
    """Against ask and tell with the same seed; bits run out several times, so rounds are replayed."""
    n, T = 3, 300
    build = BanditSubmodPFTAL if bandit else SubmodPFTAL
    stepwise, compiled = build(n, T, 1.0, seed=5), build(n, T, 1.0, seed=5)
    stream = AgainstThePoint(n, T, seed=2)
    paid, functions = [], []
    for item in stream.compiled.items:
        f = signed_item(n, item, stepwise.point)
        decision = stepwise.ask()
        stepwise.tell(decision, f(decision.subset) if bandit else f)
        functions.append(f)
        paid.append(f(decision.subset))
    np.testing.assert_array_equal(play(compiled, stream), paid)
    assert set(stream.compiled.signs.tolist()) == {-1, 1}
    assert_total_is_the_sum(stream, functions)


def test_items_are_uniform() -> None:
    """Seed 3, 40000 rounds, n = 5, alpha 1e-6 by the chi-squared test; 20% more for item 0 is rejected."""
    counts = np.bincount(AgainstThePoint(5, 40000, seed=3).compiled.items, minlength=5).astype(float)
    assert fits(counts, np.full(5, 0.2))
    assert not fits(counts, 0.2 * np.array([1.2, 0.95, 0.95, 0.95, 0.95]))


def test_it_cannot_be_iterated() -> None:
    """Its functions are not known in advance."""
    with pytest.raises(TypeError, match="depend on what the learner does"):
        list(AgainstThePoint(2, 3))


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: AgainstThePoint(0, 10), "The 'n' of AgainstThePoint must be a whole number of at least 1."),
        (lambda: AgainstThePoint(3, -1), "The 'rounds' of AgainstThePoint"),
        (lambda: AgainstThePoint(3, 10, 0.5), "The 'seed' of AgainstThePoint"),
    ],
)
def test_bad_arguments_are_named(build, message: str) -> None:  # type: ignore[no-untyped-def]
    """As everywhere."""
    with pytest.raises(DiscreetError, match=message):
        build()
