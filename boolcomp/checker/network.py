"""Check the section `first`: the network that a word graph defines by rule.

The network is derived here from the graph alone. A table becomes a tree of multiplexers over
parities of its index. A sum becomes columns of its bits and partial products. Full adders replace
two or three bits of a column by one there and one in the next column. The section states the
parities of a table (all entries show that the table is that function of them) and the bits of every
adder.

    w7 folds 1 2 5 flip 4           masks of index bits, one per parity; that of `flip` inverts all
    w9 adds 0 1 2, 3 4 / 0 1 /      positions within columns, as they arrive, lowest column first
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from boolcomp.base.errors import DataError, shown
from boolcomp.checker.folder import CheckedCases, DoesNotHoldError, VerdictStep, checked
from boolcomp.words.graph import Angles, Bits, Heap, InputWord, Lookup

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from boolcomp.checker.folder import CertificateSection, LoadFiles
    from boolcomp.words.graph import OutputWord, PartialProducts, WordGraph


# --------------------------------------------------------------------------------------------------
# Networks of LUT3s, and their values over any cut.
#
# A literal is twice a signal, plus one if inverted. Signal 0 is the constant 0; then come the
# inputs, then the nodes, each after its operands. Bit 4a + 2b + c of a node's table is its value at
# a, b, c.
# --------------------------------------------------------------------------------------------------

FALSE, TRUE = 0, 1
XOR3, MAJ3, MUX, AND3 = 0x96, 0xE8, 0xCA, 0x80
_MONOMIALS = (0b000, 0b001, 0b010, 0b011, 0b100, 0b101, 0b110, 0b111)  # of a, b, c


class RuleNetwork:
    """Nodes in order; `equal` has the earlier literal that each signal was proved equal to."""

    def __init__(self, inputs: int) -> None:
        self.inputs = inputs
        self.tables: list[int] = [0] * (inputs + 1)
        self.operands: list[tuple[int, ...]] = [()] * (inputs + 1)
        self.equal: list[int] = [2 * k for k in range(inputs + 1)]

    def node(self, table: int, a: int, b: int, c: int) -> int:
        """Add a node; return its literal."""
        self.tables.append(table)
        self.operands.append((a, b, c))
        self.equal.append(2 * len(self.equal))
        return self.equal[-1]

    def xor(self, literals: Sequence[int]) -> int:
        """Add the parity of literals as LUT3s and return its literal; constants need no node."""
        odd = sum(one == TRUE for one in literals) & 1
        waiting = [one for one in literals if one > TRUE]
        while len(waiting) > 1:
            three = [*waiting[:3], FALSE][:3]
            waiting = [*waiting[3:], self.node(XOR3, *three)]
        return (waiting[0] if waiting else FALSE) ^ odd

    def mux(self, chooser: int, one: int, zero: int) -> int:
        """Add a multiplexer: `one` if the chooser is 1, else `zero`."""
        if one == zero:
            return one
        if one ^ zero == 1 and zero <= TRUE:
            return chooser ^ zero
        return self.node(MUX, chooser, one, zero)

    def known(self, literal: int) -> int:
        """Return the earliest literal that a literal was proved equal to."""
        seen = literal
        while self.equal[seen >> 1] != seen & ~1:
            seen = self.equal[seen >> 1] ^ (seen & 1)
        return seen

    def values(self, literals: Sequence[int], cut: dict[int, int], ones: int) -> list[int]:
        """Return the bit planes of literals, given the planes of the signals of a cut.

        A `KeyError` names a signal outside the cut that does not depend on the cut alone.
        """
        found = {0: 0, **cut}
        for literal in literals:
            for signal in self._below(literal >> 1, found):
                a, b, c = (self._plane(one, found, ones) for one in self.operands[signal])
                found[signal] = evaluated(self.tables[signal], a, b, c, ones)
        return [self._plane(one, found, ones) for one in literals]

    def _plane(self, literal: int, found: dict[int, int], ones: int) -> int:
        known = literal if literal >> 1 in found else self.known(literal)
        return found[known >> 1] ^ (ones if known & 1 else 0)

    def _below(self, signal: int, found: dict[int, int]) -> Iterator[int]:
        """Yield the signals that a signal depends on, each after its operands."""
        waiting = [signal]
        while waiting:
            signal = waiting[-1]
            if signal in found:
                waiting.pop()
                continue
            if signal <= self.inputs:
                raise KeyError(signal)
            needed = [self.known(one) >> 1 for one in self.operands[signal]]
            missing = [one for one in needed if one not in found]
            if missing:
                waiting += missing
            else:
                waiting.pop()
                yield signal


def evaluated(table: int, a: int, b: int, c: int, ones: int) -> int:
    """Evaluate a node on bit planes by its polynomial over GF(2)."""
    found = 0
    for monomial in _polynomial(table):
        term = ones
        if monomial & 4:
            term &= a
        if monomial & 2:
            term &= b
        if monomial & 1:
            term &= c
        found ^= term
    return found


@cache
def _polynomial(table: int) -> tuple[int, ...]:
    return tuple(
        m for m in _MONOMIALS if sum(table >> row & 1 for row in _MONOMIALS if row & m == row) & 1
    )


# --------------------------------------------------------------------------------------------------
# The first network.
# --------------------------------------------------------------------------------------------------

_FOLDS = re.compile(r"w(\d+) folds((?: [0-9a-f]+)*) flip ([0-9a-f]+)")
_ADDS = re.compile(r"w(\d+) adds ([\d ,/]*)")
MOST_INDEX = 24  # bits of a table's index


class FirstNetwork:
    """The network of a graph: nodes, bits of words and output bits as literals."""

    def __init__(self, graph: WordGraph, section: CertificateSection) -> None:
        self.graph, self.section = graph, section
        self.nodes = RuleNetwork(sum(word.bits for word in graph.inputs))
        self.words: list[list[int]] = []  # bits of each word, least significant first
        self.entries = self.adders = 0
        self._hints = dict(self._read())
        start = 1
        for place, node in enumerate(graph.nodes):
            if isinstance(node, InputWord):
                self.words.append([2 * (start + k) for k in reversed(range(node.bits))])
                start += node.bits
            elif isinstance(node, Lookup):
                self.words.append(self._table(place, node))
            else:
                self.words.append(self._sum(place, node))
        self.outputs = [bit for result in graph.results for bit in self._result(result)]

    def _read(self) -> Iterator[tuple[int, tuple[int, re.Match[str]]]]:
        for number, line in enumerate(self.section.lines):
            found = _FOLDS.fullmatch(line) or _ADDS.fullmatch(line)
            if found is None or max(map(len, re.split(r"[ ,/]+", line))) > 9:
                raise DataError(
                    f"{shown(line)} is no line of first", where=self.section.where(number)
                )
            yield int(found[1]), (number, found)

    def _hint(self, place: int, kind: re.Pattern[str]) -> tuple[str, re.Match[str]]:
        number, found = self._hints.get(place, (0, None))
        if found is None or found.re is not kind:
            raise DataError(f"word w{place} has no line of its kind", where=self.section.where(0))
        return self.section.where(number), found

    def _table(self, place: int, node: Lookup) -> list[int]:
        where, line = self._hint(place, _FOLDS)
        source = self.words[node.source]
        leading = source[len(source) - node.read :]
        index = [leading[k] for k in node.picked]
        masks, flip = [int(mask, 16) for mask in line[2].split()], int(line[3], 16)
        if max([flip, *masks]) >> len(index) or len(index) > MOST_INDEX:
            raise DataError(f"a mask exceeds the index, which has {len(index)} bits", where=where)
        core = self._core(where, node, masks, flip)
        self.entries += len(node.entries)
        folded = [self.nodes.xor([b for k, b in enumerate(index) if m >> k & 1]) for m in masks]
        sign = self.nodes.xor([b for k, b in enumerate(index) if flip >> k & 1])
        made: dict[tuple[int, int], int] = {}
        columns = [
            int.from_bytes(np.packbits(core >> k & 1, bitorder="little").tobytes(), "little")
            for k in range(node.bits)
        ]
        bits = [self._tree(folded, len(masks), column, made) for column in columns]
        return [self.nodes.xor([bit, sign]) for bit in bits]

    def _core(self, where: str, node: Lookup, masks: list[int], flip: int) -> NDArray[np.int64]:
        """Return a table over parities of its index bits, after a check of all entries."""
        entries, rows = np.array(node.entries, np.int64), np.arange(len(node.entries))
        place = np.zeros_like(rows)
        for k, mask in enumerate(masks):
            place |= _odd(rows & mask) << k
        sign = _odd(rows & flip) * ((1 << node.bits) - 1)
        core = np.zeros(1 << len(masks), np.int64)
        core[place] = entries ^ sign
        wrong = np.flatnonzero(core[place] ^ sign != entries)
        if len(wrong):
            raise DoesNotHoldError(
                f"{where}: entry {wrong[0]} is {entries[wrong[0]]}, but the folded table has "
                f"{(core[place] ^ sign)[wrong[0]]}"
            )
        return core

    def _tree(
        self, index: list[int], level: int, column: int, made: dict[tuple[int, int], int]
    ) -> int:
        """Return the literal of a truth table over the first `level` of these bits."""
        if column in (0, (1 << (1 << level)) - 1):
            return TRUE if column else FALSE
        if (level, column) not in made:
            half = 1 << (level - 1)
            one = self._tree(index, level - 1, column >> half, made)
            zero = self._tree(index, level - 1, column & ((1 << half) - 1), made)
            made[level, column] = self.nodes.mux(index[level - 1], one, zero)
        return made[level, column]

    def _sum(self, place: int, node: Angles | Heap) -> list[int]:
        where, line = self._hint(place, _ADDS)
        columns: list[list[int]] = [[] for _ in range(node.bits + 1)]
        for column, bit in self._addends(node):
            if column < node.bits:
                columns[column].append(bit)
        steps = line[2].split("/")
        if len(steps) != node.bits:
            raise DataError(f"{len(steps)} columns, but w{place} has {node.bits} bits", where=where)
        total = []
        for c, step in enumerate(steps):
            groups = [
                [int(one) for one in group.split()] for group in step.split(",") if group.strip()
            ]
            left = self._added(columns[c], columns[c + 1], groups)
            if left is None:
                raise DoesNotHoldError(f"{where}: column {c} is not added up to one bit")
            total.append(left)
        return total

    def _added(self, column: list[int], carries: list[int], groups: list[list[int]]) -> int | None:
        """Add the bits of a column by full adders; return the bit that remains."""
        free = set(range(len(column)))
        for group in groups:
            if not 2 <= len(group) <= 3 or len(set(group)) < len(group) or not free >= set(group):
                return None
            free -= set(group)
            three = [*(column[one] for one in group), FALSE][:3]
            free.add(len(column))
            column.append(self.nodes.node(XOR3, *three))
            carries.append(self.nodes.node(MAJ3, *three))
            self.adders += 1
        return None if len(free) > 1 else column[free.pop()] if free else FALSE

    def _addends(self, node: Angles | Heap) -> Iterator[tuple[int, int]]:
        """Yield the bits of a sum with their columns: its parts in order, then its constant."""
        if isinstance(node, Angles):
            for turn in node.turns:
                word = self.words[turn.node]
                for k, bit in enumerate(word[len(word) - turn.read :]):
                    yield turn.shift + k, bit ^ turn.negative
        for part in node.parts if isinstance(node, Heap) else ():
            if isinstance(part, Bits):
                for k, bit in enumerate(self.words[part.node][part.drop :]):
                    yield part.column + k, bit ^ part.negative
            else:
                yield from self._products(part, node.bits)
        for c in range(node.bits):
            if node.constant >> c & 1:
                yield c, TRUE

    def _products(self, part: PartialProducts, bits: int) -> Iterator[tuple[int, int]]:
        """Yield products of digits ±1 of two words: 1 if both digits have the same sign."""
        for i, a in enumerate(self.words[part.a][part.drop_a :]):
            for k, b in enumerate(self.words[part.b][part.drop_b :]):
                if 0 <= part.column + i + k < bits:
                    yield part.column + i + k, self.nodes.xor([a, b]) ^ (not part.negative)

    def _result(self, result: OutputWord) -> list[int]:
        """Return the bits of an output, most significant first, and its saturation flag.

        The middle of the sum is zero. The sum is within a narrower word if all its leading bits but
        the first, and the first bit of the narrower word, differ from its first bit. The first bit
        of the narrower word has the opposite meaning.
        """
        word = self.words[result.node][result.drop :]
        cell, head = word[: result.bits], word[result.bits :]
        if not head:
            return [*reversed(cell), FALSE]
        within = TRUE
        for bit in (*head[:-1], cell[-1]):
            within = self.nodes.node(AND3, within, self.nodes.xor([bit, head[-1]]), TRUE)
        cell = [*cell[:-1], cell[-1] ^ 1]
        limited = [self.nodes.mux(within, bit, head[-1]) for bit in cell]
        return [*reversed(limited), within ^ 1]


def _odd(words: NDArray[np.int64]) -> NDArray[np.int64]:
    return (np.bitwise_count(words) & 1).astype(np.int64)


def check_first(load: LoadFiles) -> Iterator[VerdictStep]:
    yield checked("first: graph to network", "by rule", lambda: _first_found(load))


def _first_found(load: LoadFiles) -> CheckedCases:
    first = first_network(load)
    return CheckedCases(
        first.entries + first.adders,
        f"{first.entries} entries of tables, {first.adders} adders, "
        f"{len(first.nodes.tables)} signals",
    )


def first_network(load: LoadFiles) -> FirstNetwork:
    """Derive the network of a load's graph; a `DataError` names a contradiction."""
    if load.graph is None:
        raise DataError("a program of paper mode has no graph")
    _check_words(load, load.graph)
    return FirstNetwork(load.graph, load.section("first"))


def _check_words(load: LoadFiles, graph: WordGraph) -> None:
    """Check that the program's input and output words are those of the graph."""
    try:
        inputs = load.document["inputs"]
        words = [
            (inputs[place]["name"], bits, dropped, bits <= inputs[place]["code"]["bits"])
            for place, bits, dropped in load.entry["words"]
        ]
        codes = [one["code"] for one in load.entry["outputs"]]
        made = [(code["bits"], code.get("zero") == "tread") for code in codes]
    except (KeyError, IndexError, TypeError, ValueError, AttributeError) as error:
        raise DataError(f"program.json: the words of load {load.place} are damaged") from error
    expected = [(word.name, word.bits, 0, True) for word in graph.inputs]
    if words != expected:
        raise DoesNotHoldError(f"the program reads {shown(words)}, but the graph {shown(expected)}")
    results = [(result.bits, result.tread) for result in graph.results]
    if made != results:
        raise DoesNotHoldError(
            f"outputs are {shown(made)} in the program, {shown(results)} in the graph"
        )
