"""The tight bound of an output with at most two angles, over all cells of the angles.

    error = Σ over groups (contribution to the heap - exact value) + constants

Given the cells of the angles, groups are independent. Within a cell the error is linear in every
input up to a remainder R = Σ sup|∂²τ/∂x²|·h²/2, and is largest at a corner. All groups share the
corner of the angles; corners of linear inputs belong to a group each.
"""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from boolcomp.proof.bound.balls import ONE, ZERO, Enclosure, about, exactly
from boolcomp.proof.bound.expansion import NotPlainError, Poly, add, amplitude_of, steepness
from boolcomp.proof.bound.groups import (
    AngleNode,
    Flattener,
    Grouping,
    GroupStates,
    JointTables,
    Products,
    Profiles,
    Sweep,
    ancestors,
    components,
    contribution_of,
    joint_of,
    needed,
    part_of_rows,
    shape_of,
)
from boolcomp.proof.bound.meaning import AddendSum, GivenWord, WordLine, given_line
from boolcomp.proof.bound.plain import Forward, rounding
from boolcomp.proof.bound.tables import TIE, beside, cells_reached
from boolcomp.words.graph import part_reads

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from boolcomp.proof.bound.groups import Flat, FlatAddend, HeapGroup, JointGroup, Profile
    from boolcomp.proof.bound.meaning import Explained
    from boolcomp.words.graph import HeapPart

    Words = NDArray[np.int64]


# --------------------------------------------------------------------------------------------------
# A closer evaluation of the worst cells, with the rounding of the sum for every word.
#
# Tables of a group are chords between points, and include the largest possible rounding error. In a
# single cell, at one corner, the contributions of all groups modulo a step of the output and their
# largest errors are known. Their sums by remainder (a cyclic convolution of maxima) give the
# rounding error of the output's word.
# --------------------------------------------------------------------------------------------------

KEPT = 64  # cached contributions of groups
MOST = 400  # limit on cells that are evaluated closely, for either sign
CHUNK = 1 << 11  # cells that are evaluated together
NEVER = -(1 << 62)  # the error of a remainder that does not occur


class CornerError(NamedTuple):
    """The error of a cell by tables, the cell, and the corner of its angles."""

    error: int
    cell: int
    corner: tuple[int, ...]


class WorstLeaf:
    """The cells with the largest errors of all that were offered, up to a limit."""

    def __init__(self, most: int = MOST) -> None:
        self.most, self.dropped = most, NEVER
        self.errors, self.cells, self.sides = (np.zeros(0, np.int64) for _ in range(3))
        self.corners: list[tuple[int, ...]] = []

    def offer(self, errors: Words, first: int, corner: tuple[int, ...]) -> None:
        """Add the worst of consecutive cells; `number` is that of the first."""
        if corner not in self.corners:
            self.corners.append(corner)
        errors = errors.reshape(-1)
        places = np.flatnonzero(errors > self.dropped)
        side = np.full(len(places), self.corners.index(corner))
        self.errors = np.concatenate([self.errors, errors[places]])
        self.cells = np.concatenate([self.cells, first + places])
        self.sides = np.concatenate([self.sides, side])
        self._keep(np.lexsort((self.sides, self.cells, -self.errors)))

    def _keep(self, order: Words) -> None:
        if len(order) > self.most:
            self.dropped = max(self.dropped, int(self.errors[order[self.most]]))
        order = order[: self.most]
        self.errors, self.cells = self.errors[order], self.cells[order]
        self.sides = self.sides[order]

    @property
    def largest(self) -> int:
        return max(self.dropped, int(self.errors.max(initial=NEVER)))

    def improve(self, less: Callable[[Words, tuple[int, ...]], Words]) -> None:
        """Lower the errors of the worst cells by `less`, a function of cells at a corner."""
        best = self.dropped
        for start in range(0, len(self.errors), CHUNK):
            chunk = slice(start, start + CHUNK)
            if self.errors[start] <= best:
                break
            for side, corner in enumerate(self.corners):
                places = start + np.flatnonzero(self.sides[chunk] == side)
                if len(places):
                    self.errors[places] -= np.maximum(0, less(self.cells[places], corner))
            best = max(best, int(self.errors[chunk].max()))
        self._keep(np.lexsort((self.sides, self.cells, -self.errors)))

    def refined(self, look: Callable[[CornerError], int], most: int = MOST) -> int:
        """Bound all errors; `look` gives tighter errors of the worst cells than the tables."""
        best = max(self.dropped, int(self.errors[most:].max(initial=NEVER)))
        for k in range(min(most, len(self.errors))):
            one = self._candidate(k)
            if one.error <= best:
                break
            best = max(best, min(one.error, look(one)))
        return best

    def _candidate(self, k: int) -> CornerError:
        return CornerError(
            int(self.errors[k]), int(self.cells[k]), self.corners[int(self.sides[k])]
        )


