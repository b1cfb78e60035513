"""Auditing: two mechanisms that look private and are not, and the same two mended.

An audit runs a mechanism many times on two inputs that nobody should be able to tell apart, and tries to.
What it finds is a lower bound on the privacy loss. If that exceeds the claim, the claim is false. Anything
can be audited that has three methods: what it claims, the two inputs, and what an observer sees. A fourth,
the same with less noise, lets the audit simulate what it would have found.

- The first adds the right noise for a number in [0, 1], but trusts its callers to send such a number, and
  clips only what comes out. Somebody who sends 3 is found out.
- The second makes its noise from a seed that it sets again for each release. An observer who knows one of the
  numbers (their own, for instance) takes the noise off all the others.
"""

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes

import discreet
from discreet.auditing import plot_audits
from discreet.policies import FloatArray
from discreet.privacy import Guarantee
from discreet.randomness import Seed
from examples.gallery.pictures import options, save

EPSILON = 1.0


class ClippedLaplace:
    """A number in [0, 1] plus Laplace noise, as floats: fit for an example, not for production."""

    def __init__(self, clip_first: bool, scale: float = 1 / EPSILON) -> None:
        self.clip_first, self.scale = clip_first, scale

    def claim(self) -> Guarantee:
        """What the audit tries to refute."""
        return Guarantee(epsilon=EPSILON)

    def neighbours(self) -> tuple[float, float]:
        """Two values of one person. A person may send anything, so these are no honest numbers."""
        return 0.0, 3.0

    def observe(self, data: float, runs: int, seed: Seed | None) -> FloatArray:
        """One row per run with all that is seen from outside."""
        value = np.clip(data, 0.0, 1.0) if self.clip_first else data
        noise = np.random.default_rng(seed).laplace(scale=self.scale, size=(runs, 1))
        return np.clip(value + noise, 0.0, 1.0)

    def weakened(self, factor: float) -> "ClippedLaplace":
        """The same with noise that is too small."""
        return ClippedLaplace(self.clip_first, self.scale / factor)


class TwoReleases:
    """Two people's numbers in [0, 1], each plus Laplace noise; the observer is the first of the two."""

    def __init__(self, fresh_noise: bool, scale: float = 1 / EPSILON) -> None:
        self.fresh_noise, self.scale = fresh_noise, scale

    def claim(self) -> Guarantee:
        """Each person's number is used once."""
        return Guarantee(epsilon=EPSILON)

    def neighbours(self) -> tuple[list[float], list[float]]:
        """The observer's own number is the same in both."""
        return [0.5, 0.0], [0.5, 1.0]

    def observe(self, data: list[float], runs: int, seed: Seed | None) -> FloatArray:
        """Both released numbers."""
        columns = 2 if self.fresh_noise else 1  # one seed twice: the same noise twice
        noise = np.random.default_rng(seed).laplace(scale=self.scale, size=(runs, columns))
        return np.array(data) + noise

    def weakened(self, factor: float) -> "TwoReleases":
        """The same with noise that is too small."""
        return TwoReleases(self.fresh_noise, self.scale / factor)


def main(arguments: Sequence[str] | None = None) -> Axes:
    """Audit all four, print what was found, and draw claims beside proved losses."""
    given = options(__doc__, "broken_mechanism.svg").parse_args(arguments)
    runs = 10_000 if given.quick else 100_000
    audits = [
        discreet.audit(target, runs=runs, name=name, seed=1)
        for name, target in {
            "clips too late": ClippedLaplace(clip_first=False),
            "mended: clips first": ClippedLaplace(clip_first=True),
            "one seed for all": TwoReleases(fresh_noise=False),
            "mended: fresh noise": TwoReleases(fresh_noise=True),
        }.items()
    ]
    for audit in audits:
        print(audit)
    return save(plot_audits(audits), given.out)


if __name__ == "__main__":
    main()
