"""Groups of addends that share linear inputs, which are independent given the angles.

A group depends on the angles through the words that it reads (`Frontier`) and through one exact
function a of them. Its exact value is a·P(x) with a polynomial P of its inputs. Given the words,
its largest error is convex in a, so a table on a grid bounds it between the points of the grid.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from boolcomp.base.loops import njit
from boolcomp.proof.bound.balls import (
    ONE,
    PLACES,
    ZERO,
    Enclosure,
    about,
    between,
    exactly,
    waves_at,
)
from boolcomp.proof.bound.expansion import (
    Expansion,
    NotPlainError,
    Poly,
    add,
    amplitude,
    amplitude_of,
    scaled,
)
from boolcomp.proof.bound.meaning import (
    AddendSum,
    GivenWord,
    LinearPart,
    TurnSum,
    WordLine,
    given_line,
)
from boolcomp.proof.bound.plain import addend_error, pieces_of
from boolcomp.proof.bound.tables import cells_reached
from boolcomp.words.graph import Bits, Heap, InputWord, PartialProducts, part_reads, reads
from boolcomp.words.simulation import node_word

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from boolcomp.proof.bound.expansion import Powers, Series
    from boolcomp.proof.bound.meaning import ProductPart
    from boolcomp.proof.bound.plain import Forward
    from boolcomp.words.graph import HeapPart, Node, WordGraph

    Words = NDArray[np.int64]
    Whole = NDArray[np.int64]


# --------------------------------------------------------------------------------------------------
# The heap of an output as independent addends, with inner sums split.
#
# The contribution of an addend to the heap is an integer that depends on its words alone (`Atom`);
# its exact value is a polynomial. Addends that share no linear input are independent given the
# angles.
# --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Atom:
    """A part of a heap, times a weight in steps of the output."""

    part: HeapPart
    weight: Fraction

    def value(self, nodes: Sequence[Node], words: Sequence[Words]) -> Words:
        """Return the contribution to its own heap."""
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
        return self.part.layout(nodes).weight


@dataclass(frozen=True, slots=True)
class FlatAddend:
    """An addend: its contribution to the output's heap, its exact value, and its dependencies.

    `coarse` bounds their difference, where the bits of the heap count as digits ±½. An addend that
    is a product has its two meanings and their factor.
    """

    atoms: tuple[Atom, ...]
    poly: Poly
    linear: frozenset[int]
    coarse: Enclosure
    product: tuple[int, int] | None = None
    times: Fraction = Fraction(1)


@dataclass(frozen=True, slots=True)
class Flat:
    """An output as addends, in steps, and the constants and lost bits of its heap."""

    addends: tuple[FlatAddend, ...]
    constant: Fraction
    stands: Fraction
    lost: Enclosure


class Flattener:
    """Splits the sums of a graph into addends."""

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
            elif isinstance(meaning, AddendSum):
                read = (k for addend in meaning.addends for k in read_by(addend))
            else:
                read = (meaning.source,)
            found.append(frozenset[int]().union(*(found[k] for k in read)))
        return found

    def linear(self, place: int) -> frozenset[int]:
        return self._linear[place]

    def flat(self, place: int, weight: Fraction) -> Flat:
        """Return a sum as addends; a step of its heap counts `weight` steps of the output."""
        total = self.meanings[place]
        if not isinstance(total, AddendSum) or total.word is None:
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
        """Return the sum that an addend reads, if splitting it is worthwhile."""
        if not isinstance(addend, LinearPart) or not parts:
            return None
        meaning = self.meanings[addend.meaning]
        if not isinstance(meaning, AddendSum) or meaning.turning or meaning.word is None:
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
        """Return the addends of a sum within a sum; its dropped bits are unknown."""
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
        if not isinstance(meaning, AddendSum) or meaning.word is None:
            raise TypeError(f"meaning {place} is no sum that is there")
        return meaning.word

    def _beside(self, one: FlatAddend, ratio: Fraction) -> Enclosure:
        """Enclose an addend minus a multiple of it."""
        if ratio == 1:
            return ZERO
        names = {name for monomial in one.poly for name, _ in monomial}
        size = amplitude_of(one.poly, {name: self.reach(name) for name in names})
        return size.times(1 - ratio)

    def reach(self, place: int) -> Enclosure:
        """Return the range of an input, including the ends of its cells."""
        known = self.forward.enclosures[place]
        return (known.exact - known.inputs).join(known.exact)


def read_by(addend: LinearPart | ProductPart) -> tuple[int, ...]:
    return (addend.meaning,) if isinstance(addend, LinearPart) else (addend.a, addend.b)


def components(sets: Sequence[frozenset[int]]) -> list[tuple[frozenset[int], list[int]]]:
    """Return the connected components of sets that share elements; empty sets form one."""
    found: list[tuple[frozenset[int], list[int]]] = []
    for place, own in enumerate(sets):
        same = [one for one in found if one[0] & own or (not own and not one[0])]
        joined = own.union(*(one[0] for one in same))
        places = sorted([place, *(k for one in same for k in one[1])])
        found = [one for one in found if one not in same] + [(joined, places)]
    return sorted(found, key=lambda one: one[1])


def needed(graph: WordGraph, parts: Iterable[HeapPart]) -> list[int]:
    """Return the nodes that parts depend on, in order."""
    waiting, found = [k for part in parts for k in part_reads(part)], set[int]()
    while waiting:
        k = waiting.pop()
        if k not in found:
            found.add(k)
            if not isinstance(graph.nodes[k], InputWord):
                waiting += reads(graph.nodes[k])
    return sorted(found)


def contribution_of(
    graph: WordGraph, addends: Iterable[FlatAddend], values: Sequence[Words], scale: int
) -> Words:
    """Return the contribution of addends to the heap, given words, in units of 2^-scale."""
    total = np.zeros(1, np.int64)
    for addend in addends:
        for atom in addend.atoms:
            weight = atom.weight * (1 << scale)
            if weight.denominator != 1:
                raise NotPlainError
            total = total + atom.value(graph.nodes, values) * weight.numerator
    return total


# --------------------------------------------------------------------------------------------------
# Groups.
# --------------------------------------------------------------------------------------------------

SAME = Fraction(1, 1 << 30)  # steps: limit on a part that is no multiple of the common function
LARGEST_DENOMINATOR = 1000  # denominator of a ratio between coefficients
POINTS = 17  # of a grid
MOST_TUPLES = 1 << 22  # of words on a frontier, whether they occur or not


@dataclass(frozen=True, slots=True)
class ExactProduct:
    """a·P: the harmonics of a, and the monomials of P in twice the inputs, with integer factors."""

    series: Series
    factors: tuple[tuple[Powers, int], ...]
    scale: Fraction
    slack: Enclosure

    def values(self, doubled: Mapping[int, tuple[Words, Words]]) -> tuple[Words, Words]:
        """Return the least and the largest P at corners of cells, given twice both ends."""
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


def exact_of(poly: Poly, reach: Mapping[int, Enclosure]) -> ExactProduct:
    """Factor a group's polynomial as a·P; a NotPlainError if that is impossible."""
    sizes = {monomial: _size(monomial, series, reach) for monomial, series in poly.items()}
    slack, tiny = ZERO, SAME.numerator * (1 << 80) // SAME.denominator
    kept = []
    for monomial in sorted(poly, key=lambda m: -sizes[m].size):
        if sizes[monomial].size <= tiny:
            slack = slack + about(sizes[monomial])
        else:
            kept.append(monomial)
    if not kept:
        return ExactProduct({}, (), Fraction(1), slack)
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
    return ExactProduct(series, factors, Fraction(1, common << degree), slack)


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
    """The angle words that atoms read, packed into one number; unread low bits are 0."""

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
        return 1 << sum(self.bits)

    def packed(self, values: Sequence[Words]) -> Words:
        """Return the packed numbers of words at many angles."""
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
    """Return the words that a part reads, and the number of their unread lowest bits.

    The words of a product include those of which all partial products are discarded.
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
class HeapGroup:
    """A group: its atoms, exact value, words of linear inputs, and twice the ends of their cells.

    `inputs` has the words of its inputs at all states of the group by node. `words` has the same by
    meaning, and includes inputs that are not read.
    """

    addends: tuple[FlatAddend, ...]
    exact: ExactProduct
    frontier: Frontier
    inputs: dict[int, Words]
    words: dict[int, Words]
    least: Words
    most: Words

    def said(self, number: int, scale: int) -> Words:
        """Return the contribution of atoms at all states, for a number of the frontier."""
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
    """Makes groups with the contribution and the exact value at all states of their inputs."""

    def __init__(self, forward: Forward, reach: Mapping[int, Enclosure], effort: int) -> None:
        self.forward, self.graph, self.reach, self.effort = forward, forward.graph, reach, effort
        self.turning = _turning_nodes(forward)

    def group(
        self, addends: Sequence[FlatAddend], poly: Poly, turning: Sequence[bool] | None = None
    ) -> HeapGroup:
        """Make a group of addends with a polynomial; `turning` nodes are words given to it."""
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
        return HeapGroup(tuple(addends), exact, frontier, inputs, words, least, most)

    def cells(self, place: int) -> tuple[WordLine, Words]:
        """Return the values and the possible words of a linear input.

        An input that is not read has the cells that its word would have.
        """
        given = self.forward.explained.meanings[place]
        if not isinstance(given, GivenWord) or given.angle:
            raise NotPlainError
        if given.word is not None:
            line = given_line(self.graph, given)
        else:
            line = WordLine(Fraction(1 - given.cells, 2), Fraction(1), given.cells)
        first, last = cells_reached(line, given)
        return line, np.arange(first, last + 1, dtype=np.int64)


def doubled_ends(line: WordLine, words: Words) -> tuple[Words, Words]:
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


# --------------------------------------------------------------------------------------------------
# Compiled loops, in integers that count a fixed part of a step.
# --------------------------------------------------------------------------------------------------

PARTS = 10  # bits of a fraction between two points of a grid


@njit(cache=True)
def envelope(  # noqa: PLR0917 (a compiled loop takes columns, not values)
    said: Whole, least: Whole, most: Whole, block: Whole, grid: Whole, high: Whole, low: Whole,
) -> None:  # fmt: skip
    """Find, for every block and every a, the largest and least of said - a·m, m of least and most.

    `high` and `low`, (blocks, grid), hold what there was before.
    """
    for k in range(len(said)):
        b = block[k]
        for j in range(len(grid)):
            one, two = said[k] - grid[j] * least[k], said[k] - grid[j] * most[k]
            high[b, j], low[b, j] = max(high[b, j], one, two), min(low[b, j], one, two)


@njit(cache=True)
def hulls(  # noqa: PLR0917 (a compiled loop takes columns, not values)
    said: Whole, least: Whole, most: Whole, base: int, grid: Whole, high: Whole, low: Whole,
) -> None:  # fmt: skip
    """Maximise and minimise value - (base + grid)·m, for m from least to most."""
    for j in range(len(grid)):
        a = base + grid[j]
        for k in range(len(said)):
            one, two = said[k] - a * least[k], said[k] - a * most[k]
            high[j], low[j] = max(high[j], one, two), min(low[j], one, two)


@njit(cache=True)
def add_group(  # noqa: PLR0917 (a compiled loop takes columns, not values)
    up: Whole, down: Whole, which: Whole, a: Whole, first: Whole, step: Whole, high: Whole,
    low: Whole, own: Whole,
) -> None:  # fmt: skip
    """Add a group's largest and least errors, by chords between points of its grids.

    `up` and `down` are (cells, blocks), `high` and `low` (rows, own blocks, points); `own` maps
    blocks to own blocks.
    """
    points = high.shape[2]
    for k in range(len(a)):
        row = which[k]
        beside = a[k] - first[row]
        place = min(beside // step[row], points - 2)
        part = ((beside - place * step[row]) << PARTS) // step[row]
        for b in range(len(own)):
            start, end = high[row, own[b], place], high[row, own[b], place + 1]
            up[k, b] += start + (((end - start) * part) >> PARTS) + (abs(end - start) >> PARTS) + 2
            start, end = low[row, own[b], place], low[row, own[b], place + 1]
            down[k, b] += (
                start + (((end - start) * part) >> PARTS) - (abs(end - start) >> PARTS) - 2
            )


@njit(cache=True)
def add_range(up: Whole, down: Whole, which: Whole, high: Whole, low: Whole, own: Whole) -> None:
    """Add limits given by row and own block."""
    for k in range(len(which)):
        for b in range(len(own)):
            up[k, b] += high[which[k], own[b]]
            down[k, b] += low[which[k], own[b]]


@njit(cache=True)
def add_product(  # noqa: PLR0917 (a compiled loop takes columns, not values)
    up: Whole, down: Whole, first: Whole, last: Whole, least: Whole, most: Whole, start: int,
    step: int, high: Whole, low: Whole,
) -> None:  # fmt: skip
    """Add the errors of a product for classes first .. last, given limits of its sum's error.

    `high` and `low` are (first class, last class, points). They are convex and concave in the error
    of the sum, so an end of its range is the worst.
    """
    points = high.shape[2]
    for k in range(up.shape[0]):
        for b in range(up.shape[1]):
            one, two = first[k, b], last[k, b]
            best_up, best_down = high[one, two, 0], low[one, two, 0]
            for end in range(2):
                beside = (most[k, b] if end else least[k, b]) - start
                place = min(beside // step, points - 2)
                part = ((beside - place * step) << PARTS) // step
                a, z = high[one, two, place], high[one, two, place + 1]
                found = a + (((z - a) * part) >> PARTS) + (abs(z - a) >> PARTS) + 2
                best_up = found if not end else max(best_up, found)
                a, z = low[one, two, place], low[one, two, place + 1]
                found = a + (((z - a) * part) >> PARTS) - (abs(z - a) >> PARTS) - 2
                best_down = found if not end else min(best_down, found)
            up[k, b] += best_up
            down[k, b] += best_down


@njit(cache=True)
def spread(which: Whole, a: Whole, first: Whole, last: Whole) -> None:
    """Widen, for every word that occurs, the range of a."""
    for k in range(len(a)):
        row = which[k]
        first[row], last[row] = min(first[row], a[k]), max(last[row], a[k])


# --------------------------------------------------------------------------------------------------
# All cells of angles: the words that depend on them alone, and harmonics at their corners.
# --------------------------------------------------------------------------------------------------

BLOCK = 1 << 17  # cells at a time


@dataclass(frozen=True, slots=True, eq=False)
class AngleNode:
    """An angle: its meaning, node and possible words, and 2^places cells per turn."""

    meaning: int
    node: int
    words: Words
    places: int


@dataclass(frozen=True, slots=True, eq=False)
class LookedUp:
    """A harmonic: the multiple of every angle, and its values on a grid of a turn."""

    often: tuple[int, ...]
    values: Words


@dataclass(frozen=True, slots=True, eq=False)
class Sweep:
    """An enumeration of all cells of some angles; numbers count 2^-scale."""

    graph: WordGraph
    angles: tuple[AngleNode, ...]
    scale: int

    @property
    def cells(self) -> int:
        return int(np.prod([len(one.words) for one in self.angles], dtype=np.int64))

    @property
    def corners(self) -> list[tuple[int, ...]]:
        return list(itertools.product((0, 1), repeat=len(self.angles)))

    def blocks(self) -> Iterator[list[Words]]:
        """Yield the words of the angles at all cells, in parts of the first angle."""
        if not self.angles:
            yield []
            return
        first, *rest = (one.words for one in self.angles)
        size = max(1, BLOCK // max(1, self.cells // len(first)))
        for k in range(0, len(first), size):
            grid = np.meshgrid(first[k : k + size], *rest, indexing="ij")
            yield [axis.reshape(-1) for axis in grid]

    def values(self, block: Sequence[Words], nodes: Sequence[int]) -> list[Words]:
        """Compute the words of nodes that depend on these angles alone, in order."""
        values = [np.zeros(_count(block), np.int64)] * len(self.graph.nodes)
        for one, words in zip(self.angles, block, strict=True):
            values[one.node] = words
        for place in nodes:
            if not isinstance(self.graph.nodes[place], InputWord):
                values[place] = node_word(self.graph, place, values)[0]
        return values

    def waves(self, series: Series, scale: Fraction) -> list[LookedUp]:
        """Return the harmonics of a series times a number, each with an error below two units."""
        places = 1 << max([3, *(one.places for one in self.angles)])
        ks, step = np.arange(places, dtype=object), Fraction(1, places)
        found = []
        for angle, (a, b) in series.items():
            turns = dict(angle)
            part = (1 if angle else 0, a.times(scale), b.times(scale))
            values = waves_at([part], Fraction(0), step, ks).values >> (PLACES - self.scale)
            often = tuple(turns.get(one.meaning, 0) for one in self.angles)
            found.append(LookedUp(often, values.astype(np.int64)))
        return found

    def exact(
        self, waves: Sequence[LookedUp], block: Sequence[Words], corner: Sequence[int]
    ) -> Words:
        """Return a series at a corner of every cell."""
        total = np.zeros(_count(block), np.int64)
        for wave in waves:
            index, places = np.zeros(len(total), np.int64), len(wave.values)
            listed = zip(self.angles, block, corner, wave.often, strict=True)
            for one, words, side, times in listed:
                if times:
                    index += times * ((words + side) * (places >> one.places) - places // 2)
            total += wave.values[index & (places - 1)]
        return total


def _count(block: Sequence[Words]) -> int:
    return len(block[0]) if block else 1


def ancestors(graph: WordGraph, nodes: Sequence[int]) -> list[int]:
    """Return nodes and all nodes that they depend on, in order."""
    waiting, found = list(nodes), set[int]()
    while waiting:
        k = waiting.pop()
        if k not in found:
            found.add(k)
            waiting += reads(graph.nodes[k])
    return sorted(found)


def shape_of(whole: Sweep, cells: int) -> tuple[int, ...]:
    """Return the number of rows of the first angle, and the number of cells of the others."""
    if not whole.angles:
        return (1,)
    others = [len(one.words) for one in whole.angles[1:]]
    return (cells // int(np.prod(others, dtype=np.int64)), *others)


def part_of_rows(
    whole: Sweep, sweep: Sweep, errors: Words, row: int, shape: tuple[int, ...]
) -> Words:
    """Return the errors of a group at some rows of the first angle, broadcast to all angles."""
    sizes = [len(one.words) if one in sweep.angles else 1 for one in whole.angles] or [1]
    grid = errors.reshape(sizes)
    return grid[row : row + shape[0]] if sizes[0] > 1 else grid


# --------------------------------------------------------------------------------------------------
# Errors of groups at all cells of their angles, by tables by word, and chords between points.
#
# The linear inputs of a group may be partitioned into blocks, each with errors of its own.
# --------------------------------------------------------------------------------------------------

if TYPE_CHECKING:
    Profile = tuple[Sweep, dict[tuple[int, ...], tuple[Words, Words]]]


FARTHEST = np.iinfo(np.int64).max // 2


@dataclass(frozen=True, slots=True, eq=False)
class StateBlocks:
    """The blocks of a group's states: one state of each, and the block of every state."""

    block: Words
    count: int
    own: Words