def by_remainder(errors: Words, remainders: Words, count: int) -> Words:
    """Return the largest error of every remainder, or the same error for all remainders."""
    found = np.full(count, NEVER, np.int64)
    np.maximum.at(found, np.broadcast_to(remainders, errors.shape), errors)
    return found


def together(one: Words, two: Words) -> Words:
    """Return the largest sums of two errors by the remainder of their sum."""
    count = len(one)
    found = np.full(count, NEVER, np.int64)
    for k in np.flatnonzero(one > NEVER):
        moved = np.where(two > NEVER, two + one[k], NEVER)
        found = np.maximum(found, np.roll(moved, int(k)))
    return found


class CellBound:
    """Bounds of the error of single cells at a corner of their angles."""

    def __init__(
        self,
        output: TightOutput,
        whole: Sweep,
        groups: Sequence[HeapGroup],
        joints: Sequence[GroupStates] = (),
    ) -> None:
        self.output, self.whole = output, whole
        self.still = whole.waves(output.still.get((), {}), Fraction(1))
        self.groups = [
            (group, whole.waves(group.exact.series, group.exact.scale)) for group in groups
        ]
        self.joints = joints
        read = [k for group, _ in self.groups for k in group.frontier.words]
        read += [k for joint in joints for k in joint.turning]
        self.nodes = ancestors(output.graph, read)
        self.bits = output.drop if output.whole else 0
        self._said: dict[tuple[int, int], Words] = {}

    def error(self, one: CornerError, sign: int) -> int:
        """Return the largest error in one direction, in units, except for rounding."""
        sizes = [len(angle.words) for angle in self.whole.angles]
        places = np.unravel_index(one.cell, sizes) if sizes else ()
        block = [
            angle.words[int(k) : int(k) + 1]
            for angle, k in zip(self.whole.angles, places, strict=True)
        ]
        said = self.output.turned(self.whole, block)
        alone = sign * (said - self.whole.exact(self.still, block, one.corner))
        count, unit = 1 << self.bits, self.output.scale - self.bits
        total = by_remainder(alone, self._remainder(said), count)
        values = self.whole.values(block, self.nodes)
        for place, (group, waves) in enumerate(self.groups):
            a = int(self.whole.exact(waves, block, one.corner)[0])
            said = self._words(place, group, int(group.frontier.packed(values)[0]))
            errors = np.maximum(sign * (said - a * group.least), sign * (said - a * group.most))
            total = together(total, by_remainder(errors, self._remainder(said), count))
        for joint in self.joints:
            said = joint.said(values)
            errors = joint.errors(said, block, one.corner, sign)
            total = together(total, by_remainder(errors, self._remainder(said), count))
        rest = (np.arange(count) + self.output.first) % count
        lost = rest if sign > 0 else count - 1 - rest
        if not self.bits:
            return int(total[0])
        return int(np.where(total > NEVER, total - (lost << unit), NEVER).max())

    def _remainder(self, said: Words) -> Words:
        return said >> (self.output.scale - self.bits) & ((1 << self.bits) - 1)

    def _words(self, place: int, group: HeapGroup, number: int) -> Words:
        """Return the contribution of a group to the heap; a few of them are cached."""
        if (place, number) not in self._said:
            if len(self._said) >= KEPT:
                self._said.clear()
            self._said[place, number] = group.said(number, self.output.scale)
        return self._said[place, number]


