"""One sample at a time in LLVM's language: values to cells, the words, cells to values.

    i64 sample(T* g0, T* g1, .., F* values, i32* words)      all values as they come in rows
    i64 state(double* given, double* values, i32* words)     groups one after the other
    i64 cells(i32* given, i32* made)                         cells less their middles
    void samples(T* a0, T* a1, .., i64 count, F* values, i32* words, i64* counts)

What is returned are counts of 16 bits each (`COUNTS`): values outside their range, such as are no
numbers, results that saturated, and values beyond stops, which only `state` asks for. Its words are
in their codes; those of all others are cells. Cells are those of `Code.cell`, values those of
`Code.centre`, bit for bit.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from boolcomp.codes import TIE
from boolcomp.engines.coding import farthest
from boolcomp.engines.engine import SLACK
from boolcomp.engines.native.lines import BYTES, LlvmLines, vector_of
from boolcomp.engines.words_emit import Emission

if TYPE_CHECKING:
    from collections.abc import Sequence

    from boolcomp.codes import Code
    from boolcomp.engines.native.lines import Sample
    from boolcomp.engines.wiring import Port, Result, Wiring
    from boolcomp.engines.wordwise.tables import Loads
    from boolcomp.engines.wordwise.values import Straightened

SEEN_OUTSIDE, SEEN_BAD, SEEN_CLIPPED, SEEN_BEYOND = range(4)
COUNT_BITS = 16
DECLARATIONS = [
    "declare double @llvm.floor.f64(double)",
    "declare double @llvm.fabs.f64(double)",
    "attributes #1 = { nounwind }",
]


class SingleLines(LlvmLines):
    """A function's body that counts."""

    def __init__(self) -> None:
        super().__init__()
        self.total = "0"

    def count(self, mark: str, counter: int) -> None:
        """Add one to a count where something is true."""
        one = self.emit(f"zext i1 {mark} to i64")
        if counter:
            one = self.emit(f"shl i64 {one}, {COUNT_BITS * counter}")
        self.total = one if self.total == "0" else self.emit(f"add i64 {self.total}, {one}")


def real(value: float) -> str:
    """Return a constant of a double."""
    return vector_of("double", [value])[1:-1].split()[1]


def cell_lines(out: SingleLines, value: str, code: Code, first: int) -> str:
    """Return the cell of a double less its middle; count what is wrong with it."""
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
        over = out.emit(f"fcmp ogt double {scaled}, {real(code.most + TIE)}")
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


def _loaded(out: SingleLines, port: Port, base: str, column: int, sample: Sample) -> str:
    """Return the cell of a port, less its middle."""
    value = out.load(sample, base, column * BYTES[sample])
    if sample == "i32":
        return out.emit(f"sub i32 {value}, {_signed(port.code.cells >> 1)}")
    if sample == "float":
        value = out.emit(f"fpext float {value} to double")
    return cell_lines(out, value, port.code, port.given.first)


def made_lines(
    out: SingleLines, code: Straightened, tables: Loads, cells: Sequence[str]
) -> list[str]:
    """Return the cells of results, less their middles; count what saturated."""
    emission = Emission(out, code, [(cell, 32) for cell in cells], tables, 1)
    found = []
    for made in code.outputs:
        found.append(emission.at(made.cell, 32))
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
    """Store values and words."""
    for place, (result, cell) in enumerate(zip(results, made, strict=True)):
        code = result.code
        whole = out.emit(f"add i32 {cell}, {_signed(code.cells >> 1)}")
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


def _signed(value: int) -> int:
    return value - (1 << 32) if value >> 31 else value


def _word(out: SingleLines, cell: str, code: Code) -> str:
    """Return a word of a code."""
    half = code.cells >> 1
    if code.kind == "gray":
        return out.emit(f"xor i32 {cell}, {out.emit(f'lshr i32 {cell}, 1')}")
    if code.kind == "twos":
        return out.emit(f"xor i32 {cell}, {_signed(half)}")
    if code.kind == "natural":
        return cell
    below = out.emit(f"sub i32 {half - (not code.tread)}, {cell}")
    small = out.emit(f"icmp ult i32 {below}, {half - 1}")
    below = out.emit(f"select i1 {small}, i32 {below}, i32 {half - 1}")
    below = out.emit(f"or i32 {below}, {_signed(half)}")
    above = out.emit(f"sub i32 {cell}, {_signed(half)}")
    positive = out.emit(f"icmp uge i32 {cell}, {_signed(half)}")
    return out.emit(f"select i1 {positive}, i32 {above}, i32 {below}")


def sample_function(
    wiring: Wiring, code: Straightened, tables: Loads, sample: Sample, real_kind: str
) -> str:
    """Return `sample`."""
    out = SingleLines()
    cells = [_loaded(out, p, f"%g{p.array}", p.column, sample) for p in wiring.ports]
    made = made_lines(out, code, tables, cells)
    _stored(out, wiring.results, made, real_kind, coded=False)
    groups = "".join(f"ptr %g{k}, " for k in range(len(wiring.groups)))
    head = f"define internal i64 @sample({groups}ptr %values, ptr %words) #1 {{"
    return "\n".join([head, *out.lines, f"ret i64 {out.total}", "}"])


def state_function(wiring: Wiring, code: Straightened, tables: Loads) -> str:
    """Return `state`: everything that evaluating one state asks for, checks too."""
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


def cells_function(wiring: Wiring, code: Straightened, tables: Loads) -> str:
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
