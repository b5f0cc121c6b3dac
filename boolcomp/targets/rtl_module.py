"""From a program's word graphs to the signals of a hardware description.

Every word of a graph is a signal of its name, unless it is constant or another word moved. Tables
that are symmetric are kept once and folded: an index that is reflected, a sign. Products take a
table without its sign, and the sign apart.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from boolcomp.base.errors import UsageError
from boolcomp.logic.network import CONSTANTS
from boolcomp.targets.gates import CONTROLS, Pin, Readers, refine, registers
from boolcomp.targets.rtl import (
    Addend,
    Books,
    Choice,
    Different,
    Fixed,
    Flipped,
    Product,
    Register,
    Sum,
    Table,
    Wires,
    Word,
    Words,
    above,
    at_rest,
    cell_of,
    cut,
    delay,
    in_parts,
    inverse,
    joined,
    multiplies,
    product_rows,
    reads,
    resting,
    saturated,
    summed,
    whole_product,
    width,
    wires_of,
    word_of,
)
from boolcomp.targets.target import SELECT, Names, why_no_graph, word_notes
from boolcomp.words.graph import Angles, Bits, Heap, InputWord, Lookup
from boolcomp.words.simulation import fold

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from boolcomp.program.program import Load, Program
    from boolcomp.targets.gates import Syntax
    from boolcomp.targets.rtl import Operation, Signal
    from boolcomp.targets.target import Design
    from boolcomp.words.graph import Node, PartialProducts, WordGraph


# --------------------------------------------------------------------------------------------------
# From a program's word graphs to the signals of a hardware description.
# --------------------------------------------------------------------------------------------------


class Meant(NamedTuple):
    """A word, and the same without its sign: `core`, inverted where the `sign` is odd."""

    word: Word
    core: Word
    sign: tuple[Wires, ...] = ()


def graph_of(program: Program, load: Load) -> WordGraph:
    """Return the word graph of a load; a program without one is a sentence."""
    if load.graph is None or load.joint is None:
        raise UsageError(
            f"{program.name} has no word graph to write ({why_no_graph(program)}): leave out "
            "--level words"
        )
    return load.graph


def graph_words(
    books: Books,
    program: Program,
    load: Load,
    cells: Mapping[str, Word],
    prefix: str,
    haste: int | None,
) -> list[Word]:
    """Make the words of a load's graph from the cells of inputs; return what outputs are read from.

    `prefix` tells the words of one load from those of another; see `summed` for `haste`.
    """
    graph = graph_of(program, load)
    meanings = load.meanings or tuple(f"w{k}" for k in range(len(graph.nodes)))
    maker = _Maker(books, graph, haste)
    for word in load.joint.words if load.joint is not None else ():
        given = program.inputs[word.input]
        cell = cut(cells[given.name], 0, given.code.bits - word.dropped)
        read = above(cell, given.code.bits - word.bits)
        maker.words.append(Meant(read, read))
    results = {result.node: k for k, result in enumerate(graph.results)}
    notes = word_notes(load, graph, meanings)
    for place, node in enumerate(graph.nodes):
        if not isinstance(node, InputWord):
            name = meanings[place]
            if place in results and name == f"w{place}":
                name = f"{load.outputs[results[place]].name} sum"
            maker.make(node, name, (f"{prefix}w{place}: {notes[place]}",))
    return [above(maker.words[result.node].word, result.drop) for result in graph.results]


class _Maker:
    """Makes the words of one node after the other."""

    def __init__(self, books: Books, graph: WordGraph, haste: int | None) -> None:
        self.books, self.graph, self.haste = books, graph, haste
        self.words: list[Meant] = []

    def make(self, node: Node, name: str, about: tuple[str, ...]) -> None:
        """Make a node's word."""
        if isinstance(node, Lookup):
            self.words.append(self.lookup(node, name, about))
            return
        if isinstance(node, Angles):
            word = self.angles(node, name, about)
        elif isinstance(node, Heap):
            word = self.heap(node, name, about)
        else:
            raise TypeError("inputs come first")
        self.words.append(Meant(word, word))

    def leading(self, place: int, drop: int) -> Word:
        """Return a word without its lowest bits."""
        return above(self.words[place].word, drop)

    def lookup(self, node: Lookup, name: str, about: tuple[str, ...]) -> Meant:
        """Return a table: folded where it is symmetric, of the bits of its index that change."""
        index = self.leading(node.source, self.graph.nodes[node.source].bits - node.read)
        index = joined(piece for k in node.picked for piece in cut(index, k, 1))
        index, entries = _changing(index, node.entries)
        index, entries = _entries_read(index, entries)
        if not index:
            word = joined([Fixed(entries[0], node.bits)])
            return Meant(word, word)
        if entries == tuple(range(len(entries))):
            word = joined([*index, Fixed(0, node.bits - width(index))])
            return Meant(word, word)
        folded = fold(entries, node.bits)
        bits = len(folded.inputs)
        sign = _chosen(index, folded.flip)
        mirror = _chosen(index, folded.inputs[0] ^ 1) if bits else ()
        low = cut(index, 0, bits)
        if mirror or len(low) > 1 or any(wire.inverted for wire in wires_of(low)):
            low = self.books.signal(f"{name} index", bits, Flipped(low, mirror))
        core: Word = (Fixed(folded.core[0], node.bits),)
        if bits:
            said = () if sign else about
            called = f"{name} size" if sign else name
            core = self.books.signal(called, node.bits, Table(low, folded.core), said)
        if not sign:
            return Meant(core, core)
        if len(sign) > 1:
            sign = (self.books.bit(f"{name} sign", Flipped((sign[0],), sign[1:])),)
        if node.bits == 1 and isinstance(core[0], Fixed):  # a bit, or its inverse
            bit = inverse(sign) if folded.core[0] else sign
            word = self.books.signal(name, 1, Flipped(bit, ()), about)
            return Meant(word, word)
        word = self.books.signal(name, node.bits, Flipped(core, sign), about)
        return Meant(word, core, sign)

    def angles(self, node: Angles, name: str, about: tuple[str, ...]) -> Word:
        """Return a sum of turns."""
        addends = []
        for turn in node.turns:
            word = self.leading(turn.node, self.graph.nodes[turn.node].bits - turn.read)
            addends.append(Addend(inverse(word) if turn.negative else word, turn.shift))
        return summed(self.books, name, about, addends, node.constant, node.bits, haste=self.haste)

    def heap(self, node: Heap, name: str, about: tuple[str, ...]) -> Word:
        """Return a sum of words and products."""
        total, addends = node.constant, []
        for part in node.parts:
            if isinstance(part, Bits):
                row = part.layout(self.graph.nodes)
                word = self.leading(part.node, row.drop)
                addends.append(Addend(inverse(word) if part.negative else word, row.column))
            else:
                rows, known = self.product(part, name)
                if self.haste is not None:
                    rows = in_parts(self.books, name, rows, node.bits, self.haste, 1)
                addends += rows
                total += known
        named = any(not isinstance(part, Bits) for part in node.parts)
        return summed(
            self.books, name, about, addends, total, node.bits, haste=self.haste, named=named
        )

    def product(self, part: PartialProducts, name: str) -> tuple[list[Addend], int]:
        """Return a product as addends and a constant."""
        grid = part.layout(self.graph.nodes)
        a, b = self.words[part.a], self.words[part.b]
        whole = above(a.word, grid.drop_a), above(b.word, grid.drop_b)
        if multiplies(grid, *whole):
            addend, known = whole_product(
                self.books, name, *whole, grid.column, negative=part.negative
            )
            return [addend], known
        sign = (*a.sign, *b.sign)
        if len(sign) > 1:
            sign = (self.books.bit(f"{name} sign", Flipped(sign[:1], sign[1:])),)
        cores = above(a.core, grid.drop_a), above(b.core, grid.drop_b)
        return product_rows(grid, *cores, sign, negative=part.negative), 0


