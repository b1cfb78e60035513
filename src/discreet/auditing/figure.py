"""A picture of audits: what is claimed against what was measured."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from discreet.auditing.report import Audit
from discreet.errors import InvalidArgument

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def plot_audits(audits: Sequence[Audit]) -> Axes:
    """One row per audit: the claimed loss, the proved one, and the least that would have been found out.

    Examples:
        >>> from discreet import audit
        >>> from discreet.randomizers import OneBit
        >>> axes = plot_audits([audit(OneBit(epsilon=1.0), runs=1_000, seed=1)])
        >>> axes.get_xlabel()
        'privacy loss epsilon'
    """
    from discreet.simulation.canvas import drawing, new_axes
    from discreet.simulation.looks import COLOURS, INK, MUTED

    if not audits:
        raise InvalidArgument("There is nothing to plot: no audits.")
    with drawing():
        axes = new_axes((7.4, 1.5 + 0.3 * len(audits)))
        rows = np.arange(len(audits))[::-1]
        claimed = np.array([audit.claimed for audit in audits])
        measured = np.array([audit.lower_bound for audit in audits])
        found = np.array([audit.least_found for audit in audits])
        failed = np.array([not audit.passed for audit in audits])
        axes.hlines(rows, 0, measured, color=COLOURS[0], linewidth=5, alpha=0.35)
        axes.plot(claimed, rows, "|", color=INK, markersize=15, markeredgewidth=2, label="claimed")
        axes.plot(
            measured[~failed], rows[~failed], "o", color=COLOURS[0], markersize=7, label="proved at least"
        )
        if failed.any():
            axes.plot(
                measured[failed],
                rows[failed],
                "X",
                color=COLOURS[1],
                markersize=10,
                label="proved at least: the claim is false",
            )
        shown = np.isfinite(found)
        axes.plot(
            found[shown], rows[shown], "<", color=MUTED, markersize=5, label="would have been found (90%)"
        )
        axes.set_yticks(rows, [audit.name for audit in audits])
        axes.set_xlim(left=0)
        axes.set_ylim(-0.7, len(audits) - 0.3)
        axes.set_xlabel("privacy loss epsilon")
        axes.grid(axis="y", visible=False)
        axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=2)
    return axes
