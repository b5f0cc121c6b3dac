"""Control laws over any algebra: torques from measured and wanted states."""

from __future__ import annotations

from typing import TYPE_CHECKING

from boolcomp.problem.choices import KD, KP
from boolcomp.problem.dynamics.recurrence import newton_euler

if TYPE_CHECKING:
    from collections.abc import Sequence

    from boolcomp.problem.dynamics.algebra import Algebra, Element
    from boolcomp.problem.dynamics.functions import FunctionAlgebra
    from boolcomp.problem.robot import Link, Robot

    Elements = Sequence[Element]


def computed_torque(robot: Robot, algebra: Algebra, *state: Elements) -> list[Element]:
    """Return M(q) (q̈r + Kd ė + Kp e) + C(q, q̇) + G(q) of q, q̇, q̈r, e and ė."""
    q, qd, qddr, e, de = state
    kp, kd = algebra.constant(KP), algebra.constant(KD)
    commands = [r + kd * dx + kp * x for r, x, dx in zip(qddr, e, de, strict=True)]
    return newton_euler(robot, algebra, q, qd, commands)


def pd_gravity(
    robot: Robot, algebra: Algebra, q: Elements, e: Elements, de: Elements
) -> list[Element]:
    """Return Kp e + Kd ė + G(q)."""
    zeros = [algebra.constant(0.0)] * robot.joints
    weight = newton_euler(robot, algebra, q, zeros, zeros)
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
    _, qd, _, qdr, qddr = state
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
    q, _, qr, _, _ = state
    found = []
    for k, link in enumerate(robot.links):
        others = link.acceleration.magnitude + kd[k] * link.velocity.width
        most = (link.acceleration.magnitude + others) / kp[k]
        error = _difference(algebra, link, qr[k], q[k])
        found.append(clipped(algebra, error, -most, most))
    return found


def _difference(
    algebra: FunctionAlgebra, link: Link, wanted: Element, measured: Element
) -> Element:
    """Return how far it is from one position to the other: the short way round, if it may go so."""
    if not link.revolute:
        return wanted - measured
    if link.span.wraps:
        return algebra.function("wrap", wanted - measured)
    middle = link.position.centre
    return algebra.function("wrap", wanted - middle) - algebra.function("wrap", measured - middle)


def clipped(algebra: FunctionAlgebra, x: Element, low: float, high: float) -> Element:
    """Return x held within two numbers: (|x - low| - |x - high| + low + high) / 2."""
    above, below = algebra.function("abs", x - low), algebra.function("abs", x - high)
    return (above - below) * 0.5 + (low + high) / 2
