"""Columns of signed codes to bit-planes and back, a block at a time, as LLVM functions.

    void read(i8** columns, i64 block, i8* to)
    void write(i8* from, i8** columns, i64 block, i8* mask, i64* counts)
    void to_planes(i8* codes, i8* to)                  void to_codes(i8* from, i8* codes)

A code k of b bits stands for the cell k + 2^(b-1); it is an i8 up to eight bits, else an i16, and
only its lowest b bits count. `to_planes` and `to_codes` take the columns of one block from a
buffer, where they lie one after the other (`offsets`). How the samples of a block lie in its planes
is left to each width:

With 512 bits see `affine`, where a Gray bit is the parity of two bits of its code, at no cost.
Sample s is bit 7 - s % 8 of the byte that group s // 8 has there.

Otherwise eight vectors of codes, one byte each, are eight rows of bits, and three rounds of masked
exchanges transpose rows and bits, with and, xor and shifts alone. Sample s is bit s // n of byte
s % n, n = width / 8.
"""

from __future__ import annotations

from itertools import accumulate, pairwise
from typing import TYPE_CHECKING

from boolcomp.common.errors import UsageError
from boolcomp.engines.native.affine import (
    DECLARATION,
    VECTORS,
    V,
    bytes_of_planes,
    planes_of_bytes,
    shuffled,
    words_of_planes,
)
from boolcomp.engines.native.lines import GROUP, LlvmLines
from boolcomp.engines.native.logic import plane_type

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from boolcomp.codes import Code
    from boolcomp.engines.llvm import Processor
    from boolcomp.engines.native.logic import Layout
    from boolcomp.engines.wiring import Port, Result

MOST_TRANSPOSED = 16
BYTES = 64  # of a vector
W = "<64 x i16>"


def population(width: int) -> str:
    """Return the LLVM function that counts the ones in the 64-bit parts of a plane."""
    return "@llvm.ctpop.i64" if width == 64 else f"@llvm.ctpop.v{width // 64}i64"


def declarations(width: int, *, affine: bool) -> list[str]:
    """Return declarations of what the functions call."""
    kind = plane_type(width)
    lines = [f"declare {kind} {population(width)}({kind})"]
    return [*lines, DECLARATION] if affine else lines


def uses_affine(layout: Layout, machine: Processor) -> bool:
    """Tell which way the samples lie in planes of a layout."""
    return layout.width == 512 and machine.has_affine


def code_bytes(bits: int) -> int:
    """Return the bytes of a code of so many bits."""
    if bits > MOST_TRANSPOSED:
        raise UsageError(f"words of {bits} bits are more than the {MOST_TRANSPOSED} of a code")
    return 1 if bits <= 8 else 2


def _column(out: LlvmLines, place: int, size: int, samples: int) -> str:
    """Return where a block begins in a column."""
    base = out.emit(f"load ptr, ptr {out.at('%columns', 8 * place)}, align 8")
    offset = out.emit(f"mul i64 %block, {size * samples}")
    return out.emit(f"getelementptr i8, ptr {base}, i64 {offset}")


def offsets(codes: Sequence[Code], samples: int) -> list[int]:
    """Return where columns of so many codes begin in a buffer; last, the size of it."""
    return [0, *accumulate(code_bytes(code.bits) * samples for code in codes)]


def read_function(ports: Sequence[Port], layout: Layout, *, affine: bool) -> str:
    """Return the function that turns a block of codes into planes."""
    out = LlvmLines()
    for place, port in enumerate(ports):
        source = _column(out, place, code_bytes(port.code.bits), layout.width)
        _read(out, layout, port, source, affine=affine)
    head = "define internal void @read(ptr %columns, i64 %block, ptr %to) #0 {"
    return "\n".join([head, *out.lines, "ret void", "}"])


def to_planes_function(ports: Sequence[Port], layout: Layout, *, affine: bool) -> str:
    """Return the function that turns a buffer of codes into planes."""
    out = LlvmLines()
    places = offsets([port.code for port in ports], layout.width)
    for port, place in zip(ports, places, strict=False):
        _read(out, layout, port, out.at("%codes", place), affine=affine)
    head = "define internal void @to_planes(ptr %codes, ptr %to) #0 {"
    return "\n".join([head, *out.lines, "ret void", "}"])


def _read(out: LlvmLines, layout: Layout, port: Port, source: str, *, affine: bool) -> None:
    """Store the planes of a column."""
    store = _plane_store(out, layout, port.first)
    if not affine:
        _read_rows(out, port, source, layout.width, store)
    elif code_bytes(port.code.bits) == 1:
        vectors = [
            out.emit(f"load {V}, ptr {out.at(source, BYTES * r)}, align 1") for r in range(VECTORS)
        ]
        bits = port.code.bits
        gray = port.code.kind == "gray"
        masks = [(1 << b | (gray and b + 1 < bits) << b + 1) & 0xFF for b in range(bits)][::-1]
        _store_planes(out, planes_of_bytes(out, vectors, masks), min(bits, 2 if gray else 1), store)
    else:
        _read_wide(out, port, source, store)


