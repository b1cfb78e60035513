"""Streams of set functions: the compiled form says the same as the functions."""

from collections.abc import Iterator

import numpy as np
import pytest

import families
from discreet import BanditLearner, FullInformationLearner, simulate
from discreet.environments import FunctionStream, check_stream, functions
from discreet.environments.functions import GroupRounds
from discreet.environments.stream import set_costs
from discreet.environments.tables import PoolStream
from discreet.set_functions import LogDeterminant, Modular, SetFunction, Sum, Table

N = 4
GROUPED = ["modular", "cut", "hypergraph_cut", "coverage", "bundles", "concave_of_cardinality"]


@pytest.fixture
def compiled_from_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """Short streams are compiled as well."""
    monkeypatch.setattr(functions, "FEWEST_COMPILED", 1)


def drawn(names: list[str], count: int = 20) -> list[SetFunction]:
    rng = np.random.default_rng(5)
    return [families.FAMILIES[names[k % len(names)]](N, rng)[0] for k in range(count)]


@pytest.mark.parametrize("name", GROUPED)
def test_the_group_form_is_the_function(name: str) -> None:
    """Written out for all sets; multiples of both signs and sums have one as well."""
    f = families.FAMILIES[name](N, np.random.default_rng(3))[0]
    for g in (f, 2.5 * f, -f, f + Modular([1.0, -2.0, 0.5, 0.0], constant=0.25), f.shift(3) + f):
        form = g.group_form()
        assert form is not None
        groups = [
            set(form.members[first:last]) for first, last in zip(form.starts, form.starts[1:], strict=False)
        ]
        sizes = np.broadcast_to(form.by_size, max(N + 1, form.by_size.size))
        for s in families.subsets(N):
            found = sizes[len(s)] + sum(form.prices[i] for i in s)
            found += sum(weight for group, weight in zip(groups, form.first, strict=True) if group & s)
            found += sum(weight for group, weight in zip(groups, form.last, strict=True) if group <= s)
            assert found == pytest.approx(g(s), abs=1e-9)


def test_others_have_none() -> None:
    """Nor has a sum with one of them."""
    f = LogDeterminant(np.eye(N))
    assert f.group_form() is (f + Modular(np.zeros(N))).group_form() is (2 * f).group_form() is None


@pytest.mark.usefixtures("compiled_from_one")
@pytest.mark.parametrize("names", [[name] for name in GROUPED] + [GROUPED])
def test_groups_are_played_by_compiled_code(names: list[str]) -> None:
    """Along chains, for one set and for all sets; totals are those of the functions."""
    listed = drawn(names)
    listed += [Sum(listed[:3]), listed[0], -listed[1]]
    stream = FunctionStream(listed)
    assert isinstance(stream.compiled, GroupRounds)
    assert len(stream.compiled.prices) == 22  # the repeated one is there once
    check_stream(stream)
    for t, function in enumerate(listed):
        costs = np.empty(2**N)
        set_costs(stream.compiled, t, np.zeros(N), np.zeros(N, dtype=np.int64), costs)
        np.testing.assert_allclose(costs, function.table().values, atol=1e-9)


@pytest.mark.usefixtures("compiled_from_one")
def test_tables_are_played_by_compiled_code() -> None:
    """Each different one is copied once."""
    table = Table(np.random.default_rng(1).random(2**N))
    stream = FunctionStream([table, Table(np.arange(2.0**N)), table, table])
    assert isinstance(stream.compiled, PoolStream)
    assert stream.compiled.choice.tolist() == [0, 1, 0, 0]
    check_stream(stream)


@pytest.mark.usefixtures("compiled_from_one")
def test_what_has_no_compiled_form_is_played_in_python(monkeypatch: pytest.MonkeyPatch) -> None:
    """Functions of other families, and what would need too much memory."""
    mixed = [Modular(np.ones(N)), LogDeterminant(np.eye(N))]
    assert FunctionStream(mixed).compiled is None
    monkeypatch.setattr(functions, "MOST_NUMBERS", 7)
    assert FunctionStream([Modular(np.ones(N)), Modular(np.zeros(N))]).compiled is None
    assert FunctionStream([Table(np.ones(2**N))]).compiled is None


@pytest.mark.usefixtures("compiled_from_one")
@pytest.mark.parametrize("whole", [False, True])
def test_compiled_or_not_makes_no_difference(whole: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """To a simulation."""
    make = FullInformationLearner if whole else BanditLearner
    learner = make(N, 1.0, (-20, 20))
    listed = drawn(GROUPED, 300)
    quick = simulate(FunctionStream(listed), learner, seeds=2)
    monkeypatch.setattr(functions, "FEWEST_COMPILED", 301)
    slow = simulate(FunctionStream(listed), learner, seeds=2)
    np.testing.assert_allclose(quick.cost, slow.cost, atol=1e-9)


def endless() -> Iterator[SetFunction]:
    while True:
        yield Modular([1.0])


def test_an_iterable_is_read_no_further_than_it_is_played() -> None:
    """A generator may never end."""
    assert FunctionStream(endless(), rounds=3).rounds == 3
