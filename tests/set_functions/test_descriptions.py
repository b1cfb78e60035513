"""Descriptions from strangers: what is built of them is in proportion to what was sent."""

import json
import tracemalloc
from typing import Any

import numpy as np
import pytest

from discreet.errors import DiscreetError
from discreet.set_functions import Coverage, MatroidRank, SetFunction
from discreet.set_functions.descriptions import affordable
from families import FAMILIES

HUGE = 10**9
LAST_TARGET = 10**8 - 1


def nested(kind: str, inner: dict[str, Any], times: int, **fields: Any) -> dict[str, Any]:
    """A function of a function of a function, so many times."""
    for _ in range(times):
        inner = {"kind": kind, "function": inner, **fields}
    return inner


#: Short descriptions of functions of 3 items, or of none, that would fill the memory.
HOSTILE: dict[str, dict[str, Any]] = {
    "items": {"kind": "Iwata", "n": HUGE},
    "as many as learners have": {"kind": "Iwata", "n": 4},
    "of a cut": {"kind": "Cut", "n": HUGE, "tails": [], "heads": [], "weights": []},
    "of bundles": {"kind": "Bundles", "n": HUGE, "groups": []},
    "of hyperedges": {"kind": "HypergraphCut", "n": HUGE, "hyperedges": []},
    "behind another": {"kind": "Sum", "functions": [0, {"kind": "Iwata", "n": HUGE}]},
    "inside a scaled one": {"kind": "Scaled", "factor": 1, "function": {"kind": "Iwata", "n": HUGE}},
    "inside a restricted one": {
        "kind": "Restriction",
        "kept": [0, 1, 2],
        "function": {"kind": "Iwata", "n": HUGE},
    },
    "of many terms": {
        "kind": "Sum",
        "functions": [
            {"kind": "Restriction", "kept": [0, 1, 2], "function": {"kind": "Iwata", "n": 10**5}}
            for _ in range(1000)
        ],
    },
    "at many levels": nested("Contraction", {"kind": "Iwata", "n": 10**6}, 400, chosen=[]),
    "at many levels of data": nested(
        "Contraction", {"kind": "Modular", "weights": [0] * 10**5}, 400, chosen=[]
    ),
    "no number": {"kind": "Iwata", "n": "3"},
    "no size": {"kind": "Iwata", "n": -1},
    "not even finite": {"kind": "Iwata", "n": float("nan")},
}


def test_sizes_that_nothing_stands_behind_are_not_afforded() -> None:
    """However they are wrapped, and before anything is built."""
    assert [name for name, description in HOSTILE.items() if affordable(description, 3)] == []


@pytest.mark.parametrize("family", ["modular", "cut", "coverage", "iwata", "matroid_rank", "table"])
def test_whatever_was_written_down_can_be_afforded(family: str) -> None:
    """Every family, and what is made from it."""
    f, _ = FAMILIES[family](5, np.random.default_rng(7))
    for made, items in (
        (f, 5),
        (2.0 * f, 5),
        (f.complement(), 5),
        (f + f, 5),
        (f.restrict([0, 3]), 2),
        (f.contract([0, 3]), 3),
        (f.restrict([0, 1, 2]).contract([1]).complement() + f.restrict([0, 1]), 2),
    ):
        assert affordable(json.loads(json.dumps(made.to_dict())), items)


def test_large_sums_can_be_afforded() -> None:
    """Data are no promise: where the numbers themselves are sent, there may be many."""
    term = {"kind": "Bundles", "n": 2000, "groups": [[0, 1]], "costs": [0.5] * 2000}
    assert affordable({"kind": "Sum", "functions": [term] * 1000}, 2000)


@pytest.mark.parametrize(
    "description",
    [
        {"kind": "MatroidRank", "edges": [[0, HUGE], [HUGE, 7], [7, 0]]},
        {"kind": "MatroidRank", "edges": [[0, 1], [1, 7], [7, 0]], "vertices": HUGE},
        {"kind": "Coverage", "covers": [[0, LAST_TARGET], [LAST_TARGET], [5]]},
        {"kind": "Coverage", "covers": [["9" * 10_000, *["1"] * 10_000]]},
        {"kind": "MatroidRank", "edges": [["9" * 10_000, "1"], *[["1", "1"]] * 10_000]},
        {"kind": "Cut", "n": 3, "tails": [["9" * 10_000, *["1"] * 10_000]], "heads": [0], "weights": [1]},
    ],
)
def test_large_numbers_and_strings_take_no_memory(description: dict[str, Any]) -> None:
    """Names of vertices and targets, and entries that are no numbers at all."""
    for small in (MatroidRank([[0, 1], [1, 2], [2, 0]]), Coverage([[0], [1], [2]])):
        small.chain_values([2, 1, 0])  # compiling takes memory, too
    tracemalloc.start()
    try:
        SetFunction.from_dict(description).chain_values([2, 1, 0])
    except DiscreetError:
        pass
    finally:
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    assert peak < 5_000_000


def test_names_of_vertices_and_targets_do_not_matter() -> None:
    """Only which are the same."""
    rank = MatroidRank([(0, HUGE), (HUGE, 7), (7, 0)])
    assert rank.chain_values([0, 1, 2]).tolist() == [0, 1, 2, 2]
    assert rank.to_dict()["edges"] == [[0, HUGE], [HUGE, 7], [7, 0]]
    cover = Coverage([[0, LAST_TARGET], [LAST_TARGET], [5]])
    assert cover.chain_values([0, 1, 2]).tolist() == [0, 2, 2, 3]
    assert Coverage([])([]) == 0
    assert Coverage([[], [3]]).chain_values([0, 1]).tolist() == [0, 0, 1]
