"""Erratum E2: with the published H, full-information SubmodPFTAL stays at the empty set.

The proof's display has H D^2 / 2 where T H D^2 / 2 is needed, and so arrives at H = M sqrt(T) / sqrt(n). The
point is then clip(-sum / (H t)), within 1 / sqrt(T) of zero whatever is learned.
"""

import numpy as np

from discreet.paper import SubmodPFTAL
from examples.errata.streams import modular_stream, regret_rate

N, GAP, SEEDS = 4, 0.5, 5


def row(exponent: int) -> str:
    """The line of the table for T = 2^exponent."""
    T, rates = 2**exponent, []
    for seed in range(SEEDS):
        pool = modular_stream(N, GAP, T, seed)
        corrected = SubmodPFTAL(N, T, 1.0, seed=seed)
        smaller = SubmodPFTAL(N, T, 1.0, H=corrected.H / (4 * np.sqrt(2)), seed=seed)
        published = SubmodPFTAL(N, T, 1.0, calibration="published", seed=seed)
        rates.append([regret_rate(learner, pool) for learner in (published, corrected, smaller)])
    return f"| 2^{exponent} | " + " | ".join(f"{rate:.3f}" for rate in np.mean(rates, axis=0)) + " |"


def main() -> None:
    """Print regret per round on a modular stream whose best set is half of the items."""
    print(f"Regret per round, modular stream, n = {N}, gap {GAP}, epsilon = 1, mean of {SEEDS} seeds")
    print("| T | published | corrected | corrected, H / (4 sqrt 2) |")
    print("|---|---|---|---|")
    for exponent in (10, 12, 14, 16, 18):
        print(row(exponent), flush=True)


if __name__ == "__main__":
    main()
