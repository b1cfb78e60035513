"""The privacy loss of a population: the losses of all learners on it add up, including archived ones."""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction

from discreet.errors import BudgetExceeded, UnknownName
from discreet.privacy.rational import float_above
from discreet.service.records import PopulationView
from discreet.storage.reading import Reading
from discreet.storage.records import PopulationRecord
from discreet.storage.writing import Writing


def view(reading: Reading, population: PopulationRecord) -> PopulationView:
    """A population with its total loss."""
    losses = tuple(reading.losses(population.name))
    return PopulationView(population.name, population.limit, total(loss.epsilon for loss in losses), losses)


def total(epsilons: Iterable[float]) -> float:
    """The exact sum, rounded up."""
    return float_above(sum((Fraction(epsilon) for epsilon in epsilons), Fraction(0)))


def admit(writing: Writing, name: str, epsilon: float) -> None:
    """Refuse a learner that would exceed its population's limit.

    The population stays locked until the transaction ends, so that two learners are not admitted at once.
    """
    population = writing.lock_population(name)
    if population is None:
        raise UnknownName(f"No population is named {name!r}.")
    limit = math.inf if population.limit is None else population.limit
    spent = view(writing, population).spent
    if total((spent, epsilon)) > limit:
        raise BudgetExceeded(
            f"The limit of the population {name!r} is {limit:g}. Its learners add up to {spent:g}, and this "
            f"one would add {epsilon:g}."
        )
