"""Pools and tables: the stream, its total, and its compiled costs."""

import numpy as np
import pytest
from stream_checks import assert_compiled_costs_are_values, assert_total_is_the_sum

from discreet import DiscreetError
from discreet.environments import Pool, TableStream, chain_costs, check_stream, prefix_cost
from discreet.set_functions import Cut, Iwata, Modular


def test_compiled_costs_are_the_functions_values() -> None:
    """Along any order and for any prefix, in every round."""
    rng = np.random.default_rng(0)
    functions = [Cut(rng.random((4, 4))), Modular(rng.normal(size=4)), Iwata(4)]
    pool = Pool(functions, rounds=30, seed=1)
    for t in range(30):
        f, order, costs = functions[pool.compiled.choice[t]], rng.permutation(4), np.empty(5)
        chain_costs(pool.compiled, t, np.zeros(4), order, costs)
        np.testing.assert_allclose(costs, f.chain_values(order), atol=1e-12)
        for size in range(5):
            assert prefix_cost(pool.compiled, t, np.zeros(4), order, size) == pytest.approx(
                costs[size], abs=1e-12
            )


def test_total_is_the_sum_over_rounds() -> None:
    """With probabilities, some of them zero."""
    functions = [Modular([1.0, 0.0]), Modular([0.0, 1.0]), Modular([100.0, 100.0])]
    pool = Pool(functions, rounds=1000, probabilities=[0.25, 0.75, 0.0], seed=2)
    assert pool.total([0]) + pool.total([1]) == 1000
    assert 200 < pool.total([0]) < 300


def test_iterating_gives_the_functions_round_by_round() -> None:
    """The very objects, as often as they were drawn; and again from the start the second time."""
    functions = [Modular([1.0, 0.0]), Iwata(2)]
    pool = Pool(functions, rounds=20, seed=4)
    assert [functions.index(f) for f in pool] == pool.compiled.choice.tolist()
    assert len(list(pool)) == 20


def test_one_pool_then_another() -> None:
    """The rounds follow each other, functions in both pools are allowed, and the pools stay as they were."""
    first = Pool([Modular([1.0, 0.0, 0.0]), Iwata(3)], rounds=20, seed=5)
    second = Pool([Iwata(3), Cut(np.ones((3, 3))), first.functions[0]], rounds=30, seed=6)
    both = first.then(second)
    assert (both.n, both.rounds) == (3, 50)
    assert list(both) == [*first, *second]
    assert_compiled_costs_are_values(both)
    assert_total_is_the_sum(both)
    assert (len(list(first)), len(list(second))) == (20, 30)


def test_a_table_is_a_stream() -> None:
    """Row t has the costs of round t, or of the rounds that choose it."""
    values = np.random.default_rng(7).normal(size=(10, 8))
    for stream in (TableStream(values), TableStream(values, np.array([3, 3, 0, 9, 3]))):
        check_stream(stream)
    assert [f([0, 2]) for f in stream] == values[[3, 3, 0, 9, 3], 0b101].tolist()


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: Pool([], 10), "'functions'"),
        (lambda: Pool([Iwata(3)], 0), "'rounds'"),
        (lambda: Pool([Iwata(17)], 10), "from 1 to 16"),
        (lambda: Pool([Iwata(3), Iwata(4)], 10), r"the same number of items. Got \[3, 4\] instead"),
        (lambda: Pool([Iwata(3)], 10, probabilities=[0.5]), "'probabilities'"),
        (lambda: Pool([Iwata(3), Iwata(3)], 10, probabilities=[1.5, -0.5]), "'probabilities'"),
        (
            lambda: Pool([Iwata(3)], 10).then(Pool([Iwata(4)], 10)),
            "'other' of Pool.then must be a Pool of 3 items",
        ),
        (lambda: Pool([Iwata(3)], 10).then([Iwata(3)]), "'other' of Pool.then must be a Pool of 3 items"),
        (lambda: TableStream([[1.0, 2.0, 3.0]]), r"2\^n columns. Got shape \(1, 3\)"),
        (lambda: TableStream(np.empty((0, 4))), r"one row per round"),
        (lambda: TableStream([[1.0, np.inf]]), "finite numbers"),
        (lambda: TableStream([[1.0, 2.0]], [0, 1]), "'choice' of TableStream"),
        (lambda: TableStream([[1.0, 2.0]], []), "'number of rounds' of TableStream"),
    ],
)
def test_bad_arguments_are_named(build, message: str) -> None:  # type: ignore[no-untyped-def]
    """As everywhere."""
    with pytest.raises(DiscreetError, match=message):
        build()
