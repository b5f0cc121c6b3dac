"""Groups of linear inputs whose addends follow several functions of the angles.

An addend with one function of the angles has a table of its own (see `groups`), and so has a
product of two sums. The states of the inputs that addends share are partitioned into blocks. The
error of a block is the sum of the largest errors of the addends, and the error of the group is that
of its worst block.
"""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from functools import cached_property
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from boolcomp.checker.folder import NotCoveredError
from boolcomp.checker.groups import (
    NEVER,
    PARTS,
    Blocks,
    Corners,
    ExactAddend,
    GroupTable,
    Profile,
    SplitHeap,
    WeightedGroup,
    add_chords,
    add_products,
    added_up,
    common,
    grouped,
    groups_of,
    largest_errors,
    own_corner,
    slope,
    steps,
    sweep,
    total_degree,
)
from boolcomp.checker.plain import word_of
from boolcomp.checker.problem import ClaimedTotal
from boolcomp.checker.spans import NOTHING, ONE, IntegerSpan, exactly
from boolcomp.words.graph import PartialProducts

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from boolcomp.checker.groups import AngleWord, BlockErrors, Grouping, Poly, WeightedPart, Words

CLASSES, GRID = 5, 65  # highest bits of a word that make its class; points of a grid of its errors
COARSE, FINE = 16, 1 << 12  # blocks for all cells, and for the worst
AT_ONCE = 1 << 18  # blocks of cells at a time


