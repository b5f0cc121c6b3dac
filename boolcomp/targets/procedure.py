"""A word graph as a straight-line procedure on integers, which languages print.

Steps stand for the graph's words, in order, with names that say what they mean; before them input
words become cells, after them outputs are rounded, saturated and put in their codes. Words that are
constant are no steps, and words that nothing reads are left out.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from boolcomp.common.errors import UsageError
from boolcomp.targets.expressions import (
    Agreement,
    Choice,
    Different,
    Entry,
    Expression,
    Less,
    Low,
    Moved,
    Name,
    Number,
    Padded,
    Signed,
    Total,
    Within,
    Wrapped,
    low,
    moved,
)
from boolcomp.targets.names import Names, comment, escapes, why_no_graph, word_names
from boolcomp.targets.products import product
from boolcomp.targets.tablesums import with_tables_added
from boolcomp.words.graph import Angles, Bits, Heap, InputWord, Lookup, OutputWord

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from boolcomp.codes import Code
    from boolcomp.program.parts import CodedOutput, Load
    from boolcomp.program.program import Program
    from boolcomp.words.graph import Node, WordGraph

OPERATORS = {Different: " ^ ", Less: " - ", Total: " + "}
WIDEST = 64  # bits of the integers of any language


@dataclass(frozen=True, slots=True)
class Table:
    """A table of constants, and whether any step reads it."""

    name: str
    entries: tuple[int, ...]
    read: bool = True

    @property
    def bits(self) -> int:
        """The bits of its largest entry."""
        return max(1, max(self.entries).bit_length())


@dataclass(frozen=True, slots=True)
class Step:
    """A name for a value of so many bits, and what it means.

    Of a `loose` value only these bits count: whoever reads it takes off what lies above them.
    """

    name: str
    bits: int
    value: Expression
    about: str = ""
    loose: bool = False

    @property
    def said(self) -> str:
        """What it means, where its name does not say that."""
        text = comment(self.about)
        plain = re.fullmatch("[A-Za-z0-9 ]+", text) and self.name.startswith(text.replace(" ", "_"))
        return "" if plain else text


@dataclass(frozen=True, slots=True)
class Given:
    """An input: its name in the program, that of its parameter, its bits; whether it is read."""

    name: str
    parameter: str
    bits: int
    read: bool


@dataclass(frozen=True, slots=True)
class Made:
    """An output: its name in the program, that of its result, its word, and when it saturated."""

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
    tables: tuple[Table, ...]
    inputs: tuple[Given, ...]
    steps: tuple[Step, ...]
    outputs: tuple[Made, ...]

    @property
    def escapes(self) -> list[str]:
        """Lines on inputs and outputs that are not called by their names."""
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
    made_by: Callable[[WordGraph, Names], Maker] | None = None,
    keywords: Iterable[str] = (),
) -> Procedure:
    """Return the procedure of a program's word graph with a load.

    Inputs and outputs keep their names but for `keywords`; steps and tables get names that are
    neither theirs nor reserved. `made_by` is another way to make its steps.
    """
    graph = load.graph
    if graph is None or load.joint is None:
        raise UsageError(
            f"{program.name} has no word graph to write ({why_no_graph(program)}): export its "
            f"logic, --to c-sliced; of Python and JavaScript --level gates"
        )
    named = load.meanings or [f"w{k}" for k in range(len(graph.nodes))]
    graph, meanings = with_tables_added(graph, named)
    called = word_names(program, keywords)
    name = Names(reserved).new(program.name, "program")
    maker = (made_by or Maker)(graph, Names([*reserved, *called.values(), name]))
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


class Maker:
    """Makes one step after the other."""

    def __init__(self, graph: WordGraph, names: Names) -> None:
        self.graph, self.names = graph, names
        self.words: list[Expression] = []  # of every node
        self.steps: list[Step] = []
        self.tables: list[Table] = []
        self.places: dict[tuple[int, ...], int] = {}
        self.called: dict[str, str] = {}  # inputs and outputs by name

    def table(self, name: str, entries: tuple[int, ...]) -> int:
        """Return the place of a table; equal ones are kept once."""
        if entries not in self.places:
            self.places[entries] = len(self.tables)
            self.tables.append(Table(self.names.new(f"{name} table", "table"), entries))
        return self.places[entries]

    def step(self, about: str, bits: int, value: Expression) -> Expression:
        """Give a value a name."""
        if isinstance(value, Number | Name):
            return value
        if isinstance(value, Padded):
            return replace(value, of=self.step(about, bits - value.by, value.of))
        name = self.names.new(about, "w")
        self.steps.append(Step(name, bits, value, about))
        return Name(name, bits)

    def inputs(self, program: Program) -> dict[str, Expression]:
        """Return the cells of all input words; what lies beyond their bits is left away."""
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
                word = self.step(about, code.bits, Different(word, Moved(word, -shift)))
                shift *= 2
            return word
        if code.kind == "twos":
            return self.step(about, code.bits, Different(word, Number(half)))
        if code.kind == "sign-magnitude":
            size = Low(word, code.bits - 1)
            below = Less(Number(half - (not code.tread)), size)
            above = Total((size, Number(half)))
            value = Choice((Within(word, half, code.cells - 1),), below, above)
            return self.step(about, code.bits, value)
        return word

    def word(self, node: Node, meaning: str) -> None:
        """Give a node of the graph a name."""
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
        """Return a word without its lowest bits."""
        return moved(self.words[place], -drop)

    def lookup(self, node: Lookup, meaning: str) -> Expression:
        """Return an entry of a table; what is the same everywhere needs none."""
        if len(set(node.entries)) == 1:
            return Number(node.entries[0])
        index = self.leading(node.source, self.graph.nodes[node.source].bits - node.read)
        index = _picked(index, node.picked)
        if isinstance(index, Number):
            return Number(node.entries[index.value])
        if node.entries == tuple(range(len(node.entries))):
            return index
        return Entry(self.table(meaning, node.entries), index, max(node.entries))

    def angles(self, node: Angles) -> Expression:
        """Return a sum of turns."""
        constant, parts = node.constant, []
        for turn in node.turns:
            drop = self.graph.nodes[turn.node].bits - turn.read
            parts.append((turn.negative, moved(self.leading(turn.node, drop), turn.shift)))
            constant += (((1 << turn.read) - 1) << turn.shift) * turn.negative
        return _wrapped(parts, constant, node.bits)

    def heap(self, node: Heap) -> Expression:
        """Return a sum of words and products: an inverse is what a value lacks to all ones."""
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

    def output(self, output: CodedOutput, result: OutputWord, rests: tuple[Within, ...]) -> Made:
        """Return an output: rounded, saturated, at zero where it rests, and coded."""
        heap = self.graph.nodes[result.node]
        cell = self.leading(result.node, result.drop)
        left = heap.bits - result.drop
        saturated: tuple[Within, ...] = ()
        if left > result.bits:
            cell = self.step(f"{output.name} rounded", left, cell)
            first = (1 << left >> 1) - (1 << result.bits >> 1)
            last = first + (1 << result.bits) - 1
            saturated = (Within(cell, first, last),)
            below = Choice((Within(cell, 0, first),), Number(0), Less(cell, Number(first)))
            most = Number((1 << result.bits) - 1)
            cell = Choice((Within(cell, last, (1 << left) - 1),), most, below)
        if rests:
            cell = Choice(rests, Number(1 << result.bits >> 1), cell)
        cell = self.step(f"{output.name} cell", result.bits, cell)
        name = self.called[output.name]
        return Made(output.name, name, result.bits, _coded(cell, output.code), saturated, rests)

    def procedure(self, name: str, program: Program, outputs: Sequence[Made]) -> Procedure:
        """Return all of it, without what nothing reads."""
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
            Given(x.name, self.called[x.name], x.code.bits, self.called[x.name] in read)
            for x in program.inputs
        )
        return Procedure(name, tables, inputs, tuple(kept), tuple(outputs))


def _picked(index: Expression, picked: Sequence[int]) -> Expression:
    """Return some bits of a value side by side; runs of them are moved at once."""
    parts: list[Expression] = []
    place = 0
    while place < len(picked):
        run = 1
        while place + run < len(picked) and picked[place + run] == picked[place] + run:
            run += 1
        parts.append(moved(low(moved(index, -picked[place]), run), place))
        place += run
    if all(isinstance(part, Number) for part in parts):
        return Number(sum(part.most for part in parts))
    return parts[0] if len(parts) == 1 else Total(tuple(parts))


def _wrapped(parts: Sequence[tuple[bool, Expression]], constant: int, bits: int) -> Expression:
    """Return a sum; numbers in it join the constant."""
    left = []
    for negative, part in parts:
        if isinstance(part, Number):
            constant += -part.value if negative else part.value
        else:
            left.append((negative, part))
    low_end = -sum(part.most for negative, part in left if negative)
    high_end = sum(part.most for negative, part in left if not negative)
    if not left or not (low_end + constant >= 0 and high_end + constant < 1 << bits):
        constant %= 1 << bits
    if not left:
        return Number(constant)
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
        return Different(cell, moved(cell, -1))
    if code.kind == "twos":
        return Different(cell, Number(half))
    if code.kind == "sign-magnitude":
        below: Expression = Less(Number(code.cells - (not code.tread)), cell)
        if code.tread:  # the lowest cell is as large as no word can say
            below = Choice((Within(cell, 0, 0),), Number(code.cells - 1), below)
        return Choice((Within(cell, half, code.cells - 1),), Less(cell, Number(half)), below)
    return cell


def _zeros(program: Program, output: CodedOutput, cells: dict[str, Expression]) -> Iterator[Within]:
    """Yield when the words are zero at which an output rests."""
    for word in program.inputs:
        if word.name in (output.rest or ()):
            half = word.code.cells >> 1
            yield Within(cells[word.name], half - (not word.code.tread), half)


def parts_of(value: Expression) -> tuple[Expression, ...]:
    """Return the expressions that an expression is made of."""
    if isinstance(value, Number | Name):
        return ()
    if isinstance(value, Agreement | Different | Less | Signed):
        return (value.a, value.b)
    if isinstance(value, Total):
        return value.parts
    if isinstance(value, Wrapped):
        return tuple(part for _, part in value.parts)
    if isinstance(value, Choice):
        return (*(one.of for one in value.conditions), value.then, value.otherwise)
    return (value.index if isinstance(value, Entry) else value.of,)


def names_in(value: Expression) -> set[str]:
    """Return the names that an expression reads."""
    own = {value.name} if isinstance(value, Name) else set()
    return own.union(*(names_in(part) for part in parts_of(value)))


def _tables_in(value: Expression) -> set[int]:
    own = {value.table} if isinstance(value, Entry) else set()
    return own.union(*(_tables_in(part) for part in parts_of(value)))
