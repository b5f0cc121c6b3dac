"""VHDL-93 at the level of words: sums, products and selected tables, in stages if wanted.

Words are `unsigned`, bits `std_logic`. What VHDL-93 has no operators for are functions at the head.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from boolcomp.targets.rtl import Choice, Different, Flipped, Product, Sum, Table, Test
from boolcomp.targets.wires import Fixed, Wires, cut, inverse, joined, width

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from boolcomp.targets.rtl import Addend, Operation, Signal, Words
    from boolcomp.targets.wires import Piece, Word

ROW = 4  # entries of a table in a line
LARGEST = 1 << 31  # above the integers that VHDL promises
FUNCTIONS = """\
    -- a word or bit in a place of so many bits
    function place(x : unsigned; column, bits : natural) return unsigned is
    begin
        return shift_left(resize(x, bits), column);
    end place;
    function place(x : std_logic; column, bits : natural) return unsigned is
        variable made : unsigned(bits - 1 downto 0) := (others => '0');
    begin
        made(column) := x;
        return made;
    end place;
    -- a word, all its bits inverted where a bit is 1
    function flip(x : unsigned; by : std_logic) return unsigned is
        variable made : unsigned(x'range);
    begin
        for k in x'range loop
            made(k) := x(k) xor by;
        end loop;
        return made;
    end flip;
    -- whether any bit of a word is 1
    function some(x : unsigned) return std_logic is
        variable made : std_logic := '0';
    begin
        for k in x'range loop
            made := made or x(k);
        end loop;
        return made;
    end some;
    -- whether every bit of a word is 1
    function every(x : unsigned) return std_logic is
    begin
        return not some(not x);
    end every;
"""


class VhdlWords:
    """Prints the declarations and statements of an architecture."""

    def __init__(self, words: Words) -> None:
        self.words, self.spans = words, words.spans
        self.pins = {pin.name for pin in words.inputs if pin.port.bits > 1}

    def declarations(self) -> Iterator[str]:
        """Yield the lines before `begin`."""
        yield from FUNCTIONS.rstrip().split("\n")
        for signal in self.words.signals:
            yield f"    signal {signal.name} : {_subtype(signal.low, signal.bits)};"
        for held in self.words.registers:
            yield f"    signal {held.name} : {_subtype(held.low, held.bits)};"
        kept = [signal.name for signal in self.words.signals if signal.kept]
        if kept:
            yield "    attribute keep : string;"
            yield from (f'    attribute keep of {name} : signal is "true";' for name in kept)

    def body(self) -> Iterator[str]:
        """Yield how signals are made."""
        for signal in self.words.signals:
            yield ""
            yield from (f"    -- {line}" for line in signal.about)
            yield from self.signal(signal)
        yield ""

    def held(self) -> Iterator[tuple[str, str]]:
        """Yield registers and what they take."""
        for one in self.words.registers:
            yield one.name, self.wires(Wires(one.source, one.low, one.bits))

    def ends(self) -> Iterator[str]:
        """Yield what outputs are."""
        for pin, word in zip(self.words.outputs, self.words.drives, strict=True):
            text = self.value(word)
            text = text if pin.port.bits == 1 else f"std_logic_vector({text})"
            yield f"    {pin.name} <= {text};"

    def signal(self, signal: Signal) -> Iterator[str]:
        """Yield how a signal is made."""
        operation = signal.operation
        if isinstance(operation, Table):
            (index,) = operation.index
            yield f"    with {self.piece(index, raw=True)} select {signal.name} <="
            yield from self.entries(signal, operation)
        elif isinstance(operation, Sum):
            yield f"    {signal.name} <="
            yield "\n".join(self.sum(operation)) + ";"
        elif isinstance(operation, Product):
            a, b = (self.odd(word) for word in (operation.a, operation.b))
            yield f"    {signal.name} <= unsigned({a} * {b});"
        else:
            yield f"    {signal.name} <= {self.plain(operation)};"

    def entries(self, signal: Signal, table: Table) -> Iterator[str]:
        """Yield the entries of a table."""
        bits = width(table.index)
        last = len(table.entries) - 1
        texts = [
            f"{_literal(entry, signal.bits)} when {_literal(k, bits) if k < last else 'others'}"
            for k, entry in enumerate(table.entries)
        ]
        for first in range(0, len(texts), ROW):
            ending = ";" if first + ROW > last else ","
            yield f"        {', '.join(texts[first : first + ROW])}{ending}"

    def sum(self, operation: Sum) -> Iterator[str]:
        """Yield the lines of a sum."""
        sign = "  "
        for addend in operation.addends:
            yield f"        {sign}{self.addend(addend, operation.bits)}"
            sign = "+ "
        if operation.constant:
            known = _literal(operation.constant, operation.bits)
            if operation.constant < LARGEST:
                known = f"to_unsigned({operation.constant}, {operation.bits})"
            yield f"        {sign}{known}"

    def addend(self, addend: Addend, bits: int) -> str:
        """Return an addend in its place."""
        text = self.flipped(addend.word, addend.flips)
        if (addend.column, width(addend.word)) == (0, bits):
            return f"({text})" if text.startswith("not ") else text
        return f"place({text}, {addend.column}, {bits})"

    def flipped(self, word: Word, flips: Sequence[Wires]) -> str:
        """Return a word whose bits are inverted where flips are odd."""
        if not flips:
            return self.value(word)
        by = " xor ".join(self.wires(wire, nested=True) for wire in flips)
        if width(word) == 1:
            return f"{self.value(word, nested=True)} xor {by}"
        if all(isinstance(piece, Wires) and piece.inverted for piece in word):
            return f"flip({self.value(inverse(word))}, not ({by}))"
        return f"flip({self.value(word)}, {by})"

    def plain(self, operation: Operation) -> str:
        """Return what is written in a line."""
        if isinstance(operation, Flipped):
            return self.flipped(operation.word, operation.flips)
        if isinstance(operation, Different):
            a, b = (self.value(x, nested=True) for x in (operation.a, operation.b))
            return f"{a} xor {b}"
        if isinstance(operation, Test):
            text = self.value(operation.word)
            name = "every" if operation.of == "all" else "some"
            return text if width(operation.word) == 1 else f"{name}({text})"
        if isinstance(operation, Choice):
            wire = operation.condition
            then, otherwise = self.value(operation.then), self.value(operation.otherwise)
            wanted = "'0'" if wire.inverted else "'1'"
            bit = self.wires(Wires(wire.name, wire.low, 1))
            return f"{then} when {bit} = {wanted} else {otherwise}"
        raise TypeError(f"no line: {operation}")

    def odd(self, word: Word) -> str:
        """Return a word's odd number: twice the word, less all ones."""
        top = width(word) - 1
        inner = joined([Fixed(1, 1), *cut(word, 0, top), *inverse(cut(word, top, 1))])
        return f"signed'(signed({self.value(inner)}))"

    def value(self, word: Word, *, nested: bool = False) -> str:
        """Return a word as text: of type std_logic where it has one bit, else unsigned."""
        if len(word) == 1:
            text = self.piece(word[0])
            return f"({text})" if nested and text.startswith("not ") else text
        texts = [self.piece(piece) for piece in reversed(word)]
        texts = [f"({text})" if text.startswith("not ") else text for text in texts]
        return f"unsigned'({' & '.join(texts)})"

    def piece(self, piece: Piece, *, raw: bool = False) -> str:
        """Return bits of one signal, or constants."""
        if isinstance(piece, Fixed):
            return _literal(piece.value, piece.bits)
        return self.wires(piece, raw=raw)

    def wires(self, wire: Wires, *, nested: bool = False, raw: bool = False) -> str:
        """Return bits of a signal; `raw` is without a change of its type."""
        low, bits = self.spans[wire.name]
        text = wire.name
        if bits > 1 and wire.bits == 1:
            text += f"({wire.low})"
        elif (wire.low, wire.bits) != (low, bits):
            text += f"({wire.low + wire.bits - 1} downto {wire.low})"
        if wire.name in self.pins and wire.bits > 1 and not raw:
            text = f"unsigned({text})"
        if not wire.inverted:
            return text
        return f"(not {text})" if nested else f"not {text}"


def _literal(value: int, bits: int) -> str:
    return f"'{value}'" if bits == 1 else f'"{value:0{bits}b}"'


def _subtype(low: int, bits: int) -> str:
    return "std_logic" if bits == 1 else f"unsigned({low + bits - 1} downto {low})"