def _chosen(index: Word, mask: int) -> tuple[Wires, ...]:
    """Return the bits of a word in a mask, most significant first."""
    return tuple(
        wire
        for k in reversed(range(width(index)))
        if mask >> k & 1
        for wire in wires_of(cut(index, k, 1))
    )


def _entries_read(index: Word, entries: tuple[int, ...]) -> tuple[Word, tuple[int, ...]]:
    """Return an index without bits that make no difference, and the entries that are left."""
    for k in reversed(range(width(index))):
        low = [e for row, e in enumerate(entries) if not row >> k & 1]
        if low == [e for row, e in enumerate(entries) if row >> k & 1]:
            entries = tuple(low)
            index = joined([*cut(index, 0, k), *above(index, k + 1)])
    return index, entries


def _changing(index: Word, entries: Sequence[int]) -> tuple[Word, tuple[int, ...]]:
    """Return an index without bits that never change, and the entries that are left."""
    left = list(entries)
    for k in reversed(range(width(index))):
        (bit,) = cut(index, k, 1)
        if isinstance(bit, Fixed):
            left = [e for row, e in enumerate(left) if row >> k & 1 == bit.value]
    return joined(wires_of(index)), tuple(left)


# --------------------------------------------------------------------------------------------------
# Signals of words cut into stages, with registers between them: short stages, few flip-flops.
#
# The shortest stage that is enough is found first; then signals move to where fewer bits are held
# between stages. A register holds those bits of a signal that are read after it.
# --------------------------------------------------------------------------------------------------


