"""The error of logic against arithmetic: measured, tabulated, drawn."""