# --------------------------------------------------------------------------------------------------
# The bound.
# --------------------------------------------------------------------------------------------------

BITS = 58  # of a sum
PART = 4  # divisor of the effort for single cells of groups of several functions
CANDIDATES = 1 << 15  # limit on cells with tables by finer blocks, for either sign


class TightOutput:
    """An output: its groups, angles and constants."""

    def __init__(self, forward: Forward, column: int, effort: int) -> None:
        explained = forward.explained
        result = explained.results[column]
        if result.rest is not None or not self._usual(explained):
            raise NotPlainError
        self.forward, self.graph, self.effort = forward, forward.graph, effort
        total = explained.meanings[result.meaning]
        if not isinstance(total, AddendSum) or total.word is None:
            raise NotPlainError
        self.flattener = Flattener(forward)
        lsb = Fraction(2) ** self.graph.scales[total.word].lsb
        flat = self.flattener.flat(result.meaning, lsb)
        self.reach = {k: self.flattener.reach(k) for k in range(len(explained.meanings))}
        self.rounding = rounding(explained, column, result)
        self.poly: Poly = {}
        for addend in flat.addends:
            add(self.poly, addend.poly)
        self.scale = BITS - (max(1, self._largest(flat)) - 1).bit_length()
        self.angles = self._angles([atom.part for one in flat.addends for atom in one.atoms])
        self.slack, self.constant = self._beside(), self._constant(flat, total.word, lsb)
        self.drop, self.first = self._first(flat, lsb)
        self.whole = not flat.lost.size  # whether all that is in the heap is known
        self.grouping = Grouping(forward, self.reach, effort)
        self.groups: list[HeapGroup] = []
        self.joints: list[JointGroup] = []
        self.tables: list[JointTables] = []
        self.turning: list[FlatAddend] = []
        self.still: Poly = {}
        for names, places in components([one.linear for one in flat.addends]):
            self._add_group(names, [flat.addends[k] for k in places])

    def _first(self, flat: Flat, lsb: Fraction) -> tuple[int, int]:
        """Return the bits that are rounded off, and the constant of the heap."""
        constant = flat.constant / lsb
        return lsb.denominator.bit_length() - 1, int(constant) if constant.denominator == 1 else 0

    def _usual(self, explained: Explained) -> bool:
        """Tell whether every input can have any value of its cell."""
        for one in explained.meanings:
            if isinstance(one, GivenWord) and not (one.angle and one.word is None):
                line = WordLine(Fraction(1 - one.cells, 2), Fraction(1), one.cells)
                if one.word is not None:
                    line = given_line(explained.graph, one)
                within = exactly(line.step * (Fraction(1, 2) + TIE))
                if one.exact or beside(line, one).size > within.size + 1:
                    return False
        return True

    def _largest(self, flat: Flat) -> int:
        """Bound the sum of all addends in absolute value, in steps."""
        size = amplitude_of(self.poly, self.reach).size // ONE + 1
        for addend in flat.addends:
            size += amplitude_of(addend.poly, self.reach).size // ONE + 1
            size += sum(abs(int(a.weight * a.most(self.graph.nodes))) + 1 for a in addend.atoms)
        return size + abs(int(flat.constant)) + 1

    def _angles(self, parts: Sequence[HeapPart]) -> list[AngleNode]:
        """Return the angles on which the output depends, at most two."""
        names = {name for series in self.poly.values() for angle in series for name, _ in angle}
        found = []
        for place, meaning in enumerate(self.forward.explained.meanings):
            if not isinstance(meaning, GivenWord) or not meaning.angle:
                continue
            if meaning.word is None:
                if place in names:
                    raise NotPlainError
                continue
            line = given_line(self.graph, meaning)
            first, last = cells_reached(line, meaning)
            places = meaning.part + self.graph.nodes[meaning.word].bits
            words = np.arange(first, last + 1, dtype=np.int64)
            found.append(AngleNode(place, meaning.word, words, places))
        used = set(needed(self.graph, parts))
        found = [one for one in found if one.meaning in names or one.node in used]
        if len(found) > 2:
            raise NotPlainError
        return found

    def _constant(self, flat: Flat, place: int, lsb: Fraction) -> Enclosure:
        """Return the constant part, and the limits of the dropped bits."""
        middle = lsb * ((1 << self.graph.nodes[place].bits) - 1) / 2
        return exactly(flat.constant - flat.stands - middle) + flat.lost + self.rounding

    def _beside(self) -> Enclosure:
        """Bound the deviation of the error from its values at corners of cells."""
        total = ZERO
        for place, one in enumerate(self.forward.explained.meanings):
            if not isinstance(one, GivenWord):
                continue
            if one.word is None and one.angle:
                continue  # the output does not depend on it (see `_angles`)
            step = Fraction(1) if one.word is None else given_line(self.graph, one).step
            bent = steepness(self.poly, place, self.reach, 2).times(step * step / 8)
            tie = steepness(self.poly, place, self.reach, 1).times(step * TIE)
            total = total + bent + tie
        return about(total)

    def _add_group(self, names: frozenset[int], addends: Sequence[FlatAddend]) -> None:
        """Add a group with tables, or a group of which only the largest error is known."""
        if not names:
            self.turning += addends
            return
        poly: Poly = {}
        for addend in addends:
            add(poly, addend.poly)
        poly.pop((), {})
        try:
            self.groups.append(self.grouping.group(addends, poly))
        except NotPlainError:
            self._add_joint(addends)

    def _add_joint(self, addends: Sequence[FlatAddend]) -> None:
        products = Products(self.grouping, self.flattener, self.scale)
        try:
            self.joints.append(joint_of(self.grouping, products, addends))
        except NotPlainError:
            self._coarsen(addends)
        else:
            self._coarsen(self.joints[-1].left)

    def _coarsen(self, addends: Sequence[FlatAddend]) -> None:
        """Replace addends by limits of their errors over all angles."""
        for one in addends:
            self.whole = False
            half = sum((a.weight * a.most(self.graph.nodes) for a in one.atoms), Fraction(0))
            self.constant = self.constant + one.coarse + exactly(half / 2)

    def ends(self) -> tuple[Fraction, Fraction]:
        """Return the least and the largest error."""
        whole = Sweep(self.graph, tuple(self.angles), self.scale)
        if whole.cells << len(self.angles) > self.effort:
            raise NotPlainError
        profiles, tiny = self._profiles()
        self.still = self._still()
        most = CANDIDATES if self.joints else MOST
        worst = WorstLeaf(most), WorstLeaf(most)
        for corner, first, up, down in self._sums(whole, profiles):
            worst[0].offer(up, first, corner)
            worst[1].offer(-down, first, corner)
        high, low = self._refined(whole, worst)
        found = self.slack + self.constant
        tiny += 2 * len(self.still.get((), {})) + 3
        unit = Fraction(1, 1 << self.scale)
        return found.ends[0] + (low - tiny) * unit, found.ends[1] + (high + tiny) * unit

    def _refined(self, whole: Sweep, worst: tuple[WorstLeaf, WorstLeaf]) -> tuple[int, int]:
        """Return the largest and the least error, with a closer evaluation of the worst cells."""
        for tables in self.tables:
            finer = tables.finer()
            for k in range(2):
                worst[k].improve(partial(_less, whole, tables, finer, k))
        try:
            joints = [GroupStates(self.grouping, one, whole) for one in self.joints]
        except NotPlainError:
            return worst[0].largest, -worst[1].largest
        look = CellBound(self, whole, self.groups, joints)
        most = min([MOST, *(self.effort // (PART * one.size) for one in joints)])
        high = worst[0].refined(lambda one: look.error(one, 1), most)
        return high, -worst[1].refined(lambda one: look.error(one, -1), most)

    def _profiles(self) -> tuple[list[Profile], int]:
        """Return the errors of all groups; groups that are too large have only a largest error."""
        profiles = Profiles(self.graph, tuple(self.angles), self.scale, self.effort)
        found, tiny = [], 0
        for group in list(self.groups):
            try:
                tabled = profiles.tabled(group)
            except NotPlainError:
                self.groups.remove(group)
                self._add_joint(group.addends)
                continue
            found.append(profiles.profile(tabled))
            self.slack = self.slack + about(group.exact.slack)
            tiny += tabled.tiny
        for joint in list(self.joints):
            try:
                tables = JointTables(joint, profiles)
            except NotPlainError:
                self.joints.remove(joint)
                self._coarsen(joint.taken)
                continue
            found.append(tables.profile())
            self.tables.append(tables)
            self.slack = self.slack + joint.slack
            tiny += tables.tiny()
        return found, tiny

    def _still(self) -> Poly:
        """Return the exact value of all enumerated addends that no linear input affects."""
        total: Poly = {}
        for one in [*self.turning, *(one for group in self.groups for one in group.addends)]:
            add(total, {(): one.poly.get((), {})})
        for joint in self.joints:
            add(total, joint.still)
        return total

    def _sums(
        self, whole: Sweep, profiles: Sequence[Profile]
    ) -> Iterator[tuple[tuple[int, ...], int, Words, Words]]:
        """Yield the largest and the least errors of consecutive cells, at every corner.

        Each item has the corner and the number of the first cell.
        """
        still = whole.waves(self.still.get((), {}), Fraction(1))
        row = cell = 0
        for block in whole.blocks():
            said = self.turned(whole, block)
            shape = shape_of(whole, len(said))
            for corner in whole.corners:
                left = (said - whole.exact(still, block, corner)).reshape(shape)
                up, down = left.copy(), left
                for sweep, errors in profiles:
                    own = tuple(
                        side for one, side in zip(whole.angles, corner, strict=True)
                        if one in sweep.angles
                    )  # fmt: skip
                    high, low = (part_of_rows(whole, sweep, one, row, shape) for one in errors[own])
                    up, down = up + high, down + low
                yield corner, cell, up, down
            row, cell = row + shape[0], cell + len(said)

    def turned(self, whole: Sweep, block: Sequence[Words]) -> Words:
        """Return the contribution of addends of angles alone to the heap."""
        read = [k for one in self.turning for atom in one.atoms for k in part_reads(atom.part)]
        values = whole.values(block, ancestors(self.graph, read))
        return contribution_of(self.graph, self.turning, values, self.scale) + np.zeros_like(
            values[0]
        )


def _less(
    whole: Sweep, coarse: JointTables, finer: JointTables, down: int, cells: Words,
    corner: tuple[int, ...],
) -> Words:  # fmt: skip
    """Return the reduction of errors by finer tables of cells; one number without angles."""
    sizes = [len(one.words) for one in whole.angles]
    places = np.unravel_index(cells, sizes) if sizes else ()
    mine = [k for k, one in enumerate(whole.angles) if one in coarse.whole.angles]
    block = [whole.angles[k].words[places[k]] for k in mine]
    own = tuple(corner[k] for k in mine)
    before, after = coarse.at(block, own)[down], finer.at(block, own)[down]
    return after - before if down else before - after
