"""The function `discreet.evaluate`."""

from __future__ import annotations

import math
import warnings
from collections.abc import Hashable, Iterable, Mapping
from fractions import Fraction
from typing import Any

import numpy as np

from discreet import checks
from discreet.checks import FloatArray
from discreet.errors import InvalidArgument
from discreet.evaluation.bounds import lower_bound
from discreet.evaluation.log import Log, masks_of, read_log
from discreet.evaluation.policies import Plan, Policy, plans_of
from discreet.evaluation.private import WeightedSum, best_cap
from discreet.evaluation.regression import FOLDS, CostModel
from discreet.evaluation.result import Estimate, Evaluation
from discreet.intervals import CONFIDENCE, mean_interval
from discreet.learners.arguments import cost_interval
from discreet.privacy.budget import Budget
from discreet.privacy.guarantee import Guarantee
from discreet.randomizers import OneBit
from discreet.randomness import BitSource, Seed, as_source

#: With fewer effective rounds than this, or more choices unseen, there is a warning.
FEW_ROUNDS, MUCH_UNSEEN = 50, 0.05
STUDENT, BERNSTEIN = "Student's t, for many rounds", "empirical Bernstein, for any number of rounds"


class PoorOverlap(UserWarning):
    """The log hardly ever shows what the policy would have shown."""


def evaluate(
    log: Any,
    policy: Policy,
    *,
    items: Iterable[Hashable] | None = None,
    columns: Mapping[str, str] | None = None,
    cost_range: tuple[float, float] | None = None,
    randomizer: OneBit | None = None,
    maximize: bool | None = None,
    confidence: float = CONFIDENCE,
    epsilon: float | Fraction | None = None,
    rounds_per_person: int = 1,
    weight_cap: float | None = None,
    seed: Seed | None = None,
    source: BitSource | None = None,
) -> Evaluation:
    """What another policy would have cost per round, had it chosen in the rounds of a log.

    Each round counts with the weight w, the policy's probability of the set that was shown over the
    probability with which it was shown (`decision.probability`). The estimators are *doubly robust* (what a
    model of items and pairs predicts for the policy, fitted on other rounds, plus w times how far it was
    off), *inverse propensity* (the mean of w times the cost, from the middle of the range if that is known),
    and *self-normalised* (divided by the mean of w).

    **Raw costs are private data, and so is what is computed from them.** Ask for a private answer with
    `epsilon`, or evaluate a log of released bits, which costs nothing more.

    Args:
        log: A frame or a mapping of columns, named set, probability, cost (or reward, or released), and if
            choices depended on them available and segment; or rows: mappings, ``(decision, cost)``, or
            ``(set, probability, cost)``. Sets are lists of items, or text such as "tea+milk".
        policy: A set of items; a mapping from sets to probabilities; a function of `available`, `segment` or
            both that gives either; or a learner, for its `best` set (`current_plan` has its present mixture).
            It must not have been chosen by looking at the costs of this log.
        items: All items; by default those that the log names.
        columns: What the log calls its columns: ``{"set": "shown"}``.
        cost_range: The declared range of costs; others are clipped. With it the interval of *inverse
            propensity* holds for any number of rounds. Needed with `epsilon`.
        randomizer: What made the bits in the column released: `learner.randomizer()`.
        maximize: Whether the numbers are rewards; by default if the column is called so.
        confidence: Of each interval.
        epsilon: For a private answer, by inverse propensity alone: what one person may lose.
        rounds_per_person: In how many rounds one person may appear.
        weight_cap: For a private answer: the largest weight. By default that of the narrowest interval.
        seed: Makes a private answer repeatable and not private.
        source: Random bits, instead of a seed.

    Formal guarantees:
        With `epsilon`. Neighbours: logs that differ in one round's cost (with `rounds_per_person` = k, in k).
        Sets, probabilities, contexts and the policy are public. The integer sum of weighted costs gets
        discrete Laplace noise of scale 2 * (largest weight) * (half the range) * k / epsilon; all else is
        computed from it and from public numbers. Proof: `docs/guarantees.md#evaluations`. If the log is that
        of a learner, its epsilon and this one add up.

    Examples:
        >>> rows = [(["tea"], 0.5, 0.2), ([], 0.5, 0.9)] * 100
        >>> found = evaluate(rows, ["tea"])
        >>> round(found.value, 2), found.pays, found.guarantee.private
        (0.2, True, False)
        >>> private = evaluate(rows, ["tea"], epsilon=1.0, cost_range=(0, 1))
        >>> private.low <= 0.2 <= private.high, private.guarantee.epsilon
        (True, 1.0)
    """
    alpha = 1 - _confidence(confidence)
    if items is None:
        items = getattr(policy, "items", None) if hasattr(policy, "best") else None
    read = read_log(log, items, columns)
    if (read.kind == "released") != (randomizer is not None):
        raise InvalidArgument("A log of released bits needs their 'randomizer', and no other log takes one.")
    better = read.kind == "reward" if maximize is None else bool(maximize)
    if cost_range is not None:
        cost_range = cost_interval("evaluate", cost_range, maximize=False)
    plans = plans_of(policy, read.contexts, read.items)
    weights, public = _overlap(read, plans)
    for text in public["warnings"]:
        warnings.warn(text, PoorOverlap, stacklevel=2)
    stated: dict[str, Any] = {"confidence": confidence, "maximize": better, "rounds": len(read.sets)} | public
    if epsilon is not None:
        if cost_range is None or randomizer is not None:
            raise InvalidArgument("A private answer needs a 'cost_range' and raw costs.")
        budget = Budget.of("evaluate", epsilon, rounds_per_person)
        bits = as_source(source, seed, owner="evaluate")
        if weight_cap is None:
            cap = best_cap(weights, cost_range, budget, alpha)
        else:
            cap = checks.positive_number("evaluate", "weight_cap", weight_cap)
        release = WeightedSum.of(weights, cap, cost_range, budget)
        ends = release.interval(release.release(read.told, bits), alpha)
        promise = budget.guarantee(proof="evaluations").void(bits.not_private_because)
        estimate = Estimate(*ends, f"{BERNSTEIN}, noise included")
        return Evaluation(estimates={"inverse propensity": estimate}, guarantee=promise, **stated)
    if randomizer is None:
        promise = Guarantee(epsilon=math.inf).void("it is computed from raw costs")
        costs = checks.finite_vector("evaluate", read.kind, read.told)
        costs = costs if cost_range is None else np.clip(costs, *cost_range)
    else:
        costs, cost_range = _estimated(read.told, randomizer)
        promise = randomizer.guarantee
    scores = _doubly_robust(read, plans, weights, costs)
    estimates = {
        "doubly robust": _mean(scores, confidence),
        "inverse propensity": _inverse(weights, costs, cost_range, alpha),
        "self-normalised": _normalised(weights, costs, confidence),
    }
    sign = 1.0 if better else -1.0
    gain, logged = _mean(sign * (scores - costs), confidence), _mean(costs, confidence)
    return Evaluation(estimates=estimates, guarantee=promise, logged=logged, gain=gain, **stated)


