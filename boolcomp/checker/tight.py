"""The tight bound of an output: all cells of its angles, at all corners.

    error = Σ over groups (what a group adds to the heap - a·P of its inputs) + what angles add

For given cells of the angles groups are independent of each other. Within a cell the error is
linear in every input but for a remainder, so that it is largest at a corner: of the angles' corners
all groups share one. Where the sum of the groups' worst is above what is claimed, the cell is
looked at once more: every state, and how the output's word is rounded there.
"""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from boolcomp.checker.claims.nodes import Given
from boolcomp.checker.errors.apart import Apart
from boolcomp.checker.errors.cells import AngleWord, Corners, sweep
from boolcomp.checker.errors.expand import expanded, slope
from boolcomp.checker.errors.groups import Ends, Group, common
from boolcomp.checker.errors.loops import NEVER, by_rest, together
from boolcomp.checker.plain import TIE
from boolcomp.checker.spans import NOTHING, ONE, Span
from boolcomp.checker.steps import DoesNotHoldError, NotCoveredError
from boolcomp.words.graph import part_reads

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from boolcomp.checker.errors.expand import Poly
    from boolcomp.checker.errors.groups import Profile
    from boolcomp.checker.plain import Plain

    Words = NDArray[np.int64]

BITS = 60  # of all that is added
MOST_DROPPED, MOST_LEAVES = 12, 4000
MOST_CELLS = 1 << 27  # with their corners
BLOCK = 1 << 18  # cells at a time


