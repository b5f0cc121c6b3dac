"""Build the network of nodes with three inputs, and the program, of a word graph."""

from __future__ import annotations

import heapq
import random
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import combinations
from typing import TYPE_CHECKING, TypeAlias

from bitarray import bitarray, frozenbitarray

from boolcomp.codes import Code
from boolcomp.compact.sketch import quantities
from boolcomp.compact.tables import Columns, columns_of, folding_nodes, mux_network
from boolcomp.logic import network as luts
from boolcomp.logic.network import CONSTANTS, FALSE, TRUE, Builder, Network, Node, copied
from boolcomp.logic.simulation import Planes, TruthTable
from boolcomp.problem.words import Interval
from boolcomp.program.program import program_of_network
from boolcomp.words.simulation import canonical, fold

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from boolcomp.compact.demand import Demand
    from boolcomp.compact.tables import Tabulated
    from boolcomp.problem.problem import Problem
    from boolcomp.program.program import Program
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


# --------------------------------------------------------------------------------------------------
# Bit heaps: sums of many bits by full adders, the earliest bits first.
# --------------------------------------------------------------------------------------------------

Timed = tuple[int, int]  # depth, literal
EVEN = (1 << 128) // 3  # ones in every second column


@dataclass(slots=True)
class Addition:
    """A record of a reduction: for every column, the operands, sums and carries of its adders."""

    columns: dict[int, list[int]]
    bits: int
    steps: dict[int, list[tuple[list[int], int, int]]] = field(default_factory=dict)

    def groups(self) -> list[list[list[int]]]:
        """Return for every column the places that its adders read, in their order.

        Places count the literals of a column: addends, carries, then sums. Literals that were left
        out because they are always 0 are added at the end.
        """
        columns = [list(self.columns.get(c, ())) for c in range(self.bits)] + [[]]
        found = []
        for c in range(self.bits):
            column, groups = columns[c], []
            free = list(range(len(column)))
            for taken, left, carry in self.steps.get(c, ()):
                group = []
                for literal in taken:
                    group.append(next(place for place in free if column[place] == literal))
                    free.remove(group[-1])
                groups.append(group)
                free.append(len(column))
                column.append(left)
                columns[c + 1].append(carry)
            while len(free) > 1:
                group, free = free[:3], [*free[3:], len(column)]
                groups.append(group)
                column.append(max(column[place] for place in group))
                columns[c + 1].append(2 * FALSE)
            found.append(groups)
        return found


def reduce_columns(
    builder: TimedBuilder,
    columns: Mapping[int, Sequence[int]],
    bits: int,
    record: Addition | None = None,
) -> list[int]:
    """Return the literals of the sum modulo 2^bits, least significant first.

    Each full adder is an XOR and a majority, and removes two bits from the heap; the builder takes
    the earliest bits, for depth. The steps are added to `record`.
    """
    waiting: list[list[Timed]] = [[] for _ in range(bits)]
    for column, literals in columns.items():
        if column < bits:
            waiting[column] += [(builder.depth(literal), literal) for literal in literals]
    total = []
    for column in range(bits):
        queue = waiting[column]
        heapq.heapify(queue)
        while len(queue) > 1:
            taken = builder.take(queue, carries=column + 1 < bits)
            three, carry = [*taken, 2 * FALSE][:3], 2 * FALSE
            if column + 1 < bits:
                carry = builder.node(luts.MAJ3, *three)
                if carry != 2 * FALSE:
                    waiting[column + 1].append((builder.depth(carry), carry))
            left = builder.node(luts.XOR3, *three)
            if record is not None:
                record.steps.setdefault(column, []).append((taken, left, carry))
            if left != 2 * FALSE or not queue:
                heapq.heappush(queue, (builder.depth(left), left))
        total.append(queue[0][1] if queue else 2 * FALSE)
    return total


def add_constant(columns: dict[int, list[int]], constant: int, bits: int) -> None:
    """Put the ones of a constant into a heap."""
    for column in range(bits):
        if constant >> column & 1:
            columns.setdefault(column, []).append(2 * TRUE)


