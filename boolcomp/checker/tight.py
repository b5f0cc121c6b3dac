"""The tight bound of an output, over all cells of its angles and all their corners.

    error = Σ over groups (contribution to the heap - a·P of its inputs) + contribution of angles

Given the cells of the angles, groups are independent of each other. Within a cell the error is
linear in every input up to a remainder, and is largest at a corner; all groups share the corner of
the angles. If the sum of the groups' largest errors exceeds the claim, the cell is checked again
with all states and the rounding of the output's word in each.
"""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from functools import cached_property, partial
from itertools import product
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from boolcomp.checker.folder import DoesNotHoldError, NotCoveredError
from boolcomp.checker.groups import (
    NEVER,
    AngleWord,
    Corners,
    Grouping,
    GroupTable,
    SplitHeap,
    StateLimits,
    added_up,
    by_remainder,
    combined,
    common,
    grouped,
    own_corner,
    slope,
    sweep,
)
from boolcomp.checker.joint import JointGroup
from boolcomp.checker.plain import TIE
from boolcomp.checker.problem import ClaimedInput
from boolcomp.checker.spans import NOTHING, ONE, IntegerSpan, exactly
from boolcomp.words.graph import part_reads

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from boolcomp.checker.groups import Common, Poly, Profile, WeightedPart
    from boolcomp.checker.plain import PlainBound

    Words = NDArray[np.int64]

BITS = 60  # of a sum
MOST_DROPPED, MOST_LEAVES, MOST_STATES = 12, 4000, 400  # of cells: leaves, those with joint groups
CANDIDATES, CHUNK = 1 << 15, 1 << 11  # cells that finer blocks look at, and those at a time
BLOCK = 1 << 18  # cells at a time


class WorstCell(NamedTuple):
    """The largest error in one direction, in steps, and the words of angles where it may occur."""

    error: Fraction
    cell: Mapping[int, int]


class WorstCells:
    """The cells and corners with the largest errors of all that are offered, up to a limit."""

    def __init__(self, most: int) -> None:
        self.most, self.dropped = most, (NEVER, 0)
        self.errors, self.cells, self.sides = (np.zeros(0, np.int64) for _ in range(3))

    def offer(self, errors: Words, first: int, side: int) -> None:
        """Offer consecutive cells from `first` at a corner."""
        least = self.dropped[0]
        if len(errors) > self.most:
            least = max(least, np.partition(errors, -self.most - 1)[-self.most - 1] - 1)
        places = np.flatnonzero(errors > least)
        self.errors = np.concatenate([self.errors, errors[places]])
        self.cells = np.concatenate([self.cells, first + places])
        self.sides = np.concatenate([self.sides, np.full(len(places), side)])
        self._sort()

    def _sort(self) -> None:
        order = np.lexsort((self.sides, self.cells, -self.errors))
        if len(order) > self.most:
            k = order[self.most]
            self.dropped = max(self.dropped, (int(self.errors[k]), int(self.cells[k])))
        order = order[: self.most]
        self.errors, self.cells = self.errors[order], self.cells[order]
        self.sides = self.sides[order]

    def improve(self, less: Callable[[Words, int], Words]) -> None:
        """Lower the errors of the worst cells by `less`, a function of cells and of the corner."""
        best = self.dropped[0]
        for start in range(0, len(self.errors), CHUNK):
            if self.errors[start] <= best:
                break
            chunk = slice(start, start + CHUNK)
            for side in np.unique(self.sides[chunk]):
                places = start + np.flatnonzero(self.sides[chunk] == side)
                self.errors[places] -= less(self.cells[places], int(side))
            best = max(best, int(self.errors[chunk].max()))
        self._sort()

    def refined(
        self, leaf: Callable[[int, int, int], int], most: int, rounding: int
    ) -> tuple[int, int]:
        """Return a bound of all errors, and its cell.

        `leaf` evaluates a cell at a corner, unless its error is at most the largest before.
        """
        best, where = self.dropped
        if len(self.errors) > most:
            best, where = int(self.errors[most]), int(self.cells[most])
        best += rounding
        listed = zip(self.errors.tolist(), self.cells.tolist(), self.sides.tolist(), strict=True)
        for error, cell, side in [*listed][:most]:
            if error + rounding <= best:
                break
            found = min(error + rounding, leaf(cell, side, best))
            if found > best:
                best, where = found, cell
        return best, where


