"""The words engine: word graphs as native code, one sample at a time or 64 in vector lanes.

Entry points of the compiled code:

    i64 sample(T* g0, T* g1, .., F* values, i32* words)      all values as rows
    i64 state(double* given, double* values, i32* words)     groups one after the other
    i64 cells(i32* given, i32* made)                         cells minus their middles
    void samples(T* a0, T* a1, .., i64 count, F* values, i32* words, i64* counts)

The return value has counts of 16 bits each (`COUNTS`): values outside their range (NaN included),
saturated results, and values beyond joint limits (`state` only). The words of `state` are codes,
all others are cells as in `Code.cell`; values are those of `Code.centre`, bit for bit. Each value
has the narrowest type for its range. Sums, products and left shifts are exact modulo a power of
two, so their operands are truncated to that type. Lanes have at least 8 bits, single samples 32.
"""

from __future__ import annotations

import ctypes
import re
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from boolcomp.base.errors import UsageError
from boolcomp.codes import TIE
from boolcomp.engines import coding, llvm, planes
from boolcomp.engines.coding import BAD, CLIPPED, OUTSIDE, farthest, parts_of
from boolcomp.engines.engine import SLACK, Evaluation, in_threads, not_codable
from boolcomp.engines.llvm import BYTES, GROUP, LlvmLines, shuffle_mask, splat, vector_of
from boolcomp.engines.native import SAMPLES, Codes, code_type, column_pointers
from boolcomp.engines.planes import ATTRIBUTES
from boolcomp.engines.words_tables import Loads, Permutes, table_width
from boolcomp.problem.word_codes import Step
from boolcomp.words.costs import MACHINES
from boolcomp.words.lowering import Lowering, Maker

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from numpy.typing import ArrayLike, NDArray

    from boolcomp.codes import Code
    from boolcomp.engines.engine import Batch, EnginePort, Result, Wiring, WordLogic
    from boolcomp.engines.llvm import Processor, Sample
    from boolcomp.engines.words_tables import LookupTables
    from boolcomp.words.costs import MachineCosts
    from boolcomp.words.operations import Inside, IntOp, IntOps

# --------------------------------------------------------------------------------------------------
# The operations of a word graph: those of one sample, and those of lanes.
# --------------------------------------------------------------------------------------------------

# Loads are cheap while tables fit into the first-level cache: then the first of these applies.
CACHE = 1 << 15  # bytes
SCALAR = tuple(replace(MACHINES["scalar"], apart=apart) for apart in (12, 11, 10))


