"""Erratum E3: neighbours replace a function, and two gradients can be further apart than one is long.

Enumerates the extreme gradients 2M {+-e_i, e_i - e_j (i < j)} of a chain, and measures what the published
tree loses when a vector is replaced by its opposite.
"""

import itertools

import numpy as np

from discreet.auditing import proved_loss
from discreet.paper import TBAP


def extreme_gradients(n: int) -> list[np.ndarray]:
    """The corners of the set of chain gradients of submodular functions in [-1, 1]."""
    unit = 2 * np.eye(n)
    signed = [sign * unit[i] for i in range(n) for sign in (1, -1)]
    return signed + [unit[i] - unit[j] for i, j in itertools.combinations(range(n), 2)]


def measured_loss(calibration: str, runs: int = 20_000) -> float:
    """A lower bound on the loss of one release of TBAP (T = 1, epsilon = 1): z = (1, 0) against (-1, 0)."""
    scores = []
    for sign in (1.0, -1.0):
        sums = [
            TBAP(2, 1, 1.0, 1.0, calibration=calibration, noise="spherical", seed=[int(sign > 0), run]).add(  # type: ignore[arg-type] # a plain string
                [sign, 0.0]
            )
            for run in range(runs)
        ]
        # The log-likelihood ratio of the two densities, up to the scale.
        shown = np.array(sums)
        scores.append(
            np.linalg.norm(shown - [-1.0, 0.0], axis=1) - np.linalg.norm(shown - [1.0, 0.0], axis=1)
        )
    return proved_loss(scores[0], scores[1], confidence=0.975)


def row(n: int) -> str:
    """Norms and distances for n items, as a line of the table."""
    corners = extreme_gradients(n)
    pairs = [a - b for a, b in itertools.product(corners, repeat=2)]
    figures = [
        max(np.abs(g).sum() for g in corners),
        max(np.linalg.norm(g) for g in corners),
        max(np.abs(g).sum() for g in pairs),
        max(np.linalg.norm(g) for g in pairs),
    ]
    return f"| {n} | " + " | ".join(f"{figure:.3f}" for figure in figures) + " |"


def main() -> None:
    """Print the distances and the measured loss."""
    print("Largest norms and distances of chain gradients, costs in [-M, M], in units of M")
    print("| n | norm, L1 | norm, L2 | distance, L1 | distance, L2 |")
    print("|---|---|---|---|---|")
    for n in (1, 2, 3, 6):
        print(row(n))
    print(
        "\nLoss of one release of TBAP at epsilon = 1, a vector replaced by its opposite (97.5% lower bound)"
    )
    print(f"published: {measured_loss('published'):.2f} (proved: at most 2), ", end="")
    print(f"corrected: {measured_loss('corrected'):.2f} (proved: at most 1)")


if __name__ == "__main__":
    main()
