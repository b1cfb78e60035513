"""What the people of a population may lose to all learners on them: losses add up, archived ones included."""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction

from discreet.errors import BudgetExceeded, UnknownName
from discreet.privacy.rational import float_above
from discreet.service.records import PopulationView
from discreet.storage.base import Writing
from discreet.storage.records import LearnerRecord, PopulationRecord


def view(population: PopulationRecord, learners: Iterable[LearnerRecord]) -> PopulationView:
    """A population with what it has been promised to lose at most, in all."""
    mine = [record for record in learners if record.population == population.name]
    return PopulationView(
        name=population.name,
        limit=population.limit,
        spent=total(record.epsilon for record in mine),
        learners=tuple((record.name, record.epoch, record.epsilon) for record in mine),
    )


def total(epsilons: Iterable[float]) -> float:
    """The exact sum, rounded up."""
    return float_above(sum((Fraction(epsilon) for epsilon in epsilons), Fraction(0)))


def admit(writing: Writing, name: str, epsilon: float) -> None:
    """Refuse a learner that would let people lose more than their population's limit.

    The population stays locked until the transaction ends, so two learners are not admitted at once.
    """
    population = writing.lock_population(name)
    if population is None:
        raise UnknownName(f"No population is called {name!r}.")
    limit = math.inf if population.limit is None else population.limit
    spent = view(population, writing.learners()).spent
    if total((spent, epsilon)) > limit:
        raise BudgetExceeded(
            f"The people of {name!r} may lose {limit:g} in all. Learners on them add up to {spent:g} now, "
            f"and this one would add {epsilon:g}."
        )
