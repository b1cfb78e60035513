"""What every learner is given: offers of items, wild costs, and arrays that their owners change."""

import inspect

import numpy as np
import pytest

from discreet.errors import InvalidArgument
from discreet.learners.arguments import restored_argument
from discreet.learners.base import Learner
from discreet.set_functions import FromCallable, Modular, Table
from every_learner import LEARNERS, N, feedback, is_bandit, some_functions, state_of, transcript

#: These draw other things than single items by their levels.
CANNOT_SWITCH_OFF = {"BanditLearner central", "ExponentialWeights", "RandomSet", "FixedSet"}
WITHOUT_NOISE = ["BanditWithoutNoise", "FullInformationWithoutNoise", "HazanKale", "HazanKaleBandit"]

each = pytest.mark.parametrize("name", LEARNERS)
switches = pytest.mark.parametrize("name", [name for name in LEARNERS if name not in CANNOT_SWITCH_OFF])


@switches
def test_sets_are_drawn_among_the_available_items(name: str) -> None:
    """Whatever is on offer, nothing else is chosen, and what is told is learnt from."""
    learner = LEARNERS[name](2)
    offers = [[0, 2], [1], [], (2, 1), {0, 1, 2}, np.array([2]), range(2)] * 6
    for offer in offers:
        for decision in learner.ask(count=2, available=offer):
            assert decision.subset <= set(offer)
            learner.tell(decision, feedback(learner, decision, some_functions()[decision.id % 6]))
            assert np.all((learner.point >= 0) & (learner.point <= 1))
    assert learner.rounds == 2 * len(offers)


@pytest.mark.parametrize("name", WITHOUT_NOISE)
def test_what_was_off_is_not_learnt_about(name: str) -> None:
    """With a single item on offer, and no noise that would move the others, only its own level moves."""
    learner = LEARNERS[name](2)
    start = learner.point
    for _ in range(20):
        decision = learner.ask(available=[1])
        learner.tell(decision, feedback(learner, decision, Modular([0.1, 0.3, 0.2])))
    assert learner.point[[0, 2]].tolist() == start[[0, 2]].tolist()
    assert learner.point[1] != start[1]


@switches
def test_all_items_on_offer_is_the_default(name: str) -> None:
    """Naming every item, in any order, is the same as naming none."""
    first, second = LEARNERS[name](2), LEARNERS[name](2)
    for _ in range(10):
        assert first.ask(available=iter([2, 0, 1])) == second.ask()


@each
def test_refused_offers_change_nothing(name: str) -> None:
    """Unknown items, a string, any offer where none is taken: a clear error, and the state is as before."""
    learner = LEARNERS[name](2)
    before = state_of(learner)
    if name in CANNOT_SWITCH_OFF:
        with pytest.raises(InvalidArgument, match="cannot switch items off"):
            learner.ask(available=[0, 1])
        with pytest.raises(InvalidArgument, match="cannot switch items off"):
            learner.ask(count=2, available=[0, 1, 2])
    else:
        with pytest.raises(InvalidArgument, match=r"items of this learner.*'7', 'x'"):
            learner.ask(available=[0, 7, "x"])
        for wrong in ("012", 1, b"01"):
            with pytest.raises(InvalidArgument, match="'available'"):
                learner.ask(available=wrong)  # type: ignore[arg-type]
    assert state_of(learner) == before


@each
def test_several_decisions_are_several_questions(name: str) -> None:
    """ask(count=k) gives a list of what k calls of ask() would have given."""
    many, single = LEARNERS[name](2), LEARNERS[name](2)
    assert many.ask(count=7) == [single.ask() for _ in range(7)]
    assert many.ask(count=1) == [single.ask()]
    assert many.ask(count=0) == []
    assert state_of(many) == state_of(single)
    for wrong in (-1, 1.5, True, "two"):
        with pytest.raises(InvalidArgument, match="'count'"):
            many.ask(count=wrong)  # type: ignore[call-overload]
    assert state_of(many) == state_of(single)


@each
def test_ids_are_whole_numbers_of_any_kind(name: str) -> None:
    """Those of numpy too, as they come out of a table."""
    learner = LEARNERS[name](2)
    for decision in learner.ask(count=2):
        learner.tell(np.int64(decision.id), feedback(learner, decision, some_functions()[0]))
    assert (learner.pending, learner.rounds) == (0, 2)


