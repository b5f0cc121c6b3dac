"""Groups of addends that share linear inputs: once the angles are known each errs by itself.

A group sees the angles through the words that it reads (`Frontier`) and through one exact function
of them, a: what it stands for is a·P(x) with a polynomial P of its inputs. For given words its
largest error is convex in a, so a table on a grid bounds it between the grid's points.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from boolcomp.proof.bound.enclosure import ZERO, Enclosure, about
from boolcomp.proof.bound.expansion import NotPlainError, amplitude
from boolcomp.proof.bound.flat import needed
from boolcomp.proof.bound.inputs import cells_reached
from boolcomp.proof.bound.known import Line, given_line
from boolcomp.proof.bound.meaning import GivenWord
from boolcomp.words.graph import Bits, Heap, InputWord, PartialProducts, reads
from boolcomp.words.simulate import node_word

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from boolcomp.proof.bound.expansion import Poly, Powers, Series
    from boolcomp.proof.bound.flat import Atom, FlatAddend
    from boolcomp.proof.bound.plain import Forward
    from boolcomp.words.graph import WordGraph

    Words = NDArray[np.int64]

SAME = Fraction(1, 1 << 30)  # steps: what a part that follows no common function may make
LARGEST_DENOMINATOR = 1000  # denominator of a ratio between coefficients
POINTS = 17  # of a grid
MOST_TUPLES = 1 << 22  # of words on a frontier, there or not


@dataclass(frozen=True, slots=True)
class Exact:
    """a·P: the waves of a, the monomials of P with whole factors, of twice the inputs."""

    series: Series
    factors: tuple[tuple[Powers, int], ...]
    scale: Fraction
    slack: Enclosure

    def values(self, doubled: Mapping[int, tuple[Words, Words]]) -> tuple[Words, Words]:
        """Return the least and the largest P at corners of cells, given twice both their ends."""
        names = sorted(doubled)
        least = most = None
        for corner in range(1 << len(names)):
            total: Words | int = 0
            for monomial, factor in self.factors:
                value: Words | int = factor
                for name, often in monomial:
                    for _ in range(often):
                        value = value * doubled[name][corner >> names.index(name) & 1]
                total = total + value
            found = total + np.zeros_like(doubled[names[0]][0])
            least = found if least is None else np.minimum(least, found)
            most = found if most is None else np.maximum(most, found)
        if least is None or most is None:
            raise NotPlainError
        return least, most


def exact_of(poly: Poly, reach: Mapping[int, Enclosure]) -> Exact:
    """Return a group's polynomial as a·P; where it is none a `NotPlainError`."""
    sizes = {monomial: _size(monomial, series, reach) for monomial, series in poly.items()}
    slack, tiny = ZERO, SAME.numerator * (1 << 80) // SAME.denominator
    kept = []
    for monomial in sorted(poly, key=lambda m: -sizes[m].size):
        if sizes[monomial].size <= tiny:
            slack = slack + about(sizes[monomial])
        else:
            kept.append(monomial)
    if not kept:
        return Exact({}, (), Fraction(1), slack)
    series = poly[kept[0]]
    degree = max(sum(often for _, often in monomial) for monomial in kept)
    ratios = {}
    for monomial in kept:
        ratio = _ratio(series, poly[monomial])
        left = _size(monomial, _less(poly[monomial], series, ratio), reach)
        if left.size > tiny:
            raise NotPlainError
        slack = slack + about(left)
        ratios[monomial] = ratio * 2 ** (degree - sum(often for _, often in monomial))
    common = math.lcm(*(ratio.denominator for ratio in ratios.values()))
    factors = tuple((monomial, int(ratio * common)) for monomial, ratio in ratios.items())
    return Exact(series, factors, Fraction(1, common << degree), slack)


def _size(monomial: Powers, series: Series, reach: Mapping[int, Enclosure]) -> Enclosure:
    size = amplitude(series)
    for name, often in monomial:
        for _ in range(often):
            size = size * about(reach[name])
    return size


