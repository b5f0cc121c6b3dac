"""From a program's word graphs to the signals of a hardware description.

Every word of a graph is a signal of its name, unless it is constant or another word moved. Tables
that are symmetric are kept once and folded: an index that is reflected, a sign. Products take a
table without its sign, and the sign apart.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from boolcomp.common.errors import UsageError
from boolcomp.targets.names import why_no_graph
from boolcomp.targets.rtl import Addend, Flipped, Table
from boolcomp.targets.rtlheaps import in_parts, multiplies, product_rows, summed, whole_product
from boolcomp.targets.wires import Fixed, Wires, Word, above, cut, inverse, joined, width, wires_of
from boolcomp.targets.wordnotes import word_notes
from boolcomp.words.folding import fold
from boolcomp.words.graph import Angles, Bits, Heap, InputWord, Lookup

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from boolcomp.program.parts import Load
    from boolcomp.program.program import Program
    from boolcomp.targets.rtlbooks import Books
    from boolcomp.words.graph import Node, PartialProducts, WordGraph


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
