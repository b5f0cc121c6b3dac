"""A program as a pipeline over processes: its stages, and their runners."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from boolcomp.base.errors import DataError
from boolcomp.codes import Code
from boolcomp.engines.engine import Batch, Call, EnginePort, Result, Wiring
from boolcomp.engines.numpy import NumpyEngine, gathered
from boolcomp.problem.words import Interval

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from boolcomp.logic.network import Network
    from boolcomp.problem.problem import Group


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
        if self.results and self.sent:
            raise ValueError("a stage hands on planes or makes outputs, not both")
        if any(not 0 <= plane < self.planes for plane in self.sent):
            raise ValueError("a stage hands on planes that it does not have")
        self.wiring()

    @property
    def coded(self) -> int:
        return sum(port.code.bits for port in self.ports)

    def wiring(self) -> Wiring:
        """Return the stage as a wiring for engines.

        It has a port of one bit for each plane that it receives and, unless it makes outputs, a
        result of one bit for each plane that it sends.
        """
        first, handed = self.coded, sum(feed.planes for feed in self.feeds)
        ports = [EnginePort(0, 0, _BIT, first + k) for k in range(handed)]
        results = self.results or tuple(Result("", _BIT, plane, plane) for plane in self.sent)
        return Wiring(
            self.groups, (*self.ports, *ports), self.networks, self.calls, results, self.planes
        )


def whole_stage(wiring: Wiring) -> Stage:
    return Stage(
        wiring.groups, wiring.ports, counting=True, feeds=(), networks=wiring.networks,
        calls=wiring.calls, sent=(), results=wiring.results, planes=wiring.planes,
    )  # fmt: skip


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
            self._whole.groups, tuple(self._ports), counting=False, feeds=self._feeds,
            networks=tuple(self._networks), calls=tuple(self._calls), sent=tuple(sent),
            results=tuple(results), planes=self._planes,
        )  # fmt: skip


# --------------------------------------------------------------------------------------------------
# Stages evaluated by numpy or as native code; the results are the same.
# --------------------------------------------------------------------------------------------------


BLOCK = 512  # chunks begin on a multiple of it
OUTSIDE, BAD, CLIPPED = 0, 1, 2  # the counts of `engines/coding.py`


def planes_bytes(planes: int, samples: int) -> int:
    """Return the size of planes between two stages: they are there for whole blocks."""
    return planes * -(-samples // BLOCK) * (BLOCK // 8)


class Runner(Protocol):
    """Evaluates one stage."""

    def run_stage(
        self, arrays: Sequence[NDArray[Any]], handed: Sequence[NDArray[Any]], out: NDArray[Any],
        words: NDArray[np.uint32],
    ) -> NDArray[np.int64]:  # fmt: skip
        """Evaluate rows, with planes of the feeds; write values, or planes to send, into `out`.

        Return the counts: saturated inputs, whether there is NaN, saturated outputs.
        """


def make_runner(stage: Stage, engine: str) -> Runner:
    """Return the runner of a stage for an engine, `numpy` or `llvm`."""
    if engine == "numpy":
        return NumpyRunner(stage)

    from boolcomp.engines.native import (  # noqa: PLC0415 (imports llvmlite)
        NativeEngine,
        PlanesBetween,
    )

    between = PlanesBetween(tuple(feed.planes for feed in stage.feeds), not stage.results)
    return NativeEngine(stage.wiring(), between=between)


class NumpyRunner(NumpyEngine):
    """Evaluates a stage with numpy alone, which keeps each plane of a chunk in one piece."""

    def __init__(self, stage: Stage) -> None:
        super().__init__(stage.wiring())
        self.stage = stage
        self._kept: dict[int, tuple[NDArray[np.uint64], list[Any]]] = {}

    def run_stage(
        self, arrays: Sequence[NDArray[Any]], handed: Sequence[NDArray[Any]], out: NDArray[Any],
        words: NDArray[np.uint32],
    ) -> NDArray[np.int64]:  # fmt: skip
        """Evaluate rows with planes of other stages."""
        samples, counts = len(arrays[0]), np.zeros(3, np.int64)
        planes, operations = self._planes(planes_bytes(1, samples) // 8)
        batch = Batch(tuple(arrays))
        try:
            for port in self.stage.ports:
                counts[OUTSIDE] += self._read(batch, slice(0, samples), port, planes)
        except DataError:
            return np.array([0, 1, 0])
        at = self.stage.coded
        for feed, given in zip(self.stage.feeds, handed, strict=True):
            planes[at : at + feed.planes] = _planes_of(given, feed.planes, planes.shape[1])
            at += feed.planes
        for operation, x, y, to in operations:
            operation(x, y, to)
        if not self.stage.results:
            sent = self.stage.sent
            _planes_of(out, len(sent), planes.shape[1])[:] = planes[list(sent)]
        for place, result in enumerate(self.stage.results):
            last = result.first + result.code.bits
            cells = gathered(planes, range(result.first, last))[:samples]
            out[:, place] = result.code.centre(cells)
            words[:, place] = result.code.word(cells)
            counts[CLIPPED] += gathered(planes, [result.saturated])[:samples].sum(dtype=np.int64)
        return counts

    def _planes(self, size: int) -> tuple[NDArray[np.uint64], list[Any]]:
        """Return planes of `size` words, and the operations on them; two sizes are kept."""
        if size not in self._kept:
            if len(self._kept) > 1:
                self._kept.clear()
            planes = np.zeros((self.wiring.planes, size), np.uint64)
            self._kept[size] = planes, self._bound(planes)
        return self._kept[size]


def _planes_of(octets: NDArray[np.uint8], planes: int, size: int) -> NDArray[np.uint64]:
    return octets[: 8 * planes * size].view(np.uint64).reshape(planes, size)
