"""Damaged files: refused in bits of the package, before a kernel sees them, and left where they are."""

import pathlib
from typing import Any

import numpy as np
import pytest

from discreet import BanditLearner, DiscreetError, load
from discreet.errors import InvalidArgument
from discreet.learners.bandit_core import UPDATES
from discreet.learners.base import Learner
from discreet.learners.batched_core import BLOCKS, EXACT_LENGTH, IN_BLOCK, LENGTH, SPENT
from discreet.loading import _learner_in as from_bytes
from discreet.prefix_sums import BinaryTree
from discreet.privacy import Budget, VectorBound, exclusive
from every_learner import LEARNERS, N, state_of, transcript, used

ALL = slice(None)


def refused(data: bytes, folder: pathlib.Path) -> str:
    """The invalid_argument about a file, which must be one of the package and must leave the file alone."""
    path = folder / "learner"
    path.write_bytes(data)
    with pytest.raises(DiscreetError) as caught:
        load(path)
    assert path.read_bytes() == data
    assert caught.value.__cause__ is None
    assert str(caught.value).endswith(".")
    return str(caught.value)


@pytest.mark.parametrize("name", ["BanditLearner", "FullInformationLearner"])
def test_cut_files_are_refused(name: str, tmp_path: pathlib.Path) -> None:
    """Cut anywhere, from the first byte to the last but one."""
    data = used(name, None)._whole()
    for end in np.linspace(0, len(data) - 1, 50).astype(int):
        assert "not a saved state" in refused(data[:end], tmp_path)


@pytest.mark.parametrize("name", ["BanditLearner", "FullInformationLearner"])
def test_flipped_bytes_are_noticed(name: str, tmp_path: pathlib.Path) -> None:
    """One byte changed in any of a hundred places; every bit has its turn."""
    data = used(name, None)._whole()
    for k, place in enumerate(np.linspace(0, len(data) - 1, 100).astype(int)):
        changed = bytearray(data)
        changed[place] ^= 1 << (k % 8)
        message = refused(bytes(changed), tmp_path)
        assert any(part in message for part in ("not a saved state", "damaged", "version"))


def test_other_files_are_refused(tmp_path: pathlib.Path) -> None:
    """Nothing, noise, other JSON, JSON too deep to read, the state of something else, a later version."""
    learner = used("BanditLearner")
    document = exclusive.opened(learner._whole())
    for nonsense in (
        b"",
        b"\x00\xff" * 50,
        b"null",
        b"[1, 2]",
        b'{"format": 1}',
        b'"text"',
        b"[" * 10**6,
        b"9" * 5000,
    ):
        assert "not a saved state" in refused(nonsense, tmp_path)
    version = document["version"] + 1
    assert f"saved in version {version}" in refused(
        exclusive.sealed(document | {"version": version}), tmp_path
    )
    for kind in ("Nobody", "BinaryTree", 7, None, ["BanditLearner"]):
        assert "no learner known here" in refused(exclusive.sealed(document | {"kind": kind}), tmp_path)
    sums = BinaryTree(2, 8, VectorBound(coordinate=1, l1=1), Budget(epsilon=1.0))
    assert "state of a BinaryTree" in refused(sums.to_bytes(), tmp_path)


@pytest.mark.parametrize(
    "kind", ["Learner", "BanditFeedback", "BestFixedSet", "FullInformationLearner", "HazanKale"]
)
def test_a_state_under_another_name_is_refused(kind: str, tmp_path: pathlib.Path) -> None:
    """A class that cannot have been saved so, be it abstract, made from data, or just another one."""
    document = exclusive.opened(used("BanditLearner")._whole())
    assert kind in refused(exclusive.sealed(document | {"kind": kind}), tmp_path)


