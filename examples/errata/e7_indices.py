"""Erratum E7: which of two displays can be run at all.

One display updates with v_t, another with v_{t+1}. The second needs the gradient of round t+1 before its
point is chosen: "be the leader". Its regret is not that of any online algorithm, as the numbers show.
"""

import numpy as np

from discreet import lovasz, minimize
from discreet.environments import Pool
from examples.errata.streams import modular_stream


def regret_rate(pool: Pool, H: float, lookahead: bool) -> float:
    """Regret per round of the leader, without noise; with lookahead it has seen its own round."""
    x, total, paid = np.zeros(pool.n), np.zeros(pool.n), 0.0
    # Of modular functions the same everywhere.
    gradients = [lovasz.subgradient(f, x) for f in pool.functions]
    empty = [f(()) for f in pool.functions]
    for t, choice in enumerate(pool.compiled.choice, start=1):
        gradient = gradients[choice]
        if lookahead:
            x = np.clip(-(total + gradient) / (H * t), 0, 1)
        paid += empty[choice] + gradient @ x
        total += gradient
        x = np.clip(-total / (H * t), 0, 1)
    return float(paid - minimize(pool.total).value) / pool.rounds


def main() -> None:
    """Print the regret of both readings."""
    T = 2**12
    print(f"Regret per round of the leader without noise, modular stream, n = 4, T = {T}, mean of 5 seeds")
    print("| gap | v_t (can be run) | v_{t+1} (sees its own round) |")
    print("|---|---|---|")
    for gap in (0.0, 0.05, 0.5):
        rates = [
            [regret_rate(modular_stream(4, gap, T, seed), 0.1, lookahead) for lookahead in (False, True)]
            for seed in range(5)
        ]
        first, second = np.mean(rates, axis=0)
        print(f"| {gap} | {first:+.4f} | {second:+.4f} |")


if __name__ == "__main__":
    main()
