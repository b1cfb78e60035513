"""Streams of cost functions for experiments.

A stream has the number of items `n`, the number of `rounds`, the `compiled` form that the simulator
plays, and the `total` of all rounds' functions. Iterating gives these functions round by round, unless
they depend on what the learner does.
"""

from discreet.environments.against_the_point import AgainstThePoint
from discreet.environments.directed_cuts import DirectedCuts
from discreet.environments.item_signs import ItemSigns
from discreet.environments.pool import Pool
from discreet.environments.priced_cuts import cuts_with_prices
from discreet.environments.stream import chain_costs, prefix_cost

__all__ = [
    "AgainstThePoint",
    "DirectedCuts",
    "ItemSigns",
    "Pool",
    "chain_costs",
    "cuts_with_prices",
    "prefix_cost",
]
