"""Private online decisions over sets.

Every round choose a subset of n items before its cost is known, learn from that cost, and keep each person's
feedback differentially private.

Importing this package loads nothing heavy: each public name is imported from its module on first use.

    >>> import discreet
    >>> f = discreet.set_functions.Cut([[0, 2], [1, 0]], modular=[-3, 1])
    >>> discreet.minimize(f).set
    frozenset({0, 1})
"""

import importlib
from typing import TYPE_CHECKING

from discreet.errors import DiscreetError

if TYPE_CHECKING:
    from discreet import (
        auditing,
        baselines,
        bounds,
        client,
        environments,
        evaluation,
        kernel,
        learners,
        lovasz,
        paper,
        policies,
        prefix_sums,
        privacy,
        randomizers,
        randomness,
        report,
        set_functions,
    )
    from discreet.auditing.auditor import audit
    from discreet.auditing.report import Audit
    from discreet.client import AsyncClient, Client, Pinned
    from discreet.evaluation import Evaluation, evaluate
    from discreet.kernel import Phase
    from discreet.learners import BanditLearner, Decision, FullInformationLearner, PolicyLearner
    from discreet.loading import load
    from discreet.minimizers import Minimum, minimize
    from discreet.planning import Plan, plan
    from discreet.simulation import Trace, simulate

__version__ = "0.1.0"

__all__ = ["DiscreetError", "__version__", "audit", "evaluate", "load", "minimize", "plan", "simulate"]
__all__ += ["BanditLearner", "Decision", "FullInformationLearner", "Phase", "PolicyLearner"]
__all__ += ["AsyncClient", "Audit", "Client", "Evaluation", "Minimum", "Pinned", "Plan", "Trace"]
__all__ += ["auditing", "baselines", "bounds", "client", "environments", "evaluation"]
__all__ += ["kernel", "learners", "lovasz", "paper", "policies", "prefix_sums", "privacy", "randomizers"]
__all__ += ["randomness", "report", "set_functions"]

#: The modules that define the public names that are not modules.
_HOMES = {
    "auditing": ("Audit", "audit"),
    "client": ("AsyncClient", "Client", "Pinned"),
    "evaluation": ("Evaluation", "evaluate"),
    "kernel": ("Phase",),
    "learners": ("BanditLearner", "Decision", "FullInformationLearner", "PolicyLearner"),
    "loading": ("load",),
    "minimizers": ("Minimum", "minimize"),
    "planning": ("Plan", "plan"),
    "simulation": ("Trace", "simulate"),
}


def __getattr__(name: str) -> object:
    """Import a public name on first use (PEP 562)."""
    if name not in __all__:
        raise AttributeError(f"module 'discreet' has no attribute {name!r}")
    home = next((home for home, names in _HOMES.items() if name in names), None)
    module = importlib.import_module(f"discreet.{home or name}")
    globals()[name] = found = getattr(module, name) if home else module
    return found


def __dir__() -> list[str]:
    return sorted(__all__)
