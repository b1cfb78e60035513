"""FullInformationLearner(method="choose"): what it is told, plays and promises, in sessions and simulated."""

from typing import Any

import numpy as np
import pytest

from discreet import FullInformationLearner
from discreet.environments import TableStream, coverage, priced_cuts
from discreet.errors import InvalidArgument
from discreet.kernel.queries import GRADIENT
from discreet.loading import _learner_in as from_bytes
from discreet.policies.choose import AVERAGING, HOLDING, STAGE
from discreet.set_functions import FromCallable, Modular, Table
from discreet.simulation.loop import play, regret

N, T = 4, 2**13
MATCH = Table([0.5 * bin(code ^ 0b0110).count("1") - 1.0 for code in range(2**N)])  # best: items 1 and 2


def learner(**options: Any) -> FullInformationLearner[Any]:
    given: Any = {"items": N, "epsilon": 1.0, "cost_range": (-1, 1), "method": "choose", "seed": 5}
    return FullInformationLearner(**(given | options))


def stage(made: FullInformationLearner[Any]) -> int:
    return int(made._learned_state().counts[STAGE])


def test_the_method_follows_from_the_number_of_items() -> None:
    """Up to 16 it chooses; up to 20 if asked to."""
    for items, method in ((1, "choose"), (16, "choose"), (17, "leader")):
        assert FullInformationLearner(items, 1.0, (0, 1)).method == method
    assert learner(items=20).learner.dimension == 2**20
    with pytest.raises(InvalidArgument, match="at most 20 items"):
        learner(items=21)


def test_a_report_is_the_costs_of_all_sets() -> None:
    """On the grid, clipped; from any form of a function. After an alarm it is the gradient."""
    made = learner(epsilon=0.1)
    told = [Table(np.arange(16) / 10 - 0.8), lambda chosen: 5.0 if len(chosen) == 2 else float("nan")]
    for function in told:
        made.tell(made.ask(), function)
    half = 1 << 24
    expected = np.floor(np.arange(-8, 8) / 10 * half + 0.5)
    expected += np.array([half * (bin(code).count("1") == 2) for code in range(16)])
    assert made._phases[0].sums[0].tolist() == expected.tolist()
    made = learner()
    made._state.counts[STAGE] = AVERAGING
    decision = made.ask()
    made.tell(decision, Modular([0.25, 0.0, -0.25, 0.0]))
    assert made._phases[0].phase.note[0, 0] == GRADIENT
    assert made._phases[0].sums[0, :N].tolist() == [half // 4, 0, -half // 4, 0]
    assert not made._phases[0].sums[0, N:].any()


def test_nothing_is_raised_for_what_a_factory_makes() -> None:
    """It counts as the middle of the range, for every set."""
    made = learner()
    for factory in (lambda: 1 / 0, lambda: Modular([1.0]), lambda: "a cost", lambda: {"family": "none"}):
        made.tell(made.ask(), factory=factory)  # type: ignore[arg-type]
    assert not made._phases[0].sums.any()


@pytest.mark.parametrize("options", [{}, {"expire_after": 40}, {"maximize": True}])
def test_it_finds_the_best_set(options: dict[str, Any]) -> None:
    """Seed 5, 1,500 rounds at epsilon 5; also if it waits for feedback, and of rewards."""
    made, function = learner(epsilon=5.0, **options), -MATCH if options.get("maximize") else MATCH
    open_ones: list[Any] = []
    for _ in range(1500):
        open_ones.append(made.ask())
        if len(open_ones) > options.get("expire_after", 0):
            made.tell(open_ones.pop(0), function)
    assert (made.best, stage(made)) == ({1, 2}, HOLDING)
    assert made.point.tolist() == [0.0, 1.0, 1.0, 0.0]


def test_items_that_are_switched_off_are_left_out_of_the_held_set() -> None:
    """The rest of it is played, in the same slot, and what is told counts for all sets."""
    made = learner(epsilon=5.0)
    for _ in range(1500):
        made.tell(made.ask(), MATCH)
    phases, seen = made._planned, set()
    for available in ([0, 1], [3], [], [1, 2, 3]):
        decision = made.ask(available=available)
        assert decision.subset == {1, 2} & set(available)
        assert decision.probability == 1.0
        made.tell(decision, MATCH)
        seen.add(made._planned)
    assert seen == {phases}


def test_a_saved_learner_goes_on_as_the_same() -> None:
    """In the middle of a phase, with secret totals, and after an alarm; with the same seed the same sets."""

    def played(made: Any, saved_after: int) -> list[Any]:
        sets = []
        for t in range(1200):
            if t == saved_after:
                data = made.to_bytes()
                made = from_bytes(data)
            decision = made.ask()
            sets.append(decision.subset)
            flipped = 5 in (t // 100, t // 100 - 1) or t >= 900
            made.tell(decision, -MATCH if flipped else MATCH)
        assert stage(made) == AVERAGING
        return sets

    for saved_after in (333, 1100):
        assert played(learner(), saved_after) == played(learner(), -1)


def test_it_notices_that_the_world_has_changed() -> None:
    """Seeds 0 to 4: where the best set becomes the worst it changes over, and soon pays less again."""
    table = np.stack([MATCH.values, -MATCH.values])
    stream = TableStream(table, (np.arange(T) >= T // 2).astype(int))
    for seed in range(5):
        made = learner(seed=seed)
        # Had it held its set to the end of the phase of the change, after 6144 rounds, it would pay 1.
        assert play(made, stream)[5000:6000].mean() < -0.5
        assert stage(made) == AVERAGING


@pytest.mark.slow
def test_it_is_far_better_than_blocks_on_functions_that_are_drawn_alike() -> None:
    """Seeds 0 to 4, no false alarm; a learner that ignores what it is told would pay as much as blocks."""
    for environment in (priced_cuts(6), coverage(6)):
        ratios = []
        for seed in range(5):
            stream = environment.stream(T, seed=seed)
            made, blocks = (learner(items=6, seed=seed, method=m) for m in ("choose", "blocks"))
            ratios.append(regret(made, stream) / regret(blocks, stream))
            assert stage(made) == HOLDING
        assert np.mean(ratios) < 0.4


def test_bounds_add_up() -> None:
    """With watching: that of blocks, and what may be lost before; both grow slower than the rounds."""
    watched, blocks = learner(), learner(method="blocks")
    for rounds in (10**4, 10**7):
        assert blocks.regret_bound(rounds) < watched.regret_bound(rounds)
    assert watched.regret_bound(10**7) < 0.1 * 10**7
    assert learner(cost_range=(-2, 2)).regret_bound(10**6) == pytest.approx(2 * watched.regret_bound(10**6))


def test_a_python_function_that_fails_is_passed_on() -> None:
    """As for the other methods: it is the caller's mistake, and nothing is counted."""
    made = learner()
    decision = made.ask()

    def broken(chosen: Any) -> float:
        raise KeyError("no such item")

    with pytest.raises(KeyError):
        made.tell(decision, broken)
    made.tell(decision, FromCallable(lambda chosen: 0.5, N))
    assert (made._phases[0].sums == 1 << 23).all()