def _plane_store(out: LlvmLines, layout: Layout, first: int) -> Callable[[int, str, str], None]:
    """Return what stores a plane: its place in the word, type and value."""

    def store(place: int, kind: str, value: str) -> None:
        out.do(f"store {kind} {value}, ptr {out.at('%to', layout.offset(first + place))}, align 8")

    return store


def _store_planes(
    out: LlvmLines, planes: Sequence[str], inverted: int, store: Callable[[int, str, str], None]
) -> None:
    """Store planes, of which the first so many are inverted."""
    for place, plane in enumerate(planes):
        ones = f"<{', '.join(['i8 -1'] * BYTES)}>"
        store(place, V, out.emit(f"xor {V} {plane}, {ones}") if place < inverted else plane)


def _words(out: LlvmLines, port: Port, source: str) -> str:
    """Return 64 code words from signed 16-bit codes."""
    bits = port.code.bits
    words = out.emit(f"load {W}, ptr {source}, align 1")
    words = out.emit(f"xor {W} {words}, {_repeated(1 << bits - 1)}")
    if port.code.kind == "gray":
        words = out.emit(f"and {W} {words}, {_repeated((1 << bits) - 1)}")
        half = out.emit(f"lshr {W} {words}, {_repeated(1)}")
        words = out.emit(f"xor {W} {words}, {half}")
    return words


def _repeated(value: int) -> str:
    signed = value - 65536 if value > 32767 else value
    return f"<{', '.join([f'i16 {signed}'] * GROUP)}>"


def _read_wide(
    out: LlvmLines, port: Port, source: str, store: Callable[[int, str, str], None]
) -> None:
    """Store the planes of codes of more than eight bits: those of their upper and lower bytes."""
    low, high = [], []
    for group in range(8):
        at = out.at(source, 2 * GROUP * group)
        if port.code.kind == "gray":
            words = _words(out, port, at)
            pair = [
                out.emit(f"bitcast <32 x i16> {shuffled(out, words, words, half, W)} to {V}")
                for half in (range(32), range(32, 64))
            ]
        else:
            pair = [out.emit(f"load {V}, ptr {out.at(at, BYTES * k)}, align 1") for k in (0, 1)]
        low.append(shuffled(out, pair[0], pair[1], range(0, 2 * BYTES, 2)))
        high.append(shuffled(out, pair[0], pair[1], range(1, 2 * BYTES, 2)))
    planes = [
        plane
        for vectors, bits in ((high, port.code.bits - 8), (low, 8))
        for plane in planes_of_bytes(out, vectors, [1 << b for b in reversed(range(bits))])
    ]
    inverted = port.code.kind != "gray"  # else `_words` has done it
    _store_planes(out, planes, int(inverted), store)


def _exchanged(out: LlvmLines, rows: Sequence[str], kind: str, lanes: int) -> list[str]:
    """Transpose the bits of eight vectors of bytes: bit p of row r becomes bit r of row p."""
    rows = list(rows)
    for shift, mask in ((4, 0x0F), (2, 0x33), (1, 0x55)):
        kept = _lanes(int.from_bytes(bytes([mask] * 8)), lanes)
        by = _lanes(shift, lanes)
        for r in (r for r in range(8) if not r & shift):
            moved = out.emit(f"lshr {kind} {rows[r]}, {by}")
            moved = out.emit(f"xor {kind} {moved}, {rows[r + shift]}")
            moved = out.emit(f"and {kind} {moved}, {kept}")
            rows[r + shift] = out.emit(f"xor {kind} {rows[r + shift]}, {moved}")
            moved = out.emit(f"shl {kind} {moved}, {by}")
            rows[r] = out.emit(f"xor {kind} {rows[r]}, {moved}")
    return rows


def _lanes(value: int, lanes: int) -> str:
    return str(value) if lanes == 1 else f"<{', '.join([f'i64 {value}'] * lanes)}>"


def _read_rows(
    out: LlvmLines, port: Port, source: str, width: int, store: Callable[[int, str, str], None]
) -> None:
    """Store the planes of a word, by exchanging bits."""
    bits, lanes = port.code.bits, width // 64
    kind, count = plane_type(width), width // 8
    size = code_bytes(bits)
    rows: list[list[str]] = [[] for _ in range(size)]
    for r in range(8):
        pointer = out.at(source, r * count * size)
        if size == 1:
            rows[0].append(out.emit(f"load {kind}, ptr {pointer}, align 1"))
            continue
        words = out.emit(f"load <{count} x i16>, ptr {pointer}, align 1")
        for byte in range(2):
            by = f"<{', '.join([f'i16 {8 * byte}'] * count)}>"
            shifted = out.emit(f"lshr <{count} x i16> {words}, {by}")
            narrow = out.emit(f"trunc <{count} x i16> {shifted} to <{count} x i8>")
            rows[byte].append(out.emit(f"bitcast <{count} x i8> {narrow} to {kind}"))
    planes = [plane for row in rows for plane in _exchanged(out, row, kind, lanes)][:bits]
    planes[-1] = out.emit(f"xor {kind} {planes[-1]}, {_lanes(-1, lanes)}")
    if port.code.kind == "gray":
        planes = [
            *(out.emit(f"xor {kind} {a}, {b}") for a, b in pairwise(planes)),
            planes[-1],
        ]
    for place, plane in enumerate(reversed(planes)):
        store(place, kind, plane)


