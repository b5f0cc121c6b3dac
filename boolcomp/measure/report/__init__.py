"""The error of logic against arithmetic: measured, tabulated, drawn."""

from boolcomp.measure.report.measure import ReportRow, Samples, draw_samples, error_rows

__all__ = ["ReportRow", "Samples", "draw_samples", "error_rows"]