def single(wiring: Wiring, logic: WordLogic) -> IntOps:
    """Return the operations of one sample."""
    for costs in SCALAR:
        found = lowered(wiring, logic, costs)
        if sum(len(x) * table_width(x) // 8 for x in found.tables) <= CACHE:
            break
    return found


def lowered(wiring: Wiring, logic: WordLogic, costs: MachineCosts) -> IntOps:
    """Return the operations from centred cells to centred cells."""
    make = Maker(costs)
    cells = []
    for place, port in enumerate(wiring.ports):
        cell, half = make.make("input", (), (place, port.code.bits)), port.code.cells >> 1
        if port.given.first:  # cells without a word do not occur
            cell = make.clamped(cell, port.given.first - half, half - 1)
        cells.append(cell)
    lowering = Lowering(logic.graph, make, cells, ((cut.port, cut.drop) for cut in logic.cuts))
    rests = [
        None if places is None else [(k, wiring.ports[k].given.tread) for k in places]
        for places in logic.rests
    ]
    return make.done([lowering.output(k, each) for k, each in enumerate(rests)])


# --------------------------------------------------------------------------------------------------
# Straight-line LLVM code: one sample in registers, or 64 in lanes.
# --------------------------------------------------------------------------------------------------

LANES = 64
SINGLE_TYPES, LANE_TYPES = (32, 64), (8, 16, 32, 64)  # bits
LEAST_PRODUCT = 16  # bits of a lane: processors do not multiply bytes


class Emission:
    """The body of a function that computes values of `lanes` samples."""

    def __init__(
        self,
        out: LlvmLines,
        code: IntOps,
        cells: Sequence[tuple[str, int]],
        tables: LookupTables,
        lanes: int,
    ) -> None:
        self.out, self.code, self.cells, self.tables, self.lanes = out, code, cells, tables, lanes
        self.types = SINGLE_TYPES if lanes == 1 else LANE_TYPES
        self.widths = [self._width(op) for op in code.ops]
        self._names: dict[tuple[int, int], str] = {}
        if lanes == 1:
            tables.begin(out)
        for place, op in enumerate(code.ops):
            self._names[place, self.widths[place]] = self._value(op, self.widths[place])

    def kind(self, width: int) -> str:
        return f"i{width}" if self.lanes == 1 else f"<{self.lanes} x i{width}>"

    def number(self, width: int, value: int) -> str:
        """Return a constant, modulo 2^width."""
        if self.lanes > 1:
            return splat(f"i{width}", self.lanes, value % (1 << width))
        half = 1 << width - 1
        return str((value + half) % (2 * half) - half)

    def reaching(self, place: int, bits: int) -> int:
        return next(w for w in self.types if w >= max(bits, self.widths[place]))

    def at(self, place: int, width: int) -> str:
        """Return a value, converted to `width` bits."""
        key, op = (place, width), self.code.ops[place]
        if op.low == op.high:
            return self.number(width, op.low)
        if key not in self._names:
            own = self.widths[place]
            self._names[key] = self._cut(self._names[place, own], own, width)
        return self._names[key]

    def inside(self, conditions: Sequence[Inside]) -> str:
        """Return the conjunction of conditions."""
        whole = ""
        for one in conditions:
            width = self.widths[one.of]
            op = self.code.ops[one.of]
            name, kind = self.at(one.of, width), self.kind(width)
            for test, end, needed in (("sge", one.low, one.low > op.low),
                                      ("sle", one.high, one.high < op.high)):  # fmt: skip
                if not needed:
                    continue
                here = self.out.emit(f"icmp {test} {kind} {name}, {self.number(width, end)}")
                whole = self.out.emit(f"and {self.mark} {whole}, {here}") if whole else here
        return whole or self.marks(1)

    @property
    def mark(self) -> str:
        return "i1" if self.lanes == 1 else f"<{self.lanes} x i1>"

    def marks(self, value: int) -> str:
        return str(value) if self.lanes == 1 else splat("i1", self.lanes, value)

    def _width(self, op: IntOp) -> int:
        if op.op == "input":
            return self.cells[op.argument[0]][1]
        least = LEAST_PRODUCT if op.op == "product" else 0
        bits = max(op.high.bit_length(), (-op.low - 1).bit_length() if op.low < 0 else 0) + 1
        return next(width for width in self.types if width >= max(bits, least))

    def _value(self, op: IntOp, width: int) -> str:
        match op.op:
            case "input":
                name = self.cells[op.argument[0]][0]
            case "bits":
                name = self._bits(op, width)
            case "sum":
                name = self._sum(op, width)
            case "product" | "xor":
                a, b = (self.at(place, width) for place in op.sources)
                name = self._two("mul" if op.op == "product" else "xor", width, a, b)
            case "shift":
                own = self.widths[op.sources[0]]
                by = self.number(own, op.argument[0])
                name = self._two("ashr", own, self.at(op.sources[0], own), by)
                name = self._cut(name, own, width)
            case "entry":
                name = self.tables.entry(self, op, width)
            case "clamp":
                name = self._clamped(op, width)
            case "choose":
                name = self._chosen(op, width)
        return name

    def _two(self, operation: str, width: int, a: str, b: str) -> str:
        return self.out.emit(f"{operation} {self.kind(width)} {a}, {b}")

    def _cut(self, name: str, own: int, width: int) -> str:
        if own == width:
            return name
        if self.lanes > 1 and own == 16 and width == 8:
            return self.octets(name, 0)
        how = "sext" if width > own else "trunc"
        return self.out.emit(f"{how} {self.kind(own)} {name} to {self.kind(width)}")

    def octets(self, name: str, which: int) -> str:
        """Return the lower or the upper bytes of lanes of 16 bits, by one permute."""
        halves = self.out.emit(f"bitcast {self.kind(16)} {name} to <{2 * self.lanes} x i8>")
        mask = shuffle_mask(2 * k + which for k in range(self.lanes))
        whole = f"<{2 * self.lanes} x i8>"
        return self.out.emit(f"shufflevector {whole} {halves}, {whole} poison, {mask}")

    def _sum(self, op: IntOp, width: int) -> str:
        """Return a sum; it begins with a positive term if there is one."""
        whole = self.number(width, op.constant)
        begun = op.constant != 0
        for factor, place in sorted(op.terms, key=lambda term: term[0] < 0):
            name, size = self.at(place, width), abs(factor)
            if size > 1:
                shift = size.bit_length() - 1
                plain = size == 1 << shift
                operation = "shl" if plain else "mul"
                name = self._two(
                    operation, width, name, self.number(width, shift if plain else size)
                )
            if factor > 0 and not begun:
                whole = name
            else:
                whole = self._two("sub" if factor < 0 else "add", width, whole, name)
            begun = True
        return whole

    def _bits(self, op: IntOp, width: int) -> str:
        (of,), (bits, signed) = op.sources, op.argument
        name = self.at(of, width)
        if not signed:
            return self._two("and", width, name, self.number(width, (1 << bits) - 1))
        exact = self.code.ops[of].op == "input" and self.lanes == 1
        if width == bits or exact:
            return name
        by = self.number(width, width - bits)
        return self._two("ashr", width, self._two("shl", width, name, by), by)

    def _clamped(self, op: IntOp, width: int) -> str:
        (of,), (least, most) = op.sources, op.argument
        own = self.widths[of]
        name, kind = self.at(of, own), self.kind(own)
        before = self.code.ops[of]
        for test, end, needed in (("smax", least, least > before.low),
                                  ("smin", most, most < before.high)):  # fmt: skip
            if needed:
                suffix = f"i{own}" if self.lanes == 1 else f"v{self.lanes}i{own}"
                name = self.out.emit(
                    f"call {kind} @llvm.{test}.{suffix}({kind} {name}, {kind} "
                    f"{self.number(own, end)})"
                )
        return self._cut(name, own, width)

    def _chosen(self, op: IntOp, width: int) -> str:
        marks, kind = self.inside(op.conditions), self.kind(width)
        then, otherwise = (self.at(place, width) for place in op.sources[:2])
        return self.out.emit(f"select {self.mark} {marks}, {kind} {then}, {kind} {otherwise}")


def declarations(lanes: int) -> list[str]:
    """Return declarations of the intrinsics."""
    found = []
    for width in SINGLE_TYPES if lanes == 1 else LANE_TYPES:
        kind, suffix = f"i{width}", f"i{width}"
        if lanes > 1:
            kind, suffix = f"<{lanes} x i{width}>", f"v{lanes}i{width}"
        found += [
            f"declare {kind} @llvm.{name}.{suffix}({kind}, {kind})" for name in ("smin", "smax")
        ]
    return found


# --------------------------------------------------------------------------------------------------
# One sample at a time: values to cells, the words, cells to values.
# --------------------------------------------------------------------------------------------------

SEEN_OUTSIDE, SEEN_BAD, SEEN_CLIPPED, SEEN_BEYOND = range(4)
COUNT_BITS = 16
DECLARATIONS = [
    "declare double @llvm.floor.f64(double)",
    "declare double @llvm.fabs.f64(double)",
    "attributes #1 = { nounwind }",
]


class SingleLines(LlvmLines):
    """The body of a function with a packed counter."""

    def __init__(self) -> None:
        super().__init__()
        self.total = "0"

    def count(self, mark: str, counter: int) -> None:
        """Add one to a count if a bit is 1."""
        one = self.emit(f"zext i1 {mark} to i64")
        if counter:
            one = self.emit(f"shl i64 {one}, {COUNT_BITS * counter}")
        self.total = one if self.total == "0" else self.emit(f"add i64 {self.total}, {one}")


def signed32(value: int) -> int:
    return value - (1 << 32) if value >> 31 else value


def real(value: float) -> str:
    return vector_of("double", [value])[1:-1].split()[1]


def cell_lines(out: SingleLines, value: str, code: Code, first: int) -> str:
    """Return the cell of a double minus half the cells; count saturation and bad numbers."""
    nothing = out.emit(f"fsub double {value}, {value}")
    out.count(out.emit(f"fcmp uno double {nothing}, {nothing}"), SEEN_BAD)
    scaled = out.emit(f"fsub double {value}, {real(code.low)}")
    scaled = out.emit(f"fdiv double {scaled}, {real(code.step)}")
    top = real(float(code.cells))
    if code.wraps:
        size = out.emit(f"call double @llvm.fabs.f64(double {value})")
        out.count(out.emit(f"fcmp ogt double {size}, {real(farthest(code))}"), SEEN_BAD)
        turns = out.emit(f"fdiv double {scaled}, {top}")
        turns = out.emit(f"call double @llvm.floor.f64(double {turns})")
        whole = out.emit(f"fmul double {turns}, {top}")
        scaled = out.emit(f"fsub double {scaled}, {whole}")
    else:
        under = out.emit(f"fcmp olt double {scaled}, {real(-TIE)}")
        over = out.emit(f"fcmp ogt double {scaled}, {real(code.maximum + TIE)}")
        out.count(out.emit(f"or i1 {under}, {over}"), SEEN_OUTSIDE)
    above = out.emit(f"fcmp ogt double {scaled}, {real(0.0)}")  # false for NaN
    scaled = out.emit(f"select i1 {above}, double {scaled}, double {real(0.0)}")
    below = out.emit(f"fcmp olt double {scaled}, {top}")
    scaled = out.emit(f"select i1 {below}, double {scaled}, double {top}")
    raised = out.emit(f"fadd double {scaled}, {real(TIE)}")
    cell = out.emit(f"fptosi double {raised} to i64")
    if code.wraps:
        cell = out.emit(f"and i64 {cell}, {code.cells - 1}")
    else:
        least = out.emit(f"icmp slt i64 {cell}, {code.cells - 1}")
        cell = out.emit(f"select i1 {least}, i64 {cell}, i64 {code.cells - 1}")
        if first:
            least = out.emit(f"icmp sgt i64 {cell}, {first}")
            cell = out.emit(f"select i1 {least}, i64 {cell}, i64 {first}")
    cell = out.emit(f"sub i64 {cell}, {code.cells >> 1}")
    return out.emit(f"trunc i64 {cell} to i32")


def _loaded(out: SingleLines, port: EnginePort, base: str, column: int, sample: Sample) -> str:
    """Return the cell of a port minus half its cells."""
    value = out.load(sample, base, column * BYTES[sample])
    if sample == "i32":
        return out.emit(f"sub i32 {value}, {signed32(port.code.cells >> 1)}")
    if sample == "float":
        value = out.emit(f"fpext float {value} to double")
    return cell_lines(out, value, port.code, port.given.first)


def made_lines(out: SingleLines, code: IntOps, tables: Loads, cells: Sequence[str]) -> list[str]:
    """Return the cells of results minus half their cells; count saturations."""
    emission = Emission(out, code, [(cell, 32) for cell in cells], tables, 1)
    found = []
    for made in code.outputs:
        found.append(emission.at(made.value, 32))
        if made.inside is None:
            continue
        mark = out.emit(f"xor i1 {emission.inside((made.inside,))}, 1")
        if made.rests:
            moves = out.emit(f"xor i1 {emission.inside(made.rests)}, 1")
            mark = out.emit(f"and i1 {mark}, {moves}")
        out.count(mark, SEEN_CLIPPED)
    return found


def _stored(
    out: SingleLines, results: Sequence[Result], made: Sequence[str], real_kind: str, *, coded: bool
) -> None:
    for place, (result, cell) in enumerate(zip(results, made, strict=True)):
        code = result.code
        whole = out.emit(f"add i32 {cell}, {signed32(code.cells >> 1)}")
        word = _word(out, whole, result.given) if coded else whole
        out.store("i32", word, "%words", 4 * place)
        raised, base = code.centred
        value = out.emit(f"uitofp i32 {whole} to double")
        value = out.emit(f"fadd double {value}, {real(raised)}")
        value = out.emit(f"fmul double {value}, {real(code.step)}")
        value = out.emit(f"fadd double {real(base)}, {value}")
        if real_kind == "float":
            value = out.emit(f"fptrunc double {value} to float")
        out.store(real_kind, value, "%values", (4 if real_kind == "float" else 8) * place)


def _word(out: SingleLines, cell: str, code: Code) -> str:
    half = code.cells >> 1
    for step in code.steps:
        if step is Step.FOLD:
            cell = out.emit(f"xor i32 {cell}, {out.emit(f'lshr i32 {cell}, 1')}")
        elif step is Step.FLIP:
            cell = out.emit(f"xor i32 {cell}, {signed32(half)}")
        else:
            below = out.emit(f"sub i32 {half - (not code.tread)}, {cell}")
            small = out.emit(f"icmp ult i32 {below}, {half - 1}")
            below = out.emit(f"select i1 {small}, i32 {below}, i32 {half - 1}")
            below = out.emit(f"or i32 {below}, {signed32(half)}")
            above = out.emit(f"sub i32 {cell}, {signed32(half)}")
            positive = out.emit(f"icmp uge i32 {cell}, {signed32(half)}")
            cell = out.emit(f"select i1 {positive}, i32 {above}, i32 {below}")
    return cell


def sample_function(
    wiring: Wiring, code: IntOps, tables: Loads, sample: Sample, real_kind: str
) -> str:
    """Return `sample`."""
    out = SingleLines()
    cells = [_loaded(out, p, f"%g{p.array}", p.column, sample) for p in wiring.ports]
    made = made_lines(out, code, tables, cells)
    _stored(out, wiring.results, made, real_kind, coded=False)
    groups = "".join(f"ptr %g{k}, " for k in range(len(wiring.groups)))
    head = f"define internal i64 @sample({groups}ptr %values, ptr %words) #1 {{"
    return "\n".join([head, *out.lines, f"ret i64 {out.total}", "}"])


def state_function(wiring: Wiring, code: IntOps, tables: Loads) -> str:
    """Return `state`, which evaluates one state with all checks."""
    out = SingleLines()
    firsts = [sum(wiring.widths[:k]) for k in range(len(wiring.widths))]
    columns = {name: at for at, name in enumerate(n for g in wiring.groups for n in g.members)}
    cells = [_loaded(out, p, "%given", firsts[p.array] + p.column, "double") for p in wiring.ports]
    read = {firsts[p.array] + p.column for p in wiring.ports}
    for column in columns.values():
        if column not in read:
            value = out.load("double", "%given", 8 * column)
            nothing = out.emit(f"fsub double {value}, {value}")
            out.count(out.emit(f"fcmp uno double {nothing}, {nothing}"), SEEN_BAD)
    for stop in wiring.stops:
        value = out.load("double", "%given", 8 * columns[stop.name])
        slack = SLACK * max(1.0, stop.range.magnitude)
        under = out.emit(f"fcmp olt double {value}, {real(stop.range.low - slack)}")
        over = out.emit(f"fcmp ogt double {value}, {real(stop.range.high + slack)}")
        out.count(out.emit(f"or i1 {under}, {over}"), SEEN_BEYOND)
    made = made_lines(out, code, tables, cells)
    _stored(out, wiring.results, made, "double", coded=True)
    head = "define i64 @state(ptr %given, ptr %values, ptr %words) #1 {"
    return "\n".join([head, *out.lines, f"ret i64 {out.total}", "}"])


def cells_function(wiring: Wiring, code: IntOps, tables: Loads) -> str:
    """Return `cells`: the words alone."""
    out = SingleLines()
    cells = [out.load("i32", "%given", 4 * k) for k in range(len(wiring.ports))]
    for place, made in enumerate(made_lines(out, code, tables, cells)):
        out.store("i32", made, "%made", 4 * place)
    head = "define i64 @cells(ptr %given, ptr %made) #1 {"
    return "\n".join([head, *out.lines, f"ret i64 {out.total}", "}"])


def samples_function(wiring: Wiring, sample: Sample, real_kind: str) -> str:
    """Return `samples`, which calls `sample` for every row."""
    out = LlvmLines()
    rows = []
    for k, width in enumerate(wiring.widths):
        place = out.emit(f"mul i64 %s, {width * BYTES[sample]}")
        rows.append(out.emit(f"getelementptr i8, ptr %a{k}, i64 {place}"))
    size = 4 if real_kind == "float" else 8
    for name, bytes_ in (("values", size), ("words", 4)):
        place = out.emit(f"mul i64 %s, {bytes_ * len(wiring.results)}")
        rows.append(out.emit(f"getelementptr i8, ptr %{name}, i64 {place}"))
    found = out.emit(f"call i64 @sample({', '.join(f'ptr {row}' for row in rows)})")
    for counter in (SEEN_OUTSIDE, SEEN_BAD, SEEN_CLIPPED):
        shifted = out.emit(f"lshr i64 {found}, {COUNT_BITS * counter}")
        out.add_to(counter, out.emit(f"and i64 {shifted}, {(1 << COUNT_BITS) - 1}"))
    arrays = "".join(f"ptr %a{k}, " for k in range(len(wiring.groups)))
    return "\n".join([
        f"define void @samples({arrays}i64 %count, ptr %values, ptr %words, ptr %counts) #1 {{",
        "entry:", "%some = icmp sgt i64 %count, 0", "br i1 %some, label %loop, label %done",
        "loop:", "%s = phi i64 [ 0, %entry ], [ %next, %loop ]", *out.lines,
        "%next = add i64 %s, 1", "%more = icmp ult i64 %next, %count",
        "br i1 %more, label %loop, label %done", "done:", "ret void", "}",
    ])  # fmt: skip


# --------------------------------------------------------------------------------------------------
# Groups of 64 samples:
#
#     void columns(i8** in, i8** out, i64 groups, i64 mask, i64* counts)
#     void rows(T* a0, T* a1, .., i64 groups, F* values, i32* words, i64* counts)
#
# `columns` reads and writes columns of signed codes, as `codes` in `native`, and counts saturations
# of the samples in `mask`. `rows` converts samples to columns and columns to values by the
# functions of the llvm engine, without the transposition to planes.
# --------------------------------------------------------------------------------------------------

MOST_BITS = planes.MOST_TRANSPOSED
_MARK = "<64 x i1>"
_LOOP = """\
define void @NAME(ARGUMENTS) #0 {
entry:
HEAD
br label %loop
loop:
%g = phi i64 [ 0, %entry ], [ %next, %loop ]
BODY
%next = add i64 %g, 1
%more = icmp ult i64 %next, %groups
br i1 %more, label %loop, label %done
done:
ret void
}"""


def group_lines(
    out: LlvmLines,
    wiring: Wiring,
    code: IntOps,
    tables: LookupTables,
    given: Callable[[int], str],
    made: Callable[[int], str],
) -> None:
    """Write the code of a group; `given` and `made` return the addresses of its columns."""
    cells = []
    for k, port in enumerate(wiring.ports):
        width = 8 * planes.code_bytes(port.code.bits)
        cells.append((out.load(f"<{LANES} x i{width}>", given(k), 0), width))
    emission = Emission(out, code, cells, tables, LANES)
    total = ""
    for k, (one, result) in enumerate(zip(code.outputs, wiring.results, strict=True)):
        width = 8 * planes.code_bytes(result.code.bits)
        out.store(f"<{LANES} x i{width}>", emission.at(one.value, width), made(k), 0)
        if one.inside is None:
            continue
        marks = out.emit(f"xor {_MARK} {emission.inside((one.inside,))}, {emission.marks(1)}")
        if one.rests:
            moves = out.emit(f"xor {_MARK} {emission.inside(one.rests)}, {emission.marks(1)}")
            marks = out.emit(f"and {_MARK} {marks}, {moves}")
        word = out.emit(f"bitcast {_MARK} {marks} to i64")
        word = out.emit(f"and i64 {word}, %mask")
        ones = out.emit(f"call i64 @llvm.ctpop.i64(i64 {word})")
        total = out.emit(f"add i64 {total}, {ones}") if total else ones
    if total:
        out.add_to(coding.CLIPPED, total)


def columns_module(wiring: Wiring, code: IntOps, tables: LookupTables) -> str:
    """Return the module with `columns`."""
    head = LlvmLines()
    bases: dict[str, str] = {}
    for way, codes in _ways(wiring):
        for k in range(len(codes)):
            bases[f"{way}{k}"] = head.emit(f"load ptr, ptr {head.at(f'%{way}', 8 * k)}, align 8")
    out = LlvmLines()
    out.lines = ["" for _ in head.lines]  # so that names differ

    def place(way: str, codes: Sequence[int], k: int) -> str:
        offset = out.emit(f"mul i64 %g, {GROUP * codes[k]}")
        return out.emit(f"getelementptr i8, ptr {bases[f'{way}{k}']}, i64 {offset}")

    (_, sizes_in), (_, sizes_out) = _ways(wiring)
    group_lines(
        out, wiring, code, tables,
        lambda k: place("in", sizes_in, k), lambda k: place("out", sizes_out, k),
    )  # fmt: skip
    loop = _LOOP.replace("NAME", "columns").replace("HEAD", "\n".join(head.lines))
    arguments = "ptr %in, ptr %out, i64 %groups, i64 %mask, ptr %counts"
    loop = loop.replace("ARGUMENTS", arguments).replace("BODY", "\n".join(filter(None, out.lines)))
    counting = "declare i64 @llvm.ctpop.i64(i64)"
    return "\n".join([*declarations(LANES), counting, *tables.texts(), loop, ATTRIBUTES, ""])


def _ways(wiring: Wiring) -> tuple[tuple[str, list[int]], tuple[str, list[int]]]:
    """Return the code bytes of all columns in and out."""
    given = [planes.code_bytes(port.code.bits) for port in wiring.ports]
    made = [planes.code_bytes(result.code.bits) for result in wiring.results]
    return ("in", given), ("out", made)


def rows_module(
    wiring: Wiring, code: IntOps, tables: LookupTables, sample: Sample, machine: Processor
) -> str:
    """Return the module with `rows`."""
    real: Sample = "float" if sample == "float" else "double"
    parts = parts_of(wiring.ports, sample)
    at = planes.offsets([part.part.code for part in parts], GROUP)
    natural = [replace(result.code, kind="natural") for result in wiring.results]
    made = planes.offsets(natural, GROUP)
    texts: list[str] = []
    head = [f"%codes = alloca [{max(1, at[-1])} x i8], align 64",
            f"%made = alloca [{made[-1]} x i8], align 64", "%mask = or i64 0, -1"]  # fmt: skip
    out = LlvmLines()
    for k, width in enumerate(wiring.widths):
        columns = [c for c in zip(parts, at, strict=False) if c[0].port.array == k]
        if columns:
            texts += coding.ArrayCoder(k, columns, width, sample, machine).functions()
            place = out.emit(f"mul i64 %g, {GROUP * width * BYTES[sample]}")
            row = out.emit(f"getelementptr i8, ptr %a{k}, i64 {place}")
            out.do(f"call void @code{k}(ptr {row}, ptr %codes, i64 0, ptr %counts)")
    group_lines(
        out, wiring, code, tables,
        lambda k: out.at("%codes", at[k]), lambda k: out.at("%made", made[k]),
    )  # fmt: skip
    ends = []
    for name, size in (("values", BYTES[real]), ("words", BYTES["i32"])):
        place = out.emit(f"mul i64 %g, {GROUP * size * len(natural)}")
        ends.append(out.emit(f"getelementptr i8, ptr %{name}, i64 {place}"))
    out.do(f"call void @decode(ptr %made, i64 0, ptr {ends[0]}, ptr {ends[1]})")
    cells = [coding.CodeColumn(one, (place,)) for one, place in zip(natural, made, strict=False)]
    texts.append(coding.decode_function(cells, real))
    arrays = "".join(f"ptr %a{k}, " for k in range(len(wiring.groups)))
    loop = _LOOP.replace("NAME", "rows").replace("HEAD", "\n".join(head))
    loop = loop.replace("ARGUMENTS", f"{arrays}i64 %groups, ptr %values, ptr %words, ptr %counts")
    loop = loop.replace("BODY", "\n".join(out.lines))
    lines = dict.fromkeys([
        *declarations(LANES), "declare i64 @llvm.ctpop.i64(i64)", *coding.DECLARATIONS,
        *coding.reductions(64),
    ])  # fmt: skip
    return "\n".join([*lines, *tables.texts(), *texts, loop, ATTRIBUTES, ""])


def fits(wiring: Wiring) -> bool:
    """Tell whether all words fit into columns of codes."""
    codes = [port.code for port in wiring.ports] + [result.code for result in wiring.results]
    return max(code.bits for code in codes) <= MOST_BITS


# --------------------------------------------------------------------------------------------------
# The cost of code: its operations, counted in its text.
# --------------------------------------------------------------------------------------------------

A_LOOP = 64 * 6  # operations of a look-up of 64 lanes one by one
_TYPE = re.compile(r"<(\d+) x i(\d+)>")
_FREE = ("bitcast", "getelementptr", "zext i1", "or i64 0")


def operations(lines: Iterable[str], machine: Processor) -> int:
    """Return the operations of a function's body; a vector counts once per register."""
    total = 0
    for line in lines:
        _, _, operation = line.partition(" = ")
        if operation.startswith(_FREE):
            continue
        sizes = [int(count) * int(bits) for count, bits in _TYPE.findall(operation) if bits != "1"]
        registers = max(1, *(-(-size // machine.width) for size in sizes)) if sizes else 1
        total += A_LOOP if "_by_" in operation else registers
    return total


# --------------------------------------------------------------------------------------------------
# Single states: checked, coded, evaluated and decoded by one call of native code. A call from
# Python costs more than all of the arithmetic. So arrays of the right type and shape are only
# copied to the arrays of the code. All other input, NaN and far angles are left to `evaluate`,
# which raises the errors.
# --------------------------------------------------------------------------------------------------

_MASK = (1 << COUNT_BITS) - 1
_DOUBLE = np.dtype(np.float64)


class _CallArrays:
    """The arrays of one call; every thread has its own."""

    def __init__(self, wiring: Wiring, made: tuple[int, ...]) -> None:
        self.given = np.zeros(sum(wiring.widths), np.float64)
        ends = np.cumsum(wiring.widths)
        self.parts = tuple(
            self.given[end - width : end] for width, end in zip(wiring.widths, ends, strict=True)
        )
        self.values = np.zeros(made, np.float64)
        self.words = np.zeros(made, np.uint32)
        arrays = (self.given, self.values, self.words)
        self.places = tuple(ctypes.c_void_p(x.ctypes.data) for x in arrays)


class SingleStates:
    """Evaluates single states: an array per group, or a number for a lone input."""

    def __init__(self, engine: WordEngine) -> None:
        self.engine, self.wiring = engine, engine.wiring
        self._shapes = tuple(() if g.lone else (g.size,) for g in self.wiring.groups)
        single = len(self.wiring.results) == 1 and not any(self._shapes)
        self._made: tuple[int, ...] = () if single else (len(self.wiring.results),)
        self._rooms: list[_CallArrays] = []

    def __call__(self, arrays: Sequence[ArrayLike]) -> Evaluation | None:
        """Return the results, or None if `evaluate` must handle the state."""
        try:  # atomic: another thread may take the last one
            room = self._rooms.pop()
        except IndexError:
            room = _CallArrays(self.wiring, self._made)
        for part, x, shape in zip(room.parts, arrays, self._shapes, strict=True):
            if type(x) is np.ndarray:
                fits = x.shape == shape and x.dtype is _DOUBLE
            else:
                fits = _plain(x, shape)
            if not fits:
                self._rooms.append(room)
                return None
            part[...] = x
        counts = self._run(*room.places)
        found = None
        if not counts:
            found = Evaluation(room.values.copy(), room.words.copy(), 0, 0)
        elif not counts >> COUNT_BITS * SEEN_BAD & _MASK:
            outside, clipped, beyond = (
                counts >> COUNT_BITS * k & _MASK for k in (SEEN_OUTSIDE, SEEN_CLIPPED, SEEN_BEYOND)
            )
            found = Evaluation(room.values.copy(), room.words.copy(), outside, clipped, beyond)
        self._rooms.append(room)
        return found

    @cached_property
    def _run(self) -> Callable[..., int]:
        """The native code; it keeps the GIL, as a release costs more than the call."""
        address = ctypes.c_void_p
        kind = ctypes.PYFUNCTYPE(ctypes.c_uint64, address, address, address)
        return kind(self.engine.code_of_state.address("state"))


def _plain(given: Any, shape: tuple[int, ...]) -> bool:
    """Tell whether a state is Python floats, as many as a shape requires."""
    if not shape:
        return type(given) is float
    if type(given) not in (list, tuple) or len(given) != shape[0]:
        return False
    return all(type(one) is float for one in given)


# --------------------------------------------------------------------------------------------------
# The engine.
# --------------------------------------------------------------------------------------------------

LEAST_GROUPS = 64  # per thread
_POINTER, _WHOLE = ctypes.c_void_p, ctypes.c_int64


class WordEngine:
    """Evaluates the word graph of a wiring: single samples by scalar code, 64 in lanes."""

    name = "words"

    def __init__(
        self, wiring: Wiring, threads: int = 1, processor: llvm.Processor | None = None
    ) -> None:
        if wiring.logic is None:
            raise UsageError(
                "the program has no word graph, which engine 'words' needs", "use engine 'llvm'"
            )
        if threads < 1:
            raise UsageError(f"{threads} threads are too few", "give 1 or more")
        self.wiring, self.logic, self.threads = wiring, wiring.logic, threads
        self.machine = processor or llvm.host()
        self._kept: list[llvm.NativeCode] = []
        self._singles: dict[Sample, Callable[..., None]] = {}
        self._groups: dict[Sample, Callable[..., None]] = {}

    @cached_property
    def single(self) -> IntOps:
        return single(self.wiring, self.logic)

    @cached_property
    def lanes(self) -> IntOps:
        return lowered(self.wiring, self.logic, MACHINES["lanes"])

    def run(self, batch: Batch) -> Evaluation:
        """Return the results of a batch: whole groups in lanes, the rest one by one."""
        values, words = batch.empty_results(len(self.wiring.results))
        counts = np.zeros(3, np.int64)
        sample = SAMPLES[batch.dtype]
        groups = batch.samples // GROUP if fits(self.wiring) else 0
        if groups:
            self._run_groups(batch, values, words, counts, groups)
        if rest := batch.samples - groups * GROUP:
            rows = slice(groups * GROUP, None)
            arrays = [x[rows].ctypes.data for x in batch.arrays]
            ends = (values[rows].ctypes.data, words[rows].ctypes.data, counts.ctypes.data)
            self._samples(sample)(*arrays, rest, *ends)
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
        """Evaluate whole groups, in one part per thread."""
        run = self.rows(batch.dtype)  # once, not by every thread

        def work(start: int, end: int) -> NDArray[np.int64]:
            rows = slice(start * GROUP, end * GROUP)
            own = np.zeros(3, np.int64)
            arrays = [x[rows].ctypes.data for x in batch.arrays]
            ends = (values[rows].ctypes.data, words[rows].ctypes.data, own.ctypes.data)
            run(*arrays, end - start, *ends)
            return own

        for own in in_threads(self.threads, work, groups, LEAST_GROUPS):
            counts += own

    def run_codes(
        self, columns: Sequence[NDArray[Any]], out: Sequence[NDArray[Any]] | None = None
    ) -> Codes:
        """Return outputs as columns of signed codes, as the llvm engine does."""
        kinds = [code_type(port.code.bits) for port in self.wiring.ports]
        given = [np.ascontiguousarray(x, kind) for x, kind in zip(columns, kinds, strict=True)]
        samples = len(given[0])
        made = list(out) if out is not None else [
            np.empty(samples, code_type(result.code.bits)) for result in self.wiring.results
        ]  # fmt: skip
        counts = np.zeros(3, np.int64)
        groups, rest = divmod(samples, GROUP)
        if groups:
            self.columns(
                column_pointers(given), column_pointers(made), groups, -1, counts.ctypes.data
            )
        if rest:
            few = [np.zeros(GROUP, x.dtype) for x in given]
            for padded, x in zip(few, given, strict=True):
                padded[:rest] = x[samples - rest :]
            last = [np.empty(GROUP, x.dtype) for x in made]
            mask = (1 << rest) - 1
            self.columns(column_pointers(few), column_pointers(last), 1, mask, counts.ctypes.data)
            for x, padded in zip(made, last, strict=True):
                x[samples - rest :] = padded[:rest]
        return Codes(tuple(made), int(counts[CLIPPED]))

    @cached_property
    def columns(self) -> Callable[..., None]:
        """The loop over groups of columns."""
        tables = self._tables()
        text = columns_module(self.wiring, self.lanes, tables)
        return self._function(text, "columns", _POINTER, _POINTER, _WHOLE, _WHOLE, _POINTER)

    def _tables(self) -> Permutes | Loads:
        kind = Permutes if self.machine.has_permutes else Loads
        return kind(self.lanes, "table")

    def rows(self, dtype: np.dtype[Any]) -> Callable[..., None]:
        """Return the loop over groups of rows of a type."""
        sample = SAMPLES[dtype]
        if sample not in self._groups:
            text = rows_module(self.wiring, self.lanes, self._tables(), sample, self.machine)
            self._groups[sample] = self._loop(text, "rows")
        return self._groups[sample]

    def _samples(self, sample: Sample) -> Callable[..., None]:
        if sample not in self._singles:
            real = "float" if sample == "float" else "double"
            tables = Loads(self.single, "table")
            functions = [
                sample_function(self.wiring, self.single, tables, sample, real),
                samples_function(self.wiring, sample, real),
            ]
            self._singles[sample] = self._loop(self.single_module(tables, functions), "samples")
        return self._singles[sample]

    def single_module(self, tables: Loads, functions: Sequence[str]) -> str:
        """Return a module of functions of one sample."""
        lines = [*declarations(1), *DECLARATIONS, *tables.texts(), *functions]
        return "\n".join([*lines, ATTRIBUTES, ""])

    @cached_property
    def code_of_state(self) -> llvm.NativeCode:
        """The code that evaluates one state: `state`, and `cells` for its words alone."""
        tables = Loads(self.single, "table")
        functions = [
            state_function(self.wiring, self.single, tables),
            cells_function(self.wiring, self.single, tables),
        ]
        return llvm.NativeCode(self.single_module(tables, functions), self.machine, near=True)

    @cached_property
    def state(self) -> SingleStates:
        return SingleStates(self)

    @cached_property
    def costs(self) -> tuple[int, int]:
        """The operations of one sample, and those of a group in lanes."""
        out = SingleLines()
        cells = [f"%c{k}" for k in range(len(self.wiring.ports))]
        made_lines(out, self.single, Loads(self.single, "table"), cells)
        one = operations(out.lines, self.machine)
        if not fits(self.wiring):
            return one, one * GROUP
        lanes = LlvmLines()
        group_lines(
            lanes, self.wiring, self.lanes, self._tables(), lambda k: f"%i{k}", lambda k: f"%o{k}"
        )
        return one, operations(lanes.lines, self.machine)

    def _loop(self, text: str, name: str) -> Callable[..., None]:
        arrays = (_POINTER,) * len(self.wiring.groups)
        return self._function(text, name, *arrays, _WHOLE, *(_POINTER,) * 3)

    def _function(self, text: str, name: str, *arguments: Any) -> Callable[..., None]:
        code = llvm.NativeCode(text, self.machine, near=True)
        self._kept.append(code)
        found: Callable[..., None] = code.function(name, *arguments)
        return found
