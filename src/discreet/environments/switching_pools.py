"""A stream whose best set changes at half time."""

from discreet import checks
from discreet.environments.cut_pools import cuts_with_prices
from discreet.environments.pool import Pool

#: What is added to the seed of the first half to get that of the second.
SEED_OF_SECOND_HALF = 500


def switching_cuts(
    n: int,
    rounds: int,
    *,
    bias: float = 1.0,
    later_bias: float = -0.5,
    seed: int = 0,
    owner: str = "switching_cuts",
) -> Pool:
    """Cuts with prices; in the second half the other items are worth having, half as clearly.

    Args:
        n: The number of items, at most 16.
        rounds: How many rounds to draw, at least 2.
        bias: The mean price of odd items in the first half; even items have minus this.
        later_bias: The same in the second half.
        seed: Of the functions and rounds.
        owner: Whose arguments these are, for messages.

    Examples:
        >>> pool = switching_cuts(6, rounds=2000, seed=0)
        >>> from discreet import minimize
        >>> sorted(minimize(pool.total_until(1000)).set)
        [0, 2, 4]
        >>> second = cuts_with_prices(6, 1000, bias=-0.5, seed=500)
        >>> sorted(minimize(second.total).set)
        [1, 3, 5]
    """
    rounds = checks.integer(owner, "rounds", rounds, 2)
    seed = checks.integer(owner, "seed", seed, 0)
    later_bias = checks.finite_number(owner, "later_bias", later_bias)
    first = cuts_with_prices(n, rounds // 2, bias=bias, seed=seed, owner=owner)
    second = seed + SEED_OF_SECOND_HALF
    later = cuts_with_prices(n, rounds - rounds // 2, bias=later_bias, seed=second, owner=owner)
    return first.then(later)