def adder_nodes(counts: Sequence[int], dropped: int = 0, constant: int = 0) -> int:
    """Return the number of nodes that reduce columns with these counts of bits.

    The ones of a constant are bits too. Only the carry of the lowest `dropped` columns is used, and
    there is no carry out of the last column.
    """
    nodes, carries = 0, 0
    for column, count in enumerate(counts):
        bits = count + carries + (constant & 1)
        constant >>= 1
        carries = bits >> 1
        if carries:
            nodes += 2 * carries - (column < dropped)
    return nodes - carries


def mean_adder_nodes(counts: Sequence[int], dropped: int = 0) -> float:
    return (adder_nodes(counts, dropped, EVEN) + adder_nodes(counts, dropped, EVEN << 1)) / 2


class TimedBuilder(Builder):
    """A builder that keeps the depth of every literal."""

    def __init__(self, inputs: int) -> None:
        super().__init__(inputs)
        self._depths = [0] * (CONSTANTS + inputs)

    def depth(self, literal: int) -> int:
        return self._depths[literal >> 1]

    def take(self, queue: list[Timed], *, carries: bool) -> list[int]:  # noqa: ARG002 (in GuidedBuilder)
        """Remove the operands of the next full adder from the bits of a column, a heap."""
        return [heapq.heappop(queue)[1] for _ in range(min(3, len(queue)))]

    def _add(self, node: Node) -> int:
        signal = super()._add(node)
        if signal == len(self._depths):
            self._depths.append(1 + max(self._depths[k] for k in node.operands))
        return signal


class GuidedBuilder(TimedBuilder):
    """Prefers full adders whose sum and carry occur in a given network, at random input words.

    The order of its adders is then that of the network, which keeps proofs of equivalence short.
    """

    WORDS, SEED = 1 << 12, 1988
    COMPARED = 24  # bits of a column

    def __init__(self, inputs: int, network: Network) -> None:
        self._planes: list[int] = []
        super().__init__(inputs)
        noise = random.Random(self.SEED)  # noqa: S311 (reproducible)
        self._algebra = Planes((1 << self.WORDS) - 1)
        given = [noise.getrandbits(self.WORDS) for _ in range(inputs)]
        self._planes = [0, self._algebra.ones, *given]
        found = list(self._planes)
        for node in network.nodes:
            values = tuple(found[k] for k in node.operands)
            found.append(self._algebra.node(node.lut, values))
        self._given = {self._upright(plane) for plane in found}

    def _add(self, node: Node) -> int:
        signal = super()._add(node)
        if signal == len(self._planes):
            values = tuple(self._planes[k] for k in node.operands)
            self._planes.append(self._algebra.node(node.lut, values))
        return signal

    def take(self, queue: list[Timed], *, carries: bool) -> list[int]:
        """Remove the operands of the next full adder: the earliest of the best known."""
        best: tuple[Timed, ...] = ()
        most = -1
        for three in combinations(sorted(queue)[: self.COMPARED], min(3, len(queue))):
            if most < (count := self._occurring(three, carries=carries)):
                best, most = three, count
            if most == 1 + carries:
                break
        for one in best:
            queue.remove(one)
        heapq.heapify(queue)
        return [literal for _, literal in best]

    def _occurring(self, bits: Sequence[Timed], *, carries: bool) -> int:
        """Return how many of the sum and the carry of three bits the network contains."""
        a, b, c = [*(self._plane(literal) for _, literal in bits), 0][:3]
        made = (a ^ b ^ c, a & b | c & (a | b))[: 1 + carries]
        return sum(self._upright(one) in self._given for one in made)

    def _plane(self, literal: int) -> int:
        return self._planes[literal >> 1] ^ (self._algebra.ones if literal & 1 else 0)

    def _upright(self, plane: int) -> int:
        return plane ^ self._algebra.ones if plane & 1 else plane


# --------------------------------------------------------------------------------------------------
# The network of a word graph.
# --------------------------------------------------------------------------------------------------

Synthesiser: TypeAlias = Callable[[int, Columns], Network]
"""Returns the network of a table, given its number of inputs and its columns (see `tables`)."""


def truth_table(inputs: int, columns: Columns) -> TruthTable:
    return TruthTable(inputs, tuple(_plane(inputs, column) for column in columns))


