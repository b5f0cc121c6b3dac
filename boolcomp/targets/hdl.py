"""Verilog-2005 and VHDL-93, of gates, look-up tables or words, combinational or in stages.

One printer serves both languages. A language is a table of formats, a template of its module
(`templates/module.v`, `templates/module.vhd`), and a few expressions that it writes its own way.
VHDL words are `unsigned`, bits `std_logic`; functions at the head of an architecture replace
operators that VHDL-93 lacks.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import cache
from itertools import product
from typing import TYPE_CHECKING, ClassVar, Literal, NamedTuple, get_args

from boolcomp.logic import network
from boolcomp.logic.lutmapping import mapped
from boolcomp.logic.network import entries
from boolcomp.targets.benches import bench, cocotb_test
from boolcomp.targets.clock import TimedFiles, Timing
from boolcomp.targets.delays import delays_of
from boolcomp.targets.rtl import (
    USUAL,
    BitwiseXor,
    Fixed,
    Flipped,
    Gate,
    OddProduct,
    Select,
    SignalSum,
    TableLookup,
    Test,
    Wires,
    cut,
    gates_of,
    inverse,
    joined,
    width,
    wires_of,
    words_of,
)
from boolcomp.targets.stream import layout_of, wrapper
from boolcomp.targets.target import (
    CONTROLS,
    READING,
    VERILOG,
    VHDL,
    design_of,
    fill,
    header,
    separated,
    with_words,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from boolcomp.logic.lutmapping import Goal
    from boolcomp.logic.network import Network
    from boolcomp.program.program import Program
    from boolcomp.targets.rtl import Operation, Piece, RtlModule, Signal, SignalAddend, Word
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


def mapping_of(design: Design, options: ExportOptions) -> tuple[Network, tuple[str, ...]]:
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


def table_name(module: str, luts: int) -> str:
    return f"{module}_lut{luts}"


def table_module(module: str, luts: int) -> list[str]:
    """Return the module of a table: an entry of its constant, or an FPGA's own cell."""
    letters, size = LETTERS[:luts], 1 << luts
    macros = [macro for macro, (inputs, *_) in CELLS.items() if inputs >= luts]
    cells = []
    for k, macro in enumerate(macros):
        inputs, cell, init, output, pins = CELLS[macro]
        given = [*["1'b0"] * (inputs - luts), *letters]
        wired = ", ".join(f".{pin}({x})" for pin, x in zip(pins, reversed(given), strict=True))
        wider = f"{{{(1 << inputs) - size}'h0, INIT}}" if inputs > luts else "INIT"
        cells.append(f"{'`elsif' if k else '`ifdef'} {macro}")
        cells.append(f"    {cell} #(.{init}({wider})) cell_ (.{output}(made), {wired});")
    return fill(
        "lut.v", name=table_name(module, luts), macros=", ".join(macros), high=size - 1, size=size,
        letters=", ".join(letters), cells=cells,
        ports=separated((f"input wire {one}" for one in letters), ","),
    ).splitlines()  # fmt: skip


# --------------------------------------------------------------------------------------------------
# The printer of modules. All operands of a sum have its width: no implicit extension or truncation.
# --------------------------------------------------------------------------------------------------

ROW = 4  # entries of a table per line


