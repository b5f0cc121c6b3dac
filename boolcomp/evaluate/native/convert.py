"""Samples to bit-planes and back, as LLVM functions over 64 samples (a group) at a time.

    void read(T* q, T* qd, T* qdd, i8* to, i64* counts)
    void write(i8* from, F* torques, i32* words, i64 mask, i64* counts)

`to` and `from` point at a group's word of plane 0. Samples are rows of one number a joint. The
arithmetic is that of `Code.cell` and `Code.centre`, operation for operation: so are the bits.
`counts` are values outside their range, a flag for NaN or infinity, and torques that saturated
(of the samples marked in `mask`).
"""

from __future__ import annotations

import math
import struct
from typing import TYPE_CHECKING, Literal

from boolcomp.codes import TIE
from boolcomp.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from boolcomp.codes import Code
    from boolcomp.evaluate.native.logic import Layout
    from boolcomp.wiring import Port, Result, Wiring

Sample = Literal["double", "float", "i32"]
BYTES: dict[Sample, int] = {"double": 8, "float": 4, "i32": 4}
GROUP = 64
LANES = 8  # doubles computed with at a time
MOST_BITS = 30  # cell indices are converted through signed 32-bit numbers
ARRAYS = ("%q", "%qd", "%qdd")
OUTSIDE, BAD, CLIPPED = 0, 1, 2


