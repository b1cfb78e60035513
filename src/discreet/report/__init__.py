"""Reports: one HTML file with figures, tables and guarantees, which needs nothing else to be read."""

from discreet.imports import imported_from

with imported_from("report", "A report needs"):
    from discreet.report.writing import write_report, write_sweep_report

__all__ = ["write_report", "write_sweep_report"]
