"""SubmodPFTAL: the paper's algorithm for full information."""

import math
from collections.abc import Hashable, Iterable

import numpy as np

from discreet import checks
from discreet.bounds import submod_pftal_stated_H
from discreet.bounds.corrected import Noise
from discreet.errors import InvalidArgument
from discreet.kernel.queries import ChainGradient
from discreet.learners.arguments import keeps_arguments, named_items_and_sizes
from discreet.learners.feedback import FunctionFeedback
from discreet.learners.learner import Learner
from discreet.paper.parameters import Calibration, tree_release
from discreet.policies import Leader
from discreet.prefix_sums.base import MOST_ROUNDS
from discreet.privacy.budget import Budget
from discreet.randomness import BitSource, Seed


def corrected_H(T: int, M: float, epsilon: float) -> float:
    """4 sqrt(2) M sqrt(ln^2.5 T / (epsilon T)).

    It minimises n (4M)^2 ln^2.5 T / (epsilon H) + T H n / 2: the paper's bound, its lost factor T put back.
    """
    log = math.log(max(T, 2))
    return 4 * math.sqrt(2) * M * math.sqrt(math.pow(log, 2.5) / (epsilon * T))


class SubmodPFTAL(FunctionFeedback):
    """Follow the approximate leader on regularised Lovász extensions, with a tree of noisy sums.

    Args:
        n: The number of items, or their names.
        T: The number of rounds.
        epsilon: Privacy loss.
        M: Costs lie in [-M, M]; others are clipped.
        H: Strong convexity. Corrected default: 4 sqrt(2) M sqrt(ln^2.5 T / (epsilon T));
            published: M sqrt(T) / sqrt(n), which keeps the point near the empty set (erratum E2).
        L: Lipschitz bound. Corrected: at least 4M, the bound that is enforced. Published: what
            the noise is made for, 4M + H sqrt(n) by default.
        calibration: "corrected" or "published".
        noise: "laplace" (exact, the corrected default) or "spherical" (the paper's: floats, not private).
        S1: The first set, as numbers.
        expire_after: As of `Session`.
        seed: Makes a run repeatable and not private.
        source: Random bits, instead of a seed.

    Formal guarantees:
        Corrected. Neighbours: streams that differ in one function. Sensitivity: gradients are clipped
        to |g|_1 <= 4M in exact integers, so replacing a function moves a node by at most 8M in L1
        (4 sqrt(2) M in L2). Noise: discrete Laplace of scale levels * 8M / epsilon per coordinate and
        node. The gradient of a round depends on earlier releases only, so the loop is covered by the
        adaptive theorem: `docs/guarantees.md#binary-tree`. Regret: `bounds.submod_pftal`.

    Examples:
        >>> from discreet.set_functions import Modular
        >>> learner = SubmodPFTAL(3, T=100, epsilon=1.0)
        >>> decision = learner.ask()
        >>> decision.subset
        frozenset()
        >>> learner.tell(decision, Modular([0.1, -0.2, 0.3]))
        >>> learner.guarantee.epsilon
        1.0
    """

    @keeps_arguments
    def __init__(
        self,
        n: int | Iterable[Hashable],
        T: int,
        epsilon: float,
        M: float = 1.0,
        H: float | None = None,
        L: float | None = None,
        *,
        calibration: Calibration = "corrected",
        noise: Noise | None = None,
        S1: Iterable[int] = (),
        expire_after: int | None = None,
        seed: Seed | None = None,
        source: BitSource | None = None,
    ) -> None:
        owner, published = "SubmodPFTAL", calibration == "published"
        items, size, T, M = named_items_and_sizes(owner, n, T, M, MOST_ROUNDS)
        budget = Budget.of(owner, epsilon)
        if H is None:
            H = submod_pftal_stated_H(size, T, M) if published else corrected_H(T, M, epsilon)
        self.H = checks.positive_number(owner, "H", H)
        default_L = 4 * M + (self.H * math.sqrt(size) if published else 0.0)
        self.L = checks.positive_number(owner, "L", default_L if L is None else L)
        if not published and self.L < 4 * M:
            raise InvalidArgument(
                f"The 'L' of SubmodPFTAL must be at least 4M = {4 * M}, the bound that is enforced. Got "
                f"{self.L} instead. To clip gradients harder use FullInformationLearner(gradient_bound=...)."
            )
        self.T, self.M, self.epsilon, self.calibration = T, M, float(epsilon), calibration
        query = ChainGradient.of(owner, -M, M)
        but = _why_false(self)
        release = tree_release(owner, size, T, query.bound, budget, calibration, noise, self.L, but)
        start = checks.subset_mask(owner, "S1", S1, size).astype(np.float64)
        policy = Leader(start, self.H, unit=query.step)
        learner = Learner(size, policy, query, release)
        super().__init__(items, learner, source=source, seed=seed, expire_after=expire_after)


def _why_false(learner: SubmodPFTAL) -> str:
    """What holds instead of the theorem, which says: epsilon-private for any L."""
    submodular = learner.epsilon * 2 * math.sqrt(6) * learner.M / learner.L
    anything = learner.epsilon * 4 * math.sqrt(2) * learner.M / learner.L
    return (
        " whatever L is, but neighbours replace a function, so for submodular costs in [-M, M] the real loss "
        f"is up to epsilon * 2 sqrt(6) M / L, here {submodular:.3g}, and for any other costs, clipped, up to "
        f"{anything:.3g}: more than epsilon once L is small (errata E3, E8); its noise is made of floats; "
        "and with its H the regret is linear (E2)"
    )
