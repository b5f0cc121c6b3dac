"""The words engine: a word graph as native code, one sample at a time or 64 side by side."""

from boolcomp.engines.wordwise.engine import WordEngine

__all__ = ["WordEngine"]
