"""Sines and cosines that are exact at right angles."""

from __future__ import annotations

import math

RIGHT = math.pi / 2


def exact_sine(angle: float) -> float:
    """Return sin, exactly 0 or ±1 at the floats nearest to multiples of a right angle."""
    quarter = round(angle / (math.pi / 2))
    if angle == quarter * (math.pi / 2):
        return (0.0, 1.0, 0.0, -1.0)[quarter % 4]
    return math.sin(angle)


def exact_cosine(angle: float) -> float:
    """Return cos, exactly 0 or ±1 at the floats nearest to multiples of a right angle."""
    quarter = round(angle / (math.pi / 2))
    if angle == quarter * (math.pi / 2):
        return (1.0, 0.0, -1.0, 0.0)[quarter % 4]
    return math.cos(angle)
