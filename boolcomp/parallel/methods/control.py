"""Whole cycles of simulation and control: computed torque with PD feedback.

    v = ÿᵣ + Kd (ẏᵣ - ẏ) + Kp (yᵣ - y)        u = M v + k - q

A cycle as in Schäfer and Schiehlen 1992, calculates u and, with Cholesky's factors of M, the
arm's acceleration under it. With an exact model that is v.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from boolcomp.parallel.methods import symbolic
from boolcomp.problem.expressions.tape import task

if TYPE_CHECKING:
    from collections.abc import Sequence

    from boolcomp.parallel.methods.symbolic import Equations
    from boolcomp.problem.expressions.algebra import Algebra, Element
    from boolcomp.problem.expressions.straight import Straight
    from boolcomp.problem.expressions.tape import Tape
    from boolcomp.problem.robot.model import Robot


@dataclass(frozen=True, slots=True)
class Gains:
    """Feedback of every joint: `proportional` in 1/s², `derivative` in 1/s."""

    proportional: float = 100.0
    derivative: float = 20.0


def forward_program(robot: Robot, tape: Tape) -> Straight:
    """Record forward dynamics: inputs q, qd, u of every joint, outputs qdd."""
    joints = range(1, robot.joints + 1)
    q, qd, u = ([tape.input(f"{name}{i}") for i in joints] for name in ("q", "qd", "u"))
    found = symbolic.forward(robot, tape, q, qd, u)
    return tape.finish([(f"qdd{i}", x) for i, x in enumerate(found, 1)], prune=tape.fold)


def wanted(
    algebra: Algebra,
    gains: Gains,
    state: Sequence[Sequence[Element]],
    reference: Sequence[Sequence[Element]],
) -> list[Element]:
    """Return v from the state (q, q̇) and the reference (q, q̇, q̈)."""
    found = []
    for i, (q, qd, qr, qdr, qddr) in enumerate(zip(*state, *reference, strict=True), 1):
        with task(algebra, f"v/{i}"):
            slow = algebra.constant(gains.proportional) * (qr - q)
            fast = algebra.constant(gains.derivative) * (qdr - qd)
            found.append(qddr + fast + slow)
    return found


def computed_torque(
    algebra: Algebra, equations: Equations, rates: Sequence[Element]
) -> list[Element]:
    """Return u = M v + k - q."""
    return symbolic.driven(algebra, equations, rates, "u")


def cycle(robot: Robot, tape: Tape, gains: Gains | None = None) -> Straight:
    """Record a cycle: inputs q, qd, qr, qdr, qddr of every joint, outputs u and qdd."""
    joints = range(1, robot.joints + 1)
    names = ("q", "qd", "qr", "qdr", "qddr")
    q, qd, *reference = ([tape.input(f"{name}{i}") for i in joints] for name in names)
    bodies = symbolic.bodies_of(robot, tape, q, qd)
    equations = symbolic.assemble(tape, bodies, robot.joints)
    rates = wanted(tape, gains or Gains(), (q, qd), reference)
    u = computed_torque(tape, equations, rates)
    found = symbolic.accelerations(tape, equations, u)
    outputs = [
        *((f"u{i}", x) for i, x in enumerate(u, 1)),
        *((f"qdd{i}", x) for i, x in enumerate(found, 1)),
    ]
    return tape.finish(outputs, prune=tape.fold)
