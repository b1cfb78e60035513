"""Leaders: what they take, how long slots are, and when the watched one changes over."""

import math
from typing import Any

import numpy as np
import pytest

from discreet import FullInformationLearner
from discreet.environments import Environment, checkout, cuts, modular
from discreet.kernel import Released
from discreet.policies import Averaging, DoublingLeader, WatchedLeader
from discreet.policies.averaging import LENGTH
from discreet.policies.leaders import (
    CUT,
    DOUBLED,
    PLAIN,
    ROUNDS,
    SEEN,
    STEPS,
    WatchedState,
    hold,
    leader_length,
)
from discreet.randomness import BitSource
from discreet.simulation import regret

START = np.array([0.5, 0.25, 0.75])
UNIT = 0.01
FIRST = 40


def averaging() -> Averaging:
    return Averaging(START, unit=UNIT, shortest=8, longest=128, noise_energy=4.0, first_spent=0.8)


def watched(noise: float = 10.0) -> WatchedLeader:
    return WatchedLeader(averaging(), unit=UNIT, noise=noise, half=1.0, first=FIRST)


def slot(note: float, rounds: int, gradient: Any, cut: float = 0.0) -> Released:
    """What is released of one slot without any noise, given in values."""
    factor = 2 if note == DOUBLED else 1
    units = np.rint(np.array([[*(factor * np.array(gradient)), cut]]) / UNIT).astype(np.int64)
    return Released(np.array([[note]]), np.array([rounds]), units)


def follow(policy: WatchedLeader, slots: int, rates: Any, cut: float = 0.0) -> list[WatchedState]:
    """The states after some slots, whose gradients per round are `rates(k)` in the k-th."""
    states = [policy.start()]
    for k in range(slots):
        state = states[-1]
        phase = policy.plan(state, BitSource(k))
        rounds, note = int(phase.rounds[0]), float(phase.note[0, 0])
        states.append(policy.learn(state, slot(note, rounds, rounds * np.array(rates(k)), cut * rounds)))
    return states


def test_a_doubling_leader_takes_what_is_negative_for_as_long_as_it_took() -> None:
    """First all or nothing; then the same number of rounds again and again."""
    policy = DoublingLeader(3, 10)
    state, lengths = policy.start(), []
    for k, row in enumerate([[-5, 3, 0], [9, -7, -1], [-9, 0, 0]]):
        phase = policy.plan(state, BitSource(1))
        lengths.append(int(phase.rounds[0]))
        assert phase.chance[0].tolist() == [[0.5, 0, 0, 0.5], [0, 1, 0, 0], [0, 0, 1, 0]][k]
        state = policy.learn(state, Released(phase.note, phase.rounds, np.array([row])))
    assert lengths == [10, 10, 20]
    assert policy.point(state).tolist() == [1.0, 1.0, 1.0]


def test_a_held_point_is_drawn_as_its_level_sets() -> None:
    """Also among some of the items only."""
    phase = hold(START, START, 7, PLAIN)
    assert phase.order.tolist() == [[2, 0, 1]]
    np.testing.assert_allclose(phase.chance, [[0.25, 0.25, 0.25, 0.25]])
    among = hold(START, START, 7, PLAIN, np.array([0, 1]))
    assert among.order.tolist() == [[0, 1]]
    np.testing.assert_allclose(among.chance, [[0.5, 0.25, 0.25]])


def test_slots_double_and_then_grow_as_the_root() -> None:
    """No slot is longer than 2 sqrt(first t): what a single bad one can cost."""
    lengths, t = [], 0
    while t < 10**5:
        lengths.append(leader_length(FIRST, t))
        t += lengths[-1]
        assert lengths[-1] <= max(FIRST, 2 * math.sqrt(FIRST * t))
    assert lengths[:4] == [40, 40, 80, 160]
    assert len(lengths) < 4 + 1.3 * math.sqrt(t / FIRST)


