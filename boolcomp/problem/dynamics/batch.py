"""Torques of many samples at once: the recurrence over blocks of numpy columns."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from boolcomp.common.errors import UsageError, spelled
from boolcomp.problem.dynamics.newton_euler import newton_euler
from boolcomp.problem.expressions.algebra import Constant, Element, Folding
from boolcomp.problem.problem import numbered
from boolcomp.problem.robot.library import robot_of
from boolcomp.problem.shapes import array_of, full_shapes

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from numpy.typing import ArrayLike, NDArray

    from boolcomp.problem.robot.model import Robot

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


@spelled
def inverse_dynamics(
    robot: Robot | str | Path,
    q: ArrayLike,
    qd: ArrayLike,
    qdd: ArrayLike,
    *,
    gravity: bool = True,
    friction: bool = False,
    wrench: ArrayLike | None = None,
) -> NDArray[np.float64]:
    """Return torques in N·m (forces in N), shape (n, joints) or (joints,), by Newton-Euler.

    `robot` is a value, a shipped name or a path. `q`, `qd`, `qdd` have that shape too, or are
    (joints,) for all samples, or a number for all joints. `wrench` is six numbers, or (n, 6): the
    force and the moment that the tip exerts on its surroundings, in the last link's frame.
    """
    arm = robot_of(robot)
    state, shape = _state(arm, {"q": q, "qd": qd, "qdd": qdd})
    tip = None if wrench is None else _wrench(wrench, len(state[0]))

    def block(rows: slice) -> list[Element]:
        columns = [_fold(x[rows]) for x in state]
        force = None if tip is None else (list(tip[rows, :3].T), list(tip[rows, 3:].T))
        return newton_euler(
            arm, COLUMNS, *columns, gravity=gravity, friction=friction, wrench=force
        )

    return _in_blocks(len(state[0]), arm.joints, block).reshape(shape)


def gravity_torques(robot: Robot | str | Path, q: ArrayLike) -> NDArray[np.float64]:
    """Return G(q): the torques of the arm at rest, (n, joints)."""
    arm = robot_of(robot)
    return _with_constants(arm, q, ZERO, [ZERO] * arm.joints, gravity=True)


def bias_torques(robot: Robot | str | Path, q: ArrayLike, qd: ArrayLike) -> NDArray[np.float64]:
    """Return C(q, q̇) + G(q): the torques at zero acceleration, (n, joints)."""
    return inverse_dynamics(robot, q, qd, 0.0)


def inertia_matrix(robot: Robot | str | Path, q: ArrayLike) -> NDArray[np.float64]:
    """Return M(q), (n, joints, joints): one column of the recurrence per unit acceleration."""
    arm = robot_of(robot)
    n = arm.joints
    units = ([ONE if k == j else ZERO for k in range(n)] for j in range(n))
    columns = [_with_constants(arm, q, ZERO, unit, gravity=False) for unit in units]
    return np.stack(columns, axis=-1)


def evaluated_states(
    text: Callable[..., list[Element]],
    robot: Robot,
    *arrays: NDArray[np.float64],
    kept: Sequence[int] | None = None,
) -> NDArray[np.float64]:
    """Return what a text over any algebra gives for samples, (n, outputs), or some of it."""
    blocks = []
    for start in range(0, max(1, len(arrays[0])), BLOCK):
        columns = [array[start : start + BLOCK].T.copy() for array in arrays]
        found = text(robot, COLUMNS, *map(list, columns))
        chosen = found if kept is None else [found[k] for k in kept]
        values = [x.value if isinstance(x, Constant) else x for x in chosen]
        rows = columns[0].shape[1:]
        blocks.append(np.stack([np.broadcast_to(x, rows) for x in values], axis=1))
    return np.concatenate(blocks)


def _with_constants(
    robot: Robot, q: ArrayLike, speed: Constant, rates: Sequence[Constant], *, gravity: bool
) -> NDArray[np.float64]:
    (positions,), shape = _state(robot, {"q": q})

    def block(rows: slice) -> list[Element]:
        angles = list(positions[rows].T.copy())
        return newton_euler(robot, COLUMNS, angles, [speed] * robot.joints, rates, gravity=gravity)

    return _in_blocks(len(positions), robot.joints, block).reshape(shape)


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


def _state(
    robot: Robot, given: Mapping[str, ArrayLike]
) -> tuple[list[NDArray[np.float64]], tuple[int, ...]]:
    """Return (samples, joints) arrays of all that is given, and the shape of the torques."""
    arrays = [array_of(name, x).astype(np.float64, copy=False) for name, x in given.items()]
    groups = [numbered(name, robot.joints) for name in given]
    return full_shapes(groups, arrays, robot.joints, robot.name, "joints")


def _wrench(given: ArrayLike, samples: int) -> NDArray[np.float64]:
    wrench = array_of("wrench", given).astype(np.float64, copy=False)
    if wrench.shape not in ((6,), (1, 6), (samples, 6)):
        raise UsageError(f"wrench has shape {wrench.shape}: give (6,) or ({samples}, 6)")
    return np.broadcast_to(wrench, (samples, 6))
