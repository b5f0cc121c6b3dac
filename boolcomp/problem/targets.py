"""Where the tip of an arm is wanted, as inputs."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from boolcomp.problem.dynamics.planar import planar
from boolcomp.problem.dynamics.wrist import wrist
from boolcomp.problem.interval import Interval
from boolcomp.problem.makers import input_of
from boolcomp.problem.span import Span

if TYPE_CHECKING:
    from boolcomp.problem.problem import Input
    from boolcomp.problem.robot.model import Robot

AXES = "xyz"


def points(robot: Robot) -> tuple[Input, ...]:
    """Return the tip's coordinates as inputs: as far as a stretched arm reaches, in a square."""
    arm = planar(robot)
    far = arm.first + arm.second
    return tuple(
        input_of(f"p{AXES[place]}", Interval(zero - far, zero + far), "m")
        for place, zero in zip(arm.plane, arm.origin, strict=True)
    )


def places(robot: Robot) -> tuple[Input, ...]:
    """Return the tip's place as inputs: as far as the arm reaches, in a cube about its shoulder."""
    arm = wrist(robot)
    return tuple(
        input_of(f"p{axis}", Interval(float(zero) - arm.reach, float(zero) + arm.reach), "m")
        for axis, zero in zip(AXES, arm.shoulder, strict=True)
    )


def turns(robot: Robot) -> tuple[Input, ...]:
    """Return roll, pitch and yaw of the tip as inputs: every rotation has such."""
    del robot
    whole, half = Interval(-math.pi, math.pi), Interval(-math.pi / 2, math.pi / 2)
    ranges = {"roll": whole, "pitch": half, "yaw": whole}
    return tuple(
        input_of(name, where, "rad", Span(where, where, wraps=where is whole), angle=True)
        for name, where in ranges.items()
    )
