"""Compact mode: torques as a graph of words (angle sums, tables, products and bit heaps)."""
