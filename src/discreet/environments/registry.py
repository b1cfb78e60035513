"""Environments by name: what the command line and sweeps can ask for."""

from __future__ import annotations

import inspect
import itertools
from collections.abc import Callable
from typing import Any

from discreet import checks
from discreet.environments.against_the_point import AgainstThePoint
from discreet.environments.bought import baskets, invoices
from discreet.environments.concave_pools import concave_with_prices
from discreet.environments.coverage_pools import coverage_with_prices
from discreet.environments.cut_pools import cuts_with_prices
from discreet.environments.directed_cuts import DirectedCuts
from discreet.environments.environment import Environment
from discreet.environments.hidden_signs import HiddenSigns
from discreet.environments.item_signs import ItemSigns
from discreet.environments.moving_signs import MovingSigns
from discreet.environments.pictures import NoisyPictures
from discreet.environments.pool import MOST_ITEMS
from discreet.environments.shops import Shop
from discreet.environments.switching_pools import switching_cuts
from discreet.errors import InvalidArgument


def modular(n: int = 8, gap: float = 0.5) -> Environment:
    """Each round one item matters; the best set takes every other item, by a gap.

    Examples:
        >>> modular(n=4, gap=1.0).stream(100).total([0, 2])  # costs -1 in every round
        -100.0
    """
    return Environment(
        "modular",
        lambda rounds, seed: ItemSigns(n, rounds, gap, seed=seed, owner="modular"),
        _numbers("modular", n),
        (-1.0, 1.0),
        "Each round concerns one item; every other item is worth taking.",
        {"gap": gap},
    )


def cuts(n: int = 8, favoured: float = 0.0) -> Environment:
    """Each round one directed edge is cut or not; the empty and the full set are best.

    Examples:
        >>> [cuts(n=4).stream(100).total(taken) for taken in ([], range(4))]
        [-100.0, -100.0]
    """
    return Environment(
        "cuts",
        lambda rounds, seed: DirectedCuts(n, rounds, favoured, seed=seed, owner="cuts"),
        _numbers("cuts", n, 2),
        (-1.0, 1.0),
        "Each round one directed edge must not be cut; taking nothing and taking all are best.",
        {"favoured": favoured},
    )


def priced_cuts(n: int = 8, edge: float = 0.2, bias: float = 1.0, spread: float = 1.0) -> Environment:
    """Random cuts with prices; the best set is neither empty nor full. At most 16 items.

    Examples:
        >>> from discreet import minimize
        >>> sorted(minimize(priced_cuts(n=4).stream(1000).total).set)
        [0, 2]
    """
    return Environment(
        "priced-cuts",
        lambda rounds, seed: cuts_with_prices(
            n, rounds, edge=edge, bias=bias, spread=spread, seed=seed, owner="priced-cuts"
        ),
        _numbers("priced-cuts", n, 1, MOST_ITEMS),
        (-1.0, 1.0),
        "Random cuts with prices; the best set is neither empty nor full.",
        {"edge": edge, "bias": bias, "spread": spread},
    )


def coverage(
    n: int = 8, targets: int = 12, covered: float = 0.3, bias: float = 1.0, spread: float = 1.0
) -> Environment:
    """Items share what must be paid for once; the best set is neither empty nor full. At most 16 items.

    Examples:
        >>> from discreet import minimize
        >>> sorted(minimize(coverage(n=4).stream(1000).total).set)
        [0, 2]
    """
    parameters = {"targets": targets, "covered": covered, "bias": bias, "spread": spread}
    return Environment(
        "coverage",
        lambda rounds, seed: coverage_with_prices(
            n,
            rounds,
            targets=targets,
            covered=covered,
            bias=bias,
            spread=spread,
            seed=seed,
            owner="coverage",
        ),
        _numbers("coverage", n, 1, MOST_ITEMS),
        (-1.0, 1.0),
        "Items bring rewards and share what must be paid for once; every other item is cheap.",
        parameters,
    )


def concave(n: int = 8, height: float = 2.0, bias: float = 1.0, spread: float = 1.0) -> Environment:
    """A concave function of the number of items plus prices. At most 16 items.

    Examples:
        >>> from discreet import minimize
        >>> sorted(minimize(concave(n=4).stream(1000).total).set)
        [0, 2]
    """
    return Environment(
        "concave",
        lambda rounds, seed: concave_with_prices(
            n, rounds, height=height, bias=bias, spread=spread, seed=seed, owner="concave"
        ),
        _numbers("concave", n, 1, MOST_ITEMS),
        (-1.0, 1.0),
        "The first items cost most, and items have prices; every other item is cheap.",
        {"height": height, "bias": bias, "spread": spread},
    )


def checkout(
    n: int = 10, shop: int = 0, price: float = 1.0, popular: float = 0.9, customers: int = 512
) -> Environment:
    """Customers want some items, and some of them only together; showing an item costs attention.

    Args:
        n: The number of items.
        shop: The seed of the shop: of what is popular and what attention costs. The stream's own seed draws
            the customers.
        price: What showing every item costs, at most 1; all wishes of a customer together are worth 1.
        popular: The probability that a wish concerns what is popular.
        customers: How many customers are drawn; every round one of them comes.

    Examples:
        >>> checkout(n=4).items
        ('bread', 'butter', 'pasta', 'sauce')
    """
    shop = checks.integer("checkout", "shop", shop, 0)
    made = Shop(n, shop, price=price, popular=popular, owner="checkout")
    return Environment(
        "checkout",
        lambda rounds, seed: made.stream(rounds, seed, customers=customers),
        made.names,
        (-1.0, 1.0),
        "Showing an item costs attention; customers reward wanted items, most of all complete groups.",
        {"shop": shop, "price": price, "popular": popular, "customers": customers},
    )


