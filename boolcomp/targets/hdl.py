"""Verilog-2005 and VHDL-93, of gates, look-up tables or words, combinational or in stages.

VHDL words are `unsigned`, bits `std_logic`; functions at the head of an architecture replace
operators that VHDL-93 lacks.
"""

from __future__ import annotations

from functools import cache
from itertools import product
from typing import TYPE_CHECKING, Literal, NamedTuple, get_args

from boolcomp.logic import network
from boolcomp.logic.lutmapping import mapped
from boolcomp.logic.lutnetwork import entries
from boolcomp.targets.benches import cocotb_test, verilog_bench, vhdl_bench
from boolcomp.targets.gates import Gates, Syntax, gates_of, header
from boolcomp.targets.rtl import (
    BitwiseXor,
    Fixed,
    Flipped,
    OddProduct,
    Select,
    SignalSum,
    TableLookup,
    Test,
    Wires,
    cut,
    inverse,
    joined,
    width,
    words_of,
)
from boolcomp.targets.target import READING, VERILOG, VHDL, design_of, with_words

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from boolcomp.logic.lutmapping import Goal
    from boolcomp.logic.lutnetwork import Logic
    from boolcomp.program.program import Program
    from boolcomp.targets.gates import Framed, Pin
    from boolcomp.targets.rtl import Operation, Piece, Signal, SignalAddend, Word, Words
    from boolcomp.targets.target import Design, ExportOptions, Files

# --------------------------------------------------------------------------------------------------
# LUT3s as trees of AND, OR and XOR over inputs and their inverses. Every tree has the fewest
# operations, then the fewest inverses.
# --------------------------------------------------------------------------------------------------


class LutLeaf(NamedTuple):
    """An input (0, 1, 2), or its inverse."""

    place: int
    inverted: bool


Kind = Literal["and", "or", "xor"]
KINDS: tuple[Kind, ...] = get_args(Kind)


class TreeOperation(NamedTuple):
    """An operation on two trees."""

    kind: Kind
    left: Tree
    right: Tree


Tree = LutLeaf | TreeOperation


class Spelling(NamedTuple):
    """The operators of a language: `between` two operands, and the format of an `inverse`."""

    between: dict[Kind, str]
    inverse: str

    def write(self, lut: int, names: Sequence[str]) -> str:
        return self._text(trees()[lut], names, "")

    def _text(self, part: Tree, names: Sequence[str], outside: str) -> str:
        if isinstance(part, LutLeaf):
            name = names[part.place]
            return self.inverse.format(name) if part.inverted else name
        left, right = (self._text(one, names, part.kind) for one in part[1:])
        text = f"{left}{self.between[part.kind]}{right}"
        return text if outside in ("", part.kind) else f"({text})"


@cache
def trees() -> dict[int, Tree]:
    """Return the trees of all tables, by number of operations, then of inverted inputs."""
    found: dict[int, Tree] = {}
    inverted = dict.fromkeys(network.LETTERS, 0)
    for place, letter in enumerate(network.LETTERS):
        found[letter] = LutLeaf(place, inverted=False)
        found[~letter & network.ALL] = LutLeaf(place, inverted=True)
        inverted[~letter & network.ALL] = 1
    by_size = [list(found)]
    while len(found) < network.ALL - 1:
        new: dict[int, Tree] = {}
        for left, right in enumerate(reversed(range(len(by_size)))):
            for x, y in product(by_size[left], by_size[right]):
                signs = inverted[x] + inverted[y]
                for kind, lut in zip(KINDS, (x & y, x | y, x ^ y), strict=True):
                    fresh = lut not in found and 0 < lut < network.ALL
                    if fresh and signs < inverted.get(lut, 1 << 9):
                        new[lut] = TreeOperation(kind, found[x], found[y])
                        inverted[lut] = signs
        found |= new
        by_size.append(list(new))
    return found


# --------------------------------------------------------------------------------------------------
# A design's network as look-up tables. In Verilog a table is an instance with its entries as a
# constant. The instantiated module is plain Verilog, which a tool may optimise; with a macro it is
# the cell of an FPGA, so that tools keep the mapping.
# --------------------------------------------------------------------------------------------------


