"""A way through the states of a program: every input a sine, all of them periodic together.

Where inputs are positions, speeds and accelerations of joints they belong together, and stay within
their ranges: q = c + a·sin(nωt + φ), q̇ and q̈ its derivatives. Other inputs go through their ranges.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

TIMES = (1, 2, 3, 5, 4, 7)  # how often an input goes to and fro in a period
FULL = 0.9  # of a joint's range
SMALL_ERROR = 0.3  # of the range of what ought to be small: errors of a controller
USUAL_PERIOD = 10.0  # seconds, where nothing says how fast
PHASE = 0.7  # rad, from joint to joint
DERIVATIVES = {"qd": 1, "qdd": 2, "qddr": 2}  # of positions, by the names of their groups


@dataclass(frozen=True, slots=True)
class Wave:
    """centre + size · sin(2π · times · t + phase), t from 0 to 1."""

    centre: float
    size: float
    times: int
    phase: float


@dataclass(frozen=True, slots=True)
class Trajectory:
    """A wave for every input, and how many seconds a period takes."""

    period: float
    waves: tuple[Wave, ...]

    def states(self, count: int) -> NDArray[np.float64]:
        """Return so many states of a period, (count, inputs)."""
        t = np.arange(count) / count
        columns = [
            w.centre + w.size * np.sin(2 * math.pi * w.times * t + w.phase) for w in self.waves
        ]
        return np.stack(columns, axis=1)


def shown_trajectory(
    groups: Sequence[tuple[str, Sequence[str]]], ranges: Mapping[str, tuple[float, float]]
) -> Trajectory:
    """Return a trajectory through the ranges of inputs, which come in groups by name."""
    known = dict(groups)
    joints = len(known.get("q", ()))
    period = USUAL_PERIOD
    for k in range(joints):
        for group, order in DERIVATIVES.items():
            if len(known.get(group, ())) == joints:
                most = min(map(abs, ranges[known[group][k]]))
                rate = (_size(ranges[known["q"][k]], k) / max(FULL * most, 1e-9)) ** (1 / order)
                period = max(period, 2 * math.pi * TIMES[k % len(TIMES)] * rate)
    waves = []
    place = 0
    for group, members in groups:
        derived = DERIVATIVES.get(group, 0 if group == "q" else None)
        for k, name in enumerate(members):
            if derived is not None and len(members) == joints:
                waves.append(_derived(ranges[known["q"][k]], k, derived, period))
            else:
                share = SMALL_ERROR if group in {"e", "de"} else FULL
                low, high = ranges[name]
                phase = PHASE * place - math.pi / 2
                times = TIMES[place % len(TIMES)]
                waves.append(Wave((low + high) / 2, share * (high - low) / 2, times, phase))
            place += 1
    return Trajectory(period, tuple(waves))


def _size(ends: tuple[float, float], k: int) -> float:
    """Return how far a joint goes: the oftener, the less."""
    return FULL * (ends[1] - ends[0]) / 2 / TIMES[k % len(TIMES)]


def _derived(ends: tuple[float, float], k: int, order: int, period: float) -> Wave:
    times = TIMES[k % len(TIMES)]
    size = _size(ends, k) * (2 * math.pi * times / period) ** order
    centre = 0.0 if order else (ends[0] + ends[1]) / 2
    return Wave(centre, size, times, PHASE * k + order * math.pi / 2)
