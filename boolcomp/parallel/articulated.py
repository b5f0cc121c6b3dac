"""Recursive forward dynamics with articulated bodies, as eq. (8) of Schäfer and Schiehlen 1992.

A link's acceleration is a = (ω̇, v̇) of its frame's origin, forces are p = (moment, force) about it.
With the motion X a' + c that a link gets from the one before, and the axis s of its joint:

    a = X a' + c + s q̈                                  p = I a + b
    U = I s,  D = sᵀU + rotor,  u = τ - sᵀb             q̈ = (u - Uᵀ(X a' + c)) / D
    I' += Xᵀ(I - U Uᵀ/D) X                              b' += Xᵀ(b + (I - U Uᵀ/D) c + U u/D)

No inertia matrix is made: operations grow linearly with the joints. Any frames, chains and trees.
"""

from __future__ import annotations

from functools import reduce
from operator import add
from typing import TYPE_CHECKING

from boolcomp.parallel.methods import base_acceleration, constants, inertia_of, zeros
from boolcomp.problem.algebra import Vector
from boolcomp.problem.dynamics import joint_program, link_frame, pose_frame
from boolcomp.problem.tape import task

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from boolcomp.problem.algebra import Algebra, Element
    from boolcomp.problem.robot.model import Link, Robot
    from boolcomp.problem.tape import Straight, Tape

    Elements = Sequence[Element]
    Six = list[Element]
    Square = list[list[Element]]  # 6 by 6
    Joint = tuple[list[Six], Six, Six]  # X by columns, c, s
    Body = tuple[Square, Six]  # I, b

TASKS = ("X", "I", "U", "P", "qdd")


def tasks(robot: Robot) -> tuple[str, ...]:
    return tuple(f"{name}/{i}" for i in range(1, robot.joints + 1) for name in TASKS)


def forward_program(robot: Robot, tape: Tape) -> Straight:
    """Record forward dynamics: inputs q, qd, u of every joint, outputs qdd."""
    return joint_program(robot, forward, ("q", "qd", "u"), ("qdd",), tape)


def forward(
    robot: Robot, algebra: Algebra, q: Elements, qd: Elements, u: Elements
) -> list[Element]:
    """Return the accelerations of the joints under the torques of the drives."""
    omegas, joints, bodies = [zeros(algebra)], [], []
    for i, (link, *state) in enumerate(zip(robot.links, q, qd, strict=True), 1):
        with task(algebra, f"X/{i}"):
            omega, joint = _joint(link, algebra, omegas[robot.parents[i - 1]], state)
        with task(algebra, f"I/{i}"):
            bodies.append(_body(link, algebra, omega))
        omegas.append(omega)
        joints.append(joint)
    solved = []
    for i in range(robot.joints, 0, -1):
        (_, _, axis), (inertia, bias) = joints[i - 1], bodies[i - 1]
        with task(algebra, f"U/{i}"):
            pulled = [_dot(row, axis) for row in inertia]
            rotor = algebra.constant(robot.links[i - 1].joint_inertia)
            over = algebra.constant(1.0) / (_dot(axis, pulled) + rotor)
            left = u[i - 1] - _dot(axis, bias)
        solved.append((pulled, over, left))
        if parent := robot.parents[i - 1]:
            with task(algebra, f"P/{i}"):
                more = _passed(joints[i - 1], bodies[i - 1], solved[-1])
                bodies[parent - 1] = _together(bodies[parent - 1], more)
    motions, found = [[*zeros(algebra), *base_acceleration(robot, algebra)]], []
    for i, (columns, gained, axis) in enumerate(joints, 1):
        pulled, over, left = solved[-i]
        before = motions[robot.parents[i - 1]]
        with task(algebra, f"qdd/{i}"):
            rows = zip(zip(*columns, strict=True), gained, strict=True)
            motion = [_dot(row, before) + c for row, c in rows]
            found.append((left - _dot(pulled, motion)) * over)
            motions.append([x + s * found[-1] for x, s in zip(motion, axis, strict=True)])
    return found


def _passed(joint: Joint, body: Body, solved: tuple[Six, Element, Element]) -> Body:
    """Return the parts of a link in I and b of the one before."""
    (columns, gained, _), (inertia, bias), (pulled, over, left) = joint, body, solved
    rest = _symmetric(lambda r, c: inertia[r][c] - pulled[r] * (pulled[c] * over))
    turn = left * over
    rows = zip(bias, rest, pulled, strict=True)
    pushed = [b + _dot(row, gained) + p * turn for b, row, p in rows]
    carried = [[_dot(row, column) for row in rest] for column in columns]
    more = _symmetric(lambda r, c: _dot(columns[r], carried[c]))
    return more, [_dot(column, pushed) for column in columns]


def _together(one: Body, other: Body) -> Body:
    (a, b), (c, d) = one, other
    return _symmetric(lambda i, j: a[i][j] + c[i][j]), [x + y for x, y in zip(b, d, strict=True)]


def _joint(link: Link, algebra: Algebra, omega: Vector, state: Elements) -> tuple[Vector, Joint]:
    """Return ω of a link, and X (by columns), c and s of its joint."""
    nothing = zeros(algebra)
    rotation, step, axis = link_frame(link, algebra, state[0])
    lever = nothing  # from the origin before to the joint
    if link.pose is not None:
        fixed, origin = pose_frame(link.pose, algebra)
        rotation = fixed @ rotation
        lever = rotation.transposed * origin
    own, speed, turned = rotation.transposed * omega, axis.scaled(state[1]), nothing
    swing = own @ (own @ lever)
    if link.revolute:
        turned, now = own @ speed, own + speed
        swing = swing + turned @ step
        screw = [*axis, *(axis @ step)]
    else:
        now, screw = own, [*nothing, *axis]
        swing = swing + (own @ speed).scaled(algebra.constant(2.0))
    arm = lever + step
    columns = [[*c, *(c @ arm)] for c in rotation.rows] + [[*nothing, *c] for c in rotation.rows]
    return now, (columns, [*turned, *(swing + now @ (now @ step))], screw)


def _body(link: Link, algebra: Algebra, omega: Vector) -> Body:
    """Return I and b of a link alone."""
    mass, r = algebra.constant(link.mass), constants(algebra, link.center_of_mass)
    tensor, zero = inertia_of(link, algebra), algebra.constant(0.0)
    x, y, z = constants(algebra, [link.mass * c for c in link.center_of_mass])
    far = r.dot(Vector(x, y, z))
    first = ((zero, -z, y), (z, zero, -x), (-y, x, zero))  # m r ×
    outer = [[a * b for b in r] for a in (x, y, z)]

    def entry(i: int, j: int) -> Element:
        if j < 3:
            about = far - outer[i][j] if i == j else -outer[i][j]
            return tuple(tensor.rows[i])[j] + about
        if i < 3:
            return first[i][j - 3]
        return mass if i == j else zero

    pull = omega @ (omega @ Vector(x, y, z))
    return _symmetric(entry), [*(omega @ (tensor * omega) + r @ pull), *pull]


def _symmetric(entry: Callable[[int, int], Element]) -> Square:
    """Return a matrix from the entries on and above its diagonal."""
    upper = {(r, c): entry(r, c) for r in range(6) for c in range(r, 6)}
    return [[upper[min(r, c), max(r, c)] for c in range(6)] for r in range(6)]


def _dot(one: Elements, other: Elements) -> Element:
    return reduce(add, (a * b for a, b in zip(one, other, strict=True)))
