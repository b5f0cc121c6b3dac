"""An output's heap as addends that stand for themselves: sums within sums are taken apart.

What an addend puts into the heap is a whole number of its words alone (`Atom`); what it stands for
is a polynomial. Addends that share no linear input are independent once the angles are known.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from boolcomp.proof.bound.enclosure import ZERO, Enclosure, between
from boolcomp.proof.bound.expansion import Expansion, NotPlainError, Poly, amplitude_of, scaled
from boolcomp.proof.bound.heaps import addend_error
from boolcomp.proof.bound.meaning import GivenWord, LinearPart, Total, TurnSum
from boolcomp.words.graph import Bits, Heap, InputWord, part_reads, reads

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from boolcomp.proof.bound.meaning import ProductPart
    from boolcomp.proof.bound.plain import Forward
    from boolcomp.words.graph import HeapPart, Node, WordGraph

    Words = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Atom:
    """A part of a heap, times a weight in steps of the output."""

    part: HeapPart
    weight: Fraction

    def value(self, nodes: Sequence[Node], words: Sequence[Words]) -> Words:
        """Return what it puts into its own heap."""
        total = np.zeros(1, np.int64)
        if isinstance(self.part, Bits):
            row, word = self.part.layout(nodes), words[self.part.node]
            word = word >> row.drop
            return (((1 << row.bits) - 1) ^ word if self.part.negative else word) << row.column
        grid, a, b = self.part.layout(nodes), words[self.part.a], words[self.part.b]
        if grid.a > grid.b:
            grid, a, b = grid.swapped, b, a
        for i, row in grid.rows():
            flip = -((a >> i & 1) ^ (not self.part.negative))
            total = total + (((b >> row.drop ^ flip) & ((1 << row.bits) - 1)) << row.column)
        return total

    def most(self, nodes: Sequence[Node]) -> int:
        """Return what it puts there at most."""
        return self.part.layout(nodes).weight


@dataclass(frozen=True, slots=True)
class FlatAddend:
    """An addend: what it puts into the output's heap, what it stands for, on what it depends.

    `coarse` is what both differ by at most, where the heap's bits count as digits ±½. One that is a
    product says of which meanings, and how often it is added.
    """

    atoms: tuple[Atom, ...]
    poly: Poly
    linear: frozenset[int]
    coarse: Enclosure
    product: tuple[int, int] | None = None
    times: Fraction = Fraction(1)


@dataclass(frozen=True, slots=True)
class Flat:
    """An output as addends; in steps; what else is in its heap: constants, and lost bits."""

    addends: tuple[FlatAddend, ...]
    constant: Fraction
    stands: Fraction
    lost: Enclosure


class Flattener:
    """Takes the sums of a graph apart."""

    def __init__(self, forward: Forward) -> None:
        self.forward, self.graph = forward, forward.graph
        self.meanings = forward.explained.meanings
        self.expansion = Expansion(forward.explained)
        self._linear = self._linear_inputs()

    def _linear_inputs(self) -> list[frozenset[int]]:
        """Return the linear inputs of every meaning."""
        found: list[frozenset[int]] = []
        for place, meaning in enumerate(self.meanings):
            if isinstance(meaning, GivenWord):
                found.append(frozenset() if meaning.angle else frozenset([place]))
                continue
            if isinstance(meaning, TurnSum):
                read: Iterable[int] = (item for item, _ in meaning.items)
            elif isinstance(meaning, Total):
                read = (k for addend in meaning.addends for k in read_by(addend))
            else:
                read = (meaning.source,)
            found.append(frozenset[int]().union(*(found[k] for k in read)))
        return found

    def linear(self, place: int) -> frozenset[int]:
        """Return the linear inputs that a meaning depends on."""
        return self._linear[place]

    def flat(self, place: int, weight: Fraction) -> Flat:
        """Return a sum, of which a step of the heap counts `weight` steps of the output."""
        total = self.meanings[place]
        if not isinstance(total, Total) or total.word is None:
            raise TypeError(f"meaning {place} is no sum that is there")
        heap = self.graph.nodes[total.word]
        if not isinstance(heap, Heap):
            raise TypeError(f"word {total.word} is no heap")
        factor = weight / (Fraction(2) ** self.graph.scales[total.word].lsb)
        constant, stands = weight * heap.constant, Fraction(total.constant) * factor
        lost, addends = ZERO, list[FlatAddend]()
        for k, addend in enumerate(total.addends):
            parts = [
                part for part, owner in zip(heap.parts, total.owners, strict=True) if owner == k
            ]
            inner = self._inner(addend, parts)
            if inner is not None:
                bits = [part for part in parts if isinstance(part, Bits)]
                found = self._inlined(inner, addend, bits, weight, factor)
                addends += found.addends
                constant, stands = constant + found.constant, stands + found.stands
                lost = lost + found.lost
                continue
            poly = scaled(self.expansion.addend(addend), factor)
            linear = frozenset[int]().union(*(self._linear[n] for n in read_by(addend)))
            coarse = addend_error(self.forward, total, k, parts).times(factor)
            atoms = tuple(Atom(part, weight) for part in parts)
            product, times = None, factor * Fraction(addend.factor)
            if not isinstance(addend, LinearPart):
                product = addend.a, addend.b
            addends.append(FlatAddend(atoms, poly, linear, coarse, product, times))
        return Flat(tuple(addends), constant, stands, lost)

    def _inner(self, addend: LinearPart | ProductPart, parts: Sequence[HeapPart]) -> int | None:
        """Return the sum that an addend is, where it is worth to be taken apart."""
        if not isinstance(addend, LinearPart) or not parts:
            return None
        meaning = self.meanings[addend.meaning]
        if not isinstance(meaning, Total) or meaning.turning or meaning.word is None:
            return None
        sets = [
            frozenset[int]().union(*(self._linear[n] for n in read_by(one)))
            for one in meaning.addends
        ]
        return addend.meaning if len(components(sets)) > 1 else None

    def _inlined(
        self, inner: int, addend: LinearPart | ProductPart, parts: Sequence[Bits],
        weight: Fraction, factor: Fraction,
    ) -> Flat:  # fmt: skip
        """Return a sum within a sum; the bits of it that are dropped may be any."""
        signs = [-1 if part.negative else 1 for part in parts]
        shifts = [Fraction(2) ** (part.column - part.drop) for part in parts]
        size = weight * sum(x * y for x, y in zip(signs, shifts, strict=True))
        found = self.flat(inner, size)
        constant, lost = found.constant, found.lost
        for part in parts:
            row = part.layout(self.graph.nodes)
            step = weight * Fraction(2) ** (part.column - part.drop)
            if part.negative:
                constant += weight * row.weight
                lost = lost + between(0, step * ((1 << part.drop) - 1))
            else:
                lost = lost + between(-step * ((1 << part.drop) - 1), 0)
        own = self.graph.scales[self._word(inner)].lsb
        wanted, have = factor * Fraction(addend.factor), size / Fraction(2) ** own
        ratio = wanted / have
        addends = tuple(
            replace(
                one,
                poly=scaled(one.poly, ratio),
                coarse=one.coarse + self._beside(one, ratio),
                times=one.times * ratio,
            )
            for one in found.addends
        )
        return Flat(addends, constant, found.stands * ratio, lost)

    def _word(self, place: int) -> int:
        meaning = self.meanings[place]
        if not isinstance(meaning, Total) or meaning.word is None:
            raise TypeError(f"meaning {place} is no sum that is there")
        return meaning.word

    def _beside(self, one: FlatAddend, ratio: Fraction) -> Enclosure:
        """Return how much more an addend is than a multiple of it."""
        if ratio == 1:
            return ZERO
        names = {name for monomial in one.poly for name, _ in monomial}
        size = amplitude_of(one.poly, {name: self.reach(name) for name in names})
        return size.times(1 - ratio)

    def reach(self, place: int) -> Enclosure:
        """Return where an input is, ends of cells included."""
        known = self.forward.known[place]
        return (known.exact - known.inputs).join(known.exact)


def read_by(addend: LinearPart | ProductPart) -> tuple[int, ...]:
    """Return the meanings that an addend reads."""
    return (addend.meaning,) if isinstance(addend, LinearPart) else (addend.a, addend.b)


def components(sets: Sequence[frozenset[int]]) -> list[tuple[frozenset[int], list[int]]]:
    """Return sets that share something together, and which they are; empty ones are one."""
    found: list[tuple[frozenset[int], list[int]]] = []
    for place, own in enumerate(sets):
        same = [one for one in found if one[0] & own or (not own and not one[0])]
        joined = own.union(*(one[0] for one in same))
        places = sorted([place, *(k for one in same for k in one[1])])
        found = [one for one in found if one not in same] + [(joined, places)]
    return sorted(found, key=lambda one: one[1])


def needed(graph: WordGraph, parts: Iterable[HeapPart]) -> list[int]:
    """Return the nodes that parts need, in their order."""
    waiting, found = [k for part in parts for k in part_reads(part)], set[int]()
    while waiting:
        k = waiting.pop()
        if k not in found:
            found.add(k)
            if not isinstance(graph.nodes[k], InputWord):
                waiting += reads(graph.nodes[k])
    return sorted(found)


def said_by(
    graph: WordGraph, addends: Iterable[FlatAddend], values: Sequence[Words], scale: int
) -> Words:
    """Return what addends put into the heap, for words of what they read, in units of 2^-scale."""
    total = np.zeros(1, np.int64)
    for addend in addends:
        for atom in addend.atoms:
            weight = atom.weight * (1 << scale)
            if weight.denominator != 1:
                raise NotPlainError
            total = total + atom.value(graph.nodes, values) * weight.numerator
    return total
