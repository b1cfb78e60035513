"""Loading learners: what is secret goes on once, what is public at will, and arguments survive."""

import pathlib
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from discreet import BanditLearner, FullInformationLearner, load, loading
from discreet.errors import InvalidType
from discreet.learners import PolicyLearner
from discreet.learners import Session as Learner
from discreet.learners.arguments import keeps_arguments
from discreet.loading import _learner_in as from_bytes
from discreet.randomness import BitSource
from discreet.state import constants_in, decode, encode
from every_learner import LEARNERS, OURS, Pairs, state_of, used

SOME = [*OURS, "SubmodPFTAL", "ProductSampling exact"]
SECRET = [name for name in SOME if LEARNERS[name](None).keeps_secrets]
COPIED = [name for name in SOME if name not in SECRET]


@pytest.mark.parametrize("name", SECRET)
def test_a_handed_over_learner_still_shows_what_was_released(name: str, tmp_path: pathlib.Path) -> None:
    """Only going on is refused; what loading leaves is one file without secrets."""
    learner = used(name, None)
    shown = [learner.point.tolist(), learner.rounds, learner.pending]
    learner.save(tmp_path / "learner")
    assert [learner.point.tolist(), learner.rounds, learner.pending] == shown
    loaded = load(tmp_path / "learner")
    assert [loaded.point.tolist(), loaded.rounds, loaded.pending] == shown
    assert [entry.name for entry in tmp_path.iterdir()] == ["learner.taken"]
    loaded.save(tmp_path / "learner")
    assert load(tmp_path / "learner").rounds == shown[1]


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


def test_the_newest_state_is_taken(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another process loads, goes on and saves while this one reads: this one goes on from there."""
    path, real, read = tmp_path / "learner", loading._learner_in, []
    LEARNERS["BanditLearner"](None).save(path)

    def overtaken(data: bytes) -> Learner:
        read.append(data)
        if len(read) == 1:
            other = load(path)
            other.ask(count=3)
            other.save(path)
        return real(data)

    monkeypatch.setattr(loading, "_learner_in", overtaken)
    assert load(path).pending == 3
    assert not path.exists()


def test_a_seeded_source_makes_no_private_learner() -> None:
    """Neither one that is given when restoring, nor one whose file was edited to deny it."""
    learner = used("FullInformationLearner", None)
    kind, data = type(learner), learner._whole()
    assert kind.from_bytes(data, generation=learner.generation).guarantee.private
    seeded = kind.from_bytes(data, generation=learner.generation, source=BitSource(seed=1))
    assert not seeded.guarantee.private
    values, arrays = decode(used("FullInformationLearner")._whole())
    edited = from_bytes(encode(values | {"not_private_because": ""}, arrays))
    assert "seed" in edited.guarantee.reason


@pytest.mark.parametrize(
    "make",
    [
        lambda: BanditLearner(["tea", "milk"], Fraction(1, 3), (Fraction(0), Fraction(7, 3)), seed=1),
        lambda: BanditLearner(3, Decimal("0.3"), [0, Decimal("2.5")], rounds_per_person=2, seed=1),
        lambda: BanditLearner(("a", "b"), np.float64(0.5), np.array([0.0, 2.0]), required={"b"}, seed=1),
        lambda: BanditLearner(np.arange(3), 1, (0, 1), forbidden={np.int64(2)}, maximize=True, seed=1),
        lambda: BanditLearner(iter("abc"), 1, (0, 1), groups=(pair for pair in [("a", "b")]), seed=1),
        lambda: BanditLearner(2, 1, (0, 1), method="worst-case", rounds_per_person=np.int64(3), seed=1),
        lambda: FullInformationLearner(
            ("x", "y"), 2, (0, 1), required=frozenset({"x"}), expire_after=7, seed=1
        ),
        lambda: FullInformationLearner(2, 2, (0, 1), method="blocks", horizon=50, seed=1),
        lambda: BanditLearner(["é", "水", "\ud800"], 1.0, (0, 1), method="worst-case", seed=1),
        lambda: BanditLearner(["a", "b"], 1.0, (0, 1), prior=[({"a"}, Fraction(1, 2), 9)], forget=99, seed=1),
        lambda: BanditLearner(2, 1.0, (0, 1), prior=iter([((np.int64(1),), 0.5, 9)]), seed=1),
        lambda: PolicyLearner(range(3), Pairs, Fraction(1, 3), (0, 1), mode="local", seed=1),
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
    assert loaded.learner.constants() == learner.learner.constants()
    assert constants_in(loaded._state) == constants_in(learner._state)
    assert [loaded.ask() for _ in range(9)] == [learner.ask() for _ in range(9)]
    assert state_of(loaded) == state_of(learner)


@pytest.mark.parametrize("items", [[(1, 2), 3], [1.5, 2], [None, 1], [b"a", b"b"], [frozenset(), 1]])
def test_items_that_json_cannot_keep_are_refused(items: list[Any], tmp_path: pathlib.Path) -> None:
    """When it is saved, in words, and the learner goes on."""
    learner = BanditLearner(items, 1.0, (0, 1))
    with pytest.raises(InvalidType, match="strings or integers"):
        learner.save(tmp_path / "learner")
    assert list(tmp_path.iterdir()) == []
    assert learner.ask().id == 1


class Shop(BanditLearner):
    """A learner with fixed public facts and arguments of its own."""

    @keeps_arguments
    def __init__(self, items: Any, *, prices: Any = None, label: Any = "", seed: Any = None) -> None:
        super().__init__(items, 1.0, (0, 10), method="worst-case", seed=seed)
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
        super().__init__(items, 1.0, (0, 10))


def test_a_custom_class_is_saved_and_loaded(tmp_path: pathlib.Path) -> None:
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


def test_a_custom_class_may_know_items_by_number_only(tmp_path: pathlib.Path) -> None:
    """Items that were counted are counted again, so it is loaded and simulated like any other."""
    learner = Counted(3)
    learner.save(tmp_path / "counted")
    assert load(tmp_path / "counted").items == learner.fresh(seed=1).items == (0, 1, 2)


@pytest.mark.parametrize("items", [(0, 1), (False, True), (1, 0), ("0", "1"), (0,), (1,)])
def test_items_come_back_under_their_own_names(items: tuple[Any, ...], tmp_path: pathlib.Path) -> None:
    """Also where the names are nearly those that counting gives."""
    learner = BanditLearner(items, 1.0, (0, 1))
    learner.save(tmp_path / "learner")
    for again in (load(tmp_path / "learner").items, learner.fresh(seed=1).items):
        assert [(type(item), item) for item in again] == [(type(item), item) for item in items]


def test_a_class_that_could_not_be_loaded_is_not_saved(tmp_path: pathlib.Path) -> None:
    """Without the decorator a file could not repeat the call, and its learner would be lost with it."""
    learner = Forgetful(3)
    with pytest.raises(InvalidType, match=r"Forgetful cannot be saved.*keeps_arguments"):
        learner.save(tmp_path / "learner")
    with pytest.raises(InvalidType, match=r"Forgetful cannot be .*keeps_arguments"):
        learner.fresh(seed=1)
    assert learner.ask().id == 1
    labelled = Shop(3, label=object())
    with pytest.raises(InvalidType, match=r"Shop cannot be saved.*JSON"):
        labelled.save(tmp_path / "learner")
    assert list(tmp_path.iterdir()) == []
