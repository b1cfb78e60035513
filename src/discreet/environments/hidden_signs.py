"""A stream on which every learner has regret: nearly fair signs that favour a hidden set."""

import math

import numpy as np

from discreet import checks
from discreet.environments.item_signs import SignedItems, SignedItemStream, random_signs


class HiddenSigns(SignedItemStream):
    """f(S) = s (2 [i in S] - 1), as in ItemSigns, with a random best set and a gap of order sqrt(n / rounds).

    The hidden set takes every item with probability 1/2. The item of a round is uniform, and its sign
    favours the hidden set with probability 1/2 + gap/2, where gap = min(1, strength sqrt(n / rounds)).
    Iterating gives the functions round by round.

    Args:
        n: The number of items.
        rounds: How many rounds to draw.
        strength: The constant in the gap.
        seed: Of the hidden set and the draws.
        owner: Whose arguments these are, for messages.

    Attributes:
        hidden: The hidden set.
        gap: How much better than the middle it is on average.

    Notes:
        With T rounds, T >= n, and strength 1/2, every learner's expected regret is at least 0.23 sqrt(n T):
        be it private or not, and even if it sees all of every function. Before any round, an item i
        has been drawn at most T/n times on average, and the signs with i in the hidden set and those without
        have relative entropy at most (T/n) gap log((1 + gap) / (1 - gap)) <= 2.2 (T/n) gap^2 = 0.55, since
        gap <= 1/2. By Pinsker's inequality the two laws differ by at most sqrt(0.55 / 2) < 0.53, so whoever
        guesses whether i is in the hidden set errs with probability at least (1 - 0.53) / 2 > 0.23. In a
        round of item i such an error costs 2 gap more on average than the hidden set does. In all that
        is 0.23 * 2 gap T = 0.23 sqrt(n T), and the best set in hindsight is no worse than the hidden one.

    Examples:
        >>> stream = HiddenSigns(4, rounds=100, seed=0)
        >>> stream.gap, sorted(stream.hidden)
        (0.1, [1, 2, 3])
    """

    def __init__(
        self, n: int, rounds: int, *, strength: float = 0.5, seed: int = 0, owner: str = "HiddenSigns"
    ) -> None:
        self.n = checks.integer(owner, "n", n, 1)
        self.rounds = checks.integer(owner, "rounds", rounds, 1)
        self.gap = min(
            1.0, checks.positive_number(owner, "strength", strength) * math.sqrt(self.n / self.rounds)
        )
        generator = np.random.default_rng(checks.integer(owner, "seed", seed, 0))
        mask = generator.random(self.n) < 0.5
        self.hidden = frozenset(np.flatnonzero(mask).tolist())
        items = generator.integers(self.n, size=self.rounds)
        self.compiled = SignedItems(items, random_signs(mask[items], self.gap, generator))
