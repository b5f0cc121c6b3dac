"""Batches of signed codes or of planes through native code: one call a batch and thread.

    void codes(i8** in, i8** out, i64 start, i64 end, i8* mask, i64* count, i8* tile,
               void (*logic)(i8* tile, i64 blocks))

runs blocks start .. end of columns of codes (see `transpose`); `planes` does the same from planes
to planes, and `to_planes` and `from_planes` only transpose.
"""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from boolcomp.common.errors import UsageError
from boolcomp.engines import llvm
from boolcomp.engines.native import affine, transpose
from boolcomp.engines.native.lines import GROUP, LlvmLines
from boolcomp.engines.native.logic import ATTRIBUTES, plane_type

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from boolcomp.engines.native.engine import NativeEngine
    from boolcomp.engines.native.logic import Layout
    from boolcomp.engines.wiring import Wiring

    Planes = NDArray[np.uint8]

_CODE_ARGUMENTS = (
    *(ctypes.c_void_p,) * 2, *(ctypes.c_int64,) * 2, *(ctypes.c_void_p,) * 4,
)  # fmt: skip
_LOOP = """\
define void @NAME(ptr %in, ptr %out, i64 %start, i64 %end, ptr %mask, ptr %count, ptr %tile,
                  ptr %logic) #0 {
entry:
  br label %tiles
tiles:
  %b0 = phi i64 [ %start, %entry ], [ %b1, %done ]
  %left = sub i64 %end, %b0
  %few = icmp ult i64 %left, TILE_BLOCKS
  %n = select i1 %few, i64 %left, i64 TILE_BLOCKS
  br label %reads
reads:
  %r = phi i64 [ 0, %tiles ], [ %r1, %reads ]
  %rb = add i64 %b0, %r
  %ro = mul i64 %r, BLOCK_BYTES
  %rt = getelementptr i8, ptr %tile, i64 %ro
  call void READ
  %r1 = add i64 %r, 1
  %rc = icmp ult i64 %r1, %n
  br i1 %rc, label %reads, label %middle
middle:
  LOGIC
  br label %writes
writes:
  %w = phi i64 [ 0, %middle ], [ %w1, %writes ]
  %wb = add i64 %b0, %w
  %wo = mul i64 %w, BLOCK_BYTES
  %wt = getelementptr i8, ptr %tile, i64 %wo
  call void WRITE
  %w1 = add i64 %w, 1
  %wc = icmp ult i64 %w1, %n
  br i1 %wc, label %writes, label %done
done:
  %b1 = add i64 %b0, %n
  %more = icmp ult i64 %b1, %end
  br i1 %more, label %tiles, label %exit
exit:
  ret void
}
"""
_READ_CODES = "@read(ptr %in, i64 %rb, ptr %rt)"
_WRITE_CODES = "@write(ptr %wt, ptr %out, i64 %wb, ptr %mask, ptr %count)"
_FETCH = "@fetch_WAY(ptr %in, i64 %rb, ptr %rt)"
_SEND = "@send_WAY(ptr %wt, ptr %out, i64 %wb)"
_RUN_LOGIC = "call void %logic(ptr %tile, i64 %n)"
_LOOPS = {
    "codes": (_READ_CODES, _RUN_LOGIC, _WRITE_CODES),
    "planes": (_FETCH.replace("WAY", "in"), _RUN_LOGIC, _SEND.replace("WAY", "out")),
    "to_planes": (_READ_CODES, "", _SEND.replace("WAY", "in")),
    "from_planes": (_FETCH.replace("WAY", "out"), "", _WRITE_CODES),
}


@dataclass(frozen=True, slots=True, eq=False)
class Codes:
    """Outputs as signed codes, one column each, and how many samples saturated (of all)."""

    columns: tuple[NDArray[Any], ...]
    saturated: int


def code_type(bits: int) -> type[np.int8 | np.int16]:
    """Return the type of a column of codes of so many bits."""
    return np.int8 if transpose.code_bytes(bits) == 1 else np.int16


