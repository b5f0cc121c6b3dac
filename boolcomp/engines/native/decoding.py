"""Planes of results to values and code words, as LLVM functions.

    void write(i8* from, F* values, i32* words, i64 groups, i8* mask, i64* counts)
    void decode(i8* codes, i64 group, F* values, i32* words)
    void mark(i64 samples, i8* to)

`write` does up to a block of samples, in groups of 64 rows of all results: it transposes the
planes into columns of signed codes (`transpose.offsets`), makes rows of them, and of these the
values at the centres of cells, bit for bit those of `Code.centre`. `counts` gets the saturated
results of those samples that the plane `mask` marks; `mark` makes one for a block's first samples.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from boolcomp.engines.coding import CLIPPED, VECTOR
from boolcomp.engines.native import transpose
from boolcomp.engines.native.affine import PLACES
from boolcomp.engines.native.lines import BYTES, GROUP, LlvmLines, splat, vector_of
from boolcomp.engines.native.logic import plane_type

if TYPE_CHECKING:
    from collections.abc import Sequence

    from boolcomp.codes import Code
    from boolcomp.engines.llvm import Processor
    from boolcomp.engines.native.lines import Sample
    from boolcomp.engines.native.logic import Layout
    from boolcomp.engines.wiring import Result

WRITTEN_LANES = 16  # numbers written at a time


@dataclass(frozen=True, slots=True)
class CodeColumn:
    """A result and where its codes lie; more than 16 bits lie in two columns, the upper first."""

    code: Code
    places: tuple[int, ...]


def write_functions(
    results: Sequence[Result], layout: Layout, real: Sample, machine: Processor
) -> str:
    """Return `write`, and what it calls."""
    parts: list[Result] = []
    counts = []
    for result in results:
        natural = replace(result.code, kind="natural")
        above = natural.bits - transpose.MOST_TRANSPOSED
        halves = [replace(result, code=natural)]
        if above > 0:
            low = replace(natural, bits=transpose.MOST_TRANSPOSED)
            halves = [
                replace(result, code=replace(natural, bits=above)),
                replace(result, code=low, first=result.first + above),
            ]
        parts += halves
        counts.append(len(halves))
    places = transpose.offsets([part.code for part in parts], layout.width)
    at = iter(places)
    columns = [
        CodeColumn(result.code, tuple(next(at) for _ in range(count)))
        for result, count in zip(results, counts, strict=True)
    ]
    affine = transpose.uses_affine(layout, machine)
    return "\n".join(
        [
            transpose.to_codes_function(parts, layout, affine=affine),
            decode_function(columns, real),
            _write_function(results, layout, places[-1], real),
        ]
    )


def _write_function(results: Sequence[Result], layout: Layout, size: int, real: Sample) -> str:
    out = LlvmLines()
    kind = plane_type(layout.width)
    mask = out.load(kind, "%mask", 0)
    total = ""
    for result in results:
        marks = out.load(kind, "%from", layout.offset(result.saturated))
        kept = out.emit(f"and {kind} {marks}, {mask}")
        ones = out.emit(f"call {kind} {transpose.population(layout.width)}({kind} {kept})")
        total = out.emit(f"add {kind} {total}, {ones}") if total else ones
    if layout.width > 64:
        name = f"@llvm.vector.reduce.add.v{layout.width // 64}i64"
        total = out.emit(f"call i64 {name}({kind} {total})")
    out.add_to(CLIPPED, total)
    row = GROUP * len(results)
    return "\n".join([f"""\
define internal void @write(ptr %from, ptr %values, ptr %words, i64 %groups, ptr %mask,
                            ptr %counts) #0 {{
