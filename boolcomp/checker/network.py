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
from typing import TYPE_CHECKING

import numpy as np

from boolcomp.checker.gates import AND3, FALSE, MAJ3, TRUE, XOR3, Nodes
from boolcomp.checker.steps import DoesNotHoldError, Found, checked
from boolcomp.common.errors import DataError, shown
from boolcomp.words.cones import Cone, Spot, parse_cone
from boolcomp.words.graph import Angles, Bits, Heap, InputWord, Lookup

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from boolcomp.checker.container import Section
    from boolcomp.checker.folder import LoadFiles
    from boolcomp.checker.steps import Step
    from boolcomp.words.cones import Signal
    from boolcomp.words.graph import OutputWord, PartialProducts, WordGraph

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