@each
def test_hostile_streams_keep_points_in_the_cube(name: str) -> None:
    """The wrong sign, NaN, 10^300, jumps, supermodular costs: round by round nothing is raised or escapes."""
    learner = LEARNERS[name](3)
    rng = np.random.default_rng(0)
    sizes_of_sets = np.array([bin(code).count("1") for code in range(2**N)])
    hostile = [
        Table(-1e6 * some_functions()[0].table().values),
        Table(np.full(2**N, 1e300)),
        Table(np.where(sizes_of_sets % 2, -1e300, 1e300)),
        Table(sizes_of_sets.astype(float) ** 2),
        Table(rng.choice([-1.0, 1.0, 5e-324, 1e-300], size=2**N)),
        FromCallable(lambda chosen: float("nan") if chosen else -1e308, N),
        FromCallable(lambda chosen: -float("inf"), N),
    ]
    for t in range(70):
        decision = learner.ask()
        learner.tell(decision, feedback(learner, decision, hostile[t % len(hostile)]))
        assert np.all((learner.point >= 0) & (learner.point <= 1))
    restored = type(learner).from_bytes(learner._whole(), generation=learner.generation)
    assert transcript(restored, 10) == transcript(learner, 10)


def made_again(name: str, items: list[str], *, scribble: bool) -> Learner:
    """The same kind of learner from lists and arrays, all of which are overwritten afterwards."""
    model = LEARNERS[name](1)
    accepted = inspect.signature(type(model).__init__).parameters
    arguments = {key: restored_argument(value) for key, value in model._arguments.items()}
    arrays = {"start": np.array([0.25, 0.5, 0.75]), "x1": np.array([0.75, 0.5, 0.25]), "S1": np.array([1])}
    arguments |= {key: array for key, array in arrays.items() if key in accepted}
    if "seed" in accepted:
        arguments["seed"] = 1
    learner = type(model)(items, **arguments)
    if scribble:
        items.reverse()
        items.append("stranger")
        for value in arguments.values():
            if isinstance(value, np.ndarray):
                value[:] = 0
            elif isinstance(value, list):
                value.clear()
    return learner


@each
def test_what_a_learner_was_made_from_is_not_aliased(name: str) -> None:
    """Lists of items, first points and ranges may be changed afterwards: the learner and its file do not."""
    changed = made_again(name, ["a", "b", "c"], scribble=True)
    plain = made_again(name, ["a", "b", "c"], scribble=False)
    assert changed.items == ("a", "b", "c")
    assert state_of(changed) == state_of(plain)
    for _ in range(10):
        first, second = changed.ask(), plain.ask()
        assert first == second
        told = 0.5 if is_bandit(plain) else Modular([0.1, 0.2, -0.3])
        changed.tell(first, told)
        plain.tell(second, told)
    assert state_of(changed) == state_of(plain)


@each
def test_what_a_learner_is_told_is_not_aliased(name: str) -> None:
    """Costs, weights of functions, orders and masks given to functions may be overwritten at once."""
    changed, plain = LEARNERS[name](1), LEARNERS[name](1)
    values = [0.0, 0.25, 0.5, 0.125]

    def scribbles_on_the_order(order: np.ndarray) -> list[float]:
        order[:] = -77
        return values

    def scribbles_on_the_mask(mask: np.ndarray) -> float:
        cost = float(mask @ [0.1, 0.2, 0.3])
        mask[:] = True
        return cost

    for kind in range(9):
        first, second = changed.ask(), plain.ask()
        assert first == second
        if is_bandit(plain):
            cost = np.array(0.1 * kind)
            changed.tell(first, cost)
            cost[...] = 1e9
            plain.tell(second, 0.1 * kind)
        elif kind % 3 == 0:
            weights = np.array([0.1, -0.2, 0.3])
            changed.tell(first, Modular(weights))
            weights[:] = 1e9
            plain.tell(second, Modular([0.1, -0.2, 0.3]))
        elif kind % 3 == 1:
            changed.tell(first, FromCallable(lambda chosen: 0.0, N, chain=scribbles_on_the_order))
            plain.tell(second, FromCallable(lambda chosen: 0.0, N, chain=lambda order: values))
        else:
            changed.tell(first, FromCallable(scribbles_on_the_mask, N, takes="mask"))
            plain.tell(second, Modular([0.1, 0.2, 0.3]))
        np.testing.assert_allclose(changed.point, plain.point, atol=1e-6)
    assert changed.rounds == plain.rounds == 9
    assert changed.pending == 0