def image_cuts(
    width: int = 6, height: int = 6, noise: float = 1.0, smooth: float = 0.25, pictures: int = 256
) -> Environment:
    """Noisy pictures of one shape; the best set of pixels is that shape. Items are (row, column).

    Examples:
        >>> image_cuts(width=2, height=1).items
        ((0, 0), (0, 1))
    """
    width = checks.integer("image-cuts", "width", width, 1)
    height = checks.integer("image-cuts", "height", height, 1)
    return Environment(
        "image-cuts",
        lambda rounds, seed: NoisyPictures(
            width,
            height,
            rounds,
            noise=noise,
            smooth=smooth,
            pictures=pictures,
            seed=seed,
            owner="image-cuts",
        ),
        tuple(itertools.product(range(height), range(width))),
        (-1.0, 1.0),
        "Noisy pictures of one shape; pixels have prices, and parting neighbours costs.",
        {"width": width, "height": height, "noise": noise, "smooth": smooth, "pictures": pictures},
    )


def switching(n: int = 8, bias: float = 1.0, later_bias: float = -0.5) -> Environment:
    """Random cuts with prices, whose best set changes at half time. At most 16 items.

    Examples:
        >>> from discreet import minimize
        >>> sorted(minimize(switching(n=4).stream(2000).total_until(1000)).set)
        [0, 2]
    """
    return Environment(
        "switching",
        lambda rounds, seed: switching_cuts(
            n, rounds, bias=bias, later_bias=later_bias, seed=seed, owner="switching"
        ),
        _numbers("switching", n, 1, MOST_ITEMS),
        (-1.0, 1.0),
        "Random cuts with prices; at half time the other items become worth taking, half as clearly.",
        {"bias": bias, "later_bias": later_bias},
    )


def drifting(n: int = 8, gap: float = 0.5, turns: float = 0.5) -> Environment:
    """Each round one item matters; the best set moves on all the time.

    Examples:
        >>> drifting(n=4, gap=1.0, turns=0.5).stream(1000).total_until(100)([0, 1])
        -100.0
    """
    return Environment(
        "drifting",
        lambda rounds, seed: MovingSigns(n, rounds, gap, turns=turns, seed=seed, owner="drifting"),
        _numbers("drifting", n, 2),
        (-1.0, 1.0),
        "Each round concerns one item; those worth taking are a run that moves around a ring.",
        {"gap": gap, "turns": turns},
    )


def lower_bound(n: int = 8, strength: float = 0.5) -> Environment:
    """Nearly fair signs that favour a hidden set: every learner's expected regret is at least 0.23 sqrt(n T).

    That holds for the default strength; see :class:`HiddenSigns` for why.

    Examples:
        >>> lower_bound(n=4).stream(100).gap  # half of sqrt(n / rounds)
        0.1
    """
    return Environment(
        "lower-bound",
        lambda rounds, seed: HiddenSigns(n, rounds, strength=strength, seed=seed, owner="lower-bound"),
        _numbers("lower-bound", n),
        (-1.0, 1.0),
        "Nearly fair signs favour a hidden set, so little that no learner can find it in time.",
        {"strength": strength},
    )


def adversary(n: int = 8) -> Environment:
    """An adversary that sets the sign of a random item against the learner's point.

    Examples:
        >>> from discreet import baselines, simulation
        >>> simulation.regret(baselines.FixedSet(4, [0, 2]), adversary(n=4).stream(100))  # paid 1 a round
        200.0
    """
    return Environment(
        "adversary",
        lambda rounds, seed: AgainstThePoint(n, rounds, seed=seed),
        _numbers("adversary", n),
        (-1.0, 1.0),
        "Each round a random item is made costly on the side that the learner leans to.",
    )


def _numbers(name: str, n: int, least: int = 1, most: int | None = None) -> tuple[int, ...]:
    """Items that are called 0, 1, ..., as many as the environment can have."""
    return tuple(range(checks.integer(name, "n", n, least, most)))


#: Name -> the function that makes the environment.
ENVIRONMENTS: dict[str, Callable[..., Environment]] = {
    "adversary": adversary,
    "baskets": baskets,
    "checkout": checkout,
    "concave": concave,
    "coverage": coverage,
    "cuts": cuts,
    "drifting": drifting,
    "image-cuts": image_cuts,
    "invoices": invoices,
    "lower-bound": lower_bound,
    "modular": modular,
    "priced-cuts": priced_cuts,
    "switching": switching,
}


def find(name: str, **parameters: Any) -> Environment:
    """The environment of a name, with parameters as its function takes them.

    Examples:
        >>> find("modular", n=6, gap=0.1).n
        6
    """
    if name not in ENVIRONMENTS:
        raise checks.unknown_name(f"There is no stream called {name!r}.", name, sorted(ENVIRONMENTS))
    make = ENVIRONMENTS[name]
    known = inspect.signature(make).parameters
    unknown = sorted(set(parameters) - set(known))
    if unknown:
        raise InvalidArgument(
            f"The stream {name!r} has no parameter {unknown[0]!r}. It has: {', '.join(known)}."
        )
    for parameter in known.values():
        if parameter.default is parameter.empty and parameter.name not in parameters:
            raise InvalidArgument(f"The stream {name!r} needs the parameter {parameter.name!r}.")
    return make(**parameters)


def has_size(name: str) -> bool:
    """Whether a stream takes a number of items `n`; pictures have a width and a height instead.

    Examples:
        >>> has_size("modular"), has_size("image-cuts")
        (True, False)
    """
    return name not in ENVIRONMENTS or "n" in inspect.signature(ENVIRONMENTS[name]).parameters