@pytest.mark.parametrize(
    "part", ["kind", "lineage", "generation", "not_private_because", "settings", "arrays"]
)
def test_a_state_without_a_part_is_refused(part: str, tmp_path: pathlib.Path) -> None:
    """Left out, or something else in its place."""
    document = exclusive.opened(used("BanditLearner central")._whole())
    refused(exclusive.sealed({key: document[key] for key in document if key != part}), tmp_path)
    if part not in ("lineage", "not_private_because"):
        for other in (None, [], "x", 1.5, {"x": "y"}):
            refused(exclusive.sealed(document | {part: other}), tmp_path)


@pytest.mark.parametrize(
    ("setting", "values"),
    [
        ("items", [None, 0, 2, ["a"], [["a"], ["b"], ["c"]], "abc", ["a", "a", "a"]]),
        ("arguments", [None, [], {"nobody": 1}, {"epsilon": -1}, {"epsilon": {"x": 1}}, {}]),
        ("asked", [-1, 1.5, None, 10**30, "many", 2]),
        ("struck", [-1, 1.5, None, 10**30, 12]),
        ("bits", [1, {}, {"generator": {}, "unread": [], "batch": 64}, "x"]),
    ],
)
def test_settings_that_make_no_sense_are_refused(
    setting: str, values: list[Any], tmp_path: pathlib.Path
) -> None:
    """The seal is whole, what it seals is not: no other error than the package's own."""
    document = exclusive.opened(used("BanditLearner")._whole())
    for value in values:
        changed = document | {"settings": document["settings"] | {setting: value}}
        refused(exclusive.sealed(changed), tmp_path)


def array_of(learner: Learner, name: str) -> np.ndarray:
    """A copy of an array of its file."""
    return exclusive._unpacked(exclusive.opened(learner._whole())["arrays"][name]).copy()


def resealed(learner: Learner, name: str, array: Any) -> bytes:
    """Its file with another array under that name."""
    document = exclusive.opened(learner._whole())
    arrays = document["arrays"] | {name: exclusive._packed(np.asarray(array))}
    return exclusive.sealed(document | {"arrays": arrays})


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("pending.names", [[9, 9, 10], [0, 9, 10], [9, 10, 12], [9, 10], [9.0, 10.0, 11.0], [[9, 10, 11]]]),
        ("pending.draws", [[0, 1, 3], [-1, 0, 1], [0, 1], [0.0, 1.0, 2.0], [[0, 1, 2]]]),
        ("pending.last", [[3], [-1], [0, 1], [1.0], [[2]], 2]),
        (
            "draws.lengths",
            [[3, 3], [3, 3, 4], [9, 0, 0], [10, -1, 0], [-3, 6, 6], [3.0, 3.0, 3.0], [[3, 3, 3]]],
        ),
        (
            "draws.orders",
            [
                [0, 1, 2, 0, 1, 2, 0, 1],
                [0, 1, 2, 0, 1, 2, 0, 1, 3],
                [0, 1, 2, 0, 1, 2, 0, 1, -1],
                [0, 1, 2, 0, 1, 2, 0, 1, 1],
                [0, 1, 2, 0, 1, 2, 0, 1, 2**62],
                [0.0, 1, 2, 0, 1, 2, 0, 1, 2],
                [[0, 1, 2, 0, 1, 2, 0, 1, 2]],
            ],
        ),
        (
            "draws.numbers",
            [
                [[4, 0, 0]] * 3,
                [[-1, 0, 0]] * 3,
                [[2**62, 0, 0]] * 3,
                [[1, -1, 0]] * 3,
                [[1, 2, 0]] * 3,
                [[1, 0, 5]] * 3,
                [[1, 1, 2**62]] * 3,
                [[1, 0, -(2**63)]] * 3,
                [[1, 0]] * 3,
                [[1, 0, 0]] * 2,
                [[1, 0, 0, 0]] * 3,
                [[1.0, 0, 0]] * 3,
                [1, 0, 0],
            ],
        ),
        (
            "draws.chances",
            [
                [[0.0, 0.0]] * 3,
                [[-0.5, 0.0]] * 3,
                [[1.5, 0.0]] * 3,
                [[np.nan, 0.0]] * 3,
                [[np.inf, 0.0]] * 3,
                [[0.5, np.nan]] * 3,
                [[0.5, np.inf]] * 3,
                [[0.5]] * 3,
                [[0.5, 0.0]] * 4,
                [[1, 0]] * 3,
                [0.5, 0.0, 0.0],
            ],
        ),
    ],
)
def test_damaged_decisions_are_refused(name: str, values: list[Any], tmp_path: pathlib.Path) -> None:
    """Kernels index by orders and sizes and divide by probabilities: the wrong ones never reach them."""
    learner = used("BanditLearner")
    for value in values:
        message = refused(resealed(learner, name, value), tmp_path)
        assert "its open decisions make no sense" in message


