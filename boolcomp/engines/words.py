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

import ctypes
import re
from dataclasses import replace
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from boolcomp.base.errors import UsageError
from boolcomp.codes import TIE
from boolcomp.engines import coding, llvm, planes, words_emit, words_lower
from boolcomp.engines.coding import BAD, CLIPPED, OUTSIDE, farthest, parts_of
from boolcomp.engines.engine import SLACK, Evaluation, not_codable, pool
from boolcomp.engines.llvm import BYTES, GROUP, LlvmLines, vector_of
from boolcomp.engines.native import Codes, code_type
from boolcomp.engines.planes import ATTRIBUTES
from boolcomp.engines.words_emit import LANES, Emission, declarations
from boolcomp.engines.words_lower import Loads, Permutes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from numpy.typing import ArrayLike, NDArray

    from boolcomp.codes import Code
    from boolcomp.engines.engine import Batch, Port, Result, Wiring
    from boolcomp.engines.llvm import Processor, Sample
    from boolcomp.engines.words_lower import Straightened, Tables


# --------------------------------------------------------------------------------------------------
# One sample at a time in LLVM's language: values to cells, the words, cells to values.
# --------------------------------------------------------------------------------------------------


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


# --------------------------------------------------------------------------------------------------
# 64 samples side by side in LLVM's language, group after group.
#
#     void columns(i8** in, i8** out, i64 groups, i64 mask, i64* counts)
#     void rows(T* a0, T* a1, .., i64 groups, F* values, i32* words, i64* counts)
#
# `columns` takes and gives columns of signed codes, as `native.codes` does; `mask` marks the
# samples that count where one saturates. `rows` puts what samples come as into columns and makes
# values of columns, by the functions of the llvm engine, whose transposition to planes is not
# needed.
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
    code: Straightened,
    tables: Tables,
    given: Callable[[int], str],
    made: Callable[[int], str],
) -> None:
    """Write what a group of samples takes; `given` and `made` return where its columns are."""
    cells = []
    for k, port in enumerate(wiring.ports):
        width = 8 * planes.code_bytes(port.code.bits)
        cells.append((out.load(f"<{LANES} x i{width}>", given(k), 0), width))
    emission = Emission(out, code, cells, tables, LANES)
    total = ""
    for k, (one, result) in enumerate(zip(code.outputs, wiring.results, strict=True)):
        width = 8 * planes.code_bytes(result.code.bits)
        out.store(f"<{LANES} x i{width}>", emission.at(one.cell, width), made(k), 0)
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


def columns_module(wiring: Wiring, code: Straightened, tables: Tables) -> str:
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
    """Return the bytes of a code of all columns in and out."""
    given = [planes.code_bytes(port.code.bits) for port in wiring.ports]
    made = [planes.code_bytes(result.code.bits) for result in wiring.results]
    return ("in", given), ("out", made)