class Lines:
    """A function body being written; every value gets a new name."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def emit(self, operation: str) -> str:
        """Add an operation; return the name of its value."""
        name = f"%v{len(self.lines)}"
        self.lines.append(f"{name} = {operation}")
        return name

    def do(self, operation: str) -> None:
        """Add an operation without a value."""
        self.lines.append(operation)

    def at(self, base: str, offset: int) -> str:
        """Return a pointer so many bytes behind another."""
        return self.emit(f"getelementptr i8, ptr {base}, i64 {offset}")

    def joined(self, parts: Sequence[str], element: str) -> str:
        """Return the vector of equal power-of-two parts, one after the other."""
        names, lanes = list(parts), LANES
        while len(names) > 1:
            mask = _mask(range(2 * lanes))
            names = [
                self.emit(
                    f"shufflevector <{lanes} x {element}> {a}, <{lanes} x {element}> {b}, {mask}"
                )
                for a, b in zip(names[::2], names[1::2], strict=True)
            ]
            lanes *= 2
        return names[0]

    def add_to(self, counter: int, amount: str) -> None:
        """Add an amount to one of the counts."""
        pointer = self.at("%counts", 8 * counter)
        before = self.emit(f"load i64, ptr {pointer}, align 8")
        after = self.emit(f"add i64 {before}, {amount}")
        self.do(f"store i64 {after}, ptr {pointer}, align 8")

    def count(self, bits: str) -> str:
        """Return the number of ones among 64 bits."""
        return self.emit(f"call i64 @llvm.ctpop.i64(i64 {bits})")


def _mask(places: Sequence[int]) -> str:
    return f"<{len(places)} x i32> <{', '.join(f'i32 {place}' for place in places)}>"


def _splat(kind: str, lanes: int, value: str) -> str:
    return f"<{', '.join([f'{kind} {value}'] * lanes)}>"


def _double(value: float) -> str:
    return f"0x{struct.unpack('>Q', struct.pack('>d', value))[0]:016X}"


def _cell_type(bits: int) -> str:
    """Return the narrowest integer that planes are cut from: fewer instructions a plane."""
    return "i8" if bits <= 8 else "i16" if bits <= 16 else "i32"


def read_function(wiring: Wiring, layout: Layout, sample: Sample) -> str:
    """Return the function that codes a group of samples into planes."""
    out = Lines()
    bad: list[str] = []
    for port in wiring.ports:
        if port.code.bits > MOST_BITS:
            raise UsageError(f"an input word of {port.code.bits} bits is more than {MOST_BITS}")
        values = [_eight(out, wiring.joints, port, turn, sample) for turn in range(GROUP // LANES)]
        if sample == "i32":
            words = out.joined(values, "i32")
        else:
            words = _coded(out, port.code, values, bad)
        _cut(out, layout, port, words)
    for wrong in bad:
        out.add_to(BAD, wrong)
    head = "define internal void @read(ptr %q, ptr %qd, ptr %qdd, ptr %to, ptr %counts) #0 {"
    return "\n".join([head, *out.lines, "ret void", "}"])


def _eight(out: Lines, joints: int, port: Port, turn: int, sample: Sample) -> str:
    """Load one column of eight samples, as doubles or as words."""
    first = turn * LANES * joints
    base = ARRAYS[port.array]
    size = BYTES[sample]
    if joints <= 2:
        pointer = out.at(base, first * size)
        lanes = LANES * joints
        value = out.emit(f"load <{lanes} x {sample}>, ptr {pointer}, align {size}")
        if joints == 2:
            mask = _mask(range(port.column, lanes, joints))
            kind = f"<{lanes} x {sample}>"
            value = out.emit(f"shufflevector {kind} {value}, {kind} {value}, {mask}")
    else:
        value = "poison"
        for lane in range(LANES):
            pointer = out.at(base, (first + lane * joints + port.column) * size)
            one = out.emit(f"load {sample}, ptr {pointer}, align {size}")
            value = out.emit(f"insertelement <8 x {sample}> {value}, {sample} {one}, i32 {lane}")
    if sample == "float":
        value = out.emit(f"fpext <8 x float> {value} to <8 x double>")
    return value


def _coded(out: Lines, code: Code, values: Sequence[str], bad: list[str]) -> str:
    """Return the words of 64 values; count those outside, note those that are not finite."""
    kind = "<8 x double>"
    step, last = code.step, code.cells - 1
    exact = math.frexp(step)[0] == 0.5  # then a product with 1/step is the quotient, bit for bit
    scale = f"fmul {kind}" if exact else f"fdiv {kind}"
    factor = _splat("double", LANES, _double(1 / step if exact else step))
    low = _splat("double", LANES, _double(code.range.low))
    zero, top = "zeroinitializer", _splat("double", LANES, _double(float(code.cells)))
    least, most = (_splat("double", LANES, _double(x)) for x in (-TIE, code.cells + TIE))
    cells, outside = [], []
    wrong = ""
    for value in values:
        nan = out.emit(f"fsub {kind} {value}, {value}")
        here = out.emit(f"fcmp uno {kind} {nan}, {nan}")
        wrong = out.emit(f"or <8 x i1> {wrong}, {here}") if wrong else here
        scaled = out.emit(f"{scale} {out.emit(f'fsub {kind} {value}, {low}')}, {factor}")
        under = out.emit(f"fcmp olt {kind} {scaled}, {least}")
        over = out.emit(f"fcmp ogt {kind} {scaled}, {most}")
        outside.append(out.emit(f"or <8 x i1> {under}, {over}"))
        above = out.emit(f"fcmp ogt {kind} {scaled}, {zero}")  # false for NaN
        scaled = out.emit(f"select <8 x i1> {above}, {kind} {scaled}, {kind} {zero}")
        below = out.emit(f"fcmp olt {kind} {scaled}, {top}")
        scaled = out.emit(f"select <8 x i1> {below}, {kind} {scaled}, {kind} {top}")
        raised = out.emit(f"fadd {kind} {scaled}, {_splat('double', LANES, _double(TIE))}")
        cell = out.emit(f"fptosi {kind} {raised} to <8 x i32>")
        ends = _splat("i32", LANES, str(last))
        inside = out.emit(f"icmp ult <8 x i32> {cell}, {ends}")
        cells.append(out.emit(f"select <8 x i1> {inside}, <8 x i32> {cell}, <8 x i32> {ends}"))
    bad.append(out.emit(f"zext i8 {out.emit(f'bitcast <8 x i1> {wrong} to i8')} to i64"))
    marks = out.emit(f"bitcast <64 x i1> {out.joined(outside, 'i1')} to i64")
    out.add_to(OUTSIDE, out.count(marks))
    return _gray(out, code, out.joined(cells, "i32"))


def _gray(out: Lines, code: Code, cells: str) -> str:
    """Return the words of 64 cell indices."""
    if code.kind != "gray":
        return cells
    half = out.emit(f"lshr <64 x i32> {cells}, {_splat('i32', GROUP, '1')}")
    return out.emit(f"xor <64 x i32> {cells}, {half}")


def _cut(out: Lines, layout: Layout, port: Port, words: str) -> None:
    """Store 64 words as planes."""
    cell = _cell_type(port.code.bits)
    kind = f"<64 x {cell}>"
    if cell != "i32":
        words = out.emit(f"trunc <64 x i32> {words} to {kind}")
    for k in range(port.code.bits):
        weight = 1 << (port.code.bits - 1 - k)
        splat = _splat(cell, GROUP, str(weight if weight < 128 or cell != "i8" else -128))
        bit = out.emit(f"and {kind} {words}, {splat}")
        marks = out.emit(f"icmp ne {kind} {bit}, zeroinitializer")
        plane = out.emit(f"bitcast <64 x i1> {marks} to i64")
        out.do(f"store i64 {plane}, ptr {out.at('%to', layout.offset(port.first + k))}, align 8")


def write_function(wiring: Wiring, layout: Layout, real: Literal["double", "float"]) -> str:
    """Return the function that turns a group's result planes into torques and code words."""
    out = Lines()
    cells = [_gathered(out, layout, result) for result in wiring.results]
    for result in wiring.results:
        pointer = out.at("%from", layout.offset(result.saturated))
        marks = out.emit(f"load i64, ptr {pointer}, align 8")
        out.add_to(CLIPPED, out.count(out.emit(f"and i64 {marks}, %mask")))
    words = [_gray(out, r.code, c) for r, c in zip(wiring.results, cells, strict=True)]
    for turn in range(GROUP // LANES):
        torques = []
        coded = []
        mask = _mask(range(turn * LANES, turn * LANES + LANES))
        for result, cell, word in zip(wiring.results, cells, words, strict=True):
            coded.append(out.emit(f"shufflevector <64 x i32> {word}, <64 x i32> {word}, {mask}"))
            eight = out.emit(f"shufflevector <64 x i32> {cell}, <64 x i32> {cell}, {mask}")
            torques.append(_centres(out, result.code, eight, real))
        _scatter(out, "%torques", real, torques, turn)
        _scatter(out, "%words", "i32", coded, turn)
    arguments = "ptr %from, ptr %torques, ptr %words, i64 %mask, ptr %counts"
    head = f"define internal void @write({arguments}) #0 {{"
    return "\n".join([head, *out.lines, "ret void", "}"])


def _gathered(out: Lines, layout: Layout, result: Result) -> str:
    """Return 64 cell indices from their planes."""
    bits = result.code.bits
    cell = _cell_type(bits)
    kind = f"<64 x {cell}>"
    total = "zeroinitializer"
    for k in range(bits):
        weight = 1 << (bits - 1 - k)
        splat = _splat(cell, GROUP, str(weight if weight < 128 or cell != "i8" else -128))
        pointer = out.at("%from", layout.offset(result.first + k))
        plane = out.emit(f"load i64, ptr {pointer}, align 8")
        marks = out.emit(f"bitcast i64 {plane} to <64 x i1>")
        part = out.emit(f"select <64 x i1> {marks}, {kind} {splat}, {kind} zeroinitializer")
        total = out.emit(f"or {kind} {total}, {part}")
    return total if cell == "i32" else out.emit(f"zext {kind} {total} to <64 x i32>")


def _centres(out: Lines, code: Code, cells: str, real: str) -> str:
    """Return the values at the centres of eight cells: low + (cell + 1/2) step."""
    kind = "<8 x double>"
    value = out.emit(f"sitofp <8 x i32> {cells} to {kind}")
    value = out.emit(f"fadd {kind} {value}, {_splat('double', LANES, _double(0.5))}")
    value = out.emit(f"fmul {kind} {value}, {_splat('double', LANES, _double(code.step))}")
    value = out.emit(f"fadd {kind} {_splat('double', LANES, _double(code.range.low))}, {value}")
    return value if real == "double" else out.emit(f"fptrunc {kind} {value} to <8 x float>")


def _scatter(out: Lines, base: str, kind: Sample, columns: Sequence[str], turn: int) -> None:
    """Store eight rows, given their columns."""
    joints, size = len(columns), BYTES[kind]
    first = turn * LANES * joints
    if joints <= 2:
        value, lanes = columns[0], LANES * joints
        if joints == 2:
            mask = _mask([k // 2 + LANES * (k % 2) for k in range(lanes)])
            vector = f"<{LANES} x {kind}>"
            value = out.emit(f"shufflevector {vector} {columns[0]}, {vector} {columns[1]}, {mask}")
        pointer = out.at(base, first * size)
        out.do(f"store <{lanes} x {kind}> {value}, ptr {pointer}, align {size}")
        return
    for joint, column in enumerate(columns):
        for lane in range(LANES):
            one = out.emit(f"extractelement <{LANES} x {kind}> {column}, i32 {lane}")
            pointer = out.at(base, (first + lane * joints + joint) * size)
            out.do(f"store {kind} {one}, ptr {pointer}, align {size}")
