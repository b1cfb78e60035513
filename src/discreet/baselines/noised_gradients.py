"""Private by noising every gradient by itself: the first thing one would try."""

import math
from collections.abc import Hashable, Iterable

import numpy as np

from discreet import checks
from discreet.learners.arguments import keeps_arguments, named_items
from discreet.learners.core import new_core
from discreet.learners.feedback import FunctionFeedback
from discreet.learners.limits import subgradient_limits
from discreet.learners.update_rules import DualAveraging
from discreet.prefix_sums.plain import round_noise
from discreet.privacy.budget import Budget
from discreet.randomness import BitSource, Seed, as_source


class NoisedGradients(FunctionFeedback):
    """Dual averaging on gradients that each carry Laplace noise of their own.

    Args:
        n: The number of items, or their names.
        T: The number of rounds, for the default step.
        epsilon: Privacy loss.
        M: Costs lie in [-M, M]; others are clipped.
        eta: The step; by default the best for gradients of squared norm 8 M^2 + 2 n (8M/epsilon)^2.
        seed: Makes a run repeatable and not private.
        source: Random bits, instead of a seed.

    Formal guarantees:
        Neighbours: streams that differ in one function. Sensitivity: a gradient is clipped to
        |g|_1 <= 4M in exact integers, so replacing it moves 8M in L1. Noise: discrete Laplace of scale
        8M / epsilon on every coordinate of every gradient, before it is added to anything.
        It is the case of one node per round of `docs/guarantees.md#factorisations`.

    Examples:
        >>> from discreet.set_functions import Modular
        >>> learner = NoisedGradients(["tea", "milk"], T=1000, epsilon=1.0)
        >>> learner.tell(learner.ask(), Modular([0.5, -0.5]))
        >>> learner.guarantee.epsilon, learner.guarantee.local
        (1.0, True)
    """

    @keeps_arguments
    def __init__(
        self,
        n: int | Iterable[Hashable],
        T: int,
        epsilon: float,
        M: float = 1.0,
        *,
        eta: float | None = None,
        seed: Seed | None = None,
        source: BitSource | None = None,
    ) -> None:
        owner = "NoisedGradients"
        items = named_items(owner, n)
        size, T = len(items), checks.integer(owner, "T", T, 1)
        epsilon, M = checks.positive_number(owner, "epsilon", epsilon), checks.positive_number(owner, "M", M)
        squared = 8 * M**2 + 2 * size * (8 * M / epsilon) ** 2
        default = math.sqrt(size / 4) / math.sqrt(T * squared)
        self.eta = checks.positive_number(owner, "eta", default if eta is None else eta)
        (limits, bound), budget = subgradient_limits(-M, M), Budget.of(owner, epsilon)
        law = budget.law(l1=bound.l1_distance(), squared_l2=bound.squared_l2_distance())
        bits = as_source(source, seed, owner=owner)
        promise = budget.guarantee(bits, proof="factorisations", local=True)
        core = new_core(
            mechanism=round_noise(size, law),
            rule=DualAveraging(self.eta, np.full(size, 0.5)),
            limits=limits,
            start=np.full(size, 0.5),
        )
        super().__init__(items, core, bits, promise)
