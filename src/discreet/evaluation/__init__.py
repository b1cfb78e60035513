"""What another way of choosing would have cost, from a log of decisions, their probabilities and costs.

Examples:
    >>> rows = [(["tea"], 0.5, 0.0), (["milk"], 0.5, 1.0)] * 100
    >>> found = evaluate(rows, {("tea",): 0.75, ("milk",): 0.25})
    >>> round(found.value, 2), found.logged.value, found.pays
    (0.25, 0.5, True)
"""

from discreet.evaluation.evaluator import evaluate
from discreet.evaluation.policies import current_plan
from discreet.evaluation.result import Estimate, Evaluation

__all__ = ["Estimate", "Evaluation", "current_plan", "evaluate"]
