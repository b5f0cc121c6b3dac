"""Functions of a robot as sums of waves, by Lagrange's equations.

C = moments of all that hangs on a joint, in its frame: C ← A C Aᵀ from frame to frame
P = G C, the momentum of all that at unit speed of the joint, whose slope is G: Σ m v rᵀ
M_ij = axis_i · (turning or pushing part of P_j, carried to joint i),   U = - g · Σ m r
τ_i = Σ M_ij q̈_j + Σ (∂M_ij/∂q_k - ½ ∂M_jk/∂q_i) q̇_j q̇_k + ∂U/∂q_i
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from boolcomp.checker.functions.waves import Sum, number, total
from boolcomp.checker.robot import NOTHING, product, seen

if TYPE_CHECKING:
    from boolcomp.checker.functions.waves import Space
    from boolcomp.checker.robot import Robot, Rows

Vector = list[Sum]


class Arm:
    """The mass matrix and the potential of a robot, and what follows from them."""

    def __init__(self, robot: Robot, space: Space) -> None:
        self.robot, self.space, self.size = robot, space, len(robot.joints)
        self.mass: dict[tuple[int, int], Sum] = {}
        self.potential = NOTHING
        bodies = [joint.moments for joint in robot.joints]
        for j in reversed(range(self.size)):
            joint = robot.joints[j]
            body = seen(joint.motion, bodies[j])
            self._momentum(j, body)
            body = seen(joint.place, body)
            if joint.parent:
                bodies[joint.parent - 1] = _added(bodies[joint.parent - 1], body)
            else:
                fall = (robot.gravity[k] * body[k][3] for k in range(3))
                self.potential = self.potential - total(fall)

    def _momentum(self, j: int, body: Rows) -> None:
        """Find the row of the mass matrix of a joint, whose body is seen from its frame."""
        joint = self.robot.joints[j]
        x, y, z = joint.axis
        if joint.revolute:
            slope = [
                [NOTHING, -z, y, NOTHING],
                [z, NOTHING, -x, NOTHING],
                [-y, x, NOTHING, NOTHING],
            ]
        else:
            slope = [[NOTHING, NOTHING, NOTHING, c] for c in joint.axis]
        p = product(slope, body)
        turn = [p[2][1] - p[1][2], p[0][2] - p[2][0], p[1][0] - p[0][1]]
        push, i = [row[3] for row in p], j
        while True:
            here = self.robot.joints[i]
            self.mass[min(i, j), max(i, j)] = dot(here.axis, turn if here.revolute else push)
            turn, push = _carried(here.place, turn, push)
            if not here.parent:
                return
            i = here.parent - 1
            turn, push = _carried(self.robot.joints[i].motion, turn, push)

    def inertia(self, i: int, j: int) -> Sum:
        """Return an entry of the mass matrix, rotors included; branches share none."""
        found = self.mass.get((min(i, j), max(i, j)), NOTHING)
        return found + number(self.robot.joints[i].rotor) if i == j else found

    def slope(self, of: Sum, i: int) -> Sum:
        """Return ∂/∂q_i, from 0."""
        return self.space.derivative(of, f"q{i + 1}")

    def torque(self, i: int, speeds: Vector, accelerations: Vector) -> Sum:
        """Return a torque, or a force where the joint slides."""
        found = self.slope(self.potential, i)
        for j in range(self.size):
            found = found + self.inertia(i, j) * accelerations[j]
            for k in range(self.size):
                pair = speeds[j] * speeds[k]
                if pair.parts:
                    bent = self.slope(self.inertia(j, k), i).times(0.5)
                    found = found + (self.slope(self.inertia(i, j), k) - bent) * pair
        return found


def _added(one: Rows, other: Rows) -> Rows:
    return [[a + b for a, b in zip(*rows, strict=True)] for rows in zip(one, other, strict=True)]


def _carried(rows: Rows, turn: Vector, push: Vector) -> tuple[Vector, Vector]:
    """Return a moment and a force as seen from the frame in which another one lies so."""
    turn, push = ([dot(row[:3], v) for row in rows] for v in (turn, push))
    moved = cross([row[3] for row in rows], push)
    return [one + other for one, other in zip(turn, moved, strict=True)], push


def cross(one: Vector, other: Vector) -> Vector:
    """Return a vector product."""
    (x, y, z), (a, b, c) = one, other
    return [y * c - z * b, z * a - x * c, x * b - y * a]


def dot(one: Vector, other: Vector) -> Sum:
    """Return the sum of products."""
    return total(a * b for a, b in zip(one, other, strict=True))
