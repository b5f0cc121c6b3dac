"""Is an inertia tensor that of a body? Positive semidefinite, and of a mass distribution."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from boolcomp.problem.robot.model import Inertia

TOLERANCE = 1e-7  # where two moments are equal, half of the digits are lost
NO_PRODUCT = 1e-40  # of squared products of inertia beside the largest entry: they add nothing


def principal_moments(inertia: Inertia) -> tuple[float, float, float]:
    """Return the eigenvalues in rising order (closed form: no numpy is needed to read a robot)."""
    scale = max(map(abs, inertia)) or 1.0  # so that no square is lost below the least number
    xx, yy, zz, xy, yz, xz = (entry / scale for entry in inertia)
    off = xy * xy + yz * yz + xz * xz
    if off < NO_PRODUCT:
        low, middle, high = sorted(inertia[:3])
        return (low, middle, high)
    mean = (xx + yy + zz) / 3
    p = math.sqrt(((xx - mean) ** 2 + (yy - mean) ** 2 + (zz - mean) ** 2 + 2 * off) / 6)
    a, b, c, d, e, f = ((xx - mean) / p, (yy - mean) / p, (zz - mean) / p, xy / p, yz / p, xz / p)
    half_determinant = (a * (b * c - e * e) - d * (d * c - e * f) + f * (d * e - b * f)) / 2
    phase = math.acos(min(1.0, max(-1.0, half_determinant))) / 3
    high = mean + 2 * p * math.cos(phase)
    low = mean + 2 * p * math.cos(phase + 2 * math.pi / 3)
    return (scale * low, scale * (3 * mean - low - high), scale * high)


def check_inertia(inertia: Inertia) -> tuple[str, str]:
    """Return (what makes it impossible, what makes it doubtful), each empty where all is well."""
    low, middle, high = principal_moments(inertia)
    shown = ", ".join(f"{moment:.6g}" for moment in (low, middle, high))
    slack = TOLERANCE * max(abs(low), abs(high))
    if low < -slack:
        return (f"not positive semidefinite (principal moments {shown})", "")
    if low + middle < high - slack:
        return ("", f"no body has principal moments {shown}: two must add to at least the third")
    return ("", "")