class Printer(ABC):
    """Prints a module of gates or words; a language is a subclass: formats and some expressions.

    With `luts` gates are instances of look-up tables of `luts` inputs.
    """

    ending: ClassVar[str]
    reserved: ClassVar[frozenset[str]]
    comment: ClassVar[str]
    caution: ClassVar = ""  # the last comment at the head of a file
    operators: ClassVar[dict[Kind, str]]
    inverses: ClassVar[tuple[str, str]]  # of a signal alone, and inside an expression
    slices: ClassVar[tuple[str, str]]  # bits of a signal from high to low; one bit
    between: ClassVar[str]  # pieces of a word
    word: ClassVar[str]  # of several pieces
    wide_port: ClassVar[str]  # an input of several bits as a word
    flips: ClassVar[tuple[tuple[str, str], ...]]  # words and bits; inverted ones
    tests: ClassVar[dict[str, tuple[str, str]]]  # words; bits
    choices: ClassVar[tuple[str, str]]  # by a bit, by its inverse
    odd: ClassVar[str]  # a signed word
    product: ClassVar[str]
    assigned: ClassVar[str]  # an output
    after_port: ClassVar[str]

    def __init__(self, module: RtlModule, luts: int = 0) -> None:
        self.module, self.spans, self.luts = module, module.spans, luts
        self.frame, self.words = module.frame, module.level == "words"
        self.wide = {pin.name for pin in self.frame.inputs if pin.port.bits > 1}

    @abstractmethod
    def literal(self, value: int, bits: int) -> str:
        """Return a constant of single bits."""

    @abstractmethod
    def number(self, value: int, bits: int) -> str:
        """Return a constant of a sum."""

    @abstractmethod
    def port(self, way: str, name: str, bits: int) -> str:
        """Return the declaration of a port; `way` is in or out."""

    @abstractmethod
    def declared(self) -> Iterator[str]:
        """Yield the declarations before the first operation."""

    @abstractmethod
    def begun(self, signal: Signal) -> str:
        """Return the begin of the definition of a signal, before its expression."""

    @abstractmethod
    def table(self, signal: Signal, table: TableLookup) -> Iterator[str]:
        """Yield the definition of a signal by a table."""

    @abstractmethod
    def addend(self, addend: SignalAddend, bits: int) -> str:
        """Return an addend shifted to its column."""

    @abstractmethod
    def driver(self, word: Word) -> str:
        """Return the value of an output."""

    @abstractmethod
    def moved(self) -> Iterator[str]:
        """Yield the assignments of `valid` at a clock."""

    def text(self, design: Design, notes: Sequence[str] = ()) -> str:
        """Return the text of a module; `notes` are comments before those on the design."""
        module, frame, stages = self.module, self.frame, self.module.stages
        described = with_words(design) if self.words else design
        head = [*notes, *header(described, frame, module.pipeline)]
        head += [*([READING] if self.words else []), *([self.caution] if self.caution else [])]
        moves = [
            f"{one.name} <= {self.wires(Wires(one.source, one.low, one.bits))};"
            for one in module.registers
        ]
        ends = [
            f"{self.assigned.format(pin.name)} {self.driver(word)};"
            for pin, word in zip(frame.outputs, module.drives, strict=True)
        ]
        return fill(
            f"module{self.ending}", head=[f"{self.comment} {line}" for line in head],
            name=frame.module, level=module.level, words=self.words, stages=stages,
            last=stages - 1, span=f"[{stages - 1}:0] " if stages > 1 else "",
            top=f"[{stages - 1}]" if stages > 1 else "",
            ports=separated(self.ports(), self.after_port),
            declared=[*self.declared()], body=[*self.body()], ends=ends,
            idle=", ".join(map(self.wires, module.idle)), moves=[*self.moved(), *moves],
            tables=table_module(frame.module, self.luts) if self.luts else (),
        )  # fmt: skip

    def ports(self) -> Iterator[str]:
        """Yield the declarations of ports."""
        *controls, valid = CONTROLS if self.module.stages else ("",)
        yield from (self.port("in", name, 1) for name in controls)
        for way, pins in (("in", self.frame.inputs), ("out", self.frame.outputs)):
            yield from (self.port(way, pin.name, pin.port.bits) for pin in pins)
        if valid:
            yield self.port("out", valid, 1)

    def body(self) -> Iterator[str]:
        """Yield the definitions of signals; words are described and apart."""
        apart = [""] if self.words else []
        for signal in self.module.signals:
            operation = signal.operation
            yield from apart
            yield from (f"    {self.comment} {line}" for line in signal.about)
            if isinstance(operation, TableLookup):
                yield from self.table(signal, operation)
            elif isinstance(operation, SignalSum):
                yield f"    {self.begun(signal)}\n{self.sum(operation)};"
            elif isinstance(operation, Gate) and self.luts:
                yield from self.instance(signal.name, operation)
            else:
                yield f"    {self.begun(signal)} {self.expression(operation)};"
        yield from apart

    def instance(self, name: str, gate: Gate) -> Iterator[str]:
        """Yield an instance of a table: the last entry and the first operand are in front."""
        size, count = 1 << self.luts, len(gate.operands)
        table = sum(bit << k for k, bit in enumerate(entries(gate.lut, count)))
        given = [*[self.literal(0, 1)] * (self.luts - count), *map(self.piece, gate.operands)]
        module, wired = table_name(self.frame.module, self.luts), ", ".join([name, *given])
        yield f"    wire {name};"
        yield f"    {module} #({size}'h{table:0{size // 4}x}) {name}_t ({wired});"

    def expression(self, operation: Operation) -> str:
        """Return the expression of an operation that fits into one line."""
        if isinstance(operation, Gate):
            return self.tree(trees()[operation.lut], operation.operands)
        if isinstance(operation, Flipped):
            return self.flipped(operation.word, operation.flips)
        if isinstance(operation, BitwiseXor):
            a, b = (self.value(x, nested=True) for x in (operation.a, operation.b))
            return f"{a}{self.operators['xor']}{b}"
        if isinstance(operation, OddProduct):
            return self.product.format(*(self.odd_number(x) for x in (operation.a, operation.b)))
        if isinstance(operation, Test):
            form = self.tests[operation.of][width(operation.word) == 1]
            return form.format(self.value(operation.word))
        if isinstance(operation, Select):
            wire = operation.condition
            words = self.value(operation.then), self.value(operation.otherwise)
            bit = self.wires(Wires(wire.name, wire.low, 1))
            return self.choices[wire.inverted].format(bit, *words)
        raise TypeError(f"no line: {operation}")

    def tree(self, part: Tree, operands: Sequence[Piece], outside: str = "") -> str:
        """Return a tree of operations on bits, in brackets if another operation is outside."""
        if isinstance(part, LutLeaf):
            text = self.piece(operands[part.place])
            return self.inverses[1].format(text) if part.inverted else text
        left, right = (self.tree(one, operands, part.kind) for one in part[1:])
        text = f"{left}{self.operators[part.kind]}{right}"
        return text if outside in ("", part.kind) else f"({text})"

    def sum(self, operation: SignalSum) -> str:
        """Return the lines of a sum."""
        texts = [self.addend(addend, operation.bits) for addend in operation.addends]
        if operation.constant:
            texts.append(self.number(operation.constant, operation.bits))
        return "\n".join(f"        {'+ ' if k else '  '}{text}" for k, text in enumerate(texts))

    def flipped(self, word: Word, flips: Sequence[Wires]) -> str:
        """Return a word, inverted if the parity of `flips` is odd."""
        if not flips:
            return self.value(word)
        by = self.operators["xor"].join(self.wires(wire, nested=True) for wire in flips)
        turned = all(isinstance(piece, Wires) and piece.inverted for piece in word)
        form = self.flips[width(word) == 1][turned]
        text = self.value(inverse(word) if turned else word)
        return form.format(word=text, by=by, bits=width(word))

    def odd_number(self, word: Word) -> str:
        """Return the odd number of a word: twice the word, minus all ones."""
        top = width(word) - 1
        inner = joined([Fixed(1, 1), *cut(word, 0, top), *inverse(cut(word, top, 1))])
        return self.odd.format(self.value(inner))

    def value(self, word: Word, *, nested: bool = False) -> str:
        """Return a word as text; `nested` in an operation."""
        if len(word) == 1:
            return self.piece(word[0], nested=nested)
        texts = [self.piece(piece, nested=True) for piece in reversed(word)]
        return self.word.format(self.between.join(texts))

    def piece(self, piece: Piece, *, nested: bool = False) -> str:
        """Return bits of one signal, or constants."""
        if isinstance(piece, Fixed):
            return self.literal(piece.value, piece.bits)
        return self.wires(piece, nested=nested)

    def wires(self, wire: Wires, *, nested: bool = False, raw: bool = False) -> str:
        """Return bits of a signal; `raw` as they are in a port."""
        low, bits = self.spans[wire.name]
        text = wire.name
        if (wire.low, wire.bits) != (low, bits):
            high = wire.low + wire.bits - 1
            text += self.slices[wire.bits == 1].format(high, wire.low)
        if wire.name in self.wide and wire.bits > 1 and not raw:
            text = self.wide_port.format(text)
        return self.inverses[nested].format(text) if wire.inverted else text


