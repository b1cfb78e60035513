"""Erratum E1: the sets that published BanditSubmodPFTAL shows give the first cost away.

Two neighbouring streams: the first function is the constant +M or the constant -M, all others are 0.
Given that the first set was a middle one of its chain (a public coin, equally likely on both), the
one-point estimate is +-2M/rho on one of two items. The noise is made for vectors of norm
L = 4M + 2H sqrt(n), far smaller.

The attacker sees the sets of the following rounds and nothing else. Between rounds 2^k and 2^(k+1) all
sums contain one and the same node of the tree, so how often each of the two items is chosen in that
block tells about one independent noise. The attacker learns the law of these counts from runs of
their own (the first half), for an item that was pushed out, pulled in or left alone.
"""

import argparse
import itertools
import math
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import numpy.typing as npt

from discreet.checks import FloatArray, IntArray
from discreet.compiled import kernel
from discreet.learners.core import Core, choose, learn_cost, restart
from discreet.paper import BanditSubmodPFTAL
from discreet.paper.parameters import Calibration
from discreet.privacy.uniform import DRY
from discreet.randomness import WordArray, WordSource
from examples.errata.lower_bound import epsilon_lower_bound

T, EPSILON = 2**20, 1.0


@kernel
def run_many(
    core: Core, first: float, sets: IntArray, hit: IntArray, done: int, words: WordArray, cursor: int
) -> tuple[int, int]:
    """Tell `first` for the middle set of the first chain, then zeros; keep the sets, run after run."""
    n = core.x.size
    order, start = np.arange(n), np.full(n, 0.5)
    rho = core.gamma / (n + 1)  # at x = (1/2, ..., 1/2) middle sets are reached by exploration alone
    while done < sets.shape[0]:
        restart(core, start)
        after = learn_cost(core, order, middle(n), rho, first, words, cursor)
        hit[done] = np.argmax(np.abs(core.vector))
        for t in range(sets.shape[1]):
            if after == DRY:
                break
            chain, length, probability, after = choose(core, words, after)
            if after == DRY:
                break
            code = 0
            for k in range(length):
                code |= 1 << chain[k]
            sets[done, t] = code
            after = learn_cost(core, chain, length, probability, 0.0, words, after)
        if after == DRY:
            break
        cursor = after
        done += 1
    return done, cursor


@kernel
def middle(n: int) -> int:
    """The size of the middle set of a chain."""
    return (n + 1) // 2


def counts_by_block(sets: IntArray, item: int) -> list[IntArray]:
    """How often an item was chosen in rounds 1, 2-3, 4-7, 8-15, ... after the first."""
    chosen = (sets >> item) & 1
    edges = [2**k for k in range(sets.shape[1].bit_length())] + [sets.shape[1] + 1]
    return [chosen[:, a - 1 : b - 1].sum(axis=1) for a, b in itertools.pairwise(edges)]


def log_laws(counts: list[IntArray], rows: npt.NDArray[np.bool_]) -> list[FloatArray]:
    """The log-probability of each count in each block, from those rows."""
    laws = []
    for column in counts:
        seen = np.bincount(column[rows], minlength=int(column.max()) + 1) + 0.5
        laws.append(np.log(seen / seen.sum()))
    return laws


class Attack:
    """The log-likelihood ratio of the counts, as learnt from labelled runs of both streams."""

    def __init__(self, n: int, sets: IntArray, hit: IntArray, positive: npt.NDArray[np.bool_]) -> None:
        self._items = (middle(n) - 1, middle(n))
        self._laws = []
        for item in self._items:
            counts = counts_by_block(sets, item)
            # A cost of +M makes the gradient positive before the cut and negative behind it.
            out = (hit == item) & (positive == (item == self._items[0]))
            pulled = (hit == item) & ~out
            self._laws.append([log_laws(counts, rows) for rows in (hit != item, out, pulled)])

    def score(self, sets: IntArray) -> FloatArray:
        """How much more likely these sets are under +M than under -M, as a logarithm."""
        parts = []
        for item, laws in zip(self._items, self._laws, strict=True):
            counts = counts_by_block(sets, item)
            parts.append([sum(law[c] for law, c in zip(one, counts, strict=True)) for one in laws])
        (alone1, out1, pulled1), (alone2, out2, pulled2) = parts
        plus = np.logaddexp(out1 + alone2, alone1 + pulled2)
        minus = np.logaddexp(pulled1 + alone2, alone1 + out2)
        return np.asarray(plus - minus)


def simulate(learner: BanditSubmodPFTAL, first: float, rounds: int, runs: int) -> tuple[IntArray, IntArray]:
    """The sets of many runs, and which item each first estimate was on."""
    sets, hit = np.zeros((runs, rounds), dtype=np.int64), np.zeros(runs, dtype=np.int64)

    def consume(done: int, words: WordArray, cursor: int) -> tuple[int, int]:
        return run_many(learner._core, first, sets, hit, done, words, cursor)

    WordSource().feed(consume, runs)
    return sets, hit


def measured_loss(calibration: Calibration, n: int, rounds: int, runs: int) -> float:
    """A 97.5% lower bound on the loss, from the sets of `rounds` rounds in `runs` runs of each stream."""

    def one_stream(first: float) -> tuple[IntArray, IntArray]:
        return simulate(BanditSubmodPFTAL(n, T, EPSILON, calibration=calibration), first, rounds, runs)

    with ThreadPoolExecutor(2) as threads:  # kernels run without the interpreter lock
        (plus, hit_plus), (minus, hit_minus) = threads.map(one_stream, (1.0, -1.0))
    half = runs // 2
    attack = Attack(
        n,
        np.concatenate((plus[:half], minus[:half])),
        np.concatenate((hit_plus[:half], hit_minus[:half])),
        np.arange(2 * half) < half,
    )
    return epsilon_lower_bound(attack.score(plus), attack.score(minus))


def main() -> None:
    """Print the loss that the sets alone prove, published against corrected."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runs", type=int, default=250_000, help="runs of each stream (default 250,000)")
    runs = parser.parse_args().runs
    print(
        f"T = {T}, claimed epsilon = {EPSILON:g}; 97.5% lower bounds on the real loss, n = 2: {runs:,} runs"
    )
    print("| n | rounds seen | published | upper bound, coins hidden | corrected |")
    print("|---|---|---|---|---|")
    for n, rounds, share in ((2, 2, 1), (2, 65, 1), (4, 65, 4)):
        published = BanditSubmodPFTAL(n, T, EPSILON, calibration="published")
        limit = EPSILON * 2 * math.sqrt(2) * (n + 1) / (published.gamma * published.L)
        calibrations: tuple[Calibration, Calibration] = ("published", "corrected")
        found = [measured_loss(calibration, n, rounds - 1, runs // share) for calibration in calibrations]
        print(f"| {n} | {rounds} | {found[0]:.2f} | {limit:.1f} | {found[1]:.2f} |", flush=True)


if __name__ == "__main__":
    main()
