"""Named environments: what holds for all of them, and the errors for wrong names and parameters."""

import inspect

import pytest

from discreet import DiscreetError, minimize
from discreet.environments import ENVIRONMENTS, Environment, Stream, check_stream, find

#: Whose functions depend on what the learner does.
ADAPTIVE = {"adaptive-adversary"}
#: Whose best set is empty or full by design.
TRIVIAL = {"cuts", "substitutes", "switching"}
#: Whose items are not numbers from 0 to n - 1.
NAMED = {"checkout"}
#: Which need a file.
FROM_FILES = {"baskets", "costs", "invoices"}

each = pytest.mark.parametrize("name", sorted(set(ENVIRONMENTS) - FROM_FILES))


def costs_of(stream: Stream) -> list[float]:
    """What the first three items cost in each round."""
    return [f(range(3)) for f in stream]


@each
def test_it_is_what_it_says(name: str) -> None:
    """Its name, items, sentence and parameters; streams of the size asked for, within the range."""
    environment = find(name)
    assert isinstance(environment, Environment)
    assert environment.name == name
    assert len(set(environment.items)) == environment.n
    assert environment.about.endswith(".")
    assert set(environment.parameters) <= set(inspect.signature(ENVIRONMENTS[name]).parameters)
    assert environment.most_rounds is None
    if name not in NAMED:
        assert environment.items == tuple(range(8))
    stream = environment.stream(30, seed=1)
    assert (stream.n, stream.rounds) == (environment.n, 30)
    assert (
        environment.cost_range[0] <= stream.cost_range[0] < stream.cost_range[1] <= environment.cost_range[1]
    )
    check_stream(stream)


@each
def test_the_parameters_rebuild_it(name: str) -> None:
    """With the number of items they give the same streams."""
    environment = find(name)
    again = find(name, **environment.parameters, n=environment.n)
    assert again.items == environment.items
    if name not in ADAPTIVE:
        assert costs_of(again.stream(20, seed=3)) == costs_of(environment.stream(20, seed=3))


@pytest.mark.parametrize("name", sorted(set(ENVIRONMENTS) - FROM_FILES - ADAPTIVE))
def test_the_seed_decides(name: str) -> None:
    """The same seed gives the same functions, as does iterating twice; another seed gives others."""
    environment = find(name)
    stream = environment.stream(30, seed=1)
    assert costs_of(stream) == costs_of(stream) == costs_of(environment.stream(30, seed=1))
    assert costs_of(stream) != costs_of(environment.stream(30, seed=2))


@pytest.mark.parametrize("name", sorted(set(ENVIRONMENTS) - FROM_FILES - ADAPTIVE - TRIVIAL))
def test_its_best_set_is_neither_empty_nor_full(name: str) -> None:
    """Over 2^13 rounds, for three seeds."""
    environment = find(name)
    for seed in range(3):
        best = minimize(environment.stream(2**13, seed=seed).total)
        assert 0 < len(best.set) < environment.n


@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        *((name, {"n": 0}) for name in sorted(set(ENVIRONMENTS) - FROM_FILES)),
        *((name, {"n": 21}) for name in ("priced-cuts", "coverage", "switching", "flipping")),
        *((name, {"spread": -1}) for name in ("priced-cuts", "coverage")),
        *((name, {"functions": 0}) for name in ("priced-cuts", "coverage")),
        ("cuts", {"n": 1}),
        ("cuts", {"favoured": -0.1}),
        ("modular", {"gap": 1.5}),
        ("drifting", {"n": 1}),
        ("drifting", {"gap": 1.5}),
        ("drifting", {"turns": -1}),
        ("lower-bound", {"strength": 0}),
        ("priced-cuts", {"edge": 2}),
        ("priced-cuts", {"bias": float("inf")}),
        ("coverage", {"targets": 0}),
        ("coverage", {"covered": 2}),
        ("substitutes", {"size": 9}),
        ("substitutes", {"price": 1.5}),
        ("substitutes", {"customers": 0}),
        ("checkout", {"n": 1}),
        ("checkout", {"shop": -1}),
        ("checkout", {"price": 1.5}),
        ("checkout", {"popular": -1}),
        ("checkout", {"customers": 0}),
        ("flipping", {"period": 0}),
        ("flipping", {"other_bias": float("nan")}),
        ("groups-of-four", {"n": 3}),
        ("groups-of-four", {"price": 1.5}),
        ("groups-of-four", {"popular": -1}),
        ("groups-of-four", {"customers": 0}),
    ],
)
def test_values_out_of_range_are_refused(name: str, parameters: dict[str, float]) -> None:
    """When the environment is made, not when the first stream is."""
    (parameter,) = parameters
    with pytest.raises(DiscreetError, match=f"^The '{parameter}' of {name} must be "):
        find(name, **parameters)


@each
def test_rounds_and_seeds_are_checked(name: str) -> None:
    """In the environment's own name."""
    with pytest.raises(DiscreetError, match=f"^The 'rounds' of {name} must be "):
        find(name).stream(0)
    with pytest.raises(DiscreetError, match=f"^The 'seed' of {name} must be "):
        find(name).stream(10, seed=-1)


def test_unknown_names_and_parameters() -> None:
    """All known ones are listed, and the nearest name is offered."""
    with pytest.raises(
        DiscreetError, match=r"no environment called 'chekout'. Did you mean 'checkout'"
    ) as caught:
        find("chekout")
    assert isinstance(caught.value, KeyError)
    assert all(name in str(caught.value) for name in ENVIRONMENTS)
    with pytest.raises(DiscreetError, match=r"'modular' has no parameter 'width'. It has: n, gap."):
        find("modular", width=3)
    with pytest.raises(DiscreetError, match=r"The environment 'baskets' needs the parameter 'path'."):
        find("baskets", n=5)
