"""x·y in a heap, x of linear inputs alone and y a sum of its own that depends on others, too.

With y = K·w + δ in units of the product over x, w the word of its sum: for a given word the worst
error is convex in δ, and δ is itself a sum over groups of what each errs by. So a table says for
classes of words and a grid of δ what the product errs by at most, and tables of the sum's groups
between which numbers δ lies.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from boolcomp.proof.bound.enclosure import ONE, ZERO, Enclosure, about, exactly
from boolcomp.proof.bound.envelope_kernels import add_product, add_range, hulls
from boolcomp.proof.bound.expansion import NotPlainError, Poly, add, amplitude_of, scaled
from boolcomp.proof.bound.flat import components, said_by
from boolcomp.proof.bound.meaning import Total
from boolcomp.proof.bound.plain import pieces_of
from boolcomp.proof.bound.profiles import FARTHEST
from boolcomp.proof.bound.sweep import ancestors
from boolcomp.words.graph import PartialProducts, part_reads

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from boolcomp.proof.bound.flat import FlatAddend, Flattener
    from boolcomp.proof.bound.groups import Group, Grouping
    from boolcomp.proof.bound.profiles import Tabled
    from boolcomp.proof.bound.sweep import Sweep

    Words = NDArray[np.int64]

CLASSES = 32  # of words of a sum
GRID_PLACES = 65  # of a grid of what a sum errs by


@dataclass(frozen=True, slots=True, eq=False)
class Product:
    """A product: x by word of y (`outer`), the groups of y, and what else its sum holds.

    `each` is K, `drop` the bits of w that are not read; `base` what the sum holds and stands for of
    itself and loses, and `slack` what the whole may err by beside that, in steps.
    """

    addend: FlatAddend
    outer: Group
    inner: list[Group]
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
        """The words of angles alone that its sum adds up."""
        return [k for one in self.turning for a in one.atoms for k in part_reads(a.part)]


class Products:
    """Makes products of addends."""

    def __init__(self, grouping: Grouping, flattener: Flattener, scale: int) -> None:
        self.grouping, self.flattener, self.scale = grouping, flattener, scale
        self.graph, self.reach = grouping.graph, grouping.reach

    def product(self, addend: FlatAddend) -> Product:
        """Return an addend as a product; where it is none a `NotPlainError`."""
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
            if alone and isinstance(total, Total) and total.word == read and not total.turning:
                return self._made(addend, x, y, read)
        raise NotPlainError

    def _made(self, addend: FlatAddend, x: int, y: int, read: int) -> Product:
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
        return Product(
            addend, outer, inner, turning, still, each, drop, self.graph.nodes[read].bits, base,
            int(constant), (_down(missing[0]), -_down(-missing[1])),
            (about(outer.exact.slack) * size_y).times(addend.times),
        )  # fmt: skip

    def _sum(
        self, addends: Sequence[FlatAddend], ratio: Fraction
    ) -> tuple[list[Group], list[FlatAddend], Poly]:
        """Return a sum's groups, its addends of angles alone, and what else it stands for."""
        inner: list[Group] = []
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

    def _parts(self, addends: list[FlatAddend], ratio: Fraction) -> list[Group]:
        """Return addends as one group, or each as a group."""
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

    def _outer(self, addend: FlatAddend, x: int, read: int) -> tuple[Group, Fraction]:
        """Return x by words of y, and what a step of its polynomial counts, which is positive."""
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
    """A product with its tables; adds what it errs by at cells, by block."""

    def __init__(
        self, product: Product, inner: list[Tabled], whole: Sweep, nodes: Sequence[int]
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
        """Return what addends of angles alone put into the sum."""
        return said_by(self.whole.graph, self.product.turning, values, self.scale)

    def _reached(self) -> tuple[int, int]:
        """Return between which numbers δ may lie at all."""
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
        """Return largest and least errors from class to class, on a grid of δ."""
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
    """Return the angles that a polynomial depends on."""
    return {name for series in poly.values() for angle in series for name, _ in angle}