def codes_module(wiring: Wiring, layout: Layout, blocks: int, *, affine: bool) -> str:
    """Return the LLVM module of the four loops, with tiles of so many blocks."""
    ways = [range(sum(port.code.bits for port in wiring.ports)), result_planes(wiring)]
    parts = transpose.declarations(layout.width, affine=affine)
    for name, (read, run, write) in _LOOPS.items():
        text = _LOOP.replace("NAME", name).replace("READ", read).replace("WRITE", write)
        text = text.replace("LOGIC", run).replace("TILE_BLOCKS", str(blocks))
        parts.append(text.replace("BLOCK_BYTES", str(layout.block_bytes)))
    parts.append(transpose.read_function(wiring.ports, layout, affine=affine))
    parts.append(transpose.write_function(wiring.results, layout, affine=affine))
    for name, planes in zip(("in", "out"), ways, strict=True):
        parts.append(_move_function(f"fetch_{name}", layout, planes, to_block=True))
        parts.append(_move_function(f"send_{name}", layout, planes, to_block=False))
    return "\n".join([*parts, ATTRIBUTES, ""])


def _move_function(name: str, layout: Layout, planes: Sequence[int], *, to_block: bool) -> str:
    """Return the function that moves planes between a block and an array of them side by side."""
    out = LlvmLines()
    base, block = ("%planes", "%to") if to_block else ("%planes", "%from")
    offset = out.emit(f"mul i64 %block, {len(planes) * layout.plane_bytes}")
    base = out.emit(f"getelementptr i8, ptr {base}, i64 {offset}")
    kind = plane_type(layout.width)
    for k, plane in enumerate(planes):
        outer, inner = out.at(base, k * layout.plane_bytes), out.at(block, layout.offset(plane))
        source, target = (outer, inner) if to_block else (inner, outer)
        value = out.emit(f"load {kind}, ptr {source}, align 8")
        out.do(f"store {kind} {value}, ptr {target}, align 8")
    arguments = (
        "ptr %planes, i64 %block, ptr %to" if to_block else "ptr %from, ptr %planes, i64 %block"
    )
    head = f"define internal void @{name}({arguments}) #0 {{"
    return "\n".join([head, *out.lines, "ret void", "}"])


def result_planes(wiring: Wiring) -> list[int]:
    """Return the planes of the results: each output's cell, then what marks saturated samples."""
    planes = []
    for result in wiring.results:
        planes += [*range(result.first, result.first + result.code.bits), result.saturated]
    return planes


