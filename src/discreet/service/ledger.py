"""The privacy loss of a population: the losses of all learners on it add up, including archived ones."""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction

from discreet.errors import BudgetExceeded, UnknownName
from discreet.privacy.rational import float_above
from discreet.service.views import PopulationView
from discreet.storage.reading import Reading
from discreet.storage.records import Loss, PopulationRecord
from discreet.storage.writing import Writing


def view(reading: Reading, population: PopulationRecord) -> PopulationView:
    """A population with its total loss."""
    losses = tuple(reading.losses(population.name))
    name, limit = population
    delta = added(loss.delta for loss in losses)
    return PopulationView(name=name, limit=limit, spent=spent(losses), learners=losses, delta=delta)


def spent(losses: Iterable[Loss]) -> float:
    """The epsilon of all together, where their deltas add up."""
    return added(loss.epsilon for loss in losses)


def added(numbers: Iterable[float]) -> float:
    """The exact sum, rounded up."""
    return float_above(sum(map(Fraction, numbers), Fraction(0)))


def admit(writing: Writing, name: str, loss: Loss) -> None:
    """Refuse a learner that would exceed its population's limit.

    The population stays locked until the transaction ends, so that two learners are not admitted at once.
    """
    population = writing.lock_population(name)
    if population is None:
        raise UnknownName(f"No population is named {name!r}.")
    limit = math.inf if population.limit is None else population.limit
    others = writing.losses(name)
    if spent([*others, loss]) > limit:
        raise BudgetExceeded(
            f"The limit of the population {name!r} is {limit:g}. Its learners add up to {spent(others):g}, "
            f"and this one would add {loss.epsilon:g}."
        )
