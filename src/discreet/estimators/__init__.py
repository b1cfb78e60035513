"""From a point to a set, and from the set's cost back to a gradient.

All estimators are for the Lovász extension of the round's cost at the round's point, and all
are unbiased. Which one applies depends on what is seen: the whole function (`subgradient` of
`discreet.lovasz`), or the cost of the chosen set alone (the one-point estimates here).
"""

from discreet.estimators.chain_sampling import chain_probabilities, draw_prefix
from discreet.estimators.one_point import add_one_point, one_point, one_point_with_coin

__all__ = ["add_one_point", "chain_probabilities", "draw_prefix", "one_point", "one_point_with_coin"]
