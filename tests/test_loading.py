"""Loading learners: what is secret goes on once, what is public at will, and arguments survive."""

import json
import pathlib
from collections.abc import Callable, Iterator
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import another_process
from discreet import (
    BanditLearner,
    FullInformationLearner,
    baselines,
    environments,
    load,
    loading,
    paper,
    simulate,
)
from discreet.errors import InvalidType, StaleState
from discreet.learners.arguments import keeps_arguments
from discreet.learners.base import Learner
from discreet.loading import _learner_in as from_bytes
from discreet.privacy import exclusive
from discreet.randomness import BitSource
from discreet.set_functions import Modular
from every_learner import LEARNERS, is_bandit, some_functions, state_of, transcript, used

SECRET = [name for name in LEARNERS if LEARNERS[name](None).keeps_secrets]
COPIED = [name for name in LEARNERS if name not in SECRET]


def test_which_learners_keep_secrets() -> None:
    """Those that are private and keep exact sums; not local ones, not those that promise nothing."""
    assert set(SECRET) == {
        "BanditLearner central",
        "FullInformationLearner",
        "FullInformationLearner tree",
        "SubmodPFTAL",
        "BanditSubmodPFTAL",
    }


@pytest.mark.parametrize("name", SECRET)
def test_a_secret_learner_goes_on_once(name: str, tmp_path: pathlib.Path) -> None:
    """Saving hands it over to the file; loading takes it out; neither can be done twice."""
    path = tmp_path / "learner"
    learner = used(name, None)
    point = learner.point
    learner.save(path)
    cost: Any = 0.5 if is_bandit(learner) else some_functions()[0]
    for attempt in (learner.ask, lambda: learner.tell(9, cost), lambda: learner.save(path), learner.to_bytes):
        with pytest.raises(StaleState, match="handed over"):
            attempt()
    assert (learner.pending, learner.rounds) == (3, 8)
    np.testing.assert_array_equal(learner.point, point)
    loaded = load(path)
    np.testing.assert_array_equal(loaded.point, point)
    assert [entry.name for entry in tmp_path.iterdir()] == ["learner.taken"]
    with pytest.raises(StaleState, match=r"has been loaded already.*start="):
        load(path)
    loaded.tell(9, cost)
    loaded.save(path)
    assert load(path).rounds == 9


@pytest.mark.parametrize("name", COPIED)
def test_other_learners_are_saved_and_loaded_at_will(name: str, tmp_path: pathlib.Path) -> None:
    """The original goes on, and so does every copy."""
    learner = used(name, None)
    learner.save(tmp_path / "learner")
    learner.save(tmp_path / "learner")
    learner.ask()
    for _ in range(3):
        assert load(tmp_path / "learner").ask().id == 12
    assert [entry.name for entry in tmp_path.iterdir()] == ["learner"]


@pytest.mark.parametrize("name", SECRET)
def test_a_seed_leaves_no_secrets(name: str, tmp_path: pathlib.Path) -> None:
    """What is not private anyway may be copied: simulations are."""
    learner = used(name)
    learner.save(tmp_path / "learner")
    first, second = load(tmp_path / "learner"), load(tmp_path / "learner")
    assert transcript(first, 5) == transcript(second, 5) == transcript(learner, 5)


def test_of_processes_that_load_at_once_one_succeeds(tmp_path: pathlib.Path) -> None:
    """Three of them are started, wait for each other, and race for the file."""
    used("BanditLearner central", None).save(tmp_path / "learner")
    code = (
        "import sys, discreet.loading\n"
        "print('ready', flush=True)\n"
        "sys.stdin.readline()\n"
        "try:\n"
        "    print(discreet.load(sys.argv[1]).rounds)\n"
        "except discreet.errors.StaleState as error:\n"
        "    print('refused:', error)\n"
    )
    racers = [another_process.started(code, tmp_path / "learner") for _ in range(3)]
    for racer in racers:
        assert racer.stdout is not None
        assert racer.stdout.readline() == "ready\n"
    for racer in racers:
        assert racer.stdin is not None
        racer.stdin.write("go\n")
        racer.stdin.flush()
    answers = sorted(racer.communicate(timeout=300)[0] for racer in racers)
    assert answers[0] == "8\n"
    assert all(answer.startswith("refused: The learner in") for answer in answers[1:])


