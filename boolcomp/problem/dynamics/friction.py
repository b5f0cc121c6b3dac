"""Friction in joints over any algebra: viscous, and dry friction whose sign is smoothed.

Dry friction is |G|·Tc·sign q̇ with a Tc for each direction. Its sign is no function that logic of
finite words can follow, nor one that a controller should: tanh(q̇/v) takes its place. At q̇ = 2v
that is 0.964; over speeds up to V the mean of sign - tanh is 0.69 v/V.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from boolcomp.base.errors import short
from boolcomp.common.errors import listing
from boolcomp.problem.dynamics.newton_euler import newton_euler

if TYPE_CHECKING:
    from collections.abc import Sequence

    from boolcomp.problem.dynamics.functions import FunctionAlgebra
    from boolcomp.problem.expressions.algebra import Algebra, Element
    from boolcomp.problem.robot.model import Robot

    Elements = Sequence[Element]

SMOOTHING = 0.02  # of the largest speed, unless it is given


def dry_joints(robot: Robot) -> list[int]:
    """Return the joints (from 0) that have dry friction."""
    return [k for k, link in enumerate(robot.links) if any(link.coulomb_friction)]


def usual_smoothing(robot: Robot) -> tuple[float, ...]:
    """Return for every joint the speed within which the sign is smoothed if nothing is said."""
    return tuple(SMOOTHING * (link.velocity.magnitude or 1.0) for link in robot.links)


def smoothing_notes(robot: Robot, smoothing: Sequence[float]) -> tuple[str, ...]:
    """Return what users should know of a smoothed sign."""
    speeds = listing(
        f"{short(smoothing[k])} {'rad/s' if robot.links[k].revolute else 'm/s'} (joint {k + 1})"
        for k in dry_joints(robot)
    )
    text = "the sign of dry friction goes over as tanh(qd/v), within 5 % of it beyond 1.83 v"
    return (f"{text}: v = {speeds}",)


def dry_friction(
    robot: Robot, algebra: FunctionAlgebra, *state: Elements, smoothing: Sequence[float]
) -> list[Element]:
    """Return the dry friction of those joints that have it, of q, q̇ and q̈."""
    found = []
    for k in dry_joints(robot):
        link = robot.links[k]
        forwards, backwards = (abs(link.gear_ratio) * c for c in link.coulomb_friction)
        sign = algebra.function("tanh", state[1][k] * (1 / smoothing[k]))
        mean, half = (forwards + backwards) / 2, (forwards - backwards) / 2
        found.append(mean * sign + half * (sign * sign) if half else mean * sign)
    return found


def with_friction(robot: Robot, algebra: Algebra, *state: Elements) -> list[Element]:
    """Return inverse dynamics with viscous friction, and with the dry friction that is given."""
    q, qd, qdd, *rest = state
    wet = tuple(replace(link, coulomb_friction=(0.0, 0.0)) for link in robot.links)
    torques = newton_euler(replace(robot, links=wet), algebra, q, qd, qdd, friction=True)
    for k, dry in zip(dry_joints(robot), rest[0] if rest else (), strict=False):
        torques[k] = torques[k] + dry
    return torques
