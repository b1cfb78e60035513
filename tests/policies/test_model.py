"""The model policy: what it plans, remembers and forgets, and when it gives up."""

from typing import Any

import numpy as np
import pytest

from discreet.checks import FloatArray
from discreet.errors import InvalidType
from discreet.kernel import Phase, Released
from discreet.policies import ChainBandit, Model
from discreet.policies.candidates import LONGEST
from discreet.policies.memory import KEEP, Seen
from discreet.policies.model import MODEL, PLANNER, REST, RESTARTS_AT_FIRST, WORST_CASE
from discreet.policies.model_state import BEFORE, FAILED, RESTARTS, ROUNDS, TOTAL, ModelState, Noise
from discreet.randomness import BitSource

N, UNITS = 5, 1 << 20
CENTRAL, LOCAL = Noise(0.0, 0.125), Noise(1.2, 0.0)
#: Linear, with a pair that helps: {0, 1, 3} is best.
WEIGHTS = np.array([-0.2, -0.1, 0.3, -0.2, 0.2])


def policy(noise: Noise = CENTRAL, n: int = N, **options: Any) -> Model:
    worst = ChainBandit(np.full(n, 0.5), units=UNITS, rounds=4, exploration=0.4, step=3.0, prior=1.0)
    return Model(worst, noise, **({"unit": 1 / UNITS, "epsilon": 1.0} | options))


def cost(members: Any) -> float:
    """Of some items, in halves of the range."""
    inside = np.isin(np.arange(N), list(members))
    return float(WEIGHTS[inside].sum()) - 0.1 * (inside[0] and inside[1])


def opposite(members: Any) -> float:
    return -cost(members)


def sets_of(phase: Phase) -> list[frozenset[int]]:
    return [
        frozenset(row[:size].tolist()) for row, size in zip(phase.order, phase.size.tolist(), strict=True)
    ]


def released(phase: Phase, costs: Any = cost, noise: Any = None) -> Released:
    """The sums of a phase whose sets have these mean costs; with an rng, and noise."""
    means = np.array([costs(members) for members in sets_of(phase)])
    sums = means * phase.rounds
    if noise is not None:
        sums = sums + noise.laplace(0, 0.25, sums.size)
    return Released(phase.note, phase.rounds, np.rint(sums * UNITS).astype(np.int64)[:, None])


def run(
    made: Model, phases: int, costs: Any = cost, seed: int = 1, state: Any = None
) -> tuple[ModelState, list[Phase]]:
    coins, noise, played = BitSource(seed), np.random.default_rng(seed), []
    state = made.start() if state is None else state
    for _ in range(phases):
        played.append(made.plan(state, coins))
        state = made.learn(state, released(played[-1], costs, noise))
    return state, played


def copy_of(state: ModelState) -> list[list[Any]]:
    parts = [state.x, *state.seen, state.scales, state.counts, *state.worst]
    return [part.tolist() for part in parts]


def known(state: ModelState) -> dict[bytes, tuple[float, ...]]:
    """What is remembered of each set."""
    seen = state.seen
    return {
        seen.signs[i].tobytes(): (seen.totals[i], seen.rounds[i], seen.releases[i])
        for i in np.flatnonzero(seen.rounds > 0)
    }


@pytest.mark.parametrize("noise", [CENTRAL, LOCAL, Noise(0.0, 0.0)], ids=["central", "local", "none"])
def test_it_finds_the_best_set(noise: Noise) -> None:
    """Of a function that is not linear, and plays it most; nothing that it was given has changed."""
    made = policy(noise)
    state, _ = run(made, 15)
    before = copy_of(state)
    last = made.plan(state, BitSource(3))
    made.learn(state, released(last))
    assert copy_of(state) == before
    assert np.flatnonzero(made.point(state)).tolist() == [0, 1, 3]
    assert sets_of(last)[0] == {0, 1, 3}
    assert last.rounds[0] == last.rounds.max()
    best = last.rounds[[members == {0, 1, 3} for members in sets_of(last)]].sum()
    assert best > 0.3 * last.rounds.sum()
    made.point(state)[:] = 7.0
    assert copy_of(state) == before


