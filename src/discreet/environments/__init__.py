"""Streams of cost functions for experiments.

An :class:`Environment` is a recipe; ``environment.stream(rounds, seed)`` makes a :class:`Stream`, which has
the number of items `n`, the number of `rounds`, the `compiled` form that the simulator plays, and the
`total` of all rounds' functions. Iterating gives these functions round by round, unless they depend on what
the learner does.
"""

from discreet.environments.against_the_point import AgainstThePoint
from discreet.environments.basket_customers import customers_from_baskets
from discreet.environments.basket_files import read_baskets, read_invoices
from discreet.environments.bought import baskets, invoices
from discreet.environments.concave_pools import concave_with_prices
from discreet.environments.coverage_pools import coverage_with_prices
from discreet.environments.customers import Customers, CustomerStream
from discreet.environments.cut_pools import cuts_with_prices
from discreet.environments.directed_cuts import DirectedCuts
from discreet.environments.environment import Environment
from discreet.environments.hidden_signs import HiddenSigns
from discreet.environments.item_signs import ItemSigns
from discreet.environments.moving_signs import MovingSigns
from discreet.environments.pictures import NoisyPictures
from discreet.environments.pool import Pool
from discreet.environments.registry import (
    ENVIRONMENTS,
    adversary,
    checkout,
    concave,
    coverage,
    cuts,
    drifting,
    find,
    has_size,
    image_cuts,
    lower_bound,
    modular,
    priced_cuts,
    switching,
)
from discreet.environments.shops import Shop
from discreet.environments.stream import FunctionStream, Stream, chain_costs, prefix_cost
from discreet.environments.stream_check import check_stream
from discreet.environments.switching_pools import switching_cuts

__all__ = [
    "ENVIRONMENTS",
    "AgainstThePoint",
    "CustomerStream",
    "Customers",
    "DirectedCuts",
    "Environment",
    "FunctionStream",
    "HiddenSigns",
    "ItemSigns",
    "MovingSigns",
    "NoisyPictures",
    "Pool",
    "Shop",
    "Stream",
    "adversary",
    "baskets",
    "chain_costs",
    "check_stream",
    "checkout",
    "concave",
    "concave_with_prices",
    "coverage",
    "coverage_with_prices",
    "customers_from_baskets",
    "cuts",
    "cuts_with_prices",
    "drifting",
    "find",
    "has_size",
    "image_cuts",
    "invoices",
    "lower_bound",
    "modular",
    "prefix_cost",
    "priced_cuts",
    "read_baskets",
    "read_invoices",
    "switching",
    "switching_cuts",
]
