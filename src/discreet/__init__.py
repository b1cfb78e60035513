"""Private online decisions over sets.

Every round choose a subset of n items before its cost is known, learn from that
cost, and keep each person's feedback differentially private.

Importing this package loads nothing heavy: each public name below is imported
from its module the first time it is used.

    >>> import discreet
    >>> f = discreet.set_functions.Cut([[0, 2], [1, 0]], modular=[-3, 1])
    >>> discreet.minimize(f).set
    frozenset({0, 1})
"""

import importlib
from typing import TYPE_CHECKING

from discreet.errors import DiscreetError

if TYPE_CHECKING:
    from discreet import lovasz, prefix_sums, privacy, randomizers, randomness, set_functions
    from discreet.minimizers import Minimum, minimize

__version__ = "0.1.0.dev0"

__all__ = [
    "DiscreetError",
    "Minimum",
    "__version__",
    "lovasz",
    "minimize",
    "prefix_sums",
    "privacy",
    "randomizers",
    "randomness",
    "set_functions",
]

#: Public name -> module that defines it; a module's own name maps to itself.
_HOME = {
    "Minimum": "discreet.minimizers",
    "lovasz": "discreet.lovasz",
    "minimize": "discreet.minimizers",
    "prefix_sums": "discreet.prefix_sums",
    "privacy": "discreet.privacy",
    "randomizers": "discreet.randomizers",
    "randomness": "discreet.randomness",
    "set_functions": "discreet.set_functions",
}


def __getattr__(name: str) -> object:
    """Import a public name on first use (PEP 562)."""
    home = _HOME.get(name)
    if home is None:
        raise AttributeError(f"module 'discreet' has no attribute {name!r}")
    module = importlib.import_module(home)
    found = module if home == f"discreet.{name}" else getattr(module, name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted(__all__)