@dataclass(frozen=True, slots=True, eq=False)
class Tabled:
    """The errors of a group, by number of its frontier (`row`), on a grid of a, by block.

    `most` and `least` are limits of its contribution to the heap.
    """

    group: HeapGroup
    waves: list[LookedUp]
    row: Words
    first: Words
    step: Words
    high: Words
    low: Words
    most: Words
    least: Words
    own: Words

    @property
    def tiny(self) -> int:
        """The number of units by which table lookups of harmonics may increase its errors."""
        most = max(np.abs(self.group.least).max(), np.abs(self.group.most).max())
        return (2 * len(self.waves) + 1) * int(most)

    def which(self, values: Sequence[Words]) -> Words:
        """Return the rows for words of many angles."""
        found = self.row[self.group.frontier.packed(values)]
        return np.broadcast_to(found, len(values[0])).copy()

    def add(self, up: Words, down: Words, which: Words, a: Words) -> None:
        add_group(
            up, down, which, a, self.first, self.step, self.high, self.low, self.own
        )  # fmt: skip


@dataclass(frozen=True, slots=True, eq=False)
class Profiles:
    """The angles of an output, and the unit of its errors."""

    graph: WordGraph
    angles: tuple[AngleNode, ...]
    scale: int
    effort: int

    def sweep(self, words: Sequence[int], names: Iterable[int]) -> tuple[Sweep, list[int]]:
        """Return an enumeration of the angles that words and names depend on, and the nodes."""
        nodes, used = ancestors(self.graph, words), set(names)
        angles = [one for one in self.angles if one.node in nodes or one.meaning in used]
        return Sweep(self.graph, tuple(angles), self.scale), nodes

    def sweep_of(self, groups: Sequence[HeapGroup]) -> tuple[Sweep, list[int]]:
        """Return an enumeration of the angles of groups, and the words that these read."""
        names = {name for one in groups for angle in one.exact.series for name, _ in angle}
        return self.sweep([k for one in groups for k in one.frontier.words], names)

    def tabled(self, group: HeapGroup, blocks: StateBlocks | None = None) -> Tabled:
        """Tabulate a group's largest and least errors for all words that it may read."""
        states = len(group.least)
        if blocks is None:
            blocks = StateBlocks(np.zeros(states, np.int64), 1, np.zeros(1, np.int64))
        sweep, nodes = self.sweep_of([group])
        waves = sweep.waves(group.exact.series, group.exact.scale)
        first, last = (np.full(group.frontier.count, end) for end in (FARTHEST, -FARTHEST))
        for block in sweep.blocks():
            values = sweep.values(block, nodes)
            which = np.broadcast_to(group.frontier.packed(values), len(values[0])).copy()
            for corner in sweep.corners:
                spread(which, sweep.exact(waves, block, corner), first, last)
        there = np.flatnonzero(first <= last)
        if len(there) * states * POINTS > self.effort:
            raise NotPlainError
        row = np.zeros(len(first), np.int64)
        row[there] = np.arange(len(there))
        step = np.maximum(1, -(-(last[there] - first[there]) // (POINTS - 1)))
        high, low = (
            np.full((len(there), blocks.count, POINTS), end) for end in (-FARTHEST, FARTHEST)
        )
        most, least = high[..., 0].copy(), low[..., 0].copy()
        for k, number in enumerate(there.tolist()):
            grid = first[number] + step[k] * np.arange(POINTS, dtype=np.int64)
            said = group.said(number, self.scale)
            envelope(said, group.least, group.most, blocks.block, grid, high[k], low[k])
            np.maximum.at(most[k], blocks.block, said)
            np.minimum.at(least[k], blocks.block, said)
        return Tabled(
            group, waves, row, first[there], step, high, low, most, least, blocks.own
        )  # fmt: skip

    def profile(self, tabled: Tabled) -> Profile:
        """Return a group's largest and least errors at all cells of its angles, by corner."""
        sweep, nodes = self.sweep_of([tabled.group])
        found = {corner: ([], []) for corner in sweep.corners}  # type: ignore[var-annotated]
        for block in sweep.blocks():
            values = sweep.values(block, nodes)
            which = tabled.which(values)
            for corner, (highs, lows) in found.items():
                up, down = (np.zeros((len(which), 1), np.int64) for _ in range(2))
                tabled.add(up, down, which, sweep.exact(tabled.waves, block, corner))
                highs.append(up[:, 0])
                lows.append(down[:, 0])
        return sweep, joined(found)


def joined(
    found: dict[tuple[int, ...], tuple[list[Words], list[Words]]],
) -> dict[tuple[int, ...], tuple[Words, Words]]:
    return {
        corner: (np.concatenate(highs), np.concatenate(lows))
        for corner, (highs, lows) in found.items()
    }


# --------------------------------------------------------------------------------------------------
# Products x·y in a heap, where x depends on linear inputs alone, and y is a sum of others, too.
#
# Let y = K·w + δ in units of the product over x, where w is the word of its sum. Given the word,
# the largest error is convex in δ, and δ is a sum of errors of groups. A table has the product's
# largest errors for classes of words and a grid of δ. Tables of the sum's groups give the range of
# δ.
# --------------------------------------------------------------------------------------------------

CLASSES = 32  # of words of a sum
GRID_PLACES = 65  # of a grid of δ


@dataclass(frozen=True, slots=True, eq=False)
class GroupProduct:
    """A product of x and the word of y: `outer` is x; then come the groups and constants of y.

    `each` is K, and `drop` the number of unread bits of w. `base` is the constant part of
    contribution and exact value, and its lost bits. `slack` bounds the remaining error of the
    whole, in steps.
    """

    addend: FlatAddend
    outer: HeapGroup
    inner: list[HeapGroup]
    turning: list[FlatAddend]
    still: Poly
    each: int
    drop: int
    bits: int
    base: Enclosure
    constant: int
    lost: tuple[int, int]
    slack: Enclosure

    @property
    def words(self) -> list[int]:
        return [k for one in self.turning for a in one.atoms for k in part_reads(a.part)]


class Products:
    """Makes products of addends."""

    def __init__(self, grouping: Grouping, flattener: Flattener, scale: int) -> None:
        self.grouping, self.flattener, self.scale = grouping, flattener, scale
        self.graph, self.reach = grouping.graph, grouping.reach

    def product(self, addend: FlatAddend) -> GroupProduct:
        """Return an addend as a product; a NotPlainError if it is none."""
        if addend.product is None or len(addend.atoms) != 1:
            raise NotPlainError
        part = addend.atoms[0].part
        if not isinstance(part, PartialProducts):
            raise NotPlainError
        a, b = addend.product
        for x, y, read in ((a, b, part.b), (b, a, part.a)):
            total = self.flattener.meanings[y]
            series = self.flattener.expansion.of(x).values()
            alone = all(not angle for one in series for angle in one)
            if alone and isinstance(total, AddendSum) and total.word == read and not total.turning:
                return self._made(addend, x, y, read)
        raise NotPlainError

    def _made(self, addend: FlatAddend, x: int, y: int, read: int) -> GroupProduct:
        outer, size = self._outer(addend, x, read)
        if outer.frontier.words != [read]:
            raise NotPlainError
        (drop,) = outer.frontier.drops
        lsb = self.graph.scales[read].lsb
        each = round(size * Fraction(2) ** lsb * (1 << self.scale))
        if each <= 0:
            raise NotPlainError
        weight = Fraction(each, 1 << self.scale)
        flat = self.flattener.flat(y, weight)
        ratio = size * Fraction(2) ** lsb / weight
        inner, turning, still = self._sum(flat.addends, ratio)
        constant = flat.constant * (1 << self.scale)
        if constant.denominator != 1 or not inner:
            raise NotPlainError
        lost = sum((about(one.exact.slack) for one in inner), ZERO)
        base = exactly(flat.stands * ratio - flat.constant) - flat.lost + about(lost)
        missing = tuple(Fraction(end * (1 << self.scale), ONE) for end in _ends(flat.lost))
        size_y = about(amplitude_of(self.flattener.expansion.of(y), self.reach))
        return GroupProduct(
            addend, outer, inner, turning, still, each, drop, self.graph.nodes[read].bits, base,
            int(constant), (_down(missing[0]), -_down(-missing[1])),
            (about(outer.exact.slack) * size_y).times(addend.times),
        )  # fmt: skip

    def _sum(
        self, addends: Sequence[FlatAddend], ratio: Fraction
    ) -> tuple[list[HeapGroup], list[FlatAddend], Poly]:
        """Return a sum's groups, its addends of angles alone, and its other exact value."""
        inner: list[HeapGroup] = []
        turning: list[FlatAddend] = []
        still: Poly = {}
        for names, places in components([one.linear for one in addends]):
            found = [addends[k] for k in places]
            if not names:
                turning += found
                for one in found:
                    add(still, scaled(one.poly, ratio))
                continue
            inner += self._parts(found, ratio)
            for one in found:
                add(still, scaled({(): one.poly.get((), {})}, ratio))
        return inner, turning, still

    def _parts(self, addends: list[FlatAddend], ratio: Fraction) -> list[HeapGroup]:
        """Return addends as a single group, or as a group each."""
        poly: Poly = {}
        for one in addends:
            add(poly, scaled(one.poly, ratio))
        poly.pop((), {})
        try:
            return [self.grouping.group(addends, poly)]
        except NotPlainError:
            if len(addends) == 1:
                raise
        return [part for one in addends for part in self._parts([one], ratio)]

    def _outer(self, addend: FlatAddend, x: int, read: int) -> tuple[HeapGroup, Fraction]:
        """Return x by words of y, and the positive weight of a step of its polynomial."""
        (word,) = pieces_of(self.flattener.meanings[x]).words or (None,)
        if word is None or pieces_of(self.flattener.meanings[x]).product is not None:
            raise NotPlainError
        own = ancestors(self.graph, [word])
        if read in own:
            raise NotPlainError
        turning = [k not in own for k in range(len(self.graph.nodes))]
        alone = replace(addend, linear=self.flattener.linear(x))
        group = self.grouping.group([alone], self.flattener.expansion.of(x), turning)
        (factor, _) = group.exact.series.get((), (ZERO, ZERO))
        if factor.low != factor.high or not factor.low:
            raise NotPlainError
        size = addend.times * Fraction(factor.low, ONE) * group.exact.scale
        if size < 0:
            group = replace(group, least=-group.most, most=-group.least)
        return group, abs(size)


def _ends(lost: Enclosure) -> tuple[int, int]:
    return lost.low, lost.high


def _down(value: Fraction) -> int:
    return value.numerator // value.denominator


class TabledProduct:
    """A product with its tables, which adds its errors at cells, by block."""

    def __init__(
        self, product: GroupProduct, inner: list[Tabled], whole: Sweep, nodes: Sequence[int]
    ) -> None:
        self.product, self.inner, self.whole, self.nodes = product, inner, whole, nodes
        self.scale = whole.scale
        self.still = whole.waves(product.still.get((), {}), Fraction(1))
        tiny = sum(one.tiny for one in inner) + 2 * len(self.still) + 1
        low, high = (Fraction(end * (1 << self.scale), ONE) for end in _ends(product.base))
        self.beside = _down(low) - tiny, -_down(-high) + tiny
        self.first, self.last = self._reached()
        self.classes = self._class_of((1 << product.bits) - 1) + 1
        self.step, self.high, self.low = self._table()

    def _class_of(self, word: int) -> int:
        bits = self.product.bits - self.product.drop
        return word >> self.product.drop >> max(0, bits - (CLASSES.bit_length() - 1))

    def _turned(self, values: Sequence[Words]) -> Words:
        return contribution_of(self.whole.graph, self.product.turning, values, self.scale)

    def _reached(self) -> tuple[int, int]:
        """Return the range of δ."""
        first, last = self.beside
        low = high = None
        for block in self.whole.blocks():
            said = self._turned(self.whole.values(block, self.nodes))
            for corner in self.whole.corners:
                found = self.whole.exact(self.still, block, corner) - said
                low = int(found.min()) if low is None else min(low, int(found.min()))
                high = int(found.max()) if high is None else max(high, int(found.max()))
        first += low or 0
        last += high or 0
        for one in self.inner:
            first -= int(one.high.max()) + 4 + (int(np.ptp(one.high)) >> 9)
            last -= int(one.low.min()) - 4 - (int(np.ptp(one.low)) >> 9)
        return first, last + self.product.each * ((1 << self.product.drop) - 1)

    def _table(self) -> tuple[int, Words, Words]:
        """Tabulate largest and least errors from class to class, on a grid of δ."""
        product, outer = self.product, self.product.outer
        step = max(1, -(-(self.last - self.first) // (GRID_PLACES - 1)))
        grid = self.first + step * np.arange(GRID_PLACES, dtype=np.int64)
        high, low = (
            np.full((self.classes, GRID_PLACES), end, np.int64) for end in (-FARTHEST, FARTHEST)
        )
        for number in range(outer.frontier.count):
            word = number << product.drop
            said = outer.said(number, self.scale)
            kept = self._class_of(word)
            hulls(
                said, outer.least, outer.most, product.each * word, grid, high[kept], low[kept]
            )  # fmt: skip
        shape = (self.classes, self.classes, GRID_PLACES)
        up, down = np.full(shape, -FARTHEST), np.full(shape, FARTHEST)
        for k in range(self.classes):
            up[k, k:] = np.maximum.accumulate(high[k:], axis=0)
            down[k, k:] = np.minimum.accumulate(low[k:], axis=0)
        return step, up, down

    def add(
        self, up: Words, down: Words, values: Sequence[Words], rows: Sequence[Words],
        exact: Sequence[Words], still: Words,
    ) -> None:  # fmt: skip
        """Add largest and least errors of cells; `exact` are the groups' at a corner."""
        product, shape = self.product, up.shape
        said = self._turned(values)
        point = np.broadcast_to(still - said, shape[:1])[:, None]
        worst, best, most, least = (np.zeros(shape, np.int64) for _ in range(4))
        for one, which, a in zip(self.inner, rows, exact, strict=True):
            one.add(worst, best, which, a)
            add_range(most, least, which, one.most, one.least, one.own)
        held = product.constant + np.broadcast_to(said, shape[:1])[:, None]
        first = np.maximum(0, (held + least + product.lost[0]) // product.each)
        last = np.minimum((1 << product.bits) - 1, (held + most + product.lost[1]) // product.each)
        bits = max(0, product.bits - product.drop - (CLASSES.bit_length() - 1)) + product.drop
        first, last = (np.clip(k >> bits, 0, self.classes - 1) for k in (first, last))
        dropped = product.each * ((1 << product.drop) - 1)
        add_product(
            up, down, first, np.maximum(first, last), point - worst + self.beside[0],
            point - best + self.beside[1] + dropped, self.first, self.step, self.high, self.low,
        )  # fmt: skip


def names_of(poly: Poly) -> set[int]:
    return {name for series in poly.values() for angle in series for name, _ in angle}


# --------------------------------------------------------------------------------------------------
# Groups whose addends follow several functions of the angles.
#
# Addends with one function have tables of their own, and so have products of sums. The linear
# inputs that they share are partitioned into blocks. The error of a block is the sum of the largest
# errors of its addends, and the error of the group is that of its worst block.
# --------------------------------------------------------------------------------------------------

BLOCKS = 16  # for all cells
FINEST = 1 << 12  # for the worst cells
CELLS = 1 << 18  # blocks of cells at a time


@dataclass(frozen=True, slots=True, eq=False)
class JointGroup:
    """A group with several functions of the angles, split into addends with tables.

    `shared` are words of inputs that several parts read. `still` is the exact value of `taken`
    addends without their inputs. `left` are addends of which only the largest error is known.
    """

    simple: list[HeapGroup]
    products: list[GroupProduct]
    still: Poly
    taken: list[FlatAddend]
    left: list[FlatAddend]

    @property
    def groups(self) -> list[HeapGroup]:
        return [*self.simple, *(group for one in self.products for group in one.inner)]

    @property
    def slack(self) -> Enclosure:
        """The error that tables do not include, in steps."""
        total = ZERO
        for group in self.simple:
            total = total + about(group.exact.slack)
        for product in self.products:
            total = total + about(product.slack)
        return total

    def poly(self) -> Poly:
        """Return the exact polynomial without the `still` part."""
        total: Poly = {}
        for one in (addend for group in self.simple for addend in group.addends):
            add(total, one.poly)
        total.pop((), {})
        for one in (product.addend for product in self.products):
            add(total, one.poly)
        return {powers: series for powers, series in total.items() if series}

    def shared(self) -> dict[int, Words]:
        """Return the possible words of inputs that several groups read."""
        readers = [name for group in self.groups for name in group.words]
        words = {name: column for group in self.groups for name, column in group.words.items()}
        return {name: np.unique(words[name]) for name in words if readers.count(name) > 1}


def joint_of(grouping: Grouping, products: Products, addends: Sequence[FlatAddend]) -> JointGroup:
    """Split a group into its addends; NotPlainError if none has tables."""
    found = JointGroup([], [], {}, [], [])
    for one in addends:
        poly: Poly = {}
        add(poly, one.poly)
        alone: Poly = {(): poly.pop((), {})}
        try:
            found.simple.append(grouping.group([one], poly))
            add(found.still, alone)
        except NotPlainError:
            try:
                found.products.append(products.product(one))
            except NotPlainError:
                found.left.append(one)
                continue
        found.taken.append(one)
    if not found.taken:
        raise NotPlainError
    return found


class BlockCut:
    """A partition of inputs into blocks, with a limit on the number of blocks."""

    def __init__(self, shared: Mapping[int, Words], most: int = BLOCKS) -> None:
        self.shared = shared
        self.parts = dict.fromkeys(sorted(shared), 1)
        while math.prod(self.parts.values()) * 2 <= most:
            longest = max(self.parts, key=lambda k: (len(shared[k]) / self.parts[k], -k), default=0)
            if not self.parts or len(shared[longest]) < 2 * self.parts[longest]:
                break
            self.parts[longest] *= 2
        self.count = math.prod(self.parts.values())

    def of(self, group: HeapGroup) -> StateBlocks:
        """Return the blocks of a group's states."""
        names = [name for name in self.parts if name in group.words]
        block, own = np.zeros(len(group.least), np.int64), np.zeros(self.count, np.int64)
        every = np.unravel_index(np.arange(self.count), list(self.parts.values()) or [1])
        axes = dict(zip(self.parts, every, strict=False))
        for name in names:
            words = self.shared[name]
            place = (group.words[name] - words[0]) * self.parts[name] // len(words)
            block = block * self.parts[name] + place
            own = own * self.parts[name] + axes[name]
        return StateBlocks(block, math.prod(self.parts[name] for name in names), own)


class JointTables:
    """The tables of a joint group, and its errors at all cells of its angles."""

    def __init__(self, joint: JointGroup, profiles: Profiles, most: int = BLOCKS) -> None:
        self.joint, self.profiles = joint, profiles
        cut = BlockCut(joint.shared(), most)
        words = [k for group in joint.groups for k in group.frontier.words]
        names = set[int]()
        for group in joint.groups:
            names |= names_of({(): group.exact.series})
        for product in joint.products:
            words += product.words
            names |= names_of(product.still)
        self.whole, self.nodes = profiles.sweep(words, names)
        if (
            most == BLOCKS
            and self.whole.cells * cut.count << len(self.whole.angles) > profiles.effort
        ):
            raise NotPlainError
        self.count = cut.count
        self.simple = [profiles.tabled(group, cut.of(group)) for group in joint.simple]
        self.products = [
            TabledProduct(
                one, [profiles.tabled(group, cut.of(group)) for group in one.inner],
                self.whole, self.nodes,
            )
            for one in joint.products
        ]  # fmt: skip
        self.tabled: list[Tabled] = [
            *self.simple,
            *(table for one in self.products for table in one.inner),
        ]
        self.waves = [
            self.whole.waves(one.group.exact.series, one.group.exact.scale) for one in self.tabled
        ]

    def finer(self) -> JointTables:
        return JointTables(self.joint, self.profiles, FINEST)

    def tiny(self) -> int:
        return sum(one.tiny for one in self.simple)

    def profile(self) -> Profile:
        """Return the largest and least errors at all cells, by corner."""
        found = {corner: ([], []) for corner in self.whole.corners}  # type: ignore[var-annotated]
        for block in self.whole.blocks():
            for corner, (highs, lows) in found.items():
                up, down = self.at(block, corner)
                highs.append(up)
                lows.append(down)
        return self.whole, joined(found)

    def at(self, block: Sequence[Words], corner: tuple[int, ...]) -> tuple[Words, Words]:
        """Return the largest and least errors for words of the angles, at a corner."""
        values = self.whole.values(block, self.nodes)
        rows = [one.which(values) for one in self.tabled]
        exact = [self.whole.exact(one, block, corner) for one in self.waves]
        still = [self.whole.exact(one.still, block, corner) for one in self.products]
        count, size = len(values[0]), max(1, CELLS // self.count)
        up, down = np.empty(count, np.int64), np.empty(count, np.int64)
        for start in range(0, count, size):
            part = slice(start, start + size)
            highs, lows = self._errors(
                [column[part] for column in values], [one[part] for one in rows],
                [one[part] for one in exact], [one[part] for one in still],
            )  # fmt: skip
            up[part], down[part] = highs.max(axis=1), lows.min(axis=1)
        return up, down

    def _errors(
        self, values: Sequence[Words], rows: Sequence[Words], exact: Sequence[Words],
        still: Sequence[Words],
    ) -> tuple[Words, Words]:  # fmt: skip
        """Return the largest and least errors of cells, by block."""
        shape = len(values[0]), self.count
        up, down = (np.zeros(shape, np.int64) for _ in range(2))
        for one, which, a in zip(self.simple, rows, exact, strict=False):
            one.add(up, down, which, a)
        first = len(self.simple)
        for product, own in zip(self.products, still, strict=True):
            last = first + len(product.inner)
            product.add(up, down, values, rows[first:last], exact[first:last], own)
            first = last
        return up, down


# --------------------------------------------------------------------------------------------------
# A group of several functions at all states of its linear inputs, in one cell at one corner.
# --------------------------------------------------------------------------------------------------

LARGEST_KEPT = 1 << 24  # limit on monomials at all states and corners that are stored


class GroupStates:
    """Contributions of addends to the heap, and exact values Σ c·monomial of twice the inputs."""

    def __init__(self, grouping: Grouping, joint: JointGroup, whole: Sweep) -> None:
        self.addends, self.whole, self.graph = joint.taken, whole, grouping.graph
        poly, addends = joint.poly(), joint.taken
        names = sorted(frozenset[int]().union(*(one.linear for one in addends)))
        lines = [grouping.cells(name) for name in names]
        self.count = math.prod(len(words) for _, words in lines)
        self.size = self.count * len(poly) << len(names)
        if self.size > LARGEST_KEPT:
            raise NotPlainError
        axes = np.meshgrid(*(words for _, words in lines), indexing="ij")
        columns = [axis.reshape(-1) for axis in axes]
        ends = [doubled_ends(line, w) for (line, _), w in zip(lines, columns, strict=True)]
        meanings = grouping.forward.explained.meanings
        read = [getattr(meanings[name], "word", None) for name in names]
        self.inputs = {k: w for k, w in zip(read, columns, strict=True) if k is not None}
        nodes = needed(self.graph, [atom.part for one in addends for atom in one.atoms])
        self.turning = [k for k in nodes if grouping.turning[k]]
        self.nodes = [k for k in nodes if not grouping.turning[k]]
        self.waves = [
            whole.waves(series, Fraction(1, 1 << sum(often for _, often in powers)))
            for powers, series in poly.items()
        ]
        self.corners = [
            [_monomial(powers, dict(zip(names, at, strict=True))) for powers in poly]
            for at in itertools.product(*ends)
        ]
        self.tiny = sum(
            (2 * len(waves) + 1) * int(max(np.abs(at[k]).max() for at in self.corners))
            for k, waves in enumerate(self.waves)
        )

    def said(self, values: Sequence[Words]) -> Words:
        """Return the contribution to the heap at all states, for the words of a cell."""
        found = [np.zeros(0, np.int64)] * len(self.graph.nodes)
        found[0] = np.zeros(self.count, np.int64)
        for k in self.turning:
            found[k] = np.full(self.count, values[k][0])
        for k in self.nodes:
            found[k] = self.inputs[k] if k in self.inputs else node_word(self.graph, k, found)[0]
        return contribution_of(self.graph, self.addends, found, self.whole.scale)

    def errors(
        self, said: Words, block: Sequence[Words], corner: Sequence[int], sign: int
    ) -> Words:
        """Return the largest errors in one direction at all states, at a corner of the angles."""
        factors = [int(self.whole.exact(waves, block, corner)[0]) for waves in self.waves]
        worst = None
        for at in self.corners:
            exact = sum((c * x for c, x in zip(factors, at, strict=True)), np.zeros_like(said))
            error = sign * (said - exact)
            worst = error if worst is None else np.maximum(worst, error)
        if worst is None:
            raise NotPlainError
        return worst + self.tiny


def _monomial(powers: Powers, at: dict[int, Words]) -> Words:
    total = np.ones_like(next(iter(at.values())))
    for name, often in powers:
        total = total * at[name] ** often
    return total