class ProductErrors:
    """The largest errors of a product x·y: x of linear inputs alone, y a sum with a word w.

    In units of the product over P, a polynomial of x, y is K·w + δ. Given the word, the error is
    convex in δ. The table has the largest errors for classes of words and a grid of δ. The groups
    of the sum's addends limit δ.
    """

    def __init__(
        self,
        grouping: Grouping,
        split: SplitHeap,
        atom: WeightedPart,
        angles: Sequence[AngleWord],
        scale: int,
        shift: int,
    ) -> None:
        self.shift, self.angles = shift, angles
        addend = split.addends[atom.path]
        x, y, self.word = _operands(grouping, addend, atom)
        self.outer, unit, self.slack = _outer(grouping, split, atom, x, self.word)
        unit *= addend.factor
        own = grouping.polynomials.of(ExactAddend(Fraction(1), (y,)))
        size = slope(own, "", 0, grouping.reach) if own else NOTHING
        self.slack = (self.slack * size).times(abs(addend.factor)).around
        lsb = split.graph.scales[self.word].lsb
        each = round(unit * Fraction(2) ** lsb * (1 << scale) / 256) * 256
        if each < 0:
            self.outer.least, self.outer.largest = -self.outer.largest, -self.outer.least
            each, unit = -each, -unit
        self.drop = self.outer.observed.get(self.word, -1)
        if len(self.outer.observed) > 1 or self.drop < 0 or not each:
            raise NotCoveredError("a product of words with several functions of the angles")
        self.each, self.bits = each, split.graph.nodes[self.word].bits
        self.inner = SplitHeap(
            grouping.claim, y, groups_of(grouping.claim, y), Fraction(each), unit
        )
        polys = {path: grouping.polynomials.of(one) for path, one in self.inner.addends.items()}
        still = added_up({(): poly.pop((), {})} for poly in polys.values()).get((), {})
        self.still = Corners(still, Fraction(1), angles, scale)
        self.tables = _tables(grouping, self.inner, polys, angles, scale)
        if self.inner.fine:
            raise NotCoveredError("a product of a sum with fractions of steps")
        self._limits(scale)

    def _limits(self, scale: int) -> None:
        """Set the limits of δ and of w that do not depend on cells."""
        one, inner = 1 << scale, self.inner
        base = inner.still * one - inner.constant
        tiny = sum(
            table.error + -(-table.group.exact.left.size * one // ONE) for table in self.tables
        )
        low, high = (math.floor(inner.lost.ends[0]), math.ceil(inner.lost.ends[1]))
        self.low = math.floor(base) - high - tiny
        self.high = math.ceil(base) - low + tiny + self.still.error
        self.high += self.each * ((1 << self.drop) - 1)
        self.held = math.floor(inner.constant) + low, math.ceil(inner.constant) + high

    @property
    def names(self) -> set[str]:
        return {name for multiples, _ in self.still.tables for name in multiples}

    def tabulate(self, errors: Sequence[BlockErrors], reached: tuple[int, int]) -> None:
        """Make the table, given the range of the exact value of angles minus its contribution."""
        first, last = self.low + reached[0], self.high + reached[1]
        for one in errors:
            more = (2 << PARTS) + (int(np.ptp(one.ends)) >> PARTS)
            first -= int(one.ends[0].max()) + more
            last += int(one.ends[1].max()) + more
        self.first, self.last = first, last
        self.step = int(steps(np.array([last - first]), GRID)[0])
        self.gone = self.drop + max(0, self.bits - self.drop - CLASSES)
        grid = first + self.step * np.arange(GRID)
        count = 1 << (self.bits - self.gone)
        ends = np.full((2, count, GRID), NEVER)
        least, largest = self.outer.least, self.outer.largest
        states = np.array([0, len(least)])
        for word in range(0, 1 << self.bits, 1 << self.drop):
            k = word >> self.gone
            put, a = self.outer.put({self.word: word}), self.each * word + grid
            largest_errors(put, least, largest, states, a, self.shift, ends[:, k : k + 1])
        self.ends = np.full((2, count, count, GRID), NEVER)
        for k in range(count):
            self.ends[:, k, k:] = np.maximum.accumulate(ends[:, k:], axis=1)

    def beside(
        self, words: Mapping[int, Words], angles: Sequence[AngleWord], corner: Sequence[int]
    ) -> tuple[Words, Words]:
        """Return the sum's contribution and the rest of its exact value, of angles alone."""
        put = self.inner.put(self.inner.atoms.get(None, []), words)
        return put, self.still.at(words, angles, corner) - put

    def add(
        self,
        total: Words,
        words: Mapping[int, Words],
        angles: Sequence[AngleWord],
        corner: Sequence[int],
        rows: Sequence[Words],
        errors: Sequence[BlockErrors],
    ) -> None:
        """Add the largest errors of cells by block."""
        wrong, puts = np.zeros_like(total), np.zeros_like(total)
        for table, one, which in zip(self.tables, errors, rows, strict=True):
            a = table.a(words, angles, corner, total.shape[1])
            add_chords(wrong, which, a, table.first, table.step, one.ends, one.own)
            puts += one.puts[:, which][:, :, one.own]
        put, rest = (one[:, None] for one in self.beside(words, angles, corner))
        low, high = self.low + rest - wrong[0], self.high + rest + wrong[1]
        if low.min() < self.first or high.max() > self.last:
            raise NotCoveredError("a product of a sum beyond its table")
        most = (1 << self.bits) - 1
        first = np.clip((self.held[0] + put - puts[1]) // self.each, 0, most) >> self.gone
        last = np.clip((self.held[1] + put + puts[0]) // self.each, 0, most) >> self.gone
        add_products(total, first, last, low, high, self.first, self.step, self.ends)


def _operands(grouping: Grouping, addend: ExactAddend, atom: WeightedPart) -> tuple[int, int, int]:
    """Return the function x of linear inputs, the sum y, and the word of y."""
    if len(addend.read) == 2 and isinstance(atom.part, PartialProducts):
        a, b = addend.read
        for x, y, word in ((a, b, atom.part.b), (b, a, atom.part.a)):
            total = grouping.claim.functions[y]
            if (
                isinstance(total, ClaimedTotal)
                and not total.turning
                and grouping.claim.places[y].words == (word,)
                and not any(
                    map(any, grouping.polynomials.of(ExactAddend(Fraction(1), (x,))).values())
                )
            ):
                return x, y, word
    raise NotCoveredError("a group of inputs has several functions of the angles")


def _outer(
    grouping: Grouping, split: SplitHeap, atom: WeightedPart, x: int, word: int
) -> tuple[WeightedGroup, Fraction, IntegerSpan]:
    """Return x = unit · P as a group, the unit, and a bound of the difference."""
    poly = grouping.polynomials.of(ExactAddend(Fraction(1), (x,)))
    exact = common(poly, grouping.reach)
    low, high = exact.series[()][0].ends
    unit = (low + high) / 2 * exact.factor
    rest: Poly = {
        powers: {
            (): (
                series[()][0]
                - exactly(unit * exact.monomials.get(powers, 0) * 2 ** total_degree(powers)),
                NOTHING,
            )
        }
        for powers, series in poly.items()
    }
    group = grouping.group(split, [atom], exact, given=word)
    return group, unit, slope(rest, "", 0, grouping.reach)


def _tables(
    grouping: Grouping,
    split: SplitHeap,
    polys: Mapping[tuple[int, ...], Poly],
    angles: Sequence[AngleWord],
    scale: int,
) -> list[GroupTable]:
    """Return the tables of a sum: one for each group, or for each of its addends."""
    found = []
    for _, atoms, paths in grouped(split, polys):
        try:
            exact = common(added_up(polys[path] for path in paths), grouping.reach)
            group = grouping.group(split, atoms, exact)
            found.append(GroupTable(group, angles, scale, 0))
        except NotCoveredError:
            if len(paths) == 1:
                raise
            for path in paths:
                exact = common(polys[path], grouping.reach)
                own = [atom for atom in atoms if atom.path == path]
                group = grouping.group(split, own, exact)
                found.append(GroupTable(group, angles, scale, 0))
    return found


class JointGroup:
    """A group whose addends have tables of their own; `slack` is the error beyond the tables."""

    def __init__(
        self,
        grouping: Grouping,
        split: SplitHeap,
        addends: Mapping[tuple[int, ...], Sequence[WeightedPart]],
        angles: Sequence[AngleWord],
        scale: int,
        shift: int,
    ) -> None:
        self.split, self.slack, self.left = split, NOTHING, grouping.limits.single
        self.simple: list[GroupTable] = []
        self.products: list[ProductErrors] = []
        for path, atoms in addends.items():
            poly = grouping.polynomials.of(split.addends[path])
            poly.pop((), None)
            try:
                exact = common(poly, grouping.reach)
                group = grouping.group(split, atoms, exact)
                self.simple.append(GroupTable(group, angles, scale, shift))
                self.slack = self.slack + exact.left
            except NotCoveredError:
                if len(atoms) != 1:
                    raise
                own = ProductErrors(grouping, split, atoms[0], angles, scale, shift)
                self.products.append(own)
                self.slack = self.slack + own.slack
        self.error = sum(one.error for one in self.simple)
        self._set_states(grouping, addends, angles, scale)
        self._set_angles(angles)
        blocks = Blocks(self._shared(), COARSE)
        cells = math.prod(2 * len(one.at) for one in self.angles)
        if cells * blocks.count > grouping.limits.cells:
            raise NotCoveredError("an output has too many cells of its angles")
        self.coarse = JointErrors(self, blocks)
        for one, errors in zip(self.products, self.coarse.inner, strict=True):
            one.tabulate(errors, self._reached(one))

    def _set_angles(self, angles: Sequence[AngleWord]) -> None:
        names = {own.name for one in self.tables for own in one.angles}
        names = names.union(*(one.names for one in self.products))
        self.angles = [one for one in angles if one.word in self.nodes or one.name in names]

    def _set_states(
        self,
        grouping: Grouping,
        addends: Mapping[tuple[int, ...], Sequence[WeightedPart]],
        angles: Sequence[AngleWord],
        scale: int,
    ) -> None:
        """Set what the evaluation of single states needs."""
        self.atoms = [atom for atoms in addends.values() for atom in atoms]
        self.linear, observed = self.split.observed(self.atoms)
        self.nodes = self.split.needed(observed)
        polys = (grouping.polynomials.of(self.split.addends[path]) for path in addends)
        self.series = {
            powers: Corners(series, Fraction(1, 1 << total_degree(powers)), angles, scale)
            for powers, series in added_up(polys).items()
            if powers
        }
        groups = [table.group for table in self.tables] + [one.outer for one in self.products]
        names = sorted({name for group in groups for name in group.at})
        self.inputs = {name: grouping.cells(name) for name in names}

    @property
    def tables(self) -> list[GroupTable]:
        return [*self.simple, *(table for one in self.products for table in one.tables)]

    def _shared(self) -> dict[str, int]:
        """Return the inputs that several groups read, and the numbers of their values."""
        readers = [name for table in self.tables for name in table.group.at]
        sizes = {
            name: int(at.max()) + 1 for table in self.tables for name, at in table.group.at.items()
        }
        return {name: size for name, size in sizes.items() if readers.count(name) > 1}

    def _reached(self, one: ProductErrors) -> tuple[int, int]:
        least, most = -NEVER, NEVER
        words = sweep(self.split.graph, self.angles, self.nodes)
        for corner in product((0, 1), repeat=len(self.angles)):
            _, rest = one.beside(words, self.angles, corner)
            least, most = min(least, int(rest.min())), max(most, int(rest.max()))
        return least, most

    def profile(self) -> Profile:
        """Return the largest errors in both directions at all cells of the group's angles."""
        found: dict[tuple[tuple[int, ...], int], list[Words]] = {}
        sizes = [len(one.at) for one in self.angles] or [1]
        chunk = max(1, AT_ONCE // self.coarse.blocks.count // math.prod(sizes[1:]))
        for row in range(0, sizes[0], chunk):
            some = [replace(one, at=one.at[row : row + chunk]) for one in self.angles[:1]]
            some += self.angles[1:]
            words = sweep(self.split.graph, some, self.nodes)
            count = math.prod(len(one.at) for one in some)
            corners = [*product((0, 1), repeat=len(some))]
            for corner, errors in zip(corners, self.coarse.of(words, count, corners), strict=True):
                for way in range(2):
                    found.setdefault((corner, way), []).append(errors[way])
        joined = {key: np.concatenate(parts) for key, parts in found.items()}
        return Profile(self.angles, joined, self.error)

    @cached_property
    def fine(self) -> JointErrors:
        """The errors by more blocks."""
        return JointErrors(self, Blocks(self.coarse.blocks.sizes, FINE))

    def states(
        self, errors: Words, above: int, words: Mapping[int, Words], corner: Sequence[int]
    ) -> tuple[Words, Words, Words] | None:
        """Return the contribution in a cell, and limits of the exact value, of the worst states.

        These are the states of all blocks with errors above a limit. The result is None if too many
        states have been evaluated.
        """
        blocks = self.fine.blocks
        shared = _grid(blocks.sizes[name] for name in blocks.parts)
        at = dict(zip(blocks.parts, shared, strict=True))
        own = np.zeros(math.prod(blocks.sizes.values()), np.int64)
        for name, count in blocks.parts.items():
            own = own * count + at[name] * count // blocks.sizes[name]
        kept = np.flatnonzero((errors > above)[own])
        others = {name: one for name, one in self.inputs.items() if name not in at}
        sizes = [len(kept), *(len(one.low) for one in others.values())]
        self.left -= math.prod(sizes)
        if self.left < 0:
            return None
        which, *rest = _grid(sizes)
        at = {name: place[kept][which] for name, place in at.items()}
        at |= dict(zip(others, rest, strict=True))
        found, ends = dict(words), {}
        for name, one in self.inputs.items():
            ends[name] = one.low[at[name]], one.high[at[name]]
            if one.word is not None:
                found[one.word] = one.at[at[name]]
        for k in self.linear:
            if k not in found:
                found[k] = word_of(self.split.graph, k, found)
        put = np.broadcast_to(self.split.put(self.atoms, found), len(which))
        least, largest = self._exact(ends, words, corner, len(which))
        return put.copy(), least, largest

    def _exact(
        self,
        ends: Mapping[str, tuple[Words, Words]],
        words: Mapping[int, Words],
        corner: Sequence[int],
        count: int,
    ) -> tuple[Words, Words]:
        """Return limits of the exact value over the corners of the cells of states."""
        listed = [
            (powers, int(series.at(words, self.angles, corner)[0]), series.error)
            for powers, series in self.series.items()
        ]
        least, largest = np.full(count, -NEVER), np.full(count, NEVER)
        for sides in product((0, 1), repeat=len(ends)):
            low, high = np.zeros(count, np.int64), np.zeros(count, np.int64)
            for powers, a, error in listed:
                value = np.ones(count, np.int64)
                for name, k in powers:
                    value = value * ends[name][sides[[*ends].index(name)]] ** k
                low += a * value + np.minimum(0, error * value)
                high += a * value + np.maximum(0, error * value)
            least, largest = np.minimum(least, low), np.maximum(largest, high)
        return least, largest

    def less(
        self, cell: Mapping[int, Words], corner: Sequence[int], way: int,
        whole: Sequence[AngleWord],
    ) -> Words:  # fmt: skip
        """Return by how much the errors of cells are less with more blocks."""
        own, words = own_corner(self.angles, whole, corner), dict(cell)
        count = max(map(len, cell.values()), default=1)
        for k in self.nodes:
            if k not in words:
                words[k] = word_of(self.split.graph, k, words)
        before, after = (one.of(words, count, [own])[0][way] for one in (self.coarse, self.fine))
        return np.asarray(np.maximum(0, before - after))


def _grid(sizes: Iterable[int]) -> list[Words]:
    """Return the indices of all combinations."""
    grid = np.meshgrid(*(np.arange(size) for size in sizes), indexing="ij")
    return [axis.reshape(-1) for axis in grid]


class JointErrors:
    """The largest errors of a joint group in blocks of the states of shared inputs."""

    def __init__(self, joint: JointGroup, blocks: Blocks) -> None:
        self.joint, self.blocks = joint, blocks
        self.simple = [table.errors(blocks) for table in joint.simple]
        self.inner = [[table.errors(blocks) for table in one.tables] for one in joint.products]

    def of(
        self, words: Mapping[int, Words], count: int, corners: Iterable[Sequence[int]]
    ) -> list[Words]:
        """Return the largest errors (directions, cells) at corners of cells."""
        listed = [*corners]
        found = [np.empty((2, count), np.int64) for _ in listed]
        size = max(1, AT_ONCE // self.blocks.count)
        for start in range(0, count, size):
            part = slice(start, min(start + size, count))
            some = {k: one if len(one) == 1 else one[part] for k, one in words.items()}
            for errors, corner in zip(found, listed, strict=True):
                total = self.by_block(some, part.stop - part.start, corner)
                errors[:, part] = total.max(axis=2)
        return found

    def by_block(self, words: Mapping[int, Words], count: int, corner: Sequence[int]) -> Words:
        """Return the largest errors (directions, cells, blocks) at a corner of cells."""
        joint, angles = self.joint, self.joint.angles
        total = np.zeros((2, count, self.blocks.count), np.int64)
        for table, one in zip(joint.simple, self.simple, strict=True):
            a = table.a(words, angles, corner, count)
            rows = table.rows(words, count)
            add_chords(total, rows, a, table.first, table.step, one.ends, one.own)
        for own, errors in zip(joint.products, self.inner, strict=True):
            listed = [table.rows(words, count) for table in own.tables]
            own.add(total, words, angles, corner, listed, errors)
        return total