class Tight:
    """One output: its groups, its angles, and what is the same everywhere."""

    def __init__(self, plain: Plain, column: int, groups: Sequence[Sequence[str]]) -> None:
        self.plain, self.graph, self.claim = plain, plain.graph, plain.claim
        self.result, output = self.graph.results[column], self.claim.outputs[column]
        if output.rest is not None:
            raise NotCoveredError("an output is held at zero")
        self.moved = plain.moved(output, column)
        self.places = {
            one.name: k for k, one in enumerate(self.claim.functions) if isinstance(one, Given)
        }
        self.reach = {name: plain.seen[k].near.hull for name, k in self.places.items()}
        self.apart = Apart(self.claim, self.result.node, groups)
        self.poly = expanded(self.claim, output.node)
        polys: dict[int | None, Poly] = {}
        for powers, series in self.poly.items():
            polys.setdefault(self.apart.group([name for name, _ in powers]), {})[powers] = series
        if self.apart.atoms.keys() - polys.keys() - {None}:
            raise NotCoveredError("a group of inputs stands for nothing")
        self.still = polys.pop(None, {}).get((), {})
        used = {k for one in self.apart.all for k in part_reads(one.part)}
        self.words = self.apart.needed(used)
        self.angles, self.slack = self._angles(), self._bent()
        self.groups = []
        for k, poly in polys.items():
            exact = common(poly, self.reach)
            self.slack = self.slack + exact.left
            inputs = {name: self._ends(name) for name in groups[k or 0]}
            self.groups.append(Group(self.apart, self.apart.atoms.get(k, []), exact, inputs))
        self.drop = self.result.drop
        size = (
            int(self.apart.size / (1 << self.drop))
            + slope(self.poly, "", 0, self.reach).size // ONE
        )
        self.scale = BITS - (size + 4).bit_length()  # all sums fit in 64 bits
        self.shift = self.scale - self.drop - self.apart.fine
        if self.drop + self.apart.fine > MOST_DROPPED or self.shift < 0:
            raise NotCoveredError("an output drops too many bits")
        self.series = [
            Corners(one.exact.series, one.exact.factor, self.angles, self.scale)
            for one in self.groups
        ]

    def _ends(self, name: str) -> Ends:
        """Return a linear input's cells; of one that nothing reads they are those of its word."""
        place, given = self.places[name], self.claim.inputs[name]
        words, line = self.claim.places[place].words, self.plain.seen[place].line
        at = self.plain.seen[place].at
        step, start = Fraction(2), Fraction(-given.cells)
        if words:
            step, start = 2 * line.step, 2 * line.start - line.step
        if given.exact or given.allowed.size > (Fraction(given.cells, 2) + step * TIE) * ONE:
            raise NotCoveredError(f"{name} may lie beyond its word, or is exact")
        if start.denominator != 1 or step.denominator != 1:
            raise NotCoveredError(f"{name} has no cells of whole units")
        at = np.arange(given.cells) if at is None else at
        lows = int(start) + int(step) * at
        return Ends(words[0] if words else None, at, lows, lows + int(step))

    def _angles(self) -> list[AngleWord]:
        """Return the angles that the output or its heap depends on."""
        names = {name for series in self.poly.values() for turned in series for name, _ in turned}
        found = []
        for name, k in sorted(self.places.items()):
            function, given, seen = (
                self.claim.functions[k],
                self.claim.inputs[name],
                self.plain.seen[k],
            )
            if not isinstance(function, Given) or not function.angle:
                continue
            if name not in names and seen.word not in self.words:
                continue
            low, high = (end + Fraction(1, 2) for end in given.allowed.ends)
            beside, end = TIE * seen.line.step, Fraction(1, 1 << given.part)
            inside = given.wraps or (-beside <= low and high <= end + beside)
            if seen.word is None or seen.at is None or given.exact or not inside:
                raise NotCoveredError(f"{name} may lie beyond its word, or is exact")
            places = self.graph.nodes[seen.word].bits + given.part
            found.append(AngleWord(name, seen.word, seen.at, places))
        if math.prod(len(one.at) * 2 for one in found) > MOST_CELLS:
            raise NotCoveredError("an output has too many cells of its angles")
        return found

    def _bent(self) -> Span:
        """Return what the error may be beside that at corners of cells."""
        total = NOTHING
        for name, k in self.places.items():
            step = self.plain.seen[k].line.step  # 1 of what nothing reads
            total = total + slope(self.poly, name, 2, self.reach).times(step * step / 8)
            total = total + slope(self.poly, name, 1, self.reach).times(step * TIE)
        return total.around

    def confirm(self, low: Fraction, high: Fraction) -> int:
        """Hold what is claimed against all cells and corners; return how many there are."""
        if max(low, -high) > Fraction(-1, 2):  # words that saturate are half a step beside ranges
            raise NotCoveredError("less than half a step is claimed")
        profiles = [group.profile(self.angles, self.scale, self.shift) for group in self.groups]
        self._confirm(1, high, profiles)
        self._confirm(-1, -low, profiles)
        return math.prod(len(one.at) * 2 for one in self.angles)

    def _left(self, sign: int, end: Fraction) -> int:
        """Return what is left of a claim for all that differs from cell to cell."""
        step = Fraction(1, 1 << self.drop)
        middle = Fraction((1 << self.graph.nodes[self.result.node].bits) - 1, 2)
        beside = self.slack + self.apart.lost.times(step)
        fixed = sign * (step * (self.apart.constant - middle) + self.moved)
        fixed += Fraction((beside if sign > 0 else -beside).high, ONE)
        return math.floor((end - fixed) * (1 << self.scale))

    def _confirm(self, sign: int, end: Fraction, profiles: Sequence[Profile]) -> None:
        angles, sizes = self.angles, [len(one.at) for one in self.angles] or [1]
        still, atoms = (
            Corners(self.still, Fraction(1), angles, self.scale),
            self.apart.atoms.get(None, []),
        )
        left = self._left(sign, end) - still.error - sum(one.error for one in profiles)
        rounding = (1 << self.scale >> 1) - (1 << self.scale >> (self.drop + 1))
        nodes = self.apart.needed(k for one in atoms for k in part_reads(one.part))
        chunk, looked = max(1, BLOCK // math.prod(sizes[1:])), 0
        for row in range(0, sizes[0], chunk):
            rows = slice(row, row + chunk)
            some = [replace(one, at=one.at[rows]) for one in angles[:1]] + angles[1:]
            shape = [len(one.at) for one in some]
            words = sweep(self.graph, some, nodes)
            put = sign * (self.apart.put(atoms, words) << self.shift)
            for corner in product((0, 1), repeat=len(angles)):
                alone = put - sign * still.at(words, corner)
                total = np.broadcast_to(alone, math.prod(shape)).reshape(shape)
                for one in profiles:
                    total = total + one.part(angles, corner, int(sign < 0), rows)
                above = np.argwhere(total > left - rounding)
                looked += len(above)
                for place in above[: MOST_LEAVES + 1]:
                    cell = {one.word: int(one.at[k]) for one, k in zip(some, place, strict=True)}
                    most = int(total[tuple(place)]) + rounding
                    if looked <= MOST_LEAVES:
                        most = min(most, self._leaf(sign, cell, corner, still, rounding))
                    if most > left:
                        raise self._missed(sign, end, most - left, cell)

    def _missed(
        self, sign: int, end: Fraction, above: int, cell: Mapping[int, int]
    ) -> DoesNotHoldError:
        claimed, confirmed = (
            float(sign * end),
            float(sign * (end + Fraction(above, 1 << self.scale))),
        )
        where = ", ".join(f"w{k} = {value}" for k, value in cell.items())
        return DoesNotHoldError(
            f"{claimed:.6f} is claimed, and {confirmed:.6f} confirmed where {where}"
        )

    def _leaf(
        self,
        sign: int,
        cell: Mapping[int, int],
        corner: Sequence[int],
        still: Corners,
        rounding: int,
    ) -> int:
        """Return the largest error in one cell, with its rounding as it is there."""
        angles = [replace(one, at=np.full(1, cell[one.word])) for one in self.angles]
        nodes = [k for k in self.words if not self.apart.inputs[k]]
        words = sweep(self.graph, angles, nodes)
        rests = 1 << (self.drop + self.apart.fine)
        put = self.apart.put(self.apart.atoms.get(None, []), words)
        total = np.full(rests, NEVER, np.int64)
        total[int(put[0]) & (rests - 1)] = int(
            (sign * ((put << self.shift) - still.at(words, corner)))[0]
        )
        for group, series in zip(self.groups, self.series, strict=True):
            a = int(series.at(words, corner)[0])
            put = group.put({k: int(words[k][0]) for k in group.seen})
            mine = by_rest(put, group.least, group.largest, a, sign, self.shift, rests)
            total = together(total, mine)
        if not self.apart.whole:
            return int(total.max()) + rounding
        rest = (np.arange(rests) + int(self.apart.constant)) & (rests - 1)
        rounded = (1 << self.scale >> 1) - (2 * rest + 1) * (1 << self.scale >> (self.drop + 1))
        return int(np.where(total > NEVER, total + sign * rounded, NEVER).max())
