"""How large an arm's torques become over its ranges: seen on samples, nothing proved."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from boolcomp.problem.dynamics.batch import inverse_dynamics

if TYPE_CHECKING:
    from boolcomp.problem.robot.model import Robot

SAMPLES = 20_000
MARGIN = 1.1  # beyond what samples reach: they find no extremes
DUST = 1e-9  # of the largest torque: rounding


def torque_reach(robot: Robot) -> list[float]:
    """Return for every joint what a torque range should hold at least; 0 where all are zero.

    Speeds and accelerations are at the ends of their ranges, where torques are largest.
    """
    rng = np.random.default_rng(1988)
    shape = (SAMPLES, robot.joints)
    places = [link.position for link in robot.links]
    q = rng.uniform([x.low for x in places], [x.high for x in places], shape)
    ends = (
        np.where(rng.integers(2, size=shape), [x.high for x in kind], [x.low for x in kind])
        for kind in (
            [link.velocity for link in robot.links],
            [link.acceleration for link in robot.links],
        )
    )
    most = np.abs(inverse_dynamics(robot, q, *ends)).max(axis=0)
    return [float(MARGIN * x) if x > DUST * most.max() else 0.0 for x in most]
