"""Erratum E3: neighbours replace a function, and two gradients can be further apart than one is long.

Enumerates the extreme gradients 2M {+-e_i, e_i - e_j (i < j)} of a chain, and measures what the published
tree loses when a vector is replaced by its opposite.
"""

import functools
import itertools

import numpy as np

from discreet.auditing import proved_loss
from discreet.checks import FloatArray
from discreet.kernel.releases import close
from discreet.paper import TBAP
from discreet.paper.pftal import Calibration
from discreet.randomness import BitSource


def extreme_gradients(n: int) -> list[np.ndarray]:
    """The corners of the set of chain gradients of submodular functions in [-1, 1]."""
    unit = 2 * np.eye(n)
    signed = [sign * unit[i] for i in range(n) for sign in (1, -1)]
    return signed + [unit[i] - unit[j] for i, j in itertools.combinations(range(n), 2)]


def releases(calibration: Calibration, sign: float, runs: int) -> FloatArray:
    """The first sum that TBAP releases (T = 1, epsilon = 1) of the vector (sign, 0), in many runs."""
    tree = TBAP(2, 1, 1.0, 1.0, calibration=calibration, noise="spherical")._sums  # one for all runs
    bound, source, shown = tree.prefix_sum.bound, BitSource(seed=[int(sign > 0), runs]), np.empty((runs, 2))
    units = bound.enforce(np.array([sign, 0.0]))
    for row in shown:
        step = functools.partial(close, tree.mechanism(2), units, row)
        source.feed_one(step)
    return shown * bound.step


def measured_loss(calibration: Calibration, runs: int = 20_000) -> float:
    """A 97.5% lower bound on the loss of one release: z = (1, 0) against (-1, 0)."""
    # The log-likelihood ratio of the two densities, up to the scale.
    scores = [
        np.linalg.norm(shown - [-1.0, 0.0], axis=1) - np.linalg.norm(shown - [1.0, 0.0], axis=1)
        for shown in (releases(calibration, 1.0, runs), releases(calibration, -1.0, runs))
    ]
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
