"""Exact minimisation of a table: look at every value."""

from __future__ import annotations

import numpy as np

from discreet.minimizers.result import Minimum
from discreet.set_functions import SetFunction


def minimize_by_enumeration(f: SetFunction) -> Minimum:
    """The minimum over all 2^n sets, submodular or not."""
    values = f.table().values
    code = int(np.argmin(values))
    chosen = frozenset(i for i in range(f.n) if code >> i & 1)
    value = f(chosen)  # a table may differ from it by rounding
    return Minimum(chosen, value, value, "enumeration", iterations=values.size)
