"""Simulations: the same numbers however they are run, regret against the exact best set, and what is kept."""

import math
import signal
import subprocess
import sys
import threading

import numpy as np
import pytest

import discreet
from discreet import BanditLearner, DiscreetError, FullInformationLearner, environments
from discreet.baselines import BestFixedSet, FixedSet, RandomSet
from discreet.environments import FunctionStream
from discreet.errors import InvalidArgument
from discreet.paper import SubmodPFTAL
from discreet.set_functions import Modular, Table
from discreet.simulation import Run, play, regret, simulate
from discreet.simulation.replicas import log_grid
from every_learner import worst_case_bandit

N = 4
LEARNERS = {
    "bandit": lambda: BanditLearner(N, 1.0, (-1, 1)),
    "local": lambda: BanditLearner(N, 1.0, (-1, 1), mode="local"),
    "worst case": lambda: BanditLearner(N, 1.0, (-1, 1), method="worst-case"),
    "worst case, local": lambda: worst_case_bandit(N, 1.0, (-1, 1)),
    "full": lambda: FullInformationLearner(N, 1.0, (-1, 1)),
    "rewards": lambda: BanditLearner(N, 1.0, (-1, 1), maximize=True),
    "worst case, rewards": lambda: worst_case_bandit(N, 1.0, (-1, 1), maximize=True),
    "full rewards": lambda: FullInformationLearner(N, 1.0, (-1, 1), maximize=True),
    "exact": lambda: BanditLearner(N, math.inf, (-1, 1)),
    "exact, local": lambda: BanditLearner(N, math.inf, (-1, 1), mode="local"),
    "full, exact": lambda: FullInformationLearner(N, math.inf, (-1, 1)),
    "random": lambda: RandomSet(N),
    "fixed": lambda: FixedSet(N, [1]),
}


@pytest.mark.parametrize("name", LEARNERS)
def test_compiled_and_plain_loops_give_the_same_numbers(name: str) -> None:
    """A pool is played by compiled code, the same functions one by one by `ask` and `tell`."""
    pool = environments.priced_cuts(N).stream(300, seed=2)
    plain = FunctionStream(pool, cost_range=(-1, 1))
    assert plain.compiled is None
    first, second = (
        simulate(stream, LEARNERS[name](), seeds=2, keep=("points", "sets")) for stream in (pool, plain)
    )
    np.testing.assert_allclose(second.cost, first.cost, atol=1e-9)
    np.testing.assert_allclose(second.best, first.best, atol=1e-9)
    np.testing.assert_array_equal(second.points, first.points)
    np.testing.assert_array_equal(second.sets, first.sets)


def test_numbers_do_not_depend_on_workers_or_on_other_seeds() -> None:
    """Each seed is a run of its own."""
    learner = BanditLearner(N, 1.0, (-1, 1))
    many = simulate(environments.modular(N), learner, rounds=2000, seeds=5, workers=3)
    one = simulate(environments.modular(N), learner, rounds=2000, seeds=[3], workers=1)
    assert many.seeds == (0, 1, 2, 3, 4)
    np.testing.assert_array_equal(many.cost[3], one.cost[0])
    assert not np.array_equal(many.cost[0], many.cost[1])
    assert learner.rounds == 0


def test_regret_is_cost_minus_the_best_fixed_set_at_every_checkpoint() -> None:
    """Against all sets by hand."""
    environment = environments.priced_cuts(N)
    trace = simulate(environment, RandomSet(N), rounds=64, seeds=2, checkpoints=[1, 10, 64])
    assert trace.checkpoints.tolist() == [1, 10, 64]
    for row, seed in enumerate(trace.seeds):
        functions = list(environment.stream(64, seed))
        for column, mark in enumerate(trace.checkpoints):
            table = sum(f.table().values for f in functions[:mark])
            assert trace.best[row, column] == pytest.approx(table.min())
            assert trace.best_lower_bound[row, column] <= table.min() + 1e-9
    np.testing.assert_allclose(trace.regret, trace.cost - trace.best)
    np.testing.assert_allclose(trace.regret_upper_bound, trace.regret, atol=1e-6)


def test_the_best_fixed_set_has_no_regret() -> None:
    """By definition; a learner made from data is given as a function of the seed."""
    pool = environments.priced_cuts(N).stream(100, seed=1)
    trace = simulate(pool, lambda seed: BestFixedSet(pool.total), seeds=2)
    assert trace.regret[:, -1] == pytest.approx(0.0, abs=1e-9)
    assert not trace.guarantee.private
    with pytest.raises(TypeError, match="made from data"):
        simulate(pool, BestFixedSet(pool.total), seeds=1)


def test_adaptive_streams_are_played_by_each_seed_alone() -> None:
    """The adversary remembers its signs; two seeds side by side must not mix them."""
    stream = environments.adaptive_adversary(N).stream(500, seed=3)
    learner = FullInformationLearner(N, 1.0, (-1, 1))
    together = simulate(stream, learner, seeds=4, workers=4)
    alone = [simulate(stream, learner, seeds=[seed]) for seed in range(4)]
    np.testing.assert_array_equal(together.regret, np.concatenate([trace.regret for trace in alone]))


