"""Switching cuts: two halves, each a pool of its own."""

import pytest
from stream_checks import (
    assert_compiled_costs_are_values,
    assert_costs_stay_in_range,
    assert_total_is_the_sum,
)

from discreet import DiscreetError, minimize
from discreet.environments import cuts_with_prices, switching_cuts


def test_the_halves_are_these_pools() -> None:
    """Published numbers rest on it. An odd round goes to the second half."""
    pool = switching_cuts(4, 21, seed=3)
    first, later = cuts_with_prices(4, 10, seed=3), cuts_with_prices(4, 11, bias=-0.5, seed=503)
    assert [f.to_dict() for f in pool] == [f.to_dict() for f in [*first, *later]]
    assert_compiled_costs_are_values(pool)
    assert_total_is_the_sum(pool)
    assert_costs_stay_in_range(pool, (-1.0, 1.0))


def test_the_best_set_changes_at_half_time() -> None:
    """From the even items to the odd ones, in the default size."""
    for seed in range(3):
        pool = switching_cuts(8, 8192, seed=seed)
        assert minimize(pool.total_until(4096)).set == {0, 2, 4, 6}
        later = cuts_with_prices(8, 4096, bias=-0.5, seed=seed + 500)
        best = minimize(later.total)
        assert {1, 3, 5, 7} <= best.set or best.set <= {1, 3, 5, 7}
        assert best.value < later.total([0, 2, 4, 6])


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (
            lambda: switching_cuts(4, 1),
            "The 'rounds' of switching_cuts must be a whole number of at least 2.",
        ),
        (lambda: switching_cuts(4, 10, seed=-1), "The 'seed' of switching_cuts"),
        (lambda: switching_cuts(17, 10), "from 1 to 16"),
    ],
)
def test_bad_arguments_are_named(build, message: str) -> None:  # type: ignore[no-untyped-def]
    """As everywhere."""
    with pytest.raises(DiscreetError, match=message):
        build()