def _write_rows(
    out: LlvmLines, layout: Layout, parts: Sequence[tuple[list[int], int]], target: str
) -> None:
    """Store the codes of a block, by exchanging bits."""
    lanes, count, size = layout.width // 64, layout.width // 8, len(parts)
    kind = plane_type(layout.width)
    found = []
    for planes, inverted in reversed(parts):
        rows = []
        for plane in reversed(planes):
            pointer = out.at("%from", layout.offset(plane))
            rows.append(out.emit(f"load {kind}, ptr {pointer}, align 8"))
        ones = _lanes(_signed(int.from_bytes(bytes([inverted] * 8)), 64), lanes)
        rows = _exchanged(out, rows, kind, lanes)
        found.append([out.emit(f"xor {kind} {row}, {ones}") for row in rows])
    for r in range(8):
        pointer = out.at(target, r * count * size)
        if size == 1:
            out.do(f"store {kind} {found[0][r]}, ptr {pointer}, align 1")
            continue
        low, high = (out.emit(f"bitcast {kind} {rows[r]} to <{count} x i8>") for rows in found)
        order = [k // 2 + count * (k % 2) for k in range(2 * count)]
        both = shuffled(out, low, high, order, f"<{count} x i8>")
        out.do(f"store <{2 * count} x i8> {both}, ptr {pointer}, align 1")


def _signed(value: int, bits: int) -> int:
    return value - (1 << bits) if value >> bits - 1 else value


def write_function(results: Sequence[Result], layout: Layout, *, affine: bool) -> str:
    """Return the function that turns result planes into codes and counts what saturated."""
    out = LlvmLines()
    for place, result in enumerate(results):
        target = _column(out, place, code_bytes(result.code.bits), layout.width)
        _write(out, layout, result, target, affine=affine)
        _count_saturated(out, layout, result)
    arguments = "ptr %from, ptr %columns, i64 %block, ptr %mask, ptr %count"
    head = f"define internal void @write({arguments}) #0 {{"
    return "\n".join([head, *out.lines, "ret void", "}"])


def to_codes_function(results: Sequence[Result], layout: Layout, *, affine: bool) -> str:
    """Return the function that turns result planes into a buffer of codes."""
    out = LlvmLines()
    places = offsets([result.code for result in results], layout.width)
    for result, place in zip(results, places, strict=False):
        _write(out, layout, result, out.at("%codes", place), affine=affine)
    head = "define internal void @to_codes(ptr %from, ptr %codes) #0 {"
    return "\n".join([head, *out.lines, "ret void", "}"])


def _write(out: LlvmLines, layout: Layout, result: Result, target: str, *, affine: bool) -> None:
    """Store a column of codes."""
    size = code_bytes(result.code.bits)
    if not affine:
        _write_rows(out, layout, _byte_planes(result, size), target)
        return
    parts = []
    for planes, inverted in _byte_planes(result, size):
        places = (out.at("%from", layout.offset(plane)) for plane in planes)
        parts.append(([out.emit(f"load {V}, ptr {place}, align 64") for place in places], inverted))
    vectors = (
        bytes_of_planes(out, *parts[0]) if size == 1 else words_of_planes(out, parts[1], parts[0])
    )
    for k, vector in enumerate(vectors):
        out.do(f"store {V} {vector}, ptr {out.at(target, BYTES * k)}, align 1")


def _count_saturated(out: LlvmLines, layout: Layout, result: Result) -> None:
    """Add up the marks, one count for every 64 bits of a plane."""
    kind = plane_type(layout.width)
    pointer = out.at("%from", layout.offset(result.saturated))
    marks = out.emit(f"load {kind}, ptr {pointer}, align 8")
    mask = out.emit(f"load {kind}, ptr %mask, align 8")
    kept = out.emit(f"and {kind} {marks}, {mask}")
    ones = out.emit(f"call {kind} {population(layout.width)}({kind} {kept})")
    before = out.emit(f"load {kind}, ptr %count, align 8")
    out.do(f"store {kind} {out.emit(f'add {kind} {before}, {ones}')}, ptr %count, align 8")


def _byte_planes(result: Result, size: int) -> list[tuple[list[int], int]]:
    """Return, for each byte of a code from the highest, its planes and the bits to be inverted.

    The sign is the inverse of the leading plane, and fills what a byte has above it.
    """
    bits = result.code.bits
    planes = [result.first + max(0, k - (8 * size - bits)) for k in range(8 * size)]
    sign = 8 * size - bits + 1  # leading bits that are the sign
    constant = ((1 << sign) - 1) << (8 * size - sign)
    return [(planes[8 * k : 8 * k + 8], constant >> 8 * (size - 1 - k) & 0xFF) for k in range(size)]
