"""What policy and kernel hand each other: phases that can be dealt, secrets that cannot be read."""

import copy
import pickle
from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import InvalidArgument, InvalidType
from discreet.kernel.phase import (
    EACH_ROUND,
    LONGEST_DECK,
    Phase,
    Released,
    Report,
    Secret,
    Ticket,
    checked_phase,
    draw_size,
    shuffled_deck,
)
from discreet.randomness import BitSource


def test_sets_become_prefixes_of_orders() -> None:
    """Each row lists all items, members first, and notes count the sets unless told otherwise."""
    phase = Phase.of_sets(3, [[2, 0], [], {1}], rounds=[1, 2, 3])
    chosen = [set(row[:size]) for row, size in zip(phase.order.tolist(), phase.size, strict=True)]
    assert chosen == [{0, 2}, set(), {1}]
    assert all(sorted(row) == [0, 1, 2] for row in phase.order.tolist())
    assert phase.note.tolist() == [[0.0], [1.0], [2.0]]
    assert checked_phase(phase, 3).rounds.tolist() == [1, 2, 3]


GOOD = Phase.of_sets(3, [[0], [1, 2]], rounds=5)


@pytest.mark.parametrize(
    "change",
    [
        {"order": np.array([[0, 1, 2], [1, 1, 2]])},
        {"order": np.array([[0, 1, 3], [1, 2, 0]])},
        {"order": np.array([[0, 1, -1], [1, 2, 0]])},
        {"order": np.array([0, 1, 2])},
        {"order": GOOD.order.astype(np.int32)},
        {"order": GOOD.order.astype(object)},
        {"chance": np.zeros((2, 4))},
        {"chance": np.full((2, 4), np.nan)},
        {"chance": np.full((2, 4), 1.5)},
        {"chance": np.ones((2, 3))},
        {"chance": -np.ones((2, 4))},
        {"size": np.array([4, 0])},
        {"size": np.array([-2, 0])},
        {"size": np.array([EACH_ROUND, 0])},  # its chances add up to 4
        {"size": np.array([1])},
        {"rounds": np.array([0, 1])},
        {"rounds": np.array([-1, 1])},
        {"rounds": np.array([2**62, 2**62])},  # their sum wraps around
        {"rounds": np.array([LONGEST_DECK, 1])},
        {"rounds": np.array([1.0, 1.0])},
        {"note": np.array([[np.inf], [0.0]])},
        {"note": np.zeros(2)},
        {"note": np.zeros((3, 1))},
    ],
    ids=str,
)
def test_a_phase_that_cannot_be_dealt_is_refused(change: dict[str, Any]) -> None:
    """Compiled code trusts phases: whatever is wrong with one is found before."""
    with pytest.raises(InvalidArgument, match="cannot be dealt"):
        checked_phase(GOOD._replace(**change), 3)
    checked_phase(GOOD, 3)


def test_only_a_phase_is_a_phase() -> None:
    """A tuple of the same arrays is none; no slots are none either."""
    with pytest.raises(InvalidType, match="must plan a Phase"):
        checked_phase(tuple(GOOD), 3)
    with pytest.raises(InvalidArgument):
        checked_phase(Phase(*(part[:0] for part in GOOD)), 3)


def test_a_policy_cannot_change_a_phase_after_it_was_checked() -> None:
    """The kernel deals from a copy: an item out of range would write outside of arrays."""
    mine = Phase.of_sets(3, [[0]], rounds=2)
    checked = checked_phase(mine, 3)
    for part in mine:
        part[...] = 10**6
    assert checked.order.tolist() == [[0, 1, 2]]
    assert (checked.size.tolist(), checked.rounds.tolist(), checked.note.tolist()) == ([1], [2], [[0.0]])


@given(st.lists(st.integers(1, 20), min_size=2, max_size=5), st.integers(0, 99))
def test_every_slot_is_dealt_as_often_as_planned(rounds: list[int], seed: int) -> None:
    """In random order, by coins; one slot needs no deck and no coins."""
    phase = Phase.of_sets(2, [[0]] * len(rounds), rounds)
    deck = shuffled_deck(phase, BitSource(seed))
    assert Counter(deck.tolist()) == dict(enumerate(rounds))
    coins = BitSource(seed)
    before = coins.saved()
    assert shuffled_deck(Phase.of_sets(2, [[0]], 10**6), coins).size == 0
    assert coins.saved() == before


def test_a_deck_is_uniform() -> None:
    """Two slots of two rounds: the six orders of 6,000 decks (seeds 0..5999) are equally likely.

    False alarms in 1 of 10^6 runs (chi-squared, 5 degrees: 35.9); a deck that is only rotated is rejected.
    """
    phase = Phase.of_sets(2, [[0], [1]], rounds=2)
    seen = Counter(tuple(shuffled_deck(phase, BitSource(seed)).tolist()) for seed in range(6000))
    assert len(seen) == 6
    assert sum((count - 1000) ** 2 / 1000 for count in seen.values()) < 35.9


@given(st.lists(st.floats(0, 1), min_size=1, max_size=6), st.integers(0, 2**64 - 1))
def test_a_drawn_prefix_has_a_chance(weights: list[float], bits: int) -> None:
    """Whatever the sums round to, a prefix of probability zero is never drawn."""
    total = sum(weights)
    if total == 0 or not np.isfinite(1 / total):
        return
    chance = np.array(weights) / total
    size, cursor = draw_size(chance, EACH_ROUND, np.array([bits], dtype=np.uint64), 0)
    assert chance[size] > 0
    assert cursor == 1
    uniform = (bits >> 11) * 2.0**-53
    assert abs(np.cumsum(chance)[size] - uniform) <= chance[size] + 1e-12


# Secrets


def a_report() -> Report:
    ticket = Ticket(1, 0, 0, 1, 0.5, np.arange(3), np.zeros(1))
    return Report(ticket, Secret(np.array([7319])))


@pytest.mark.parametrize(
    "reading",
    [
        lambda secret: np.asarray(secret),
        lambda secret: np.array([secret], dtype=np.int64),
        lambda secret: np.add(secret, 1),
        float,
        int,
        list,
        lambda secret: secret + 0,
        lambda secret: secret[0],
        copy.copy,
        copy.deepcopy,
        pickle.dumps,
        vars,
    ],
)
def test_a_secret_cannot_be_read_copied_or_pickled(reading: Any) -> None:
    """Only a release reads it, by name."""
    with pytest.raises(TypeError):
        reading(a_report().units)


def test_a_secret_prints_as_nothing() -> None:
    """Neither it nor a report shows its number."""
    report = a_report()
    for text in (repr(report), str(report), f"{report.units}", repr([report.units])):
        assert "7319" not in text
    with pytest.raises(TypeError):
        pickle.dumps(report)


def test_what_is_released_is_read_only() -> None:
    """A policy cannot change what it was given, nor the record of it."""
    released = Released(np.zeros((2, 1)), np.ones(2, dtype=np.int64), np.ones((2, 3), dtype=np.int64))
    for part in (released.note, released.rounds, released.values):
        with pytest.raises(ValueError, match="read-only"):
            part[0] = 5
    with pytest.raises(AttributeError):
        released.values = np.zeros((2, 3))  # type: ignore[misc]
