"""Look-ups of the words engine: loads for one sample; for 64 permutes of registers, or 64 loads.

One instruction permutes a register of 64 bytes or a pair; larger tables have several, selected by
the upper bits of the index. Short tables are repeated, so that bits of an index above their own do
not matter. Entries of more than 8 bits are permuted byte by byte.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from boolcomp.engines.llvm import LlvmLines, splat, vector_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from boolcomp.engines.words import Emission
    from boolcomp.words.operations import BitField, IntOp, IntOps

REGISTER, PAIR = 6, 7  # bits of the index of one permute
BYTES = "<64 x i8>"
_ONE = "@llvm.x86.avx512.permvar.qi.512"
_TWO = "@llvm.x86.avx512.vpermi2var.qi.512"


class LookupTables(Protocol):
    """The look-ups of entries."""

    def begin(self, out: LlvmLines) -> None:
        """Write the code before all look-ups of a function."""

    def entry(self, emission: Emission, op: IntOp, width: int) -> str:
        """Return entries of `width` bits."""

    def texts(self) -> list[str]:
        """Return the text outside of functions."""


def table_width(entries: Sequence[int]) -> int:
    """Return the bits of the numbers of a table in memory."""
    low, high = min(entries), max(entries)
    return next(w for w in (8, 16, 32, 64) if -1 << w - 1 <= low and high < 1 << w - 1)


class Loads:
    """Looks up entries by loads, those of many lanes one after the other.

    All tables are adjacent, so that one register holds the address of all.
    """

    def __init__(self, code: IntOps, name: str) -> None:
        self.code, self.name = code, name
        self.widths = [table_width(entries) for entries in code.tables]
        self.places: list[int] = []
        size = 0
        for entries, width in zip(code.tables, self.widths, strict=True):
            size += -size % (width // 8)
            self.places.append(size)
            size += len(entries) * width // 8
        self.size = size
        self._called: set[tuple[int, int]] = set()

    def begin(self, out: LlvmLines) -> None:
        out.do(f'%tables = call ptr asm "", "=r,0"(ptr @{self.name})')

    def entry(self, emission: Emission, op: IntOp, width: int) -> str:
        """Return entries of `width` bits."""
        bits = sum(field.bits for field in op.fields)
        own, out = self.widths[op.table], emission.out
        kind = emission.kind(own)
        if emission.lanes == 1:
            index = self._index(emission, op)
            first = out.at("%tables", self.places[op.table])
            place = out.emit(f"getelementptr i{own}, ptr {first}, i64 {index}")
            entry = out.emit(f"load i{own}, ptr {place}, align {own // 8}")
        else:
            index_width = next(w for w in (8, 16, 32) if w >= bits)
            index = joined(emission, op.fields, index_width)
            self._called.add((op.table, index_width))
            entry = out.emit(
                f"call {kind} @{self.name}{op.table}_by_{index_width}"
                f"({emission.kind(index_width)} {index})"
            )
        how = f"{'sext' if width > own else 'trunc'} {kind} {entry} to"
        return entry if own == width else out.emit(f"{how} {emission.kind(width)}")

    def _index(self, emission: Emission, op: IntOp) -> str:
        out = emission.out
        names = [joined(emission, op.fields, 32)] if op.fields else []
        names += [emission.at(part, 32) for part in op.parts]
        index = names[0]
        for name in names[1:]:
            index = out.emit(f"add nuw nsw i32 {index}, {name}")
        return out.emit(f"zext i32 {index} to i64")

    def texts(self) -> list[str]:
        """Return the tables, and functions that look up lanes."""
        content = bytearray(self.size)
        for place, entries, width in zip(self.places, self.code.tables, self.widths, strict=True):
            size = width // 8
            for k, entry in enumerate(entries):
                here = place + k * size
                content[here : here + size] = entry.to_bytes(size, "little", signed=True)
        text = "".join(f"\\{byte:02X}" for byte in content) or "\\00"
        count = max(1, self.size)
        found = [f'@{self.name} = private constant [{count} x i8] c"{text}", align 64']
        for table, width in sorted(self._called):
            own, place = self.widths[table], self.places[table]
            name = f"{self.name}{table}"
            found.append(_LOOP.format(name=name, own=own, width=width, all=self.name, at=place))
        return found


_LOOP = """\
define internal <64 x i{own}> @{name}_by_{width}(<64 x i{width}> %index) #0 {{
entry:
  %from = alloca <64 x i{width}>, align 64
  %to = alloca <64 x i{own}>, align 64
  store <64 x i{width}> %index, ptr %from, align 64
  br label %loop
