"""Control laws: what commands a controller makes of measured and wanted states.

computed-torque: τ = M(q) a + C(q, q̇) + G(q), a = q̈r + Kd (q̇r - q̇) + Kp (qr - q): a block of
inverse dynamics makes all torque. pd-gravity: τ = G(q) + B (Kp (qr - q) + Kd (q̇r - q̇)): a block
makes G alone, and B are the inertias that joints feel by themselves. own: a block is the whole law.
With bandwidth wn (rad/s) and damping zeta, Kp = wn² and Kd = 2 zeta wn.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from boolcomp.common.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from boolcomp.problem.robot.model import Robot

    Floats = NDArray[np.float64]
    Signals = dict[str, Floats]

Kind = Literal["computed-torque", "pd-gravity", "own"]
BANDWIDTH, DAMPING = 10.0, 1.0  # Kp = 100, Kd = 20, as the functions that can be compiled have
READ = {"computed-torque": ("q", "qd", "qdd"), "pd-gravity": ("q",)}


@dataclass(frozen=True, slots=True, eq=False)
class Law:
    """A control law: gains (one each joint), what differences wrap, what is added to the block."""

    kind: Kind
    kp: Floats
    kd: Floats
    wraps: NDArray[np.bool_]
    inertias: Floats

    @property
    def reads(self) -> tuple[str, ...]:
        """What its block reads."""
        return READ.get(self.kind, ())

    def signals(
        self, q: Floats, qd: Floats, wanted: tuple[Floats, Floats, Floats], time: float
    ) -> Signals:
        """Return all that a block may read, (joints, runs) each; `qdd` is the command a."""
        qr, qdr, qddr = wanted
        e = qr - q
        around = e - 2 * math.pi * np.floor(e / (2 * math.pi) + 0.5)
        e = np.where(self.wraps[:, None], around, e)
        de = qdr - qd
        a = qddr + self.kd[:, None] * de + self.kp[:, None] * e
        return {
            "q": q, "qd": qd, "qdd": a, "qr": qr, "qdr": qdr, "qddr": qddr, "e": e, "de": de,
            "t": np.full_like(q, time),
        }  # fmt: skip

    def added(self, signals: Mapping[str, Floats]) -> Floats | float:
        """Return what the law adds to its block's torques."""
        if self.kind != "pd-gravity":
            return 0.0
        pull = self.kp[:, None] * signals["e"] + self.kd[:, None] * signals["de"]
        return self.inertias[:, None] * pull

    @property
    def pull(self) -> Floats:
        """How far off a joint stays (rad, m) for an acceleration that is wrong by one, at most.

        Of ë + Kd ė + Kp e = d: the integral of the size of the impulse response.
        """
        zeta = self.kd / (2 * np.sqrt(self.kp))
        free = np.sqrt(np.maximum(1 - zeta**2, 0.0))
        turn = np.divide(math.pi * zeta, 2 * free, out=np.full_like(zeta, np.inf), where=free > 0)
        return np.asarray(1 / (self.kp * np.tanh(turn)))


def law_of(robot: Robot, kind: Kind, inertias: Floats, bandwidth: float, damping: float) -> Law:
    """Return a law with gains by bandwidth and damping, the same for all joints."""
    for name, value in (("bandwidth", bandwidth), ("damping", damping)):
        if not 0 < value < 1e6:
            raise UsageError(f"a {name} lies above 0, not {value:g}")
    n = robot.joints
    return Law(
        kind,
        np.full(n, bandwidth**2),
        np.full(n, 2 * damping * bandwidth),
        np.array([link.revolute and link.span.wraps for link in robot.links]),
        inertias,
    )