class VerilogPrinter(Printer):
    """Verilog-2005."""

    ending, reserved, comment, after_port = ".v", VERILOG, "//", ","
    # Versions about 5.006 to 5.026 lose inversions in trees of XOR (issues 4059, 4837, 5186).
    caution = "with Verilator, simulate with -fno-const-bit-op-tree: else some versions are wrong"
    operators: ClassVar = {"and": " & ", "or": " | ", "xor": " ^ "}
    inverses = ("~{}", "~{}")
    slices = ("[{0}:{1}]", "[{0}]")
    between, word, wide_port = ", ", "{{{}}}", "{}"
    flips = (
        ("{{{bits}{{{by}}}}} ^ {word}", "{{{bits}{{{by}}}}} ~^ {word}"),
        ("{by} ^ {word}", "{by} ~^ {word}"),
    )
    tests: ClassVar = {"all": ("&{}", "&{}"), "any": ("|{}", "|{}")}
    choices = ("{0} ? {1} : {2}", "~{0} ? {1} : {2}")
    odd, product = "$signed({})", "{} * {}"
    assigned = "assign {} ="

    @staticmethod
    def span(low: int, bits: int) -> str:
        return "" if bits == 1 else f"[{low + bits - 1}:{low}] "

    def literal(self, value: int, bits: int) -> str:
        return f"{bits}'b{value:0{bits}b}" if value else f"{bits}'b0"

    def number(self, value: int, bits: int) -> str:
        return f"{bits}'d{value}"

    def port(self, way: str, name: str, bits: int) -> str:
        return f"{way}put wire {self.span(0, bits)}{name}"

    def declared(self) -> Iterator[str]:
        """Yield registers. Yosys moves one before a table behind it, if it has no first value."""
        indices = {
            wire.name
            for signal in self.module.signals
            if isinstance(signal.operation, TableLookup)
            for wire in wires_of(signal.operation.index)
        }
        for x in self.module.registers:
            first = f" = {self.literal(0, x.bits)}" if x.name in indices else ""
            yield f"reg {self.span(x.low, x.bits)}{x.name}{first};"

    def begun(self, signal: Signal) -> str:
        """Return the begin of a definition; an assignment cannot have an attribute."""
        whole = f"{self.span(signal.low, signal.bits)}{signal.name}"
        if signal.kept:
            return f"(* keep *) wire {whole};\n    assign {signal.name} ="
        return f"wire {'signed ' * isinstance(signal.operation, OddProduct)}{whole} ="

    def table(self, signal: Signal, table: TableLookup) -> Iterator[str]:
        """Yield a register of that name, and the case that sets it."""
        bits, last = width(table.index), len(table.entries) - 1
        digits = len(str(last))
        texts = [
            f"{f'{self.number(k, bits):<{digits + len(str(bits)) + 2}}' if k < last else 'default'}"
            f": {signal.name} = {self.number(entry, signal.bits)};"
            for k, entry in enumerate(table.entries)
        ]
        yield f"    reg {self.span(signal.low, signal.bits)}{signal.name};"
        yield "    always @*"
        yield f"        case ({self.value(table.index)})"
        for first in range(0, len(texts), ROW):
            yield f"            {' '.join(texts[first : first + ROW])}"
        yield "        endcase"

    def addend(self, addend: SignalAddend, bits: int) -> str:
        """Return an addend with zeros on both sides."""
        sides = bits - width(addend.word) - addend.column, addend.column
        if not addend.flips:
            return self.value(joined([Fixed(0, sides[1]), *addend.word, Fixed(0, sides[0])]))
        zeros = [[self.literal(0, count)] if count else [] for count in sides]
        texts = [*zeros[0], self.flipped(addend.word, addend.flips), *zeros[1]]
        if len(texts) > 1:
            return self.word.format(self.between.join(texts))
        return f"({texts[0]})" if addend.flips else texts[0]

    def driver(self, word: Word) -> str:
        return self.value(word)

    def moved(self) -> Iterator[str]:
        """Yield the shift of `valid`, which is one bit for one stage."""
        last = self.module.stages - 1
        yield f"valid <= {f'{{valid[{last - 1}:0], valid_in}}' if last else 'valid_in'};"


