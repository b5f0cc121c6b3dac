"""Verilog-2005 at the level of words: sums, products and case tables, in stages if wanted.

All operands of a sum have its width: nothing is extended or cut off but where it says so.
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
KEPT = "(* keep *) "


class VerilogWords:
    """Prints the lines of a module's body."""

    def __init__(self, words: Words) -> None:
        self.words, self.spans = words, words.spans

    def body(self) -> Iterator[str]:
        """Yield the lines between the ports and the end."""
        for one in self.words.registers:
            yield f"    reg {_span(one.low, one.bits)}{one.name};"
        for signal in self.words.signals:
            yield ""
            yield from (f"    // {line}" for line in signal.about)
            yield from self.signal(signal)
        yield ""
        if self.words.idle:  # what linters are told is left out on purpose
            bits = ", ".join(self.wires(wire) for wire in self.words.idle)
            yield f"    wire unused = &{{1'b0, {bits}}};"

    def held(self) -> Iterator[tuple[str, str]]:
        """Yield registers and what they take."""
        for one in self.words.registers:
            yield one.name, self.wires(Wires(one.source, one.low, one.bits))

    def ends(self) -> Iterator[str]:
        """Yield what outputs are."""
        for pin, word in zip(self.words.outputs, self.words.drives, strict=True):
            yield f"    assign {pin.name} = {self.word(word)};"

    def signal(self, signal: Signal) -> Iterator[str]:
        """Yield how a signal is made."""
        span = _span(signal.low, signal.bits)
        operation = signal.operation
        if isinstance(operation, Table):
            yield f"    reg {span}{signal.name};"
            yield "    always @*"
            yield f"        case ({self.word(operation.index)})"
            yield from self.entries(signal, operation)
            yield "        endcase"
        elif isinstance(operation, Sum):
            if signal.kept:  # no attribute may stand before an assignment
                yield f"    {KEPT}wire {span}{signal.name};"
            yield f"    {'assign ' if signal.kept else f'wire {span}'}{signal.name} ="
            yield "\n".join(self.sum(operation)) + ";"
        elif isinstance(operation, Product):
            a, b = (self.odd(word) for word in (operation.a, operation.b))
            yield f"    wire signed {span}{signal.name} = {a} * {b};"
        else:
            yield f"    wire {span}{signal.name} = {self.plain(operation)};"

    def entries(self, signal: Signal, table: Table) -> Iterator[str]:
        """Yield the entries of a table."""
        bits = width(table.index)
        digits, last = len(str(len(table.entries) - 1)), len(table.entries) - 1
        texts = [
            f"{f'{bits}' + chr(39) + f'd{k:<{digits}}' if k < last else 'default'}: "
            f"{signal.name} = {signal.bits}'d{entry};"
            for k, entry in enumerate(table.entries)
        ]
        for first in range(0, len(texts), ROW):
            yield f"            {' '.join(texts[first : first + ROW])}"

    def sum(self, operation: Sum) -> Iterator[str]:
        """Yield the lines of a sum."""
        sign = "  "
        for addend in operation.addends:
            yield f"        {sign}{self.addend(addend, operation.bits)}"
            sign = "+ "
        if operation.constant:
            yield f"        {sign}{operation.bits}'d{operation.constant}"

    def addend(self, addend: Addend, bits: int) -> str:
        """Return an addend in its place."""
        wide = width(addend.word)
        texts = [f"{n}'b0" for n in (bits - wide - addend.column,) if n]
        texts.append(self.flipped(addend.word, addend.flips))
        texts += [f"{n}'b0" for n in (addend.column,) if n]
        if len(texts) > 1:
            return f"{{{', '.join(texts)}}}"
        return f"({texts[0]})" if addend.flips else texts[0]

    def flipped(self, word: Word, flips: Sequence[Wires]) -> str:
        """Return a word whose bits are inverted where flips are odd."""
        if not flips:
            return self.word(word)
        wide = width(word)
        by = " ^ ".join(self.wires(wire) for wire in flips)
        by = by if wide == 1 else f"{{{wide}{{{by}}}}}"
        if all(isinstance(piece, Wires) and piece.inverted for piece in word):
            return f"{by} ~^ {self.word(inverse(word))}"
        return f"{by} ^ {self.word(word)}"

    def plain(self, operation: Operation) -> str:
        """Return what is written in a line."""
        if isinstance(operation, Flipped):
            return self.flipped(operation.word, operation.flips)
        if isinstance(operation, Different):
            return f"{self.word(operation.a)} ^ {self.word(operation.b)}"
        if isinstance(operation, Test):
            return f"{'&' if operation.of == 'all' else '|'}{self.word(operation.word)}"
        if isinstance(operation, Choice):
            then, otherwise = self.word(operation.then), self.word(operation.otherwise)
            return f"{self.wires(operation.condition)} ? {then} : {otherwise}"
        raise TypeError(f"no line: {operation}")

    def odd(self, word: Word) -> str:
        """Return a word's odd number: twice the word, less all ones."""
        top = width(word) - 1
        inner = joined([Fixed(1, 1), *cut(word, 0, top), *inverse(cut(word, top, 1))])
        return f"$signed({self.word(inner)})"

    def word(self, word: Word) -> str:
        """Return a word as text, in braces where it has several pieces."""
        texts = [self.piece(piece) for piece in reversed(word)]
        return texts[0] if len(texts) == 1 else f"{{{', '.join(texts)}}}"

    def piece(self, piece: Piece) -> str:
        """Return bits of one signal, or constants."""
        if isinstance(piece, Fixed):
            return (
                f"{piece.bits}'b{piece.value:0{piece.bits}b}" if piece.value else f"{piece.bits}'b0"
            )
        return self.wires(piece)

    def wires(self, wire: Wires) -> str:
        """Return bits of a signal."""
        low, bits = self.spans[wire.name]
        text = wire.name
        if bits > 1 and wire.bits == 1:
            text += f"[{wire.low}]"
        elif (wire.low, wire.bits) != (low, bits):
            text += f"[{wire.low + wire.bits - 1}:{wire.low}]"
        return f"~{text}" if wire.inverted else text


def _span(low: int, bits: int) -> str:
    return "" if bits == 1 else f"[{low + bits - 1}:{low}] "
