"""Multilevel synthesis without ABC: decision diagrams, mapping, and exact local improvement."""
