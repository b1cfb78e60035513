"""Anything in the place of a named environment: streams, functions, tables, functions that make them."""

import itertools
import pathlib
import sys
from collections.abc import Callable, Iterator

import numpy as np
import pytest

from discreet import BanditLearner, DiscreetError, FullInformationLearner, simulate
from discreet.baselines import FixedSet, RandomSet
from discreet.environments import (
    Environment,
    FunctionStream,
    Stream,
    adaptive_adversary,
    as_environment,
    check_stream,
    modular,
)
from discreet.environments.custom import has_size
from discreet.environments.signed_items import SignedItemStream
from discreet.set_functions import Modular, SetFunction, Table

ITEMS = ("tea", "milk")
#: Of the sets {}, {tea}, {milk}, {tea, milk}.
COSTS = [0.0, -0.5, 0.5, 0.25]


def cheap_tea(chosen: frozenset[str]) -> float:
    return COSTS[("tea" in chosen) + 2 * ("milk" in chosen)]


def endless() -> Iterator[SetFunction]:
    """Fails if it is read too far."""
    yield from itertools.repeat(Table(COSTS), 20)
    raise AssertionError("read beyond what is played")


def random_prices(n: int, rounds: int, seed: int, high: float = 1.0) -> Iterator[SetFunction]:
    rng = np.random.default_rng(seed)
    return (Modular(rng.uniform(0, high, n)) for _ in range(rounds))


random_prices.cost_range = (0.0, 8.0)  # type: ignore[attr-defined]


class Queue:
    """Duck-typed: nothing of this package."""

    n, cost_range = 2, (-1.0, 1.0)

    def __init__(self, rounds: int, seed: int) -> None:
        self.rounds = rounds

    def functions(self) -> list[Callable[[frozenset[int]], float]]:
        return [lambda chosen: 0.5 * len(chosen)] * self.rounds


@pytest.mark.parametrize(
    "given",
    [
        [Table(COSTS)] * 20,
        [cheap_tea] * 20,
        FunctionStream([Table(COSTS)] * 20),
        endless(),
        np.tile(COSTS, (20, 1)),
        np.tile(COSTS, (20, 1)).tolist(),
        {(): 0.0, ("tea",): -0.5, ("milk",): 0.5, frozenset(ITEMS): 0.25},
        {(): [0.0] * 20, ("tea",): [-0.5] * 20, ("milk",): np.full(20, 0.5), ITEMS: [0.25] * 20},
        lambda: [Table(COSTS)] * 20,
        lambda n, rounds: itertools.repeat(Table(COSTS), rounds),
        lambda seed: [cheap_tea] * 20,
        Environment("own", lambda rounds, seed: FunctionStream([Table(COSTS)] * rounds), ITEMS, (-0.5, 0.5)),
        lambda n: Environment(
            "own", lambda rounds, seed: FunctionStream([Table(COSTS)] * rounds), ITEMS, (-1, 1)
        ),
    ],
    ids=[
        "set functions",
        "callables",
        "stream",
        "endless generator",
        "array",
        "lists",
        "mapping of costs",
        "mapping of columns",
        "function",
        "function of rounds",
        "function of the seed",
        "environment",
        "function that returns an environment",
    ],
)
def test_all_forms_give_the_same_costs(given: object) -> None:
    """Twenty rounds of one function, told in full and as one number."""
    environment = as_environment(given, items=ITEMS, rounds=20)  # type: ignore[arg-type]
    stream = environment.stream(20, seed=0)
    assert (environment.items, environment.n, stream.rounds) == (ITEMS, 2, 20)
    check_stream(stream)
    assert [stream.total(taken) for taken in ([], [0], [1], [0, 1])] == [20 * cost for cost in COSTS]
    for learner in (BanditLearner(ITEMS, 1.0, (-1, 1)), FullInformationLearner(ITEMS, 1.0, (-1, 1))):
        expected = simulate([Table(COSTS)] * 20, learner, seeds=2)
        trace = simulate(environment, learner, rounds=20, seeds=2)
        np.testing.assert_array_equal(trace.cost, expected.cost)


def test_simulate_takes_names() -> None:
    """With as many items as the learner has."""
    learner = RandomSet(5)
    trace = simulate("modular", learner, rounds=50, seeds=2)
    np.testing.assert_array_equal(trace.cost, simulate(modular(5), learner, rounds=50, seeds=2).cost)
    assert (trace.environment, trace.items) == ("modular", tuple(range(5)))
    with pytest.raises(DiscreetError, match="Did you mean 'modular'"):
        simulate("modula", learner, rounds=50)
    with pytest.raises(DiscreetError, match="4 items, the learner 5"):
        simulate(modular(4), learner, rounds=50)


