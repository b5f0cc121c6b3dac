"""What an engine is given and what it returns; the checks on the caller's arrays."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from boolcomp.codes import MOST_TURNS
from boolcomp.common.errors import DataError, UsageError
from boolcomp.problem.shapes import array_of, common_shape

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

    from boolcomp.engines.wiring import Port, Wiring
    from boolcomp.problem.robot import Stops

NAMES = ("q", "qd", "qdd")
SLACK = 1e-9  # how far beyond a stop still counts as on it


@dataclass(frozen=True, slots=True, eq=False)
class Batch:
    """Samples of q, qd and qdd: contiguous (samples, joints) arrays of one type.

    float64 or float32 hold values, uint32 holds code words. Words fit their codes; values may
    still be anything.
    """

    arrays: tuple[NDArray[Any], NDArray[Any], NDArray[Any]]

    @property
    def samples(self) -> int:
        """The number of samples."""
        return len(self.arrays[0])

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of the arrays."""
        return self.arrays[0].dtype

    @property
    def coded(self) -> bool:
        """Whether the arrays hold code words."""
        return self.dtype == np.uint32


@dataclass(frozen=True, slots=True, eq=False)
class Evaluation:
    """Torques, their code words, and how many input and output values were put on an end of range.

    `beyond_stops` counts input values where no joint may be, whether its word can say so or not.
    Equal inputs give bit-identical results on every engine.
    """

    torques: NDArray[Any]
    words: NDArray[np.uint32]
    saturated_inputs: int
    saturated_outputs: int
    beyond_stops: int = 0

    @property
    def doubt(self) -> str:
        """What was saturated or beyond stops, in words; nothing where all is well."""
        counts = (
            (self.saturated_inputs, "input values beyond their words"),
            (
                self.beyond_stops,
                "input values " * (not self.saturated_inputs) + "beyond the joints' stops",
            ),
            (self.saturated_outputs, "torques beyond theirs"),
        )
        return ", ".join(f"{count} {what}" for count, what in counts if count)


class Engine(Protocol):
    """Runs one wiring."""

    @property
    def name(self) -> str:
        """Which engine it is, `numpy` or `llvm`."""

    @property
    def wiring(self) -> Wiring:
        """What it runs."""

    def run(self, batch: Batch) -> Evaluation:
        """Return (samples, joints) results; a `DataError` for NaN and infinities."""


def evaluate(engine: Engine, arrays: Sequence[ArrayLike], *, coded: bool) -> Evaluation:
    """Check the caller's q, qd and qdd, run an engine, and return results in their shape.

    Each is (samples, joints), (joints,), or a number that stands for all joints; where samples are
    given more than once, as many each time.
    """
    joints = engine.wiring.joints
    given = [_array(name, x, coded=coded) for name, x in zip(NAMES, arrays, strict=True)]
    shape = common_shape(dict(zip(NAMES, given, strict=True)), joints, "this program")
    dtype: Any = np.uint32
    if not coded:
        dtype = np.float32 if all(x.dtype == np.float32 for x in given) else np.float64
    else:
        _check_words(engine.wiring, given)
    rows = -1 if shape else 1
    full = [
        np.require(x if x.shape == shape else np.broadcast_to(x, shape), dtype, ["C", "A"])
        for x in given
    ]
    full = [x.reshape(rows, joints) for x in full]
    batch = Batch((full[0], full[1], full[2]))
    if not coded:
        _check_unused(engine.wiring, batch)
    found = engine.run(batch)
    return Evaluation(
        found.torques.reshape(shape),
        found.words.reshape(shape),
        found.saturated_inputs,
        found.saturated_outputs,
        0 if coded else sum(_beyond(one, batch) for one in engine.wiring.stops),
    )


def _beyond(one: Stops, batch: Batch) -> int:
    """Return how many values lie where their joint may not be."""
    column = batch.arrays[one.array][:, one.column]
    if not len(column):
        return 0
    slack = SLACK * max(1.0, one.range.magnitude)
    if column.dtype == np.float32:  # the stop itself may be rounded away from itself
        slack = max(slack, float(np.spacing(np.float32(one.range.magnitude))))
    low, high = one.range.low - slack, one.range.high + slack
    if low <= column.min() and column.max() <= high:
        return 0
    return int(np.count_nonzero((column < low) | (column > high)))


def _array(name: str, given: ArrayLike, *, coded: bool) -> NDArray[Any]:
    array = array_of(name, given)
    if coded and array.dtype.kind not in "ui":
        raise UsageError(f"{name} holds {array.dtype}: code words are integers")
    return array if array.dtype == np.float32 or coded else array.astype(np.float64, copy=False)


def _check_words(wiring: Wiring, given: Sequence[NDArray[Any]]) -> None:
    for port in wiring.ports:
        array = given[port.array]
        column = array[..., port.column] if array.ndim else array
        if not column.size:
            continue
        for word in (int(column.min()), int(column.max())):
            if not 0 <= word < port.code.cells:
                raise DataError(
                    f"{port_name(port)}: word {word} does not fit in {port.code.bits} bits"
                )


def _check_unused(wiring: Wiring, batch: Batch) -> None:
    """Refuse NaN and infinities also in columns that no term reads."""
    used = {(port.array, port.column) for port in wiring.ports}
    for k, array in enumerate(batch.arrays):
        for column in range(wiring.joints):
            if (k, column) not in used and not np.isfinite(array[:, column]).all():
                raise not_finite(batch)


def not_codable(wiring: Wiring, batch: Batch) -> DataError:
    """Return the error that names the first value that is no number, or no angle."""
    if all(np.isfinite(array).all() for array in batch.arrays):
        for port in wiring.ports:
            column = batch.arrays[port.array][:, port.column]
            if port.code.wraps and (far := port.code.too_far(column)).any():
                row = int(np.argmax(far))
                return DataError(
                    f"{port_name(port)} of sample {row} is {column[row]:g}: more than "
                    f"{MOST_TURNS} turns, so that its place in one is lost"
                )
    return not_finite(batch)


def not_finite(batch: Batch) -> DataError:
    """Return the error that names the first value that is NaN or infinite."""
    for name, array in zip(NAMES, batch.arrays, strict=True):
        wrong = np.argwhere(~np.isfinite(array))
        if len(wrong):
            row, column = (int(k) for k in wrong[0])
            return DataError(
                f"{name}{column + 1} of sample {row} is {array[row, column]}: not a finite number"
            )
    raise AssertionError("all values are finite")


def port_name(port: Port) -> str:
    """Return the name of the variable that a port reads: `qd2`."""
    return f"{NAMES[port.array]}{port.column + 1}"