def from_truth_tables(synthesise: Callable[[TruthTable], Network], widest: int = 64) -> Synthesiser:
    """Adapt a synthesis of truth tables, whose first input is most significant.

    Tables with more inputs than `widest` become decision diagrams.
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
    """The bits of a word, least significant first; `sign` is a literal that inverts all of them."""

    core: tuple[int, ...]
    sign: int = 2 * FALSE


def tables_in(graph: WordGraph) -> Iterator[tuple[int, Columns]]:
    """Yield the number of inputs and the columns of every table that is synthesised."""
    for node in graph.tables.values():
        if not _copies(node):
            folded, _, _ = canonical(fold(node.entries, node.bits), node.bits)
            yield len(folded.inputs), columns_of(folded.core, node.bits)


def _copies(node: Lookup) -> bool:
    return node.bits == len(node.picked) and node.entries == tuple(range(len(node.entries)))


def word_logic(
    graph: WordGraph,
    synthesise: Synthesiser = mux_network,
    additions: list[Addition] | None = None,
    counted: list[int] | None = None,
    like: Network | None = None,
) -> Network:
    """Return the network of a word graph, with adders in the order of those of a network `like`.

    Its inputs are the bits of the input words, each most significant first. Its outputs are, for
    every output, the bits of its word, most significant first, and whether it saturated.
    Records of sums, in the order of words, are appended to `additions`, and the number of nodes
    that each word adds to `counted`.
    """
    maker = LogicMaker(graph, synthesise, additions, counted, like)
    return maker.builder.build(maker.outputs())


def word_nodes(graph: WordGraph) -> int:
    """Return the number of nodes of `word_logic`, with tables made by cofactors."""
    maker = LogicMaker(graph, mux_network)
    return maker.builder.size(maker.outputs())


def word_depth(graph: WordGraph) -> int:
    """Return the depth of `word_logic`, with tables made by cofactors."""
    maker = LogicMaker(graph, mux_network)
    return max(map(maker.builder.depth, maker.outputs()), default=0)


class LogicMaker:
    """The bits of all words of a graph, made in their order."""

    def __init__(
        self,
        graph: WordGraph,
        synthesise: Synthesiser,
        additions: list[Addition] | None = None,
        counted: list[int] | None = None,
        like: Network | None = None,
    ) -> None:
        self.graph, self.synthesise, self.additions = graph, synthesise, additions
        inputs = sum(word.bits for word in graph.inputs)
        self.builder = GuidedBuilder(inputs, like) if like else TimedBuilder(inputs)
        self.words: list[Literals] = []
        before = self.builder.made
        for word in graph.fold(self):
            self.words.append(word)
            if counted is not None:
                counted.append(self.builder.made - before)
                before = self.builder.made

    def input(self, place: int, node: InputWord) -> Literals:
        """Return the inputs of the network that are the bits of a word."""
        first = sum(word.bits for word in self.graph.inputs[:place])
        bits = [self.builder.input(first + k) for k in range(node.bits)]
        return Literals(tuple(reversed(bits)))

    def outputs(self) -> list[int]:
        return [literal for result in self.graph.results for literal in self.result(result)]

    def bits(self, place: int) -> list[int]:
        """Return the bits of a word after inversion by its sign."""
        word = self.words[place]
        return [self.builder.node(luts.XOR2, bit, word.sign) for bit in word.core]

    def angles(self, _place: int, node: Angles) -> Literals:
        """Add the turns of an angle sum."""
        columns: dict[int, list[int]] = {}
        for turn in node.turns:
            word = self.bits(turn.node)
            for k, bit in enumerate(word[len(word) - turn.read :]):
                columns.setdefault(turn.shift + k, []).append(bit ^ turn.negative)
        add_constant(columns, node.constant, node.bits)
        return self.added(columns, node.bits)

    def lookup(self, _place: int, node: Lookup) -> Literals:
        """Fold a table, and synthesise its core."""
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

    def heap(self, _place: int, node: Heap) -> Literals:
        """Add up parts and constant of a heap."""
        columns: dict[int, list[int]] = {}
        for placed in node.each(self._placed, self._partial):
            for column, bit in placed:
                columns.setdefault(column, []).append(bit)
        add_constant(columns, node.constant, node.bits)
        return self.added(columns, node.bits)

    def added(self, columns: dict[int, list[int]], bits: int) -> Literals:
        """Add up columns."""
        record = None
        if self.additions is not None:
            record = Addition({c: list(literals) for c, literals in columns.items()}, bits)
            self.additions.append(record)
        return Literals(tuple(reduce_columns(self.builder, columns, bits, record)))

    def _placed(self, part: Bits) -> Iterator[tuple[int, int]]:
        """Yield the bits of a word with their columns."""
        row, bits = part.layout(self.graph.nodes), self.bits(part.node)
        return ((row.column + k, bits[row.drop + k] ^ part.negative) for k in range(row.bits))

    def _partial(self, part: PartialProducts) -> Iterator[tuple[int, int]]:
        """Yield partial products and their columns: the XNOR of two digits and the words' signs."""
        a, b = self.words[part.a], self.words[part.b]
        sign = self.builder.node(luts.XOR2, a.sign, b.sign) ^ (not part.negative)
        for i, row in part.layout(self.graph.nodes).rows():
            for k in range(row.bits):
                bit = self.builder.node(luts.XOR3, a.core[i], b.core[row.drop + k], sign)
                yield row.column + k, bit

    def result(self, result: OutputWord) -> list[int]:
        """Round and saturate an output; its leading bits show whether it is out of range."""
        word = self.bits(result.node)[result.drop :]
        head, cell = word[result.bits :], word[: result.bits]
        if not head:
            return [*reversed(cell), 2 * FALSE]
        positive = head[-1]
        # In two's complement the leading bit is inverted: all bits above the word must equal it.
        alike = [self.builder.node(luts.XOR2, bit, positive) for bit in (*head[:-1], cell[-1])]
        within = self.builder.all_of(alike)
        cell = [*cell[:-1], cell[-1] ^ 1]
        limited = [self.builder.node(0xCA, within, bit, positive) for bit in cell]
        return [*reversed(limited), within ^ 1]


