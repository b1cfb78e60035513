"""Regret bounds with all constants: the paper's, corrected ones, those of our learners, and tunings.

Notation as in the paper: n items, T rounds, costs in [-M, M], privacy loss epsilon, strong
convexity H, exploration gamma. Every function returns a bound on the expected regret over T
rounds against the best fixed set, or the parameter that minimises a bound. The paper is the preprint
(arXiv:1807.02290); `docs/theorems.md` compares the rates that its refereed version claims.

Examples:
    >>> hazan_kale(n=9, T=100, M=1.0)  # without privacy: 4 M sqrt(n T)
    120.0
    >>> H = submod_pftal_tuning(9, 2**20, 1.0, 1.0)
    >>> submod_pftal(9, 2**20, 1.0, 1.0, H) > hazan_kale(9, 2**20, 1.0)
    True
"""

from discreet.bounds.corrected import (
    bandit_submod_pftal,
    bandit_submod_pftal_tuning,
    mean_noise_norm,
    submod_pftal,
    submod_pftal_tuning,
)
from discreet.bounds.dual_averaging import (
    bandit_dual_averaging,
    bandit_tuning,
    batched,
    tree_dual_averaging,
    tree_step,
)
from discreet.bounds.hazan_kale import (
    hazan_kale,
    hazan_kale_bandit,
    hazan_kale_bandit_tuning,
    hazan_kale_step,
)
from discreet.bounds.published import (
    bandit_submod_pftal_published,
    bandit_submod_pftal_published_tuning,
    bandit_submod_pftal_stated_tuning,
    ftal,
    ftal_tuning,
    pftal,
    submod_pftal_claimed,
    submod_pftal_published,
    submod_pftal_published_tuning,
    submod_pftal_stated_H,
)

__all__ = [
    "bandit_dual_averaging",
    "bandit_submod_pftal",
    "bandit_submod_pftal_published",
    "bandit_submod_pftal_published_tuning",
    "bandit_submod_pftal_stated_tuning",
    "bandit_submod_pftal_tuning",
    "bandit_tuning",
    "batched",
    "ftal",
    "ftal_tuning",
    "hazan_kale",
    "hazan_kale_bandit",
    "hazan_kale_bandit_tuning",
    "hazan_kale_step",
    "mean_noise_norm",
    "pftal",
    "submod_pftal",
    "submod_pftal_claimed",
    "submod_pftal_published",
    "submod_pftal_published_tuning",
    "submod_pftal_stated_H",
    "submod_pftal_tuning",
    "tree_dual_averaging",
    "tree_step",
]
