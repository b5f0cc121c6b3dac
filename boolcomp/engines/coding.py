"""Samples to codes and planes, as LLVM functions.

    void read(T* a0, T* a1, ..., i64 groups, i8* to, i64* counts)
    void code<k>(T* from, i8* codes, i64 group, i64* counts)

`read` turns up to a block of samples, in groups of 64 rows of every array, into planes: it
puts signed codes of each array into columns (`transpose.offsets`) and transposes these. `counts`
are values outside their range and a flag for NaN or infinity.

A word has the cell floor((x - low) / step + TIE), in doubles (`Code.cell`). `careful<k>` computes
just that. Before, others try to be fast, and have the next one do a group again where one value in
it is not beyond doubt: outside the range, as NaN and infinity are, or too close to a border.

`fine<k>` and `coarse<k>` take one multiplication and addition (`cells`).
"""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, TypeVar

from boolcomp.codes import MOST_TURNS, TIE
from boolcomp.engines.native import transpose
from boolcomp.engines.native.cells import LARGE, LARGE_HIGH, MARGIN, coarse, fine
from boolcomp.engines.native.columns import parts_of
from boolcomp.engines.native.lines import BYTES, GROUP, LlvmLines, splat, vector_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from boolcomp.codes import Code
    from boolcomp.engines.llvm import Processor
    from boolcomp.engines.native.cells import Coarse
    from boolcomp.engines.native.columns import PortPart
    from boolcomp.engines.native.lines import Sample
    from boolcomp.engines.native.logic import Layout
    from boolcomp.engines.wiring import Port

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
FEW = 1 / 4  # of the groups may be coded twice