def mapping_of(design: Design, options: ExportOptions) -> tuple[Logic, tuple[str, ...]]:
    """Return the logic to write and comments on it (none for nodes).

    The mapping minimises levels for a pipeline, else the number of tables.
    """
    if not options.luts:
        return design.network, ()
    goal: Goal = "depth" if options.pipeline else "area"
    found = mapped(design.network, options.luts, goal, stages=max(1, options.pipeline))
    size = f"{len(found.luts.nodes)} look-up tables of at most {options.luts} inputs"
    lines = [f"mapped into {size}, {found.luts.depth} levels, by {found.method}"]
    if found.note:
        lines.append(found.note)
    return found.luts, tuple(lines)


LETTERS = "abcdef"
# Macro to the cell's number of inputs, name, parameter, output, inputs (least significant first).
CELLS = {
    "BOOLCOMP_ICE40": (4, "SB_LUT4", "LUT_INIT", "O", ("I0", "I1", "I2", "I3")),
    "BOOLCOMP_ECP5": (4, "LUT4", "INIT", "Z", ("A", "B", "C", "D")),
    "BOOLCOMP_XILINX": (6, "LUT6", "INIT", "O", ("I0", "I1", "I2", "I3", "I4", "I5")),
}


def table_name(gates: Gates, luts: int) -> str:
    return f"{gates.module}_lut{luts}"


def instances(gates: Gates, luts: int) -> Iterator[str]:
    """Yield instances of tables: the last entry and the first operand are in front."""
    name = table_name(gates, luts)
    size = 1 << luts
    for made, lut, operands in gates.lines:
        table = sum(bit << k for k, bit in enumerate(entries(lut, len(operands))))
        given = ["1'b0"] * (luts - len(operands)) + list(operands)
        yield f"    wire {made};"
        yield (
            f"    {name} #({size}'h{table:0{size // 4}x}) {made}_t ({made}, {', '.join(given)});"
        )


def table_module(gates: Gates, luts: int) -> Iterator[str]:
    """Yield the module of a table: an entry of its constant, or an FPGA's own cell."""
    letters = LETTERS[:luts]
    size = 1 << luts
    yield "/* verilator lint_off DECLFILENAME */"
    yield f"// with one of these macros the cell of an FPGA: {', '.join(_macros(luts))}"
    yield f"module {table_name(gates, luts)} ("
    yield "    output wire made,"
    yield from (f"    input wire {one}{',' * (one != letters[-1])}" for one in letters)
    yield ");"
    yield f"    parameter [{size - 1}:0] INIT = {size}'h0;"
    guard = "`ifdef"
    for macro in _macros(luts):
        inputs, cell, init, output, pins = CELLS[macro]
        given = [*["1'b0"] * (inputs - luts), *letters]
        wired = ", ".join(f".{pin}({x})" for pin, x in zip(pins, reversed(given), strict=True))
        wider = f"{{{(1 << inputs) - size}'h0, INIT}}" if inputs > luts else "INIT"
        yield f"{guard} {macro}"
        yield f"    {cell} #(.{init}({wider})) cell_ (.{output}(made), {wired});"
        guard = "`elsif"
    yield from (["`else"] if guard == "`elsif" else [])
    yield f"    assign made = INIT[{{{', '.join(letters)}}}];"
    yield from (["`endif"] if guard == "`elsif" else [])
    yield "endmodule"


def _macros(luts: int) -> list[str]:
    return [macro for macro, (inputs, *_) in CELLS.items() if inputs >= luts]


# --------------------------------------------------------------------------------------------------
# Verilog-2005 at the level of words. All operands of a sum have its width: no implicit extension or
# truncation.
# --------------------------------------------------------------------------------------------------