# --------------------------------------------------------------------------------------------------
# Estimates of the number of tables of six inputs, for FPGAs.
#
# Any function of six inputs is one table. Larger ones are split on two leading inputs at a time,
# because a multiplexer of four takes one table. A part and its inverse are counted once. Partial
# products are free within the adders that read them.
# --------------------------------------------------------------------------------------------------

INPUTS = 6
ADDING = 0.96  # tables of six inputs for a node of an adder


@lru_cache(maxsize=1 << 14)
def column_luts(inputs: int, columns: Columns) -> int:
    """Return the number of tables for columns of a table."""
    known: set[tuple[int, int]] = set()
    waiting = [_reduced(inputs, column) for column in columns]
    while waiting:
        level, table = waiting.pop()
        if (level, table) in known or _is_wire(level, table):
            continue
        known.add((level, table))
        if level > INPUTS:
            size = 1 << (level - (1 if level == INPUTS + 1 else 2))
            mask = (1 << size) - 1
            parts = range(0, 1 << level, size)
            waiting += [_reduced(size.bit_length() - 1, table >> k & mask) for k in parts]
    return len(known)


def _reduced(level: int, table: int) -> tuple[int, int]:
    """Return a table or its inverse, whichever begins with 0, without unused leading inputs."""
    if table & 1:
        table ^= (1 << (1 << level)) - 1
    while level:
        half = 1 << (level - 1)
        low = table & ((1 << half) - 1)
        if low != table >> half:
            break
        level, table = level - 1, low
    return level, table


def _is_wire(level: int, table: int) -> bool:
    """Return whether a reduced table is a constant or one of its inputs."""
    half = 1 << (level - 1) if level else 0
    return table == ((1 << half) - 1) << half


def table_luts(table: Tabulated, *, operand: bool) -> float:
    return _luts(table.entries, table.bits, operand=operand)


@lru_cache(maxsize=1 << 12)
def _luts(entries: tuple[int, ...], bits: int, *, operand: bool) -> float:
    count = len(entries).bit_length() - 1
    plain = column_luts(count, columns_of(entries, bits))
    if count <= INPUTS:
        return float(plain)
    folded, _, _ = canonical(fold(entries, bits), bits)
    inputs = len(folded.inputs)
    cost = column_luts(inputs, columns_of(folded.core, bits)) + folding_nodes(folded)
    return float(min(plain, cost + (bits if folded.flip and not operand else 0)))