def _ratio(one: Series, two: Series) -> Fraction:
    angle, part, size = max(
        ((angle, part, abs(c[part].low)) for angle, c in one.items() for part in (0, 1)),
        key=lambda found: found[2],
    )
    if angle not in two or not size:
        raise NotPlainError
    return Fraction(two[angle][part].low, one[angle][part].low).limit_denominator(
        LARGEST_DENOMINATOR
    )


def _less(two: Series, one: Series, ratio: Fraction) -> Series:
    zero = (ZERO, ZERO)
    found: Series = {}
    for angle in {**one, **two}:
        a, b = two.get(angle, zero), one.get(angle, zero)
        found[angle] = (a[0] - b[0].times(ratio), a[1] - b[1].times(ratio))
    return found


class Frontier:
    """The words of angles that atoms read, side by side as one number; low bits unread are 0."""

    def __init__(self, graph: WordGraph, atoms: Sequence[Atom], turning: Sequence[bool]) -> None:
        self.graph, self.atoms = graph, atoms
        parts = [atom.part for atom in atoms]
        self.nodes = [k for k in needed(graph, parts) if not turning[k]]
        drops: dict[int, int] = {}
        for part in [*parts, *self._inner_parts()]:
            for k, drop in _read_by_part(part, graph):
                if turning[k]:
                    drops[k] = min(drops.get(k, drop), drop)
        for k in self.nodes:
            node = graph.nodes[k]
            if not isinstance(node, Heap):
                drops |= {source: 0 for source in _sources(node) if turning[source]}
        self.words = sorted(drops)
        self.drops = [drops[k] for k in self.words]
        self.bits = [graph.nodes[k].bits - drops[k] for k in self.words]
        if sum(self.bits) > MOST_TUPLES.bit_length() - 1:
            raise NotPlainError

    def _inner_parts(self) -> list[Bits | PartialProducts]:
        heaps = [self.graph.nodes[k] for k in self.nodes]
        return [part for heap in heaps if isinstance(heap, Heap) for part in heap.parts]

    @property
    def count(self) -> int:
        """How many numbers there are."""
        return 1 << sum(self.bits)

    def packed(self, values: Sequence[Words]) -> Words:
        """Return the number of words at many angles."""
        total = np.zeros(1, np.int64)
        for k, drop, bits in zip(self.words, self.drops, self.bits, strict=True):
            total = total << bits | values[k] >> drop
        return total

    def unpacked(self, number: int) -> dict[int, int]:
        """Return the words of a number."""
        found = {}
        for k, drop, bits in reversed(list(zip(self.words, self.drops, self.bits, strict=True))):
            found[k] = (number & ((1 << bits) - 1)) << drop
            number >>= bits
        return found


def _read_by_part(part: Bits | PartialProducts, graph: WordGraph) -> list[tuple[int, int]]:
    """Return the words that a part reads, and how many of their lowest bits it does not.

    Of words that are multiplied these are those, too, of which all products are discarded.
    """
    if isinstance(part, Bits):
        return [(part.node, part.drop)]
    grid, (a, b) = part.layout(graph.nodes), (part.a, part.b)
    if grid.a > grid.b:
        grid, a, b = grid.swapped, b, a
    rows = list(grid.rows())
    if not rows:
        return [(k, graph.nodes[k].bits) for k in (a, b)]
    return [(a, min(i for i, _ in rows)), (b, min(row.drop for _, row in rows))]


def _sources(node: object) -> list[int]:
    source = getattr(node, "source", None)
    return [] if source is None else [source]