ROW = 4  # entries of a table per line
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
        if self.words.idle:  # linters report no unused bits
            bits = ", ".join(self.wires(wire) for wire in self.words.idle)
            yield f"    wire unused = &{{1'b0, {bits}}};"

    def ends(self) -> Iterator[str]:
        """Yield the assignments of outputs."""
        for pin, word in zip(self.words.outputs, self.words.drives, strict=True):
            yield f"    assign {pin.name} = {self.word(word)};"

    def signal(self, signal: Signal) -> Iterator[str]:
        """Yield the declaration and operation of a signal."""
        span = _span(signal.low, signal.bits)
        operation = signal.operation
        if isinstance(operation, TableLookup):
            yield f"    reg {span}{signal.name};"
            yield "    always @*"
            yield f"        case ({self.word(operation.index)})"
            yield from self.entries(signal, operation)
            yield "        endcase"
        elif isinstance(operation, SignalSum):
            if signal.kept:  # an assignment cannot have an attribute
                yield f"    {KEPT}wire {span}{signal.name};"
            yield f"    {'assign ' if signal.kept else f'wire {span}'}{signal.name} ="
            yield f"{self.sum(operation)};"
        elif isinstance(operation, OddProduct):
            a, b = (self.odd(word) for word in (operation.a, operation.b))
            yield f"    wire signed {span}{signal.name} = {a} * {b};"
        else:
            yield f"    wire {span}{signal.name} = {self.plain(operation)};"

    def entries(self, signal: Signal, table: TableLookup) -> Iterator[str]:
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

    def sum(self, operation: SignalSum) -> str:
        """Return the lines of a sum."""
        texts = [self.addend(addend, operation.bits) for addend in operation.addends]
        if operation.constant:
            texts.append(self.constant(operation.constant, operation.bits))
        return "\n".join(f"        {'+ ' if k else '  '}{text}" for k, text in enumerate(texts))

    def constant(self, value: int, bits: int) -> str:
        return f"{bits}'d{value}"

    def held(self) -> Iterator[tuple[str, str]]:
        """Yield registers and their inputs."""
        for one in self.words.registers:
            yield one.name, self.wires(Wires(one.source, one.low, one.bits))

    def addend(self, addend: SignalAddend, bits: int) -> str:
        """Return an addend shifted to its column."""
        padding = bits - width(addend.word) - addend.column
        texts = [f"{padding}'b0"] if padding else []
        texts.append(self.flipped(addend.word, addend.flips))
        texts += [f"{addend.column}'b0"] if addend.column else []
        if len(texts) > 1:
            return f"{{{', '.join(texts)}}}"
        return f"({texts[0]})" if addend.flips else texts[0]

    def flipped(self, word: Word, flips: Sequence[Wires]) -> str:
        """Return a word, inverted if the parity of `flips` is odd."""
        if not flips:
            return self.word(word)
        bits = width(word)
        by = " ^ ".join(self.wires(wire) for wire in flips)
        by = by if bits == 1 else f"{{{bits}{{{by}}}}}"
        if all(isinstance(piece, Wires) and piece.inverted for piece in word):
            return f"{by} ~^ {self.word(inverse(word))}"
        return f"{by} ^ {self.word(word)}"

    def plain(self, operation: Operation) -> str:
        """Return the expression of an operation that fits into one line."""
        if isinstance(operation, Flipped):
            return self.flipped(operation.word, operation.flips)
        if isinstance(operation, BitwiseXor):
            return f"{self.word(operation.a)} ^ {self.word(operation.b)}"
        if isinstance(operation, Test):
            return f"{'&' if operation.of == 'all' else '|'}{self.word(operation.word)}"
        if isinstance(operation, Select):
            then, otherwise = self.word(operation.then), self.word(operation.otherwise)
            return f"{self.wires(operation.condition)} ? {then} : {otherwise}"
        raise TypeError(f"no line: {operation}")

    def odd(self, word: Word) -> str:
        """Return the odd number of a word: twice the word, minus all ones."""
        top = width(word) - 1
        inner = joined([Fixed(1, 1), *cut(word, 0, top), *inverse(cut(word, top, 1))])
        return f"$signed({self.word(inner)})"

    def word(self, word: Word) -> str:
        """Return a word as text, in braces if it has several pieces."""
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


# --------------------------------------------------------------------------------------------------
# Verilog-2005 of gates or words: one port per word.
# --------------------------------------------------------------------------------------------------