def test_a_block_that_holds_too_much_is_refused(tmp_path: pathlib.Path) -> None:
    """More rounds than a block has, or a larger sum than these rounds can have."""
    learner = BanditLearner(N, 1.0, (-1, 1), mode="central", block=3, seed=1)
    decisions = learner.ask(count=3)
    for decision in decisions[:2]:
        learner.tell(decision, 1.0)
    units = learner._core.units
    size = int(learner._drawn.numbers[0])  # type: ignore[union-attr]
    for told, total in ((4, 0), (-1, 0), (2, 2**40), (0, units)):
        message = refused(resealed(learner, "draws.numbers", [[size, told, total]]), tmp_path)
        assert "its open decisions make no sense" in message
    as_it_was = from_bytes(resealed(learner, "draws.numbers", [[size, 2, 2 * units]]))
    assert state_of(as_it_was) == state_of(learner)


@pytest.mark.parametrize(
    ("learner", "array", "changes"),
    [
        ("BanditLearner", "core.rounds", [(0, -1), (0, 2**33), (0, 2**63 - 1), (0, 3)]),
        ("BanditLearner", "core.rounds", [(UPDATES, -1), (UPDATES, 9), (UPDATES, 2**62)]),
        ("BanditLearner", "core.x", [(0, -0.1), (1, 1.1), (2, np.nan), (0, np.inf)]),
        ("BanditLearner", "core.levels", [(0, np.nan)]),
        ("BanditLearner central", "core.rounds", [(UPDATES, 3)]),
        ("FullInformationLearner", "core.rounds", [(0, -1), (0, 2**33)]),
        ("FullInformationLearner", "core.counts", [(IN_BLOCK, -1), (IN_BLOCK, 7), (IN_BLOCK, 2**62)]),
        ("FullInformationLearner", "core.counts", [(LENGTH, 0), (LENGTH, -7), (LENGTH, 1), (LENGTH, 2**40)]),
        ("FullInformationLearner", "core.counts", [(BLOCKS, -1), (BLOCKS, 9)]),
        ("FullInformationLearner", "core.adapted", [(SPENT, 0), (SPENT, -1), (SPENT, np.nan)]),
        ("FullInformationLearner", "core.adapted", [(EXACT_LENGTH, 0.5), (EXACT_LENGTH, 1e9)]),
        ("FullInformationLearner", "core.block", [(0, 2**40), (1, 2**62), (2, -(2**63))]),
        ("FullInformationLearner", "core.vector", [(0, 1)]),
        ("FullInformationLearner tree", "core.rounds", [(0, -1), (0, 7), (0, 9), (0, 257)]),
        (
            "FullInformationLearner tree",
            "core.mechanism.state.digits",
            [(0, 77), (1, 8), (ALL, 5), (ALL, -5)],
        ),
        ("SubmodPFTAL", "core.rounds", [(0, -1), (0, 7), (0, 9), (0, 257)]),
        ("SubmodPFTAL", "core.mechanism.state.digits", [(ALL, 1), (ALL, 0), (ALL, -1), (0, 8), (8, 1)]),
        ("SubmodPFTAL", "core.vector", [(0, 2**62)]),
        ("SubmodPFTAL spherical", "core.mechanism.state.digits", [(ALL, 1), (ALL, 0), (0, 8), (8, 1)]),
        ("BanditSubmodPFTAL", "core.rounds", [(0, -(2**63)), (0, 7), (0, 257)]),
        ("BanditSubmodPFTAL", "core.mechanism.state.digits", [(ALL, 1), (0, 7)]),
        ("BanditSubmodPFTAL", "core.estimate", [(0, 1e300)]),
        ("HazanKale", "core.rule.before", [(0, np.nan)]),
        ("ExponentialWeights", "core.losses", [(ALL, np.nan), (0, np.inf)]),
        ("RandomSet", "core.rounds", [(0, -1)]),
    ],
)
def test_damaged_cores_are_refused(
    learner: str, array: str, changes: list[tuple[Any, Any]], tmp_path: pathlib.Path
) -> None:
    """Counters beyond what arrays have room for, digits of another round, sums that no rounds add up to."""
    original = used(learner)
    for place, value in changes:
        changed = array_of(original, array)
        changed[place] = value
        assert "damaged" in refused(resealed(original, array, changed), tmp_path)


