"""64 samples side by side in LLVM's language, group after group.

    void columns(i8** in, i8** out, i64 groups, i64 mask, i64* counts)
    void rows(T* a0, T* a1, .., i64 groups, F* values, i32* words, i64* counts)

`columns` takes and gives columns of signed codes, as `native.codes` does; `mask` marks the samples
that count where one saturates. `rows` puts what samples come as into columns and makes values of
columns, by the functions of the llvm engine, whose transposition to planes is not needed.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from boolcomp.engines import coding
from boolcomp.engines.native import decoding, transpose
from boolcomp.engines.native.columns import parts_of
from boolcomp.engines.native.lines import BYTES, GROUP, LlvmLines
from boolcomp.engines.native.logic import ATTRIBUTES
from boolcomp.engines.words_emit import LANES, Emission, declarations

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from boolcomp.engines.llvm import Processor
    from boolcomp.engines.native.lines import Sample
    from boolcomp.engines.wiring import Wiring
    from boolcomp.engines.wordwise.tables import Tables
    from boolcomp.engines.wordwise.values import Straightened

MOST_BITS = transpose.MOST_TRANSPOSED
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
        width = 8 * transpose.code_bytes(port.code.bits)
        cells.append((out.load(f"<{LANES} x i{width}>", given(k), 0), width))
    emission = Emission(out, code, cells, tables, LANES)
    total = ""
    for k, (one, result) in enumerate(zip(code.outputs, wiring.results, strict=True)):
        width = 8 * transpose.code_bytes(result.code.bits)
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
    given = [transpose.code_bytes(port.code.bits) for port in wiring.ports]
    made = [transpose.code_bytes(result.code.bits) for result in wiring.results]
    return ("in", given), ("out", made)


def rows_module(
    wiring: Wiring, code: Straightened, tables: Tables, sample: Sample, machine: Processor
) -> str:
    """Return the module with `rows`."""
    real: Sample = "float" if sample == "float" else "double"
    parts = parts_of(wiring.ports, sample)
    at = transpose.offsets([part.part.code for part in parts], GROUP)
    natural = [replace(result.code, kind="natural") for result in wiring.results]
    made = transpose.offsets(natural, GROUP)
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
    cells = [decoding.CodeColumn(one, (place,)) for one, place in zip(natural, made, strict=False)]
    texts.append(decoding.decode_function(cells, real))
    arrays = "".join(f"ptr %a{k}, " for k in range(len(wiring.groups)))
    loop = _LOOP.replace("NAME", "rows").replace("HEAD", "\n".join(head))
    loop = loop.replace("ARGUMENTS", f"{arrays}i64 %groups, ptr %values, ptr %words, ptr %counts")
    loop = loop.replace("BODY", "\n".join(out.lines))
    lines = dict.fromkeys([
        *declarations(LANES), "declare i64 @llvm.ctpop.i64(i64)", *coding.DECLARATIONS,
        *decoding.reductions(64),
    ])  # fmt: skip
    return "\n".join([*lines, *tables.texts(), *texts, loop, ATTRIBUTES, ""])


def fits(wiring: Wiring) -> bool:
    """Tell whether all words are columns of codes."""
    codes = [port.code for port in wiring.ports] + [result.code for result in wiring.results]
    return max(code.bits for code in codes) <= MOST_BITS
