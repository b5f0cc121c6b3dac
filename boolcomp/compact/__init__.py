"""Compact mode: outputs as a graph of words (angle sums, tables, products and bit heaps)."""
