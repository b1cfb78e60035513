"""Audits: statistical attacks that bound a privacy loss from below."""

from discreet.auditing.attack import Pair, Target
from discreet.auditing.auditor import audit
from discreet.auditing.builtin import builtin_targets
from discreet.auditing.report import Audit
from discreet.auditing.sessions import Sessions
from discreet.auditing.statistics import clopper_pearson, loss_lower_bound, proved_loss
from discreet.plots.audits import plot_audits

__all__ = [
    "Audit",
    "Pair",
    "Sessions",
    "Target",
    "audit",
    "builtin_targets",
    "clopper_pearson",
    "loss_lower_bound",
    "plot_audits",
    "proved_loss",
]
