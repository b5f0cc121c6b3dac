"""How large the numbers of a robot file may be: far beyond any arm, far within any overflow.

The largest arms that were built are tens of metres and tens of tonnes, the fastest joints turn at
some 10⁴ rad/s, the highest gear ratios are some 10⁴, the strongest joints make some 10⁷ N·m. Each
limit is at least a hundred times that. A product of all that meet in a torque stays below 10⁶⁰, so
no step of any stage can overflow.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from boolcomp.base.errors import short
from boolcomp.common.errors import shown
from boolcomp.problem.interval import MOST_SIZE

if TYPE_CHECKING:
    from collections.abc import Mapping

MOST_JOINTS = 64
MOST_BYTES = 1 << 18  # of a robot file: 4 kB a joint
LEAST_MASS, MOST_MASS = 1e-9, 1e7  # kg

_LENGTH, _ANGLE = (1e4, "m"), (1e4, "rad")
_TURNING: Mapping[str, tuple[float, str]] = {
    "gravity": (1e4, "m/s²"),
    "control_rate": (1e6, "Hz"),
    "a": _LENGTH,
    "alpha": _ANGLE,
    "d": _LENGTH,
    "theta": _ANGLE,
    "origin": _LENGTH,
    "rotation": _ANGLE,
    "axis": (1e4, ""),
    "base_origin": _LENGTH,
    "base_rotation": _ANGLE,
    "tool_origin": _LENGTH,
    "tool_rotation": _ANGLE,
    "mass": (MOST_MASS, "kg"),
    "center_of_mass": _LENGTH,
    "inertia": (1e12, "kg·m²"),
    "rotor_inertia": (1e6, "kg·m²"),
    "gear_ratio": (1e6, ""),
    "viscous_friction": (1e9, "N·m·s/rad"),
    "coulomb_friction": (1e9, "N·m"),
    "position_range": _ANGLE,
    "word_range": _ANGLE,
    "velocity_range": (1e6, "rad/s"),
    "acceleration_range": (1e9, "rad/s²"),
    "torque_range": (MOST_SIZE, "N·m"),
    "torque_limit": (MOST_SIZE, "N·m"),
    "encoder_step": _ANGLE,
}
_SLIDING: Mapping[str, tuple[float, str]] = {
    **_TURNING,
    "position_range": _LENGTH,
    "word_range": _LENGTH,
    "velocity_range": (1e6, "m/s"),
    "acceleration_range": (1e9, "m/s²"),
    "torque_range": (MOST_SIZE, "N"),
    "torque_limit": (MOST_SIZE, "N"),
    "encoder_step": _LENGTH,
}


def size_problem(key: str, value: float, *, revolute: bool) -> str:
    """Return what is wrong with the size of a number under a key, or nothing."""
    most, unit = (_TURNING if revolute else _SLIDING)[key]
    if abs(value) <= most:
        return ""
    ends = f"-{short(most)} to {short(most)} {unit}".rstrip()
    return f"must be from {ends}, not {shown(value)}"
