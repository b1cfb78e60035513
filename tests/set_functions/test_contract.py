"""What every family of set functions promises, checked against slow definitions on all subsets."""

import json

import numpy as np
import pytest

import families
from discreet import DiscreetError
from discreet.set_functions import Cut, FromCallable, Iwata, SetFunction, is_submodular

N = 6
CLOSE = {"rtol": 1e-9, "atol": 1e-9}

each_family = pytest.mark.parametrize("name", families.FAMILIES)


def instance(name: str, seed: int, n: int = N) -> families.Instance:
    return families.FAMILIES[name](n, np.random.default_rng(seed))


def test_a_set_may_be_given_as_indices_or_as_a_mask() -> None:
    """Any iterable of indices, a list of booleans, a boolean array."""
    f, definition = instance("cut", 0)
    for s in families.subsets(N):
        mask = [i in s for i in range(N)]
        for given in (s, sorted(s), iter(s), mask, np.array(mask)):
            assert f(given) == pytest.approx(definition(s), rel=1e-9, abs=1e-9)


@each_family
@pytest.mark.parametrize("n", [0, 1, N])
def test_values_tables_chains_and_ranges_follow_the_definition(name: str, n: int) -> None:
    """Every subset and every prefix has the value of the slow definition, within the certified range."""
    for seed in range(3):
        f, definition = instance(name, seed, n)
        expected = [definition(s) for s in families.subsets(n)]
        np.testing.assert_allclose([f(s) for s in families.subsets(n)], expected, **CLOSE)
        np.testing.assert_allclose(f.table().values, expected, **CLOSE)
        order = np.random.default_rng(seed).permutation(n)
        prefixes = [definition(frozenset(order[:k].tolist())) for k in range(n + 1)]
        np.testing.assert_allclose(f.chain_values(order), prefixes, **CLOSE)
        lo, hi = f.range()
        slack = 1e-9 * (1 + abs(lo) + abs(hi))
        assert lo - slack <= min(expected)
        assert max(expected) <= hi + slack


@each_family
def test_family_is_submodular(name: str) -> None:
    """Every shipped family passes the exact check; where it claims to have integer values, it has."""
    f, _ = instance(name, 0)
    check = is_submodular(f)
    assert check
    assert check.exact
    values = f.table().values
    assert not f.integer_valued or np.all(values == np.rint(values))


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


@pytest.mark.parametrize("subset", [[N], [-1], [0.5], [True, False], "01", 3])
def test_bad_subsets_are_refused(subset: object) -> None:
    """Items out of range, masks of another length, and what is neither; the message names the argument."""
    with pytest.raises(DiscreetError, match="'subset'") as caught:
        Iwata(N)(subset)  # type: ignore[arg-type]
    assert isinstance(caught.value, ValueError | TypeError)


@pytest.mark.parametrize("order", [[0] * N, list(range(N - 1)), list(range(1, N + 1)), [0, 1, 1, 2, 3, 4]])
def test_bad_orders_are_refused(order: list[int]) -> None:
    """An order must list each item once."""
    with pytest.raises(DiscreetError, match="'order'"):
        Iwata(N).chain_values(order)


def test_unknown_descriptions_are_refused() -> None:
    """A description of something unknown, incomplete or foreign is a clear error."""
    with pytest.raises(DiscreetError, match="No set function is called 'Nope'"):
        SetFunction.from_dict({"kind": "Nope"})
    with pytest.raises(DiscreetError, match="mapping with a 'kind'"):
        SetFunction.from_dict({"weights": [1]})
    with pytest.raises(DiscreetError, match="do not fit"):
        SetFunction.from_dict({"kind": "Modular", "heights": [1]})
    with pytest.raises(DiscreetError, match="does not describe a Cut"):
        Cut.from_dict({"kind": "Modular", "weights": [1]})
    with pytest.raises(DiscreetError):
        SetFunction.from_dict({"kind": "Sum", "functions": 3})
    with pytest.raises(KeyError):
        SetFunction.from_dict({"kind": "_Derived"})


def test_a_users_family_joins_the_registry() -> None:
    """A subclass outside the package gets JSON and algebra: its fields are its constructor's arguments."""

    class Flat(SetFunction):
        def __init__(self, n: int) -> None:
            self.n = n

        def range(self) -> tuple[float, float]:
            return 1.0, 1.0

        def _value(self, mask: np.ndarray) -> float:
            return 1.0

        def _chain(self, order: np.ndarray) -> np.ndarray:
            return np.ones(self.n + 1)

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

    with pytest.raises(DiscreetError, match="must give 4 floats"):
        Short().chain_values([0, 1, 2])
