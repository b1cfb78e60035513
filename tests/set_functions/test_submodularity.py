"""is_submodular: exact for few items, a true counterexample whenever it says no."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import families
from discreet.set_functions import Cut, FromCallable, Iwata, Table, is_submodular


@given(st.lists(st.integers(-3, 3), min_size=16, max_size=16))
def test_agrees_with_the_definition_on_small_tables(values: list[int]) -> None:
    """All pairs A within B and i outside B, one by one, give the same answer; a counterexample violates."""
    f = Table(values)
    sets = list(families.subsets(4))
    violated = any(
        f(a | {i}) - f(a) < f(b | {i}) - f(b) for a in sets for b in sets if a <= b for i in {0, 1, 2, 3} - b
    )
    check = is_submodular(f)
    assert bool(check) == (not violated)
    if violated:
        assert check.counterexample is not None
        a, b, i = check.counterexample
        assert a <= b
        assert i not in b
        assert f(b | {i}) - f(b) - (f(a | {i}) - f(a)) == check.violation > 0


def test_large_submodular_function_passes_without_a_claim_of_proof() -> None:
    """Beyond 14 items the answer says that it is not exact."""
    check = is_submodular(Iwata(60), trials=50)
    assert check
    assert not check.exact


def test_random_search_finds_a_true_counterexample() -> None:
    """A supermodular function of 40 items is caught, with a counterexample that holds."""
    f = FromCallable(lambda s: float(len(s) ** 2), 40)
    check = is_submodular(f, trials=5)
    assert not check
    assert check.counterexample is not None
    a, b, i = check.counterexample
    assert a < b
    assert i not in b
    assert f(b | {i}) - f(b) > f(a | {i}) - f(a)


def test_rounding_is_not_a_violation() -> None:
    """Values of size 1e6 with float noise still pass."""
    rng = np.random.default_rng(3)
    assert is_submodular(Cut(1e6 * rng.random((8, 8))))


@pytest.mark.parametrize(("option", "value"), [("tolerance", 0), ("trials", 0)])
def test_bad_options(option: str, value: int) -> None:
    """Options are checked by name."""
    with pytest.raises(ValueError, match=option):
        is_submodular(Iwata(3), **{option: value})  # type: ignore[arg-type]
