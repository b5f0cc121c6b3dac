"""What an engine is given and what it returns; the checks on the caller's arrays."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from boolcomp.codes import MOST_TURNS
from boolcomp.common.errors import DataError, UsageError
from boolcomp.problem.shapes import array_of, full_shapes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

    from boolcomp.engines.wiring import Stop, Wiring

SLACK = 1e-9  # how far beyond a stop still counts as on it


@dataclass(frozen=True, slots=True, eq=False)
class Batch:
    """Samples: a contiguous (samples, members) array for every group, all of one type.

    float64 or float32 hold values, uint32 holds code words. Words fit their codes; values may
    still be anything.
    """

    arrays: tuple[NDArray[Any], ...]

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
    """Outputs, their code words, and how many input and output values were put on an end of range.

    `beyond_stops` counts input values beyond stops, whether their words can say so or not.
    Equal inputs give bit-identical results on every engine.
    """

    values: NDArray[Any]
    words: NDArray[np.uint32]
    saturated_inputs: int
    saturated_outputs: int
    beyond_stops: int = 0

    @property
    def torques(self) -> NDArray[Any]:
        """The values, under their older name."""
        return self.values

    def doubt(self, plural: str, places: str) -> str:
        """Say what was saturated or beyond stops in a user's words; nothing where all is well."""
        if not (self.saturated_inputs or self.saturated_outputs or self.beyond_stops):
            return ""  # as it mostly is: single states feel all else
        counts = (
            (self.saturated_inputs, "input values beyond their words"),
            (
                self.beyond_stops,
                "input values " * (not self.saturated_inputs) + f"beyond the {places}' stops",
            ),
            (self.saturated_outputs, f"{plural} beyond theirs"),
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
        """Return (samples, outputs) results; a `DataError` for NaN and infinities."""


def evaluate(engine: Engine, arrays: Sequence[ArrayLike], *, coded: bool) -> Evaluation:
    """Check the caller's arrays, run an engine, and return results in their shape.

    Each is (samples, members), (members,), or a number that stands for all members of its group;
    where samples are given more than once, as many each time.
    """
    wiring = engine.wiring
    batch, shape = batch_of(wiring, arrays, coded=coded)
    found = engine.run(batch)
    words = found.words
    for place, result in enumerate(wiring.results):
        if result.kind is not None:
            words[:, place] = result.given.word(words[:, place])
    return Evaluation(
        found.values.reshape(shape),
        words.reshape(shape),
        found.saturated_inputs,
        found.saturated_outputs,
        0 if coded else _beyond(wiring, batch),
    )


def batch_of(
    wiring: Wiring, arrays: Sequence[ArrayLike], *, coded: bool
) -> tuple[Batch, tuple[int, ...]]:
    """Return what an engine runs of the caller's arrays, and the shape of its results."""
    given = [_array(g.name, x, coded=coded) for g, x in zip(wiring.groups, arrays, strict=True)]
    full, shape = full_shapes(
        wiring.groups, given, len(wiring.results), "this program", wiring.places
    )
    dtype: Any = np.uint32
    if not coded:
        dtype = np.float32 if all(x.dtype == np.float32 for x in given) else np.float64
    else:
        _check_words(wiring, full)
        full = _in_planes(wiring, full)
    batch = Batch(tuple(np.require(x, dtype, ["C", "A"]) for x in full))
    if not coded:
        _check_unused(wiring, batch)
    return batch, shape


def _beyond(wiring: Wiring, batch: Batch) -> int:
    """Return how many values lie beyond stops."""
    if not wiring.stops:
        return 0
    columns = {
        name: array[:, k]
        for group, array in zip(wiring.groups, batch.arrays, strict=True)
        for k, name in enumerate(group.members)
    }
    return sum(_beyond_stop(one, columns[one.name]) for one in wiring.stops)


def _beyond_stop(one: Stop, column: NDArray[Any]) -> int:
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
        column = given[port.array][:, port.column]
        if not column.size:
            continue
        for word in (int(column.min()), int(column.max())):
            if not 0 <= word < port.code.cells:
                raise DataError(
                    f"{wiring.name(port)}: word {word} does not fit in {port.code.bits} bits"
                )


def _in_planes(wiring: Wiring, given: Sequence[NDArray[Any]]) -> list[NDArray[Any]]:
    """Return words in the codes of their planes."""
    found = list(given)
    coded = [port for port in wiring.ports if port.kind is not None]
    for array in {port.array for port in coded}:
        found[array] = np.array(found[array], np.uint32)
    for port in coded:
        column = found[port.array][:, port.column]
        column[:] = port.code.word(port.given.index(column))
    return found


def _check_unused(wiring: Wiring, batch: Batch) -> None:
    """Refuse NaN and infinities also in columns that no term reads."""
    used = {(port.array, port.column) for port in wiring.ports}
    for k, array in enumerate(batch.arrays):
        for column in range(array.shape[1]):
            if (k, column) not in used and not np.isfinite(array[:, column]).all():
                raise not_finite(wiring, batch)


def not_codable(wiring: Wiring, batch: Batch, first: int = 0) -> DataError:
    """Return the error that names the first value that is no number, or no angle.

    `first` is the number of the batch's first sample.
    """
    if all(np.isfinite(array).all() for array in batch.arrays):
        for port in wiring.ports:
            column = batch.arrays[port.array][:, port.column]
            if port.code.wraps and (far := port.code.too_far(column)).any():
                row = int(np.argmax(far))
                return DataError(
                    f"{wiring.name(port)} of sample {first + row} is {column[row]:g}: more than "
                    f"{MOST_TURNS} turns, so that its place in one is lost"
                )
    return not_finite(wiring, batch, first)


def not_finite(wiring: Wiring, batch: Batch, first: int = 0) -> DataError:
    """Return the error that names the first value that is NaN or infinite."""
    for group, array in zip(wiring.groups, batch.arrays, strict=True):
        wrong = np.argwhere(~np.isfinite(array))
        if len(wrong):
            row, column = (int(k) for k in wrong[0])
            name, value = group.members[column], array[row, column]
            return DataError(f"{name} of sample {first + row} is {value}: not a finite number")
    raise AssertionError("all values are finite")
