"""Word graphs as straight-line procedures of integers, with signed products and wrapping sums.

The digits of a word are ±1: a word of n bits with value k is the odd number 2k - (2^n - 1). A
whole product of two words is one multiplication. Sums are kept times a power of two, chosen such
that products need no shift and the bits read from a sum begin at a byte. Bits above the width of a
sum are arbitrary. Tables hold odd numbers for products, else values shifted as the sum needs them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from itertools import groupby
from typing import TYPE_CHECKING

from boolcomp.base.errors import UsageError
from boolcomp.targets.expressions import (
    Agreement,
    Conditional,
    ConstantNumber,
    Expression,
    Less,
    Low,
    Moved,
    Multiple,
    Name,
    Padded,
    SignedProduct,
    SumOfParts,
    TableEntry,
    Within,
    Wrapped,
    XorBits,
    low,
    moved,
    product,
)
from boolcomp.targets.target import Names, comment, escapes, why_no_graph, word_names
from boolcomp.words.graph import (
    Angles,
    Bits,
    Heap,
    InputWord,
    Lookup,
    OutputWord,
    PartialProducts,
    Scale,
    WordGraph,
    reads,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from boolcomp.codes import Code
    from boolcomp.program.program import CodedOutput, Load, Program
    from boolcomp.words.graph import HeapPart, Node

# --------------------------------------------------------------------------------------------------
# Tables of one word that are only added become one table if that needs little more memory. A graph
# has a coarse and a fine table for a curve, which needs less logic; a processor needs fewer cycles
# for one table. The function of the graph remains the same.
# --------------------------------------------------------------------------------------------------

MORE = 1024  # bytes that one look-up less may cost
WIDEST_ENTRY = 16  # bits of an entry


def with_tables_added(graph: WordGraph, meanings: Sequence[str]) -> tuple[WordGraph, list[str]]:
    """Return a graph of the same function, and the meanings of its words."""
    readers = [0] * len(graph.nodes)
    for node in graph.nodes:
        for place in set(reads(node)):
            readers[place] += 1
    nodes: list[Node] = []
    scales: list[Scale] = []
    said: list[str] = []
    at: list[int] = []  # places of the old graph's nodes in the new one
    for node, scale, meaning in zip(graph.nodes, graph.scales, meanings, strict=True):
        changed = node
        if isinstance(node, Heap):
            parts: list[HeapPart] = list(node.parts)
            for several in _together(graph, node, readers):
                table, column, bias = _added(graph, several)
                parts = [part for part in parts if part not in several]
                if table is None:
                    raise ValueError("a sum of tables that is too wide")
                nodes.append(replace(table, source=at[table.source]))
                scales.append(Scale(bias, 0.0))
                said.append(_meaning([meanings[one.node] for one in several]))
                parts.append(Bits(-len(nodes), 0, column, negative=False))
            changed = replace(node, parts=tuple(_renumbered(part, at) for part in parts))
        elif isinstance(node, Lookup):
            changed = replace(node, source=at[node.source])
        elif isinstance(node, Angles):
            turns = tuple(replace(turn, node=at[turn.node]) for turn in node.turns)
            changed = replace(node, turns=turns)
        at.append(len(nodes))
        nodes.append(changed)
        scales.append(scale)
        said.append(meaning)
    results = tuple(replace(result, node=at[result.node]) for result in graph.results)
    return WordGraph(tuple(nodes), tuple(scales), results), said


def _meaning(texts: Sequence[str]) -> str:
    """Return the meaning of a sum of tables, which includes their corrections."""
    plain = dict.fromkeys(text for text in texts if not text.endswith(", fine"))
    return " + ".join(plain or dict.fromkeys(texts))


def _renumbered(part: HeapPart, at: Sequence[int]) -> HeapPart:
    """Return a part with words of the new graph; new tables count from -1 down."""
    if isinstance(part, PartialProducts):
        return replace(part, a=at[part.a], b=at[part.b])
    return replace(part, node=at[part.node] if part.node >= 0 else -part.node - 1)


def _together(graph: WordGraph, heap: Heap, readers: Sequence[int]) -> list[list[Bits]]:
    """Return the parts of a sum that are cheaper as one table."""
    groups: dict[int, list[Bits]] = {}
    elsewhere = {k for p in heap.parts if isinstance(p, PartialProducts) for k in (p.a, p.b)}
    for part in heap.parts:
        node = graph.nodes[part.node] if isinstance(part, Bits) else None
        if not isinstance(part, Bits) or not isinstance(node, Lookup) or node.mask:
            continue
        if readers[part.node] == 1 and part.node not in elsewhere:
            groups.setdefault(node.source, []).append(part)
    return [parts for parts in groups.values() if _pays(graph, parts)]


def _pays(graph: WordGraph, parts: list[Bits]) -> bool:
    tables = {part.node for part in parts}
    if len(tables) < 2 or len(set(parts)) < len(parts):
        return False
    before = sum(_bytes(graph.nodes[place]) for place in tables)
    added, _, _ = _added(graph, parts)
    return added is not None and _bytes(added) <= before + MORE


def _bytes(node: Node) -> int:
    return len(node.entries) * (1 if node.bits <= 8 else 2) if isinstance(node, Lookup) else 0


def _added(graph: WordGraph, parts: Sequence[Bits]) -> tuple[Lookup | None, int, int]:
    """Return the table of a sum of tables, its column, and the lowest bit of its scale."""
    tables = [node for part in parts if isinstance(node := graph.nodes[part.node], Lookup)]
    read = max(table.read for table in tables)
    column = min(part.layout(graph.nodes).column for part in parts)
    total = [0] * (1 << read)
    for part, table in zip(parts, tables, strict=True):
        row = part.layout(graph.nodes)
        flip = ((1 << row.bits) - 1) * part.negative
        for k in range(1 << read):
            entry = table.entries[k >> (read - table.read)] >> row.drop
            total[k] += (entry ^ flip) << (row.column - column)
    bits = max(1, max(total).bit_length())
    if bits > WIDEST_ENTRY:
        return None, column, 0
    first = parts[0]
    lsb = graph.scales[first.node].lsb + first.drop - first.column + column
    return Lookup(tables[0].source, read, tuple(total), bits), column, lsb


# --------------------------------------------------------------------------------------------------
# A word graph as a straight-line procedure of integers, for printers of languages. First input
# words are decoded to cells, then steps compute the words of the graph, then outputs are rounded,
# saturated and coded. Constant and unused words have no steps.
# --------------------------------------------------------------------------------------------------

OPERATORS = {XorBits: " ^ ", Less: " - ", SumOfParts: " + "}
WIDEST = 64  # bits of the integers of any language


@dataclass(frozen=True, slots=True)
class ConstantTable:
    """A table of constants, and whether any step reads it."""

    name: str
    entries: tuple[int, ...]
    read: bool = True

    @property
    def bits(self) -> int:
        return max(1, max(self.entries).bit_length())


@dataclass(frozen=True, slots=True)
class ProcedureStep:
    """A named value, its width and its meaning.

    The bits of a `loose` value above its width are arbitrary: its readers mask them.
    """

    name: str
    bits: int
    value: Expression
    about: str = ""
    loose: bool = False

    @property
    def said(self) -> str:
        """The meaning of the value, if its name does not tell it."""
        text = comment(self.about)
        plain = re.fullmatch("[A-Za-z0-9 ]+", text) and self.name.startswith(text.replace(" ", "_"))
        return "" if plain else text


@dataclass(frozen=True, slots=True)
class Parameter:
    """An input: its name in the program, that of its parameter, its bits; whether it is read."""

    name: str
    parameter: str
    bits: int
    read: bool


@dataclass(frozen=True, slots=True)
class ProcedureOutput:
    """An output: its name in the program, that of its result, its word, its saturation."""

    name: str
    result: str
    bits: int
    word: Expression
    saturated: tuple[Within, ...] = ()  # one of these does not hold
    rests: tuple[Within, ...] = ()  # but not where all of these do


@dataclass(frozen=True, slots=True)
class Procedure:
    """A function of words: tables, inputs, steps in order, outputs."""

    name: str
    tables: tuple[ConstantTable, ...]
    inputs: tuple[Parameter, ...]
    steps: tuple[ProcedureStep, ...]
    outputs: tuple[ProcedureOutput, ...]

    @property
    def escapes(self) -> list[str]:
        """Comments on inputs and outputs whose names differ."""
        called = [(one.name, one.parameter) for one in self.inputs]
        return escapes([*called, *((one.name, one.result) for one in self.outputs)])

    def free(self, name: str) -> str:
        """Return a name that no input and no output has."""
        ports = [*(one.parameter for one in self.inputs), *(one.result for one in self.outputs)]
        return Names(ports).new(name)


def procedure_of(
    program: Program,
    load: Load,
    reserved: Iterable[str] = (),
    made_by: Callable[[WordGraph, Names], StepMaker] | None = None,
    keywords: Iterable[str] = (),
) -> Procedure:
    """Return the procedure of a program's word graph with a load.

    Inputs and outputs keep their names except for `keywords`; steps and tables get other names,
    none of them reserved. `made_by` replaces the maker of steps.
    """
    graph = load.graph
    if graph is None or load.joint is None:
        raise UsageError(
            f"{program.name} has no word graph ({why_no_graph(program)}): export its logic with "
            "--to c-sliced, or with --level gates (Python and JavaScript)"
        )
    named = load.meanings or [f"w{k}" for k in range(len(graph.nodes))]
    graph, meanings = with_tables_added(graph, named)
    called = word_names(program, keywords)
    name = Names(reserved).new(program.name, "program")
    maker = (made_by or StepMaker)(graph, Names([*reserved, *called.values(), name]))
    maker.called = called
    cells = maker.inputs(program)
    for word in load.joint.words:
        code = program.inputs[word.input].code
        cell = low(cells[program.inputs[word.input].name], code.bits - word.dropped)
        maker.words.append(moved(cell, word.bits - code.bits))
    for place, node in enumerate(graph.nodes):
        if not isinstance(node, InputWord):
            maker.word(node, meanings[place])
    outputs = []
    for output, result in zip(load.outputs, graph.results, strict=True):
        rests = () if output.rest is None else tuple(_zeros(program, output, cells))
        outputs.append(maker.output(output, result, rests))
    return maker.procedure(name, program, outputs)


class StepMaker:
    """Creates one step after the other."""

    def __init__(self, graph: WordGraph, names: Names) -> None:
        self.graph, self.names = graph, names
        self.words: list[Expression] = []  # of every node
        self.steps: list[ProcedureStep] = []
        self.tables: list[ConstantTable] = []
        self.places: dict[tuple[int, ...], int] = {}
        self.called: dict[str, str] = {}  # inputs and outputs by name

    def table(self, name: str, entries: tuple[int, ...]) -> int:
        """Return the place of a table; equal tables are shared."""
        if entries not in self.places:
            self.places[entries] = len(self.tables)
            self.tables.append(ConstantTable(self.names.new(f"{name} table", "table"), entries))
        return self.places[entries]

    def step(self, about: str, bits: int, value: Expression) -> Expression:
        """Name a value."""
        if isinstance(value, ConstantNumber | Name):
            return value
        if isinstance(value, Padded):
            return replace(value, of=self.step(about, bits - value.by, value.of))
        name = self.names.new(about, "w")
        self.steps.append(ProcedureStep(name, bits, value, about))
        return Name(name, bits)

    def inputs(self, program: Program) -> dict[str, Expression]:
        """Return the cells of all input words; bits above their width are masked."""
        cells: dict[str, Expression] = {}
        for word in program.inputs:
            bits = word.code.bits
            masked = Low(Name(self.called[word.name], WIDEST), bits)
            given = self.step(f"{word.name} word", bits, masked)
            cells[word.name] = self.cell(given, word.code, word.name)
        return cells

    def cell(self, word: Expression, code: Code, name: str) -> Expression:
        """Return the cell of a word."""
        half = code.cells >> 1
        about = f"{name} cell"
        if code.kind == "gray":
            shift = 1
            while shift < code.bits:
                word = self.step(about, code.bits, XorBits(word, Moved(word, -shift)))
                shift *= 2
            return word
        if code.kind == "twos":
            return self.step(about, code.bits, XorBits(word, ConstantNumber(half)))
        if code.kind == "sign-magnitude":
            size = Low(word, code.bits - 1)
            below = Less(ConstantNumber(half - (not code.tread)), size)
            above = SumOfParts((size, ConstantNumber(half)))
            value = Conditional((Within(word, half, code.cells - 1),), below, above)
            return self.step(about, code.bits, value)
        return word

    def word(self, node: Node, meaning: str) -> None:
        """Name a node of the graph."""
        if isinstance(node, Lookup):
            value = self.lookup(node, meaning)
        elif isinstance(node, Angles):
            value = self.angles(node)
        elif isinstance(node, Heap):
            value = self.heap(node)
        else:
            raise TypeError("inputs come first")
        self.words.append(self.step(meaning, node.bits, value))

    def leading(self, place: int, drop: int) -> Expression:
        return moved(self.words[place], -drop)

    def lookup(self, node: Lookup, meaning: str) -> Expression:
        """Return an entry of a table; a constant table has none."""
        if len(set(node.entries)) == 1:
            return ConstantNumber(node.entries[0])
        index = self.leading(node.source, self.graph.nodes[node.source].bits - node.read)
        index = _picked(index, node.picked)
        if isinstance(index, ConstantNumber):
            return ConstantNumber(node.entries[index.value])
        if node.entries == tuple(range(len(node.entries))):
            return index
        return TableEntry(self.table(meaning, node.entries), index, max(node.entries))

    def angles(self, node: Angles) -> Expression:
        """Return a sum of angles."""
        constant, parts = node.constant, []
        for turn in node.turns:
            drop = self.graph.nodes[turn.node].bits - turn.read
            parts.append((turn.negative, moved(self.leading(turn.node, drop), turn.shift)))
            constant += (((1 << turn.read) - 1) << turn.shift) * turn.negative
        return _wrapped(parts, constant, node.bits)

    def heap(self, node: Heap) -> Expression:
        """Return a sum of words and products; an inverse is all ones minus the value."""
        constant, parts = node.constant, []
        nodes = self.graph.nodes
        for part in node.parts:
            if isinstance(part, Bits):
                row = part.layout(nodes)
                value, full, column = self.leading(part.node, row.drop), row.weight, row.column
            else:
                grid = part.layout(nodes)
                a, b = self.leading(part.a, grid.drop_a), self.leading(part.b, grid.drop_b)
                column = max(0, grid.column)
                value, full = product(self, a, grid.a, b, grid.b, column - grid.column)
                full <<= column
            parts.append((part.negative, moved(value, column)))
            constant += full * part.negative
        return _wrapped(parts, constant, node.bits)

    def output(
        self, output: CodedOutput, result: OutputWord, rests: tuple[Within, ...]
    ) -> ProcedureOutput:
        """Return an output: rounded, saturated, zero at rest, and coded."""
        heap = self.graph.nodes[result.node]
        cell = self.leading(result.node, result.drop)
        left = heap.bits - result.drop
        saturated: tuple[Within, ...] = ()
        if left > result.bits:
            cell = self.step(f"{output.name} rounded", left, cell)
            first = (1 << left >> 1) - (1 << result.bits >> 1)
            last = first + (1 << result.bits) - 1
            saturated = (Within(cell, first, last),)
            below = Conditional(
                (Within(cell, 0, first),), ConstantNumber(0), Less(cell, ConstantNumber(first))
            )
            most = ConstantNumber((1 << result.bits) - 1)
            cell = Conditional((Within(cell, last, (1 << left) - 1),), most, below)
        if rests:
            cell = Conditional(rests, ConstantNumber(1 << result.bits >> 1), cell)
        cell = self.step(f"{output.name} cell", result.bits, cell)
        name = self.called[output.name]
        return ProcedureOutput(
            output.name, name, result.bits, _coded(cell, output.code), saturated, rests
        )

    def procedure(
        self, name: str, program: Program, outputs: Sequence[ProcedureOutput]
    ) -> Procedure:
        """Return the procedure without unused steps."""
        read: set[str] = set()
        for made in outputs:
            conditions = (*made.saturated, *made.rests)
            read |= names_in(made.word).union(*(names_in(one.of) for one in conditions))
        kept = []
        for step in reversed(self.steps):
            if step.name in read:
                read |= names_in(step.value)
                kept.append(step)
        kept.reverse()
        used = set().union(*(_tables_in(step.value) for step in kept))
        tables = tuple(replace(t, read=k in used) for k, t in enumerate(self.tables))
        inputs = tuple(
            Parameter(x.name, self.called[x.name], x.code.bits, self.called[x.name] in read)
            for x in program.inputs
        )
        return Procedure(name, tables, inputs, tuple(kept), tuple(outputs))


def _picked(index: Expression, picked: Sequence[int]) -> Expression:
    """Return selected bits of a value, concatenated; runs of bits are shifted at once."""
    parts: list[Expression] = []
    place = 0
    while place < len(picked):
        run = 1
        while place + run < len(picked) and picked[place + run] == picked[place] + run:
            run += 1
        parts.append(moved(low(moved(index, -picked[place]), run), place))
        place += run
    if all(isinstance(part, ConstantNumber) for part in parts):
        return ConstantNumber(sum(part.most for part in parts))
    return parts[0] if len(parts) == 1 else SumOfParts(tuple(parts))


def _wrapped(parts: Sequence[tuple[bool, Expression]], constant: int, bits: int) -> Expression:
    """Return a sum; its constant parts are merged."""
    left = []
    for negative, part in parts:
        if isinstance(part, ConstantNumber):
            constant += -part.value if negative else part.value
        else:
            left.append((negative, part))
    low_end = -sum(part.most for negative, part in left if negative)
    high_end = sum(part.most for negative, part in left if not negative)
    if not left or not (low_end + constant >= 0 and high_end + constant < 1 << bits):
        constant %= 1 << bits
    if not left:
        return ConstantNumber(constant)
    shift = min(part.by if isinstance(part, Moved) else 0 for _, part in left)
    if shift > 0:  # the lowest bits are those of the constant
        less = [(negative, moved(part, -shift)) for negative, part in left]
        above = _wrapped(less, constant >> shift, bits - shift)
        return Padded(above, shift, constant & ((1 << shift) - 1))
    if len(left) == 1 and not constant and not left[0][0] and left[0][1].most < 1 << bits:
        return left[0][1]
    return Wrapped(tuple(left), constant, bits)


def _coded(cell: Expression, code: Code) -> Expression:
    """Return the word of a cell."""
    half = code.cells >> 1
    if code.kind == "gray":
        return XorBits(cell, moved(cell, -1))
    if code.kind == "twos":
        return XorBits(cell, ConstantNumber(half))
    if code.kind == "sign-magnitude":
        below: Expression = Less(ConstantNumber(code.cells - (not code.tread)), cell)
        if code.tread:  # no word has the magnitude of the lowest cell
            below = Conditional((Within(cell, 0, 0),), ConstantNumber(code.cells - 1), below)
        return Conditional(
            (Within(cell, half, code.cells - 1),), Less(cell, ConstantNumber(half)), below
        )
    return cell


def _zeros(program: Program, output: CodedOutput, cells: dict[str, Expression]) -> Iterator[Within]:
    """Yield the conditions that hold an output at rest: words are zero."""
    for word in program.inputs:
        if word.name in (output.rest or ()):
            half = word.code.cells >> 1
            yield Within(cells[word.name], half - (not word.code.tread), half)


def parts_of(value: Expression) -> tuple[Expression, ...]:
    """Return the operands of an expression."""
    if isinstance(value, ConstantNumber | Name):
        return ()
    if isinstance(value, Agreement | XorBits | Less | SignedProduct):
        return (value.a, value.b)
    if isinstance(value, SumOfParts):
        return value.parts
    if isinstance(value, Wrapped):
        return tuple(part for _, part in value.parts)
    if isinstance(value, Conditional):
        return (*(one.of for one in value.conditions), value.then, value.otherwise)
    return (value.index if isinstance(value, TableEntry) else value.of,)


def names_in(value: Expression) -> set[str]:
    """Return the names in an expression."""
    own = {value.name} if isinstance(value, Name) else set()
    return own.union(*(names_in(part) for part in parts_of(value)))


def _tables_in(value: Expression) -> set[int]:
    own = {value.table} if isinstance(value, TableEntry) else set()
    return own.union(*(_tables_in(part) for part in parts_of(value)))


# --------------------------------------------------------------------------------------------------
# Steps with signed products and sums that wrap at the width of a type.
# --------------------------------------------------------------------------------------------------

SIZES = (8, 16, 32, 64)
LEFT = (0, 2, 4, 6, 8, 9, 8, 5)  # cycles of an 8-bit machine to shift 16 bits by 0 to 7
TURN = 16  # bits of a turn
WIDEST_TABLE = 8  # index bits of a table of several multiples of a word


@dataclass(frozen=True, slots=True)
class Held:
    """A sum times 2^by, its width, and the width of its type (`kind`)."""

    name: Name
    by: int
    bits: int

    @property
    def modulus(self) -> int:
        return self.by + self.bits


def size_of(bits: int) -> int:
    return next(size for size in SIZES if bits <= size)


def moving(by: int, kind: int) -> float:
    """Return the estimated cycles of a shift on an 8-bit machine."""
    octets, rest = divmod(abs(by), 8)
    return (LEFT[rest] if octets == 0 else octets + rest) * (kind / 16)


class NaturalMaker(StepMaker):
    """Creates sums of signed products."""

    def __init__(self, graph: WordGraph, names: Names) -> None:
        super().__init__(graph, names)
        self.held: dict[int, Held] = {}
        self.turns: dict[int, Name] = {}
        self.turned = self._is_turned()
        self.meanings: list[str] = []
        self.signed: dict[tuple[int, int], Expression] = {}
        self.entries: dict[tuple[int, tuple[int, ...]], Expression] = {}
        self.readers = [0] * len(graph.nodes)
        for node in graph.nodes:
            for place in set(reads(node)):
                self.readers[place] += 1

    def word(self, node: Node, meaning: str) -> None:
        """Name a node of the graph."""
        place = len(self.words)
        self.meanings += [""] * (place - len(self.meanings)) + [meaning]
        fixed = all(isinstance(self.words[k], ConstantNumber) for k in reads(node))
        if self.turned and isinstance(node, Angles) and not fixed:
            self._hold(TURN - node.bits, self.angles(node), node, meaning)
            return
        if not isinstance(node, Heap) or fixed:
            super().word(node, meaning)
            return
        made = self._sum(node, self._by(place, node))
        if isinstance(made, ConstantNumber):
            self.words.append(ConstantNumber(made.value))
            return
        self._hold(*made, node, meaning)

    def _hold(self, by: int, value: Expression, node: Node, meaning: str) -> None:
        """Keep a word shifted to the left."""
        place = len(self.words)
        kind = max(16, size_of(by + node.bits))
        name = self.names.new(meaning, "w")
        self.steps.append(ProcedureStep(name, kind, value, meaning, loose=True))
        self.held[place] = Held(Name(name, kind), by, node.bits)
        self.words.append(self.leading(place, 0))

    def leading(self, place: int, drop: int) -> Expression:
        """Return a word without its lowest bits."""
        node = self.graph.nodes[place]
        if self.turned and isinstance(node, InputWord) and node.angle and node.bits - drop <= 8:
            return moved(self._turned(place), node.bits - drop - TURN)
        if place not in self.held:
            return super().leading(place, drop)
        held = self.held[place]
        return Low(moved(held.name, -(held.by + drop)), held.bits - drop)

    def angles(self, node: Angles) -> Expression:
        """Return a sum of angles, in 16 bits if that is cheaper."""
        if not self.turned:
            return super().angles(node)
        constant, parts = node.constant << (TURN - node.bits), list[tuple[bool, Expression]]()
        for turn in node.turns:
            part: Expression = self._turned(turn.node)
            if turn.read < self.graph.nodes[turn.node].bits:
                part = Moved(Moved(part, turn.read - TURN), TURN - turn.read)
            by = turn.shift + turn.read - node.bits
            if by < 0 and turn.node in self.held:  # bits above a turn must not be shifted down
                part = Low(part, TURN)
            parts.append((turn.negative, Moved(part, by) if by else part))
            whole = (1 << turn.read) - 1
            constant += whole << (turn.shift + TURN - node.bits) if turn.negative else 0
        parts.sort(key=lambda pair: pair[0])
        return Wrapped(tuple(parts), constant % (1 << TURN), TURN)

    def _turned(self, place: int) -> Name:
        """Return an angle as a part of a turn in 16 bits."""
        if place in self.held:
            return self.held[place].name
        if place not in self.turns:
            word = self.words[place]
            bits = self.graph.nodes[place].bits
            made = self.step(f"{self._about(place)} turn", TURN, moved(_plain(word), TURN - bits))
            if not isinstance(made, Name):
                raise TypeError("an angle that is a constant")
            self.turns[place] = made
        return self.turns[place]

    def moving(self, by: int, kind: int) -> float:
        return moving(by, kind)

    def read_at(self, by: int, kind: int) -> float:
        return moving(min(by % 8, 8) if by >= 8 else by, kind)

    def _is_turned(self) -> bool:
        """Tell whether angles are cheaper in 16 bits: table indices then begin at a byte."""
        nodes = self.graph.nodes
        angles = {k for k, n in enumerate(nodes) if isinstance(n, InputWord) and n.angle}
        sums = {k for k, n in enumerate(nodes) if isinstance(n, Angles)}
        if any(nodes[k].bits > TURN for k in angles | sums):
            return False
        plain, turned = 2.0 * len(sums), 8.0 * len(angles)
        for node in nodes:
            if isinstance(node, Lookup) and node.source in angles | sums:
                plain += moving(nodes[node.source].bits - node.read, 16)
                turned += 8 - node.read if node.read <= 8 else moving(TURN - node.read, 16)
        return turned < plain

    def _by(self, place: int, node: Heap) -> int:
        """Return the left shift of a sum with the least shifts of its operands and uses."""
        whole = any(
            isinstance(part, PartialProducts) and part.layout(self.graph.nodes).column >= 0
            for part in node.parts
        )
        least = 1 if whole else 0
        kind = max(16, size_of(node.bits + least))
        choices = range(least, kind - node.bits + 1)
        return min(choices, key=lambda by: (self._moves(place, node, by, kind), by))

    def _moves(self, place: int, node: Heap, by: int, kind: int) -> float:
        """Return the cost of shifts for a left shift of a sum."""
        cost = 0.0
        for part in node.parts:
            column = part.layout(self.graph.nodes).column
            if isinstance(part, PartialProducts):
                cost += self.moving(max(0, column) + by - 1, kind)
            elif part.node in self.held and not part.drop:
                cost += self.moving(column + by - self.held[part.node].by, kind)
            elif not isinstance(self.graph.nodes[part.node], Lookup):
                cost += self.moving(column + by, kind)
        return cost + sum(self.read_at(shift, kind) for shift in self._shifts(place, by))

    def _shifts(self, place: int, by: int) -> Iterator[int]:
        """Yield the shifts of a sum in its uses."""
        bits = self.graph.nodes[place].bits
        for result in self.graph.results:
            if result.node == place:
                yield by + result.drop
        for node in self.graph.nodes:
            if isinstance(node, Lookup) and node.source == place:
                yield by + bits - node.read
            for part in node.parts if isinstance(node, Heap) else ():
                if isinstance(part, PartialProducts):
                    if part.a == place:
                        yield by - 1 + part.drop_a
                    if part.b == place:
                        yield by - 1 + part.drop_b

    def _sum(self, node: Heap, by: int) -> tuple[int, Expression] | ConstantNumber:
        """Return a sum, kept shifted to the left."""
        modulus = by + node.bits
        constant, parts = node.constant << by, list[tuple[bool, Expression]]()
        tables: list[tuple[int, tuple[int, ...]]] = []
        words = sorted((p for p in node.parts if isinstance(p, Bits)), key=lambda p: p.node)
        for place, several in groupby(words, key=lambda part: part.node):
            rows = list(several)
            constant += sum(p.layout(self.graph.nodes).weight << by for p in rows if p.negative)
            if entries := self._tabled(place, rows, by, modulus):
                tables.append((place, entries))
            else:
                parts += self._rows(place, rows, by)
        for one in node.parts:
            if isinstance(one, PartialProducts):
                part, more = self._product(one, by)
                constant += more
                parts.append((one.negative, part))
        numbers = [(negative, p.value) for negative, p in parts if isinstance(p, ConstantNumber)]
        constant += sum(-value if negative else value for negative, value in numbers)
        own = [k for k, (place, made) in enumerate(tables) if self._is_own(place, made)]
        if own:  # the constant is added in a table without other users
            place, made = tables[own[0]]
            tables[own[0]] = place, tuple((x + constant) % (1 << modulus) for x in made)
            constant = 0
        parts = [pair for pair in parts if not isinstance(pair[1], ConstantNumber)]
        parts = [*((False, self._entry(*table, "")) for table in tables), *parts]
        if not parts:
            return ConstantNumber((constant >> by) % (1 << node.bits))
        kind = max(16, size_of(modulus))
        parts.sort(key=lambda pair: pair[0])  # positive parts come first
        return by, Wrapped(tuple(parts), constant % (1 << modulus), kind)

    def _is_own(self, place: int, made: tuple[int, ...]) -> bool:
        """Tell whether a table has one user and entries wider than a byte."""
        lookup = isinstance(self.graph.nodes[place], Lookup)
        return lookup and self.readers[place] == 1 and max(made) > 255

    def _tabled(self, place: int, rows: list[Bits], by: int, modulus: int) -> tuple[int, ...]:
        """Return a table of a word's share in a sum: of tables and of digits of narrow words."""
        node = self.graph.nodes[place]
        lookup = isinstance(node, Lookup) and len(set(node.entries)) > 1
        small = len(rows) > 1 and node.bits <= WIDEST_TABLE and any(row.drop for row in rows)
        if isinstance(self.words[place], ConstantNumber) or not (lookup or small):
            return ()
        layouts = [(row.negative, row.layout(self.graph.nodes)) for row in rows]
        return tuple(
            sum(
                (-1 if negative else 1) * (entry >> row.drop << (row.column + by))
                for negative, row in layouts
            )
            % (1 << modulus)
            for entry in (node.entries if isinstance(node, Lookup) else range(1 << node.bits))
        )

    def _rows(self, place: int, rows: list[Bits], by: int) -> Iterator[tuple[bool, Expression]]:
        """Yield a word's shares in a sum; multiples are merged if nothing is dropped."""
        word = self.words[place]
        layouts = [(row.negative, row.layout(self.graph.nodes)) for row in rows]
        if not any(row.drop for row in rows) and not isinstance(word, ConstantNumber):
            factor = sum((-1 if negative else 1) << row.column for negative, row in layouts)
            if not factor:
                return
            value, shift = word, by
            if place in self.held:
                held = self.held[place]
                value, shift = Low(held.name, held.modulus), by - held.by
            low = (abs(factor) & -abs(factor)).bit_length() - 1
            odd, low = abs(factor) >> low, low + shift
            if odd == 1:
                yield factor < 0, moved(value, low)
                return
            if low >= 0:
                yield factor < 0, Multiple(value, odd << low)
                return
        for negative, row in layouts:
            yield negative, moved(self.leading(place, row.drop), row.column + by)

    def _product(self, part: PartialProducts, by: int) -> tuple[Expression, int]:
        """Return the share of a product in a sum, and a constant."""
        grid = part.layout(self.graph.nodes)
        full = ((1 << grid.a) - 1) * ((1 << grid.b) - 1)
        a, b = self.words[part.a], self.words[part.b]
        if (
            grid.column >= 0
            and not isinstance(a, ConstantNumber)
            and not isinstance(b, ConstantNumber)
        ):
            first, a_bits = self._factor(part.a, part.drop_a)
            second, b_bits = self._factor(part.b, part.drop_b)
            value = moved(SignedProduct(first, a_bits, second, b_bits), grid.column + by - 1)
            return value, full << (grid.column + by - 1)
        column = max(0, grid.column)
        value, most = product(
            self, self.leading(part.a, grid.drop_a), grid.a,
            self.leading(part.b, grid.drop_b), grid.b, column - grid.column,
        )  # fmt: skip
        return moved(value, column + by), (most << (column + by)) * part.negative

    def _factor(self, place: int, drop: int) -> tuple[Expression, int]:
        """Return a word as an odd number in two's complement, and the bits of its type."""
        node = self.graph.nodes[place]
        bits = node.bits - drop
        size = size_of(bits + 1)
        key = (place, drop)
        if key not in self.signed:
            self.signed[key] = self._made_factor(place, drop, size)
        return self.signed[key], size

    def _made_factor(self, place: int, drop: int, size: int) -> Expression:
        node = self.graph.nodes[place]
        bits, about = node.bits - drop, f"{self._about(place)} signed"
        middle = (1 << bits) - 1
        if isinstance(node, Lookup) and node.entries != tuple(range(len(node.entries))):
            entries = tuple((2 * (e >> drop) - middle) % (1 << size) for e in node.entries)
            return self._entry(place, entries, " signed", size)
        doubled = moved(self.leading(place, drop), 1)
        if place in self.held and not drop and self.held[place].by:
            held = self.held[place]
            doubled = moved(held.name, 1 - held.by)
            if bits + 1 < size:
                doubled = Low(doubled, bits + 1)
        value = Wrapped(((False, doubled),), -middle % (1 << size), size)
        return self.step(about, size, value)

    def _entry(self, place: int, entries: tuple[int, ...], about: str, size: int = 0) -> Expression:
        """Return an entry of a table of a word, or of another table's entry."""
        if (place, entries) not in self.entries:
            node = self.graph.nodes[place]
            text = f"{self._about(place)}{about}"
            if isinstance(node, Lookup):
                value = super().lookup(replace(node, entries=entries), text)
            else:
                value = TableEntry(self.table(text, entries), self.words[place], max(entries))
            bits = size or max(entries).bit_length()
            self.entries[place, entries] = self.step(text, bits, value)
        return self.entries[place, entries]

    def _about(self, place: int) -> str:
        node = self.graph.nodes[place]
        return node.name if isinstance(node, InputWord) else self.meanings[place]


