"""Choose: phases that double, alarms, and what it does after one."""

import math
from typing import Any

import numpy as np
import pytest

from discreet.kernel.choice import ENDS, HELD, KIND, PHASE
from discreet.kernel.phase import Released
from discreet.kernel.queries import GRADIENT
from discreet.policies import Averaging, Choose
from discreet.policies.choose import SURE, THRESHOLD, regret_before_alarm, sureness
from discreet.randomness import BitSource

N = 3
START = np.array([0.2, 0.5, 0.9])
NOISE, SPREAD = 40.0, 2.0


def policy(**options: Any) -> Choose:
    averaging = Averaging(START, unit=1.0, shortest=7, longest=70, noise_energy=1.0, first_spent=1.0)
    given = {"first": 20, "shortest": 30, "noise": NOISE, "spread": SPREAD} | options
    return Choose(averaging, **given)


def planned(made: Choose, state: Any) -> Any:
    return made.plan(state, BitSource(1))


def learned(made: Choose, state: Any, phase: Any, *values: int) -> Any:
    rows = np.array([[*values, *[0] * (N - len(values))]])
    return made.learn(state, Released(phase.note, phase.rounds, rows))


def run(made: Choose, until: int, chosen: int = 5) -> tuple[Any, list[Any]]:
    """The state after so many rounds without an alarm, and all phases."""
    state, phases, done = made.start(), [], 0
    while done < until:
        phase = planned(made, state)
        state = learned(made, state, phase, 0, chosen if phase.note[0, ENDS] else -1)
        phases.append(phase)
        done += int(phase.rounds[0])
    return state, phases


def test_phases_double_and_are_cut_into_slots() -> None:
    """Each ends where as many rounds were played as before it; slots have about t^(2/3) rounds."""
    _, phases = run(policy(), 20 * 2**8)
    ends, done = [], 0
    for phase in phases:
        rounds, wanted = int(phase.rounds[0]), max(30, int(done ** (2 / 3)))
        assert wanted / 3 <= rounds <= 1.5 * wanted
        done += rounds
        if phase.note[0, ENDS]:
            ends.append(done)
    assert ends == [20 * 2**k for k in range(9)]
    assert len(phases) > 20


def test_it_plays_its_start_and_then_the_chosen_set() -> None:
    """The first phase draws level sets of the point; then the set is held, and is the point."""
    made = policy()
    state = made.start()
    first = planned(made, state)
    assert first.chance[0].tolist() == pytest.approx([0.1, 0.4, 0.3, 0.2])
    state = learned(made, state, first, 10**15, 0b101)  # no difference matters before a set is held
    second = planned(made, state)
    assert made.point(state).tolist() == [1.0, 0.0, 1.0]
    assert sorted(second.order[0, :2].tolist()) == [0, 2]
    assert second.chance[0].tolist() == [0.0, 0.0, 1.0, 0.0]
    assert (second.note[0, HELD], second.note[0, PHASE]) == (0b101, 1)


@pytest.mark.parametrize("until", [20, 2000])
def test_a_difference_above_the_threshold_is_an_alarm(until: int) -> None:
    """It starts to average, from its start, for good; just at the threshold it goes on."""
    made = policy()
    state, phases = run(made, until)
    phase = planned(made, state)
    threshold = float(phase.note[0, THRESHOLD])
    expected = NOISE * (SURE + math.log(len(phases) + 1)) + SPREAD * math.sqrt(phase.rounds[0])
    assert threshold == pytest.approx(expected)
    chosen = 6 if phase.note[0, ENDS] else -1
    assert planned(made, learned(made, state, phase, math.floor(threshold), chosen)).note[0, KIND] == 0
    over = learned(made, state, phase, math.floor(threshold) + 1, chosen)
    after = planned(made, over)
    assert (after.note[0, KIND], after.rounds[0]) == (GRADIENT, 7)
    assert made.point(over).tolist() == START.tolist()
    late = learned(made, over, phase, 0, 6)  # of a slot that was dealt before
    assert made.point(late).tolist() == START.tolist()
    moved = learned(made, late, after, 5, 0, -5)
    assert (moved.released.tolist(), planned(made, moved).note[0, KIND]) == ([5.0, 0.0, -5.0], GRADIENT)


def test_noise_alone_is_rarely_an_alarm() -> None:
    """In 10,000 slots with a probability below 10%: exp(-SURE) / 2 times a harmonic number."""
    assert sum(0.5 * math.exp(-sureness(k)) for k in range(10_000)) < 0.1


def test_regret_before_an_alarm_grows_slower_than_rounds() -> None:
    """Like T^(2/3), and it is the sum over the slots that are planned."""
    made = policy()
    _, phases = run(made, 20 * 2**6)
    held = phases[1:]
    total = sum(min(2.0 * phase.rounds[0], phase.note[0, THRESHOLD] + NOISE / 2) for phase in held) + 2 * (
        20 + max(int(phase.rounds[0]) for phase in held)
    )
    assert regret_before_alarm(made.constants, 2, 20 * 2**6) == pytest.approx(total)
    ratio = regret_before_alarm(made.constants, 2, 10**9) / regret_before_alarm(made.constants, 2, 10**6)
    assert ratio < 1000 ** (2 / 3) * 1.1