def test_the_first_phase_knows_nothing() -> None:
    """Its start, everything, nothing and random sets, for as many rounds each."""
    made = policy()
    phase = made.plan(made.start(), BitSource(2))
    sets = sets_of(phase)
    assert len(set(sets)) == len(sets) >= 6
    assert {frozenset(), frozenset(range(N))} <= set(sets)
    assert np.unique(phase.rounds).size == 1
    assert (phase.note[:, PLANNER] == MODEL).all()
    for members, note in zip(sets, phase.note, strict=True):
        assert np.flatnonzero(note[REST : REST + N] > 0).tolist() == sorted(members)


def test_equal_sets_are_added_up() -> None:
    """Their sums, rounds and releases; the mean is of all costs that were released."""
    made = policy()
    state, phases = run(made, 6, seed=2)
    wanted: dict[bytes, list[float]] = {}
    total, rng = 0.0, np.random.default_rng(2)
    for phase in phases:
        values = released(phase, noise=rng).values[:, 0] / UNITS
        total += values.sum()
        for note, value, rounds in zip(phase.note, values, phase.rounds, strict=True):
            entry = wanted.setdefault(note[REST : REST + N].tobytes(), [0.0, 0.0, 0.0])
            for place, number in enumerate((value, rounds, 1)):
                entry[place] += number
    found = known(state)
    assert found.keys() == wanted.keys()
    for key, entry in wanted.items():
        assert found[key] == pytest.approx(tuple(entry), abs=1e-6)
    assert state.counts[TOTAL] == pytest.approx(total)
    assert made.mean(state) == pytest.approx(total / state.counts[ROUNDS])
    assert made.mean(made.start()) is None


def test_the_sets_that_were_played_least_are_forgotten() -> None:
    """When there is no more room, one for each new set; known ones keep their place."""
    n = 12
    rng = np.random.default_rng(5)
    seen, parts = Seen.nothing(n, 0), np.zeros((KEEP, 0))
    every = np.array([[1.0 if code >> i & 1 else -1.0 for i in range(n)] for code in range(KEEP + 3)])
    rounds = rng.permutation(KEEP) + 10.0
    seen.add(Seen(every[:KEEP], np.zeros(KEEP), 2 * rounds, rounds, np.ones(KEEP), parts))
    assert (seen.rounds == rounds).all()
    again = every[[KEEP, 7, KEEP + 1, KEEP]]
    seen.add(Seen(again, np.zeros(4), np.ones(4), np.full(4, 50.0), np.ones(4), parts[:4]))
    left = {signs.tobytes(): r for signs, r in zip(seen.signs, seen.rounds, strict=True)}
    assert left[every[KEEP].tobytes()] == 100
    assert left[every[KEEP + 1].tobytes()] == 50
    assert left[every[7].tobytes()] == rounds[7] + 50
    for forgotten in np.argsort(rounds)[:2]:
        assert every[forgotten].tobytes() not in left or forgotten == 7
    assert len(left) == KEEP


def test_memory_is_bounded() -> None:
    """The shapes of a state after 200 phases are those of the first, and no phase is too long to shuffle."""
    made = policy()
    shapes = [np.shape(part) for part in copy_of(made.start())]
    state, phases = run(made, 200)
    assert [np.shape(part) for part in copy_of(state)] == shapes
    assert max(int(phase.rounds.sum()) for phase in phases) == pytest.approx(LONGEST, rel=1e-3)
    assert np.flatnonzero(made.point(state)).tolist() == [0, 1, 3]


@pytest.mark.parametrize("noise", [Noise(0.0, 1e13), Noise(1e13, 0.0)], ids=["central", "local"])
def test_tiny_epsilons_have_phases_that_can_be_dealt(noise: Noise) -> None:
    """However many rounds it would take to see anything."""
    state, phases = run(policy(noise, epsilon=1e-6), 3)
    assert all(LONGEST / 2 < phase.rounds.sum() <= LONGEST for phase in phases)
    assert np.isfinite(state.seen.totals).all()


# A world that changes


def test_a_change_is_noticed_and_nothing_else() -> None:
    """Seeds 2 to 4: no restart in 30 phases of one world, one in the first phase or two of its opposite.

    After it only the new world is remembered.
    """
    for seed in range(2, 5):
        made = policy()
        state, _ = run(made, 30, seed=seed)
        assert state.counts[RESTARTS] == state.counts[BEFORE] == 0
        after, phases = run(made, 2, opposite, seed, state)
        assert after.counts[RESTARTS] == 1
        assert after.counts[BEFORE] >= state.counts[ROUNDS]
        rounds = after.counts[ROUNDS] - after.counts[BEFORE]
        assert after.seen.rounds.sum() == rounds <= sum(int(phase.rounds.sum()) for phase in phases)
        later, _ = run(made, 12, opposite, seed, after)
        assert np.flatnonzero(later.x).tolist() == [2, 4]


