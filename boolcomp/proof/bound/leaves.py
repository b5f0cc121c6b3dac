"""The worst cells of a sweep, looked at once more: every word, and how its sum is rounded.

Tables of a group are chords between points, and of rounding they know the most it can be. In one
cell, at one corner, all is known: what every group puts into the heap modulo a step of the output,
and the worst it errs by. Their sums by remainder (a cyclic convolution of maxima) say what the
output's word then is.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from boolcomp.proof.bound.sweep import ancestors

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from boolcomp.proof.bound.groups import Group
    from boolcomp.proof.bound.states import States
    from boolcomp.proof.bound.sweep import Sweep
    from boolcomp.proof.bound.tight import Output

    Words = NDArray[np.int64]

KEPT = 64  # of the words of groups
MOST = 400  # cells that are looked at once more, for either sign
CHUNK = 1 << 11  # cells that are looked at together
NEVER = -(1 << 62)  # of a remainder that does not occur


class Candidate(NamedTuple):
    """A cell's error by the tables, where it is, and the corner of its angles."""

    error: int
    cell: int
    corner: tuple[int, ...]


class WorstLeaf:
    """The cells with the largest errors of all that were offered, at most so many."""

    def __init__(self, most: int = MOST) -> None:
        self.most, self.dropped = most, NEVER
        self.errors, self.cells, self.sides = (np.zeros(0, np.int64) for _ in range(3))
        self.corners: list[tuple[int, ...]] = []

    def offer(self, errors: Words, first: int, corner: tuple[int, ...]) -> None:
        """Take the worst of some cells, the first of which has this number."""
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
        """What no error exceeds of all that were offered."""
        return max(self.dropped, int(self.errors.max(initial=NEVER)))

    def improve(self, less: Callable[[Words, tuple[int, ...]], Words]) -> None:
        """Lower the errors of the worst cells by what `less` says of cells at a corner."""
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

    def refined(self, look: Callable[[Candidate], int], most: int = MOST) -> int:
        """Return what no error exceeds, where `look` says more of the worst cells than tables."""
        best = max(self.dropped, int(self.errors[most:].max(initial=NEVER)))
        for k in range(min(most, len(self.errors))):
            one = self._candidate(k)
            if one.error <= best:
                break
            best = max(best, min(one.error, look(one)))
        return best

    def _candidate(self, k: int) -> Candidate:
        return Candidate(int(self.errors[k]), int(self.cells[k]), self.corners[int(self.sides[k])])


def by_remainder(errors: Words, remainders: Words, count: int) -> Words:
    """Return the largest error of every remainder; there may be one for all errors."""
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


class Leaf:
    """Says of single cells, at a corner of their angles, what the error is at most."""

    def __init__(
        self, output: Output, whole: Sweep, groups: Sequence[Group], joints: Sequence[States] = ()
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

    def error(self, one: Candidate, sign: int) -> int:
        """Return the largest error in one direction, in units, less that of most rounding."""
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

    def _words(self, place: int, group: Group, number: int) -> Words:
        """Return what a group puts into the heap; a few of these are kept."""
        if (place, number) not in self._said:
            if len(self._said) >= KEPT:
                self._said.clear()
            self._said[place, number] = group.said(number, self.output.scale)
        return self._said[place, number]
