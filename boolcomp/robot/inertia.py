"""Is an inertia tensor that of a body? Positive semidefinite, and of a mass distribution."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from boolcomp.robot.model import Inertia

TOLERANCE = 1e-9


def principal_moments(inertia: Inertia) -> tuple[float, float, float]:
    """Return the eigenvalues in rising order (closed form: no numpy is needed to read a robot)."""
    xx, yy, zz, xy, yz, xz = inertia
    off = xy * xy + yz * yz + xz * xz
    if off == 0.0:
        low, middle, high = sorted((xx, yy, zz))
        return (low, middle, high)
    mean = (xx + yy + zz) / 3
    p = math.sqrt(((xx - mean) ** 2 + (yy - mean) ** 2 + (zz - mean) ** 2 + 2 * off) / 6)
    a, b, c, d, e, f = ((xx - mean) / p, (yy - mean) / p, (zz - mean) / p, xy / p, yz / p, xz / p)
    half_determinant = (a * (b * c - e * e) - d * (d * c - e * f) + f * (d * e - b * f)) / 2
    phase = math.acos(min(1.0, max(-1.0, half_determinant))) / 3
    high = mean + 2 * p * math.cos(phase)
    low = mean + 2 * p * math.cos(phase + 2 * math.pi / 3)
    return (low, 3 * mean - low - high, high)


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
