"""The samples that all rivals run on: states, their words, and the exact torques."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from boolcomp.problem.dynamics import inverse_dynamics

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from boolcomp.problem.interval import Interval
    from boolcomp.problem.robot import Robot

Kind = Literal["int8", "int16", "float32", "float64"]
KINDS: tuple[Kind, ...] = ("int8", "int16", "float32", "float64")
BITS: dict[Kind, int] = {"int8": 8, "int16": 16, "float32": 32, "float64": 64}
PERIOD = 1 << 16  # different states; larger batches repeat them
ROOM = 64  # samples: what a rival may read beyond the last one
LINE = 64


def intervals(robot: Robot) -> list[Interval]:
    """Return the ranges of q1.. qd1.. qdd1.."""
    links = robot.links
    positions, speeds = [x.position for x in links], [x.velocity for x in links]
    return [*positions, *speeds, *(x.acceleration for x in links)]


def aligned(values: NDArray[Any], samples: int) -> NDArray[Any]:
    """Return a column of so many samples at a cache line, the values repeated, with room behind."""
    room = np.zeros((samples + 2 * ROOM) * values.itemsize + LINE, np.uint8)
    start = -room.ctypes.data % LINE
    column = room[start:].view(np.uint8)[: (samples + ROOM) * values.itemsize].view(values.dtype)
    column[:] = np.resize(values, samples + ROOM)
    return column


@dataclass(frozen=True, slots=True, eq=False)
class States:
    """Random states over the robot's ranges, and their torques by Newton-Euler."""

    robot: Robot
    columns: tuple[NDArray[np.float64], ...]
    torques: NDArray[np.float64]
    _made: dict[tuple[Kind, int], list[NDArray[Any]]] = field(default_factory=dict)

    @property
    def count(self) -> int:
        """How many different states there are."""
        return len(self.torques)

    def batch(self, kind: Kind, samples: int) -> list[NDArray[Any]]:
        """Return the columns of a batch in a type: values, or words minus half the cells."""
        if (kind, samples) not in self._made:
            self._made[kind, samples] = [
                aligned(self.coded(kind, k), samples) for k in range(len(self.columns))
            ]
        return self._made[kind, samples]

    def forget(self) -> None:
        """Let go of the batches."""
        self._made.clear()

    def coded(self, kind: Kind, place: int) -> NDArray[Any]:
        """Return one column in a type."""
        column = self.columns[place]
        if kind in ("float32", "float64"):
            return column.astype(kind)
        interval, half = intervals(self.robot)[place], 1 << (BITS[kind] - 1)
        step = (interval.high - interval.low) / (2 * half)
        cells = np.clip(np.floor((column - interval.low) / step), 0, 2 * half - 1)
        return (cells - half).astype(kind)

    def as_given(self, kind: Kind) -> NDArray[np.float64]:
        """Return the exact torques of the states as a type can hold them."""
        columns = []
        for place, interval in enumerate(intervals(self.robot)):
            column = self.coded(kind, place).astype(np.float64)
            if kind in ("int8", "int16"):
                step = (interval.high - interval.low) / (1 << BITS[kind])
                column = interval.centre + (column + 0.5) * step
            columns.append(column)
        n = self.robot.joints
        state = [np.stack(columns[k : k + n], axis=1) for k in (0, n, 2 * n)]
        return inverse_dynamics(self.robot, *state)

    def decoded(self, kind: Kind, outputs: list[NDArray[Any]]) -> NDArray[np.float64]:
        """Return torques (states, joints) from columns of results: words of a type, or torques."""
        columns = []
        for link, output in zip(self.robot.links, outputs, strict=True):
            column = output[: self.count].astype(np.float64)
            if output.dtype.kind == "i":
                step = (link.torque.high - link.torque.low) / (1 << BITS[kind])
                column = link.torque.centre + (column + 0.5) * step
            columns.append(column)
        return np.stack(columns, axis=1)


def draw_states(robot: Robot, count: int = PERIOD, seed: int = 1) -> States:
    """Return so many states, uniform over the ranges."""
    rng = np.random.default_rng(seed)
    columns = tuple(rng.uniform(x.low, x.high, count) for x in intervals(robot))
    n = robot.joints
    state = [np.stack(columns[k : k + n], axis=1) for k in (0, n, 2 * n)]
    return States(robot, columns, inverse_dynamics(robot, *state))
