"""A program as a pipeline over processes: its stages, and their runners.

A chunk is a range of samples that begins at a multiple of 512. Slots are
pieces of shared memory for the planes of one chunk. Rows come in groups of 64 samples; rows beyond
the last sample have values in range and are not counted.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

from boolcomp.base.errors import DataError
from boolcomp.codes import Code
from boolcomp.engines.engine import Batch, Call, EnginePort, Result, Wiring
from boolcomp.engines.numpy import NumpyEngine
from boolcomp.problem.words import Interval

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from boolcomp.logic.network import Network
    from boolcomp.problem.problem import Group
    from boolcomp.scale.pool_worker import WorkerState


# --------------------------------------------------------------------------------------------------
# A stage: the part of a wiring that one process runs, with the planes it receives and sends.
#
# Planes are numbered as in a `Wiring`. The planes of input words coded from samples come first,
# then the planes received from other stages (its feeders, in order), then the outputs of its calls.
# --------------------------------------------------------------------------------------------------


_BIT = Code(Interval(-1.0, 1.0), 1, "natural")


@dataclass(frozen=True, slots=True)
class Feed:
    """An input of a stage: the sending stage and the number of planes."""

    stage: int
    planes: int


@dataclass(frozen=True, slots=True)
class Stage:
    """Planes in, calls, planes out; only the last stage makes results.

    Exactly one of a program's stages is `counting`: it codes all input words, and its count of
    saturated inputs is the program's.
    """

    groups: tuple[Group, ...]
    ports: tuple[EnginePort, ...]
    counting: bool
    feeds: tuple[Feed, ...]
    networks: tuple[Network, ...]
    calls: tuple[Call, ...]
    sent: tuple[int, ...]
    results: tuple[Result, ...]
    planes: int

    def __post_init__(self) -> None:
        self.check()

    def check(self) -> None:
        """Raise a `ValueError` where the planes do not fit together."""
        if self.results and self.sent:
            raise ValueError("a stage hands on planes or makes outputs, not both")
        if any(not 0 <= plane < self.planes for plane in self.sent):
            raise ValueError("a stage hands on planes that it does not have")
        self.wiring()

    @property
    def coded(self) -> int:
        return sum(port.code.bits for port in self.ports)

    @property
    def handed(self) -> int:
        return sum(feed.planes for feed in self.feeds)

    @property
    def nodes(self) -> int:
        return sum(len(self.networks[call.network].nodes) for call in self.calls)

    def wiring(self) -> Wiring:
        """Return the stage as a wiring for engines.

        It has a port of one bit for each plane that it receives and, unless it makes outputs, a
        result of one bit for each plane that it sends.
        """
        first = self.coded
        ports = [EnginePort(0, 0, _BIT, first + k) for k in range(self.handed)]
        results = self.results or tuple(Result("", _BIT, plane, plane) for plane in self.sent)
        return Wiring(
            self.groups, (*self.ports, *ports), self.networks, self.calls, results, self.planes
        )

    def __str__(self) -> str:
        return (
            f"stage: {len(self.ports)} words coded, {self.handed} planes handed to it, "
            f"{self.nodes} nodes, {len(self.sent)} planes handed on, {len(self.results)} outputs"
        )


def whole_stage(wiring: Wiring) -> Stage:
    return Stage(
        groups=wiring.groups,
        ports=wiring.ports,
        counting=True,
        feeds=(),
        networks=wiring.networks,
        calls=wiring.calls,
        sent=(),
        results=wiring.results,
        planes=wiring.planes,
    )


class StageBuilder:
    """Puts a stage together; knows its planes by those of the whole wiring."""

    def __init__(
        self, whole: Wiring, ports: Iterable[EnginePort], feeds: Iterable[Feed] = ()
    ) -> None:
        self._whole = whole
        self.place: dict[int, int] = {}  # plane of the whole: plane of this stage
        self._ports: list[EnginePort] = []
        self._planes = 0
        for port in ports:
            self._ports.append(replace(port, first=self._planes))
            for k in range(port.code.bits):
                self.place[port.first + k] = self._planes + k
            self._planes += port.code.bits
        self._feeds = tuple(feeds)
        self.handed: list[tuple[int, ...]] = []  # the planes of every feed
        for feed in self._feeds:
            self.handed.append(self._next(feed.planes))
        self._networks: dict[Network, int] = {}
        self._calls: list[Call] = []

    def _next(self, count: int) -> tuple[int, ...]:
        first = self._planes
        self._planes += count
        return tuple(range(first, self._planes))

    def call(self, network: Network, inputs: Iterable[int]) -> tuple[int, ...]:
        """Add a call on this stage's planes; return the planes of its outputs."""
        place = self._networks.setdefault(network, len(self._networks))
        self._calls.append(Call(place, tuple(inputs), self._planes))
        return self._next(len(network.outputs))

    def build(self, sent: Iterable[int] = (), results: Iterable[Result] = ()) -> Stage:
        return Stage(
            groups=self._whole.groups,
            ports=tuple(self._ports),
            counting=False,
            feeds=self._feeds,
            networks=tuple(self._networks),
            calls=tuple(self._calls),
            sent=tuple(sent),
            results=tuple(results),
            planes=self._planes,
        )


# --------------------------------------------------------------------------------------------------
# Runners of a stage in a worker, by numpy or as native code; the results are the same.
# --------------------------------------------------------------------------------------------------


LANE_GROUP = 64
BLOCK = 512  # chunks begin on a multiple of it
OUTSIDE, BAD, CLIPPED = 0, 1, 2  # the counters of `engines/coding.py`


class ChunkSlot(NamedTuple):
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
        handed: Sequence[ChunkSlot],
        sent: ChunkSlot | None,
        counts: NDArray[np.int64],
    ) -> None:
        """Do one chunk; set (not add to) its counts."""

    def run_ready(self, state: WorkerState, chunk: int) -> int:
        """Do this chunk and more as long as they can be done; return the first that was not."""

    def run_drawn(self, state: WorkerState) -> None:
        """Do the chunks whose numbers the progress table gives, or leave them to the pipe."""


def make_runner(stage: Stage, engine: str) -> Runner:
    """Return the runner of a stage for an engine, `numpy` or `llvm`."""
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
        handed: Sequence[ChunkSlot],
        sent: ChunkSlot | None,
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


def _planes_of(slot: ChunkSlot, planes: int, size: int) -> NDArray[np.uint64]:
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
