"""The llvm engine: native code for the logic, and for batches of values, codes or planes.

    void codes(i8** in, i8** out, i64 start, i64 end, i8* mask, i64* count, i8* tile,
               void (*logic)(i8* tile, i64 blocks))

evaluates blocks start .. end of columns of codes (see `planes`); `planes` does the same from planes
to planes, and `to_planes` and `from_planes` only transpose.
"""

from __future__ import annotations

import contextlib
import ctypes
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from boolcomp.base.errors import UsageError, listing
from boolcomp.engines import coding, llvm
from boolcomp.engines import planes as bitplanes
from boolcomp.engines.avx512 import generator, logic_assembly
from boolcomp.engines.coding import BAD, CLIPPED, OUTSIDE
from boolcomp.engines.engine import Batch, Evaluation, in_threads, not_codable, split_calls
from boolcomp.engines.llvm import BYTES, GROUP, LlvmLines
from boolcomp.engines.planes import ATTRIBUTES, plane_type

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from boolcomp.engines.engine import EnginePort, Result, Wiring
    from boolcomp.engines.llvm import Processor, Sample
    from boolcomp.engines.planes import PlaneLayout

    Planes = NDArray[np.uint8]

# --------------------------------------------------------------------------------------------------
# Batches of signed codes or of planes: one call of native code per batch and thread.
# --------------------------------------------------------------------------------------------------

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
    """Outputs as columns of signed codes, and the total number of saturated results."""

    columns: tuple[NDArray[Any], ...]
    saturated: int


def code_type(bits: int) -> type[np.int8 | np.int16]:
    return np.int8 if bitplanes.code_bytes(bits) == 1 else np.int16


def codes_module(wiring: Wiring, layout: PlaneLayout, blocks: int, *, affine: bool) -> str:
    """Return the LLVM module of the four loops, with tiles of `blocks` blocks."""
    ways = [range(sum(port.code.bits for port in wiring.ports)), result_planes(wiring)]
    parts = bitplanes.declarations(layout.width, affine=affine)
    for name, (read, run, write) in _LOOPS.items():
        text = _LOOP.replace("NAME", name).replace("READ", read).replace("WRITE", write)
        text = text.replace("LOGIC", run).replace("TILE_BLOCKS", str(blocks))
        parts.append(text.replace("BLOCK_BYTES", str(layout.block_bytes)))
    parts.append(bitplanes.read_function(wiring.ports, layout, affine=affine))
    parts.append(bitplanes.write_function(wiring.results, layout, affine=affine))
    for name, planes in zip(("in", "out"), ways, strict=True):
        parts.append(_move_function(f"fetch_{name}", layout, planes, to_block=True))
        parts.append(_move_function(f"send_{name}", layout, planes, to_block=False))
    return "\n".join([*parts, ATTRIBUTES, ""])


def _move_function(name: str, layout: PlaneLayout, planes: Sequence[int], *, to_block: bool) -> str:
    """Return the function that moves planes between a block and an array of planes."""
    out = LlvmLines()
    block = "%to" if to_block else "%from"
    offset = out.emit(f"mul i64 %block, {len(planes) * layout.plane_bytes}")
    base = out.emit(f"getelementptr i8, ptr %planes, i64 {offset}")
    kind = plane_type(layout.width)
    for k, plane in enumerate(planes):
        outer, inner = out.at(base, k * layout.plane_bytes), out.at(block, layout.offset(plane))
        source, target = (outer, inner) if to_block else (inner, outer)
        value = out.emit(f"load {kind}, ptr {source}, align 8")
        out.do(f"store {kind} {value}, ptr {target}, align 8")
    arguments = (
        "ptr %planes, i64 %block, ptr %to" if to_block else "ptr %from, ptr %planes, i64 %block"
    )
    return out.function(f"{name}({arguments})")


def result_planes(wiring: Wiring) -> list[int]:
    """Return the planes of the results: each output's cell, then its flags."""
    planes = []
    for result in wiring.results:
        planes += [*range(result.first, result.first + result.code.bits), result.saturated]
    return planes