def test_an_endless_generator_needs_rounds() -> None:
    """And no more than these are read; a finite one may be too short."""
    assert simulate(endless(), FixedSet(2, [0]), rounds=20, seeds=3).cost[:, -1].tolist() == [-10.0] * 3
    with pytest.raises(DiscreetError, match="generator may never end: give 'rounds', or a list"):
        simulate(endless(), RandomSet(2))
    with pytest.raises(DiscreetError, match=r"'rounds' of FunctionStream must be .* from 1 to 3. Got 4"):
        simulate(itertools.repeat(Table(COSTS), 3), RandomSet(2), rounds=4)


def test_one_function_for_all_rounds_needs_their_number() -> None:
    """There is no end to it."""
    for given in (Table(COSTS), cheap_tea):
        assert as_environment(given, items=ITEMS, rounds=9).stream(9).total([0]) == -4.5
        with pytest.raises(DiscreetError, match="give 'rounds'"):
            as_environment(given, items=ITEMS)


def test_functions_get_the_seed() -> None:
    """Streams differ by seed, and equal those that are made by hand."""
    environment = as_environment(random_prices, items=range(3), rounds=30, parameters={"high": 2.0})
    assert (environment.name, environment.cost_range) == ("random_prices", (0.0, 8.0))
    assert environment.parameters == {"high": 2.0}
    for seed in (0, 4):
        expected = [f([0, 2]) for f in random_prices(3, 30, seed, 2.0)]
        assert [f([0, 2]) for f in environment.stream(30, seed)] == expected


def test_ranges_that_depend_on_the_seed_must_be_declared() -> None:
    """Else the learner's range would depend on the run."""

    def prices(rounds: int, seed: int) -> list[SetFunction]:
        return [Modular([1.0 + seed, 0.0])] * rounds

    environment = as_environment(prices, rounds=5)
    assert environment.stream(5, seed=0).cost_range == environment.cost_range == (0.0, 1.0)
    with pytest.raises(DiscreetError, match=r"in \[0, 3\] with seed 2. Set prices.cost_range"):
        environment.stream(5, seed=2)


def test_classes_make_streams() -> None:
    """Those of this package, and any with `functions`."""
    queue = as_environment(Queue, rounds=10)
    assert (queue.items, queue.cost_range, queue.stream(10, 3).total([0, 1])) == ((0, 1), (-1.0, 1.0), 10.0)
    assert as_environment(Queue(7, 0)).stream(7).total([0]) == 3.5

    class Alternating(SignedItemStream):
        def __init__(self, rounds: int, seed: int) -> None:
            super().__init__(2, np.arange(rounds) % 2, np.ones(rounds, dtype=np.int64))

    stream = as_environment(Alternating, rounds=8).stream(8, seed=1)
    assert isinstance(stream, Alternating)
    assert stream.total([0]) == 0.0


def test_an_adaptive_stream_is_copied_for_each_run() -> None:
    """Seeds side by side must not share what it remembers."""
    stream = adaptive_adversary(3).stream(40)
    environment = as_environment(stream)
    assert environment.stream(40) is not environment.stream(40)
    assert simulate(stream, FixedSet(3, [0]), seeds=3).cost[:, -1].tolist() == [40.0] * 3


