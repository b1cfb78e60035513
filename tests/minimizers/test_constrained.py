"""discreet.minimize with constraints: against brute force, exact where it says so, bounds that hold."""

import itertools
import math
import pathlib
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import families
from commands import run
from discreet import DiscreetError, minimize
from discreet.minimizers import constrained
from discreet.set_functions import (
    ConcaveOfCardinality,
    Coverage,
    Cut,
    FacilityLocation,
    FromCallable,
    Iwata,
    Modular,
    SetFunction,
    Table,
)

N = 6
names = st.sampled_from(sorted(families.FAMILIES))
seeds = st.integers(0, 10**6)


def allowed(given: dict[str, Any], n: int = N) -> list[frozenset[int]]:
    """All sets that keep to the constraints, by their definition."""
    sets = (frozenset(some) for size in range(n + 1) for some in itertools.combinations(range(n), size))
    return [
        s
        for s in sets
        if given.get("at_least", 0) <= len(s) <= given.get("at_most", n)
        and set(given.get("required", ())) <= s
        and not s & set(given.get("forbidden", ()))
        and all(len(s & set(group)) <= 1 for group in given.get("groups", ()))
    ]


def drawn(rng: np.random.Generator) -> dict[str, Any]:
    """Some constraints, of which there may be no allowed set."""
    p = rng.permutation(N).tolist()
    every = {
        "at_most": int(rng.integers(1, N)),
        "at_least": int(rng.integers(0, 3)),
        "required": p[:1],
        "forbidden": p[1:2],
        "groups": [p[2:4], [p[0], p[4]]],
    }
    return {name: value for name, value in every.items() if rng.random() < 0.5}


def assert_right(f: SetFunction, given: dict[str, Any], **options: Any) -> Any:
    """The set is allowed and attains the value, the bound holds, and what is certified is the least."""
    sets = allowed(given)
    if not sets:
        with pytest.raises(DiscreetError, match=r"No set keeps to all|'at_least' of minimize"):
            minimize(f, **given, **options)
        return None
    least = min(f(s) for s in sets)
    slack = 1e-8 * (1 + abs(least))
    found = minimize(f, **given, **options)
    assert found.set in sets
    assert found.value == pytest.approx(f(found.set), abs=1e-12)
    assert least - slack <= found.value
    assert found.lower_bound <= min(least, found.value) + slack
    if found.certified:
        assert found.value == pytest.approx(least, abs=slack)
    return found


@settings(max_examples=120, deadline=None)
@given(names, seeds, st.booleans())
def test_against_brute_force(name: str, seed: int, negated: bool) -> None:
    """Every family with prices, and its negative: with few sets the answer is exact."""
    rng = np.random.default_rng(seed)
    f = families.FAMILIES[name](N, rng)[0] + Modular(rng.normal(size=N))
    found = assert_right(-f if negated else f, drawn(rng))
    assert found is None or found.certified


@settings(max_examples=120, deadline=None)
@given(names, seeds, st.booleans())
def test_bounds_hold_where_sets_are_not_compared(name: str, seed: int, negated: bool) -> None:
    """The same, as if there were too many sets."""
    rng = np.random.default_rng(seed)
    f = families.FAMILIES[name](N, rng)[0] + Modular(rng.normal(size=N))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(constrained, "FEW_SETS", 0)
        patch.setattr(constrained, "MOST_SETS", 0)
        found = assert_right(-f if negated else f, drawn(rng))
    assert found is None or not found.assumes_submodular


@pytest.mark.parametrize(
    ("given", "method"),
    [
        ({"required": [3], "forbidden": [0]}, "max-flow"),
        ({"required": range(60)}, "closed form"),
        ({"required": [3], "groups": [[3, 4], [0, 5]], "forbidden": [5]}, "max-flow"),
    ],
)
def test_fixed_items_leave_the_method_as_it_is(given: dict[str, Any], method: str) -> None:
    """They are contracted and restricted; a group with a required or one free item asks for no more."""
    rng = np.random.default_rng(1)
    f = Cut(rng.random((60, 60)), rng.normal(size=60) * 20)
    found = minimize(f, **given)
    assert (found.method, found.certified) == (method, True)
    assert set(given["required"]) <= found.set
    assert found.value == pytest.approx(f(found.set))


def test_weights_and_sizes_are_exact_for_any_number_of_items() -> None:
    """Modular functions, and those of the size on top: the best set of each size, with groups."""
    weights = np.linspace(-1, 1, 500)
    found = minimize(Modular(weights), at_most=30, groups=[[0, 1], [2, 499]])
    assert found.set == {0, *range(2, 31)}
    assert (found.method, found.certified) == ("closed form", True)
    assert len(minimize(Modular(weights), at_least=400).set) == 400
    sizes = np.arange(501.0)
    shared = minimize(Modular(weights) + ConcaveOfCardinality(np.sqrt(sizes)), at_most=40)
    assert shared.set == frozenset(range(40))
    for n in range(1, 8):
        for k in range(n + 1):
            assert minimize(Iwata(n), at_most=k).value == min(Iwata(n)(s) for s in allowed({"at_most": k}, n))


