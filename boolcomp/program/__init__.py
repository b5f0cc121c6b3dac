"""A program as a value: its parts, its wiring, its files."""