def test_one_number_far_out_is_no_change() -> None:
    """Laplace noise has heavy tails: a single slot may not restart; many that are off together do.

    Nor do few rounds of one set, whose costs are no means.
    """
    made = policy(Noise(0.0, 800.0))
    state, _ = run(made, 3)
    single = made.plan(state, BitSource(5), np.arange(3))
    alone = made.learn(state, Released(single.note, single.rounds, np.array([[10**6 * UNITS]])))
    assert alone.counts[RESTARTS] == 0
    phase = made.plan(state, BitSource(5))
    shifted = released(phase).values.copy()
    shifted[-1] += 10**6 * UNITS
    one = made.learn(state, Released(phase.note, phase.rounds, shifted))
    assert one.counts[RESTARTS] == 0
    shifted = shifted + 10**6 * UNITS
    many = made.learn(state, Released(phase.note, phase.rounds, shifted))
    assert many.counts[RESTARTS] == 1


def changing(made: Model, phases: int = 200) -> tuple[ModelState, list[Phase]]:
    """A world that is turned around after every phase, until the policy gives up; and all phases."""
    state, coins, planned = made.start(), BitSource(1), []
    for sign in [0.9, -0.9] * (phases // 2):
        planned.append(made.plan(state, coins))
        if state.counts[FAILED]:
            return state, planned
        state = made.learn(state, released(planned[-1], lambda members, s=sign: s if 0 in members else -s))
    raise AssertionError("It never gave up.")


def test_the_worst_case_takes_over_where_no_model_fits() -> None:
    """For good, from its own start; the restarts were as many as are allowed, and one."""
    made = policy()
    state, phases = changing(made)
    allowed = RESTARTS_AT_FIRST + state.counts[ROUNDS] / 4000
    assert allowed < state.counts[RESTARTS] <= allowed + 1
    worst = made._worst
    assert state.x.tolist() == worst.start().x.tolist()
    last, slow = phases[-1], worst.start()
    assert (last.note[:, PLANNER] == WORST_CASE).all()
    assert last.rounds.tolist() == [4]
    coins, other = BitSource(9), BitSource(9)
    for k in range(20):
        mine, its = made.plan(state, coins), worst.plan(slow, other)
        assert sets_of(mine) == sets_of(its)
        assert mine.chance.tolist() == its.chance.tolist()
        numbers = np.array([[(-1) ** k * UNITS]])
        state = made.learn(state, Released(mine.note, mine.rounds, numbers))
        slow = worst.learn(slow, Released(its.note, its.rounds, numbers))
        assert made.point(state).tolist() == slow.x.tolist()
        assert [part.tolist() for part in state.worst] == [part.tolist() for part in slow]
    assert state.counts[FAILED] == 1


def test_phases_of_the_model_that_close_late_do_no_harm() -> None:
    """After the worst case has taken over they count as rounds, and nothing else changes."""
    made = policy()
    state, phases = changing(made)
    late = made.learn(state, released(phases[-2]))
    assert late.counts[ROUNDS] == state.counts[ROUNDS] + phases[-2].rounds.sum()
    same = [ROUNDS, TOTAL]
    before, after = np.delete(state.counts, same), np.delete(late.counts, same)
    assert before.tolist() == after.tolist()
    assert copy_of(late._replace(counts=state.counts)) == copy_of(state)
    # Those of both in one release: each is learned from by who planned it.
    worst = made.plan(state, BitSource(4))
    both = Released(
        np.concatenate((phases[-2].note, worst.note)),
        np.concatenate((phases[-2].rounds, worst.rounds)),
        np.concatenate((released(phases[-2]).values, [[UNITS]])),
    )
    alone = made.learn(late, Released(worst.note, worst.rounds, np.array([[UNITS]])))
    assert copy_of(made.learn(state, both)) == copy_of(alone)


def test_old_rounds_count_half_after_a_half_life() -> None:
    """Exactly, and there are no restarts: it forgets anyway."""
    made = policy(half_life=500.0)
    state, _ = run(made, 10)
    phase = made.plan(state, BitSource(7))
    after = made.learn(state, released(phase))
    share = 0.5 ** (phase.rounds.sum() / 500)
    assert after.seen.rounds.sum() == pytest.approx(state.seen.rounds.sum() * share + phase.rounds.sum())
    turned, _ = run(made, 12, opposite, state=after)
    assert turned.counts[RESTARTS] == 0
    assert np.flatnonzero(turned.x).tolist() == [2, 4]


# What is known beforehand


def test_a_prior_is_where_it_starts() -> None:
    """Its best set, before any round. A wrong one is overruled, as a change of the world if need be."""
    signs = np.array([[-1.0, -1, 1, -1, 1], [1, 1, -1, 1, -1], [-1, -1, -1, -1, -1]])
    for weight in (0.01, 1.0, 1e9):
        wrong = np.array([-0.5, 0.5, 0.0]) * weight
        made = policy(
            prior=Seen(signs, np.zeros(3), wrong, np.full(3, weight), np.zeros(3), np.zeros((3, 0)))
        )
        assert np.flatnonzero(made.point(made.start())).tolist() == [2, 4]
        assert made.mean(made.start()) is None
        state, _ = run(made, 12, seed=2)
        assert np.flatnonzero(made.point(state)).tolist() == [0, 1, 3]
        assert state.counts[RESTARTS] <= 1
    assert made._prior is not None
    assert made._prior.rounds.tolist() == [1e9] * 3


@pytest.mark.parametrize("failed", [False, True])
def test_some_items_only(failed: bool) -> None:
    """One set of them for one round, also before anything is known and after the worst case took over."""
    made, coins = policy(), BitSource(2)
    states = [made.start(), changing(made)[0] if failed else run(made, 12)[0]]
    for state in states:
        chosen = set()
        for available in ([0, 2, 4], [1], []):
            for _ in range(10):
                phase = made.plan(state, coins, np.array(available, dtype=np.int64))
                assert phase.rounds.tolist() == [1]
                assert sorted(phase.order[0].tolist()) == available
                (members,) = sets_of(phase)
                chosen.add(members)
                state = made.learn(state, released(phase))
        assert {frozenset(), frozenset({1})} <= chosen or state is states[1]
    if not failed:  # a round of one set is remembered like any other, and what is known is used
        signs = np.where(np.isin(np.arange(N), [1]), 1.0, -1.0)
        assert known(state)[signs.tobytes()][1] >= 10
        best = made.plan(state, coins, np.array([0, 1, 2]))
        assert sets_of(best) == [frozenset({0, 1})]


@pytest.mark.parametrize("n", [1, 2, 3, 64])
def test_any_number_of_items(n: int) -> None:
    """From one, whose two sets leave no room for scouts, to as many as there may be."""
    made = policy(n=n)
    state, coins = made.start(), BitSource(1)
    for _ in range(5):
        phase = made.plan(state, coins)
        values = np.rint(phase.rounds * (phase.size == 0) * 0.5 * UNITS).astype(np.int64)
        state = made.learn(state, Released(phase.note, phase.rounds, values[:, None]))
    assert len(phase.rounds) == len(set(sets_of(phase)))
    assert made.point(state).any()


def test_reports_are_refused() -> None:
    """It learns from what is released, and from nothing else."""
    made = policy()
    with pytest.raises(InvalidType):
        made.learn(made.start(), np.zeros(3))  # type: ignore[arg-type]


def test_points_are_sets() -> None:
    """Levels of a start are played by rounding, and everything later is a set."""
    worst = ChainBandit(
        np.array([0.2, 0.7, 0.5]), units=UNITS, rounds=4, exploration=0.4, step=3.0, prior=1.0
    )
    made = Model(worst, CENTRAL, unit=1 / UNITS, epsilon=1.0)
    state = made.start()
    assert made.point(state).tolist() == [0.2, 0.7, 0.5]
    phase = made.plan(state, BitSource(1))
    assert sets_of(phase)[0] == {1}
    sums = np.zeros((len(phase.rounds), 1), dtype=np.int64)
    point: FloatArray = made.point(made.learn(state, Released(phase.note, phase.rounds, sums)))
    assert set(point.tolist()) <= {0.0, 1.0}
