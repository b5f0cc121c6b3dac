"""Checks the section `first`: the network as made from the graph by rule.

Nothing of it is read: it is made here, from the graph alone. A table is a tree of multiplexers over
parities of its index; a sum is its bits and partial products in columns, and full adders that take
two or three bits of a column and leave one there and one in the next. The section says which
parities (that the table then is that function of them, all entries show) and which bits.

Where a section `cones` says so, other logic stands in a column's place (see `cones`).

w7 folds 1 2 5 flip 4           index bits of a table as masks of its word's bits; sign inverts all
w9 adds 0 1 2, 3 4 / 0 1 /      places within columns, as they came, from the lowest column
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from boolcomp.base.errors import DataError, shown
from boolcomp.checker.folder import DoesNotHoldError, Found, Step, checked
from boolcomp.words.graph import Angles, Bits, Cone, Heap, InputWord, Lookup, Spot, parse_cone

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from boolcomp.checker.folder import LoadFiles, Section
    from boolcomp.words.graph import OutputWord, PartialProducts, Signal, WordGraph


# --------------------------------------------------------------------------------------------------
# Logic as the checker sees it: nodes of three inputs, and their values over any cut.
#
# A literal is twice a signal, plus one where it is inverted. Signal 0 is the constant 0; then come
# the inputs, then the nodes, each after those that it reads. Bit 4a + 2b + c of a node's table is
# its value at a, b, c.
# --------------------------------------------------------------------------------------------------


FALSE, TRUE = 0, 1
XOR3, MAJ3, MUX, AND3 = 0x96, 0xE8, 0xCA, 0x80
_MONOMIALS = (0b000, 0b001, 0b010, 0b011, 0b100, 0b101, 0b110, 0b111)  # of a, b, c


class Nodes:
    """Nodes that grow; `equal` has for every signal the literal that it is known to be."""

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
        """Return the literal of a parity, as nodes of three inputs; constants take none."""
        odd = sum(one == TRUE for one in literals) & 1
        waiting = [one for one in literals if one > TRUE]
        while len(waiting) > 1:
            three = [*waiting[:3], FALSE][:3]
            waiting = [*waiting[3:], self.node(XOR3, *three)]
        return (waiting[0] if waiting else FALSE) ^ odd

    def mux(self, chooser: int, one: int, zero: int) -> int:
        """Return one where the chooser is 1, else zero."""
        if one == zero:
            return one
        if one ^ zero == 1 and zero <= TRUE:
            return chooser ^ zero
        return self.node(MUX, chooser, one, zero)

    def known(self, literal: int) -> int:
        """Return the literal that a literal is known to be."""
        seen = literal
        while self.equal[seen >> 1] != seen & ~1:
            seen = self.equal[seen >> 1] ^ (seen & 1)
        return seen

    def values(self, literals: Sequence[int], cut: dict[int, int], ones: int) -> list[int]:
        """Return the planes of literals, given those of the signals of a cut.

        A `KeyError` names a signal that is neither in the cut nor made of what is.
        """
        found = {0: 0, **cut}
        for literal in literals:
            for signal in self._below(literal >> 1, found):
                a, b, c = (self._plane(one, found, ones) for one in self.operands[signal])
                found[signal] = _apply(self.tables[signal], a, b, c, ones)
        return [self._plane(one, found, ones) for one in literals]

    def _plane(self, literal: int, found: dict[int, int], ones: int) -> int:
        known = literal if literal >> 1 in found else self.known(literal)
        return found[known >> 1] ^ (ones if known & 1 else 0)

    def _below(self, signal: int, found: dict[int, int]) -> Iterator[int]:
        """Yield the signals that a signal needs, each after what it reads."""
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


def _apply(table: int, a: int, b: int, c: int, ones: int) -> int:
    """Return a node's plane from those of its operands, by its polynomial over two elements."""
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
    """Return the monomials whose sum modulo 2 is a table: m has those that lie within it."""
    return tuple(
        m for m in _MONOMIALS if sum(table >> row & 1 for row in _MONOMIALS if row & m == row) & 1
    )


# --------------------------------------------------------------------------------------------------
# Checks the section `first`: the network as made from the graph by rule.
# --------------------------------------------------------------------------------------------------