def graph_luts(graph: WordGraph) -> int:
    """Return the cost of a graph's tables and adders, without saturation."""
    cost = 0.0
    for luts_of_node in graph.fold(_NodeLuts(graph)):
        cost += luts_of_node
    return round(cost)


class _NodeLuts:
    """The cost of every node of a graph in look-up tables."""

    def __init__(self, graph: WordGraph) -> None:
        self.graph, self.factors = graph, graph.factors

    def input(self, _place: int, _node: InputWord) -> float:
        return 0.0

    def angles(self, _place: int, node: Angles) -> float:
        return ADDING * 2 * node.bits * (len(node.turns) - 1)

    def lookup(self, place: int, node: Lookup) -> float:
        return _luts(node.entries, node.bits, operand=place in self.factors)

    def heap(self, _place: int, node: Heap) -> float:
        counts = [0] * node.bits
        for row in (row for part in node.parts for row in part.rows(self.graph.nodes)):
            for column in range(row.column, min(row.column + row.bits, node.bits)):
                counts[column] += 1
        return ADDING * adder_nodes(counts, 0, node.constant)


# --------------------------------------------------------------------------------------------------
# The program of a word graph and its network: the codes of inputs and outputs.
# --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class WordEnds:
    """Shifts of the outputs' codes, in steps, and the inputs at whose zeros outputs rest.

    `rest` has, for every output, the inputs at whose zeros it is exactly zero, or None.
    """

    shifts: tuple[float, ...] = ()
    rest: tuple[tuple[str, ...] | None, ...] = ()


def input_codes(problem: Problem, demand: Demand, graph: WordGraph) -> dict[str, Code]:
    """Return the codes of a graph's own words by name, in the order of its network's inputs.

    They are natural and mid-rise; the range of a word with a cell at zero is half a step lower.
    """
    words = quantities(problem, demand.input_bits)
    return {
        node.name: Code(words[node.name].range, node.bits, "natural", words[node.name].wraps)
        for node in graph.inputs
    }


def given_codes(
    problem: Problem, demand: Demand, graph: WordGraph, ends: WordEnds
) -> dict[str, Code]:
    """Return the codes of a program's input words by name.

    Words with a specified format, and those at whose zeros an output rests, are whole; others lack
    unused low bits.
    """
    own = input_codes(problem, demand, graph)
    bits = problem.by_input(demand.input_bits)
    whole = {name for names in ends.rest if names is not None for name in names}
    for one in problem.inputs:
        if one.name in own and (one.format or one.name in whole):
            kind = one.format.code or "natural"
            own[one.name] = Code(one.word, bits[one.name], kind, one.wraps, one.format.tread)
    return own


def output_codes(
    problem: Problem, demand: Demand, graph: WordGraph, shifts: Sequence[float] = ()
) -> tuple[Code, ...]:
    """Return the codes of outputs about the middles of ranges, moved by `shifts` steps."""
    codes = []
    steps, moved = problem.steps(demand.bits), shifts or [0.0] * len(problem.outputs)
    outputs = zip(problem.outputs, steps, moved, graph.results, strict=True)
    for output, step, shift, result in outputs:
        reach, centre = step * 2.0 ** (result.bits - 1), output.range.centre + shift * step
        span, kind = Interval(centre - reach, centre + reach), output.format.code or "natural"
        codes.append(Code(span, result.bits, kind, tread=result.tread))
    return tuple(codes)


def program_of_graph(
    problem: Problem,
    demand: Demand,
    graph: WordGraph,
    network: Network,
    ends: WordEnds | None = None,
) -> Program:
    """Return the program of a graph's network, with one load."""
    chosen = ends or WordEnds()
    inputs = input_codes(problem, demand, graph)
    codes = output_codes(problem, demand, graph, chosen.shifts)
    made = program_of_network(problem, demand.bits, inputs, codes, network)
    given = given_codes(problem, demand, graph, chosen)
    (load,) = made.loads
    if chosen.rest:
        read = [None if rest is None else [n for n in rest if n in inputs] for rest in chosen.rest]
        pairs = zip(load.outputs, read, strict=True)
        outputs = tuple(
            replace(output, rest=None if rest is None else tuple(rest)) for output, rest in pairs
        )
        load = replace(load, outputs=outputs)
    words = tuple(replace(word, code=given[word.name]) for word in made.inputs)
    return replace(made, inputs=words, loads=(load,))
