"""An output's heap taken apart: what every group of linear inputs adds to it, and angles alone.

Sums within sums are taken apart where several groups make them; what their dropped bits say may
then be anything.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from boolcomp.checker.claims.nodes import Given
from boolcomp.checker.errors.parts import added, most
from boolcomp.checker.spans import NOTHING, between
from boolcomp.checker.steps import NotCoveredError
from boolcomp.words.graph import Bits, Heap, part_reads, reads

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from boolcomp.checker.claims.stands import Claim
    from boolcomp.words.graph import HeapPart

    Words = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Atom:
    """A part of a heap, times a weight in steps of the output's heap."""

    part: HeapPart
    weight: Fraction


class Apart:
    """A heap as atoms by group (None: of angles alone), a constant, and bits that may be any."""

    def __init__(self, claim: Claim, word: int, groups: Sequence[Sequence[str]]) -> None:
        self.graph = claim.graph
        self.group_of = {name: k for k, names in enumerate(groups) for name in names}
        self.inputs = _linear_inputs(claim)
        self.atoms: dict[int | None, list[Atom]] = {}
        self.constant, self.lost = Fraction(0), NOTHING
        self._take(word, Fraction(1))
        self.fine = math.lcm(1, *(atom.weight.denominator for atom in self.all)).bit_length() - 1

    @property
    def all(self) -> list[Atom]:
        """All atoms."""
        return [atom for atoms in self.atoms.values() for atom in atoms]

    @property
    def size(self) -> Fraction:
        """What all that is added makes at most, either way."""
        found = (abs(one.weight) * most(self.graph, one.part) for one in self.all)
        return sum(found, Fraction(0)) + abs(self.constant)

    @property
    def whole(self) -> bool:
        """Whether the heap's word is known from what is added, to the last bit."""
        return self.lost == NOTHING and not self.fine and self.constant.denominator == 1

    def group(self, names: Collection[str]) -> int | None:
        """Return the one group of some linear inputs; None of none."""
        groups = {self.group_of.get(name, -1) for name in names}
        if len(groups) > 1 or -1 in groups:
            raise NotCoveredError("several groups of inputs are multiplied")
        return groups.pop() if groups else None

    def _take(self, word: int, weight: Fraction) -> None:
        heap = self.graph.nodes[word]
        if not isinstance(heap, Heap) or heap.wraps:
            raise NotCoveredError("an output is no plain sum")
        self.constant += weight * heap.constant
        for part in heap.parts:
            names = frozenset[str]().union(*(self.inputs[k] for k in part_reads(part)))
            several = len({self.group_of.get(name) for name in names}) > 1
            if not several or not isinstance(part, Bits):
                self.atoms.setdefault(self.group(names), []).append(Atom(part, weight))
                continue
            size = weight * Fraction(2) ** (part.column - part.drop)
            size = -size if part.negative else size
            gone = size * ((1 << part.drop) - 1)
            self.constant += weight * most(self.graph, part) * part.negative
            self.lost = self.lost - (between(0, gone) if gone > 0 else between(gone, 0))
            self._take(part.node, size)

    def put(self, atoms: Iterable[Atom], words: Mapping[int, Words]) -> Words:
        """Return what atoms add, in 2^-fine steps of the heap."""
        total = np.zeros(1, np.int64)
        for one in atoms:
            total = total + int(one.weight * (1 << self.fine)) * added(self.graph, one.part, words)
        return total

    def needed(self, words: Iterable[int]) -> list[int]:
        """Return words and all that they read, in their order."""
        waiting, found = list(words), set[int]()
        while waiting:
            k = waiting.pop()
            if k not in found:
                found.add(k)
                waiting += reads(self.graph.nodes[k])
        return sorted(found)

    def seen(self, atoms: Sequence[Atom]) -> tuple[list[int], dict[int, int]]:
        """Return words of linear inputs that atoms need, and the words of angles read by these.

        Of the latter, how many of their lowest bits nothing reads.
        """
        parts = [one.part for one in atoms]
        own = [
            k for k in self.needed(k for part in parts for k in part_reads(part)) if self.inputs[k]
        ]
        nodes = [self.graph.nodes[k] for k in own]
        parts += [part for node in nodes if isinstance(node, Heap) for part in node.parts]
        drops: dict[int, int] = {}
        for part in parts:
            drop = [part.drop] if isinstance(part, Bits) else [part.drop_a, part.drop_b]
            for k, gone in zip(part_reads(part), drop, strict=True):
                drops[k] = min(drops.get(k, gone), gone)
        for node in nodes:
            if not isinstance(node, Heap):
                drops |= dict.fromkeys(reads(node), 0)
        return own, {k: gone for k, gone in sorted(drops.items()) if not self.inputs[k]}


def _linear_inputs(claim: Claim) -> list[frozenset[str]]:
    """Return on which linear inputs every word depends."""
    of = {
        place.words[0]: function.name
        for function, place in zip(claim.functions, claim.places, strict=True)
        if isinstance(function, Given) and not function.angle and place.words
    }
    found: list[frozenset[str]] = []
    for k, node in enumerate(claim.graph.nodes):
        own = frozenset([of[k]]) if k in of else frozenset[str]()
        found.append(own.union(*(found[n] for n in reads(node))))
    return found
