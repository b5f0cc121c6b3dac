"""What a recording tells, run by run and joint by joint. All of it is simulated, nothing proved."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from boolcomp.measure.control.loop import Recording

    Floats = NDArray[np.float64]

LEAST_REST = 0.5  # s: shorter ones tell nothing of what remains
STILL = 1e-9  # rad or m: less is rounding
CROSSINGS = 3  # at least, for a period


@dataclass(frozen=True, slots=True)
class Rest:
    """What remains at rest: half of peak to peak, its period (s), the mean distance.

    Amplitudes are of the position and of the torque; the period is None where nothing repeats.
    """

    amplitude: float
    torque: float
    period: float | None
    offset: float
    seconds: float


@dataclass(frozen=True, slots=True)
class Figures:
    """One joint in one run: errors of its position, of its torque, and how the torque jumps.

    Noise is the block's torque less what exact arithmetic gives for the same measured states.
    `limited` counts instants at which the drive gave less than was wanted, `outside` values that
    the block was given beyond the ranges of their words.
    """

    rms_tracking: float
    max_tracking: float
    rms_noise: float | None
    max_noise: float | None
    rms_jump: float
    max_jump: float
    limited: int
    outside: int
    rest: Rest | None


def figures(
    recording: Recording,
    column: int,
    joint: int,
    exact: Floats | None,
    outside: NDArray[np.bool_],
    rate: float,
) -> Figures | None:
    """Return what a run tells of a joint; None of a run that was lost.

    `exact` are the torques that the block should have made, `outside` what it was given beyond
    words, (instants,) each.
    """
    if recording.lost[column]:
        return None
    path = recording.trajectories[column % len(recording.trajectories)]
    own = slice(0, path.own)
    error = path.q[own, joint] - recording.q[own, joint, column]
    applied = recording.applied[own, joint, column]
    noise = None if exact is None else recording.made[own, joint, column] - exact[own]
    jumps = np.diff(applied)
    wanted = recording.wanted[own, joint, column]
    return Figures(
        rms_tracking=_rms(error),
        max_tracking=float(np.abs(error).max()),
        rms_noise=None if noise is None else _rms(noise),
        max_noise=None if noise is None else float(np.abs(noise).max()),
        rms_jump=_rms(jumps),
        max_jump=float(np.abs(jumps).max()),
        limited=int(np.count_nonzero(wanted != applied)),
        outside=int(np.count_nonzero(outside[own])),
        rest=_rest(recording, column, joint, rate),
    )


def _rms(values: Floats) -> float:
    return float(np.sqrt((values**2).mean()))


def _rest(recording: Recording, column: int, joint: int, rate: float) -> Rest | None:
    """Return what remains in the second half of the time at which all should rest."""
    path = recording.trajectories[column % len(recording.trajectories)]
    length = path.own - path.rest
    if length < LEAST_REST * rate:
        return None
    last = slice(path.own - length // 2, path.own)
    q, torque = recording.q[last, joint, column], recording.applied[last, joint, column]
    amplitude = float(np.ptp(q)) / 2
    return Rest(
        amplitude=amplitude,
        torque=float(np.ptp(torque)) / 2,
        period=_period(q, rate) if amplitude > STILL else None,
        offset=float((path.q[last, joint] - q).mean()),
        seconds=length // 2 / rate,
    )


def _period(values: Floats, rate: float) -> float | None:
    """Return the mean time between upward passages through the middle; None without some."""
    middle = (values.max() + values.min()) / 2
    above = values > middle
    up = np.flatnonzero(above[1:] & ~above[:-1])
    if len(up) < CROSSINGS:
        return None
    period = float(up[-1] - up[0]) / (len(up) - 1) / rate
    return period if math.isfinite(period) else None
