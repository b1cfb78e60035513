"""Erratum E4: how long the tree's noise vectors are, how many there are, and what 1/t adds up to."""

import math

import numpy as np

from discreet.prefix_sums.spherical import fill_spherical
from discreet.randomness import BitSource


def mean_norm(n: int, scale: float, samples: int = 20_000) -> float:
    """The mean length of vectors of density proportional to exp(-|z|_2 / scale)."""
    source, norms = BitSource(seed=n), np.empty(samples)
    vector = np.empty(n)
    for k in range(samples):
        source.feed(lambda done, bits, cursor: fill_spherical(scale, vector, done, bits, cursor), n)
        norms[k] = np.linalg.norm(vector)
    return float(norms.mean())


def main() -> None:
    """Print measured and claimed sizes."""
    print(
        "Mean norm of spherical noise of scale 1: the paper quotes sqrt(n), which is its standard deviation"
    )
    print("| n | measured | n | sqrt(n) |")
    print("|---|---|---|---|")
    for n in (1, 4, 16, 64):
        print(f"| {n} | {mean_norm(n, 1.0):.2f} | {n} | {math.sqrt(n):.2f} |")
    print("\n| T | levels of the tree | ceil(ln T) + 1 | sum of 1/t | ln T |")
    print("|---|---|---|---|---|")
    for exponent in (10, 20):
        T = 2**exponent
        harmonic = float(np.sum(1 / np.arange(1, T + 1)))
        levels, claimed = exponent + 1, math.ceil(math.log(T)) + 1
        print(f"| 2^{exponent} | {levels} | {claimed} | {harmonic:.2f} | {math.log(T):.2f} |")


if __name__ == "__main__":
    main()
