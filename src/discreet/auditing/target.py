"""What can be audited: three methods, which a user's own mechanism can have too."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol, runtime_checkable

from discreet.checks import FloatArray
from discreet.privacy.guarantee import Guarantee
from discreet.randomness import Seed

#: From rows of what was seen to one number each.
Score = Callable[[FloatArray], FloatArray]


class Target(Protocol):
    """Something that claims to be private and can be run many times.

    Examples:
        Randomised response, with a coin that is too honest:

        >>> import numpy as np, discreet
        >>> class Coin:
        ...     def claim(self):
        ...         return discreet.privacy.Guarantee(epsilon=1.0)
        ...     def neighbours(self):
        ...         return 0, 1
        ...     def observe(self, data, runs, seed):
        ...         honest = np.random.default_rng(seed).random((runs, 1)) < 0.9
        ...         return np.where(honest, data, 1 - data).astype(float)
        >>> report = discreet.audit(Coin(), runs=20_000, score="value", seed=1)
        >>> report.passed, report.lower_bound > 2
        (False, True)
    """

    def claim(self) -> Guarantee:
        """What is promised: the epsilon (and delta) that the audit tries to refute."""

    def neighbours(self) -> tuple[Any, Any]:
        """Two inputs between which nobody should be able to tell."""

    def observe(self, data: Any, runs: int, seed: Seed | None) -> FloatArray:
        """Run it on `data` so many times, independently; one row per run of all that an observer sees.

        With a seed the rows are the same again; without, noise is what it is in production.
        """


@runtime_checkable
class WithRatio(Protocol):
    """A target that knows the likelihoods of what it shows."""

    def log_ratio(self, first: Any, second: Any) -> Score | None:
        """How much more likely a row is for the first input than for the second, as a logarithm.

        None where it is not known for these inputs.
        """


@runtime_checkable
class WithRandomNeighbours(Protocol):
    """A target that can make up neighbours."""

    def random_neighbours(self, seed: Seed) -> tuple[Any, Any]:
        """Two random inputs that are neighbours."""
