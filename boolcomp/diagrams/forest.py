"""Diagrams over one set of bits, side by side: equal parts of all of them are there once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from boolcomp.logic.diagrams import DiagramNode

if TYPE_CHECKING:
    from collections.abc import Sequence

    from boolcomp.logic.diagrams import Diagram


class Forest:
    """Tests of numbered bits, each after the tests that it leads to; the words of leaves.

    Nodes are numbered as in a diagram: a test by its place, a leaf by ~ its place.
    """

    def __init__(self) -> None:
        self.nodes: list[DiagramNode] = []
        self.leaves: list[int] = []
        self._nodes: dict[DiagramNode, int] = {}
        self._leaves: dict[int, int] = {}

    def add(self, diagram: Diagram, bits: Sequence[int]) -> int:
        """Add a diagram whose inputs are these bits; return where a walk through it begins."""
        leaves = [self._leaf(word) for word in diagram.leaves]
        places = [0] * len(diagram.tests)

        def place(node: int) -> int:
            return leaves[~node] if node < 0 else places[node]

        for k in reversed(range(len(places))):
            test = diagram.tests[k]
            made = DiagramNode(bits[test.input], place(test.zero), place(test.one))
            places[k] = self._nodes.setdefault(made, len(self.nodes))
            if places[k] == len(self.nodes):
                self.nodes.append(made)
        return place(diagram.root)

    def _leaf(self, word: int) -> int:
        place = self._leaves.setdefault(word, len(self.leaves))
        if place == len(self.leaves):
            self.leaves.append(word)
        return ~place
