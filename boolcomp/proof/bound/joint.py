"""Groups whose addends follow several functions of the angles.

Addends that follow one function have tables of their own (`profiles.py`), products of sums theirs
(`products.py`). The linear inputs that they share are cut into blocks: within a block each is taken
for its own worst, and the worst block is that of the group.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from boolcomp.proof.bound.enclosure import ZERO, Enclosure, about
from boolcomp.proof.bound.expansion import NotPlainError, Poly, add
from boolcomp.proof.bound.products import TabledProduct, names_of
from boolcomp.proof.bound.profiles import Blocks, joined

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from boolcomp.proof.bound.flat import FlatAddend
    from boolcomp.proof.bound.groups import Group, Grouping
    from boolcomp.proof.bound.products import Product, Products
    from boolcomp.proof.bound.profiles import Profile, Profiles, Tabled

    Words = NDArray[np.int64]

BLOCKS = 16  # of all cells
FINEST = 1 << 12  # blocks of the worst cells
CELLS = 1 << 18  # blocks of cells at a time


@dataclass(frozen=True, slots=True, eq=False)
class Joint:
    """A group of several functions, by those of its addends that have tables.

    `shared` are the words of inputs that more than one of them reads, `still` is what `taken`
    addends stand for whatever their inputs are, `left` are those of which only the worst is known.
    """

    simple: list[Group]
    products: list[Product]
    still: Poly
    taken: list[FlatAddend]
    left: list[FlatAddend]

    @property
    def groups(self) -> list[Group]:
        """All that have tables by word and function."""
        return [*self.simple, *(group for one in self.products for group in one.inner)]

    @property
    def slack(self) -> Enclosure:
        """What it may err by beside what tables say, in steps."""
        total = ZERO
        for group in self.simple:
            total = total + about(group.exact.slack)
        for product in self.products:
            total = total + about(product.slack)
        return total

    def poly(self) -> Poly:
        """Return what it stands for without what is `still`."""
        total: Poly = {}
        for one in (addend for group in self.simple for addend in group.addends):
            add(total, one.poly)
        total.pop((), {})
        for one in (product.addend for product in self.products):
            add(total, one.poly)
        return {powers: series for powers, series in total.items() if series}

    def shared(self) -> dict[int, Words]:
        """Return the words that there are of inputs that several groups read."""
        readers = [name for group in self.groups for name in group.words]
        words = {name: column for group in self.groups for name, column in group.words.items()}
        return {name: np.unique(words[name]) for name in words if readers.count(name) > 1}


def joint_of(grouping: Grouping, products: Products, addends: Sequence[FlatAddend]) -> Joint:
    """Return a group by its addends; where none has tables a `NotPlainError`."""
    found = Joint([], [], {}, [], [])
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


class Cut:
    """Inputs cut into blocks, at most so many of all together."""

    def __init__(self, shared: Mapping[int, Words], most: int = BLOCKS) -> None:
        self.shared = shared
        self.parts = dict.fromkeys(sorted(shared), 1)
        while math.prod(self.parts.values()) * 2 <= most:
            longest = max(self.parts, key=lambda k: (len(shared[k]) / self.parts[k], -k), default=0)
            if not self.parts or len(shared[longest]) < 2 * self.parts[longest]:
                break
            self.parts[longest] *= 2
        self.count = math.prod(self.parts.values())

    def of(self, group: Group) -> Blocks:
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
        return Blocks(block, math.prod(self.parts[name] for name in names), own)


class JointTables:
    """The tables of a joint group, and what it errs by at all cells of its angles."""

    def __init__(self, joint: Joint, profiles: Profiles, most: int = BLOCKS) -> None:
        self.joint, self.profiles = joint, profiles
        cut = Cut(joint.shared(), most)
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
        """Return the same by more blocks."""
        return JointTables(self.joint, self.profiles, FINEST)

    def tiny(self) -> int:
        """Return by how many units all may be larger, because waves are looked up."""
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
        """Return the largest and least errors of cells by block."""
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