class VhdlPrinter(Printer):
    """VHDL-93; a word of one bit is `std_logic`, others are `unsigned`."""

    ending, reserved, comment, after_port = ".vhd", VHDL, "--", ";"
    operators: ClassVar = {"and": " and ", "or": " or ", "xor": " xor "}
    inverses = ("not {}", "(not {})")
    slices = ("({0} downto {1})", "({0})")
    between, word, wide_port = " & ", "unsigned'({})", "unsigned({})"
    flips = (
        ("flip({word}, {by})", "flip({word}, not ({by}))"),
        ("{word} xor {by}", "(not {word}) xor {by}"),
    )
    tests: ClassVar = {"all": ("every({})", "{}"), "any": ("some({})", "{}")}
    choices = ("{1} when {0} = '1' else {2}", "{1} when {0} = '0' else {2}")
    odd, product = "signed'(signed({}))", "unsigned({} * {})"
    assigned = "{} <="
    largest = 1 << 31  # above the integers that VHDL guarantees

    def literal(self, value: int, bits: int) -> str:
        return f"'{value}'" if bits == 1 else f'"{value:0{bits}b}"'

    def number(self, value: int, bits: int) -> str:
        return (
            f"to_unsigned({value}, {bits})" if value < self.largest else self.literal(value, bits)
        )

    def port(self, way: str, name: str, bits: int) -> str:
        """Return the declaration of a port."""
        kind = "std_logic" if bits == 1 else f"std_logic_vector({bits - 1} downto 0)"
        return f"{name} : {way} {kind}"

    def declared(self) -> Iterator[str]:
        """Yield all signals, and attributes of those that tools must keep."""
        for name, (low, bits) in list(self.spans.items())[len(self.frame.inputs) :]:
            span = f"unsigned({low + bits - 1} downto {low})"
            yield f"signal {name} : {'std_logic' if bits == 1 else span};"
        kept = [signal.name for signal in self.module.signals if signal.kept]
        if kept:
            yield "attribute keep : string;"
            yield from (f'attribute keep of {name} : signal is "true";' for name in kept)

    def begun(self, signal: Signal) -> str:
        return f"{signal.name} <="

    def table(self, signal: Signal, table: TableLookup) -> Iterator[str]:
        """Yield a selected assignment."""
        (index,) = wires_of(table.index)
        bits, last = width(table.index), len(table.entries) - 1
        texts = [
            f"{self.literal(entry, signal.bits)} when "
            f"{self.literal(k, bits) if k < last else 'others'}{',;'[k == last]}"
            for k, entry in enumerate(table.entries)
        ]
        yield f"    with {self.wires(index, raw=True)} select {signal.name} <="
        for first in range(0, len(texts), ROW):
            yield f"        {' '.join(texts[first : first + ROW])}"

    def addend(self, addend: SignalAddend, bits: int) -> str:
        """Return an addend in its place of a wider word."""
        text = self.flipped(addend.word, addend.flips)
        if (addend.column, width(addend.word)) == (0, bits):
            return f"({text})" if text.startswith("not ") else text
        return f"place({text}, {addend.column}, {bits})"

    def driver(self, word: Word) -> str:
        """Return the value of a port; gates need no numbers."""
        if not self.words:
            return self.between.join(map(self.piece, reversed(word)))
        text = self.value(word)
        return text if width(word) == 1 else f"std_logic_vector({text})"

    def moved(self) -> Iterator[str]:
        """Yield the shift of `valid`."""
        yield "valid(0) <= valid_in;"
        yield from (f"valid({k}) <= valid({k - 1});" for k in range(1, self.module.stages))


