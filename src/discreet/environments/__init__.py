"""Streams of cost functions for experiments.

An `Environment` is a named recipe; `environment.stream(rounds, seed)` is one run of it, a `Stream`. A stream
has the number of items `n`, the number of `rounds`, the `compiled` form that the simulator plays, and the
`total` of all rounds' functions. Iterating gives these functions one by one, unless they depend on the
learner.
"""

from discreet.environments.custom import EnvironmentLike, as_environment, has_size
from discreet.environments.groups import Customers, CustomerStream, checkout, image_cuts
from discreet.environments.pool import Pool, TableStream, concave, coverage, priced_cuts, switching
from discreet.environments.purchases import (
    baskets,
    customers_from_baskets,
    invoices,
    read_baskets,
    read_invoices,
)
from discreet.environments.signed_items import adaptive_adversary, cuts, drifting, lower_bound, modular
from discreet.environments.stream import (
    ENVIRONMENTS,
    Environment,
    FunctionStream,
    Stream,
    chain_costs,
    check_stream,
    find,
    prefix_cost,
)

__all__ = [
    "ENVIRONMENTS",
    "CustomerStream",
    "Customers",
    "Environment",
    "EnvironmentLike",
    "FunctionStream",
    "Pool",
    "Stream",
    "TableStream",
    "adaptive_adversary",
    "as_environment",
    "baskets",
    "chain_costs",
    "check_stream",
    "checkout",
    "concave",
    "coverage",
    "customers_from_baskets",
    "cuts",
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
]
