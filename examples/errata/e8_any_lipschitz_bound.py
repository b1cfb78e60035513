"""Erratum E8: "private for any L" is false, so a library must enforce its bounds.

Releases of the published SubmodPFTAL after one round, for the two worst functions of three items, with L
chosen smaller and smaller. The score is the exact log-likelihood ratio of the released sum.
"""

import math

import numpy as np

from discreet.auditing import proved_loss
from discreet.checks import FloatArray
from discreet.kernel.phase import Phase, Ticket
from discreet.kernel.queries import measure
from discreet.paper import SubmodPFTAL
from discreet.randomness import BitSource
from discreet.set_functions import Table

#: Submodular, in [-1, 1], with gains (0, 2, -2) and (2, -2, 0) along the order 0, 1, 2.
FIRST = Table([-1, -1, 1, 1, -1, -1, 1, -1])
SECOND = Table([-1, 1, -1, -1, -1, 1, -1, -1])


def releases(L: float, function: Table, runs: int) -> FloatArray:
    """The first released sum of many runs with T = 1."""
    learner = SubmodPFTAL(3, 1, 1.0, H=0.1, L=L, calibration="published").learner
    gradient = np.zeros((1, 3), dtype=np.int64)
    ticket = Ticket(1, 0, 0, 0, 1.0, np.arange(3), np.zeros(1))
    measure(learner.query, function.chain_values(range(3)), ticket, gradient[0])
    phase, noise = Phase.of_sets(3, [[]], rounds=1), BitSource(seed=[int(L), int(function is FIRST)])
    shown = [learner.close(learner.mechanism(), phase, gradient, noise).values[0] for _ in range(runs)]
    return np.array(shown) * learner.query.bound.step


def measured_loss(L: float, runs: int) -> float:
    """A 97.5% lower bound on the loss of one release."""
    scores = [
        np.linalg.norm(x - [2.0, -2.0, 0.0], axis=1) - np.linalg.norm(x - [0.0, 2.0, -2.0], axis=1)
        for x in (releases(L, FIRST, runs), releases(L, SECOND, runs))
    ]
    return proved_loss(scores[0], scores[1], confidence=0.975)


def main() -> None:
    """Print what is claimed, what is proved and what is measured."""
    runs = 20_000
    print(f"Loss of one release at claimed epsilon = 1 (97.5% lower bound from {runs:,} runs)")
    print("| L / M | measured | proved: 2 sqrt(6) M / L |")
    print("|---|---|---|")
    for L in (8.0, 4.0, 2.0, 1.0):
        print(f"| {L:g} | {measured_loss(L, runs):.2f} | {2 * math.sqrt(6) / L:.2f} |", flush=True)


if __name__ == "__main__":
    main()
