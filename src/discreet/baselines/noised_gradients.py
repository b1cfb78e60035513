"""Private by noising every gradient by itself: the first thing one would try."""

import math
from collections.abc import Hashable, Iterable

import numpy as np

from discreet import checks
from discreet.kernel.queries import ChainGradient
from discreet.kernel.releases import Laplace
from discreet.learners.arguments import keeps_arguments, named_items_and_sizes
from discreet.learners.feedback import FunctionFeedback
from discreet.learners.learner import Learner
from discreet.policies import DualAveraging
from discreet.privacy.budget import Budget
from discreet.randomness import BitSource, Seed


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
        8M / epsilon on every coordinate of every gradient, on arrival. It is local. Proof:
        `docs/guarantees.md#slots`.

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
        items, size, T, M = named_items_and_sizes(owner, n, T, M)
        budget = Budget.of(owner, epsilon)
        squared = 8 * M**2 + 2 * size * (8 * M / float(epsilon)) ** 2
        default = math.sqrt(size / 4) / math.sqrt(T * squared)
        self.eta = checks.positive_number(owner, "eta", default if eta is None else eta)
        query = ChainGradient.of(owner, -M, M)
        policy = DualAveraging(np.full(size, 0.5), self.eta, unit=query.step)
        release = Laplace(query.bound, budget, local=True)
        super().__init__(items, Learner(size, policy, query, release), source=source, seed=seed)