def test_it_stays_a_leader_while_items_keep_their_worth() -> None:
    """The items of negative cost; the doubled gradients count once."""
    policy = watched()
    last = follow(policy, 20, lambda k: [-0.3, 0.2, -0.1])[-1]
    assert last.mode[0] == DOUBLED
    assert policy.point(last).tolist() == [1.0, 0.0, 1.0]
    np.testing.assert_allclose(last.released, (last.counts[ROUNDS] - FIRST) * np.array([-0.3, 0.2, -0.1]))
    assert last.counts[SEEN] == 0.0


def test_it_changes_over_when_what_it_takes_costs() -> None:
    """Items that cost as soon as they are taken: nobody who follows them gains."""
    policy = watched()
    state, seen = policy.start(), []
    for k in range(12):
        phase = policy.plan(state, BitSource(k))
        rate = np.where(policy.point(state) > 0, 0.4, -0.4)
        rounds = int(phase.rounds[0])
        state = policy.learn(state, slot(float(phase.note[0, 0]), rounds, rounds * rate))
        seen.append(state.mode[0])
    assert seen[0] == DOUBLED
    assert seen[-1] == STEPS
    assert sorted(seen, key=lambda mode: mode == STEPS) == seen  # for good


def test_it_changes_over_when_the_world_does() -> None:
    """Within a slot or two of the change, although its sums are still in favour of the old set."""
    states = follow(watched(), 14, lambda k: [-0.5, 0.5, -0.5] if k < 10 else [0.5, -0.5, 0.5])
    assert states[10].mode[0] == DOUBLED
    assert states[12].mode[0] == STEPS


def test_doubling_ends_when_much_is_cut_off() -> None:
    """And the leader goes on; what is little for the noise is no reason."""
    much, little = (follow(watched(), 8, lambda k: [-0.3, 0.2, -0.1], cut)[-1] for cut in (1.0, 0.001))
    assert (much.mode[0], little.mode[0]) == (PLAIN, DOUBLED)
    assert much.counts[CUT] > little.counts[CUT]


def test_after_the_change_it_is_averaging() -> None:
    """From its start, on the same numbers; slots of the leader that come late are not learned from."""
    policy, plain = watched(), averaging()
    state = policy.start()._replace(mode=np.array([STEPS]))
    wanted = plain.start()
    for k in range(5):
        phase, theirs = policy.plan(state, BitSource(k)), plain.plan(wanted, BitSource(k))
        for ours, other in zip(phase[:4], theirs[:4], strict=True):
            np.testing.assert_array_equal(ours, other)
        numbers = np.array([[30 * k, -200, 100 - k, 0]])
        state = policy.learn(state, Released(phase.note, phase.rounds, numbers))
        wanted = plain.learn(wanted, Released(theirs.note, theirs.rounds, numbers))
    late = policy.learn(state, slot(DOUBLED, FIRST, [5.0, -5.0, 5.0]))
    for found in (state, late):
        for ours, other in zip(found.averaging, wanted, strict=True):
            np.testing.assert_array_equal(ours, other)
    np.testing.assert_array_equal(policy.point(state), wanted.x)
    assert policy.length(state) == int(wanted.adapted[LENGTH])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("environment", "factor"),
    [(modular(24, 0.5), 1 / 3), (checkout(24), 1 / 3), (cuts(6), 1.1)],
    ids=["modular", "checkout", "cuts"],
)
def test_it_is_better_than_blocks_where_it_can_be(environment: Environment, factor: float) -> None:
    """Seeds 0 to 3, 2^16 rounds. On random cuts a leader that is not watched has 40 times their regret."""
    paid = {"leader": 0.0, "blocks": 0.0}
    for seed in range(4):
        for method in ("leader", "blocks"):
            learner = FullInformationLearner(
                environment.items, 1.0, environment.cost_range, method=method, seed=seed
            )
            paid[method] += regret(learner, environment.stream(2**16, seed))
    assert paid["leader"] <= factor * paid["blocks"]