_FOLDS = re.compile(r"w(\d+) folds((?: [0-9a-f]+)*) flip ([0-9a-f]+)")
_ADDS = re.compile(r"w(\d+) adds ([\d ,/]*)")
MOST_INDEX = 24  # bits of a table's index: sixteen million entries


class FirstNetwork:
    """The nodes of a graph's network, the bits of its words, and its outputs, as literals.

    Of every spot that a cone stands in, `replaced` has the literal there and that of before.
    """

    def __init__(self, graph: WordGraph, section: Section, cones: Sequence[Cone] = ()) -> None:
        self.graph, self.section = graph, section
        self.cones = {cone.spot: cone for cone in cones}
        self.spots: dict[Spot, int] = {}
        self.replaced: dict[Spot, tuple[int, int]] = {}
        self.nodes = Nodes(sum(word.bits for word in graph.inputs))
        self.words: list[list[int]] = []  # of each word, least significant first
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
        if missing := sorted(set(self.cones) - set(self.replaced)):
            raise DoesNotHoldError(f"cones: there is no {missing[0]}")

    def _read(self) -> Iterator[tuple[int, tuple[int, re.Match[str]]]]:
        for number, line in enumerate(self.section.lines):
            found = _FOLDS.fullmatch(line) or _ADDS.fullmatch(line)
            if found is None or max(map(len, re.split(r"[ ,/]+", line))) > 9:
                raise DataError(f"{self.section.where(number)}: {shown(line)} is no line of first")
            yield int(found[1]), (number, found)

    def _hint(self, place: int, kind: re.Pattern[str]) -> tuple[str, re.Match[str]]:
        number, found = self._hints.get(place, (0, None))
        if found is None or found.re is not kind:
            raise DataError(f"{self.section.where(0)}: nothing is said of word w{place}")
        return self.section.where(number), found

    def _table(self, place: int, node: Lookup) -> list[int]:
        where, said = self._hint(place, _FOLDS)
        source = self.words[node.source]
        leading = source[len(source) - node.read :]
        index = [leading[k] for k in node.picked]
        masks, flip = [int(mask, 16) for mask in said[2].split()], int(said[3], 16)
        if max([flip, *masks]) >> len(index) or len(index) > MOST_INDEX:
            raise DataError(
                f"{where}: a mask of more bits than the index has, which are {len(index)}"
            )
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
        """Return a table over folded index bits, after all entries were seen to be that."""
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
                f"{where}: entry {wrong[0]} is {entries[wrong[0]]}, and as the table is folded "
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
        where, said = self._hint(place, _ADDS)
        columns: list[list[int]] = [[] for _ in range(node.bits + 1)]
        for column, bit in self._addends(node):
            if column < node.bits:
                columns[column].append(bit)
        steps = said[2].split("/")
        if len(steps) != node.bits:
            raise DataError(
                f"{where}: {len(steps)} columns are added, and w{place} has {node.bits}"
            )
        total = []
        for c, step in enumerate(steps):
            groups = [
                [int(one) for one in group.split()] for group in step.split(",") if group.strip()
            ]
            columns[c] = [self._stands(Spot(place, c, k), bit) for k, bit in enumerate(columns[c])]
            left = self._added((place, c), columns[c], columns[c + 1], groups)
            if left is None:
                raise DoesNotHoldError(f"{where}: column {c} is not added up to one bit")
            total.append(left)
        return total

    def _stands(self, spot: Spot, bit: int) -> int:
        """Return what stands in a spot where a bit would."""
        cone = self.cones.get(spot)
        if cone is not None:
            read = [self._signal(one) for one in cone.operands]
            there = self.nodes.node(cone.table, *[*read, FALSE, FALSE, FALSE][:3])
            self.replaced[spot], bit = (there, bit), there
        self.spots[spot] = bit
        return bit

    def _signal(self, signal: Signal) -> int:
        if isinstance(signal, Spot):
            if signal not in self.spots:
                raise DoesNotHoldError(f"cones: {signal} is not there yet")
            return self.spots[signal]
        if signal.word >= len(self.words) or signal.bit >= len(self.words[signal.word]):
            raise DoesNotHoldError(f"cones: {signal} is not there yet")
        return self.words[signal.word][signal.bit]

    def _added(
        self, where: tuple[int, int], column: list[int], carries: list[int],
        groups: list[list[int]],
    ) -> int | None:  # fmt: skip
        """Add bits of a column, each once; return the one that is left."""
        free = set(range(len(column)))
        for group in groups:
            if not 2 <= len(group) <= 3 or len(set(group)) < len(group) or not free >= set(group):
                return None
            free -= set(group)
            three = [*(column[one] for one in group), FALSE][:3]
            free.add(len(column))
            left = self.nodes.node(XOR3, *three)
            column.append(self._stands(Spot(*where, len(column)), left))
            carries.append(self.nodes.node(MAJ3, *three))
            self.adders += 1
        return None if len(free) > 1 else column[free.pop()] if free else FALSE

    def _addends(self, node: Angles | Heap) -> Iterator[tuple[int, int]]:
        """Yield the bits of a sum, each with its column: of its parts in order, then constants."""
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
        """Yield products of two words' digits, which are ±1: 1 where both are of one sign."""
        for i, a in enumerate(self.words[part.a][part.drop_a :]):
            for k, b in enumerate(self.words[part.b][part.drop_b :]):
                if 0 <= part.column + i + k < bits:
                    yield part.column + i + k, self.nodes.xor([a, b]) ^ (not part.negative)

    def _result(self, result: OutputWord) -> list[int]:
        """Return an output's bits, the most significant first, and whether it saturated.

        The sum's middle is zero: within reach of a narrower word it is where all leading bits but
        the very first differ from that, and so does the word's own first bit, which counts the
        other way round.
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


def check_first(load: LoadFiles) -> Iterator[Step]:
    """Yield whether the graph's network can be made as the section says."""
    yield checked("first: graph to network", "by rule", lambda: _first_found(load))