def test_bands_are_students_t_intervals() -> None:
    """From the regrets of the seeds, by hand; one seed has no band."""
    trace = simulate(environments.modular(N), RandomSet(N), rounds=100, seeds=5, checkpoints=1)
    values = trace.regret[:, 0]
    half = 2.7764451 * values.std(ddof=1) / np.sqrt(5)
    low, high = trace.band()
    assert (low[0], high[0]) == pytest.approx((values.mean() - half, values.mean() + half))
    assert trace.band(0.5)[1][0] < high[0]
    single = simulate(environments.modular(N), RandomSet(N), rounds=100, seeds=1)
    assert np.array_equal(*single.band())


def test_a_trace_as_a_frame_and_as_words() -> None:
    """One row per seed and checkpoint; the sentence names learner and stream."""
    trace = simulate(
        environments.modular(N), worst_case_bandit(N, 0.5, (-1, 1)), rounds=100, seeds=3, checkpoints=4
    )
    frame = trace.to_frame()
    assert frame.shape == (3 * trace.checkpoints.size, 8)
    assert frame["regret"].to_numpy() == pytest.approx(trace.regret.ravel())
    assert "BanditLearner (local, worst-case, epsilon=0.5) in modular" in str(trace)
    assert repr(trace) == f"<Trace: {trace}>"  # which claims no privacy for what was seeded
    assert trace.bound is not None
    assert trace.bound[-1] == worst_case_bandit(N, 0.5, (-1, 1)).regret_bound(100)
    assert trace.guarantee.private


def test_memory_holds_checkpoints_not_rounds() -> None:
    """Nothing in a trace has as many entries as there were rounds."""
    trace = simulate(environments.modular(N), BanditLearner(N, 1.0, (-1, 1)), rounds=200_000, seeds=1)
    arrays = [value for value in vars(trace).values() if isinstance(value, np.ndarray)]
    assert max(array.size for array in arrays) < 200
    assert trace.points is None


def test_log_grid_is_even_and_ends_at_the_end() -> None:
    """Whole numbers, all different, first and last included."""
    assert log_grid(1, 5).tolist() == [1]
    assert log_grid(10**6, 7).tolist() == [10**k for k in range(7)]
    assert log_grid(50, 1).tolist() == [50]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"rounds": 0}, "'rounds'"),
        ({"seeds": 0}, "'seeds'"),
        ({"seeds": [1, 1]}, "all different"),
        ({"checkpoints": [0]}, "'checkpoints'"),
        ({"checkpoints": []}, "at least one"),
        ({"keep": ["everything"]}, "'keep'"),
        ({"workers": 0}, "'workers'"),
        ({"environment": 7}, "'environment'"),
        ({"environment": []}, "at least one round"),
        (
            {"environment": [Modular([1.0]), Modular([1.0, 2.0])]},
            r"same number of items .*\[1, 2\]",
        ),
        ({"environment": [1, 2]}, "set functions"),
        ({"environment": environments.modular(3)}, "3 items, the learner 4"),
        ({"learner": 7}, "'learner'"),
        ({"learner": SubmodPFTAL(N, 8, 1.0)}, "can take 8 rounds, not 10"),
    ],
)
def test_bad_arguments_are_refused(change, message: str) -> None:
    """In one line that names what is wrong."""
    given = {"environment": environments.modular(N), "learner": RandomSet(N), "rounds": 10} | change
    if not isinstance(given["environment"], environments.Environment):
        given.pop("rounds")
    with pytest.raises((DiscreetError, TypeError), match=message):
        simulate(given.pop("environment"), given.pop("learner"), **given)


def test_a_run_ends_with_its_stream() -> None:
    """More rounds than the stream has are refused, before compiled code reads beyond it."""
    run = Run(RandomSet(N, seed=0), environments.modular(N).stream(10))
    assert run.play(10).size == 10
    with pytest.raises(DiscreetError, match="0 more rounds"):
        run.play(1)
    learner = RandomSet(N, seed=0)
    stream = environments.modular(N).stream(10)
    assert regret(learner, stream) == pytest.approx(
        play(RandomSet(N, seed=0), stream).sum() - discreet.minimize(stream.total).value
    )


def test_a_run_beyond_the_horizon_is_refused_before_it_starts() -> None:
    """Compiled code trusts the number of rounds, so it is checked outside; nothing has been learned then."""
    learner = SubmodPFTAL(N, 4, 1.0, seed=0)
    with pytest.raises(DiscreetError, match="can take 4 more rounds, not 8"):
        play(learner, environments.modular(N).stream(8))
    assert learner.rounds == 0


