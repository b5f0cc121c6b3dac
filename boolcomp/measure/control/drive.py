"""What stands between a controller and its arm: control rate, encoders, speeds, torque limits."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np

from boolcomp.common.errors import UsageError, listing, shown, suggestion

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from boolcomp.problem.robot.model import Link, Robot

    Floats = NDArray[np.float64]

Speeds = Literal["exact", "difference", "filtered"]
SPEEDS: tuple[Speeds, ...] = get_args(Speeds)
RATE, CUTOFF = 1000.0, 50.0  # Hz, if nothing is said
FASTEST = 1e6  # Hz
FRICTIONS = ("compensated", "uncompensated", "none")


@dataclass(frozen=True, slots=True)
class Drive:
    """The control rate (Hz), the encoders' steps (rad, m; 0: exact), and the largest torques.

    Speeds are exact, or differences of two readings, or these through a low-pass filter of first
    order with a cut-off (Hz).
    """

    rate: float
    steps: tuple[float, ...]
    limits: tuple[float, ...]
    speeds: Speeds = "exact"
    cutoff: float = CUTOFF

    @property
    def period(self) -> float:
        """The time between two instants of control, in s."""
        return 1 / self.rate

    @property
    def ideal(self) -> bool:
        """Whether states are measured as they are."""
        return self.speeds == "exact" and not any(self.steps)

    @property
    def smoothing(self) -> float:
        """How much of a new difference the filter takes."""
        if self.speeds != "filtered":
            return 1.0
        return 1 - math.exp(-2 * math.pi * self.cutoff * self.period)


def drive_of(
    robot: Robot,
    *,
    rate: float | None = None,
    encoder_bits: int | None = None,
    speeds: str | None = None,
    cutoff: float = CUTOFF,
) -> Drive:
    """Return a robot's drive as its file says, but for what is said here.

    Without a `torque_limit` a drive can make a torque at the end of its range, and overcome the
    friction at the joint's largest speed besides. `encoder_bits` are those of a turn (of a sliding
    joint's range). Speeds are exact where no encoder counts.
    """
    links = robot.links
    steps = tuple(link.encoder_step for link in links)
    if encoder_bits is not None:
        spans = (2 * math.pi if link.revolute else link.position.width for link in links)
        steps = tuple(span / 2**encoder_bits for span in spans)
    chosen = (robot.control_rate or RATE) if rate is None else rate
    if not 1 <= chosen <= FASTEST:
        raise UsageError(f"a control rate is 1 to {FASTEST:g} Hz, not {chosen:g}")
    found = next((one for one in SPEEDS if one == speeds), None)
    if speeds is not None and found is None:
        hint = suggestion(speeds, SPEEDS)
        raise UsageError(f"speeds {shown(speeds)}{hint}: they are {listing(SPEEDS)}")
    if not 0 < cutoff < chosen / 2:
        raise UsageError(
            f"a cut-off of {cutoff:g} Hz: it lies above 0 and below half the control rate, "
            f"{chosen / 2:g} Hz"
        )
    return Drive(
        chosen,
        steps,
        tuple(link.torque_limit or link.torque.magnitude + _rub(link) for link in links),
        found or ("filtered" if any(steps) else "exact"),
        cutoff,
    )


def _rub(link: Link) -> float:
    """Return a joint's friction at its largest speed."""
    viscous = link.viscous_friction * link.gear_ratio**2 * link.velocity.magnitude
    return viscous + abs(link.gear_ratio) * max(link.coulomb_friction)


class Sensors:
    """What the controller sees of the states of all runs; it remembers what it saw last."""

    def __init__(self, drive: Drive, state: Floats) -> None:
        joints = len(state) // 2
        self._drive = drive
        self._steps = np.array(drive.steps)[:, None]
        self._counts = self._steps > 0
        self._safe = np.where(self._counts, self._steps, 1.0)
        self._speeds = state[joints:].copy()
        self._before = self._read(state[:joints]) - self._speeds * drive.period

    def seen(self, state: Floats) -> tuple[Floats, Floats]:
        """Return positions and speeds as they are measured now."""
        joints = len(state) // 2
        q = self._read(state[:joints])
        if self._drive.speeds == "exact":
            return q, state[joints:].copy()
        difference = (q - self._before) * self._drive.rate
        self._speeds = self._speeds + self._drive.smoothing * (difference - self._speeds)
        self._before = q
        return q, self._speeds

    def _read(self, q: Floats) -> Floats:
        if not self._counts.any():
            return q.copy()
        return np.where(self._counts, np.round(q / self._safe) * self._steps, q)
