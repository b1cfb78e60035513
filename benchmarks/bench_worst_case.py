"""Regret of our worst-case learners, which have theorems, beside the paper's, corrected: ten seeds.

Streams have costs in [-1, 1]. Seed s of a row gives stream s and bits s, for all learners alike. The paper's
algorithms run with exact Laplace noise, which suits them better than their own.
"""

import math
from collections.abc import Callable, Iterator
from typing import Any, Literal

import numpy as np

from benchmarks.measure import Row
from discreet import BanditLearner, FullInformationLearner
from discreet.environments import Stream as Played
from discreet.environments import adaptive_adversary, cuts, modular, priced_cuts, switching
from discreet.learners import Session
from discreet.paper import BanditSubmodPFTAL, SubmodPFTAL
from discreet.simulation import regret

SEEDS = 10
UNIT = "regret per round"
BANDIT_PAPER = "BanditSubmodPFTAL corrected"
FULL_PAPER = "SubmodPFTAL corrected"
BETTER_PAPER = "SubmodPFTAL, better H"

Stream = Callable[[int], Any]
Maker = Callable[[int], Session]
Mode = Literal["local", "central"]


def mean_regret(stream: Stream, learner: Maker) -> float:
    """Regret per round, the mean over the seeds."""
    rates = []
    for seed in range(SEEDS):
        played = stream(seed)
        rates.append(regret(learner(seed), played) / played.rounds)
    return float(np.mean(rates))


def against(name: str, ours: float, peer: str, theirs: float, wanted: float | None, note: str = "") -> Row:
    """Our regret beside a peer's."""
    return Row(name, ours, None, peer, theirs / ours, wanted, note, UNIT)


def bandit_paper(n: int, T: int, epsilon: float, stream: Stream) -> float:
    """Regret of the paper's bandit algorithm with enough noise."""
    return mean_regret(stream, lambda seed: BanditSubmodPFTAL(n, T, epsilon, seed=seed))


def bandit(n: int, epsilon: float, mode: Mode, stream: Stream) -> float:
    """Regret of ours."""
    return mean_regret(
        stream,
        lambda seed: BanditLearner(n, epsilon, (-1, 1), mode=mode, method="worst-case", seed=seed),
    )


def full(n: int, stream: Stream) -> float:
    """Regret of ours for full information in blocks, at epsilon = 1."""
    return mean_regret(
        stream,
        lambda seed: FullInformationLearner(n, 1.0, (-1, 1), method="blocks", seed=seed),
    )


def full_paper(n: int, T: int, stream: Stream, H: float | None = None) -> float:
    """Regret of the paper's algorithm for full information, at epsilon = 1."""
    return mean_regret(stream, lambda seed: SubmodPFTAL(n, T, 1.0, H=H, seed=seed))


def better_full_paper(n: int, T: int, stream: Stream) -> float:
    """The smaller regret of two tunings: the corrected H, and the same without its factor 4 sqrt(2)."""
    H = SubmodPFTAL(n, T, 1.0).H
    return min(full_paper(n, T, stream, H), full_paper(n, T, stream, H / math.sqrt(32)))


def bandit_rows(
    n: int, T: int, epsilon: float, wanted: float, wanted_local: float | None = None
) -> Iterator[Row]:
    """Both modes, and the better one against the paper."""

    def stream(seed: int) -> Played:
        return priced_cuts(n).stream(T, seed)

    name = f"bandit, cuts with prices, n={n}, epsilon={epsilon:g}, T=2^{T.bit_length() - 1}"
    paper = bandit_paper(n, T, epsilon, stream)
    local, central = bandit(n, epsilon, "local", stream), bandit(n, epsilon, "central", stream)
    best = min(local, central)
    note = "best mode: " + ("local" if local <= central else "central")
    yield against(name, best, BANDIT_PAPER, paper, wanted, note)
    yield against(f"{name}, local", local, BANDIT_PAPER, paper, wanted_local)
    if T == 2**22:
        plain = mean_regret(
            stream, lambda seed: BanditLearner(n, math.inf, (-1, 1), method="worst-case", seed=seed)
        )
        yield against(name, best, "the same update, not private", plain, 1 / 4)