def _first_found(load: LoadFiles) -> Found:
    first = first_network(load)
    return Found(
        first.entries + first.adders,
        f"{first.entries} entries of tables, {first.adders} adders, "
        f"{len(first.nodes.tables)} signals",
    )


def first_network(load: LoadFiles) -> FirstNetwork:
    """Return the network that a load's graph says; a `DataError` says what does not fit."""
    if load.graph is None:
        raise DataError("a program of paper mode has no graph")
    _check_words(load, load.graph)
    return FirstNetwork(load.graph, load.section("first"), cones_of(load.sections))


def cones_of(sections: Mapping[str, Section]) -> tuple[Cone, ...]:
    """Return the cones that a load's sections say."""
    section = sections.get("cones")
    found = []
    for number, line in enumerate(section.lines if section else ()):
        try:
            found.append(parse_cone(line))
        except DataError as error:
            raise DataError(f"{section and section.where(number)}: {error}") from error
    if len({cone.spot for cone in found}) < len(found):
        raise DataError(f"{section and section.where(0)}: two cones stand in one spot")
    return tuple(found)


def _check_words(load: LoadFiles, graph: WordGraph) -> None:
    """See that the program's words are the graph's: those that are read, and the outputs."""
    try:
        inputs = load.document["inputs"]
        read = [
            (inputs[place]["name"], bits, dropped, bits <= inputs[place]["code"]["bits"])
            for place, bits, dropped in load.said["words"]
        ]
        codes = [one["code"] for one in load.said["outputs"]]
        made = [(code["bits"], code.get("zero") == "tread") for code in codes]
    except (KeyError, IndexError, TypeError, ValueError, AttributeError) as error:
        raise DataError(f"program.json: the words of load {load.place} are none") from error
    wanted = [(word.name, word.bits, 0, True) for word in graph.inputs]
    if read != wanted:
        raise DoesNotHoldError(f"the program reads {shown(read)}, and the graph {shown(wanted)}")
    results = [(result.bits, result.tread) for result in graph.results]
    if made != results:
        raise DoesNotHoldError(
            f"outputs are {shown(made)} in the program, {shown(results)} in the graph"
        )


