"""The network of a word graph some of whose heaps' bits are other logic (see `words.cones`).

Sums are added up as those of the graph itself are, whatever stands in their spots: so a bit that
stands for another moves its heap by what its column counts, and by nothing else.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from boolcomp.compact.network import Literals, LogicMaker, word_logic
from boolcomp.logic import luts
from boolcomp.logic.network import FALSE
from boolcomp.words.cones import Spot, WordBit

if TYPE_CHECKING:
    from collections.abc import Iterable

    from boolcomp.compact.graph.heaps import Addition
    from boolcomp.compact.network import Synthesiser
    from boolcomp.logic.network import Network
    from boolcomp.words.cones import Cone, Signal
    from boolcomp.words.graph import WordGraph


class ConedLogic(LogicMaker):
    """Makes all words; remembers which literal stands in every spot, and which one would have."""

    def __init__(
        self, graph: WordGraph, synthesise: Synthesiser, cones: Iterable[Cone] = ()
    ) -> None:
        super().__init__(graph, synthesise)
        said: list[Addition] = []
        word_logic(graph, synthesise, said)
        self.cones = {cone.spot: cone for cone in cones}
        self.signals: dict[Signal, int] = {}  # in the order in which they are made
        self.replaced: dict[Spot, int] = {}
        self._plans = iter([one.groups() for one in said])
        for place in range(len(graph.nodes)):
            self.make_next()
            word = self.words[place]
            if word.sign >> 1 == FALSE:  # else its bits are nodes more
                for k, bit in enumerate(self.bits(place)):
                    self.signals[WordBit(place, k)] = bit

    def network(self) -> Network:
        """Return the network of the outputs."""
        return self.builder.build(self.outputs())

    def added(self, columns: dict[int, list[int]], bits: int) -> Literals:
        """Add up what stands in columns, as it is planned."""
        coming = [list(columns.get(c, ())) for c in range(bits)] + [[]]
        total, word = [], len(self.words)
        for c, groups in enumerate(next(self._plans)):
            column: list[int] = []
            for literal in coming[c]:
                column.append(self._stands(Spot(word, c, len(column)), literal))
            free = set(range(len(column)))
            for group in groups:
                three = [*(column[k] for k in group), 2 * FALSE][:3]
                free = (free - set(group)) | {len(column)}
                if c + 1 < bits:
                    coming[c + 1].append(self.builder.node(luts.MAJ3, *three))
                left = self.builder.node(luts.XOR3, *three)
                column.append(self._stands(Spot(word, c, len(column)), left))
            total.append(column[free.pop()] if free else 2 * FALSE)
        return Literals(tuple(total))

    def _stands(self, spot: Spot, literal: int) -> int:
        """Return what stands in a spot where a literal would."""
        cone = self.cones.get(spot)
        if cone is not None:
            self.replaced[spot] = literal
            operands = [self.signals[one] for one in cone.operands]
            literal = self.builder.node(cone.table, *operands)
        self.signals[spot] = literal
        return literal
