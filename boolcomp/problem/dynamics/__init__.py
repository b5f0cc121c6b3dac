"""Inverse dynamics: the Newton-Euler recurrence, written once over any algebra."""