VERILOG_SYNTAX = Syntax(VERILOG, "{}[{}]", ("1'b0", "1'b1"))
# Versions about 5.006 to 5.026 lose inversions in trees of XOR (Verilator issues 4059, 4837, 5186).
CAUTION = "with Verilator, simulate with -fno-const-bit-op-tree: else some versions are wrong"
VERILOG_SPELLING = Spelling({"and": " & ", "or": " | ", "xor": " ^ "}, "~{}")


def export_verilog(program: Program, load: float | None, options: ExportOptions) -> Files:
    """Return a program's module and, as options, its test benches."""
    design = design_of(program, load)
    frame: Framed
    if options.level == "words":
        frame = words = words_of(program, load, design, VERILOG_SYNTAX, options.pipeline)
        text = render_verilog_words(design, words)
    else:
        logic, notes = mapping_of(design, options)
        frame = gates = gates_of(design, VERILOG_SYNTAX, options.pipeline, logic)
        text = render_verilog(design, gates, options.luts, notes)
    files: Files = {f"{frame.module}.v": text}
    if options.test_bench:
        files[f"{frame.module}_tb.v"] = verilog_bench(program, load, frame)
    if options.cocotb:
        files[f"test_{frame.module}.py"] = cocotb_test(program, load, frame)
    return files


def render_verilog(design: Design, gates: Gates, luts: int = 0, notes: Sequence[str] = ()) -> str:
    """Return the text of a module, and of the module of its look-up tables."""
    lines = [f"// {line}" for line in [*notes, *header(design, gates), CAUTION]]
    lines += [
        f"module {gates.module} (",
        ",\n".join(f"    {port}" for port in _verilog_ports(gates)),
        ");",
    ]
    lines += [f"    reg {name};" for name, _ in gates.registers]
    lines += (
        instances(gates, luts)
        if luts
        else [
            f"    wire {name} = {VERILOG_SPELLING.write(lut, operands)};"
            for name, lut, operands in gates.lines
        ]
    )
    if gates.idle:  # linters report no unused bits
        lines.append(f"    wire unused = &{{1'b0, {', '.join(gates.idle)}}};")
    lines += _verilog_registers(gates.stages, gates.registers) if gates.stages else []
    for pin, drives in zip(gates.outputs, gates.drives, strict=True):
        bits = drives[0] if len(drives) == 1 else f"{{{', '.join(drives)}}}"
        lines.append(f"    assign {pin.name} = {bits};")
    lines.append("endmodule")
    return "\n".join([*lines, *(table_module(gates, luts) if luts else ())]) + "\n"


def render_verilog_words(design: Design, words: Words) -> str:
    """Return the text of a module of words."""
    printer = VerilogWords(words)
    lines = [f"// {line}" for line in [*header(with_words(design), words), READING, CAUTION]]
    lines += [
        f"module {words.module} (",
        ",\n".join(f"    {port}" for port in _verilog_ports(words)),
        ");",
    ]
    lines += printer.body()
    lines += _verilog_registers(words.stages, printer.held()) if words.stages else []
    lines += printer.ends()
    return "\n".join([*lines, "endmodule"]) + "\n"


def _verilog_ports(gates: Framed) -> Iterator[str]:
    if gates.stages:
        yield from ("input wire clock", "input wire enable", "input wire valid_in")
    for kind, pins in (("input", gates.inputs), ("output", gates.outputs)):
        for pin in pins:
            yield f"{kind} wire {pin_range(pin)}{pin.name}"
    if gates.stages:
        yield "output wire valid_out"


def pin_range(pin: Pin) -> str:
    return "" if pin.port.bits == 1 else f"[{pin.port.bits - 1}:0] "


def _verilog_registers(stages: int, registers: Iterable[tuple[str, str]]) -> list[str]:
    last = stages - 1
    shifted = "valid_in" if not last else f"{{valid[{last - 1}:0], valid_in}}"
    span = "" if not last else f"[{last}:0] "
    return [
        f"    reg {span}valid;",
        f"    initial valid = {stages}'b0;",
        "    always @(posedge clock)",
        "        if (enable) begin",
        f"            valid <= {shifted};",
        *(f"            {new} <= {old};" for new, old in registers),
        "        end",
        f"    assign valid_out = valid{f'[{last}]' if last else ''};",
    ]


# --------------------------------------------------------------------------------------------------
# VHDL-93 at the level of words.
# --------------------------------------------------------------------------------------------------

