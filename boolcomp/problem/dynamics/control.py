"""Control laws over any algebra: torques from measured and wanted states."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from boolcomp.problem.choices import KD, KP
from boolcomp.problem.dynamics.newton_euler import newton_euler

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from boolcomp.problem.dynamics.functions import FunctionAlgebra
    from boolcomp.problem.expressions.algebra import Algebra, Element
    from boolcomp.problem.robot.model import Link, Robot

    Elements = Sequence[Element]
    Dynamics = Callable[..., list[Element]]

OPPOSITE = math.pi / 4  # rad from half a turn, at most, that the difference is led to zero


def computed_torque(
    robot: Robot, algebra: Algebra, *state: Elements, dynamics: Dynamics = newton_euler
) -> list[Element]:
    """Return M(q) (q̈r + Kd ė + Kp e) + C(q, q̇) + G(q) of q, q̇, q̈r, e and ė.

    `dynamics` is the text of inverse dynamics that is used.
    """
    q, qd, qddr, e, de = state
    kp, kd = algebra.constant(KP), algebra.constant(KD)
    commands = [r + kd * dx + kp * x for r, x, dx in zip(qddr, e, de, strict=True)]
    return dynamics(robot, algebra, q, qd, commands)


def pd_gravity(
    robot: Robot,
    algebra: Algebra,
    q: Elements,
    e: Elements,
    de: Elements,
    dynamics: Dynamics = newton_euler,
) -> list[Element]:
    """Return Kp e + Kd ė + G(q)."""
    zeros = [algebra.constant(0.0)] * robot.joints
    weight = dynamics(robot, algebra, q, zeros, zeros)
    kp, kd = algebra.constant(KP), algebra.constant(KD)
    return [g + kp * x + kd * dx for g, x, dx in zip(weight, e, de, strict=True)]


def commanded(robot: Robot, algebra: Algebra, *state: Elements) -> list[Element]:
    """Return M(q) a + C(q, q̇) + G(q) of q, q̇, the reference, and a, the commands."""
    q, qd, *_, commands = state
    return newton_euler(robot, algebra, q, qd, commands)


def commands(
    robot: Robot,
    algebra: FunctionAlgebra,
    *state: Elements,
    kp: Sequence[float],
    kd: Sequence[float],
) -> list[Element]:
    """Return a = q̈r + Kd (q̇r - q̇) + Kp (qr - q), held within the joints' accelerations.

    The difference of two angles wraps where the joint has no stops.
    """
    _, qd, _, qdr, qddr, *_ = state
    errors = position_errors(robot, algebra, *state, kp=kp, kd=kd)
    found = []
    for k, (link, e) in enumerate(zip(robot.links, errors, strict=True)):
        most = link.acceleration
        total = qddr[k] + kd[k] * (qdr[k] - qd[k]) + kp[k] * e
        found.append(clipped(algebra, total, most.low, most.high))
    return found


def position_errors(
    robot: Robot,
    algebra: FunctionAlgebra,
    *state: Elements,
    kp: Sequence[float],
    kd: Sequence[float],
) -> list[Element]:
    """Return qr - q, held where it makes the command saturate whatever else there is.

    So the sum of a command is as wide as it need be, and the command is the same.
    """
    q, _, qr, *_ = state
    found = []
    for k, link in enumerate(robot.links):
        others = link.acceleration.magnitude + kd[k] * link.velocity.width
        most = (link.acceleration.magnitude + others) / kp[k]
        found.append(_difference(algebra, link, qr[k], q[k], most))
    return found


def _difference(
    algebra: FunctionAlgebra, link: Link, wanted: Element, measured: Element, most: float
) -> Element:
    """Return how far it is from one position to the other: the short way round, if it may go so.

    Half a turn away either way is as short, and the difference jumps: near there it is led through
    zero, no steeper than where it is held, so that no torque jumps.
    """
    if not link.revolute:
        return clipped(algebra, wanted - measured, -most, most)
    if link.span.wraps:
        error = algebra.function("wrap", wanted - measured)
        near = (math.pi - algebra.function("abs", error)) * (1 / min(most, OPPOSITE))
        return clipped(algebra, error, -most, most) * clipped(algebra, near, 0.0, 1.0)
    middle = link.position.centre
    one, other = (algebra.function("wrap", x - middle) for x in (wanted, measured))
    return clipped(algebra, one - other, -most, most)


def clipped(algebra: FunctionAlgebra, x: Element, low: float, high: float) -> Element:
    """Return x held within two numbers: (|x - low| - |x - high| + low + high) / 2."""
    above, below = algebra.function("abs", x - low), algebra.function("abs", x - high)
    return (above - below) * 0.5 + (low + high) / 2
