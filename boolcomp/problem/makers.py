"""Problems from robots: inverse dynamics, and gravity alone; other functions: `functions`."""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING

from boolcomp.problem.dynamics import regrouped
from boolcomp.problem.dynamics.batch import gravity_torques, inverse_dynamics
from boolcomp.problem.dynamics.christoffel import gravity_spectra, torque_spectra
from boolcomp.problem.expressions.algebra import Folding
from boolcomp.problem.expressions.tape import Tape
from boolcomp.problem.problem import Input, Output, PartHint, Problem, SumHint, numbered
from boolcomp.problem.robot.frames import axis_before, own_axis
from boolcomp.problem.span import Span
from boolcomp.problem.words import USUAL_FORMAT

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from boolcomp.problem.expressions.straight import Straight
    from boolcomp.problem.interval import Interval
    from boolcomp.problem.robot.model import Robot
    from boolcomp.problem.words import WordFormat

PARALLEL = 1e-9
WEIGHT_DUST = 1e-9  # of what an arm's weight could make: rounding, no torque
ROUNDING = 1e-13  # of what its speeds and accelerations could make


def inverse_dynamics_problem(robot: Robot) -> Problem:
    """Return the torques (forces) that move an arm, of q, q̇ and q̈ of its joints.

    Axes that are parallel to the next one's are told: there sums of speeds, and torques that are
    parts of the one before, are likely to be needed.
    """
    q, qd, qdd = positions(robot), speeds(robot), accelerations(robot)
    signs = parallel_axes(robot)
    return Problem(
        name=robot.name,
        key=str(robot.mechanism),
        inputs=(*q, *qd, *qdd),
        outputs=torques(robot),
        groups=tuple(numbered(name, robot.joints) for name in ("q", "qd", "qdd")),
        returned=numbered("tau", robot.joints),
        reference=partial(inverse_dynamics, robot),
        form=partial(torque_spectra, robot, q, qd, qdd),
        sums=tuple(sum_hints(signs)),
        parts=part_hints(signs),
        plural="torques",
        places="joints",
        dust=torque_dust(robot),
        calculation=partial(torque_steps, robot, ("q", "qd", "qdd")),
    )


def gravity_problem(robot: Robot) -> Problem:
    """Return the torques that hold an arm at rest, of its positions."""
    q, signs = positions(robot), parallel_axes(robot)
    return Problem(
        name=f"{robot.name}-gravity",
        key=f"gravity of\n{robot.mechanism}",
        inputs=q,
        outputs=torques(robot),
        groups=(numbered("q", robot.joints),),
        returned=numbered("tau", robot.joints),
        reference=partial(gravity_torques, robot),
        form=partial(gravity_spectra, robot, q),
        parts=part_hints(signs),
        plural="torques",
        places="joints",
        dust=torque_dust(robot),
        calculation=partial(torque_steps, robot, ("q",)),
    )


def torque_steps(robot: Robot, groups: Sequence[str]) -> Straight:
    """Return the steps of Newton and Euler that calculate all torques, of these of q, qd and qdd.

    Its inputs are q1, q2, … . Parameters are regrouped, so that there are few products; speeds and
    accelerations that are no inputs are zero.
    """
    tape = Tape()
    algebra, count = Folding(tape), range(1, robot.joints + 1)
    state = [
        [tape.input(f"{name}{k}") if name in groups else algebra.constant(0.0) for k in count]
        for name in ("q", "qd", "qdd")
    ]
    torque = regrouped.torques(robot, algebra, *state)
    return tape.finish([(f"tau{k}", x) for k, x in zip(count, torque, strict=True)])


def positions(robot: Robot) -> tuple[Input, ...]:
    """Return q1, q2, … as inputs: radians where a joint turns, metres where it slides."""
    return tuple(
        input_of(
            f"q{k}",
            link.position,
            "rad" if link.revolute else "m",
            link.span,
            angle=link.revolute,
            asked=link.word,
        )
        for k, link in enumerate(robot.links, 1)
    )


def speeds(robot: Robot) -> tuple[Input, ...]:
    """Return qd1, qd2, … as inputs."""
    return tuple(
        input_of(f"qd{k}", link.velocity, "rad/s" if link.revolute else "m/s")
        for k, link in enumerate(robot.links, 1)
    )


def accelerations(robot: Robot) -> tuple[Input, ...]:
    """Return qdd1, qdd2, … as inputs."""
    return tuple(
        input_of(f"qdd{k}", link.acceleration, "rad/s²" if link.revolute else "m/s²")
        for k, link in enumerate(robot.links, 1)
    )


def input_of(
    name: str,
    where: Interval,
    unit: str,
    span: Span | None = None,
    *,
    angle: bool = False,
    asked: WordFormat = USUAL_FORMAT,
) -> Input:
    """Return an input within these bounds; `span` is what its word covers, where that is more."""
    own = span or Span(where, where)
    return Input(name, where, unit, own.word, own.reach, angle, own.wraps, format=asked)


def torques(robot: Robot) -> tuple[Output, ...]:
    """Return tau1, tau2, … as outputs over the robot's own ranges."""
    return tuple(
        Output(f"tau{k}", f"T{k}", link.torque, link.torque_unit, f"torque {k}")
        for k, link in enumerate(robot.links, 1)
    )


def parallel_axes(robot: Robot) -> dict[int, int]:
    """Return +1 or -1 for every joint (from 0) whose axis is parallel to the next one's on it."""
    found = {}
    for joint in range(robot.joints - 1):
        link, after = robot.links[joint], robot.links[joint + 1]
        if robot.parents[joint + 1] != joint + 1:
            continue  # the next one is on another branch
        (a, b, c), (x, y, z) = own_axis(link), axis_before(after)
        across = math.hypot(b * z - c * y, c * x - a * z, a * y - b * x)
        if link.revolute and after.revolute and across < PARALLEL:
            found[joint] = 1 if a * x + b * y + c * z > 0 else -1
    return found


def part_hints(signs: dict[int, int]) -> tuple[PartHint, ...]:
    """Return that a torque about an axis holds the one about the next, where they are parallel."""
    return tuple(PartHint(joint, joint + 1, sign) for joint, sign in signs.items())


def sum_hints(signs: dict[int, int]) -> Iterator[SumHint]:
    """Yield speeds, then accelerations; in a longer chain pairs overlap: only its first counts."""
    for kind, letters in (("speeds", "qd"), ("accelerations", "qdd")):
        for joint, sign in sorted(signs.items(), reverse=True):
            if joint - 1 not in signs:
                yield SumHint(kind, f"{letters}{joint + 1}", f"{letters}{joint + 2}", sign)


def torque_dust(robot: Robot) -> float:
    """Return the size up to which a torque is rounding of sums that are zero.

    It stands beside what an arm's weight could make, and (with what rounding alone leaves) its
    speeds and accelerations.
    """
    links = robot.links
    reach = sum(
        abs(link.a) + abs(link.d) + math.hypot(*link.center_of_mass)
        + (math.hypot(*link.pose.origin) if link.pose else 0.0)
        + (0.0 if link.revolute else link.position.magnitude)
        for link in links
    )  # fmt: skip
    inertia = robot.mass * reach**2 + sum(sum(map(abs, link.inertia)) for link in links)
    speed = sum(link.velocity.magnitude for link in links)
    changes = speed**2 + sum(link.acceleration.magnitude for link in links)
    weight = robot.mass * math.hypot(*robot.gravity) * reach
    return max(WEIGHT_DUST * weight, ROUNDING * inertia * changes)