LARGEST = 1 << 31  # above the integers that VHDL guarantees
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


class VhdlWords(VerilogWords):
    """Prints the declarations and statements of an architecture."""

    def __init__(self, words: Words) -> None:
        super().__init__(words)
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
        """Yield the operations of signals."""
        for signal in self.words.signals:
            yield ""
            yield from (f"    -- {line}" for line in signal.about)
            yield from self.signal(signal)
        yield ""

    def ends(self) -> Iterator[str]:
        """Yield the assignments of outputs."""
        for pin, word in zip(self.words.outputs, self.words.drives, strict=True):
            text = self.value(word)
            text = text if pin.port.bits == 1 else f"std_logic_vector({text})"
            yield f"    {pin.name} <= {text};"

    def signal(self, signal: Signal) -> Iterator[str]:
        """Yield the assignment of a signal."""
        operation = signal.operation
        if isinstance(operation, TableLookup):
            (index,) = operation.index
            yield f"    with {self.piece(index, raw=True)} select {signal.name} <="
            yield from self.entries(signal, operation)
        elif isinstance(operation, SignalSum):
            yield f"    {signal.name} <="
            yield f"{self.sum(operation)};"
        elif isinstance(operation, OddProduct):
            a, b = (self.odd(word) for word in (operation.a, operation.b))
            yield f"    {signal.name} <= unsigned({a} * {b});"
        else:
            yield f"    {signal.name} <= {self.plain(operation)};"

    def entries(self, signal: Signal, table: TableLookup) -> Iterator[str]:
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

    def constant(self, value: int, bits: int) -> str:
        return f"to_unsigned({value}, {bits})" if value < LARGEST else _literal(value, bits)

    def addend(self, addend: SignalAddend, bits: int) -> str:
        """Return an addend shifted to its column."""
        text = self.flipped(addend.word, addend.flips)
        if (addend.column, width(addend.word)) == (0, bits):
            return f"({text})" if text.startswith("not ") else text
        return f"place({text}, {addend.column}, {bits})"

    def flipped(self, word: Word, flips: Sequence[Wires]) -> str:
        """Return a word, inverted if the parity of `flips` is odd."""
        if not flips:
            return self.value(word)
        by = " xor ".join(self.wires(wire, nested=True) for wire in flips)
        if width(word) == 1:
            return f"{self.value(word, nested=True)} xor {by}"
        if all(isinstance(piece, Wires) and piece.inverted for piece in word):
            return f"flip({self.value(inverse(word))}, not ({by}))"
        return f"flip({self.value(word)}, {by})"

    def plain(self, operation: Operation) -> str:
        """Return the expression of an operation that fits into one line."""
        if isinstance(operation, Flipped):
            return self.flipped(operation.word, operation.flips)
        if isinstance(operation, BitwiseXor):
            a, b = (self.value(x, nested=True) for x in (operation.a, operation.b))
            return f"{a} xor {b}"
        if isinstance(operation, Test):
            text = self.value(operation.word)
            name = "every" if operation.of == "all" else "some"
            return text if width(operation.word) == 1 else f"{name}({text})"
        if isinstance(operation, Select):
            wire = operation.condition
            then, otherwise = self.value(operation.then), self.value(operation.otherwise)
            value = "'0'" if wire.inverted else "'1'"
            bit = self.wires(Wires(wire.name, wire.low, 1))
            return f"{then} when {bit} = {value} else {otherwise}"
        raise TypeError(f"no line: {operation}")

    def odd(self, word: Word) -> str:
        """Return the odd number of a word: twice the word, minus all ones."""
        top = width(word) - 1
        inner = joined([Fixed(1, 1), *cut(word, 0, top), *inverse(cut(word, top, 1))])
        return f"signed'(signed({self.value(inner)}))"

    def value(self, word: Word, *, nested: bool = False) -> str:
        """Return a word as text of type std_logic if it has one bit, else unsigned."""
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
        """Return bits of a signal; `raw` omits the conversion of a port to unsigned."""
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


# --------------------------------------------------------------------------------------------------
# VHDL-93 of gates or words: one port per word.
# --------------------------------------------------------------------------------------------------

