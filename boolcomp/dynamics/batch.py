"""Torques of many samples at once: the recurrence over blocks of numpy columns."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from boolcomp.dynamics.algebra import Constant, Element, Folding
from boolcomp.dynamics.recurrence import newton_euler
from boolcomp.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import ArrayLike, NDArray

    from boolcomp.robot import Robot

BLOCK = 8192  # samples whose columns stay in the second-level cache


class _Columns:
    """The algebra of numpy columns."""

    def constant(self, value: float) -> float:
        return value

    def sine(self, x: Element) -> Element:
        return np.sin(x)

    def cosine(self, x: Element) -> Element:
        return np.cos(x)

    def sign(self, x: Element) -> Element:
        return np.sign(x)


COLUMNS = Folding(_Columns())
ZERO, ONE = Constant(0.0), Constant(1.0)


def inverse_dynamics(
    robot: Robot,
    q: ArrayLike,
    qd: ArrayLike,
    qdd: ArrayLike,
    *,
    gravity: bool = True,
    friction: bool = False,
    wrench: ArrayLike | None = None,
) -> NDArray[np.float64]:
    """Return torques in N·m (forces in N), shape (n, joints) or (joints,), by Newton-Euler.

    `q`, `qd`, `qdd` have that shape too. `wrench` is six numbers, or (n, 6): the force and the
    moment that the tip exerts on its surroundings, in the last link's frame.
    """
    state = [_columns(robot, name, x) for name, x in (("q", q), ("qd", qd), ("qdd", qdd))]
    single = np.ndim(q) == 1
    if len({len(x) for x in state}) != 1:
        lengths = ", ".join(str(len(x)) for x in state)
        raise UsageError(f"q, qd and qdd must have as many samples each, not {lengths}")
    tip = None
    if wrench is not None:
        tip = np.broadcast_to(np.asarray(wrench, dtype=np.float64), (len(state[0]), 6))

    def block(rows: slice) -> list[Element]:
        columns = [_fold(x[rows]) for x in state]
        force = None if tip is None else (list(tip[rows, :3].T), list(tip[rows, 3:].T))
        return newton_euler(
            robot, COLUMNS, *columns, gravity=gravity, friction=friction, wrench=force
        )

    torques = _in_blocks(len(state[0]), robot.joints, block)
    return torques[0] if single else torques


def gravity_torques(robot: Robot, q: ArrayLike) -> NDArray[np.float64]:
    """Return G(q): the torques of the arm at rest, (n, joints)."""
    return _with_constants(robot, q, ZERO, [ZERO] * robot.joints, gravity=True)


def bias_torques(robot: Robot, q: ArrayLike, qd: ArrayLike) -> NDArray[np.float64]:
    """Return C(q, q̇) + G(q): the torques at zero acceleration, (n, joints)."""
    return inverse_dynamics(robot, q, qd, np.zeros_like(np.asarray(q, dtype=np.float64)))


def inertia_matrix(robot: Robot, q: ArrayLike) -> NDArray[np.float64]:
    """Return M(q), (n, joints, joints): one column of the recurrence per unit acceleration."""
    n = robot.joints
    units = ([ONE if k == j else ZERO for k in range(n)] for j in range(n))
    columns = [_with_constants(robot, q, ZERO, unit, gravity=False) for unit in units]
    return np.stack(columns, axis=-1)


def _with_constants(
    robot: Robot, q: ArrayLike, speed: Constant, rates: Sequence[Constant], *, gravity: bool
) -> NDArray[np.float64]:
    positions = _columns(robot, "q", q)

    def block(rows: slice) -> list[Element]:
        angles = list(positions[rows].T.copy())
        return newton_euler(robot, COLUMNS, angles, [speed] * robot.joints, rates, gravity=gravity)

    torques = _in_blocks(len(positions), robot.joints, block)
    return torques[0] if np.ndim(q) == 1 else torques


def _in_blocks(
    count: int, joints: int, block: Callable[[slice], list[Element]]
) -> NDArray[np.float64]:
    torques = np.empty((count, joints))
    for start in range(0, count, BLOCK):
        rows = slice(start, min(start + BLOCK, count))
        for joint, torque in enumerate(block(rows)):
            torques[rows, joint] = torque.value if isinstance(torque, Constant) else torque
    return torques


def _fold(samples: NDArray[np.float64]) -> list[Element]:
    """Return contiguous columns, those of zeros as a constant that folds away."""
    return [column if column.any() else ZERO for column in samples.T.copy()]


def _columns(robot: Robot, name: str, samples: ArrayLike) -> NDArray[np.float64]:
    array = np.asarray(samples, dtype=np.float64)
    if array.ndim == 1:
        array = array[None, :]
    if array.ndim != 2 or array.shape[1] != robot.joints:
        raise UsageError(
            f"{name} has shape {np.shape(samples)}: {robot.name} takes ({robot.joints},) or "
            f"(samples, {robot.joints})"
        )
    return array