@dataclass(frozen=True, slots=True, eq=False)
class Group:
    """A group: its atoms, what it stands for, its linear inputs' words and twice their cells' ends.

    `inputs` are the words of its inputs at all states of the group, by the nodes that they are, and
    `words` the same by the inputs' meanings, also of those that nothing reads.
    """

    addends: tuple[FlatAddend, ...]
    exact: Exact
    frontier: Frontier
    inputs: dict[int, Words]
    words: dict[int, Words]
    least: Words
    most: Words

    def said(self, number: int, scale: int) -> Words:
        """Return what atoms put into the heap at all states, for one number of the frontier."""
        graph, states = self.frontier.graph, len(self.least)
        values = [np.zeros(0, np.int64)] * len(graph.nodes)
        values[0] = np.zeros(states, np.int64)
        for k, word in self.frontier.unpacked(number).items():
            values[k] = np.full(states, word, np.int64)
        for k in self.frontier.nodes:
            values[k] = self.inputs[k] if k in self.inputs else node_word(graph, k, values)[0]
        total = np.zeros(states, np.int64)
        for atom in self.frontier.atoms:
            weight = atom.weight * (1 << scale)
            if weight.denominator != 1:
                raise NotPlainError
            total += atom.value(graph.nodes, values) * weight.numerator
        return total


class Grouping:
    """Makes groups: what addends put into a heap and stand for at all states of their inputs."""

    def __init__(self, forward: Forward, reach: Mapping[int, Enclosure], effort: int) -> None:
        self.forward, self.graph, self.reach, self.effort = forward, forward.graph, reach, effort
        self.turning = _turning_nodes(forward)

    def group(
        self, addends: Sequence[FlatAddend], poly: Poly, turning: Sequence[bool] | None = None
    ) -> Group:
        """Return addends that stand for a polynomial; `turning` nodes are words they are given."""
        names = frozenset[int]().union(*(one.linear for one in addends))
        exact = exact_of(poly, self.reach)
        atoms = [atom for one in addends for atom in one.atoms]
        frontier = Frontier(self.graph, atoms, self.turning if turning is None else turning)
        read = {k for k in frontier.nodes if isinstance(self.graph.nodes[k], InputWord)}
        lines = {place: self.cells(place) for place in sorted(names)}
        states = math.prod(len(words) for _, words in lines.values())
        if states * 8 > self.effort:
            raise NotPlainError
        axes = np.meshgrid(*(words for _, words in lines.values()), indexing="ij")
        inputs, doubled, words = {}, {}, {}
        for (place, (line, _)), axis in zip(lines.items(), axes, strict=True):
            words[place] = axis.reshape(-1)
            doubled[place] = doubled_ends(line, words[place])
            node = getattr(self.forward.explained.meanings[place], "word", None)
            if node is not None:
                inputs[node] = words[place]
        if read - set(inputs):
            raise NotPlainError
        least, most = exact.values(doubled)
        return Group(tuple(addends), exact, frontier, inputs, words, least, most)

    def cells(self, place: int) -> tuple[Line, Words]:
        """Return what a linear input's words stand for, and those that there are.

        One that nothing reads has cells of its own: they are as if its word were there.
        """
        given = self.forward.explained.meanings[place]
        if not isinstance(given, GivenWord) or given.angle:
            raise NotPlainError
        if given.word is not None:
            line = given_line(self.graph, given)
        else:
            line = Line(Fraction(1 - given.cells, 2), Fraction(1), given.cells)
        first, last = cells_reached(line, given)
        return line, np.arange(first, last + 1, dtype=np.int64)


def doubled_ends(line: Line, words: Words) -> tuple[Words, Words]:
    """Return twice the ends of cells, which are whole numbers."""
    start, step = 2 * line.start - line.step, 2 * line.step
    if start.denominator != 1 or step.denominator != 1:
        raise NotPlainError
    low = int(start) + words * int(step)
    return low, low + int(step)


def _turning_nodes(forward: Forward) -> list[bool]:
    """Tell of every node of a graph whether it depends on no linear input."""
    linear = {
        one.word for one in forward.explained.meanings
        if isinstance(one, GivenWord) and not one.angle
    }  # fmt: skip
    found: list[bool] = []
    for place, node in enumerate(forward.graph.nodes):
        if isinstance(node, InputWord):
            found.append(place not in linear)
        else:
            found.append(all(found[k] for k in reads(node)))
    return found