def export_verilog(program: Program, load: float | None, options: ExportOptions) -> Files:
    """Return a program's module and, as options, its test benches."""
    return _export(program, load, options, VerilogPrinter)


def export_vhdl(program: Program, load: float | None, options: ExportOptions) -> Files:
    """Return a program's entity and, as an option, its test bench."""
    return _export(program, load, options, VhdlPrinter)


def _export(
    program: Program, load: float | None, options: ExportOptions, printer: type[Printer]
) -> Files:
    design, count, goal = design_of(program, load), options.pipeline, options.goal
    notes: tuple[str, ...] = ()
    luts = 0
    if options.level == "words":
        delays = delays_of(options.device) if options.device else USUAL
        module = words_of(program, load, design, printer.reserved, count, goal=goal, delays=delays)
    else:
        logic, notes = mapping_of(design, options)
        module = gates_of(design, printer.reserved, count, logic, goal)
        luts = len(logic.nodes)
    frame, stages, ending, layout = module.frame, module.stages, printer.ending, None
    files, stream = TimedFiles(), options.interface == "stream"
    if goal:
        registers = stages + sum(one.bits for one in module.registers)
        files.timing = Timing(goal.clock, stages, registers, luts, module.clock, clocks=int(stream))
        notes += (goal.note(module.clock),)
    name, text = frame.module, printer(module, options.luts).text(design, notes)
    if stream:
        layout = layout_of(program, frame, stages)
        name, around = layout.module, wrapper(layout, ending)
        text = f"{text}{around}" if ending == ".vhd" else f"{around}{text}"  # VHDL: before its use
    files[f"{name}{ending}"] = text
    if options.test_bench:
        files[f"{name}_tb{ending}"] = bench(program, load, frame, ending, stages, layout=layout)
    if options.cocotb:
        files[f"test_{name}.py"] = cocotb_test(program, load, frame, stages, layout)
    return files
