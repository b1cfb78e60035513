"""Streams of cost functions for experiments.

An `Environment` is a named recipe; `environment.stream(rounds, seed)` is one run of it, a `Stream`.

Examples:
    >>> import discreet
    >>> stream = modular(n=4, gap=1.0).stream(100, seed=1)
    >>> stream.total([0, 2]), stream.total_until(10)([1, 3])
    (-100.0, 10.0)
    >>> sorted(discreet.minimize(find("priced-cuts", n=4).stream(1000).total).set)
    [0, 2]
"""

from discreet.environments.cost_tables import costs
from discreet.environments.custom import EnvironmentLike, as_environment
from discreet.environments.functions import FunctionStream
from discreet.environments.groups import Customers, CustomerStream, checkout, groups_of_four
from discreet.environments.pool import (
    Pool,
    coverage,
    flipping,
    priced_cuts,
    substitutes,
    switching,
)
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
    Stream,
    chain_costs,
    check_stream,
    find,
    prefix_cost,
)
from discreet.environments.tables import TableStream

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
    "costs",
    "coverage",
    "customers_from_baskets",
    "cuts",
    "drifting",
    "find",
    "flipping",
    "groups_of_four",
    "invoices",
    "lower_bound",
    "modular",
    "prefix_cost",
    "priced_cuts",
    "read_baskets",
    "read_invoices",
    "substitutes",
    "switching",
]
