"""What every family of set functions promises, checked against slow definitions on all subsets."""

import json

import numpy as np
import pytest

import families
from discreet import DiscreetError
from discreet.set_functions import Cut, FromCallable, SetFunction, is_submodular

N = 6
CLOSE = {"rtol": 1e-9, "atol": 1e-9}

each_family = pytest.mark.parametrize("name", families.FAMILIES)
each_seed = pytest.mark.parametrize("seed", range(3))


def instance(name: str, seed: int, n: int = N) -> families.Instance:
    return families.FAMILIES[name](n, np.random.default_rng(seed))


@each_family
@each_seed
def test_values_follow_the_definition(name: str, seed: int) -> None:
    """Every subset has the value of the slow definition, as indices and as a mask."""
    f, definition = instance(name, seed)
    for s in families.subsets(N):
        mask = [i in s for i in range(N)]
        expected = pytest.approx(definition(s), rel=1e-9, abs=1e-9)
        assert f(s) == expected
        assert f(sorted(s)) == expected
        assert f(iter(s)) == expected
        assert f(mask) == expected
        assert f(np.array(mask)) == expected


@each_family
@each_seed
def test_chain_values_are_the_values_of_all_prefixes(name: str, seed: int) -> None:
    """One pass gives the same as n+1 evaluations, for any order."""
    f, _ = instance(name, seed)
    order = np.random.default_rng(seed).permutation(N)
    values = f.chain_values(order)
    np.testing.assert_allclose(values, [f(order[:k]) for k in range(N + 1)], **CLOSE)
    np.testing.assert_allclose(f.chain_values(order.tolist()), values)


@each_family
@each_seed
def test_a_table_holds_the_value_of_every_set(name: str, seed: int) -> None:
    """By their codes, of the function, of a sum and of the smallest ground sets."""
    for n in (0, 1, N):
        f, definition = instance(name, seed, n)
        expected = [definition(s) for s in families.subsets(n)]
        np.testing.assert_allclose(f.table().values, expected, **CLOSE)
        shifted = [value + 2.5 for value in expected]
        np.testing.assert_allclose(f.shift(2.5).table().values, shifted, **CLOSE)


@each_family
@each_seed
def test_range_holds_every_value(name: str, seed: int) -> None:
    """The certified range is never left."""
    f, definition = instance(name, seed)
    lo, hi = f.range()
    values = [definition(s) for s in families.subsets(N)]
    slack = 1e-9 * (1 + abs(lo) + abs(hi))
    assert lo - slack <= min(values)
    assert max(values) <= hi + slack


@each_family
def test_family_is_submodular(name: str) -> None:
    """Every shipped family passes the exact check."""
    f, _ = instance(name, 0)
    check = is_submodular(f)
    assert check
    assert check.exact


@each_family
def test_json_restores_the_function_exactly(name: str) -> None:
    """to_dict survives JSON text and gives bit-identical values; code cannot be written."""
    f, _ = instance(name, 1)
    if isinstance(f, FromCallable):
        with pytest.raises(DiscreetError, match="cannot be written as JSON"):
            f.to_dict()
        return
    back = SetFunction.from_dict(json.loads(json.dumps(f.to_dict())))
    assert type(back) is type(f)
    assert back.to_dict() == f.to_dict()
    np.testing.assert_array_equal(back.table().values, f.table().values)
    assert type(f).from_dict(f.to_dict()).n == f.n


@each_family
def test_integer_valued_is_never_claimed_in_vain(name: str) -> None:
    """Where integer_valued is true, all values are whole."""
    f, _ = instance(name, 2)
    values = f.table().values
    assert not f.integer_valued or np.all(values == np.rint(values))


@each_family
def test_functions_of_no_and_one_item_work(name: str) -> None:
    """The smallest ground sets are no special case."""
    for n in (0, 1):
        f, definition = instance(name, 0, n)
        assert f.n == n
        expected = [definition(frozenset(range(k))) for k in range(n + 1)]
        np.testing.assert_allclose(f.chain_values(range(n)), expected)


@each_family
@pytest.mark.parametrize(
    ("subset", "message"),
    [
        ([N], f"from 0 to {N - 1}"),
        ([-1], "from 0 to"),
        ([0.5], "whole numbers"),
        ([True, False], f"must have length {N}"),
        ("01", "iterable of indices or a boolean mask"),
        (3, "iterable of indices or a boolean mask"),
    ],
)
def test_bad_subsets_are_named(name: str, subset: object, message: str) -> None:
    """A wrong subset is refused by the name of the argument, with what is wanted."""
    f, _ = instance(name, 0)
    with pytest.raises(DiscreetError, match=message) as caught:
        f(subset)  # type: ignore[arg-type]
    assert isinstance(caught.value, ValueError | TypeError)
    assert "'subset'" in str(caught.value)


@each_family
@pytest.mark.parametrize("order", [[0] * N, list(range(N - 1)), list(range(1, N + 1)), [0, 1, 1, 2, 3, 4]])
def test_bad_orders_are_named(name: str, order: list[int]) -> None:
    """An order must list each item once."""
    f, _ = instance(name, 0)
    with pytest.raises(DiscreetError, match="'order'"):
        f.chain_values(order)


def test_unknown_descriptions_are_refused() -> None:
    """A description of something unknown, incomplete or foreign is a clear error."""
    with pytest.raises(DiscreetError, match="No set function is called 'Nope'"):
        SetFunction.from_dict({"kind": "Nope"})
    with pytest.raises(DiscreetError, match="mapping with a 'kind'"):
        SetFunction.from_dict({"weights": [1]})
    with pytest.raises(DiscreetError, match="does not fit"):
        SetFunction.from_dict({"kind": "Modular", "heights": [1]})
    with pytest.raises(DiscreetError, match="describes no Cut"):
        Cut.from_dict({"kind": "Modular", "weights": [1]})
    with pytest.raises(DiscreetError):
        SetFunction.from_dict({"kind": "Sum", "functions": 3})
    with pytest.raises(KeyError):
        SetFunction.from_dict({"kind": "_Derived"})


def test_a_users_family_joins_the_registry() -> None:
    """A subclass outside the package gets JSON, algebra and chains by the same interface."""

    class Flat(SetFunction):
        def __init__(self, n: int) -> None:
            self.n = n

        def range(self) -> tuple[float, float]:
            return 1.0, 1.0

        def _value(self, mask: np.ndarray) -> float:
            return 1.0

        def _chain(self, order: np.ndarray) -> np.ndarray:
            return np.ones(self.n + 1)

        def _fields(self) -> dict[str, int]:
            return {"n": self.n}

    back = SetFunction.from_dict(Flat(3).to_dict())
    assert isinstance(back, Flat)
    assert (2 * back).shift(1)([0]) == 3.0


def test_a_users_chain_of_the_wrong_length_is_refused() -> None:
    """Compiled code trusts the length, so it is checked where the chain is made."""

    class Short(SetFunction):
        n = 3

        def range(self) -> tuple[float, float]:
            return 0.0, 1.0

        def _value(self, mask: np.ndarray) -> float:
            return 0.0

        def _chain(self, order: np.ndarray) -> np.ndarray:
            return np.zeros(1)

        def _fields(self) -> dict[str, int]:
            return {}

    with pytest.raises(DiscreetError, match="must give 4 floats"):
        Short().chain_values([0, 1, 2])