loop:
  %k = phi i64 [ 0, %entry ], [ %next, %loop ]
  %p = getelementptr i{width}, ptr %from, i64 %k
  %i = load i{width}, ptr %p
  %wide = zext i{width} %i to i64
  %first = getelementptr i8, ptr @{all}, i64 {at}
  %place = getelementptr i{own}, ptr %first, i64 %wide
  %entry1 = load i{own}, ptr %place
  %q = getelementptr i{own}, ptr %to, i64 %k
  store i{own} %entry1, ptr %q
  %next = add i64 %k, 1
  %more = icmp ult i64 %next, 64
  br i1 %more, label %loop, label %done
done:
  %found = load <64 x i{own}>, ptr %to, align 64
  ret <64 x i{own}> %found
}}"""


class Permutes:
    """Looks up 64 entries by permutes; tables that are too large by loads."""

    most = 10  # bits of an index

    def __init__(self, code: IntOps, name: str) -> None:
        self.code = code
        self.loads = Loads(code, name)

    def begin(self, out: LlvmLines) -> None:
        """Do nothing: registers are constants where they are needed."""

    def entry(self, emission: Emission, op: IntOp, width: int) -> str:
        """Return entries of `width` bits."""
        bits = sum(field.bits for field in op.fields)
        if bits > self.most:
            return self.loads.entry(emission, op, width)
        entries = self.code.tables[op.table]
        own = min(width, table_width(entries))
        low = joined(emission, _first(op.fields, 8), 8, cut=bits <= PAIR)
        choices = _choices(emission, op.fields, bits, low)
        planes = [
            _permuted(emission, [entry >> 8 * k & 255 for entry in entries], low, choices)
            for k in range(own // 8)
        ]
        return _assembled(emission, planes, width)

    def texts(self) -> list[str]:
        """Return declarations, and tables in memory."""
        two = f"declare {BYTES} {_TWO}({BYTES}, {BYTES}, {BYTES})"
        return [f"declare {BYTES} {_ONE}({BYTES}, {BYTES})", two, *self.loads.texts()]


def joined(emission: Emission, fields: Sequence[BitField], width: int, *, cut: bool = False) -> str:
    """Return an index of a number of bits; with `cut` the bits above are arbitrary."""
    out = emission.out
    whole, place = "", 0
    for turn, field in enumerate(fields):
        own = emission.reaching(field.of, field.drop + field.bits)
        name = emission.at(field.of, own)
        kind = emission.kind(own)
        if (
            field.drop and own == 8 and emission.lanes > 1
        ):  # by pairs: the bits shifted in are cut off
            pairs = out.emit(f"bitcast {kind} {name} to <{emission.lanes // 2} x i16>")
            by = splat("i16", emission.lanes // 2, field.drop)
            pairs = out.emit(f"lshr <{emission.lanes // 2} x i16> {pairs}, {by}")
            name = out.emit(f"bitcast <{emission.lanes // 2} x i16> {pairs} to {kind}")
        elif field.drop >= 8 and own == 16 and emission.lanes > 1 and width == 8:
            name, own = emission.octets(name, 1), 8
            kind = emission.kind(own)
            if field.drop > 8:
                name = out.emit(f"lshr {kind} {name}, {emission.number(own, field.drop - 8)}")
        elif field.drop:
            name = out.emit(f"lshr {kind} {name}, {emission.number(own, field.drop)}")
        kind = emission.kind(width)
        if emission.lanes > 1 and own == 16 and width == 8:
            name = emission.octets(name, 0)
        elif own != width:
            how = "zext" if width > own else "trunc"
            name = out.emit(f"{how} {emission.kind(own)} {name} to {kind}")
        last = turn == len(fields) - 1
        if not (last and (cut or place + field.bits == width)):
            mask = emission.number(width, (1 << field.bits) - 1)
            name = out.emit(f"and {kind} {name}, {mask}")
        if place:
            name = out.emit(f"shl {kind} {name}, {emission.number(width, place)}")
        whole = out.emit(f"or {kind} {whole}, {name}") if whole else name
        place += field.bits
    return whole


def _first(fields: Sequence[BitField], bits: int) -> list[BitField]:
    """Return the fields of the lowest bits of an index."""
    found = []
    for field in fields:
        if bits > 0:
            found.append(field._replace(bits=min(bits, field.bits)))
        bits -= field.bits
    return found


def _choices(emission: Emission, fields: Sequence[BitField], bits: int, low: str) -> list[str]:
    """Return masks of the index bits above those of a pair of registers."""
    out = emission.out
    places = [(f.of, f.drop + k) for f in fields for k in range(f.bits)]
    found = []
    for k in range(PAIR, bits):
        of, bit = places[k]
        if k == 7:  # the sign of the index
            zero = splat("i8", 64, 0)
            found.append(out.emit(f"icmp slt {BYTES} {low}, {zero}"))
            continue
        width = emission.reaching(of, bit + 1)
        kind = emission.kind(width)
        one = out.emit(f"and {kind} {emission.at(of, width)}, {emission.number(width, 1 << bit)}")
        found.append(out.emit(f"icmp ne {kind} {one}, {emission.number(width, 0)}"))
    return found


def _permuted(
    emission: Emission, entries: Sequence[int], index: str, choices: Sequence[str]
) -> str:
    """Return bytes of a table."""
    out = emission.out
    if len(entries) <= 1 << REGISTER:
        register = vector_of("i8", list(entries) * ((1 << REGISTER) // len(entries)))
        return out.emit(f"call {BYTES} {_ONE}({BYTES} {register}, {BYTES} {index})")
    if len(entries) == 1 << PAIR:
        first, second = vector_of("i8", entries[:64]), vector_of("i8", entries[64:])
        operands = f"{BYTES} {first}, {BYTES} {index}, {BYTES} {second}"
        return out.emit(f"call {BYTES} {_TWO}({operands})")
    half = len(entries) // 2
    if entries[:half] == entries[half:]:
        return _permuted(emission, entries[:half], index, choices[:-1])
    below = _permuted(emission, entries[:half], index, choices[:-1])
    above = _permuted(emission, entries[half:], index, choices[:-1])
    return out.emit(f"select <64 x i1> {choices[-1]}, {BYTES} {above}, {BYTES} {below}")


def _assembled(emission: Emission, planes: Sequence[str], width: int) -> str:
    """Return numbers of bytes, the lowest first; the highest has the sign."""
    out, kind = emission.out, emission.kind(width)
    if len(planes) == 2:  # interleave the bytes by two permutes
        places = ", ".join(f"i32 {k // 2 + emission.lanes * (k % 2)}" for k in range(128))
        pair = f"{BYTES} {planes[0]}, {BYTES} {planes[1]}"
        whole = out.emit(f"shufflevector {pair}, <128 x i32> <{places}>")
        whole = out.emit(f"bitcast <128 x i8> {whole} to <64 x i16>")
        return whole if width == 16 else out.emit(f"sext <64 x i16> {whole} to {kind}")
    whole = ""
    for k, plane in enumerate(planes):
        how = "sext" if k == len(planes) - 1 else "zext"
        if width == 8:
            return plane
        wide = out.emit(f"{how} {BYTES} {plane} to {kind}")
        if k:
            wide = out.emit(f"shl {kind} {wide}, {emission.number(width, 8 * k)}")
        whole = out.emit(f"or {kind} {whole}, {wide}") if whole else wide
    return whole
