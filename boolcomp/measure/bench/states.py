"""The samples that all rivals run on: states, their words, and the exact outputs."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from boolcomp.problem.problem import Problem

Kind = Literal["int8", "int16", "float32", "float64"]
KINDS: tuple[Kind, ...] = ("int8", "int16", "float32", "float64")
BITS: dict[Kind, int] = {"int8": 8, "int16": 16, "float32": 32, "float64": 64}
PERIOD = 1 << 16  # different states; larger batches repeat them
ROOM = 64  # samples: what a rival may read beyond the last one
LINE = 64


def aligned(values: NDArray[Any], samples: int) -> NDArray[Any]:
    """Return a column of so many samples at a cache line, the values repeated, with room behind."""
    room = np.zeros((samples + 2 * ROOM) * values.itemsize + LINE, np.uint8)
    start = -room.ctypes.data % LINE
    column = room[start:].view(np.uint8)[: (samples + ROOM) * values.itemsize].view(values.dtype)
    column[:] = np.resize(values, samples + ROOM)
    return column


@dataclass(frozen=True, slots=True, eq=False)
class BenchStates:
    """Random states over a problem's ranges, and their outputs by its reference."""

    problem: Problem
    columns: tuple[NDArray[np.float64], ...]
    outputs: NDArray[np.float64]
    _made: dict[tuple[Kind, int], list[NDArray[Any]]] = field(default_factory=dict)

    @property
    def count(self) -> int:
        """How many different states there are."""
        return len(self.outputs)

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
        interval, half = self.problem.inputs[place].range, 1 << (BITS[kind] - 1)
        step = interval.width / (2 * half)
        cells = np.clip(np.floor((column - interval.low) / step), 0, 2 * half - 1)
        return (cells - half).astype(kind)

    def as_given(self, kind: Kind) -> NDArray[np.float64]:
        """Return the exact outputs of the states as a type can hold them."""
        columns = []
        for place, one in enumerate(self.problem.inputs):
            column = self.coded(kind, place).astype(np.float64)
            if kind in ("int8", "int16"):
                column = one.range.centre + (column + 0.5) * one.range.width / (1 << BITS[kind])
            columns.append(column)
        return self.problem.exact(np.stack(columns, axis=1))

    def rows(self, kind: Kind, samples: int, count: int) -> tuple[NDArray[Any], ...]:
        """Return the first of a batch in a type of floats, an array for each group of inputs."""
        columns = [column[:count] for column in self.batch(kind, samples)]
        return self.problem.arrays(np.stack(columns, axis=1))

    def decoded(self, kind: Kind, outputs: list[NDArray[Any]]) -> NDArray[np.float64]:
        """Return (states, outputs) from columns of results: words of a type, or values."""
        columns = []
        for one, output in zip(self.problem.outputs, outputs, strict=True):
            column = output[: self.count].astype(np.float64)
            if output.dtype.kind == "i":
                column = one.range.centre + (column + 0.5) * one.range.width / (1 << BITS[kind])
            columns.append(column)
        return np.stack(columns, axis=1)


def draw_states(problem: Problem, count: int = PERIOD, seed: int = 1) -> BenchStates:
    """Return so many states, uniform over the ranges, drawn input by input."""
    rng = np.random.default_rng(seed)
    columns = tuple(rng.uniform(x.range.low, x.range.high, count) for x in problem.inputs)
    return BenchStates(problem, columns, problem.exact(np.stack(columns, axis=1)))