# --------------------------------------------------------------------------------------------------
# The section `cones`: bits of sums that other logic makes (see `words.cones`), and what they move.
#
# Whatever stands in a spot, the full adders after it add it up: so a heap is more than its parts by
# what the cone is more than the bit that it stands for, times what its column counts. Both are
# looked at for all values of some signals that they are made of, cones of a word together as far as
# these are few; whichever signals are taken, nothing that can happen is left out.
# --------------------------------------------------------------------------------------------------


WIDEST = 16  # signals of which all values are looked at


def check_cones(load: LoadFiles) -> Iterator[Step]:
    """Yield whether cones stand in sums that do not wrap, and what they move them by."""
    yield checked("cones: bits of sums", "all values of what they read", lambda: _cones_found(load))


def _cones_found(load: LoadFiles) -> Found:
    if load.graph is None:
        raise DoesNotHoldError("cones: the program has no word graph")
    count = len(cones_of(load.sections))
    moved = moved_by(load.graph, load.sections)
    said = ", ".join(f"w{word} by {low} .. {high}" for word, (low, high) in moved.items())
    return Found(count, f"{count} cones move {said or 'nothing'}")


def moved_by(graph: WordGraph, sections: Mapping[str, Section]) -> Mapping[int, tuple[int, int]]:
    """Return by how many of their steps words are moved, at least and at most."""
    if "cones" not in sections:
        return {}
    first = FirstNetwork(graph, sections["first"], cones_of(sections))
    by_word: dict[int, list[Spot]] = {}
    for spot in sorted(first.replaced):
        heap = graph.nodes[spot.word]
        if not isinstance(heap, Heap) or heap.wraps:
            raise DoesNotHoldError(f"cones: w{spot.word} is no sum, or one that wraps")
        by_word.setdefault(spot.word, []).append(spot)
    return {word: _moved(first, spots) for word, spots in by_word.items()}


def _moved(first: FirstNetwork, spots: Sequence[Spot]) -> tuple[int, int]:
    groups: list[list[Spot]] = []
    for spot in spots:
        near = (g for g in groups if len(_cut(first, [*g, spot])) <= WIDEST)
        group = next(near, None)
        if group is None:
            groups.append([spot])
        else:
            group.append(spot)
    ends = [_ends(first, group) for group in groups]
    return sum(low for low, _ in ends), sum(high for _, high in ends)


def _cut(first: FirstNetwork, spots: Sequence[Spot]) -> set[int]:
    """Return signals that what stands in spots, and stood there, are functions of."""
    below = first.nodes.operands
    cut = {literal >> 1 for spot in spots for literal in first.replaced[spot]} - {0}
    while True:
        wider = [
            (len(after), -signal)
            for signal in cut
            if below[signal] and len(after := _expanded(below, cut, signal)) <= WIDEST
        ]
        if not wider:
            return cut
        cut = _expanded(below, cut, -min(wider)[1])


def _expanded(below: Sequence[tuple[int, ...]], cut: set[int], signal: int) -> set[int]:
    return (cut - {signal}) | ({literal >> 1 for literal in below[signal]} - {0})


def _ends(first: FirstNetwork, spots: Sequence[Spot]) -> tuple[int, int]:
    """Return the least and the most that the cones of some spots add together."""
    cut = sorted(_cut(first, spots))
    rows = 1 << len(cut)
    ones = (1 << rows) - 1
    planes = {signal: _column(k, rows) for k, signal in enumerate(cut)}
    sums = {0: ones}  # which rows are moved by how much
    for spot in spots:
        there, before = first.nodes.values(first.replaced[spot], dict(planes), ones)
        counts, after = 1 << spot.column, dict[int, int]()
        for total, which in sums.items():
            for more, moves in (
                (counts, there & ~before), (-counts, before & ~there), (0, ~(there ^ before)),
            ):  # fmt: skip
                if hit := which & moves & ones:
                    after[total + more] = after.get(total + more, 0) | hit
        sums = after
    return min(sums), max(sums)


def _column(place: int, rows: int) -> int:
    """Return bit `place` of the numbers of rows, as a plane."""
    step, plane = 1 << place, 0
    ones = ((1 << step) - 1) << step
    while ones.bit_length() <= rows:
        plane |= ones
        ones <<= 2 * step
    return plane
