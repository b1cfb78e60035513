"""Streams of cost functions for experiments."""

from discreet.environments.pool import Pool
from discreet.environments.stream import chain_costs, prefix_cost

__all__ = ["Pool", "chain_costs", "prefix_cost"]