def read_functions(
    ports: Sequence[Port], widths: Sequence[int], layout: Layout, sample: Sample, machine: Processor
) -> str:
    """Return `read` for arrays of rows so wide, and what it calls."""
    parts = parts_of(ports, sample)
    places = transpose.offsets([part.part.code for part in parts], layout.width)
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
    affine = transpose.uses_affine(layout, machine)
    texts.append(transpose.to_planes_function([p.part for p in parts], layout, affine=affine))
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
    """The functions that code 64 rows of one array; columns are with their places."""

    def __init__(
        self, array: int, columns: Sequence[tuple[PortPart, int]], width: int, sample: Sample,
        machine: Processor,
    ) -> None:  # fmt: skip
        self.array, self.columns, self.width, self.sample = array, columns, width, sample
        self.machine = machine
        self.codes = {part.port.column: part.port.code for part, _ in columns}
        most = max(code.bits for code in self.codes.values())
        self.size = 4 if most > transpose.MOST_TRANSPOSED else transpose.code_bytes(most)
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
        """Return a function; where its body's last value is true, another does all again."""
        out = LlvmLines()
        odd = body(out)
        if again:
            arguments = "ptr %from, ptr %codes, i64 %group, ptr %counts"
            call = f"call void @{again}{self.array}({arguments})"
            out.lines += [
                f"br i1 {odd}, label %again, label %done", "again:", call, "br label %done", "done:"
            ]  # fmt: skip
        arguments = "ptr %from, ptr %codes, i64 %group, ptr %counts"
        head = f"define internal void @{name}{self.array}({arguments}) #0 {{"
        return "\n".join([head, *out.lines, "ret void", "}"])

    def _of(
        self, first: int, kind: str, value: Callable[[Code], float], unused: float,
        lanes: int = LANES,
    ) -> str:  # fmt: skip
        """Return a constant for some numbers of the rows."""
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

        `words(first)` gives `count` of them as a vector of 32-bit numbers, each `width` bytes wide,
        in whose bytes from `at` on the number is.
        """
        lanes = count * width // self.size
        wide = f"<{count * width // 4} x i32>"
        rows = []
        for first in range(0, GROUP * self.width, self.lanes):
            found = [words(first + k) for k in range(0, self.lanes, count)]
            if self.size < 4:
                found = [out.emit(f"bitcast {wide} {x} to <{lanes} x {self.kind}>") for x in found]
            places = [
                (k // count, (k % count * width + at) // self.size) for k in range(self.lanes)
            ]
            rows.append(out.gathered(found, lanes, self.kind, places))
        return rows

    def _store(self, out: LlvmLines, rows: Sequence[str], *, signed: bool) -> None:
        """Store columns of the rows; what is not signed becomes it by its leading bit."""
        vector = f"<{self.lanes} x {self.kind}>"
        bases = {
            size: out.emit(
                f"getelementptr i8, ptr %codes, i64 {out.emit(f'mul i64 %group, {GROUP * size}')}"
            )
            for size in (1, 2)
        }
        for part, place in self.columns:
            size = transpose.code_bytes(part.part.code.bits)
            for turn in range(self.size):
                samples = range(turn * self.lanes, (turn + 1) * self.lanes)
                places = [divmod(s * self.width + part.port.column, self.lanes) for s in samples]
                value = out.gathered(rows, self.lanes, self.kind, places)
                if part.wide:
                    value = self._cut(out, part, value)
                if part.wide or not signed:
                    half = splat(self.kind, self.lanes, part.part.code.cells // 2)
                    value = out.emit(f"xor {vector} {value}, {half}")
                narrow = f"<{self.lanes} x i{8 * size}>"
                if size < self.size:
                    value = out.emit(f"trunc {vector} {value} to {narrow}")
                out.store(narrow, value, bases[size], place + turn * self.lanes * size)

    def _cut(self, out: LlvmLines, part: PortPart, value: str) -> str:
        """Return part of wide words, of which those that come as cells are made first."""
        vector = f"<{self.lanes} x {self.kind}>"
        if self.sample != "i32" and part.port.code.kind == "gray":
            half = out.emit(f"lshr {vector} {value}, {splat(self.kind, self.lanes, 1)}")
            value = out.emit(f"xor {vector} {value}, {half}")
        if part.shift:
            value = out.emit(f"lshr {vector} {value}, {splat(self.kind, self.lanes, part.shift)}")
        return value

    def _words(self, out: LlvmLines) -> str:
        """Take words as they are."""
        rows = self._rows(
            out, 16, 4, 0, lambda first: out.load("<16 x i32>", "%from", first * BYTES["i32"])
        )
        self._store(out, rows, signed=False)
        return ""

    def _coarsely(self, out: LlvmLines) -> str:
        """Code by floats; return whether one is in doubt."""
        lanes, real, kind = 2 * LANES, "<16 x float>", "<16 x i32>"
        phases = self.width // math.gcd(self.width, lanes)
        most, range_ = [""] * phases, [""] * phases

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
            if most[phase]:
                changed = out.emit(f"or {kind} {changed}, {range_[phase]}")
                beyond = out.emit(f"icmp ugt {kind} {turned}, {most[phase]}")
                most[phase] = out.emit(
                    f"select <16 x i1> {beyond}, {kind} {turned}, {kind} {most[phase]}"
                )
            else:
                most[phase] = turned
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
            tests.append(out.emit(f"icmp ugt {kind} {most[phase]}, {ends}"))
            upper = out.emit(f"icmp ugt {kind} {range_[phase]}, {splat('i32', lanes, 0x7FFFFF)}")
            tests.append(upper)
        return _any(out, tests)

    def _finely(self, out: LlvmLines) -> str:
        """Code by doubles; return whether one is in doubt."""
        phases = self.width // math.gcd(self.width, LANES)
        most, least = [""] * phases, [""] * phases
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
            for ends, test in ((most, "ugt"), (least, "ult")):
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
        wrong = []
        for phase in range(phases):
            halves = [
                self.codes[c].cells // 2 if c in self.codes else 1
                for c in ((phase * LANES + k) % self.width for k in range(LANES))
            ]
            places = (1 << 32) - 1 - MARGIN
            above = [x for half in halves for x in (places, LARGE_HIGH + half - 1)]
            below = [x for half in halves for x in (0, LARGE_HIGH - half)]
            for test, word, ends in (("ugt", most, above), ("ult", least, below)):
                wrong.append(
                    out.emit(f"icmp {test} {kind} {word[phase]}, {vector_of('i32', ends)}")
                )
        return _any(out, wrong)

    def _wrapped(self, out: LlvmLines, first: int, scaled: str) -> str:
        """Return cells of angles brought into a turn: less all whole turns below them, exactly."""
        top = self._of(first, "double", lambda code: float(code.cells), 1.0)
        wraps = self._of(first, "i1", lambda code: int(code.wraps), 0)
        turns = out.emit(f"call {D} @llvm.floor.v8f64({D} {out.emit(f'fdiv {D} {scaled}, {top}')})")
        inside = out.emit(f"fsub {D} {scaled}, {out.emit(f'fmul {D} {turns}, {top}')}")
        return out.emit(f"select <8 x i1> {wraps}, {D} {inside}, {D} {scaled}")

    def _careful(self, out: LlvmLines) -> str:
        """Code as `Code.cell` does; count what is outside, note what is not finite."""
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
        most = self._of(first, "double", lambda code: code.most + TIE, 1.0)
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
        over = out.emit(f"fcmp ogt {D} {scaled}, {most}")
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
    """Return how far off an angle may be that wraps."""
    return MOST_TURNS * (code.range.high - code.range.low) if code.wraps else math.inf


def _any(out: LlvmLines, tests: Sequence[str]) -> str:
    """Return whether any lane of vectors of sixteen marks is set."""
    total = tests[0]
    for one in tests[1:]:
        total = out.emit(f"or <16 x i1> {total}, {one}")
    return out.emit(f"icmp ne i16 {out.emit(f'bitcast <16 x i1> {total} to i16')}, 0")


def _sure(found: Found | None) -> Found:
    assert found is not None  # noqa: S101  # `functions` has asked
    return found