class CodeRunner:
    """The four loops of an engine, with checks, and a padded last block."""

    def __init__(self, engine: NativeEngine) -> None:
        self.engine = engine
        self.block = engine.layout.width
        self.affine = bitplanes.uses_affine(engine.layout, engine.machine)
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
        saturated = self._split(
            "codes", column_pointers(given), column_pointers(made), whole, self._all()
        )
        if rest := samples - whole * self.block:
            few = [np.zeros(self.block, x.dtype) for x in given]
            for padded, x in zip(few, given, strict=True):
                padded[:rest] = x[samples - rest :]
            last = [np.empty(self.block, x.dtype) for x in made]
            saturated += self._call(
                "codes", column_pointers(few), column_pointers(last), 0, 1, self._mask(rest)
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
        """Return the planes of columns of codes, padded to a block by code 0."""
        given = self._columns(columns, self.inputs, "input")
        samples = len(given[0])
        blocks = -(-samples // self.block)
        if samples % self.block:
            given = [np.concatenate([x, np.zeros(-samples % self.block, x.dtype)]) for x in given]
        planes = np.empty((blocks, self.planes_in, self.block // 8), np.uint8)
        self._split("to_planes", column_pointers(given), planes.ctypes.data, blocks, self._all())
        return planes

    def from_planes(self, planes: Planes, samples: int) -> Codes:
        """Return the outputs' codes from result planes."""
        given = self._planes(planes, self.planes_out, "result")
        if not 0 <= samples <= len(given) * self.block:
            raise UsageError(f"{samples} samples are not in {len(given)} blocks of {self.block}")
        made = [np.empty(len(given) * self.block, kind) for kind in self.outputs]
        source, target = given.ctypes.data, column_pointers(made)
        whole, rest = divmod(samples, self.block)
        saturated = self._split("from_planes", source, target, whole, self._all())
        if rest:
            mask = self._mask(rest)
            saturated += self._call("from_planes", source, target, whole, whole + 1, mask)
        return Codes(tuple(x[:samples] for x in made), saturated)

    def _columns(
        self, columns: Sequence[NDArray[Any]], kinds: Sequence[Any], name: str
    ) -> list[NDArray[Any]]:
        """Check columns; copy those that are not contiguous."""
        if len(columns) != len(kinds) or not kinds:
            raise UsageError(
                f"{len(columns)} {name} columns are given, but {len(kinds)} are needed"
            )
        for k, (column, kind) in enumerate(zip(columns, kinds, strict=True)):
            if column.ndim != 1 or column.dtype != kind or len(column) != len(columns[0]):
                raise UsageError(
                    f"{name} column {k} is {column.dtype} of shape {column.shape}",
                    f"give {np.dtype(kind)} of shape ({len(columns[0])},)",
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

    def _planes(self, planes: Planes, count: int, name: str) -> Planes:
        if planes.dtype != np.uint8 or planes.shape[1:] != (count, self.block // 8):
            raise UsageError(
                f"{name} planes are {planes.dtype} of shape {planes.shape}",
                f"give uint8 of shape (blocks, {count}, {self.block // 8})",
            )
        return np.ascontiguousarray(planes)

    def _mask(self, samples: int) -> Planes:
        kept = np.arange(self.block) < samples
        if self.affine:
            return np.packbits(kept)[bitplanes.PLACES]
        return np.packbits(kept.reshape(8, -1).T, axis=1, bitorder="little").ravel()

    def _all(self) -> Planes:
        return np.full(self.block // 8, 255, np.uint8)

    def _split(self, loop: str, source: Any, target: Any, blocks: int, mask: Planes) -> int:
        """Evaluate blocks by all threads; return the number of saturated results."""

        def work(start: int, end: int) -> int:
            return self._call(loop, source, target, start, end, mask)

        return sum(in_threads(self.engine.threads, work, blocks, self.engine.blocks))

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


def column_pointers(columns: Sequence[NDArray[Any]]) -> Any:
    return (ctypes.c_void_p * len(columns))(*(column.ctypes.data for column in columns))


# --------------------------------------------------------------------------------------------------
# The loop over a batch of values or words: one call per thread.
#
#     void run(T* a0, T* a1, ..., i64 groups, i64 mask, F* values, i32* words,
#              i8* tile, i64* counts, void (*logic)(i8* tile, i64 blocks))
#
# with an array for each group of inputs. A tile is a number of blocks that fit into the
# second-level cache. Its samples, in groups of 64, are coded into planes, the logic runs, and the
# results are written (see `coding`). `mask` holds the valid samples of the last group, from the
# lowest bit on.
# --------------------------------------------------------------------------------------------------

_RUN = """\
define void @run(ARRAYS i64 %groups, i64 %mask, ptr %values, ptr %words,
                 ptr %tile, ptr %counts, ptr %logic) #0 {
entry:
MASKS
  br label %tiles
tiles:
  %b0 = phi i64 [ 0, %entry ], [ %b1, %end ]
  %left = sub i64 %all, %b0
  %few = icmp ult i64 %left, TILE_BLOCKS
  %blocks = select i1 %few, i64 %left, i64 TILE_BLOCKS
  br label %reads
reads:
  %r = phi i64 [ 0, %tiles ], [ %r1, %reads ]
READ
  %r1 = add i64 %r, 1
  %rc = icmp ult i64 %r1, %blocks
  br i1 %rc, label %reads, label %middle
middle:
  call void %logic(ptr %tile, i64 %blocks)
  br label %writes
writes:
  %w = phi i64 [ 0, %middle ], [ %w1, %writes ]
WRITE
  %w1 = add i64 %w, 1
  %wc = icmp ult i64 %w1, %blocks
  br i1 %wc, label %writes, label %end
end:
  %b1 = add i64 %b0, %blocks
  %more = icmp ult i64 %b1, %all
  br i1 %more, label %tiles, label %exit
exit:
  ret void
}
"""
_MASKS = """\
  %whole = alloca [PLANE_BYTES x i8], align 64
  %part = alloca [PLANE_BYTES x i8], align 64
  %over = sub i64 %groups, 1
  %last = udiv i64 %over, BLOCK_GROUPS
  %all = add i64 %last, 1
  %before = urem i64 %over, BLOCK_GROUPS
  %samples0 = mul i64 %before, 64
  %samples1 = call i64 @llvm.ctpop.i64(i64 %mask)
  %samples = add i64 %samples0, %samples1
  call void @mark(i64 BLOCK_SAMPLES, ptr %whole)
  call void @mark(i64 %samples, ptr %part)"""
_NO_READ = """\
define internal void @read(ARRAYS i64 %groups, ptr %to, ptr %counts) {
  ret void
}"""
_PLACE = """\
  %Xb = add i64 %b0, %X
  %Xo = mul i64 %X, BLOCK_BYTES
  %Xt = getelementptr i8, ptr %tile, i64 %Xo
  %Xg = mul i64 %Xb, BLOCK_GROUPS
  %Xleft = sub i64 %groups, %Xg
  %Xfew = icmp ult i64 %Xleft, BLOCK_GROUPS
  %Xn = select i1 %Xfew, i64 %Xleft, i64 BLOCK_GROUPS
"""
_ARRAY = """\
  %ri{k} = mul i64 %rb, {size}
  %ra{k} = getelementptr i8, ptr %a{k}, i64 %ri{k}
"""
_READ = (
    _PLACE.replace("X", "r")
    + """\
READS  call void @read(READ_ARRAYS i64 %rn, ptr %rt, ptr %counts)"""
)
_WRITE = _PLACE.replace("X", "w") + """\
  %wi = mul i64 %wb, OUT_BYTES
  %wr = getelementptr i8, ptr %values, i64 %wi
  %wj = mul i64 %wb, WORD_BYTES
  %ww = getelementptr i8, ptr %words, i64 %wj
  %wl = icmp eq i64 %wb, %last
  %wm = select i1 %wl, ptr %part, ptr %whole
  call void @write(ptr %wt, ptr %wr, ptr %ww, i64 %wn, ptr %wm, ptr %counts)"""  # fmt: skip


class PlanesBetween(NamedTuple):
    """Planes that an engine exchanges with others, in memory (see `NativeEngine.run_stage`).

    The last ports have one bit each; so many of them are planes of each feed. If it `sends`, the
    planes of results are written, and not their values.
    """

    feeds: tuple[int, ...] = ()
    sends: bool = False


NONE_BETWEEN = PlanesBetween()


@dataclass(frozen=True, slots=True)
class ArrayEnds:
    """The widths of input arrays, the ports that are read, the results that are written."""

    widths: tuple[int, ...]
    ports: tuple[EnginePort, ...]
    results: tuple[Result, ...]


def pointers(names: str, count: int) -> str:
    return " ".join(f"ptr %{names}{k}," for k in range(count))


def filled(text: str, ends: ArrayEnds, layout: PlaneLayout, sample: Sample) -> str:
    """Replace the names of sizes and arrays in a text."""
    row = layout.width * len(ends.results)
    reads = [
        _ARRAY.format(k=k, size=layout.width * width * BYTES[sample])
        for k, width in enumerate(ends.widths)
    ]
    values = {
        "BLOCK_GROUPS": layout.width // GROUP,
        "BLOCK_BYTES": layout.block_bytes,
        "BLOCK_SAMPLES": layout.width,
        "PLANE_BYTES": layout.plane_bytes,
        "READ_ARRAYS": pointers("ra", len(reads)),
        "READS": "".join(reads),
        "ARRAYS": pointers("a", len(reads)),
        "OUT_BYTES": row * BYTES[real_of(sample)],
        "WORD_BYTES": row * BYTES["i32"],
    }
    for name, value in values.items():
        text = text.replace(name, str(value))
    return text


def real_of(sample: Sample) -> Sample:
    return "float" if sample == "float" else "double"


def ends_text(ends: ArrayEnds, layout: PlaneLayout, sample: Sample, machine: Processor) -> str:
    """Return the functions that read samples and write results."""
    affine = bitplanes.uses_affine(layout, machine)
    lines = {
        "declare i64 @llvm.ctpop.i64(i64)": None,
        **dict.fromkeys(coding.DECLARATIONS),
        **dict.fromkeys(bitplanes.declarations(layout.width, affine=affine)),
        **dict.fromkeys(coding.reductions(layout.width)),
    }
    parts = [*lines, coding.mark_function(layout, affine=affine)]
    if ends.ports:
        parts.append(coding.read_functions(ends.ports, ends.widths, layout, sample, machine))
    else:
        parts.append(filled(_NO_READ, ends, layout, sample))
    if ends.results:
        parts.append(coding.write_functions(ends.results, layout, real_of(sample), machine))
    return "\n".join(parts)


def run_module(
    wiring: Wiring, layout: PlaneLayout, sample: Sample, blocks: int, machine: Processor,
    between: PlanesBetween,
) -> str:  # fmt: skip
    """Return the LLVM module with `run` for samples of one type, tiles of `blocks` blocks."""
    coded = len(wiring.ports) - sum(between.feeds)
    results = () if between.sends else wiring.results
    ends = ArrayEnds(wiring.widths, wiring.ports[:coded], results)
    read, write, parts = [_READ], _WRITE, [ends_text(ends, layout, sample, machine)]
    for k, count in enumerate(between.feeds):
        planes = [port.first for port in wiring.ports[coded : coded + count]]
        coded += count
        parts.append(_move_function(f"fetch{k}", layout, planes, to_block=True))
        read.append(f"  call void @fetch{k}(ptr %h{k}, i64 %rb, ptr %rt)")
    if between.sends:
        planes = [result.first for result in wiring.results]
        parts.append(_move_function("send", layout, planes, to_block=False))
        write = _PLACE.replace("X", "w") + "  call void @send(ptr %wt, ptr %values, i64 %wb)"
    text = _RUN.replace("MASKS", _MASKS).replace("WRITE", write)
    text = text.replace("READ\n", "\n".join([*read, ""]))
    text = text.replace("@run(ARRAYS", f"@run(ARRAYS {pointers('h', len(between.feeds))}".rstrip())
    parts.append(filled(text, ends, layout, sample).replace("TILE_BLOCKS", str(blocks)))
    return "\n".join([*parts, ATTRIBUTES, ""])


# --------------------------------------------------------------------------------------------------
# The engine.
# --------------------------------------------------------------------------------------------------

# Nodes of one function, by width. Larger assembled code exceeds the operation cache; the time of
# LLVM's compiler grows faster than a function's length, most with few registers. But pieces cost
# time on every sample to pass values.
MOST_NODES = {512: 2500, 256: 25_000, 64: 500}
PIECE_NODES = {512: 2000}
# Bytes of the planes of a tile: those of small code fit into the first-level cache. Code that
# exceeds the instruction cache is fetched once per tile. So at least 16 blocks pay, even if their
# planes exceed the second-level cache (measured at 9 bits: 88 ns per sample, not 147).
SMALL_TILE, LARGE_TILE = 1 << 15, 1 << 17
LEAST_BLOCKS, MOST_BLOCKS = 16, 64
LINE = 64  # bytes: the alignment of 512-bit planes
SAMPLES: dict[np.dtype[Any], Sample] = {
    np.dtype(np.float64): "double",
    np.dtype(np.float32): "float",
    np.dtype(np.uint32): "i32",
}
_ARGUMENTS = (ctypes.c_int64, ctypes.c_uint64, *(ctypes.c_void_p,) * 5)  # after the arrays


class NativeEngine:
    """Evaluates a wiring as native code, 512, 256 or 64 samples at a time."""

    name = "llvm"

    def __init__(
        self, wiring: Wiring, width: int | None = None, threads: int = 1,
        between: PlanesBetween = NONE_BETWEEN,
    ) -> None:  # fmt: skip
        self.wiring, self.between = wiring, between
        host = llvm.host()
        self.width = width or host.width
        if self.width not in bitplanes.WIDTHS:
            raise UsageError(
                f"width {width} is unknown", f"widths are {listing(map(str, bitplanes.WIDTHS))}"
            )
        if self.width == 512 and not host.has_ternary:
            raise UsageError("width 512 needs a processor with AVX-512")
        if threads < 1:
            raise UsageError(f"{threads} threads are too few", "give 1 or more")
        self.threads = threads
        self.machine = host if self.width == 512 else host.without_ternary()
        self.pieces = split_calls(wiring, MOST_NODES[self.width], PIECE_NODES.get(self.width))
        self.layout = bitplanes.lay_out(self.pieces, self.width)
        self._logic = self._logic_code()
        self.address = self._logic.address("logic")
        self._runs: dict[Sample, tuple[llvm.NativeCode, Callable[..., None]]] = {}
        self._tiles: list[NDArray[np.uint8]] = []  # free ones, several with threads
        self.blocks = self._tile_blocks()

    def _logic_code(self) -> llvm.NativeCode:
        if self.width < 512 or not llvm.assembles():
            return llvm.NativeCode(bitplanes.logic_module(self.pieces, self.layout), self.machine)
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
        """Return outputs as columns of signed codes, for a column of codes per port.

        A code k of b bits is the value at the range's centre plus (k + 1/2) steps, also for Gray
        words. It is an int8 up to 8 bits, else an int16; only its lowest b bits count. Columns that
        are not contiguous are copied. `out` receives the results.
        """
        return self._codes.run(columns, out)

    def to_planes(self, columns: Sequence[NDArray[Any]]) -> NDArray[np.uint8]:
        """Return input planes, (blocks, planes, width / 8) bytes, of columns of codes.

        A plane holds one bit of the words of `width` samples; `from_planes` inverts their order.
        The planes are those of the ports, most significant bits first.
        """
        return self._codes.to_planes(columns)

    def run_planes(
        self, planes: NDArray[np.uint8], out: NDArray[np.uint8] | None = None
    ) -> NDArray[np.uint8]:
        """Return result planes of input planes: the cell and the saturation flags of each output.

        The cell's bits are natural binary, most significant first.
        """
        return self._codes.run_planes(planes, out)

    def from_planes(self, planes: NDArray[np.uint8], samples: int) -> Codes:
        return self._codes.from_planes(planes, samples)

    @contextlib.contextmanager
    def tile(self) -> Iterator[int]:
        """Lend a tile; yield its address."""
        try:  # atomic: another thread may take the last one
            tile = self._tiles.pop()
        except IndexError:
            tile = _aligned(self.layout.block_bytes * self.blocks)
        try:
            yield tile.ctypes.data
        finally:
            self._tiles.append(tile)

    def run(self, batch: Batch) -> Evaluation:
        """Return the results of a batch: whole groups in place, the rest from a padded copy."""
        values, words = batch.empty_results(len(self.wiring.results))
        counts = np.zeros(3, np.int64)
        whole = batch.samples // GROUP
        if whole:
            self._run_groups(batch, values, words, counts, whole)
        if rest := batch.samples - whole * GROUP:
            last = [x[-rest:] for x in batch.arrays]
            counts += self.run_stage(last, (), values[-rest:], words[-rest:])
        if counts[BAD]:
            raise not_codable(self.wiring, batch)
        return Evaluation(values, words, int(counts[OUTSIDE]), int(counts[CLIPPED]))

    def run_stage(
        self, arrays: Sequence[NDArray[Any]], handed: Sequence[NDArray[Any]], out: NDArray[Any],
        words: NDArray[np.uint32],
    ) -> NDArray[np.int64]:  # fmt: skip
        """Evaluate rows with the planes of all feeds; write values, or planes to send, into `out`.

        Planes are there for whole blocks. Return the counts.
        """
        counts = np.zeros(3, np.int64)
        samples = len(arrays[0])
        rest = samples % GROUP
        if not rest:
            self._run((*arrays, *handed), out, words, counts, GROUP)
            return counts
        arrays = [self._padded(k, x) for k, x in enumerate(arrays)]
        shape = len(arrays[0]), words.shape[1]
        few = np.empty(shape, np.uint32)
        made = out if self.between.sends else np.empty(shape, out.dtype)
        self._run((*arrays, *handed), made, few, counts, rest)
        if not self.between.sends:
            out[:], words[:] = made[:samples], few[:samples]
        return counts

    def _run_groups(
        self,
        batch: Batch,
        values: NDArray[Any],
        words: NDArray[np.uint32],
        counts: NDArray[np.int64],
        groups: int,
    ) -> None:
        """Evaluate whole groups of 64 samples by all threads."""
        per_block = self.layout.width // GROUP
        self._function(batch.dtype)  # once, not by every thread

        def work(start: int, end: int) -> NDArray[np.int64]:
            rows = slice(start * per_block * GROUP, min(end * per_block, groups) * GROUP)
            own = np.zeros(3, np.int64)
            self._run(tuple(x[rows] for x in batch.arrays), values[rows], words[rows], own, GROUP)
            return own

        for own in in_threads(self.threads, work, -(-groups // per_block), self.blocks):
            counts += own

    def _padded(self, array: int, rows: NDArray[Any]) -> NDArray[Any]:
        """Return whole groups that begin with given rows; the others hold values in range."""
        group = np.zeros((-(-len(rows) // GROUP) * GROUP, rows.shape[1]), rows.dtype)
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
        """Return the loop for samples of a type, compiled on first use."""
        sample = SAMPLES[dtype]
        if sample not in self._runs:
            text = run_module(
                self.pieces, self.layout, sample, self.blocks, self.machine, self.between
            )
            code = llvm.NativeCode(text, self.machine, near=True)
            arrays = (ctypes.c_void_p,) * (len(self.wiring.groups) + len(self.between.feeds))
            self._runs[sample] = code, code.function("run", *arrays, *_ARGUMENTS)
        return self._runs[sample][1]


def _aligned(size: int) -> NDArray[np.uint8]:
    """Return `size` zero bytes that begin at a cache line."""
    room = np.zeros(size + LINE, np.uint8)
    start = -room.ctypes.data % LINE
    return room[start : start + size]
