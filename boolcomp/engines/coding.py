"""Samples to codes and planes, and planes to values and words, as LLVM functions.

    void read(T* a0, T* a1, ..., i64 groups, i8* to, i64* counts)
    void code<k>(T* from, i8* codes, i64 group, i64* counts)

`read` turns up to a block of samples, in groups of 64 rows of every array, into planes. It puts
signed codes of each array into columns (`planes.offsets`) and transposes these. `counts` are the
values outside their range and a flag for NaN or infinity.

A word has the cell floor((x - low) / step + TIE), in doubles (`Code.cell`). `careful<k>` computes
exactly this. `fine<k>` and `coarse<k>` take one multiplication and addition. They repeat a group by
the next slower function if a value in it is in doubt: out of range, not finite, or too close to a
border.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from boolcomp.base.errors import UsageError
from boolcomp.codes import MOST_TURNS, TIE
from boolcomp.engines import planes
from boolcomp.engines.llvm import BYTES, GROUP, LlvmLines, splat, vector_of
from boolcomp.engines.planes import MOST_TRANSPOSED, PLACES, plane_type

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from boolcomp.codes import Code
    from boolcomp.engines.engine import EnginePort, Result
    from boolcomp.engines.llvm import Processor, Sample
    from boolcomp.engines.planes import PlaneLayout

# --------------------------------------------------------------------------------------------------
# The columns of codes of input words: one each, or two of a word with more than 16 bits.
# --------------------------------------------------------------------------------------------------

MOST_BITS = 30  # cell indices are converted through signed 32-bit numbers


@dataclass(frozen=True, slots=True)
class PortPart:
    """A column of codes: an input word, or at most 16 bits of a wider one."""

    port: EnginePort
    part: EnginePort
    shift: int

    @property
    def is_part(self) -> bool:
        return self.port.code.bits > planes.MOST_TRANSPOSED


def parts_of(ports: Sequence[EnginePort], sample: Sample) -> list[PortPart]:
    """Return the columns of codes of input words."""
    parts = []
    for port in ports:
        code = port.code
        if code.bits > MOST_BITS:
            raise UsageError(f"an input word has {code.bits} bits, at most {MOST_BITS} are allowed")
        natural = replace(code, kind="natural")
        above = code.bits - planes.MOST_TRANSPOSED
        if above > 0:
            low = replace(natural, bits=planes.MOST_TRANSPOSED)
            high = replace(natural, bits=above)
            parts.append(PortPart(port, replace(port, code=high), planes.MOST_TRANSPOSED))
            parts.append(PortPart(port, replace(port, code=low, first=port.first + above), 0))
        else:  # words are split as they are; the transposition makes Gray words of cells
            parts.append(
                PortPart(port, replace(port, code=natural if sample == "i32" else code), 0)
            )
    return parts


# --------------------------------------------------------------------------------------------------
# Cells by one multiplication and addition: the constants, and the results in doubt.
#
# `fine` adds x / step to a large double whose mantissa then has 20 bits of the code and 32 bits of
# the place within the cell. The unit is u = 2^-32 cells; the border, because of TIE, is 4.3 u below
# 0. An offset of 2 u keeps values on the grid of cells away from it. All errors together are at
# most 1.25 u (see `fine`), so places 0 to 2^32 - 5 are surely in the cell.
#
# `coarse` does the same with floats, whose 23 bits are the cell and the place. The doubtful places
# are one to a few units wide (see `coarse`). Sixteen numbers cost four operations, and about one in
# some thousands is repeated.
# --------------------------------------------------------------------------------------------------

LARGE = 3 << 19  # its double has 20 bits before the binary point and 32 after it
LARGE_HIGH = 0x4138_0000  # the upper half of that double
MARGIN = 4  # doubtful units below a border
SHIFT = Fraction(2, 1 << 32)  # keeps the grid of cells off the border
FARTHEST = 1 << 17  # largest distance of a range from zero, in cells, for small errors


def fine(code: Code) -> tuple[float, float] | None:
    """Return the factor of a value and the number added to the product, or None.

    The errors, in units of 2^-32 cells: the sum and the added number are each rounded by 1/2. The
    factor and the product, if not fused, are each rounded by |x / step| 2^32 / 2^53, together at
    most 1/8. The exact cell itself has three rounded operations, at most 1/8.
    """
    step, low = Fraction(code.step), Fraction(code.low)
    if code.bits > MOST_TRANSPOSED or not 1e-30 < code.step < 1e30:
        return None
    if _reach(code) / code.step > FARTHEST:
        return None
    return float(1 / step), float(LARGE - code.cells // 2 - low / step + SHIFT)


def _reach(code: Code) -> float:
    return max(abs(code.low), abs(code.range.high))


@dataclass(frozen=True, slots=True)
class Coarse:
    """A value's cell in a float: the factor, the added number, and the units in doubt.

    The float is at least 2^bits and has `places` bits for the place in the cell; the highest
    `doubt` places are in doubt.
    """

    factor: float
    added: float
    places: int
    doubt: int


def coarse(code: Code) -> Coarse | None:
    """Return the constants for cells by floats, or None.

    Without errors, place k is k + (doubt + 1)/2 units above the border. The sum is rounded by 1/2
    unit; the errors of the factor, the added number and the cell with TIE are computed here.
    """
    if fine(code) is None:
        return None
    places = 23 - code.bits
    step, low = Fraction(code.step), Fraction(code.low)
    factor = float(np.float32(1 / step))
    error = abs(Fraction(factor) - 1 / step) * Fraction(_reach(code)) + Fraction(TIE)
    for units in (0, 1, 2):
        exact = code.cells - low / step - Fraction(units + 1, 1 << places)
        added = float(np.float32(float(exact)))
        errors = (error + abs(Fraction(added) - exact)) * (1 << places) * Fraction(1.001)
        if errors + Fraction(1, 100) < units + Fraction(1, 2):
            return Coarse(factor, added, places, 2 * units + 1)
    return None


# --------------------------------------------------------------------------------------------------
# Samples to codes and planes.
# --------------------------------------------------------------------------------------------------

Found = TypeVar("Found")
OUTSIDE, BAD, CLIPPED = 0, 1, 2
LANES = 8  # doubles computed with at a time
VECTOR = 64  # bytes
D = "<8 x double>"
DECLARATIONS = (
    f"declare {D} @llvm.fma.v8f64({D}, {D}, {D})",
    f"declare {D} @llvm.floor.v8f64({D})",
    f"declare {D} @llvm.fabs.v8f64({D})",
    "declare <16 x float> @llvm.fma.v16f32(<16 x float>, <16 x float>, <16 x float>)",
    "declare <16 x i32> @llvm.fshl.v16i32(<16 x i32>, <16 x i32>, <16 x i32>)",
)
FEW = 1 / 4  # fraction of groups that may be coded twice


def read_functions(
    ports: Sequence[EnginePort],
    widths: Sequence[int],
    layout: PlaneLayout,
    sample: Sample,
    machine: Processor,
) -> str:
    """Return `read` for arrays with rows of given widths, and the functions that it calls."""
    parts = parts_of(ports, sample)
    places = planes.offsets([part.part.code for part in parts], layout.width)
    texts = []
    calls = []
    for k, width in enumerate(widths):
        columns = [c for c in zip(parts, places, strict=False) if c[0].port.array == k]
        if columns:
            texts += ArrayCoder(k, columns, width, sample, machine).functions()
            row = GROUP * width * BYTES[sample]
            calls.append(f"""\