class Staged(NamedTuple):
    """Signals and outputs that read what they need from registers, those registers, and the rest.

    These are the fields of `Words` after its ports.
    """

    signals: tuple[Signal, ...]
    registers: tuple[Register, ...]
    drives: tuple[Word, ...]
    idle: tuple[Wires, ...]
    stages: int
    spans: dict[str, tuple[int, int]]


def staged(
    plan: Plan, signals: Sequence[Signal], drives: Sequence[Word], inputs: Sequence[Pin],
    names: Names,
) -> Staged:  # fmt: skip
    """Return signals and drives with registers between them, as a plan says."""
    count, stages = plan.count, plan.stages()
    spans = {pin.name: (0, pin.port.bits) for pin in inputs}
    made = dict.fromkeys(spans, 0)
    for signal, stage in zip(signals, stages, strict=True):
        spans[signal.name] = (signal.low, signal.bits)
        made[signal.name] = stage
    wanted = _wanted(signals, stages, drives, count)
    held, idle = _held(spans, made, wanted, names)
    known = {(one.source, stage): name for (one, stage), name in held.items()}
    found = []
    for (one, stage), name in held.items():
        source = known.get((one.source, stage - 1), one.source)
        found.append(Register(name, source, one.low, one.bits))
        spans[name] = (one.low, one.bits)

    def at(stage: int) -> Callable[[Wires], Wires]:
        return lambda wire: replace(wire, name=known.get((wire.name, stage), wire.name))

    moved = tuple(
        replace(signal, operation=_delayed_operation(signal.operation, at(stage)))
        for signal, stage in zip(signals, stages, strict=True)
    )
    ends = tuple(_word(word, at(count)) for word in drives)
    return Staged(moved, tuple(found), ends, tuple(idle), count, spans)


class _Held(NamedTuple):
    """Bits of a signal that are held."""

    source: str
    low: int
    bits: int


def _wanted(
    signals: Sequence[Signal], stages: Sequence[int], drives: Sequence[Word], count: int
) -> dict[str, dict[int, int]]:
    """Return which bits of signals are read in which stage."""
    found: dict[str, dict[int, int]] = {}
    every = [(wire, stage) for one, stage in zip(signals, stages, strict=True)
             for wire in reads(one.operation)]  # fmt: skip
    every += [(wire, count) for word in drives for wire in wires_of(word)]
    for wire, stage in every:
        masks = found.setdefault(wire.name, {})
        masks[stage] = masks.get(stage, 0) | ((1 << wire.bits) - 1) << wire.low
    return found


def _held(
    spans: dict[str, tuple[int, int]],
    made: dict[str, int],
    wanted: dict[str, dict[int, int]],
    names: Names,
) -> tuple[dict[tuple[_Held, int], str], list[Wires]]:
    """Return what is held in which stage, by its new name, and the bits that nothing reads."""
    held: dict[tuple[_Held, int], str] = {}
    idle: list[Wires] = []
    for name, (low, bits) in spans.items():
        masks = wanted.get(name, {})
        later = 0
        rows = []
        for stage in range(max(masks, default=0), made[name], -1):
            read = masks.get(stage, 0) | later
            first = (read & -read).bit_length() - 1
            later = ((1 << read.bit_length()) - 1) >> first << first
            rows.append((stage, first, read.bit_length() - first, later & ~read))
        unread = (((1 << bits) - 1) << low) & ~(masks.get(made[name], 0) | later)
        idle += _runs(name, unread)
        for stage, first, wide, gaps in reversed(rows):
            new = names.new(f"{name} s{stage}")
            held[_Held(name, first, wide), stage] = new
            idle += _runs(new, gaps)
    return held, idle


