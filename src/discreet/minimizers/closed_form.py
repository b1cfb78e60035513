"""Exact minimisation of concave-of-modular plus modular functions, by one chain pass."""

from __future__ import annotations

import numpy as np

from discreet.minimizers.result import Minimum
from discreet.set_functions import SetFunction


def minimize_closed_form(f: SetFunction) -> Minimum | None:
    """The minimum, or None if f has no concave form (see `set_functions.concave_form`)."""
    form = f.concave_form()
    if form is None:
        return None
    order = form.minimizing_order()
    best = order[: int(np.argmin(f.chain_values(order)))]
    value = f(best)
    return Minimum(frozenset(best.tolist()), value, value, "closed form")
