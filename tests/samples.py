"""Robots and states that several tests use: random but seeded."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from boolcomp.problem.interval import Interval
from boolcomp.problem.robot import Link, Robot

if TYPE_CHECKING:
    from numpy.typing import NDArray

TURN = Interval(-math.pi, math.pi)
ONE = Interval(-1.0, 1.0)


def random_robot(seed: int, joints: int | None = None) -> Robot:
    """Return an arm of 1 to 7 joints, a third of them sliding, with full inertia tensors."""
    rng = np.random.default_rng(seed)
    count = joints or int(rng.integers(1, 8))
    return Robot(
        name=f"random-{seed}",
        title="",
        source="",
        doubt="",
        gravity=_triple(rng.uniform(-9.81, 9.81, 3)),
        links=tuple(random_link(rng) for _ in range(count)),
    )


def random_link(rng: np.random.Generator) -> Link:
    revolute = rng.uniform() < 2 / 3
    right_angles = (0.0, math.pi / 2, -math.pi / 2, math.pi)
    square = rng.uniform(-1, 1, (3, 3))
    tensor = square @ square.T + np.eye(3)
    inertia = (*np.diag(tensor), tensor[0, 1], tensor[1, 2], tensor[0, 2])
    xx, yy, zz, xy, yz, xz = (float(x) for x in inertia)
    return Link(
        type="revolute" if revolute else "prismatic",
        a=float(rng.uniform(-1, 1)),
        alpha=float(rng.choice(right_angles) if rng.uniform() < 0.5 else rng.uniform(-3, 3)),
        d=float(rng.uniform(-1, 1)),
        theta=float(rng.uniform(-3, 3)),
        mass=float(rng.uniform(0.1, 10)),
        center_of_mass=_triple(rng.uniform(-1, 1, 3)),
        inertia=(xx, yy, zz, xy, yz, xz),
        rotor_inertia=float(rng.uniform(0, 1e-2)),
        gear_ratio=float(rng.uniform(-100, 100)),
        viscous_friction=0.0,
        coulomb_friction=(0.0, 0.0),
        position=TURN if revolute else Interval(0.2, 1.1),
        velocity=ONE,
        acceleration=ONE,
        torque=Interval(-100.0, 100.0),
    )


def random_states(robot: Robot, count: int, seed: int = 0) -> tuple[NDArray[np.float64], ...]:
    """Return q, qd and qdd, each (count, joints), over and beyond the robot's ranges."""
    rng = np.random.default_rng(seed)
    shape = (count, robot.joints)
    return rng.uniform(-4, 4, shape), rng.uniform(-2, 2, shape), rng.uniform(-5, 5, shape)


def _triple(values: NDArray[np.float64]) -> tuple[float, float, float]:
    x, y, z = (float(value) for value in values)
    return (x, y, z)
