"""What can be audited: three methods, which a mechanism of yours can have too."""

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np

from discreet import checks
from discreet.checks import FloatArray
from discreet.privacy.guarantee import Guarantee
from discreet.randomness import BitSource, Seed

#: From rows of what was seen to one number each.
Score = Callable[[FloatArray], FloatArray]


class Target(Protocol):
    """Something that claims to be private and can be run many times.

    Optional methods make an audit stronger: `pairs()`, a list of `Pair` to try, instead of `neighbours`;
    `log_ratio(first, second)`, the exact log-likelihood ratio as a function of rows, or None;
    `weakened(factor)`, the same target with that much less noise, for simulating power; and `column(index)`,
    the name of a column.

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
        >>> report = discreet.audit(Coin(), runs=20_000, seed=1)
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


class Pair(NamedTuple):
    """Two neighbouring inputs, and what they are.

    Examples:
        >>> Pair("both ends of the range", 0.0, 1.0).about
        'both ends of the range'
    """

    about: str
    first: Any
    second: Any


@dataclasses.dataclass
class Called:
    """A target that runs in Python: a function from random bits and an input to all that is seen of it."""

    run: Callable[[BitSource, Any], Sequence[float]]
    tried: list[Pair]
    source: BitSource
    most_runs: int = 40_000

    def pairs(self) -> list[Pair]:
        return self.tried

    def observe(self, data: Any, runs: int, seed: Seed | None) -> FloatArray:
        source = bits_for(self.source, seed)
        return np.array([self.run(source, data) for _ in range(runs)], dtype=np.float64)


def seed_sequence(seed: Seed | None) -> np.random.SeedSequence:
    """A seed of any kind as one from which others are spawned."""
    if isinstance(seed, np.random.SeedSequence):
        return np.random.SeedSequence(seed.entropy, spawn_key=seed.spawn_key)
    try:
        return np.random.SeedSequence(seed)
    except (TypeError, ValueError):
        raise checks.invalid_argument("audit", "seed", "an integer of at least 0, or several", seed) from None


def bits_for(own: BitSource, seed: Seed | None) -> BitSource:
    """The object's own source of bits, unless the audit has a seed."""
    return own if seed is None else BitSource(seed)
