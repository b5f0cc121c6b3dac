"""By how much cones move their words: seen at all values of what they read, as far as that is few.

A cone moves its heap by what its column counts, or not at all. Cones of a heap that read the same
signals are looked at together; of signals that are too many, those are taken that they are made of.
"""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from boolcomp.compact.graph.coned import ConedLogic
from boolcomp.logic.network import CONSTANTS, TRUE

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from boolcomp.compact.network import Synthesiser
    from boolcomp.logic.network import Node
    from boolcomp.words.cones import Cone
    from boolcomp.words.graph import WordGraph

Booked: TypeAlias = "Mapping[int, tuple[int, int]]"
"""Of words by place: the least and the most that cones add, in steps of the heap."""

MOST_READ = 18  # signals of which all values are looked at


def booked(graph: WordGraph, cones: Sequence[Cone], synthesise: Synthesiser) -> Booked:
    """Return by how much cones move every word that has some."""
    if not cones:
        return {}
    made = ConedLogic(graph, synthesise, cones)
    nodes, first = made.builder.nodes, CONSTANTS + made.builder.inputs
    found = {}
    for word, own in groupby(sorted(cones, key=lambda cone: cone.spot), lambda x: x.spot.word):
        pairs = [
            (1 << cone.spot.column, made.signals[cone.spot], made.replaced[cone.spot])
            for cone in own
        ]
        ends = [_ends(nodes, first, group) for group in _together(nodes, first, pairs)]
        found[word] = sum(low for low, _ in ends), sum(high for _, high in ends)
    return found


Pair: TypeAlias = tuple[int, int, int]  # what a column counts, the literals there and before


def _together(nodes: Sequence[Node], first: int, pairs: Iterable[Pair]) -> list[list[Pair]]:
    """Return cones in groups that read few signals."""
    groups: list[list[Pair]] = []
    for pair in pairs:
        for group in groups:
            if len(_read(nodes, first, [*group, pair])) <= MOST_READ:
                group.append(pair)
                break
        else:
            groups.append([pair])
    return groups


def _read(nodes: Sequence[Node], first: int, pairs: Iterable[Pair]) -> list[int]:
    """Return signals of which literals are functions: as few as they are found to be, or fewest."""
    leaves = {x >> 1 for pair in pairs for x in pair[1:] if x >> 1 >= CONSTANTS}
    while True:
        best = None
        for leaf in leaves:
            if leaf >= first:
                after = (leaves - {leaf}) | set(nodes[leaf - first].operands)
                best = min((len(after), -leaf, after), best or (MOST_READ + 1, 0, leaves))
        if best is None or best[0] > MOST_READ:
            return sorted(leaves)
        leaves = best[2]


def _ends(nodes: Sequence[Node], first: int, pairs: Sequence[Pair]) -> tuple[int, int]:
    """Return the least and the most that cones add together."""
    leaves = _read(nodes, first, pairs)
    index = np.arange(1 << len(leaves))
    known = {leaf: (index >> k & 1).astype(bool) for k, leaf in enumerate(leaves)}
    known |= {k: np.full(len(index), k == TRUE) for k in range(CONSTANTS)}

    def value(literal: int) -> NDArray[np.bool_]:
        waiting = [literal >> 1]
        while waiting:
            signal = waiting[-1]
            if signal in known:
                waiting.pop()
                continue
            lut, operands = nodes[signal - first]
            if missing := [k for k in operands if k not in known]:
                waiting += missing
                continue
            row = np.zeros(len(index), np.int64)
            for place, k in enumerate(operands):
                row |= known[k].astype(np.int64) << (2 - place)
            known[signal] = (lut >> row & 1).astype(bool)
        return known[literal >> 1] ^ bool(literal & 1)

    total = np.zeros(len(index), np.int64)
    for counts, there, before in pairs:
        total += counts * (value(there).astype(np.int64) - value(before))
    return int(total.min()), int(total.max())
