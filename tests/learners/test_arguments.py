"""Arguments of learners: whatever is wrong with them is said in the name of the class that was called."""

import inspect
import traceback
from typing import Any

import pytest

from discreet import BanditLearner
from discreet.errors import DiscreetError, InvalidType
from discreet.extending import BanditFeedback, keeps_arguments, named_items
from discreet.learners import arguments
from discreet.learners.arguments import restored_argument
from discreet.learners.base import Learner
from every_learner import LEARNERS, N

each = pytest.mark.parametrize("name", LEARNERS)
#: Of these -1 is a wrong value, for every learner that has them.
NOT_NEGATIVE = (
    "epsilon",
    "T",
    "M",
    "H",
    "L",
    "eta",
    "gamma",
    "exploration",
    "step",
    "block",
    "horizon",
    "gradient_bound",
    "delta",
    "rounds_per_person",
    "expire_after",
    "seed",
)
#: Which belong to another mode or method; that is said instead.
OUT_OF_PLACE = {
    ("BanditLearner", "block"): "A 'block' needs mode='central'",
    ("FullInformationLearner", "step"): "A 'step' needs method='tree'",
}


def call_of(name: str) -> tuple[type[Learner], dict[str, Any]]:
    """A class, and arguments that it takes."""
    model = LEARNERS[name](1)
    first = next(iter(inspect.signature(type(model)).parameters))
    kept = {key: restored_argument(value) for key, value in model._arguments.items()}
    return type(model), {first: N, **kept}


@each
def test_an_unknown_argument_is_named_with_the_nearest_there_is(name: str) -> None:
    """And nothing else of the call; the error is raised here, not in a module of Python's own."""
    kind, given = call_of(name)
    last = list(inspect.signature(kind).parameters)[-1]
    message = rf"^{kind.__name__} has no argument '{last}x'\. Did you mean '{last}'\?$"
    with pytest.raises(InvalidType, match=message) as caught:
        kind(**given, **{f"{last}x": "secret"})
    assert traceback.extract_tb(caught.tb)[-1].filename == arguments.__file__
    with pytest.raises(TypeError, match=rf"^{kind.__name__} has no argument 'zzzzz'\.$"):
        kind(**given, zzzzz=1)


@each
def test_a_missing_argument_is_named(name: str) -> None:
    """Each that has no default."""
    kind, given = call_of(name)
    parameters = inspect.signature(kind).parameters.values()
    needed = [parameter.name for parameter in parameters if parameter.default is parameter.empty]
    assert needed
    for one in needed:
        with pytest.raises(InvalidType, match=rf"^{kind.__name__} needs the argument '{one}'\.$"):
            kind(**{key: value for key, value in given.items() if key != one})


def test_abbreviations_and_slips() -> None:
    """As people write them: an abbreviation, an argument by position, one given twice."""
    slips = {"eps": "epsilon", "mod": "mode", "range": "cost_range", "maximise": "maximize"}
    for wrong, right in slips.items():
        with pytest.raises(InvalidType, match=rf"no argument '{wrong}'\..* Did you mean '{right}'"):
            BanditLearner(3, cost_range=(0, 1), **{wrong: 1})
    with pytest.raises(InvalidType, match="BanditLearner cannot be called like this: too many positional"):
        BanditLearner(3, 1.0, (0, 1), "central")  # type: ignore[misc]
    with pytest.raises(InvalidType, match="this: multiple values for argument 'epsilon'"):
        BanditLearner(3, 1.0, (0, 1), epsilon=2.0)  # type: ignore[misc]


def test_constructors_of_somebody_else() -> None:
    """They may take any names; what is missing is found all the same."""

    class Open(BanditFeedback):
        @keeps_arguments
        def __init__(self, items: int, height: float, *others: int, **more: int) -> None:
            raise AssertionError("is never called")

    with pytest.raises(InvalidType, match=r"^Open needs the argument 'height'\.$"):
        Open(3, wide=1)  # type: ignore[call-arg]


@each
def test_wrong_values_are_refused_in_the_name_of_the_class(name: str) -> None:
    """Not in that of a budget, a source of bits or a bound inside it."""
    kind, given = call_of(name)
    accepted = [argument for argument in NOT_NEGATIVE if argument in inspect.signature(kind).parameters]
    for argument in accepted:
        message = OUT_OF_PLACE.get((name, argument), f"The '{argument}' of {kind.__name__} must ")
        with pytest.raises(DiscreetError) as caught:
            kind(**{**given, argument: -1})
        assert str(caught.value).startswith(message)


@each
def test_large_and_small_values_too(name: str) -> None:
    """A loss beyond all use, one that is too small when it is shared, and a horizon beyond 2^32."""
    kind, given = call_of(name)
    accepted = inspect.signature(kind).parameters
    extremes: list[tuple[str, dict[str, Any]]] = [
        ("epsilon", {"epsilon": 2000.0}),
        ("epsilon", {"epsilon": 1e-70}),
        ("epsilon", {"epsilon": 2.0**-150, "rounds_per_person": 2**60}),
    ]
    if "tree" in name or "PFTAL" in name:
        extremes += [("T", {"T": 2**33}), ("horizon", {"horizon": 2**33})]
    for argument, wrong in extremes:
        if set(wrong) <= set(accepted):
            with pytest.raises(DiscreetError, match=f"^The '{argument}' of {kind.__name__} must "):
                kind(**{**given, **wrong})


@each
def test_a_source_must_be_one(name: str) -> None:
    """Its kind is said, and nothing of what it is."""
    kind, given = call_of(name)
    if "source" in inspect.signature(kind).parameters:
        message = f"^The 'source' of {kind.__name__} must be a BitSource. Got int instead.$"
        with pytest.raises(InvalidType, match=message):
            kind(**given, source=7)


@each
@pytest.mark.parametrize("unordered", [set, frozenset])
def test_items_need_an_order(name: str, unordered: type) -> None:
    """Sets of strings are in another order in every process; whatever has an order is taken."""
    kind, given = call_of(name)
    first, *_ = given
    message = f"^The 'items' of {kind.__name__} need an order: .* Got a {unordered.__name__} instead.$"
    with pytest.raises(InvalidType, match=message):
        kind(**{**given, first: unordered(["tea", "milk", "sugar"])})
    names = {"tea": 1, "milk": 2, "sugar": 3}
    for ordered in (list(names), tuple(names), iter(names), names, names.keys()):
        assert named_items("this test", ordered) == ("tea", "milk", "sugar")