def test_an_error_in_one_seed_stops_the_others() -> None:
    """It is raised, not swallowed."""

    def maker(seed: int) -> RandomSet:
        if seed == 1:
            raise RuntimeError("broken")
        return RandomSet(N, seed=seed)

    before = threading.active_count()
    with pytest.raises(RuntimeError, match="broken"):
        simulate(environments.modular(N), maker, rounds=1000, seeds=3)
    assert threading.active_count() <= before + 1


@pytest.mark.process
def test_ctrl_c_keeps_what_is_done() -> None:
    """Two short seeds are finished and kept; the long ones stop within a chunk of rounds."""
    script = """
import itertools, os, threading
import discreet
from discreet import environments
from discreet.simulation import replicas
plain, begun = replicas.replica, itertools.count()
def replica(stream, learner, marks, kept, bar, stop):
    if next(begun) < 2:
        return plain(stream, learner, marks, kept, bar, threading.Event())
    os.write(1, b"ready\\n")  # at once: what two threads print may be mixed up
    stop.wait()
    raise replicas.Stopped
replicas.replica = replica
trace = discreet.simulate(
    environments.modular(4), discreet.BanditLearner(4, 1.0, (-1, 1)), rounds=1000, seeds=4, workers=4
)
print(trace.interrupted, len(trace.seeds), flush=True)
"""
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            assert [process.stdout.readline() for _ in range(2)] == ["ready\n", "ready\n"]
            process.send_signal(signal.SIGINT)
            assert process.communicate(timeout=60)[0] == "True 2\n"
        finally:
            process.kill()  # if it has not ended, nobody else would end it
    assert process.returncode == 0


def test_a_range_that_does_not_fit_is_warned_of() -> None:
    """In a simulation nobody needs to be protected from knowing that costs were clipped."""
    environment = environments.modular(3)  # costs lie in [-1, 1]
    with pytest.warns(UserWarning, match=r"Costs of modular may lie in \[-1, 1\].*clipped"):
        simulate(environment, BanditLearner(3, 1.0, (0, 1)), rounds=10, seeds=1)
    simulate(environment, BanditLearner(3, 1.0, (-1, 2)), rounds=10, seeds=1)


def test_python_functions_of_named_items_are_played() -> None:
    """As they are told to a learner: a frozenset of its items; the same numbers as from their tables."""
    items = ("tea", "milk", "jam")

    def paired(chosen: frozenset[str]) -> float:
        assert isinstance(chosen, frozenset)
        assert chosen <= set(items)
        return -0.5 if {"tea", "milk"} <= chosen else 0.1 * len(chosen)

    def plain(chosen: frozenset[str]) -> float:
        return 0.25 if "jam" in chosen else 0.0

    functions = [paired, plain, Modular([0.0, 0.0, 0.5])] * 50
    tables = [Table([0, 0.1, 0.1, -0.5, 0.1, 0.2, 0.2, -0.5]), Table([0] * 4 + [0.25] * 4), functions[2]] * 50
    for learner in (BanditLearner(items, 1.0, (-1, 1)), FullInformationLearner(items, 1.0, (-1, 1))):
        trace, expected = simulate(functions, learner, seeds=2), simulate(tables, learner, seeds=2)
        np.testing.assert_array_equal(trace.cost, expected.cost)
        np.testing.assert_array_equal(trace.final_points, expected.final_points)
        assert trace.best[0, -1] == pytest.approx(-25.0)
        assert trace.best_sets[0].tolist() == [1.0, 1.0, 0.0]
        assert (trace.items, trace.cost_range) == (items, (-0.5, 0.5))
    with pytest.raises(DiscreetError, match=r"more than 12 items .*FromCallable, with a 'value_range'"):
        simulate([lambda chosen: 0.0], RandomSet(13))
    with pytest.raises(TypeError, match=r"wrap Python code in discreet.set_functions.FromCallable"):
        FunctionStream([len])  # it knows no items


@pytest.mark.parametrize("method", ["model", "choose"])
def test_a_run_goes_on_with_changed_items_within_its_arrays(method: str) -> None:
    """Compiled code is given arrays for the present items; a stream of other items is refused."""
    stream = environments.priced_cuts(N).stream(600, seed=4)
    learner: BanditLearner[int] | FullInformationLearner[int]
    if method == "model":
        learner = BanditLearner(N, 1.0, (-1, 1), seed=1)
    else:
        learner = FullInformationLearner(N, 1.0, (-1, 1), method="choose", seed=1)
    run = Run(learner, stream)
    run.play(250)
    learner.change_items(retire=[2])
    for _ in range(50):
        run.play(1)
        assert 2 not in run.subset
    assert 2 not in run.best(300).set
    learner.change_items(add=["new"])
    with pytest.raises(InvalidArgument, match="The stream has 4 items, the learner 5"):
        run.play(1)
    larger = Run(learner, environments.priced_cuts(N + 1).stream(300, seed=4))
    assert larger.play(300).shape == (300,)
