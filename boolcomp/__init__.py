"""boolcomp: a compiler from robot dynamics to logic."""

__version__ = "0.1.0"