class Tight:
    """The bound of one output: its groups, its angles, and all terms independent of cells."""

    def __init__(
        self,
        plain: PlainBound,
        column: int,
        groups: Sequence[Sequence[str]],
        limits: StateLimits = StateLimits(),  # noqa: B008 (a tuple)
    ) -> None:
        self.plain, self.graph, self.claim = plain, plain.graph, plain.claim
        self.result, output = self.graph.results[column], self.claim.outputs[column]
        if output.rest is not None:
            raise NotCoveredError("an output is held at zero")
        self.moved, self.limits = plain.moved(output, column), limits
        if self.claim.places[output.node].words != (self.result.node,):
            raise NotCoveredError("an output is no sum, or its sum wraps")
        self.split = SplitHeap(self.claim, output.node, groups)
        self.grouping = Grouping(plain, output.node, limits)
        self.polys = {
            path: self.grouping.polynomials.of(one) for path, one in self.split.addends.items()
        }
        self.still: Poly = {(): {(): (exactly(self.split.still), NOTHING)}}
        self.poly = added_up([self.still, *self.polys.values()])
        self.of_angles = self.poly.get((), {})
        self.loose, self.whole = NOTHING, self.split.whole
        used = {k for one in self.split.all for k in part_reads(one.part)}
        self.words = self.split.needed(used)
        self.angles, self.slack = self._angles(), self._remainder()
        self._set_groups(groups)

    def _set_groups(self, groups: Sequence[Sequence[str]]) -> None:
        """Make the groups, and select the unit of all errors."""
        reach = self.grouping.reach
        polys = {
            path: {powers: series for powers, series in poly.items() if powers}
            for path, poly in self.polys.items()
        }
        listed = grouped(self.split, polys)
        own = [self._common(added_up(polys[path] for path in paths)) for _, _, paths in listed]
        self.drop = self.result.drop
        size = self.split.size / (1 << self.drop)
        size += Fraction(slope(self.poly, "", 0, reach).size, ONE)
        self.scale = BITS - (int(size) + 5).bit_length()  # all sums fit in 64 bits
        self.shift = self.scale - self.drop - self.split.fine
        if self.drop + self.split.fine > MOST_DROPPED or self.shift < 0:
            raise NotCoveredError("an output drops too many bits")
        self.tables: list[GroupTable] = []
        self.joints: list[JointGroup] = []
        for (k, atoms, paths), exact in zip(listed, own, strict=True):
            for name in groups[k]:
                self.grouping.cells(name)  # an input without cells is not covered
            try:
                if isinstance(exact, NotCoveredError):
                    raise exact
                group = self.grouping.group(self.split, atoms, exact, groups[k])
                self.tables.append(GroupTable(group, self.angles, self.scale, self.shift))
                self.slack = self.slack + exact.left
            except NotCoveredError as error:
                by_path = {path: [one for one in atoms if one.path == path] for path in paths}
                self._add_joint(by_path, error)

    def _add_joint(
        self, addends: Mapping[tuple[int, ...], Sequence[WeightedPart]], error: NotCoveredError
    ) -> None:
        """Add a group of several functions of the angles, or of a product of sums."""
        try:
            joint = JointGroup(
                self.grouping, self.split, addends, self.angles, self.scale, self.shift
            )
        except NotCoveredError:
            self._add_loose(addends, error)
        else:
            self.joints.append(joint)
            self.slack = self.slack + joint.slack

    def _add_loose(self, paths: Iterable[tuple[int, ...]], error: NotCoveredError) -> None:
        """Add a group of which only the plain bound of its addends is known."""
        missed = self.plain.missed(self.grouping.place)
        for path in paths:
            if len(path) > 1:
                raise error
            self.loose = self.loose + missed[path[0]]
            del self.polys[path]
        self.of_angles = added_up([self.still, *self.polys.values()]).get((), {})
        self.whole = False

    def _common(self, poly: Poly) -> Common | NotCoveredError:
        try:
            return common(poly, self.grouping.reach)
        except NotCoveredError as error:
            return error

    def _angles(self) -> list[AngleWord]:
        """Return the angles on which the output or its heap depends."""
        names = {name for series in self.poly.values() for key in series for name, _ in key}
        found = []
        for name, k in sorted(self.grouping.places.items()):
            function, given, seen = (
                self.claim.functions[k],
                self.claim.inputs[name],
                self.plain.seen[k],
            )
            if not isinstance(function, ClaimedInput) or not function.angle:
                continue
            if name not in names and seen.word not in self.words:
                continue
            low, high = (end + Fraction(1, 2) for end in given.allowed.ends)
            tolerance, end = TIE * seen.line.step, Fraction(1, 1 << given.part)
            inside = given.wraps or (-tolerance <= low and high <= end + tolerance)
            if seen.word is None or seen.at is None or given.exact or not inside:
                raise NotCoveredError(f"{name} may exceed its word, or is exact")
            if (np.diff(seen.at) != 1).any():
                raise NotCoveredError(f"the words of {name} are not consecutive")
            places = self.graph.nodes[seen.word].bits + given.part
            found.append(AngleWord(name, seen.word, seen.at, places))
        if math.prod(len(one.at) * 2 for one in found) > self.limits.cells:
            raise NotCoveredError("an output has too many cells of its angles")
        return found

    def _remainder(self) -> IntegerSpan:
        """Bound the deviation of the error inside cells from a linear function of their corners."""
        total = NOTHING
        for name, k in self.grouping.places.items():
            step = self.plain.seen[k].line.step  # 1 for words that are not read
            total = total + slope(self.poly, name, 2, self.grouping.reach).times(step * step / 8)
            total = total + slope(self.poly, name, 1, self.grouping.reach).times(step * TIE)
        return total.around

    def confirm(self, low: Fraction, high: Fraction) -> int:
        """Check a claim at all cells and corners; return their number."""
        if max(low, -high) > Fraction(-1, 2):  # a saturated word is up to half a step off
            raise NotCoveredError("the claim is below half a step")
        for sign, claimed, found in zip((1, -1), (high, -low), self.worst, strict=True):
            if found.error > claimed:
                where = ", ".join(f"w{k} = {value}" for k, value in found.cell.items())
                raise DoesNotHoldError(
                    f"{float(sign * claimed):.6f} is claimed, but {float(sign * found.error):.6f} "
                    f"confirmed where {where}"
                )
        return math.prod(len(one.at) * 2 for one in self.angles)

    @cached_property
    def worst(self) -> tuple[WorstCell, WorstCell]:
        """The largest error upward, and downward."""
        profiles: list[Profile] = [one.profile() for one in self.tables]
        profiles += [one.profile() for one in self.joints]
        of_angles = Corners(self.of_angles, Fraction(1), self.angles, self.scale)
        most = CANDIDATES if self.joints else MOST_LEAVES
        found = WorstCells(most), WorstCells(most)
        for first, side, alone, rows in self._alone(of_angles):
            corner = self.corners[side]
            for way, cells in enumerate(found):
                total = -alone if way else alone
                for one in profiles:
                    total = total + one.part(self.angles, corner, way, rows)
                cells.offer(total.reshape(-1), first, side)
        for joint in self.joints:
            for way, cells in enumerate(found):
                cells.improve(partial(self._less, joint, way))
        error = of_angles.error + sum(one.error for one in profiles)
        up, down = (
            self._refined(cells, sign, error, of_angles)
            for cells, sign in zip(found, (1, -1), strict=True)
        )
        return up, down

    def _less(self, joint: JointGroup, way: int, cells: Words, side: int) -> Words:
        return joint.less(self._cells(cells), self.corners[side], way, self.angles)

    def _cells(self, places: Words) -> dict[int, Words]:
        """Return the words of the angles in cells."""
        at = np.unravel_index(places, [len(one.at) for one in self.angles] or [1])
        return {one.word: one.at[k] for one, k in zip(self.angles, at, strict=False)}

    @property
    def rounding(self) -> int:
        """The largest rounding error of the output's word."""
        return (1 << self.scale >> 1) - (1 << self.scale >> (self.drop + 1))

    @property
    def corners(self) -> list[tuple[int, ...]]:
        return [*product((0, 1), repeat=len(self.angles))]

    def _alone(self, of_angles: Corners) -> Iterator[tuple[int, int, Words, slice]]:
        """Yield the error of terms of angles alone, for some values of the first angle.

        Each item has the number of its first cell, and that of the corner.
        """
        angles, sizes = self.angles, [len(one.at) for one in self.angles] or [1]
        atoms = self.split.atoms.get(None, [])
        nodes = self.split.needed(k for one in atoms for k in part_reads(one.part))
        others = math.prod(sizes[1:])
        chunk = max(1, BLOCK // others)
        for row in range(0, sizes[0], chunk):
            rows = slice(row, row + chunk)
            some = [replace(one, at=one.at[rows]) for one in angles[:1]] + angles[1:]
            shape = [len(one.at) for one in some]
            put = self.split.put(atoms, sweep(self.graph, some, nodes)) << self.shift
            put = np.broadcast_to(put, math.prod(shape)).reshape(shape)
            ends = [replace(one, at=np.append(one.at, one.at[-1] + 1)) for one in some]
            exact = of_angles.at(sweep(self.graph, ends, ()), ends, [0] * len(ends))
            exact = np.broadcast_to(exact, math.prod(n + 1 for n in shape)).reshape(
                [n + 1 for n in shape]
            )
            for side, corner in enumerate(self.corners):
                part = tuple(slice(k, k + n) for k, n in zip(corner, shape, strict=True))
                yield row * others, side, put - exact[part], rows

    def _refined(self, cells: WorstCells, sign: int, error: int, of_angles: Corners) -> WorstCell:
        """Return the largest error of all cells, with the rounding of each state in the worst."""

        def cell_of(place: int) -> dict[int, int]:
            return {k: int(at[0]) for k, at in self._cells(np.full(1, place)).items()}

        def leaf(place: int, side: int, best: int) -> int:
            return self._leaf(sign, cell_of(place), self.corners[side], of_angles, best)

        most = MOST_STATES if self.joints else MOST_LEAVES
        largest, place = cells.refined(leaf, most, self.rounding)
        found = Fraction(largest + error, 1 << self.scale) + self._fixed(sign)
        return WorstCell(found, cell_of(place))

    def _fixed(self, sign: int) -> Fraction:
        """Return the part of an error in one direction that does not depend on cells."""
        step = Fraction(1, 1 << self.drop)
        middle = Fraction((1 << self.graph.nodes[self.result.node].bits) - 1, 2)
        slack = self.slack + self.loose + self.split.lost.times(step)
        fixed = sign * (step * (self.split.constant - middle) + self.moved)
        return fixed + Fraction((slack if sign > 0 else -slack).high, ONE)

    def _leaf(
        self,
        sign: int,
        cell: Mapping[int, int],
        corner: Sequence[int],
        of_angles: Corners,
        best: int,
    ) -> int:
        """Return the largest error in one cell, with the rounding of each state, or `best`."""
        angles = [replace(one, at=np.full(1, cell[one.word])) for one in self.angles]
        nodes = [k for k in self.words if not self.split.inputs[k]]
        words = sweep(self.graph, angles, nodes)
        remainders = 1 << (self.drop + self.split.fine)
        put = self.split.put(self.split.atoms.get(None, []), words)
        total = np.full(remainders, NEVER, np.int64)
        total[int(put[0]) & (remainders - 1)] = int(
            (sign * ((put << self.shift) - of_angles.at(words, angles, corner)))[0]
        )
        for table in self.tables:
            group, a = table.group, int(table.a(words, angles, corner, 1)[0])
            put = group.put({k: int(words[k][0]) for k in group.observed})
            mine = by_remainder(put, group.least, group.largest, a, sign, self.shift, remainders)
            total = combined(total, mine)
        way = int(sign < 0)
        sides = [own_corner(joint.angles, self.angles, corner) for joint in self.joints]
        errors = [
            joint.fine.by_block(words, 1, side)[way, 0]
            for joint, side in zip(self.joints, sides, strict=True)
        ]
        above = best - self.rounding - int(total.max()) - sum(int(one.max()) for one in errors)
        for joint, side, one in zip(self.joints, sides, errors, strict=True):
            states = joint.states(one, above + int(one.max()), words, side)
            if states is None:
                return -NEVER
            mine = by_remainder(*states, 1, sign, self.shift, remainders)
            total = combined(total, mine)
        if not self.whole:
            return max(best, int(total.max()) + self.rounding)
        rest = (np.arange(remainders) + int(self.split.constant)) & (remainders - 1)
        rounded = (1 << self.scale >> 1) - (2 * rest + 1) * (1 << self.scale >> (self.drop + 1))
        return max(best, int(np.where(total > NEVER, total + sign * rounded, NEVER).max()))