def test_many_items_need_a_range() -> None:
    """Then Python functions need not be tabulated."""

    class Basket(list):  # type: ignore[type-arg]
        cost_range = (0.0, 1.0)

    functions = [lambda chosen: len(chosen) / 30] * 5
    stream = as_environment(Basket(functions), items=range(30)).stream(5)
    assert stream.total(range(15)) == pytest.approx(2.5)
    with pytest.raises(DiscreetError, match="more than 12 items need a range"):
        as_environment(functions, items=range(30))
    with pytest.raises(DiscreetError, match="number of items of Python functions is not known"):
        as_environment(functions)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (7, "'environment' of simulate must be .* Got int"),
        ([1, 2], "set functions. Got int in round 1"),
        (np.zeros((3, 5)), r"2\^n columns. Got shape \(3, 5\)"),
        (np.zeros(4), "must be a matrix"),
        ({0: 1.0, 1: 2.0}, "keys .* must be sets of items"),
        ({(): 1.0, ("tea",): 2.0}, "for 2 items must have 4 sets. Got 2"),
        ({(): 0, ("tea",): 0, ("jam",): 0, ITEMS: 0}, r"no cost for the set \['milk'\]"),
        ({(): [0], ("tea",): [0, 1], ("milk",): [0], ITEMS: [0]}, "'environment' of simulate"),
        (lambda chosen, price: 0.0, "needs the parameter 'chosen'"),
        (lambda chosen: 1 / 0, "Calling <lambda> failed: ZeroDivisionError"),
        (lambda n: 1 / 0, "Calling <lambda> failed: ZeroDivisionError: division by zero."),
        (lambda n: (1 / 0 for _ in range(3)), "Calling <lambda> failed: ZeroDivisionError"),
        (lambda seed: modular(2), "Got Environment"),
        (lambda seed: [Table(COSTS)] * (9 - seed), "gives 8 rounds with seed 1, not 9"),
        (Environment("own", lambda rounds, seed: endless(), ITEMS, (0, 1), rewards=True), "maximize=True"),  # type: ignore[arg-type,return-value]
    ],
)
def test_what_is_wrong_is_named(given: object, message: str) -> None:
    """In one line."""
    with pytest.raises(DiscreetError, match=message) as caught:
        as_environment(given, items=ITEMS, rounds=9).stream(9, seed=1)  # type: ignore[arg-type]
    assert "\n" not in str(caught.value)


@pytest.fixture
def own_module(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A module in the working directory, with a name that no other test uses."""
    name = f"own_{tmp_path.name.replace('-', '_')}"
    (tmp_path / f"{name}.py").write_text(
        "from discreet.environments import modular\n"
        "ready = modular(3)\n"
        "short = modular(3).stream(7)\n"
        "def prices(n, rounds, seed, scale=1.0):\n"
        "    for t in range(rounds):\n"
        "        yield lambda chosen: scale * len(chosen) / n\n"
        "prices.cost_range = (0, 2)\n"
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", sys.path.copy())
    return name


def test_a_module_in_the_working_directory(own_module: str) -> None:
    """An environment, a stream, or a function in plain Python."""
    prices = as_environment(f"{own_module}:prices", items=range(4), rounds=5, parameters={"scale": 2.0})
    assert prices.name == f"{own_module}:prices"
    assert prices.stream(5, seed=3).total([0, 1]) == 5.0
    ready, short = (as_environment(f"{own_module}:{name}") for name in ("ready", "short"))
    assert (ready.name, ready.n) == ("modular", 3)
    assert (short.name, short.most_rounds) == (f"{own_module}:short", 7)
    assert [has_size(f"{own_module}:{name}") for name in ("prices", "ready")] == [True, False]
    trace = simulate(f"{own_module}:prices", RandomSet(4), rounds=5, seeds=2)
    assert trace.environment == f"{own_module}:prices"


def test_errors_about_modules(own_module: str, tmp_path: pathlib.Path) -> None:
    """Missing, broken, or with wrong parameters."""
    (tmp_path / f"{own_module}_broken.py").write_text("1 / 0\n")
    for name, parameters, message in (
        ("nowhere_at_all:x", {}, "Cannot find nowhere_at_all:x: No module named"),
        (f"{own_module}:nothing", {}, f"Cannot find {own_module}:nothing: .*no attribute"),
        (f"{own_module}_broken:x", {}, "Importing .* failed: ZeroDivisionError: division by zero."),
        (":x", {}, "is written MODULE:NAME"),
        (f"{own_module}:prices", {"gap": 1}, "no parameter 'gap'. It has: n, rounds, seed, scale."),
        (f"{own_module}:ready", {"gap": 1}, "no parameter 'gap'. It has none."),
    ):
        with pytest.raises(DiscreetError, match=message) as caught:
            as_environment(name, items=range(3), rounds=5, parameters=parameters)
        assert "\n" not in str(caught.value)
    with pytest.raises(DiscreetError, match="prices is a function of the number of rounds: give 'rounds'"):
        as_environment(f"{own_module}:prices", items=range(3))
    with pytest.raises(DiscreetError, match="needs the parameter 'n'"):
        as_environment(f"{own_module}:prices", rounds=5)


def test_streams_are_not_converted() -> None:
    """What is an environment or a stream stays the very object."""
    environment = modular(3)
    assert as_environment(environment) is environment
    stream: Stream = environment.stream(4)
    assert as_environment(stream).stream(4) is stream