entry:
%codes = alloca [{size} x i8], align {VECTOR}
call void @to_codes(ptr %from, ptr %codes)""", *out.lines, f"""\
br label %loop
loop:
%g = phi i64 [ 0, %entry ], [ %next, %loop ]
%ti = mul i64 %g, {row * BYTES[real]}
%t = getelementptr i8, ptr %values, i64 %ti
%wi = mul i64 %g, {row * BYTES["i32"]}
%w = getelementptr i8, ptr %words, i64 %wi
call void @decode(ptr %codes, i64 %g, ptr %t, ptr %w)
%next = add i64 %g, 1
%more = icmp ult i64 %next, %groups
br i1 %more, label %loop, label %done
done:
ret void
}}"""])  # fmt: skip


def decode_function(columns: Sequence[CodeColumn], real: Sample) -> str:
    """Return `decode`, which makes rows of 64 samples of columns of codes."""
    out = LlvmLines()
    count = len(columns)
    most = max(column.code.bits for column in columns)
    size = 4 if most > transpose.MOST_TRANSPOSED else transpose.code_bytes(most)
    lanes, kind = VECTOR // size, f"i{8 * size}"
    cells = [x for column in columns for x in _cells(out, column, size)]
    for v in range(count * size):
        places = []
        for k in range(v * lanes, (v + 1) * lanes):
            turn, lane = divmod(k // count, lanes)
            places.append((k % count * size + turn, lane))
        row = out.gathered(cells, lanes, kind, places)
        codes = [columns[k % count].code for k in range(v * lanes, (v + 1) * lanes)]
        word = _worded(out, row, codes, kind)
        for first in range(0, lanes, WRITTEN_LANES):
            at = v * lanes + first
            here = codes[first : first + WRITTEN_LANES]
            cell = _widened(out, row, lanes, kind, first)
            coded = cell if word == row else _widened(out, word, lanes, kind, first)
            out.store(f"<{WRITTEN_LANES} x i32>", coded, "%words", at * BYTES["i32"])
            _store_centres(out, cell, here, real, at)
    head = "define internal void @decode(ptr %codes, i64 %group, ptr %values, ptr %words) #0 {"
    return "\n".join([head, *out.lines, "ret void", "}"])


def _cells(out: LlvmLines, column: CodeColumn, size: int) -> list[str]:
    """Return the cells of 64 samples as vectors of numbers of so many bytes."""
    lanes, bits = VECTOR // size, column.code.bits
    above = max(0, bits - transpose.MOST_TRANSPOSED)
    widths = [above, transpose.MOST_TRANSPOSED] if above else [bits]
    found = []
    for turn in range(size):
        total = ""
        for place, width in zip(column.places, widths, strict=True):
            own = transpose.code_bytes(width)
            kind, wide = f"<{lanes} x i{8 * own}>", f"<{lanes} x i{8 * size}>"
            group = out.emit(f"mul i64 %group, {GROUP * own}")
            base = out.emit(f"getelementptr i8, ptr %codes, i64 {group}")
            value = out.load(kind, base, place + turn * lanes * own)
            half = splat(f"i{8 * own}", lanes, 1 << width - 1)
            value = out.emit(f"add {kind} {value}, {half}")
            if own < size:
                value = out.emit(f"zext {kind} {value} to {wide}")
            if total:
                upper = out.emit(f"shl {wide} {total}, {splat('i32', lanes, 16)}")
                value = out.emit(f"or {wide} {upper}, {value}")
            total = value
        found.append(total)
    return found


def _worded(out: LlvmLines, row: str, codes: Sequence[Code], kind: str) -> str:
    """Return the code words of cells; the row itself if none is Gray."""
    if all(code.kind != "gray" for code in codes):
        return row
    vector = f"<{len(codes)} x {kind}>"
    half = out.emit(f"lshr {vector} {row}, {splat(kind, len(codes), 1)}")
    if any(code.kind != "gray" for code in codes):
        mask = vector_of(kind, [-(code.kind == "gray") for code in codes])
        half = out.emit(f"and {vector} {half}, {mask}")
    return out.emit(f"xor {vector} {row}, {half}")


def _widened(out: LlvmLines, row: str, lanes: int, kind: str, first: int) -> str:
    """Return sixteen numbers of a row with 32 bits each."""
    if lanes > WRITTEN_LANES:
        row = out.gathered([row], lanes, kind, [(0, first + k) for k in range(WRITTEN_LANES)])
    return (
        row
        if kind == "i32"
        else out.emit(f"zext <{WRITTEN_LANES} x {kind}> {row} to <{WRITTEN_LANES} x i32>")
    )


def _store_centres(
    out: LlvmLines, cells: str, codes: Sequence[Code], real: Sample, at: int
) -> None:
    """Store the values at the centres of sixteen cells."""
    short = all(is_short(code, real) for code in codes)
    kind: Sample = real if short else "double"
    lanes = WRITTEN_LANES if kind == "float" else 8
    vector = f"<{lanes} x {kind}>"
    convert = "sitofp" if max(code.bits for code in codes) < 32 else "uitofp"
    for first in range(0, WRITTEN_LANES, lanes):
        here = codes[first : first + lanes]
        some = cells
        if lanes < WRITTEN_LANES:
            some = out.gathered(
                [cells], WRITTEN_LANES, "i32", [(0, first + k) for k in range(lanes)]
            )
        value = out.emit(f"{convert} <{lanes} x i32> {some} to {vector}")
        step = vector_of(kind, [code.step for code in here])
        bases = [float(code.centre(0)) if short else code.centred[1] for code in here]
        low = vector_of(kind, bases)
        if not short:
            raised = vector_of(kind, [code.centred[0] for code in here])
            value = out.emit(f"fadd {vector} {value}, {raised}")
        value = out.emit(f"fmul {vector} {value}, {step}")
        value = out.emit(f"fadd {vector} {low}, {value}")
        if kind != real:
            value = out.emit(f"fptrunc {vector} {value} to <{lanes} x {real}>")
        out.store(f"<{lanes} x {real}>", value, "%values", (at + first) * BYTES[real])


def is_short(code: Code, real: Sample) -> bool:
    """Tell whether cell * step + the first cell's centre, in the results' type, gives all."""
    if code.bits > transpose.MOST_TRANSPOSED:
        return False
    kind = np.dtype(np.float32 if real == "float" else np.float64)
    exact = np.array([code.step, float(code.centre(0))])
    step, low = exact.astype(kind)
    if (exact.astype(kind) != exact).any():
        return False
    cells = np.arange(code.cells)
    found = cells.astype(kind) * step + low
    return bool((found == code.centre(cells).astype(kind)).all())


def mark_function(layout: Layout, *, affine: bool) -> str:
    """Return the function that makes the plane of ones for a block's first samples."""
    out = LlvmLines()
    count = layout.width // 8
    kind = f"<{count} x i64>"
    one = out.emit(f"insertelement {kind} poison, i64 %samples, i32 0")
    samples = out.emit(f"shufflevector {kind} {one}, {kind} {one}, <{count} x i32> zeroinitializer")
    if affine:  # sample s is bit 7 - s % 8 of the byte of group s // 8
        places, by = [8 * group for group in PLACES], 0
    else:  # sample s is bit s // count of byte s % count
        places, by = [k - (count - 1) for k in range(count)], count.bit_length() - 1
    left = out.emit(f"sub {kind} {samples}, {vector_of('i64', places)}")
    left = out.emit(f"ashr {kind} {left}, {splat('i64', count, by)}")
    for test, end in (("sgt", 0), ("slt", 8)):
        inside = out.emit(f"icmp {test} {kind} {left}, {splat('i64', count, end)}")
        left = out.emit(
            f"select <{count} x i1> {inside}, {kind} {left}, {kind} {splat('i64', count, end)}"
        )
    ones, shift = (0xFF00, "lshr") if affine else (0xFF, "shl")
    bits = out.emit(f"{shift} {kind} {splat('i64', count, ones)}, {left}")
    if not affine:
        bits = out.emit(f"xor {kind} {bits}, {splat('i64', count, -1)}")
    marks = out.emit(f"trunc {kind} {bits} to <{count} x i8>")
    out.store(f"<{count} x i8>", marks, "%to", 0)
    head = "define internal void @mark(i64 %samples, ptr %to) #0 {"
    return "\n".join([head, *out.lines, "ret void", "}"])


def reductions(width: int) -> list[str]:
    """Return declarations of what the functions call."""
    kinds = sorted({width // 64, 8} - {1})
    return [f"declare i64 @llvm.vector.reduce.add.v{k}i64(<{k} x i64>)" for k in kinds]
