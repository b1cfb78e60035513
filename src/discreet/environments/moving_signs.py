"""A modular stream whose best set moves, little by little."""

import numpy as np

from discreet import checks
from discreet.environments.item_signs import SignedItems, SignedItemStream, random_signs


class MovingSigns(SignedItemStream):
    """f(S) = s (2 [i in S] - 1), as in ItemSigns, but which items are worth taking changes all the time.

    Items stand in a ring. At any time half of them, a run of neighbours, are worth taking. The run begins
    at item 0 and moves on evenly, `turns` times around the ring in all. With half a turn, what was best in
    the beginning is worst in the end. The item of a round is uniform, and its sign favours the best set
    of that time with probability 1/2 + gap/2. Iterating gives the functions round by round.

    Args:
        n: The number of items, at least 2.
        rounds: How many rounds to draw.
        gap: From 0 (signs are fair coins) to 1 (the best set of the time costs -1 in every round).
        turns: How often the run moves around the ring.
        seed: Of the draws.
        owner: Whose arguments these are, for messages.

    Examples:
        >>> stream = MovingSigns(6, rounds=60_000, gap=1.0, turns=0.5, seed=0)
        >>> first = stream.total_until(10_000)
        >>> first([0, 1, 2])
        -10000.0
        >>> from discreet import minimize
        >>> sorted(minimize(stream.total).set)
        [1, 2, 3]
    """

    def __init__(
        self,
        n: int,
        rounds: int,
        gap: float,
        *,
        turns: float = 0.5,
        seed: int = 0,
        owner: str = "MovingSigns",
    ) -> None:
        self.n = checks.integer(owner, "n", n, 2)
        self.rounds = checks.integer(owner, "rounds", rounds, 1)
        gap = checks.unit_number(owner, "gap", gap)
        if checks.finite_number(owner, "turns", turns) < 0:
            raise checks.invalid_argument(owner, "turns", "a nonnegative number", turns)
        generator = np.random.default_rng(checks.integer(owner, "seed", seed, 0))
        items = generator.integers(self.n, size=self.rounds)
        begins = np.floor(turns * self.n * np.arange(self.rounds) / self.rounds).astype(np.int64)
        good = (items - begins) % self.n < self.n // 2
        self.compiled = SignedItems(items, random_signs(good, gap, generator))
