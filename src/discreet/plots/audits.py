"""A figure of audits: what is claimed against what was measured."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from discreet.errors import InvalidArgument

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from discreet.auditing.report import Audit


def plot_audits(audits: Sequence[Audit]) -> Axes:
    """One row per audit: the claimed loss, the proved one, and the least that would have been found.

    Examples:
        >>> from discreet import audit
        >>> from discreet.randomizers import OneBit
        >>> axes = plot_audits([audit(OneBit(epsilon=1.0), runs=1_000, power=False, seed=1)])
        >>> axes.get_xlabel()
        'privacy loss epsilon'
    """
    from discreet.plots.canvas import COLOURS, INK, MUTED, drawing, new_axes

    if not audits:
        raise InvalidArgument("There is nothing to plot: no audits.")
    rows = np.arange(len(audits))[::-1]
    claimed, proved = np.array([(audit.claimed, audit.lower_bound) for audit in audits]).T
    found = np.array([audit.claimed * (audit.finds_factor or np.inf) for audit in audits])
    passed = np.array([audit.passed for audit in audits])
    with drawing():
        axes = new_axes((7.4, 1.5 + 0.3 * len(audits)))
        axes.hlines(rows, 0, proved, color=COLOURS[0], linewidth=5, alpha=0.35)
        axes.plot(claimed, rows, "|", color=INK, markersize=15, markeredgewidth=2, label="claimed")
        axes.plot(proved[passed], rows[passed], "o", color=COLOURS[0], markersize=7, label="proved at least")
        if not passed.all():
            label = "proved at least: the claim is false"
            axes.plot(proved[~passed], rows[~passed], "X", color=COLOURS[1], markersize=10, label=label)
        known = np.isfinite(found)
        label = "would have been found"
        axes.plot(found[known], rows[known], "<", color=MUTED, markersize=5, label=label)
        axes.set_yticks(rows, [audit.name for audit in audits])
        axes.set_xlim(left=0)
        axes.set(ylim=(-0.7, len(audits) - 0.3), xlabel="privacy loss epsilon")
        axes.grid(axis="y", visible=False)
        axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=2)
    return axes
