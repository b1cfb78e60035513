"""Audits: statistical attacks that bound a privacy loss from below."""

from discreet.auditing.auditor import as_target, audit
from discreet.auditing.data_pairs import from_functions, with_one_replaced
from discreet.auditing.figure import plot_audits
from discreet.auditing.learner_runs import LearnerRuns
from discreet.auditing.report import Audit
from discreet.auditing.sessions import Sessions
from discreet.auditing.statistics import clopper_pearson, loss_lower_bound, proved_loss
from discreet.auditing.sums import FirstNode, Sums
from discreet.auditing.target import Target

__all__ = [
    "Audit",
    "FirstNode",
    "LearnerRuns",
    "Sessions",
    "Sums",
    "Target",
    "as_target",
    "audit",
    "clopper_pearson",
    "from_functions",
    "loss_lower_bound",
    "plot_audits",
    "proved_loss",
    "with_one_replaced",
]
