"""Erratum E5: H x_j need not go through the tree.

The leader minimises sum of (g_j + H x_j).x + H/2 |x - x_j|^2. The terms with x_j cancel: it is
clip(-(sum of g_j) / (H t)). So H adds nothing to the sensitivity, while the paper's L = 4M + H sqrt(n) makes
noise for it. Both calibrations in `discreet.paper` compute the short form; they differ in their noise alone.
"""

import math

import numpy as np

from discreet.kernel import Released
from discreet.paper import SubmodPFTAL
from discreet.policies import Leader


def largest_difference(rounds: int = 1000, n: int = 5, H: float = 0.3) -> float:
    """Between the policy `Leader` and the leader as it is printed, for random gradients and no noise."""
    rng = np.random.default_rng(0)
    unit = 2.0**-40
    policy = Leader(np.full(n, 0.5), H, unit=unit)
    state, printed = policy.start(), np.full(n, 0.5)
    total, points, worst = np.zeros(n), np.zeros(n), 0.0
    for t in range(1, rounds + 1):
        gradient = np.rint(rng.uniform(-1, 1, (1, n)) / unit).astype(np.int64)
        state = policy.learn(state, Released(np.zeros((1, 1)), np.ones(1, dtype=np.int64), gradient))
        total += gradient[0] * unit + H * printed  # what the paper sums in the tree
        points += printed
        printed = np.clip((points - total / H) / t, 0, 1)
        worst = max(worst, float(np.abs(policy.point(state) - printed).max()))
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
