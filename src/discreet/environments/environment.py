"""An environment: a recipe that makes a stream of any length from any seed."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Hashable, Mapping
from typing import Any

from discreet import checks
from discreet.environments.stream import Stream

Make = Callable[[int, int], Stream]


@dataclasses.dataclass(frozen=True)
class Environment:
    """A named recipe for streams.

    Attributes:
        name: What it is called, in tables and on the command line.
        make: From rounds and a seed to a stream.
        items: The names of the items.
        cost_range: No cost lies outside it.
        about: One sentence about what happens in it.
        parameters: The arguments it was made with, for tables and reports. One called `path` names a file of
            people's data: what is made from it is marked as such.
        most_rounds: How many rounds a stream can have, where the data are limited.
        fixed: Whether the seed makes no difference, as with data in the order of time.
        rewards: Whether its numbers are rewards, for learners with `maximize=True`; those of all named
            environments are costs.
    """

    name: str
    make: Make
    items: tuple[Hashable, ...]
    cost_range: tuple[float, float]
    about: str = ""
    parameters: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    most_rounds: int | None = None
    fixed: bool = False
    rewards: bool = False

    @property
    def n(self) -> int:
        """The number of items."""
        return len(self.items)

    def stream(self, rounds: int, seed: int = 0) -> Stream:
        """A stream of so many rounds.

        Examples:
            >>> from discreet.environments import modular
            >>> modular(n=4, gap=0.5).stream(100, seed=1).rounds
            100
        """
        rounds = checks.integer(self.name, "rounds", rounds, 1, self.most_rounds)
        return self.make(rounds, checks.integer(self.name, "seed", seed, 0))
