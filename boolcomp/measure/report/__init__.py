"""The error of logic against arithmetic: measured, tabulated, drawn."""

from boolcomp.measure.report.measure import Row, Samples, draw_samples, error_rows

__all__ = ["Row", "Samples", "draw_samples", "error_rows"]
