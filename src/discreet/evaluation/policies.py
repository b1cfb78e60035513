"""Policies to evaluate: what each would have shown, with which probabilities, in every context of a log."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from discreet import checks
from discreet.errors import InvalidArgument, InvalidType
from discreet.evaluation.log import Context
from discreet.imports import failed
from discreet.kernel.phase import EACH_ROUND, chain_among
from discreet.learners.session import Session

#: Sets with their probabilities.
Plan = dict[frozenset[Hashable], float]
Policy = Iterable[Hashable] | Mapping[Any, float] | Callable[..., Any] | Session


def current_plan(learner: Session[Any], segment: str | int | None = None) -> Plan:
    """The sets that a learner deals in its present phase, with their probabilities, as far as it is planned.

    Where there are segments, each has a phase of its own.

    Examples:
        >>> from discreet import BanditLearner
        >>> learner = BanditLearner(3, epsilon=1.0, cost_range=(0, 1))
        >>> decision = learner.ask()
        >>> round(sum(current_plan(learner).values()), 9), decision.subset in current_plan(learner)
        (1.0, True)
    """
    current = learner._phases.get(learner._current[learner._segment(segment) or 0])
    if current is None:
        raise InvalidArgument("This learner has no open phase: ask it first.")
    phase, total = current.phase, int(current.phase.rounds.sum())
    plan: Plan = {}
    for slot, rounds in enumerate(phase.rounds.tolist()):
        order, chance = chain_among(phase, slot, None)
        size = int(phase.size[slot])
        drawn = enumerate(chance.tolist()) if size == EACH_ROUND else [(size, 1.0)]
        for length, probability in drawn:
            shown = frozenset(learner.items[i] for i in order[:length].tolist())
            plan[shown] = plan.get(shown, 0.0) + probability * rounds / total
    return plan


def plans_of(policy: Policy, contexts: Sequence[Context], items: Sequence[Hashable]) -> list[Plan]:
    """What a policy shows in each context. A fixed one shows what is available of its sets."""
    if hasattr(policy, "best"):
        policy = policy.best
    if callable(policy):
        return [_checked(_called(policy, context), context, items, exact=True) for context in contexts]
    return [_checked(policy, context, items, exact=False) for context in contexts]


def _called(policy: Callable[..., Any], context: Context) -> Any:
    wanted = inspect.signature(policy).parameters
    known = context._asdict()
    unknown = [name for name, each in wanted.items() if name not in known and each.default is each.empty]
    if unknown:
        raise InvalidArgument(f"A policy may take 'available' and 'segment'. This one needs {unknown[0]!r}.")
    try:
        return policy(**{name: value for name, value in known.items() if name in wanted})
    except Exception as error:
        raise failed("Calling the policy", error) from error


def _checked(given: Any, context: Context, items: Sequence[Hashable], *, exact: bool) -> Plan:
    if isinstance(given, str | bytes) or not isinstance(given, Iterable):
        wanted = (
            "a set of items, a mapping from sets to probabilities, a function that gives either, or a learner"
        )
        raise InvalidType(f"The 'policy' of evaluate must be {wanted}. Got {type(given).__name__} instead.")
    entries = given.items() if isinstance(given, Mapping) else [(given, 1.0)]
    plan: Plan = {}
    for taken, chance in entries:
        if isinstance(taken, str) or not isinstance(taken, Iterable):
            raise InvalidType("The keys of a policy must be sets of items, such as ('tea', 'milk').")
        shown = frozenset(taken)
        if not shown <= set(items):
            stranger = sorted(map(str, shown - set(items)))[0]
            raise InvalidArgument(f"The policy shows {stranger!r}, which is no item of the log.")
        if context.available is not None and not shown <= context.available:
            if exact:
                raise InvalidArgument("The policy shows an item that is not available.")
            shown &= context.available
        plan[shown] = plan.get(shown, 0.0) + checks.unit_number("evaluate", "policy", chance)
    if not np.isclose(sum(plan.values()), 1.0, rtol=0, atol=1e-6):
        raise InvalidArgument("The probabilities of a policy must add up to 1.")
    return plan