class CodeRunner:
    """The four loops of an engine, with checks and the rest of a block."""

    def __init__(self, engine: NativeEngine) -> None:
        self.engine = engine
        self.block = engine.layout.width
        self.affine = transpose.uses_affine(engine.layout, engine.machine)
        text = codes_module(engine.pieces, engine.layout, engine.blocks, affine=self.affine)
        self._code = llvm.NativeCode(text, engine.machine, near=True)
        self._loops: dict[str, Callable[..., None]] = {
            name: self._code.function(name, *_CODE_ARGUMENTS) for name in _LOOPS
        }
        self.inputs = [code_type(port.code.bits) for port in engine.wiring.ports]
        self.outputs = [code_type(result.code.bits) for result in engine.wiring.results]
        wiring = engine.wiring
        self.planes_in = sum(port.code.bits for port in wiring.ports)
        self.planes_out = len(result_planes(wiring))

    def run(self, columns: Sequence[NDArray[Any]], out: Sequence[NDArray[Any]] | None) -> Codes:
        """Return the outputs' codes for columns of codes."""
        given = self._columns(columns, self.inputs, "input")
        samples = len(given[0])
        made = self._made(out, samples)
        whole = samples // self.block
        saturated = self._split("codes", _pointers(given), _pointers(made), whole, self._all())
        if rest := samples - whole * self.block:
            few = [np.zeros(self.block, x.dtype) for x in given]
            for padded, x in zip(few, given, strict=True):
                padded[:rest] = x[samples - rest :]
            last = [np.empty(self.block, x.dtype) for x in made]
            saturated += self._call(
                "codes", _pointers(few), _pointers(last), 0, 1, self._mask(rest)
            )
            for x, padded in zip(made, last, strict=True):
                x[samples - rest :] = padded[:rest]
        return Codes(tuple(made), saturated)

    def run_planes(self, planes: Planes, out: Planes | None) -> Planes:
        """Return the result planes of input planes."""
        given = self._planes(planes, self.planes_in, "input")
        shape = (len(given), self.planes_out, self.block // 8)
        if out is None:
            out = np.empty(shape, np.uint8)
        elif out.shape != shape or out.dtype != np.uint8 or not out.flags.c_contiguous:
            raise UsageError(f"planes out must be contiguous bytes of shape {shape}")
        self._split("planes", given.ctypes.data, out.ctypes.data, len(given), self._all())
        return out

    def to_planes(self, columns: Sequence[NDArray[Any]]) -> Planes:
        """Return the planes of columns of codes; what fills the last block is code 0."""
        given = self._columns(columns, self.inputs, "input")
        samples = len(given[0])
        blocks = -(-samples // self.block)
        if samples % self.block:
            given = [np.concatenate([x, np.zeros(-samples % self.block, x.dtype)]) for x in given]
        planes = np.empty((blocks, self.planes_in, self.block // 8), np.uint8)
        self._split("to_planes", _pointers(given), planes.ctypes.data, blocks, self._all())
        return planes

    def from_planes(self, planes: Planes, samples: int) -> Codes:
        """Return the outputs' codes from result planes."""
        given = self._planes(planes, self.planes_out, "result")
        if not 0 <= samples <= len(given) * self.block:
            raise UsageError(f"{samples} samples are not in {len(given)} blocks of {self.block}")
        made = [np.empty(len(given) * self.block, kind) for kind in self.outputs]
        source, target = given.ctypes.data, _pointers(made)
        whole, rest = divmod(samples, self.block)
        saturated = self._split("from_planes", source, target, whole, self._all())
        if rest:
            mask = self._mask(rest)
            saturated += self._call("from_planes", source, target, whole, whole + 1, mask)
        return Codes(tuple(x[:samples] for x in made), saturated)

    def _columns(
        self, columns: Sequence[NDArray[Any]], kinds: Sequence[Any], what: str
    ) -> list[NDArray[Any]]:
        """Check columns; those that do not lie side by side are copied."""
        if len(columns) != len(kinds) or not kinds:
            raise UsageError(f"{len(columns)} {what} columns: {len(kinds)} are needed")
        for k, (column, kind) in enumerate(zip(columns, kinds, strict=True)):
            if column.ndim != 1 or column.dtype != kind or len(column) != len(columns[0]):
                raise UsageError(
                    f"{what} column {k} is {column.dtype} of shape {column.shape}: it must be "
                    f"{np.dtype(kind)} of shape ({len(columns[0])},)"
                )
        return [np.ascontiguousarray(column) for column in columns]

    def _made(self, out: Sequence[NDArray[Any]] | None, samples: int) -> list[NDArray[Any]]:
        if out is None:
            return [np.empty(samples, kind) for kind in self.outputs]
        checked = self._columns(out, self.outputs, "output")
        if len(checked[0]) != samples or any(
            a is not b or not a.flags.writeable for a, b in zip(checked, out, strict=True)
        ):
            raise UsageError(f"output columns must be contiguous and hold {samples} samples")
        return checked

    def _planes(self, planes: Planes, count: int, what: str) -> Planes:
        if planes.dtype != np.uint8 or planes.shape[1:] != (count, self.block // 8):
            raise UsageError(
                f"{what} planes are {planes.dtype} of shape {planes.shape}: they must be uint8 of "
                f"shape (blocks, {count}, {self.block // 8})"
            )
        return np.ascontiguousarray(planes)

    def _mask(self, samples: int) -> Planes:
        kept = np.arange(self.block) < samples
        if self.affine:
            return np.packbits(kept)[affine.PLACES]
        return np.packbits(kept.reshape(8, -1).T, axis=1, bitorder="little").ravel()

    def _all(self) -> Planes:
        return np.full(self.block // 8, 255, np.uint8)

    def _split(self, loop: str, source: Any, target: Any, blocks: int, mask: Planes) -> int:
        """Run blocks by all threads; return how many samples saturated."""

        def work(start: int, end: int) -> int:
            return self._call(loop, source, target, start, end, mask)

        return sum(self.engine.in_threads(work, blocks))

    def _call(self, loop: str, source: Any, target: Any, start: int, end: int, mask: Planes) -> int:
        if start >= end:
            return 0
        counts = np.zeros(self.block // GROUP, np.int64)
        with self.engine.tile() as tile:
            self._loops[loop](
                source, target, start, end, mask.ctypes.data, counts.ctypes.data, tile,
                self.engine.address,
            )  # fmt: skip
        return int(counts.sum())


def _pointers(columns: Sequence[NDArray[Any]]) -> Any:
    return (ctypes.c_void_p * len(columns))(*(column.ctypes.data for column in columns))