#: The five streams of full information.
FIVE: dict[str, Callable[[int, int, int], Any]] = {
    "modular, gap 0.05": lambda n, T, seed: modular(n, 0.05).stream(T, seed),
    "modular, gap 0.5": lambda n, T, seed: modular(n, 0.5).stream(T, seed),
    "random directed cuts": lambda n, T, seed: cuts(n).stream(T, seed),
    "directed cuts, one favoured": lambda n, T, seed: cuts(n, favoured=0.3).stream(T, seed),
    "adaptive adversary": lambda n, T, seed: adaptive_adversary(n).stream(T, seed),
}


def five_rows(n: int, T: int) -> Iterator[Row]:
    """Each of the five, none much worse than the paper, and their geometric mean."""
    size = f"n={n}, T=2^{T.bit_length() - 1}"
    rows = [_one_of_five(f"{label}, {size}", n, T, make) for label, make in FIVE.items()]
    yield from rows
    mean = math.exp(np.mean([math.log(row.ratio or math.nan) for row in rows]))
    yield Row(
        f"the five, {size}: geometric mean of ratios", 1 / mean, 0.25, BETTER_PAPER, mean, 4.0, "", "ratio"
    )


def _one_of_five(name: str, n: int, T: int, make: Callable[[int, int, int], Any]) -> Row:
    def stream(seed: int) -> Any:
        return make(n, T, seed)

    return against(name, full(n, stream), BETTER_PAPER, better_full_paper(n, T, stream), 1 / 1.2)


def interior_rows(n: int, T: int) -> Iterator[Row]:
    """An optimum that is neither empty nor full."""

    def stream(seed: int) -> Played:
        return priced_cuts(n).stream(T, seed)

    name = f"full information, cuts with prices, n={n}, T=2^{T.bit_length() - 1}"
    gap = min(_gap(stream(seed)) for seed in range(SEEDS))
    note = f"empty and full are at least {gap:.2f} worse than the best"
    paper, better = full_paper(n, T, stream), better_full_paper(n, T, stream)
    ours = full(n, stream)
    yield against(name, ours, FULL_PAPER, paper, 3.0, note)
    yield against(name, ours, BETTER_PAPER, better, 3.0)


def _gap(stream: Played) -> float:
    """How much worse the better of the empty and the full set is than the best set, per round."""
    values = stream.total.table().values / stream.rounds
    return float(min(values[0], values[-1]) - values.min())


def switching_stream(n: int, T: int) -> Stream:
    """Cuts with prices, whose best set changes at half time."""
    return lambda seed: switching(n).stream(T, seed)


def switching_rows() -> Iterator[Row]:
    """Regret may be negative here: a learner that follows the change beats every fixed set."""
    n, T = 8, 2**20
    stream = switching_stream(n, T)
    paper = bandit_paper(n, T, 1.0, stream)
    for mode in ("local", "central"):
        yield _no_worse(f"switching, bandit, n={n}, T=2^20, {mode}", bandit(n, 1.0, mode, stream), paper)
    n, T = 10, 2**16
    stream = switching_stream(n, T)
    yield _no_worse(f"switching, full information, n={n}, T=2^16", full(n, stream), full_paper(n, T, stream))


def _no_worse(name: str, ours: float, paper: float) -> Row:
    note = f"paper's, corrected: {paper:.3g}; may be 1.2 times that"
    return Row(name, ours, max(1.2 * paper, paper), note=note, unit=UNIT)


def rows() -> Iterator[Row]:
    yield from bandit_rows(8, 2**20, 1.0, wanted=5.0, wanted_local=4.0)
    yield from bandit_rows(8, 2**22, 1.0, wanted=7.0)
    yield from bandit_rows(8, 2**20, 0.25, wanted=5.0)
    yield from bandit_rows(8, 2**20, 4.0, wanted=5.0)
    yield from five_rows(6, 2**16)
    yield from five_rows(6, 2**18)
    yield from interior_rows(10, 2**16)
    yield from switching_rows()
