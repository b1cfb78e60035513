"""Erratum E2: with the published H, full-information SubmodPFTAL stays at the empty set.

The proof's display has H D^2 / 2 where T H D^2 / 2 is needed, and so arrives at H = M sqrt(T) / sqrt(n). The
point is then clip(-sum / (H t)), within 1 / sqrt(T) of zero whatever is learnt.
"""

import numpy as np

from discreet.paper import SubmodPFTAL
from examples.errata.streams import modular_stream, regret_rate


def main() -> None:
    """Print regret per round on a modular stream whose best set is half of the items."""
    n, gap, seeds = 4, 0.5, 5
    print(f"Regret per round, modular stream, n = {n}, gap {gap}, epsilon = 1, mean of {seeds} seeds")
    print("| T | published | corrected | corrected, H / (4 sqrt 2) |")
    print("|---|---|---|---|")
    for exponent in (10, 12, 14, 16, 18):
        T = 2**exponent
        rows = []
        for seed in range(seeds):
            pool = modular_stream(n, gap, T, seed)
            corrected = SubmodPFTAL(n, T, 1.0, seed=seed)
            smaller = SubmodPFTAL(n, T, 1.0, H=corrected.H / (4 * np.sqrt(2)), seed=seed)
            published = SubmodPFTAL(n, T, 1.0, calibration="published", seed=seed)
            rows.append([regret_rate(learner, pool) for learner in (published, corrected, smaller)])
        print(
            f"| 2^{exponent} | " + " | ".join(f"{rate:.3f}" for rate in np.mean(rows, axis=0)) + " |",
            flush=True,
        )


if __name__ == "__main__":
    main()
