"""The llvm engine: native code for the logic and for the way in and out."""

from __future__ import annotations

import contextlib
import ctypes
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from boolcomp.common.errors import UsageError, listing
from boolcomp.engines import llvm
from boolcomp.engines.chunks import split_calls
from boolcomp.engines.coding import BAD, CLIPPED, OUTSIDE
from boolcomp.engines.engine import Batch, Evaluation, not_codable
from boolcomp.engines.native import logic
from boolcomp.engines.native.assembly import generator, logic_assembly
from boolcomp.engines.native.codes import CodeRunner
from boolcomp.engines.native.driver import run_module
from boolcomp.engines.native.lines import GROUP
from boolcomp.engines.threads import pool

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from boolcomp.engines.native.codes import Codes
    from boolcomp.engines.native.lines import Sample
    from boolcomp.engines.wiring import Wiring

Part = TypeVar("Part")
# Of one function, by width. Assembled code of more nodes outgrows the operation cache; the time
# of LLVM's compiler grows faster than a function's length, with few registers fastest. But pieces
# cost time on every sample to pass their values on.
MOST_NODES = {512: 2500, 256: 25_000, 64: 500}
PIECE_NODES = {512: 2000}
# Planes at a time: what fits a first-level cache where the code does, too. Code that outgrows the
# instruction cache is fetched once a tile: 16 blocks pay for it even where their planes outgrow the
# second-level cache (measured at 9 bits: 88 ns per sample, not 147).
SMALL_TILE, LARGE_TILE = 1 << 15, 1 << 17
LEAST_BLOCKS, MOST_BLOCKS = 16, 64
LINE = 64  # bytes: what 512-bit planes must be aligned to
_SAMPLES: dict[np.dtype[Any], Sample] = {
    np.dtype(np.float64): "double",
    np.dtype(np.float32): "float",
    np.dtype(np.uint32): "i32",
}
_ARGUMENTS = (ctypes.c_int64, ctypes.c_uint64, *(ctypes.c_void_p,) * 5)  # after the arrays