def test_multipliers_certify_what_cannot_be_enumerated() -> None:
    """Sixty items: the bound is within a few percent, and better than that of all sets."""
    rng = np.random.default_rng(2)
    f = Cut(0.1 * rng.random((60, 60)) * (rng.random((60, 60)) < 0.1), rng.normal(size=60) - 0.5)
    whole = minimize(f)
    size = len(whole.set) // 2
    found = minimize(f, at_most=size)
    assert (found.method, len(found.set) <= size) == ("multipliers", True)
    assert whole.value < found.lower_bound <= found.value
    assert found.gap < 0.05 * abs(found.value)
    groups = [list(range(k, k + 3)) for k in range(0, 60, 3)]
    chosen = minimize(f, groups=groups, at_least=5)
    assert all(len(chosen.set & set(group)) <= 1 for group in groups)
    assert whole.value < chosen.lower_bound <= chosen.value
    assert chosen.gap < 0.3 * abs(chosen.value)


def test_rewards_with_diminishing_returns_have_a_bound() -> None:
    """Of a coverage to be maximised: between its greedy set and what its items could add to that."""
    rng = np.random.default_rng(3)
    worth = Coverage([rng.choice(200, 12, replace=False) for _ in range(80)], rng.random(200))
    found = minimize(-worth, at_most=10)
    assert (found.method, found.stopped, len(found.set)) == ("greedy", "stalled", 10)
    assert 1.0 < found.lower_bound / found.value < 1.6
    few = FacilityLocation(np.eye(40))
    assert minimize(-few, at_most=3).certified  # each item serves one client: nothing is shared


def test_of_unknown_functions_nothing_is_assumed() -> None:
    """Unless a method says so."""
    f = FromCallable(lambda s: -math.sqrt(len(s)) + 0.1 * len(s), 30, value_range=(-2, 3))
    found = minimize(f, at_most=14)
    assert (found.method, found.lower_bound, found.assumes_submodular) == ("greedy", -math.inf, False)
    convex = FromCallable(lambda s: math.sqrt(len(s)) - 0.4 * len(s), 30, value_range=(-7, 1))
    named = minimize(convex, at_most=14, method="minimum-norm point")
    assert named.assumes_submodular
    assert math.isfinite(named.lower_bound)


def test_integers_are_solved_when_the_gap_is_below_one() -> None:
    """As without constraints."""
    rng = np.random.default_rng(5)
    f = Cut(rng.integers(0, 3, (25, 25)), rng.integers(-30, 10, 25))
    whole = minimize(f)
    found = minimize(f, at_most=len(whole.set))
    assert (found.set, found.stopped, found.lower_bound) == (whole.set, "optimal", whole.value)


def test_enumeration_on_request() -> None:
    """Of the allowed sets, unless there are too many; other methods do not apply to all functions."""
    table = Table(np.random.default_rng(4).normal(size=2**10))
    found = minimize(table, at_most=2, method="enumeration")
    assert (found.method, found.iterations) == ("enumeration", 1 + 10 + 45)
    with pytest.raises(DiscreetError, match="too many to enumerate"):
        minimize(Iwata(40), at_most=10, method="enumeration")
    with pytest.raises(DiscreetError, match="'closed form' does not apply"):
        minimize(table, at_most=2, method="closed form")
    with pytest.raises(DiscreetError, match="'max-flow' does not apply"):
        minimize(table, at_most=2, method="max-flow")


def test_a_time_limit_holds_for_all_of_it() -> None:
    """What was found until then is returned, with its bound."""
    rng = np.random.default_rng(6)
    f = Cut(rng.random((150, 150)), rng.normal(size=150) * 30)
    groups = [[k, k + 1] for k in range(0, 150, 2)]
    found = minimize(f, groups=groups, time_limit=1e-3)
    assert found.stopped == "time limit"
    assert found.lower_bound <= found.value == pytest.approx(f(found.set))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"at_most": 9}, "'at_most' of minimize must be an integer from 0 to 6"),
        ({"required": [7]}, "'required' of minimize must be"),
        ({"groups": [[0, 1], [1, 2]]}, "'groups' of minimize must not overlap"),
        ({"required": [1], "forbidden": [1]}, "No set keeps to all constraints"),
    ],
)
def test_wrong_constraints_are_named(given: dict[str, Any], message: str) -> None:
    """In the words of the constraint."""
    with pytest.raises(DiscreetError, match=message):
        minimize(Iwata(N), **given)


def test_on_the_command_line(capsys: pytest.CaptureFixture[str], tmp_path: pathlib.Path) -> None:
    """Sizes, and items that must or must not be there."""
    file = tmp_path / "f.json"
    file.write_text('{"kind": "Modular", "weights": [1, -2, 3, -5]}')
    code, out, _ = run(capsys, "minimize", str(file), "--at-most", "2", "--required", "0", "--forbidden", "1")
    assert code == 0
    assert "set    [0, 3]" in out
