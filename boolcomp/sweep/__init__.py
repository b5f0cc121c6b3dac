"""Sweeps: the product of robots, functions, word lengths and more, each cell compiled and kept."""
