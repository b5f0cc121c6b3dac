"""Forward dynamics as steps: q̈ = M(q)⁻¹ (τ - C(q, q̇) - G(q)), of q, q̇ and τ.

M and C + G are sums of waves, factored. Of an open chain M's entry i, j depends on joints after the
lesser of i and j alone, so M is inverted from its end: what is solved of the last joints is a
function of their angles, often of one, and tables hold it. With y = τ - h, and of a block

    [m  sᵀ] [a]   [y]        K = B⁻¹ known:   w = K s,   d = m - sᵀ w,
    [s  B ] [b] = [z]        a = (y - wᵀ z) / d,   b = K z - w a.

Joints that M does not couple are solved apart.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from boolcomp.common.errors import UsageError
from boolcomp.problem.dynamics.newton_euler import newton_euler
from boolcomp.problem.expressions.algebra import Constant, Folding
from boolcomp.problem.expressions.fourier import Harmonics, WaveSum
from boolcomp.problem.factored import steps_of
from boolcomp.problem.makers import positions, speeds

if TYPE_CHECKING:
    from collections.abc import Sequence

    from boolcomp.problem.expressions.tape import Tape
    from boolcomp.problem.robot.model import Robot

    Wires = Sequence[Any]
    Matrix = dict[tuple[int, int], Any]

MOST_COUPLED = 3  # joints: of more the words of M⁻¹ are too many to make sense of
SINGULAR = 1e-9  # of the largest entry of M


def forward_dynamics(robot: Robot, tape: Tape, q: Wires, qd: Wires, tau: Wires) -> list[Any]:
    """Return the accelerations that torques make, as steps."""
    inputs = (*positions(robot), *speeds(robot))
    space, n = Harmonics(inputs), robot.joints
    algebra = Folding(space)
    angles, rates = ([space.input(x) for x in part] for part in (inputs[:n], inputs[n:]))
    zero, one = algebra.constant(0.0), algebra.constant(1.0)
    bias = newton_euler(robot, algebra, angles, rates, [zero] * n)
    wires = [*q, *qd]
    rest = [
        torque - steps_of(space, _element(h), tape, wires)
        for torque, h in zip(tau, bias, strict=True)
    ]
    inertia: Matrix = {}
    for j in range(n):
        unit = [one if k == j else zero for k in range(n)]
        column = newton_euler(robot, algebra, angles, [zero] * n, unit, gravity=False)
        for i in range(j + 1):
            entry = _element(column[i])
            if entry.parts:
                inertia[i, j] = steps_of(space, entry, tape, wires)
    found: dict[int, Any] = {}
    for joints in _coupled(inertia, n):
        if len(joints) > MOST_COUPLED:
            raise UsageError(
                f"{robot.name}: forward dynamics are compiled where at most {MOST_COUPLED} joints "
                f"are coupled by their inertia; of this arm {len(joints)} are"
            )
        found.update(_solved(robot, tape, inertia, joints, rest))
    return [found[k] for k in range(n)]


def _element(x: Any) -> WaveSum:
    if isinstance(x, Constant):
        return WaveSum({0: complex(x.value)} if x.value else {})
    return x if isinstance(x, WaveSum) else WaveSum({0: complex(x)} if x else {})


def _coupled(inertia: Matrix, joints: int) -> list[list[int]]:
    """Return the sets of joints that M couples, each in order."""
    sets = [{k} for k in range(joints)]
    for i, j in inertia:
        one, other = (next(s for s in sets if k in s) for k in (i, j))
        if one is not other:
            one |= other
            sets.remove(other)
    return [sorted(one) for one in sets]


def _solved(
    robot: Robot, tape: Tape, inertia: Matrix, joints: Sequence[int], rest: Wires
) -> dict[int, Any]:
    """Return the accelerations of joints that M couples with no others."""
    last = len(joints) - 1
    known = {(joints[last], joints[last]): _reciprocal(robot, inertia, joints[last], tape)}
    steps: list[tuple[int, dict[int, Any], Any]] = []
    for place in reversed(range(last)):
        i, after = joints[place], joints[place + 1 :]
        side = {j: inertia[i, j] for j in after if (i, j) in inertia}
        w = {j: _dot(tape, ((_at(known, j, k), s) for k, s in side.items())) for j in after}
        d = inertia[i, i] - _dot(tape, ((s, w[j]) for j, s in side.items()))
        over = 1.0 / d
        steps.append((i, w, over))
        if place:  # the inverse of the larger block: a joint before needs it
            for j in after:
                known[i, j] = -(w[j] * over)
                for k in after:
                    if j <= k:
                        known[j, k] = _at(known, j, k) + w[j] * (w[k] * over)
            known[i, i] = over
    if not steps:
        return {joints[0]: known[joints[0], joints[0]] * rest[joints[0]]}
    i, w, over = steps[-1]
    after = joints[1:]
    first = (rest[i] - _dot(tape, ((w[j], rest[j]) for j in after))) * over
    found = {i: first}
    for j in after:
        own = _dot(tape, ((_at(known, j, k), rest[k]) for k in after))
        found[j] = own - w[j] * first
    return found


def _reciprocal(robot: Robot, inertia: Matrix, joint: int, tape: Tape) -> Any:
    if (joint, joint) not in inertia:
        raise UsageError(
            f"{robot.name}: joint {joint + 1} moves no inertia: no torque says how it accelerates"
        )
    return tape.constant(1.0) / inertia[joint, joint]


def _at(known: Matrix, i: int, j: int) -> Any:
    return known[min(i, j), max(i, j)]


def _dot(tape: Tape, pairs: Any) -> Any:
    total: Any = tape.constant(0.0)
    for a, b in pairs:
        total = total + a * b
    return total
