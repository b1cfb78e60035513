"""Erratum E5: H x_j need not go through the tree.

The leader minimises sum of (g_j + H x_j).x + H/2 |x - x_j|^2. The terms with x_j cancel: it is
clip(-(sum of g_j) / (H t)). So H adds nothing to the sensitivity, while the paper's L = 4M + H sqrt(n) makes
noise for it.
"""

import math

import numpy as np

from discreet.learners.update_rules import ApproximateLeader, PublishedLeader, enter, next_point
from discreet.paper import SubmodPFTAL


def largest_difference(rounds: int = 1000, n: int = 5, H: float = 0.3) -> float:
    """Between the two ways to compute the leader, for random gradients and no noise."""
    rng = np.random.default_rng(0)
    step = 2.0**-40
    short, printed = ApproximateLeader(H), PublishedLeader(H, np.zeros(n))
    x, y, total, with_points = np.full(n, 0.5), np.full(n, 0.5), np.zeros(n), np.zeros(n)
    worst = 0.0
    for t in range(1, rounds + 1):
        gradient = rng.uniform(-1, 1, n)
        vector = np.rint(gradient / step).astype(np.int64)
        total += vector * step
        enter(printed, y, step, vector)
        with_points += vector * step
        next_point(short, total, t, x, x)
        next_point(printed, with_points, t, y, y)
        worst = max(worst, float(np.abs(x - y).max()))
    return worst


def main() -> None:
    """Print that the points agree, and how much noise is saved."""
    print(f"Largest difference of the points over 1000 rounds: {largest_difference():.1e}")
    print("| n | T | H (corrected) | noise is made for, published L | needed: 2 sqrt(6) M |")
    print("|---|---|---|---|---|")
    for n, T in ((4, 2**10), (16, 2**10), (64, 2**10), (64, 2**16)):
        H = SubmodPFTAL(n, T, 1.0).H
        print(
            f"| {n} | 2^{int(math.log2(T))} | {H:.3f} | {4 + H * math.sqrt(n):.2f} | {2 * math.sqrt(6):.2f} |"
        )


if __name__ == "__main__":
    main()