def test_the_newest_state_is_taken(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another process loads, goes on and saves while this one reads: this one goes on from there."""
    path, real, read = tmp_path / "learner", loading._learner_in, []
    LEARNERS["BanditLearner central"](None).save(path)

    def overtaken(data: bytes) -> Learner:
        read.append(data)
        if len(read) == 1:
            other = load(path)
            other.tell(other.ask(), 0.5)
            other.save(path)
        return real(data)

    monkeypatch.setattr(loading, "_learner_in", overtaken)
    assert load(path).rounds == 1
    assert not path.exists()


def test_a_file_that_is_taken_meanwhile_is_not_loaded(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another process takes it while this one reads: what was read is not used."""
    path, real = tmp_path / "learner", loading._learner_in
    LEARNERS["BanditLearner central"](None).save(path)

    def overtaken(data: bytes) -> Learner:
        path.rename(tmp_path / "learner.taken")
        return real(data)

    monkeypatch.setattr(loading, "_learner_in", overtaken)
    with pytest.raises(StaleState, match="by another process just now"):
        load(path)


def test_a_seeded_source_makes_no_private_learner() -> None:
    """Neither one that is given when restoring, nor one whose file was edited to deny it."""
    learner = used("FullInformationLearner", None)
    kind, data = type(learner), learner._whole()
    assert kind.from_bytes(data, generation=learner.generation).guarantee.private
    seeded = kind.from_bytes(data, generation=learner.generation, source=BitSource(seed=1))
    assert not seeded.guarantee.private
    document = exclusive.opened(used("FullInformationLearner")._whole())
    edited = from_bytes(exclusive.sealed(document | {"not_private_because": ""}))
    assert "seed" in edited.guarantee.reason


def constants(part: Any) -> Iterator[Any]:
    """All numbers of a core that never change."""
    for value in part:
        if hasattr(value, "_fields"):
            yield from constants(value)
        elif not isinstance(value, np.ndarray):
            yield value


@pytest.mark.parametrize(
    "make",
    [
        lambda: BanditLearner(["tea", "milk"], Fraction(1, 3), (Fraction(0), Fraction(7, 3)), seed=1),
        lambda: BanditLearner(3, Decimal("0.3"), [0, Decimal("2.5")], start=[Fraction(1, 3), 0.5, 1], seed=1),
        lambda: BanditLearner(("a", "b"), np.float64(0.5), np.array([0.0, 2.0]), start={"b"}, seed=1),
        lambda: BanditLearner(np.arange(3), 1, (0, 1), start={np.int64(2)}, maximize=True, seed=1),
        lambda: BanditLearner(3, 1, (0, 1), start=np.array([0.1, 0.2, 0.3], dtype=np.float32), seed=1),
        lambda: BanditLearner(iter("abc"), 1, (0, 1), start=(level / 4 for level in range(3)), seed=1),
        lambda: BanditLearner(2, 1, (0, 1), mode="central", block=np.int64(4), rounds_per_person=3, seed=1),
        lambda: FullInformationLearner(("x", "y"), 2, (0, 1), start=frozenset({"x"}), expire_after=7, seed=1),
        lambda: FullInformationLearner(2, 2, (0, 1), method="tree", horizon=99, step=Fraction(1, 7), seed=1),
        lambda: FullInformationLearner(2, 2, (0, 1), gradient_bound=0.5, horizon=50, seed=1),
        lambda: paper.SubmodPFTAL(["é", "水", "\ud800"], 99, 1.0, S1=range(2), seed=1),
        lambda: paper.BanditSubmodPFTAL(2, 99, 1.0, x1=np.array([0.25, 1.0]), gamma=0.5, seed=1),
        lambda: baselines.FixedSet(4, np.array([True, False, True, False])),
        lambda: baselines.FixedSet([3, -1, "x"], subset=iter([1, 2])),
        lambda: baselines.RandomSet(1500, seed=1),
    ],
)
def test_arguments_of_every_kind_survive(make: Callable[[], Learner], tmp_path: pathlib.Path) -> None:
    """Fractions, decimals, sets, arrays, ranges, iterators: the loaded learner is the one that was made."""
    learner = make()
    learner.ask(count=3)
    learner.save(tmp_path / "learner")
    loaded = load(tmp_path / "learner")
    assert loaded.items == learner.items
    assert loaded.guarantee == learner.guarantee
    assert loaded.expire_after == learner.expire_after
    assert list(constants(loaded._core)) == list(constants(learner._core))
    assert [loaded.ask() for _ in range(9)] == [learner.ask() for _ in range(9)]
    assert state_of(loaded) == state_of(learner)


def test_exact_budgets_stay_exact(tmp_path: pathlib.Path) -> None:
    """An epsilon of 1/3 is not rounded to a float on its way through a file."""
    learner = BanditLearner(2, Fraction(1, 3), (0, 1))
    learner.save(tmp_path / "learner")
    assert load(tmp_path / "learner")._core.kind == learner._core.kind
    assert load(tmp_path / "learner")._arguments == {"epsilon": {"fraction": "1/3"}, "cost_range": [0, 1]}


@pytest.mark.parametrize("items", [[(1, 2), 3], [1.5, 2], [None, 1], [b"a", b"b"], [frozenset(), 1]])
def test_items_that_json_cannot_keep_are_refused(items: list[Any], tmp_path: pathlib.Path) -> None:
    """When it is saved, in words, and the learner goes on."""
    learner = BanditLearner(items, 1.0, (0, 1), mode="central")
    with pytest.raises(InvalidType, match="strings or whole numbers"):
        learner.save(tmp_path / "learner")
    assert list(tmp_path.iterdir()) == []
    assert learner.ask().id == 1


def test_the_best_set_in_hindsight_is_not_saved(tmp_path: pathlib.Path) -> None:
    """It is made from all the data, which no file should hold."""
    learner = baselines.BestFixedSet(Modular([1.0, -1.0]))
    with pytest.raises(InvalidType, match="made from data"):
        learner.save(tmp_path / "learner")


class Shop(BanditLearner):
    """A learner with fixed public facts and arguments of its own."""

    @keeps_arguments
    def __init__(self, items: Any, *, prices: Any = None, label: Any = "", seed: Any = None) -> None:
        super().__init__(items, 1.0, (0, 10), mode="central", block=2, seed=seed)
        self.prices, self.label = prices, label


class Counted(BanditLearner):
    """One that is given the number of items, and nothing but a number."""

    @keeps_arguments
    def __init__(self, n: int, *, seed: Any = None) -> None:
        super().__init__(range(n), 1.0, (0, 10), seed=seed)


class Renamed(BanditLearner):
    """One that changes nothing but its name."""


class Forgetful(BanditLearner):
    """One whose constructor is not decorated."""

    def __init__(self, items: Any) -> None:
        super().__init__(items, 1.0, (0, 10), mode="central")


def test_a_class_of_ones_own_is_saved_and_loaded(tmp_path: pathlib.Path) -> None:
    """With its own arguments, mappings among them, as long as its module has been imported."""
    prices = {"tea": Fraction(1, 3), "milk": 2.5}
    learner = Shop(["tea", "milk"], prices=prices, seed=3)
    learner.ask(count=3)
    learner.save(tmp_path / "shop")
    loaded = load(tmp_path / "shop")
    assert type(loaded) is Shop
    assert loaded.prices == learner.prices == prices
    assert [loaded.ask() for _ in range(5)] == [learner.ask() for _ in range(5)]
    Renamed(3, 1.0, (0, 1)).save(tmp_path / "renamed")
    assert type(load(tmp_path / "renamed")) is Renamed


def test_a_class_of_ones_own_may_know_items_by_number_only(tmp_path: pathlib.Path) -> None:
    """Items that were counted are counted again, so it is loaded and simulated like any other."""
    learner = Counted(3)
    learner.save(tmp_path / "counted")
    assert load(tmp_path / "counted").items == learner.fresh(seed=1).items == (0, 1, 2)
    assert simulate(environments.modular(3), learner, rounds=50, seeds=2).items == (0, 1, 2)


@pytest.mark.parametrize("items", [(0, 1), (False, True), (1, 0), ("0", "1"), (0,), (1,)])
def test_items_come_back_under_their_own_names(items: tuple[Any, ...], tmp_path: pathlib.Path) -> None:
    """Also where the names are nearly those that counting gives."""
    learner = BanditLearner(items, 1.0, (0, 1))
    learner.save(tmp_path / "learner")
    for again in (load(tmp_path / "learner").items, learner.fresh(seed=1).items):
        assert [(type(item), item) for item in again] == [(type(item), item) for item in items]


def test_a_class_that_is_not_imported_is_named(tmp_path: pathlib.Path) -> None:
    """A program that lacks its module says so, and leaves the file where it is."""
    Shop(["tea", "milk"]).save(tmp_path / "shop")
    invalid_argument = another_process.output(
        "import sys, discreet\n"
        "try:\n"
        "    discreet.load(sys.argv[1])\n"
        "except discreet.DiscreetError as error:\n"
        "    print(error)",
        tmp_path / "shop",
    )
    assert "a Shop, which is no learner known here" in invalid_argument
    assert "imported" in invalid_argument
    assert load(tmp_path / "shop").items == ("tea", "milk")


def test_a_class_that_could_not_be_loaded_is_not_saved(tmp_path: pathlib.Path) -> None:
    """Without the decorator a file could not repeat the call, and its learner would be lost with it."""
    learner = Forgetful(3)
    with pytest.raises(InvalidType, match=r"Forgetful cannot be saved.*keeps_arguments"):
        learner.save(tmp_path / "learner")
    with pytest.raises(InvalidType, match=r"Forgetful cannot be .* made anew.*keeps_arguments"):
        learner.fresh(seed=1)
    assert learner.ask().id == 1
    labelled = Shop(3, label=object())
    with pytest.raises(InvalidType, match=r"Shop cannot be saved.*JSON"):
        labelled.save(tmp_path / "learner")
    assert list(tmp_path.iterdir()) == []


def test_a_file_is_plain_json(tmp_path: pathlib.Path) -> None:
    """Anybody can see what is in it: no pickle, and the public settings in words."""
    LEARNERS["BanditLearner"](None).save(tmp_path / "learner")
    document = json.loads((tmp_path / "learner").read_bytes())
    assert document["kind"] == "BanditLearner"
    assert document["settings"]["arguments"] == {"epsilon": 1.0, "cost_range": [-1, 1]}
    assert set(document) - {"sha256"} == set(exclusive.opened((tmp_path / "learner").read_bytes()))
