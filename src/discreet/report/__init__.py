"""Reports: one HTML file with figures, tables and guarantees, which needs nothing else to be read."""

from discreet.report.writing import write_report, write_sweep_report

__all__ = ["write_report", "write_sweep_report"]