def _runs(name: str, mask: int) -> list[Wires]:
    """Return the bits of a mask as runs of wires."""
    found = []
    while mask:
        low = (mask & -mask).bit_length() - 1
        run = (~(mask >> low) & ((mask >> low) + 1)).bit_length() - 1
        found.append(Wires(name, low, run))
        mask &= ~(((1 << run) - 1) << low)
    return found


class Plan:
    """In which stages signals can be: `longest` is the shortest stage that is enough."""

    def __init__(
        self,
        signals: Sequence[Signal],
        drives: Sequence[Word],
        inputs: Sequence[Pin],
        count: int,
    ) -> None:
        names = [*(pin.name for pin in inputs), *(one.name for one in signals)]
        places = {name: CONSTANTS + k for k, name in enumerate(names)}
        first = CONSTANTS + len(inputs)
        operands = [*[()] * first, *(
            tuple(dict.fromkeys(places[wire.name] for wire in reads(one.operation)))
            for one in signals
        )]  # fmt: skip
        ends = {places[wire.name] for word in drives for wire in wires_of(word)}
        delays = [*[0] * first, *(delay(one.operation) for one in signals)]
        widths = [*[1] * CONSTANTS, *(pin.port.bits for pin in inputs), *(x.bits for x in signals)]
        self.books = Readers(first, operands, ends, delays, widths)
        self.count = count
        self.longest = _shortest(self.books, count)

    def stages(self) -> list[int]:
        """Return the stage of every signal, such that few bits are held."""
        books, count, first = self.books, self.count, self.books.first
        if count < 2:
            return [0] * (books.size - first)
        best: list[int] = []
        for choice in (_early(books, self.longest), _late(books, self.longest, count)):
            refine(books, choice, count, self.longest)
            if not best or registers(books, choice, count) < registers(books, best, count):
                best = choice
        return best[first:]


def _shortest(books: Readers, count: int) -> int:
    """Return the shortest stage with which so many are enough."""
    low, high = max(books.delays, default=0), sum(books.delays)
    while low < high:
        middle = (low + high) // 2
        if max(_early(books, middle), default=0) < max(1, count):
            high = middle
        else:
            low = middle + 1
    return low


def _early(books: Readers, longest: int) -> list[int]:
    """Return the earliest stage of every signal."""
    stages, times = [0] * books.size, [0] * books.size
    for k in range(books.first, books.size):
        near = books.operands[k]
        stage = max((stages[j] for j in near), default=0)
        start = max((times[j] for j in near if stages[j] == stage), default=0)
        if start + books.delays[k] > longest:
            stage, start = stage + 1, 0
        stages[k], times[k] = stage, start + books.delays[k]
    return stages


def _late(books: Readers, longest: int, count: int) -> list[int]:
    """Return the latest stage of every signal."""
    stages, tails = [0] * books.size, [0] * books.size
    for k in reversed(range(books.first, books.size)):
        near = books.users[k]
        stage = min((stages[j] for j in near), default=count - 1)
        after = max((tails[j] for j in near if stages[j] == stage), default=0)
        if after + books.delays[k] > longest:
            stage, after = stage - 1, 0
        stages[k], tails[k] = stage, after + books.delays[k]
    return stages


def _word(word: Word, at: Callable[[Wires], Wires]) -> Word:
    return tuple(at(piece) if isinstance(piece, Wires) else piece for piece in word)


def _delayed_operation(operation: Operation, at: Callable[[Wires], Wires]) -> Operation:
    """Return an operation that reads other signals."""
    if isinstance(operation, Sum):
        addends = tuple(
            Addend(_word(x.word, at), x.column, tuple(map(at, x.flips))) for x in operation.addends
        )
        return replace(operation, addends=addends)
    if isinstance(operation, Product | Different):
        return replace(operation, a=_word(operation.a, at), b=_word(operation.b, at))
    if isinstance(operation, Table):
        return replace(operation, index=_word(operation.index, at))
    if isinstance(operation, Choice):
        then, otherwise = _word(operation.then, at), _word(operation.otherwise, at)
        return Choice(at(operation.condition), then, otherwise)
    if isinstance(operation, Flipped):
        return Flipped(_word(operation.word, at), tuple(map(at, operation.flips)))
    return replace(operation, word=_word(operation.word, at))