def _confidence(confidence: float) -> float:
    if not 0 < checks.finite_number("evaluate", "confidence", confidence) < 1:
        raise checks.invalid_argument("evaluate", "confidence", "between 0 and 1", confidence)
    return confidence


def _overlap(log: Log, plans: list[Plan]) -> tuple[FloatArray, dict[str, Any]]:
    """The weights, and what they say about the log: all of this is public."""
    wanted = [plans[k].get(shown, 0.0) for k, shown in zip(log.context.tolist(), log.sets, strict=True)]
    weights = np.array(wanted) / log.probability
    total = float(weights.sum())
    if total == 0:
        raise InvalidArgument("No round of the log shows a set of this policy: it tells nothing about it.")
    seen = set(zip(log.context.tolist(), log.sets, strict=True))
    missing = [sum(p for taken, p in plan.items() if (k, taken) not in seen) for k, plan in enumerate(plans)]
    unseen = float(np.mean(np.array(missing)[log.context]))
    effective, mean = total**2 / float((weights**2).sum()), total / weights.size
    found = []
    if effective < FEW_ROUNDS:
        found.append(f"The log is worth only {effective:.0f} rounds of this policy: it says little.")
    if unseen > MUCH_UNSEEN:
        found.append(f"{100 * unseen:.0f}% of the policy's choices are never shown in the log.")
    spread = float(weights.std()) / math.sqrt(weights.size)
    if abs(mean - 1) > 5 * spread and effective >= FEW_ROUNDS and unseen <= MUCH_UNSEEN:
        found.append(f"The mean weight is {mean:.3g} instead of 1: the probabilities may be wrong.")
    return weights, {
        "effective_rounds": effective,
        "mean_weight": mean,
        "largest_weight": float(weights.max()),
        "unseen": unseen,
        "warnings": tuple(found),
    }


def _estimated(bits: list[Any], randomizer: OneBit) -> tuple[FloatArray, tuple[float, float]]:
    """Unbiased costs from bits, and the range of these."""
    if not all(bit in (0, 1) and randomizer.fits(bit) for bit in bits):
        raise InvalidArgument("The column released must hold bits of this randomizer, 0 or 1.")
    low, high = randomizer.estimate(0), randomizer.estimate(1)
    return np.where(np.array(bits, dtype=np.int64) == 1, high, low), (low, high)


def _doubly_robust(log: Log, plans: list[Plan], weights: FloatArray, costs: FloatArray) -> FloatArray:
    """A score per round, whose mean is the estimate."""
    people = {who: k for k, who in enumerate(dict.fromkeys(each.segment for each in log.contexts))}
    segments = np.array([people[each.segment] for each in log.contexts])
    model = CostModel(log.masks, segments[log.context], costs)
    rounds = np.arange(costs.size)
    expected = np.empty((len(plans), FOLDS))
    for k, plan in enumerate(plans):
        masks = masks_of(list(plan), log.items)
        of_sets = model.predicted(masks, np.full(len(plan), segments[k]))
        expected[k] = np.array(list(plan.values())) @ of_sets
    shown = model.predicted(log.masks, segments[log.context])[rounds, rounds % FOLDS]
    return np.asarray(expected[log.context, rounds % FOLDS] + weights * (costs - shown))


def _mean(values: FloatArray, confidence: float) -> Estimate:
    value, low, high = (float(number) for number in mean_interval(values, confidence))
    return Estimate(value, low, high, STUDENT)


def _inverse(
    weights: FloatArray, costs: FloatArray, cost_range: tuple[float, float] | None, alpha: float
) -> Estimate:
    if cost_range is None:
        return _mean(weights * costs, 1 - alpha)
    low, high = cost_range
    width, middle = high - low, 0.5 * (low + high)
    least = lower_bound(weights * (costs - low) / width, alpha / 2)
    most = 1 - lower_bound(weights * (high - costs) / width, alpha / 2)
    value = middle + float((weights * (costs - middle)).mean())
    return Estimate(value, low + width * max(least, 0.0), low + width * min(most, 1.0), BERNSTEIN)


def _normalised(weights: FloatArray, costs: FloatArray, confidence: float) -> Estimate:
    value = float((weights * costs).sum() / weights.sum())
    return _mean(value + weights * (costs - value) / weights.mean(), confidence)
