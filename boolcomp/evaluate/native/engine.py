"""The llvm engine: native code for the logic and for the way in and out."""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Any

import numpy as np

from boolcomp.errors import UsageError, listing
from boolcomp.evaluate.batch import Batch, Evaluation, not_finite
from boolcomp.evaluate.chunks import split_calls
from boolcomp.evaluate.native import logic, machine
from boolcomp.evaluate.native.convert import BAD, CLIPPED, GROUP, OUTSIDE
from boolcomp.evaluate.native.driver import run_module

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from boolcomp.evaluate.native.convert import Sample
    from boolcomp.wiring import Wiring

# Of one function, by width: the compiler's time grows faster than its length, with few registers
# fastest, while pieces cost time on every sample to pass their values on.
MOST_NODES = {512: 25_000, 256: 25_000, 64: 500}
TILE_BYTES = 1 << 17  # of planes at a time: an eighth of a usual second-level cache
# Code that outgrows the instruction cache is fetched once a tile: 16 blocks pay for it even where
# their planes outgrow the second-level cache (measured at 9 bits: 88 ns per sample, not 147).
LEAST_BLOCKS, MOST_BLOCKS = 16, 64
LINE = 64  # bytes: what 512-bit planes must be aligned to
_SAMPLES: dict[np.dtype[Any], Sample] = {
    np.dtype(np.float64): "double",
    np.dtype(np.float32): "float",
    np.dtype(np.uint32): "i32",
}
_ARGUMENTS = (
    *(ctypes.c_void_p,) * 3, ctypes.c_int64, ctypes.c_uint64, *(ctypes.c_void_p,) * 5,
)  # fmt: skip


class NativeEngine:
    """Runs a wiring as native code, 512, 256 or 64 samples at a time."""

    name = "llvm"

    def __init__(self, wiring: Wiring, width: int | None = None) -> None:
        self.wiring = wiring
        host = machine.host()
        self.width = width or (512 if host.has_ternary else 256 if host.has_wide else 64)
        if self.width not in logic.WIDTHS:
            raise UsageError(f"width {width}: widths are {listing(map(str, logic.WIDTHS))}")
        if self.width == 512 and not host.has_ternary:
            raise UsageError("width 512 needs a processor with AVX-512")
        self.machine = host if self.width == 512 else host.without_ternary()
        self._pieces = split_calls(wiring, MOST_NODES[self.width])
        self.layout = logic.lay_out(self._pieces, self.width)
        self._logic = machine.Code(logic.logic_module(self._pieces, self.layout), self.machine)
        self._address = self._logic.address("logic")
        self._runs: dict[Sample, tuple[machine.Code, Callable[..., None]]] = {}
        self._tiles: list[NDArray[np.uint8]] = []  # not in use; more than one with threads
        self.blocks = min(
            MOST_BLOCKS, max(LEAST_BLOCKS, TILE_BYTES // max(1, self.layout.block_bytes))
        )

    def run(self, batch: Batch) -> Evaluation:
        """Return the results of a batch; whole groups where they lie, the rest from a copy."""
        shape = (batch.samples, self.wiring.joints)
        torques = np.empty(shape, np.float32 if batch.dtype == np.float32 else np.float64)
        words = np.empty(shape, np.uint32)
        counts = np.zeros(3, np.int64)
        whole = batch.samples // GROUP * GROUP
        if whole:
            self._run(batch.arrays, torques, words, counts, GROUP)
        if batch.samples > whole:
            rest = batch.samples - whole
            arrays = [self._padded(k, x[whole:]) for k, x in enumerate(batch.arrays)]
            few = np.empty((GROUP, shape[1]), torques.dtype), np.empty((GROUP, shape[1]), np.uint32)
            self._run(tuple(arrays), *few, counts, rest)
            torques[whole:], words[whole:] = few[0][:rest], few[1][:rest]
        if counts[BAD]:
            raise not_finite(batch)
        return Evaluation(torques, words, int(counts[OUTSIDE]), int(counts[CLIPPED]))

    def _padded(self, array: int, rows: NDArray[Any]) -> NDArray[Any]:
        """Return a whole group that begins with these rows; the others hold values in range."""
        group = np.zeros((GROUP, self.wiring.joints), rows.dtype)
        if rows.dtype != np.uint32:
            for port in self.wiring.ports:
                if port.array == array:
                    group[:, port.column] = port.code.range.centre
        group[: len(rows)] = rows
        return group

    def _run(
        self,
        arrays: tuple[NDArray[Any], ...],
        torques: NDArray[Any],
        words: NDArray[np.uint32],
        counts: NDArray[np.int64],
        last: int,
    ) -> None:
        function = self._function(arrays[0].dtype)
        tile = self._tiles.pop() if self._tiles else _aligned(self.layout.block_bytes * self.blocks)
        function(
            *(x.ctypes.data for x in arrays), len(arrays[0]) // GROUP, (1 << last) - 1,
            torques.ctypes.data, words.ctypes.data, tile.ctypes.data, counts.ctypes.data,
            self._address,
        )  # fmt: skip
        self._tiles.append(tile)

    def _function(self, dtype: np.dtype[Any]) -> Callable[..., None]:
        """Return the loop for samples of a type, made when first needed."""
        sample = _SAMPLES[dtype]
        if sample not in self._runs:
            text = run_module(self._pieces, self.layout, sample, self.blocks)
            code = machine.Code(text, self.machine)
            self._runs[sample] = code, code.function("run", *_ARGUMENTS)
        return self._runs[sample][1]


def _aligned(size: int) -> NDArray[np.uint8]:
    """Return so many zero bytes that begin at a cache line."""
    room = np.zeros(size + LINE, np.uint8)
    start = -room.ctypes.data % LINE
    return room[start : start + size]
