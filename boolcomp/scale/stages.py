"""What runs a stage in a worker, by numpy or as native code; the results are the same.

A chunk is a range of samples that begins on a multiple of 512. Planes pass from stage to stage
through slots: pieces of shared memory that hold those of one chunk. Rows of samples come in whole
groups of 64; those beyond the last sample hold values in range, and are not counted.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

from boolcomp.common.errors import DataError
from boolcomp.engines.engine import Batch
from boolcomp.engines.numpy import NumpyEngine

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from boolcomp.parallel.sharding.stages import Stage
    from boolcomp.scale.pool_worker import WorkerState

LANE_GROUP = 64
BLOCK = 512  # chunks begin on a multiple of it
OUTSIDE, BAD, CLIPPED = 0, 1, 2  # what is counted: as `native.coding` does


class Slot(NamedTuple):
    """The planes of one chunk, between two stages."""

    address: int
    octets: NDArray[np.uint8]


@dataclass(frozen=True, slots=True, eq=False)
class Work:
    """A batch as a worker has it: samples and results, in whole groups."""

    samples: int
    chunk: int
    arrays: tuple[NDArray[Any], ...]
    values: NDArray[Any]
    words: NDArray[np.uint32]
    addresses: tuple[int, ...]  # of all of them

    def rows(self, chunk: int) -> tuple[int, int]:
        """Return the first sample of a chunk and its end."""
        start = chunk * self.chunk
        return start, min(start + self.chunk, self.samples)


class Runner(Protocol):
    """Runs one stage."""

    def run_chunk(
        self,
        work: Work,
        chunk: int,
        handed: Sequence[Slot],
        sent: Slot | None,
        counts: NDArray[np.int64],
    ) -> None:
        """Do one chunk; set (not add to) its counts."""

    def run_ready(self, state: WorkerState, chunk: int) -> int:
        """Do this chunk and more as long as they can be done; return the first that was not."""

    def run_drawn(self, state: WorkerState) -> None:
        """Do the chunks whose numbers the progress table gives, or leave them to the pipe."""


def make_runner(stage: Stage, engine: str) -> Runner:
    """Return what runs a stage by an engine, `numpy` or `llvm`."""
    if engine == "numpy":
        return NumpyRunner(stage)
    from boolcomp.scale.stagecode import NativeRunner  # noqa: PLC0415 (imports llvmlite)

    return NativeRunner(stage)


class NumpyRunner(NumpyEngine):
    """Runs a stage with numpy alone."""

    def __init__(self, stage: Stage) -> None:
        super().__init__(stage.wiring())
        self.stage = stage
        self._planes: NDArray[np.uint64] = np.zeros((0, 0), np.uint64)
        self._operations: list[Any] = []

    def run_chunk(
        self,
        work: Work,
        chunk: int,
        handed: Sequence[Slot],
        sent: Slot | None,
        counts: NDArray[np.int64],
    ) -> None:
        """Do one chunk; set its counts."""
        size = work.chunk // LANE_GROUP
        if self._planes.shape[1] != size:  # a shorter last chunk runs at full size
            self._planes = np.zeros((self.wiring.planes, size), np.uint64)
            self._operations = self._bound(self._planes)
        planes = self._planes
        start, stop = work.rows(chunk)
        counts[:3] = self._coded(work, slice(start, stop)), 0, 0
        if counts[OUTSIDE] < 0:
            counts[:3] = 0, 1, 0
            return
        at = self.stage.coded
        for feed, slot in zip(self.stage.feeds, handed, strict=True):
            planes[at : at + feed.planes] = _planes_of(slot, feed.planes, size)
            at += feed.planes
        for operation, x, y, to in self._operations:
            operation(x, y, to)
        if sent is not None:
            _planes_of(sent, len(self.stage.sent), size)[:] = planes[list(self.stage.sent)]
        for place, result in enumerate(self.stage.results):
            first = result.first
            cells = _numbers(planes[first : first + result.code.bits], stop - start)
            work.values[start:stop, place] = result.code.centre(cells)
            work.words[start:stop, place] = result.code.word(cells)
            marks = _numbers(planes[result.saturated : result.saturated + 1], stop - start)
            counts[CLIPPED] += int(marks.sum(dtype=np.int64))

    def run_ready(self, state: WorkerState, chunk: int) -> int:
        """Do one chunk if it can be done."""
        if not state.ready(chunk):
            return chunk
        state.do(self, chunk)
        state.table.progress[state.setup.index] = chunk + 1
        return chunk + 1

    def run_drawn(self, state: WorkerState) -> None:
        """Leave all chunks to the pipe: numpy cannot draw numbers that no one else draws."""

    def _coded(self, work: Work, rows: slice) -> int:
        """Code the samples into planes; count what saturated, -1 for NaN and infinities."""
        batch = Batch(work.arrays)
        try:
            return sum(self._read(batch, rows, port, self._planes) for port in self.stage.ports)
        except DataError:
            return -1


def _planes_of(slot: Slot, planes: int, size: int) -> NDArray[np.uint64]:
    """Return a slot as planes; numpy keeps each in one piece."""
    octets = 8 * planes * size
    return slot.octets[:octets].view(np.uint64).reshape(planes, size)


def _numbers(planes: NDArray[np.uint64], samples: int) -> NDArray[np.uint32]:
    """Return a number a sample, the most significant plane first."""
    numbers = np.zeros(samples, np.uint32)
    for plane in planes:
        bits = np.unpackbits(plane.view(np.uint8), count=samples, bitorder="little")
        numbers = numbers << np.uint32(1) | bits
    return numbers