VHDL_SYNTAX = Syntax(VHDL, "{}({})", ("'0'", "'1'"))
VHDL_SPELLING = Spelling({"and": " and ", "or": " or ", "xor": " xor "}, "(not {})")
LIBRARIES = ["library ieee;", "use ieee.std_logic_1164.all;"]


def export_vhdl(program: Program, load: float | None, options: ExportOptions) -> Files:
    """Return a program's entity and, as an option, its test bench."""
    design = design_of(program, load)
    frame: Framed
    if options.level == "words":
        frame = words = words_of(program, load, design, VHDL_SYNTAX, options.pipeline)
        text = render_vhdl_words(design, words)
    else:
        frame = gates = gates_of(design, VHDL_SYNTAX, options.pipeline)
        text = render_vhdl(design, gates)
    files: Files = {f"{frame.module}.vhd": text}
    if options.test_bench:
        files[f"{frame.module}_tb.vhd"] = vhdl_bench(program, load, frame)
    return files


def render_vhdl_words(design: Design, words: Words) -> str:
    """Return the text of an entity and its architecture of words."""
    printer = VhdlWords(words)
    lines = [f"-- {line}" for line in [*header(with_words(design), words), READING]]
    lines += [*LIBRARIES, "use ieee.numeric_std.all;", *_entity(words)]
    lines += [f"architecture words of {words.module} is", *printer.declarations()]
    lines += [*_valid(words), "begin", *printer.body()]
    lines += _vhdl_registers(words.stages, printer.held()) if words.stages else []
    return "\n".join([*lines, *printer.ends(), "end words;"]) + "\n"


def render_vhdl(design: Design, gates: Gates) -> str:
    """Return the text of an entity and its architecture."""
    lines = [f"-- {line}" for line in header(design, gates)]
    lines += [*LIBRARIES, *_entity(gates), f"architecture gates of {gates.module} is"]
    lines += [f"    signal {line.name} : std_logic;" for line in gates.lines]
    lines += [f"    signal {name} : std_logic;" for name, _ in gates.registers]
    lines += [*_valid(gates), "begin"]
    lines += [
        f"    {name} <= {VHDL_SPELLING.write(lut, operands)};"
        for name, lut, operands in gates.lines
    ]
    lines += _vhdl_registers(gates.stages, gates.registers) if gates.stages else []
    for pin, drives in zip(gates.outputs, gates.drives, strict=True):
        lines.append(f"    {pin.name} <= {' & '.join(drives)};")
    return "\n".join([*lines, "end gates;"]) + "\n"


def _entity(gates: Framed) -> Iterator[str]:
    yield f"entity {gates.module} is"
    yield "    port ("
    yield ";\n".join(f"        {port}" for port in _vhdl_ports(gates))
    yield "    );"
    yield f"end {gates.module};"


def _valid(gates: Framed) -> Iterator[str]:
    if gates.stages:
        high = gates.stages - 1
        yield f"    signal valid : std_logic_vector({high} downto 0) := (others => '0');"


def _vhdl_ports(gates: Framed) -> Iterator[str]:
    if gates.stages:
        for name in ("clock", "enable", "valid_in"):
            yield f"{name} : in std_logic"
    for mode, pins in (("in", gates.inputs), ("out", gates.outputs)):
        for pin in pins:
            yield f"{pin.name} : {mode} {subtype(pin)}"
    if gates.stages:
        yield "valid_out : out std_logic"


def subtype(pin: Pin) -> str:
    """Return the type of a port."""
    bits = pin.port.bits
    return "std_logic" if bits == 1 else f"std_logic_vector({bits - 1} downto 0)"


def _vhdl_registers(stages: int, registers: Iterable[tuple[str, str]]) -> list[str]:
    return [
        "    process (clock)",
        "    begin",
        "        if rising_edge(clock) then",
        "            if enable = '1' then",
        "                valid(0) <= valid_in;",
        *(f"                valid({k}) <= valid({k - 1});" for k in range(1, stages)),
        *(f"                {new} <= {old};" for new, old in registers),
        "            end if;",
        "        end if;",
        "    end process;",
        f"    valid_out <= valid({stages - 1});",
    ]