def _plain(word: Expression) -> Expression:
    return word.of if isinstance(word, Low) else word


class WideNaturalMaker(NaturalMaker):
    """Creates steps for machines of 32 bits, which shift by any number of bits, or in an addition.

    Only a product without a shift is fused with an addition.
    """

    def moving(self, by: int, kind: int) -> float:  # noqa: ARG002 (one register holds all)
        return 1.0 if by else 0.0

    def read_at(self, by: int, kind: int) -> float:  # noqa: ARG002 (it is masked anyway)
        return 0.5 if by else 0.0


# --------------------------------------------------------------------------------------------------
# The order of statements in C: each step just before its first use, one output after the other, so
# that few values are live at a time. Loose sums are added part by part, after the operands of each.
# --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Statement:
    """A step, a part of its sum (`part`, counted from 0), or an output by its place."""

    step: ProcedureStep | None = None
    part: int | None = None
    output: int | None = None


def statements(procedure: Procedure) -> list[Statement]:
    """Return the statements of a procedure in order."""
    steps = {step.name: step for step in procedure.steps}
    done: set[str] = set()
    found: list[Statement] = []

    def before(value: Expression) -> None:
        for name in _names(value):
            if name in steps and name not in done:
                done.add(name)
                make(steps[name])

    def make(step: ProcedureStep) -> None:
        if step.loose and isinstance(step.value, Wrapped):
            for k, (_, part) in enumerate(step.value.parts):
                before(part)
                found.append(Statement(step, part=k))
            return
        before(step.value)
        found.append(Statement(step))

    for k, made in enumerate(procedure.outputs):
        for one in (*made.saturated, *made.rests):
            before(one.of)
        before(made.word)
        found.append(Statement(output=k))
    return found


def _names(value: Expression) -> Iterator[str]:
    """Yield the names in an expression, in order."""
    if isinstance(value, Name):
        yield value.name
    for part in parts_of(value):
        yield from _names(part)
