"""From a word graph to a network of nodes with three inputs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from bitarray import bitarray, frozenbitarray

from boolcomp.compact.graph.heaps import Addition, TimedBuilder, add_constant, reduce_columns
from boolcomp.compact.graph.tables import Columns, columns_of, mux_network
from boolcomp.logic import luts
from boolcomp.logic.network import FALSE, Builder, Network, copied
from boolcomp.logic.truthtable import TruthTable
from boolcomp.words.folding import canonical, fold
from boolcomp.words.graph import (
    Angles,
    Bits,
    Heap,
    InputWord,
    Lookup,
    OutputWord,
    PartialProducts,
    WordGraph,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

Synthesiser: TypeAlias = Callable[[int, Columns], Network]
"""Makes the network of a table from its number of inputs and its columns (see `tables`)."""


def truth_table(inputs: int, columns: Columns) -> TruthTable:
    """Return columns as a truth table, whose first input is most significant."""
    return TruthTable(inputs, tuple(_plane(inputs, column) for column in columns))


def from_truth_tables(synthesise: Callable[[TruthTable], Network], widest: int = 64) -> Synthesiser:
    """Return what calls a synthesis of truth tables, whose first input is most significant.

    Tables of more inputs than the `widest` are made by decision diagrams.
    """

    def made(inputs: int, columns: Columns) -> Network:
        if inputs > widest:
            return mux_network(inputs, columns)
        table = truth_table(inputs, columns)
        builder = Builder(inputs)
        reversed_inputs = [builder.input(k) for k in reversed(range(inputs))]
        return builder.build(copied(synthesise(table), builder, reversed_inputs))

    return made


def _plane(inputs: int, column: int) -> frozenbitarray:
    rows = bitarray(endian="little")
    rows.frombytes(column.to_bytes(max(1, (1 << inputs) // 8), "little"))
    return frozenbitarray(bitarray(rows[: 1 << inputs], endian="big"))


@dataclass(frozen=True, slots=True)
class Literals:
    """The bits of a word, least significant first; all are inverted where `sign` is 1."""

    core: tuple[int, ...]
    sign: int = 2 * FALSE


def tables_in(graph: WordGraph) -> Iterator[tuple[int, Columns]]:
    """Yield every table of a graph that is synthesised: its number of inputs, and its columns."""
    for node in graph.nodes:
        if isinstance(node, Lookup) and not _copies(node):
            folded, _, _ = canonical(fold(node.entries, node.bits), node.bits)
            yield len(folded.inputs), columns_of(folded.core, node.bits)


def _copies(node: Lookup) -> bool:
    """Tell whether a table gives the word that it reads."""
    return node.bits == len(node.picked) and node.entries == tuple(range(len(node.entries)))


def word_logic(
    graph: WordGraph,
    synthesise: Synthesiser = mux_network,
    said: list[Addition] | None = None,
    counted: list[int] | None = None,
) -> Network:
    """Return the network of a word graph.

    Its inputs are the bits of the input words, each most significant first. Its outputs are, for
    every output, the bits of its word, most significant first, and whether it saturated. How its
    sums were added up, in the order of words, is `said`, if anybody listens; so is how many nodes
    every word takes beside those that words before it made.
    """
    maker = _made(graph, synthesise, said, counted)
    return maker.builder.build(maker.outputs())


def word_nodes(graph: WordGraph) -> int:
    """Return how many nodes `word_logic` has, tables made by cofactors, without making it."""
    maker = _made(graph, mux_network)
    return maker.builder.size(maker.outputs())


def word_depth(graph: WordGraph) -> int:
    """Return how deep `word_logic` is, tables made by cofactors, without making it."""
    maker = _made(graph, mux_network)
    return max(map(maker.builder.depth, maker.outputs()), default=0)


def _made(
    graph: WordGraph,
    synthesise: Synthesiser,
    said: list[Addition] | None = None,
    counted: list[int] | None = None,
) -> LogicMaker:
    """Return what has made all words of a graph."""
    maker = LogicMaker(graph, synthesise, said)
    for _ in graph.nodes:
        before = maker.builder.made
        maker.make_next()
        if counted is not None:
            counted.append(maker.builder.made - before)
    return maker


class LogicMaker:
    """Makes the bits of one node after the other."""

    def __init__(
        self,
        graph: WordGraph,
        synthesise: Synthesiser,
        said: list[Addition] | None = None,
    ) -> None:
        self.graph, self.synthesise, self.said = graph, synthesise, said
        self.builder = TimedBuilder(sum(word.bits for word in graph.inputs))
        self.words: list[Literals] = []

    def make_next(self) -> None:
        """Make the bits of the first word that has none yet."""
        node = self.graph.nodes[len(self.words)]
        if isinstance(node, InputWord):
            first = sum(word.bits for word in self.graph.inputs[: len(self.words)])
            bits = [self.builder.input(first + k) for k in range(node.bits)]
            made = Literals(tuple(reversed(bits)))
        elif isinstance(node, Angles):
            made = self.angles(node)
        elif isinstance(node, Lookup):
            made = self.lookup(node)
        else:
            made = self.heap(node)
        self.words.append(made)

    def outputs(self) -> list[int]:
        """Return the literals of all outputs."""
        return [literal for result in self.graph.results for literal in self.result(result)]

    def bits(self, place: int) -> list[int]:
        """Return the bits of a word, inverted where they have to be."""
        word = self.words[place]
        return [self.builder.node(luts.XOR2, bit, word.sign) for bit in word.core]

    def angles(self, node: Angles) -> Literals:
        """Add turns."""
        columns: dict[int, list[int]] = {}
        for turn in node.turns:
            word = self.bits(turn.node)
            for k, bit in enumerate(word[len(word) - turn.read :]):
                columns.setdefault(turn.shift + k, []).append(bit ^ turn.negative)
        add_constant(columns, node.constant, node.bits)
        return self.added(columns, node.bits)

    def lookup(self, node: Lookup) -> Literals:
        """Fold a table, and synthesise what is left of it."""
        word = self.bits(node.source)
        leading = word[len(word) - node.read :]
        word = [leading[k] for k in node.picked]
        if _copies(node):
            return Literals(tuple(word))
        folded, mirrored, inverted = canonical(fold(node.entries, node.bits), node.bits)
        index = [self._parity(word, mask) ^ mirrored for mask in folded.inputs]
        network = self.synthesise(len(index), columns_of(folded.core, node.bits))
        core = copied(network, self.builder, index)
        return Literals(tuple(bit ^ inverted for bit in core), self._parity(word, folded.flip))

    def _parity(self, word: Sequence[int], mask: int) -> int:
        literals = [bit for k, bit in enumerate(word) if mask >> k & 1]
        while len(literals) > 1:
            three = [*literals[:3], 2 * FALSE][:3]
            literals = [*literals[3:], self.builder.node(luts.XOR3, *three)]
        return literals[0] if literals else 2 * FALSE

    def heap(self, node: Heap) -> Literals:
        """Put parts and constant into columns and add them up."""
        columns: dict[int, list[int]] = {}
        for part in node.parts:
            if isinstance(part, Bits):
                row, bits = part.layout(self.graph.nodes), self.bits(part.node)
                for k in range(row.bits):
                    bit = bits[row.drop + k] ^ part.negative
                    columns.setdefault(row.column + k, []).append(bit)
            else:
                self._partial(columns, part)
        add_constant(columns, node.constant, node.bits)
        return self.added(columns, node.bits)

    def added(self, columns: dict[int, list[int]], bits: int) -> Literals:
        """Add up what stands in columns."""
        if self.said is None:
            return Literals(tuple(reduce_columns(self.builder, columns, bits)))
        said = Addition({column: list(literals) for column, literals in columns.items()}, bits)
        self.said.append(said)
        return Literals(tuple(reduce_columns(self.builder, columns, bits, said)))

    def _partial(self, columns: dict[int, list[int]], part: PartialProducts) -> None:
        """Add partial products: two digits agree or not, and the words' signs go into the same."""
        a, b = self.words[part.a], self.words[part.b]
        sign = self.builder.node(luts.XOR2, a.sign, b.sign) ^ (not part.negative)
        for i, row in part.layout(self.graph.nodes).rows():
            for k in range(row.bits):
                bit = self.builder.node(luts.XOR3, a.core[i], b.core[row.drop + k], sign)
                columns.setdefault(row.column + k, []).append(bit)

    def result(self, result: OutputWord) -> list[int]:
        """Round and saturate an output: what lies beyond shows in its leading bits."""
        word = self.bits(result.node)[result.drop :]
        head, cell = word[result.bits :], word[: result.bits]
        if not head:
            return [*reversed(cell), 2 * FALSE]
        positive = head[-1]
        # In two's complement the leading bit is inverted: all that are beyond must equal it.
        alike = [self.builder.node(luts.XOR2, bit, positive) for bit in (*head[:-1], cell[-1])]
        within = self.builder.all_of(alike)
        cell = [*cell[:-1], cell[-1] ^ 1]
        limited = [self.builder.node(0xCA, within, bit, positive) for bit in cell]
        return [*reversed(limited), within ^ 1]
