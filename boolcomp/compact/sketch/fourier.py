"""Curves of an angle that are sums of a few waves."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from boolcomp.compact.sketch.sketch import Curve, Waves

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

HARMONICS = 12  # of an angle: a function of these alone is a sum of waves
ROUNDING = 1e-11  # of a function's size: less is none
CLOSE = 1e-9  # of a function's size: how near waves are to it between the points
BETWEEN = 0.38  # of the way between two points
SMOOTH = {"input", "constant", "add", "sub", "mul", "neg", "sin", "cos"}  # make waves of waves


def waves_of(curve: Curve, x: Floats) -> Waves | None:
    """Return a function of an angle as waves, if it is a sum of a few.

    What is no sum of products of waves is none, whatever it is at some points: between them it may
    jump, and bounds are of the waves.
    """
    if any(step.kind not in SMOOTH for step in curve.function.nodes):
        return None
    series = np.fft.rfft(curve.at(x)) / len(x)
    series[1:] *= 2
    series *= np.where(np.arange(len(series)) % 2, -1, 1)  # x begins at -π
    size = float(np.abs(series).max())
    if not size or float(np.abs(series[HARMONICS + 1 :]).max()) > ROUNDING * size:
        return None
    parts = [
        (k, _cleared(c.real, size), _cleared(c.imag, size))
        for k, c in enumerate(series[: HARMONICS + 1])
        if abs(c) > ROUNDING * size
    ]
    found, between = Waves(curve.source, tuple(parts)), x + BETWEEN * (x[1] - x[0])
    missed = float(np.abs(found.at(between) - curve.at(between)).max())
    return found if missed <= CLOSE * size else None


def _cleared(value: float, size: float) -> float:
    return float(value) if abs(value) > ROUNDING * size else 0.0