def rows_module(
    wiring: Wiring, code: Straightened, tables: Tables, sample: Sample, machine: Processor
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
    """Tell whether all words are columns of codes."""
    codes = [port.code for port in wiring.ports] + [result.code for result in wiring.results]
    return max(code.bits for code in codes) <= MOST_BITS


# --------------------------------------------------------------------------------------------------
# What code costs: its operations, counted in its text.
# --------------------------------------------------------------------------------------------------


A_LOOP = 64 * 6  # a look-up of 64 lanes one by one
_TYPE = re.compile(r"<(\d+) x i(\d+)>")
_FREE = ("bitcast", "getelementptr", "zext i1", "or i64 0")


def operations(lines: Iterable[str], machine: Processor) -> int:
    """Return how many operations a function's body takes: of lanes, as many as registers."""
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
# One state at a time: checked, put in code, run and decoded by one call of native code.
#
# A call from Python costs more than all of the arithmetic, so little is done besides: arrays that
# are just right are copied to where the code reads them, and what is anything but right (another
# type or shape, NaN, an angle too many turns away) is left to the usual way, which says what is
# wrong.
# --------------------------------------------------------------------------------------------------


_MASK = (1 << COUNT_BITS) - 1
_DOUBLE = np.dtype(np.float64)


class _Room:
    """Where one call reads and writes; threads have one each."""

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


class States:
    """Evaluates single states: an array for each group, or a number for one that is lone."""

    def __init__(self, engine: WordEngine) -> None:
        self.engine, self.wiring = engine, engine.wiring
        self._shapes = tuple(() if g.lone else (g.size,) for g in self.wiring.groups)
        single = len(self.wiring.results) == 1 and not any(self._shapes)
        self._made: tuple[int, ...] = () if single else (len(self.wiring.results),)
        self._rooms: list[_Room] = []

    def __call__(self, arrays: Sequence[ArrayLike]) -> Evaluation | None:
        """Return the results; nothing where the usual way must have a look."""
        try:  # at once: another thread may take the last one
            room = self._rooms.pop()
        except IndexError:
            room = _Room(self.wiring, self._made)
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
        """The native code; it keeps Python's lock, which to give up costs more than the call."""
        address = ctypes.c_void_p
        kind = ctypes.PYFUNCTYPE(ctypes.c_uint64, address, address, address)
        return kind(self.engine.code_of_state.address("state"))


def _plain(given: Any, shape: tuple[int, ...]) -> bool:
    """Tell whether something is as many of Python's own numbers as a shape says."""
    if not shape:
        return type(given) is float
    if type(given) not in (list, tuple) or len(given) != shape[0]:
        return False
    return all(type(one) is float for one in given)


# --------------------------------------------------------------------------------------------------
# The words engine: native code of a word graph.
# --------------------------------------------------------------------------------------------------


LEAST_GROUPS = 64  # that are worth a thread
_POINTER, _WHOLE = ctypes.c_void_p, ctypes.c_int64
_SAMPLES: dict[np.dtype[Any], Sample] = {
    np.dtype(np.float64): "double",
    np.dtype(np.float32): "float",
    np.dtype(np.uint32): "i32",
}


class WordEngine:
    """Runs the word graph of a wiring: single samples as scalar code, groups of 64 in lanes."""

    name = "words"

    def __init__(
        self, wiring: Wiring, threads: int = 1, processor: llvm.Processor | None = None
    ) -> None:
        if wiring.logic is None:
            raise UsageError(
                "engine 'words' needs a word graph, and this program has none (paper mode has "
                "product terms, --approximate cones and free logic that is no graph's): use engine "
                "'llvm'"
            )
        if threads < 1:
            raise UsageError(f"{threads} threads: at least one is needed")
        self.wiring, self.logic, self.threads = wiring, wiring.logic, threads
        self.machine = processor or llvm.host()
        self._kept: list[llvm.NativeCode] = []
        self._singles: dict[Sample, Callable[..., None]] = {}
        self._groups: dict[Sample, Callable[..., None]] = {}

    @cached_property
    def single(self) -> Straightened:
        """The code of one sample."""
        return words_lower.single(self.wiring, self.logic)

    @cached_property
    def wide(self) -> Straightened:
        """The code of many samples side by side."""
        return words_lower.lowered(self.wiring, self.logic, words_lower.LANES)

    def run(self, batch: Batch) -> Evaluation:
        """Return the results of a batch: whole groups in lanes, the rest one by one."""
        shape = (batch.samples, len(self.wiring.results))
        values = np.empty(shape, np.float32 if batch.dtype == np.float32 else np.float64)
        words = np.empty(shape, np.uint32)
        counts = np.zeros(3, np.int64)
        sample = _SAMPLES[batch.dtype]
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
        """Run whole groups, as many parts of them as there are threads side by side."""
        run = self.rows(batch.dtype)  # made once, not by every thread

        def work(start: int, end: int) -> NDArray[np.int64]:
            rows = slice(start * GROUP, end * GROUP)
            own = np.zeros(3, np.int64)
            arrays = [x[rows].ctypes.data for x in batch.arrays]
            ends = (values[rows].ctypes.data, words[rows].ctypes.data, own.ctypes.data)
            run(*arrays, end - start, *ends)
            return own

        parts = max(1, min(self.threads, groups // LEAST_GROUPS))
        cuts = [groups * k // parts for k in range(parts + 1)]
        others = [pool(self.threads - 1).submit(work, *cut) for cut in pairwise(cuts[1:])]
        counts += work(cuts[0], cuts[1])
        for job in others:
            counts += job.result()

    def run_codes(
        self, columns: Sequence[NDArray[Any]], out: Sequence[NDArray[Any]] | None = None
    ) -> Codes:
        """Return outputs as signed codes, one column each, as the llvm engine's `run_codes`."""
        kinds = [code_type(port.code.bits) for port in self.wiring.ports]
        given = [np.ascontiguousarray(x, kind) for x, kind in zip(columns, kinds, strict=True)]
        samples = len(given[0])
        made = list(out) if out is not None else [
            np.empty(samples, code_type(result.code.bits)) for result in self.wiring.results
        ]  # fmt: skip
        counts = np.zeros(3, np.int64)
        groups, rest = divmod(samples, GROUP)
        if groups:
            self.columns(pointers(given), pointers(made), groups, -1, counts.ctypes.data)
        if rest:
            few = [np.zeros(GROUP, x.dtype) for x in given]
            for padded, x in zip(few, given, strict=True):
                padded[:rest] = x[samples - rest :]
            last = [np.empty(GROUP, x.dtype) for x in made]
            mask = (1 << rest) - 1
            self.columns(pointers(few), pointers(last), 1, mask, counts.ctypes.data)
            for x, padded in zip(made, last, strict=True):
                x[samples - rest :] = padded[:rest]
        return Codes(tuple(made), int(counts[CLIPPED]))

    @cached_property
    def columns(self) -> Callable[..., None]:
        """The loop over groups of columns (see `lanes`)."""
        tables = self._tables()
        text = columns_module(self.wiring, self.wide, tables)
        return self._function(text, "columns", _POINTER, _POINTER, _WHOLE, _WHOLE, _POINTER)

    def _tables(self) -> Permutes | Loads:
        kind = Permutes if self.machine.has_permutes else Loads
        return kind(self.wide, "table")

    def rows(self, dtype: np.dtype[Any]) -> Callable[..., None]:
        """Return the loop over groups of rows of a type (see `lanes`)."""
        sample = _SAMPLES[dtype]
        if sample not in self._groups:
            text = rows_module(self.wiring, self.wide, self._tables(), sample, self.machine)
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
        lines = [
            *words_emit.declarations(1),
            *DECLARATIONS,
            *tables.texts(),
            *functions,
        ]
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
    def state(self) -> States:
        """What evaluates one state, the fastest from Python."""
        return States(self)

    @cached_property
    def costs(self) -> tuple[int, int]:
        """The operations of one sample, and those of a group of them in lanes."""
        out = SingleLines()
        cells = [f"%c{k}" for k in range(len(self.wiring.ports))]
        made_lines(out, self.single, Loads(self.single, "table"), cells)
        one = operations(out.lines, self.machine)
        if not fits(self.wiring):
            return one, one * GROUP
        wide = LlvmLines()
        group_lines(
            wide, self.wiring, self.wide, self._tables(), lambda k: f"%i{k}", lambda k: f"%o{k}"
        )
        return one, operations(wide.lines, self.machine)

    def _loop(self, text: str, name: str) -> Callable[..., None]:
        arrays = (_POINTER,) * len(self.wiring.groups)
        return self._function(text, name, *arrays, _WHOLE, *(_POINTER,) * 3)

    def _function(self, text: str, name: str, *arguments: Any) -> Callable[..., None]:
        code = llvm.NativeCode(text, self.machine, near=True)
        self._kept.append(code)
        found: Callable[..., None] = code.function(name, *arguments)
        return found


def pointers(columns: Sequence[NDArray[Any]]) -> Any:
    """Return where columns are, as C takes it."""
    return (ctypes.c_void_p * len(columns))(*(column.ctypes.data for column in columns))