# --------------------------------------------------------------------------------------------------
# A program as a module of words: its ports, the signals between them, in stages if wanted.
# --------------------------------------------------------------------------------------------------


USUAL = 2  # how much delay counts beside full adders where there are no stages (see `in_parts`)
HASTES = (2, 30)  # what is tried where there are


def words_of(
    program: Program, load: float | None, design: Design, syntax: Syntax, stages: int
) -> Words:
    """Return the module of a program's words; in stages, that with the shortest stage."""
    loads = program.loads if load is None else (program.load(load),)
    for one in loads:
        graph_of(program, one)
    hastes = HASTES if stages > 1 else (USUAL,)
    made = [_Module(program, loads, design, syntax, haste) for haste in hastes]
    plans = [Plan(one.books.signals, one.drives, one.inputs, stages) for one in made]
    _, place = min((plan.longest, k) for k, plan in enumerate(plans))
    best = made[place]
    parts = staged(plans[place], best.books.signals, best.drives, best.inputs, best.names)
    return Words(best.module, best.inputs, best.outputs, *parts)


class _Module:
    """A module without stages: ports, signals, and what outputs are made of."""

    def __init__(
        self, program: Program, loads: Sequence[Load], design: Design, syntax: Syntax,
        haste: int | None,
    ) -> None:  # fmt: skip
        self.module = Names(syntax.reserved).new(design.name, "boolcomp")
        self.names = Names([*syntax.reserved, *CONTROLS])
        self.inputs = tuple(Pin(self.names.new(port.name), port) for port in design.inputs)
        self.outputs = tuple(Pin(self.names.new(port.name), port) for port in design.outputs)
        books = self.books = Books(self.names)
        given: dict[str, Word] = {
            pin.port.name: (Wires(pin.name, 0, pin.port.bits),) for pin in self.inputs
        }
        cells = {x.name: cell_of(books, given[x.name], x.code, x.name) for x in program.inputs}
        rows = []
        for place, load in enumerate(loads):
            prefix = f"load {place} " if len(loads) > 1 else ""
            read = graph_words(books, program, load, cells, prefix, haste)
            rows.append(list(_results(books, program, load, cells, read)))
        chosen = _selected(books, rows, given[SELECT] if len(loads) > 1 else (), design)
        flags = {pin.port.name for pin in self.outputs if pin.port.flag}
        self.drives: list[Word] = []
        for output, (word, beyond) in zip(loads[0].outputs, chosen, strict=True):
            self.drives.append(word)
            if f"{output.name}_saturated" in flags:
                self.drives.append(beyond)


def _results(
    books: Books, program: Program, load: Load, cells: dict[str, Word], read: Sequence[Word]
) -> Iterator[tuple[Word, Word]]:
    """Yield the word of every output of a load, and whether it saturated."""
    for output, word in zip(load.outputs, read, strict=True):
        cell, beyond = saturated(books, word, output.code.bits, output.name)
        if output.rest is not None:
            rests = at_rest(books, output, cells, program.inputs)
            cell, beyond = resting(books, rests, cell, beyond, output)
        yield word_of(books, cell, output.code, output.name), beyond


def _selected(
    books: Books, rows: list[list[tuple[Word, Word]]], select: Word, design: Design
) -> list[tuple[Word, Word]]:
    """Return the words of the load that is selected; an odd one out stands for both."""
    names = [port.name for port in design.outputs if not port.flag]
    for k in range(width(select)):
        (bit,) = wires_of(cut(select, k, 1))
        rows = [
            [
                (
                    _either(books, name, bit, b[0], a[0]),
                    _either(books, f"{name} beyond", bit, b[1], a[1]),
                )
                for name, a, b in zip(names, zero, one, strict=True)
            ]
            for zero, one in zip(rows[::2], [*rows[1::2], rows[-1]][: len(rows[::2])], strict=True)
        ]
    return rows[0]


def _either(books: Books, name: str, bit: Wires, then: Word, otherwise: Word) -> Word:
    if then == otherwise:
        return then
    return books.signal(f"{name} chosen", width(then), Choice(bit, then, otherwise))