@pytest.mark.parametrize("name", LEARNERS)
def test_arrays_of_other_shapes_and_types_are_refused(name: str, tmp_path: pathlib.Path) -> None:
    """One entry more, one dimension more, numbers of another type, or none at all."""
    learner = used(name)
    document = exclusive.opened(learner._whole())
    for key in document["arrays"]:
        array = array_of(learner, key)
        other = array.astype(np.float64 if array.dtype != np.float64 else np.int64)
        longer = np.concatenate([array, array[:1]]) if array.size else np.zeros(1, array.dtype)
        for wrong in (longer, array[None], other):
            refused(resealed(learner, key, wrong), tmp_path)
        kept = {other: document["arrays"][other] for other in document["arrays"] if other != key}
        refused(exclusive.sealed(document | {"arrays": kept}), tmp_path)


def test_things_that_are_no_arrays_are_refused(tmp_path: pathlib.Path) -> None:
    """Not the package's way of writing them: other types, text that is no number, too few bytes."""
    document = exclusive.opened(used("BanditLearner")._whole())
    packed = document["arrays"]["core.x"]
    wrong = [7, None, {}, packed | {"data": "?"}, packed | {"data": ""}, packed | {"data": "AAAA"}]
    wrong += [
        packed | {"dtype": "O"},
        packed | {"dtype": []},
        packed | {"shape": [-1, -1]},
        packed | {"shape": "x"},
    ]
    for replacement in wrong:
        arrays = document["arrays"] | {"core.x": replacement}
        refused(exclusive.sealed(document | {"arrays": arrays}), tmp_path)


@pytest.mark.parametrize("name", LEARNERS)
def test_random_damage_is_refused_or_harmless(name: str) -> None:
    """Seed 0, absurd numbers in every array in turn: no other error, and points that stay in the cube.

    Run with NUMBA_BOUNDSCHECK=1 (and a NUMBA_CACHE_DIR of its own) this also shows that no kernel reads or
    writes beyond its arrays.
    """
    rng = np.random.default_rng(0)
    absurd = {
        "int64": np.array([-(2**63), 2**63 - 1, -1, 0, 1, 3, 4, 8, 9, 77, 256, 2**31, 2**62]),
        "float64": np.array([0.0, 1.0, -1.0, 0.5, 1e300, -1e300, 1e-300]),
        "bool": np.array([True, False]),
    }
    learner = used(name)
    document = exclusive.opened(learner._whole())
    for key, packed in document["arrays"].items():
        for entries in (1, 10**6):
            array = exclusive._unpacked(packed).copy()
            if array.size == 0 or key == "pending.names":
                continue
            places = rng.choice(array.size, size=min(entries, array.size), replace=False)
            array.flat[places] = rng.choice(absurd[str(array.dtype)], size=places.size)
            arrays = document["arrays"] | {key: exclusive._packed(array)}
            try:
                restored = from_bytes(exclusive.sealed(document | {"arrays": arrays}))
            except InvalidArgument:
                continue
            transcript(restored, 12, late=[9, 11, 10])
            assert np.all((restored.point >= 0) & (restored.point <= 1))