class NativeEngine:
    """Runs a wiring as native code, 512, 256 or 64 samples at a time."""

    name = "llvm"

    def __init__(self, wiring: Wiring, width: int | None = None, threads: int = 1) -> None:
        self.wiring = wiring
        host = llvm.host()
        self.width = width or host.width
        if self.width not in logic.WIDTHS:
            raise UsageError(f"width {width}: widths are {listing(map(str, logic.WIDTHS))}")
        if self.width == 512 and not host.has_ternary:
            raise UsageError("width 512 needs a processor with AVX-512")
        if threads < 1:
            raise UsageError(f"{threads} threads: at least one is needed")
        self.threads = threads
        self.machine = host if self.width == 512 else host.without_ternary()
        self.pieces = split_calls(wiring, MOST_NODES[self.width], PIECE_NODES.get(self.width))
        self.layout = logic.lay_out(self.pieces, self.width)
        self._logic = self._made()
        self.address = self._logic.address("logic")
        self._runs: dict[Sample, tuple[llvm.NativeCode, Callable[..., None]]] = {}
        self._tiles: list[NDArray[np.uint8]] = []  # not in use; more than one with threads
        self.blocks = self._tile_blocks()

    def _made(self) -> llvm.NativeCode:
        """Return the code of the logic."""
        if self.width < 512 or not llvm.assembles():
            return llvm.NativeCode(logic.logic_module(self.pieces, self.layout), self.machine)
        networks = [(n.inputs, n.nodes, n.outputs) for n in self.pieces.networks]
        content = f"{generator()} {networks} {self.pieces.calls} {self.layout}"
        return llvm.NativeCode(
            lambda: logic_assembly(self.pieces, self.layout), self.machine, content
        )

    def _tile_blocks(self) -> int:
        size = max(1, self.layout.block_bytes)
        executed = sum(len(self.pieces.networks[call.network].nodes) for call in self.pieces.calls)
        if executed <= MOST_NODES[512]:
            return max(1, min(MOST_BLOCKS, SMALL_TILE // size))
        return max(LEAST_BLOCKS, min(MOST_BLOCKS, LARGE_TILE // size))

    @cached_property
    def _codes(self) -> CodeRunner:
        return CodeRunner(self)

    def run_codes(
        self, columns: Sequence[NDArray[Any]], out: Sequence[NDArray[Any]] | None = None
    ) -> Codes:
        """Return outputs as signed codes, one column each, for one column of codes a port.

        A code k of b bits is the value at the range's centre plus (k + 1/2) steps: an int8 up to 8
        bits, else an int16, of which the lowest b bits count; whether the words are Gray makes no
        difference. Columns that do not lie side by side are copied. `out` takes the results.
        """
        return self._codes.run(columns, out)

    def to_planes(self, columns: Sequence[NDArray[Any]]) -> NDArray[np.uint8]:
        """Return input planes, (blocks, planes, width / 8) bytes, of columns of codes.

        A plane holds one bit of the words of `width` samples, in an order that `from_planes` undoes
        (see `transpose`); the planes are those of the wiring's ports, most significant bits first.
        """
        return self._codes.to_planes(columns)

    def run_planes(
        self, planes: NDArray[np.uint8], out: NDArray[np.uint8] | None = None
    ) -> NDArray[np.uint8]:
        """Return result planes of input planes: of each output the cell's bits, then a mark.

        The cell's bits are natural binary, most significant first; the mark is set where a sample
        saturated.
        """
        return self._codes.run_planes(planes, out)

    def from_planes(self, planes: NDArray[np.uint8], samples: int) -> Codes:
        """Return the outputs' signed codes of so many samples from result planes."""
        return self._codes.from_planes(planes, samples)

    def in_threads(self, work: Callable[[int, int], Part], count: int) -> list[Part]:
        """Return what `work(start, end)` gives for the parts of 0 .. count, one a thread.

        The parts are whole tiles where they can be; the caller's own thread does one of them.
        """
        tiles = -(-count // self.blocks)
        parts = min(self.threads, tiles)
        if parts <= 1:
            return [work(0, count)]
        cuts = [min(count, tiles * k // parts * self.blocks) for k in range(parts + 1)]
        others = [
            pool(self.threads - 1).submit(work, cuts[k], cuts[k + 1]) for k in range(1, parts)
        ]
        first = work(cuts[0], cuts[1])
        return [first, *(job.result() for job in others)]

    @contextlib.contextmanager
    def tile(self) -> Iterator[int]:
        """Lend a tile; give its address."""
        try:  # at once: another thread may take the last one
            tile = self._tiles.pop()
        except IndexError:
            tile = _aligned(self.layout.block_bytes * self.blocks)
        try:
            yield tile.ctypes.data
        finally:
            self._tiles.append(tile)

    def run(self, batch: Batch) -> Evaluation:
        """Return the results of a batch; whole groups where they lie, the rest from a copy."""
        shape = (batch.samples, len(self.wiring.results))
        values = np.empty(shape, np.float32 if batch.dtype == np.float32 else np.float64)
        words = np.empty(shape, np.uint32)
        counts = np.zeros(3, np.int64)
        whole = batch.samples // GROUP
        if whole:
            self._run_groups(batch, values, words, counts, whole)
        if rest := batch.samples - whole * GROUP:
            arrays = [self._padded(k, x[-rest:]) for k, x in enumerate(batch.arrays)]
            few = np.empty((GROUP, shape[1]), values.dtype), np.empty((GROUP, shape[1]), np.uint32)
            self._run(tuple(arrays), *few, counts, rest)
            values[-rest:], words[-rest:] = few[0][:rest], few[1][:rest]
        if counts[BAD]:
            raise not_codable(self.wiring, batch)
        return Evaluation(values, words, int(counts[OUTSIDE]), int(counts[CLIPPED]))

    def _run_groups(
        self,
        batch: Batch,
        values: NDArray[Any],
        words: NDArray[np.uint32],
        counts: NDArray[np.int64],
        groups: int,
    ) -> None:
        """Run whole groups of 64 samples, by all threads."""
        per_block = self.layout.width // GROUP
        self._function(batch.dtype)  # made once, not by every thread

        def work(start: int, end: int) -> NDArray[np.int64]:
            rows = slice(start * per_block * GROUP, min(end * per_block, groups) * GROUP)
            own = np.zeros(3, np.int64)
            self._run(tuple(x[rows] for x in batch.arrays), values[rows], words[rows], own, GROUP)
            return own

        for own in self.in_threads(work, -(-groups // per_block)):
            counts += own

    def _padded(self, array: int, rows: NDArray[Any]) -> NDArray[Any]:
        """Return a whole group that begins with these rows; the others hold values in range."""
        group = np.zeros((GROUP, rows.shape[1]), rows.dtype)
        if rows.dtype != np.uint32:
            for port in self.wiring.ports:
                if port.array == array:
                    group[:, port.column] = port.code.range.centre
        group[: len(rows)] = rows
        return group

    def _run(
        self,
        arrays: tuple[NDArray[Any], ...],
        values: NDArray[Any],
        words: NDArray[np.uint32],
        counts: NDArray[np.int64],
        last: int,
    ) -> None:
        function = self._function(arrays[0].dtype)
        with self.tile() as tile:
            function(
                *(x.ctypes.data for x in arrays), len(arrays[0]) // GROUP, (1 << last) - 1,
                values.ctypes.data, words.ctypes.data, tile, counts.ctypes.data, self.address,
            )  # fmt: skip

    def _function(self, dtype: np.dtype[Any]) -> Callable[..., None]:
        """Return the loop for samples of a type, made when first needed."""
        sample = _SAMPLES[dtype]
        if sample not in self._runs:
            text = run_module(self.pieces, self.layout, sample, self.blocks, self.machine)
            code = llvm.NativeCode(text, self.machine, near=True)
            self._runs[sample] = (
                code,
                code.function("run", *(ctypes.c_void_p,) * len(self.wiring.groups), *_ARGUMENTS),
            )
        return self._runs[sample][1]


def _aligned(size: int) -> NDArray[np.uint8]:
    """Return so many zero bytes that begin at a cache line."""
    room = np.zeros(size + LINE, np.uint8)
    start = -room.ctypes.data % LINE
    return room[start : start + size]
