"""Facets of a sweep: what is held fixed in a panel while something else is varied."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence
from typing import Literal

from discreet.report.numbers import number
from discreet.report.sweep_frame import Final
from discreet.simulation.short_numbers import counted

#: Panels in one section.
MOST_PANELS = 12

Quantity = Literal["epsilon", "n", "rounds"]


@dataclasses.dataclass(frozen=True)
class Facet:
    """An environment with a number of items and an epsilon, of which None leaves a thing free.

    Attributes:
        environment: Its name.
        n: The number of items.
        epsilon: Of the learners that have one.
        any_epsilon: Whether epsilon is free; otherwise None stands for learners without one only.
    """

    environment: str
    n: int | None
    epsilon: float | None
    any_epsilon: bool = False

    @property
    def title(self) -> str:
        """What is the same for all curves of the panel."""
        parts = [self.environment]
        if self.n is not None:
            parts.append(counted(self.n, "item"))
        if self.epsilon is not None:
            parts.append(f"epsilon {number(self.epsilon)}")
        return ", ".join(parts)

    @property
    def order(self) -> tuple[str, int, float]:
        """To sort by."""
        return self.environment, self.n or 0, self.epsilon or 0.0

    def members(self, finals: Iterable[Final]) -> list[Final]:
        """The configurations that belong to the panel; those without an epsilon belong to each."""
        return [
            final
            for final in finals
            if final.environment == self.environment
            and (self.n is None or final.n == self.n)
            and (self.any_epsilon or final.epsilon is None or final.epsilon == self.epsilon)
        ]


def facets_of(finals: Sequence[Final], *, without: Quantity = "rounds") -> list[Facet]:
    """All facets in which a quantity is free, in order."""
    if without == "epsilon":
        found = {Facet(final.environment, final.n, None, any_epsilon=True) for final in finals}
    else:
        found = {
            Facet(final.environment, None if without == "n" else final.n, final.epsilon) for final in finals
        }
        with_epsilon = {(facet.environment, facet.n) for facet in found if facet.epsilon is not None}
        found = {
            facet
            for facet in found
            if facet.epsilon is not None or (facet.environment, facet.n) not in with_epsilon
        }
    return sorted(found, key=lambda facet: facet.order)


def chosen(facets: Sequence[Facet], most: int = MOST_PANELS) -> tuple[list[Facet], int]:
    """So many facets, the middle ones of each environment first; and how many are left out."""
    ranked = [
        (rank, facet)
        for environment in dict.fromkeys(facet.environment for facet in facets)
        for rank, facet in enumerate(_from_the_middle([f for f in facets if f.environment == environment]))
    ]
    ranked.sort(key=lambda pair: (pair[0], pair[1].order))
    kept = sorted((facet for _, facet in ranked[:most]), key=lambda facet: facet.order)
    return kept, len(facets) - len(kept)


def middle(facets: Sequence[Facet], environment: str) -> Facet:
    """The facet of an environment with a middle number of items and a middle epsilon."""
    return _from_the_middle([facet for facet in facets if facet.environment == environment])[0]


def longest(finals: Iterable[Final]) -> list[Final]:
    """Of each learner the run with most rounds."""
    found: dict[str, Final] = {}
    for final in finals:
        if final.learner not in found or final.rounds > found[final.learner].rounds:
            found[final.learner] = final
    return list(found.values())


def _from_the_middle(facets: Sequence[Facet]) -> list[Facet]:
    sizes = sorted({facet.n or 0 for facet in facets})
    losses = sorted({facet.epsilon or 0.0 for facet in facets})

    def distance(facet: Facet) -> int:
        n, epsilon = sizes.index(facet.n or 0), losses.index(facet.epsilon or 0.0)
        return abs(n - len(sizes) // 2) + abs(epsilon - len(losses) // 2)

    return sorted(facets, key=lambda facet: (distance(facet), facet.order))
