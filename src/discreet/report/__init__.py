"""Reports: one HTML file with figures, tables and guarantees, which needs nothing else to be read."""

from discreet.report.sweep_report import write_sweep_report
from discreet.report.trace_report import write_report

__all__ = ["write_report", "write_sweep_report"]