%i{k} = mul i64 %g, {row}
%p{k} = getelementptr i8, ptr %a{k}, i64 %i{k}
call void @code{k}(ptr %p{k}, ptr %codes, i64 %g, ptr %counts)""")
    affine = planes.uses_affine(layout, machine)
    texts.append(planes.to_planes_function([p.part for p in parts], layout, affine=affine))
    arrays = " ".join(f"ptr %a{k}," for k in range(len(widths)))
    texts.append(f"""\
define internal void @read({arrays} i64 %groups, ptr %to, ptr %counts) #0 {{
entry:
%codes = alloca [{places[-1]} x i8], align {VECTOR}
br label %loop
loop:
%g = phi i64 [ 0, %entry ], [ %next, %loop ]
{chr(10).join(calls)}
%next = add i64 %g, 1
%more = icmp ult i64 %next, %groups
br i1 %more, label %loop, label %done
done:
call void @to_planes(ptr %codes, ptr %to)
ret void
}}""")
    return "\n".join(texts)


class ArrayCoder:
    """The functions that code 64 rows of one array; `columns` are parts and their places."""

    def __init__(
        self, array: int, columns: Sequence[tuple[PortPart, int]], width: int, sample: Sample,
        machine: Processor,
    ) -> None:  # fmt: skip
        self.array, self.columns, self.width, self.sample = array, columns, width, sample
        self.machine = machine
        self.codes = {part.port.column: part.port.code for part, _ in columns}
        bits = max(code.bits for code in self.codes.values())
        self.size = 4 if bits > planes.MOST_TRANSPOSED else planes.code_bytes(bits)
        self.kind, self.lanes = f"i{8 * self.size}", VECTOR // self.size

    def functions(self) -> list[str]:
        """Return the functions that the array needs."""
        if self.sample == "i32":
            return [self._function("code", self._words)]
        found = [self._function("careful", self._careful)]
        if all(fine(code) for code in self.codes.values()):
            found.append(self._function("fine", self._finely, "careful"))
            if self.machine.has_ternary and self.sample == "float" and self._few_again():
                found.append(self._function("coarse", self._coarsely, "fine"))
        found[-1] = re.sub(r"@[a-z]+", "@code", found[-1], count=1)
        return found

    def _few_again(self) -> bool:
        """Tell whether few groups are in doubt when coded by floats."""
        found = [coarse(code) for code in self.codes.values()]
        return sum(GROUP * (c.doubt / (1 << c.places) if c else 1) for c in found) < FEW

    def _function(self, name: str, body: Callable[[LlvmLines], str], again: str = "") -> str:
        """Return a function; if its body's last value is true, `again` repeats the group."""
        out = LlvmLines()
        doubtful = body(out)
        if again:
            arguments = "ptr %from, ptr %codes, i64 %group, ptr %counts"
            call = f"call void @{again}{self.array}({arguments})"
            out.lines += [
                f"br i1 {doubtful}, label %again, label %done",
                "again:", call, "br label %done", "done:",
            ]  # fmt: skip
        arguments = "ptr %from, ptr %codes, i64 %group, ptr %counts"
        return out.function(f"{name}{self.array}({arguments})")

    def _of(
        self, first: int, kind: str, value: Callable[[Code], float], unused: float,
        lanes: int = LANES,
    ) -> str:  # fmt: skip
        """Return a constant vector of a value of the codes of successive columns."""
        columns = [(first + k) % self.width for k in range(lanes)]
        return vector_of(
            kind, [value(self.codes[c]) if c in self.codes else unused for c in columns]
        )

    def _loaded(self, out: LlvmLines, first: int) -> str:
        """Return eight numbers of the rows as doubles."""
        value = out.load(f"<8 x {self.sample}>", "%from", first * BYTES[self.sample])
        return out.emit(f"fpext <8 x float> {value} to {D}") if self.sample == "float" else value

    def _rows(
        self, out: LlvmLines, count: int, width: int, at: int, words: Callable[[int], str]
    ) -> list[str]:
        """Return the rows as vectors of narrow numbers.

        `words(first)` returns `count` numbers as a vector of 32-bit numbers, `width` bytes each.
        The number begins at byte `at`.
        """
        lanes = count * width // self.size
        whole = f"<{count * width // 4} x i32>"
        rows = []
        for first in range(0, GROUP * self.width, self.lanes):
            found = [words(first + k) for k in range(0, self.lanes, count)]
            if self.size < 4:
                found = [out.emit(f"bitcast {whole} {x} to <{lanes} x {self.kind}>") for x in found]
            places = [
                (k // count, (k % count * width + at) // self.size) for k in range(self.lanes)
            ]
            rows.append(out.gathered(found, lanes, self.kind, places))
        return rows

    def _store(self, out: LlvmLines, rows: Sequence[str], *, signed: bool) -> None:
        """Store columns of the rows; unsigned numbers become signed by their leading bit."""
        vector = f"<{self.lanes} x {self.kind}>"
        bases = {
            size: out.emit(
                f"getelementptr i8, ptr %codes, i64 {out.emit(f'mul i64 %group, {GROUP * size}')}"
            )
            for size in (1, 2)
        }
        for part, place in self.columns:
            size = planes.code_bytes(part.part.code.bits)
            for turn in range(self.size):
                samples = range(turn * self.lanes, (turn + 1) * self.lanes)
                places = [divmod(s * self.width + part.port.column, self.lanes) for s in samples]
                value = out.gathered(rows, self.lanes, self.kind, places)
                if part.is_part:
                    value = self._cut(out, part, value)
                if part.is_part or not signed:
                    half = splat(self.kind, self.lanes, part.part.code.cells // 2)
                    value = out.emit(f"xor {vector} {value}, {half}")
                narrow = f"<{self.lanes} x i{8 * size}>"
                if size < self.size:
                    value = out.emit(f"trunc {vector} {value} to {narrow}")
                out.store(narrow, value, bases[size], place + turn * self.lanes * size)

    def _cut(self, out: LlvmLines, part: PortPart, value: str) -> str:
        """Return part of wide words, converted from cells if needed."""
        vector = f"<{self.lanes} x {self.kind}>"
        if self.sample != "i32" and part.port.code.kind == "gray":
            half = out.emit(f"lshr {vector} {value}, {splat(self.kind, self.lanes, 1)}")
            value = out.emit(f"xor {vector} {value}, {half}")
        if part.shift:
            value = out.emit(f"lshr {vector} {value}, {splat(self.kind, self.lanes, part.shift)}")
        return value

    def _words(self, out: LlvmLines) -> str:
        """Return the code of samples that are words."""
        rows = self._rows(
            out, 16, 4, 0, lambda first: out.load("<16 x i32>", "%from", first * BYTES["i32"])
        )
        self._store(out, rows, signed=False)
        return ""

    def _coarsely(self, out: LlvmLines) -> str:
        """Code by floats; return whether a value is in doubt."""
        lanes, real, kind = 2 * LANES, "<16 x float>", "<16 x i32>"
        phases = self.width // math.gcd(self.width, lanes)
        largest, range_ = [""] * phases, [""] * phases

        def of(first: int, kind: str, value: Callable[[Coarse], float], unused: float) -> str:
            return self._of(first, kind, lambda code: value(_sure(coarse(code))), unused, lanes)

        def words(first: int) -> str:
            value = out.load(real, "%from", first * BYTES["float"])
            factor = of(first, "float", lambda c: c.factor, 0.0)
            added = of(first, "float", lambda c: c.added, 1.0)
            value = out.emit(
                f"call {real} @llvm.fma.v16f32({real} {value}, {real} {factor}, {real} {added})"
            )
            word = out.emit(f"bitcast {real} {value} to {kind}")
            base = of(first, "i32", lambda c: (150 - c.places) << 23, 127 << 23)
            changed = out.emit(f"xor {kind} {word}, {base}")
            by = of(first, "i32", lambda c: 32 - c.places, 0)
            turned = out.emit(
                f"call {kind} @llvm.fshl.v16i32({kind} {word}, {kind} {word}, {kind} {by})"
            )
            phase = first // lanes % phases
            if largest[phase]:
                changed = out.emit(f"or {kind} {changed}, {range_[phase]}")
                beyond = out.emit(f"icmp ugt {kind} {turned}, {largest[phase]}")
                largest[phase] = out.emit(
                    f"select <16 x i1> {beyond}, {kind} {turned}, {kind} {largest[phase]}"
                )
            else:
                largest[phase] = turned
            range_[phase] = changed
            return turned

        rows = self._rows(out, lanes, 4, 0, words)
        self._store(out, rows, signed=False)
        tests = []
        for phase in range(phases):
            ends = of(
                phase * lanes, "i32", lambda c: (1 << 32) - (c.doubt << 32 - c.places) - 1,
                (1 << 32) - 1,
            )  # fmt: skip
            tests.append(out.emit(f"icmp ugt {kind} {largest[phase]}, {ends}"))
            upper = out.emit(f"icmp ugt {kind} {range_[phase]}, {splat('i32', lanes, 0x7FFFFF)}")
            tests.append(upper)
        return _any(out, tests)

    def _finely(self, out: LlvmLines) -> str:
        """Code by doubles; return whether a value is in doubt."""
        phases = self.width // math.gcd(self.width, LANES)
        largest, smallest = [""] * phases, [""] * phases
        kind = "<16 x i32>"

        def words(first: int) -> str:
            value = self._loaded(out, first)
            factor = self._of(first, "double", lambda code: _sure(fine(code))[0], 0.0)
            added = self._of(first, "double", lambda code: _sure(fine(code))[1], float(LARGE))
            if self.machine.has_fused:
                value = out.emit(
                    f"call {D} @llvm.fma.v8f64({D} {value}, {D} {factor}, {D} {added})"
                )
            else:
                value = out.emit(f"fadd {D} {out.emit(f'fmul {D} {value}, {factor}')}, {added}")
            word = out.emit(f"bitcast {D} {value} to {kind}")
            phase = first // LANES % phases
            for ends, test in ((largest, "ugt"), (smallest, "ult")):
                if not ends[phase]:
                    ends[phase] = word
                    continue
                beyond = out.emit(f"icmp {test} {kind} {word}, {ends[phase]}")
                ends[phase] = out.emit(
                    f"select <16 x i1> {beyond}, {kind} {word}, {kind} {ends[phase]}"
                )
            return word

        rows = self._rows(out, LANES, 8, 4, words)
        self._store(out, rows, signed=True)
        doubts = []
        for phase in range(phases):
            halves = [
                self.codes[c].cells // 2 if c in self.codes else 1
                for c in ((phase * LANES + k) % self.width for k in range(LANES))
            ]
            places = (1 << 32) - 1 - MARGIN
            above = [x for half in halves for x in (places, LARGE_HIGH + half - 1)]
            below = [x for half in halves for x in (0, LARGE_HIGH - half)]
            for test, word, ends in (("ugt", largest, above), ("ult", smallest, below)):
                doubts.append(
                    out.emit(f"icmp {test} {kind} {word[phase]}, {vector_of('i32', ends)}")
                )
        return _any(out, doubts)

    def _wrapped(self, out: LlvmLines, first: int, scaled: str) -> str:
        """Return cells of angles reduced to one turn, exactly."""
        top = self._of(first, "double", lambda code: float(code.cells), 1.0)
        wraps = self._of(first, "i1", lambda code: int(code.wraps), 0)
        turns = out.emit(f"call {D} @llvm.floor.v8f64({D} {out.emit(f'fdiv {D} {scaled}, {top}')})")
        inside = out.emit(f"fsub {D} {scaled}, {out.emit(f'fmul {D} {turns}, {top}')}")
        return out.emit(f"select <8 x i1> {wraps}, {D} {inside}, {D} {scaled}")

    def _careful(self, out: LlvmLines) -> str:
        """Code as `Code.cell` does; count values out of range, flag values that are not finite."""
        outside: list[str] = []
        bad: list[str] = []
        rows = self._rows(out, LANES, 4, 0, lambda first: self._cells(out, first, outside, bad))
        self._store(out, rows, signed=False)
        for counter, marks in ((OUTSIDE, outside), (BAD, bad)):
            total = ""
            for mark in marks:
                one = out.emit(f"zext <8 x i1> {mark} to <8 x i64>")
                total = out.emit(f"add <8 x i64> {total}, {one}") if total else one
            amount = out.emit(f"call i64 @llvm.vector.reduce.add.v8i64(<8 x i64> {total})")
            out.add_to(counter, amount)
        return ""

    def _cells(self, out: LlvmLines, first: int, outside: list[str], bad: list[str]) -> str:
        """Return the cells of eight numbers of the rows."""
        value = self._loaded(out, first)
        used = self._of(first, "i1", lambda _: 1, 0)
        low = self._of(first, "double", lambda code: code.low, 0.0)
        step = self._of(first, "double", lambda code: code.step, 1.0)
        top = self._of(first, "double", lambda code: float(code.cells), 1.0)
        limit = self._of(first, "double", lambda code: code.maximum + TIE, 1.0)
        last = self._of(first, "i32", lambda code: code.cells - 1, 0)
        zero = splat("double", LANES, 0.0)
        nan = out.emit(f"fsub {D} {value}, {value}")
        here = out.emit(f"fcmp uno {D} {nan}, {nan}")
        bad.append(out.emit(f"and <8 x i1> {here}, {used}"))
        wraps = any(code.wraps for code in self.codes.values())
        if wraps:
            far = self._of(first, "double", farthest, math.inf)
            size = out.emit(f"call {D} @llvm.fabs.v8f64({D} {value})")
            here = out.emit(f"fcmp ogt {D} {size}, {far}")
            bad.append(out.emit(f"and <8 x i1> {here}, {used}"))
        scaled = out.emit(f"fdiv {D} {out.emit(f'fsub {D} {value}, {low}')}, {step}")
        if wraps:
            scaled = self._wrapped(out, first, scaled)
        under = out.emit(f"fcmp olt {D} {scaled}, {splat('double', LANES, -TIE)}")
        over = out.emit(f"fcmp ogt {D} {scaled}, {limit}")
        beyond = out.emit(f"or <8 x i1> {under}, {over}")
        outside.append(out.emit(f"and <8 x i1> {beyond}, {used}"))
        above = out.emit(f"fcmp ogt {D} {scaled}, {zero}")  # false for NaN
        scaled = out.emit(f"select <8 x i1> {above}, {D} {scaled}, {D} {zero}")
        below = out.emit(f"fcmp olt {D} {scaled}, {top}")
        scaled = out.emit(f"select <8 x i1> {below}, {D} {scaled}, {D} {top}")
        raised = out.emit(f"fadd {D} {scaled}, {splat('double', LANES, TIE)}")
        cell = out.emit(f"fptosi {D} {raised} to <8 x i32>")
        if wraps:
            ones = self._of(first, "i32", lambda code: code.cells - 1 if code.wraps else -1, -1)
            cell = out.emit(f"and <8 x i32> {cell}, {ones}")
        inside = out.emit(f"icmp ult <8 x i32> {cell}, {last}")
        return out.emit(f"select <8 x i1> {inside}, <8 x i32> {cell}, <8 x i32> {last}")


def farthest(code: Code) -> float:
    return MOST_TURNS * (code.range.high - code.range.low) if code.wraps else math.inf


def _any(out: LlvmLines, tests: Sequence[str]) -> str:
    """Return whether any lane of vectors of sixteen marks is set."""
    total = tests[0]
    for one in tests[1:]:
        total = out.emit(f"or <16 x i1> {total}, {one}")
    return out.emit(f"icmp ne i16 {out.emit(f'bitcast <16 x i1> {total} to i16')}, 0")


def _sure(found: Found | None) -> Found:
    assert found is not None  # noqa: S101  # checked by `functions`
    return found


# --------------------------------------------------------------------------------------------------
# Planes of results to values and code words:
#
#     void write(i8* from, F* values, i32* words, i64 groups, i8* mask, i64* counts)
#     void decode(i8* codes, i64 group, F* values, i32* words)
#     void mark(i64 samples, i8* to)
#
# `write` processes up to a block of samples, in groups of 64 rows of all results. It transposes the
# planes into columns of signed codes (`planes.offsets`) and these into rows, and computes the
# centres of cells, bit for bit as `Code.centre`. It counts the saturated results of samples in the
# plane `mask`; `mark` makes such a plane for a block's first samples.
# --------------------------------------------------------------------------------------------------

WRITTEN_LANES = 16  # numbers written at a time


@dataclass(frozen=True, slots=True)
class CodeColumn:
    """A result and the places of its codes: two columns, the upper first, above 16 bits."""

    code: Code
    places: tuple[int, ...]


def write_functions(
    results: Sequence[Result], layout: PlaneLayout, real: Sample, machine: Processor
) -> str:
    """Return `write` and the functions that it calls."""
    parts: list[Result] = []
    counts = []
    for result in results:
        natural = replace(result.code, kind="natural")
        above = natural.bits - planes.MOST_TRANSPOSED
        halves = [replace(result, code=natural)]
        if above > 0:
            low = replace(natural, bits=planes.MOST_TRANSPOSED)
            halves = [
                replace(result, code=replace(natural, bits=above)),
                replace(result, code=low, first=result.first + above),
            ]
        parts += halves
        counts.append(len(halves))
    places = planes.offsets([part.code for part in parts], layout.width)
    at = iter(places)
    columns = [
        CodeColumn(result.code, tuple(next(at) for _ in range(count)))
        for result, count in zip(results, counts, strict=True)
    ]
    affine = planes.uses_affine(layout, machine)
    return "\n".join(
        [
            planes.to_codes_function(parts, layout, affine=affine),
            decode_function(columns, real),
            _write_function(results, layout, places[-1], real),
        ]
    )


def _write_function(results: Sequence[Result], layout: PlaneLayout, size: int, real: Sample) -> str:
    out = LlvmLines()
    kind = plane_type(layout.width)
    mask = out.load(kind, "%mask", 0)
    total = ""
    for result in results:
        marks = out.load(kind, "%from", layout.offset(result.saturated))
        kept = out.emit(f"and {kind} {marks}, {mask}")
        ones = out.emit(f"call {kind} {planes.population(layout.width)}({kind} {kept})")
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
    """Return `decode`, which makes rows of 64 samples from columns of codes."""
    out = LlvmLines()
    count = len(columns)
    bits = max(column.code.bits for column in columns)
    size = 4 if bits > planes.MOST_TRANSPOSED else planes.code_bytes(bits)
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
    return out.function("decode(ptr %codes, i64 %group, ptr %values, ptr %words)")


def _cells(out: LlvmLines, column: CodeColumn, size: int) -> list[str]:
    """Return the cells of 64 samples as vectors of numbers of `size` bytes."""
    lanes, bits = VECTOR // size, column.code.bits
    above = max(0, bits - planes.MOST_TRANSPOSED)
    widths = [above, planes.MOST_TRANSPOSED] if above else [bits]
    found = []
    for turn in range(size):
        total = ""
        for place, width in zip(column.places, widths, strict=True):
            own = planes.code_bytes(width)
            kind, widened = f"<{lanes} x i{8 * own}>", f"<{lanes} x i{8 * size}>"
            group = out.emit(f"mul i64 %group, {GROUP * own}")
            base = out.emit(f"getelementptr i8, ptr %codes, i64 {group}")
            value = out.load(kind, base, place + turn * lanes * own)
            half = splat(f"i{8 * own}", lanes, 1 << width - 1)
            value = out.emit(f"add {kind} {value}, {half}")
            if own < size:
                value = out.emit(f"zext {kind} {value} to {widened}")
            if total:
                upper = out.emit(f"shl {widened} {total}, {splat('i32', lanes, 16)}")
                value = out.emit(f"or {widened} {upper}, {value}")
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
    """Return sixteen numbers of a row, widened to 32 bits."""
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
    """Tell whether cell * step + the first centre is exact in the type of the results."""
    if code.bits > planes.MOST_TRANSPOSED:
        return False
    kind = np.dtype(np.float32 if real == "float" else np.float64)
    exact = np.array([code.step, float(code.centre(0))])
    step, low = exact.astype(kind)
    if (exact.astype(kind) != exact).any():
        return False
    cells = np.arange(code.cells)
    found = cells.astype(kind) * step + low
    return bool((found == code.centre(cells).astype(kind)).all())


def mark_function(layout: PlaneLayout, *, affine: bool) -> str:
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
    return out.function("mark(i64 %samples, ptr %to)")


def reductions(width: int) -> list[str]:
    """Return declarations of reductions."""
    kinds = sorted({width // 64, 8} - {1})
    return [f"declare i64 @llvm.vector.reduce.add.v{k}i64(<{k} x i64>)" for k in kinds]
