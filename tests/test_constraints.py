"""Which sets are allowed: against the definition, for all sets of a few items."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet import BanditLearner, FullInformationLearner
from discreet.checks import BoolArray
from discreet.constraints import MOST_ITEMS_LISTED, Constraints
from discreet.errors import InvalidArgument

N = 6
EVERY: BoolArray = (np.arange(1 << N)[:, None] >> np.arange(N)) & 1 == 1


@st.composite
def arguments(draw: st.DrawFn) -> dict[str, Any]:
    groups: list[list[int]] = [[], [], []]
    for item in range(N):
        groups[draw(st.integers(0, 2))].append(item)
    some = st.sets(st.integers(0, N - 1), max_size=2)
    return {
        "at_most": draw(st.integers(0, N)),
        "at_least": draw(st.integers(0, N)),
        "required": draw(some),
        "forbidden": draw(some),
        "groups": groups[: draw(st.integers(0, 2))],
    }


def allowed(chosen: set[int], given: dict[str, Any]) -> bool:
    """By the definition."""
    return (
        given["at_least"] <= len(chosen) <= given["at_most"]
        and given["required"] <= chosen
        and not given["forbidden"] & chosen
        and all(len(chosen & set(group)) <= 1 for group in given["groups"])
    )


def made(given: dict[str, Any]) -> tuple[Constraints | None, BoolArray]:
    """What is made of the arguments, and which sets are allowed by the definition."""
    right = np.array([allowed(set(np.flatnonzero(row).tolist()), given) for row in EVERY])
    if not right.any():
        with pytest.raises(InvalidArgument, match=r"nothing to choose|at_least"):
            Constraints.of("test", range(N), **given)
        return None, right
    return Constraints.of("test", range(N), **given), right


@given(arguments(), st.integers(0, 2**32))
def test_allowed_sets_are_those_of_the_definition(given: dict[str, Any], seed: int) -> None:
    """They are told apart, counted and listed; changes and repairs lead to them alone, and to all of them."""
    constraints, right = made(given)
    if constraints is None:
        return
    assert constraints.allows(EVERY).tolist() == right.tolist()
    assert constraints.count == right.sum()
    assert constraints.listed().tolist() == EVERY[right].tolist()
    flips = constraints.may_flip(EVERY[right])
    for row, may in zip(EVERY[right], flips, strict=True):
        for item in range(N):
            other = row.copy()
            other[item] ^= True
            assert may[item] == constraints.allows(other[None])[0]
    repaired = constraints.repaired(EVERY, np.random.default_rng(seed).random(EVERY.shape))
    assert constraints.allows(repaired).all()
    assert repaired[right].tolist() == EVERY[right].tolist()


def test_wanted_items_come_before_others() -> None:
    constraints = Constraints.of("test", range(4), at_most=2, at_least=1)
    assert constraints is not None
    wanted = np.array([[True, True, True, False], [False, False, False, False]])
    preference = np.array([[3.0, 1.0, 2.0, 0.0], [3.0, 1.0, 2.0, 0.0]])
    assert constraints.repaired(wanted, preference).astype(int).tolist() == [[0, 1, 1, 0], [0, 0, 0, 1]]


def test_some_items_may_be_unavailable() -> None:
    constraints = Constraints.of("test", "abcd", at_least=1, required=["a"])
    assert constraints is not None
    among = constraints.among("test", np.array([0, 1]))
    assert (constraints.count, among.count, constraints.among("test", None)) == (8, 2, constraints)
    with pytest.raises(InvalidArgument, match="required"):
        constraints.among("test", np.array([1, 2]))
    with pytest.raises(InvalidArgument, match="nothing to choose"):
        Constraints(4, 4, at_least=2).among("test", np.array([1]))


def test_no_constraints_are_none() -> None:
    assert Constraints.of("test", range(3), at_most=3, at_least=0, groups=[]) is None


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ({"at_most": 5}, "from 0 to 4"),
        ({"at_least": 3, "at_most": 2}, "from 0 to 2"),
        ({"required": ["e"]}, "Got .'e'. instead"),
        ({"required": ["a"], "forbidden": ["a"]}, "nothing to choose"),
        ({"forbidden": 3}, "iterable"),
        ({"groups": [["a", "b"], ["b", "c"]]}, "overlap"),
        ({"groups": [["a", "b"]], "required": ["a", "b"]}, "nothing to choose"),
        ({"groups": [["a", "b", "c", "d"]], "at_least": 2}, "nothing to choose"),
        ({"groups": ["ab"]}, "iterable"),
    ],
)
def test_what_cannot_be_kept_is_refused(given: dict[str, Any], problem: str) -> None:
    with pytest.raises(InvalidArgument, match=problem):
        Constraints.of("test", ["a", "b", "c", "d"], **given)


def test_sets_of_many_items_are_not_listed() -> None:
    assert len(Constraints(MOST_ITEMS_LISTED, at_most=1).listed()) == MOST_ITEMS_LISTED + 1
    with pytest.raises(InvalidArgument, match="listed"):
        Constraints(MOST_ITEMS_LISTED + 1, at_most=1).listed()


def test_thousands_of_items_are_refused_before_any_work() -> None:
    """Whether an allowed set exists follows from counts; with more than 62 items no sets are counted."""
    names = [f"item{i}" for i in range(8000)]
    pairs = [names[i : i + 2] for i in range(0, 8000, 2)]
    made = Constraints.of("minimize", names, groups=pairs, required=names[:1], at_least=4000)
    assert made is not None
    with pytest.raises(InvalidArgument, match="No set keeps to all constraints"):
        Constraints.of("minimize", names, groups=pairs, required=names[:1], at_least=4001)
    with pytest.raises(InvalidArgument, match=r"at most 64 items\. Got 8000 items"):
        BanditLearner(names, 1.0, (0, 1), groups=pairs)
    with pytest.raises(InvalidArgument, match="does not fit 8000 items"):
        FullInformationLearner(names, 1.0, (0, 1), groups=pairs)
