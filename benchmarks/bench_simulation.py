"""Simulated rounds on one core, with cryptographic bits, and how the cost grows with rounds and items."""

import time
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from benchmarks.measure import Row, median_seconds
from discreet import BanditLearner, FullInformationLearner, simulate
from discreet.environments import Stream, checkout, cuts, modular, priced_cuts
from discreet.kernel import Released
from discreet.learners import Session
from discreet.randomness import BitSource
from discreet.set_functions import Bundles, Modular, SetFunction, Table
from discreet.simulation import play

Pair = tuple[Session, Stream]


def seconds(make: Callable[[int], Pair], size: int, repeats: int = 5) -> float:
    """Median time to play all rounds of a stream; learner and stream are made beforehand."""
    pairs = iter([make(size) for _ in range(repeats + 1)])
    return median_seconds(lambda: play(*next(pairs)), repeats)


def exponent(make: Callable[[int], Pair], sizes: Sequence[int]) -> float:
    """The slope of log time against log size."""
    times = [seconds(make, size, 3) for size in sizes]
    return float(np.polyfit(np.log(sizes), np.log(times), 1)[0])


def bandit(n: int, T: int) -> Pair:
    """One bit a cost, for the worst case, on item signs."""
    return BanditLearner(n, 1.0, (-1, 1), mode="local", method="worst-case"), modular(n, 0.5).stream(T)


def blocks(n: int, T: int) -> Pair:
    """Adaptive blocks, on directed cuts."""
    return FullInformationLearner(n, 1.0, (-1, 1), method="blocks"), cuts(n).stream(T)


def model(n: int, T: int) -> Pair:
    """The model of costs, on a pool of cuts with prices."""
    return BanditLearner(n, 1.0, (-1, 1)), priced_cuts(n).stream(T)


def phase_seconds(n: int) -> float:
    """The time to plan a phase of the model and to learn from it, when it has learned for long."""
    session = BanditLearner(n, 1.0, (-1, 1), seed=0)
    play(session, checkout(n).stream(2**17))
    learner, state = session.learner, session._learned_state()

    def phase() -> None:
        planned = learner.plan(state, BitSource(1))
        sums = np.zeros((len(planned.rounds), 1), dtype=np.int64)
        learner.learn(state, Released(planned.note.copy(), planned.rounds.copy(), sums))

    return median_seconds(phase)


def choose(n: int, T: int) -> Pair:
    """All sets, on a pool of cuts with prices."""
    return FullInformationLearner(n, 1.0, (-1, 1), method="choose"), priced_cuts(n).stream(T)


def listed_seconds(functions: Sequence[SetFunction]) -> float:
    """The time to simulate a list with the function of each round, for eight seeds and 40 checkpoints."""
    began = time.perf_counter()
    simulate(functions, BanditLearner(8, 1.0, (-8, 8)))
    return time.perf_counter() - began


def rows() -> Iterator[Row]:
    rng, count = np.random.default_rng(0), 119_000
    pairs = rng.integers(8, size=(count, 2)).tolist()
    lists: dict[str, Sequence[SetFunction]] = {
        "price lists": [Modular(rng.uniform(-1, 1, 8)) for _ in range(count)],
        "tables": [Table(costs) for costs in rng.uniform(-1, 1, (count, 256))],
        "wishes": [Bundles(8, [[a], [a, b]], [0.5, 0.5], np.full(8, 0.1)) for a, b in pairs],
    }
    for name, functions in lists.items():
        yield Row(f"simulating a list of {count:,} {name}, n=8", listed_seconds(functions), limit=15)
    T = 2**19
    limits = {"bandit": 1 / 2e6, "blocks, cuts": None}
    makers = {"bandit": bandit, "blocks, cuts": blocks}
    for name, make in makers.items():
        time = seconds(lambda rounds, make=make: make(10, rounds), T) / T  # type: ignore[misc]
        note = f"{1 / time / 1e6:.2f} million rounds per second"
        yield Row(f"simulated round, {name}, n=10", time, limit=limits[name], note=note)
    time = seconds(lambda rounds: choose(8, rounds), T) / T
    note = f"{1 / time / 1e6:.2f} million rounds per second"
    yield Row("simulated round, choose, n=8", time, limit=1 / 1e6, note=note)
    time = seconds(lambda rounds: model(8, rounds), 2 * T) / (2 * T)
    note = f"{1 / time / 1e6:.2f} million rounds per second"
    yield Row("simulated round, model, n=8", time, limit=1 / 1e6, note=note)
    for n, limit in ((20, 0.05), (50, 0.5)):
        yield Row(f"a phase of the model, n={n}, after 2^17 rounds", phase_seconds(n), limit=limit)
    rounds = [2**k for k in range(14, 21)]
    items = [2**k for k in range(5, 12)]
    for name, make in makers.items():
        slope = exponent(lambda T, make=make: make(10, T), rounds)  # type: ignore[misc]
        yield Row(f"{name}: exponent in T, n=10, 2^14 to 2^20", slope, limit=1.1, unit="exponent")
        slope = exponent(lambda n, make=make: make(n, 4096), items)  # type: ignore[misc]
        # n log n between 32 and 2048 has a fitted exponent of about 1.19.
        yield Row(f"{name}: exponent in n, T=4096, 2^5 to 2^11", slope, limit=1.3, unit="exponent")
