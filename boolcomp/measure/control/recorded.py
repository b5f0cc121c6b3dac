"""An arm's dynamics as straight-line programs, which a kernel runs for many runs at once.

They are what the recurrence gives on a tape: the same text as everywhere else, recorded once.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from boolcomp.common.errors import DataError
from boolcomp.measure.control.kernels import KINDS, calculate
from boolcomp.problem.dynamics.friction import dry_friction, dry_joints, usual_smoothing
from boolcomp.problem.dynamics.newton_euler import newton_euler
from boolcomp.problem.expressions.algebra import Folding
from boolcomp.problem.expressions.tape import Tape

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from boolcomp.problem.expressions.straight import Straight
    from boolcomp.problem.robot.model import Robot

    Floats = NDArray[np.float64]

NO_INERTIA = 1e-12  # kg·m²: what a joint moves at least


@dataclass(frozen=True, slots=True, eq=False)
class Recorded:
    """A straight-line program as a kernel takes it: its steps, and where its results are."""

    inputs: int
    constants: Floats
    code: NDArray[np.int64]
    outputs: NDArray[np.int64]

    def room(self, runs: int) -> Floats:
        """Return a row for every value, with the constants in theirs."""
        return np.repeat(self.constants[:, None], runs, axis=1)

    def evaluate(self, *groups: Floats, room: Floats | None = None) -> Floats:
        """Return (outputs, runs) of arrays (members, runs), in the order of the inputs."""
        values = self.room(groups[0].shape[1]) if room is None else room
        np.concatenate(groups, out=values[: self.inputs])
        calculate(self.code, values)
        return values[self.outputs]


def packed(program: Straight) -> Recorded:
    """Return a straight-line program for the kernel."""
    constants = np.array([node.value for node in program.nodes])
    rows = [
        (KINDS.index(node.kind), k, node.operands[0], node.operands[-1])
        for k, node in enumerate(program.nodes)
        if not node.free
    ]
    code = np.array(rows, dtype=np.int64).reshape(len(rows), 4)
    outputs = np.array([one.node for one in program.outputs], dtype=np.int64)
    return Recorded(len(program.inputs), constants, code, outputs)


def inverse_dynamics(robot: Robot) -> Recorded:
    """Return the torques of q, q̇ and q̈, without friction."""
    tape = Tape()
    state = _inputs(robot, tape, "q", "qd", "qdd")
    return _finished(tape, newton_euler(robot, Folding(tape), *state))


def gravity(robot: Robot) -> Recorded:
    """Return the torques at rest, of q."""
    tape = Tape()
    algebra = Folding(tape)
    zeros = [algebra.constant(0.0)] * robot.joints
    (q,) = _inputs(robot, tape, "q")
    return _finished(tape, newton_euler(robot, algebra, q, zeros, zeros))


def friction(robot: Robot) -> Recorded:
    """Return the torques of friction, of q̇; the sign of dry friction is smoothed."""
    tape = Tape()
    (speeds,) = _inputs(robot, tape, "qd")
    return _finished(tape, _friction(robot, tape, speeds))


def forward_dynamics(robot: Robot, *, rubs: bool = True) -> Recorded:
    """Return the accelerations of q, q̇ and torques; joints rub unless it is said otherwise.

    M(q) q̈ = τ - h(q, q̇) is solved by elimination from the first joint to the last; M is
    symmetric and positive, so no pivot vanishes where every joint moves some inertia.
    """
    tape = Tape()
    algebra, n = Folding(tape), robot.joints
    q, qd, torque = _inputs(robot, tape, "q", "qd", "tau")
    zero, one = algebra.constant(0.0), algebra.constant(1.0)
    bias = newton_euler(robot, algebra, q, qd, [zero] * n)
    lost = _friction(robot, tape, qd) if rubs else [zero] * n
    rest = [
        torque[k] - _wire(tape, bias[k]) - _wire(tape, lost[k]) for k in range(n)
    ]  # fmt: skip
    inertia = np.empty((n, n), dtype=object)
    for j in range(n):
        unit = [one if k == j else zero for k in range(n)]
        column = newton_euler(robot, algebra, q, [zero] * n, unit, gravity=False)
        for i in range(j + 1):
            inertia[i, j] = inertia[j, i] = _wire(tape, column[i])
    _require_inertia(robot)
    return _finished(tape, _solved(inertia, rest))


def _solved(inertia: Any, rest: list[Any]) -> list[Any]:
    """Return x of M x = r by elimination, as steps."""
    n = len(rest)
    for k in range(n):
        for i in range(k + 1, n):
            ratio = inertia[k, i] / inertia[k, k]
            for j in range(i, n):
                inertia[i, j] = inertia[i, j] - ratio * inertia[k, j]
            rest[i] = rest[i] - ratio * rest[k]
    found: list[Any] = [None] * n
    for k in reversed(range(n)):
        total = rest[k]
        for j in range(k + 1, n):
            total = total - inertia[k, j] * found[j]
        found[k] = total / inertia[k, k]
    return found


def _friction(robot: Robot, tape: Tape, speeds: Sequence[Any]) -> list[Any]:
    links = robot.links
    found = [
        tape.constant(link.viscous_friction * link.gear_ratio**2) * speed
        for link, speed in zip(links, speeds, strict=True)
    ]
    dry = dry_friction(robot, tape, [], speeds, [], smoothing=usual_smoothing(robot))
    for k, one in zip(dry_joints(robot), dry, strict=True):
        found[k] = found[k] + one
    return found


def _require_inertia(robot: Robot) -> None:
    """Raise a `DataError` where a joint moves no inertia: no torque says how it accelerates."""
    rigid = inverse_dynamics(replace(robot, gravity=(0.0, 0.0, 0.0)))
    n = robot.joints
    middles = np.array([[link.position.centre + 0.3] for link in robot.links])
    for k in range(n):
        unit = np.zeros((n, 1))
        unit[k] = 1.0
        if rigid.evaluate(middles, np.zeros((n, 1)), unit)[k, 0] < NO_INERTIA:
            raise DataError(
                f"{robot.name}: joint {k + 1} moves no inertia: no torque says how it accelerates"
            )


def _inputs(robot: Robot, tape: Tape, *letters: str) -> list[list[Any]]:
    count = range(1, robot.joints + 1)
    return [[tape.input(f"{name}{k}") for k in count] for name in letters]


def _wire(tape: Tape, x: Any) -> Any:
    """Return a value as a recorded one: a known number becomes a constant."""
    return tape.constant(x.value) if hasattr(x, "value") else x


def _finished(tape: Tape, results: Sequence[Any]) -> Recorded:
    return packed(tape.finish([(f"x{k}", x) for k, x in enumerate(results, 1)]))
