"""The tight bound of an output of at most two angles: all cells of these are enumerated.

    error = Σ over groups (what a group puts into the heap - what it stands for) + constants

For given cells of the angles the groups are independent. Within a cell the error is linear in every
input but for a remainder, so that it is largest at a corner: R = Σ sup|∂²τ/∂x²|·h²/2. The corner of
the angles is shared by all groups, those of linear inputs are each group's own.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from boolcomp.proof.bound.enclosure import ONE, ZERO, Enclosure, about, exactly
from boolcomp.proof.bound.envelope_kernels import add_group, spread
from boolcomp.proof.bound.expansion import NotPlainError, Poly, add, amplitude_of, steepness
from boolcomp.proof.bound.flat import Flattener, components, needed
from boolcomp.proof.bound.groups import POINTS, Frontier, Group, exact_of
from boolcomp.proof.bound.inputs import TIE, beside, cells_reached
from boolcomp.proof.bound.known import Line, given_line
from boolcomp.proof.bound.leaves import Leaf, Worst
from boolcomp.proof.bound.meaning import GivenWord, Total
from boolcomp.proof.bound.plain import Forward, plain_bounds, rounding
from boolcomp.proof.bound.result import EFFORT, rounded_up
from boolcomp.proof.bound.sweep import Sweep, Turning, ancestors, part_of_rows, shape_of
from boolcomp.words.graph import InputWord, part_reads, reads

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from boolcomp.proof.bound.expansion import Series
    from boolcomp.proof.bound.flat import Flat, FlatAddend
    from boolcomp.proof.bound.meaning import Explained
    from boolcomp.proof.bound.result import Bounds
    from boolcomp.words.graph import HeapPart

    Words = NDArray[np.int64]
    _Profile = tuple[Group, Sweep, dict[tuple[int, ...], tuple[Words, Words]]]

BITS = 58  # of all that is added


def tight_bounds(explained: Explained, effort: int = EFFORT) -> Bounds:
    """Return bounds of which those that can be are tight; the others are plain.

    The same effort gives the same bounds anywhere.
    """
    plain = plain_bounds(explained)
    forward = Forward(explained)
    found = []
    for column, one in enumerate(plain.outputs):
        try:
            output = Output(forward, column, effort * 1_000_000)
            low, high = output.ends()
        except NotPlainError:
            found.append(one)
            continue
        low, high = max(low, one.low), min(high, one.high)
        beside = rounded_up(Fraction(output.slack.size, ONE))
        found.append(replace(one, low=low, high=high, grade="tight", remainder=beside))
    return replace(plain, outputs=tuple(found))


@dataclass(frozen=True, slots=True, eq=False)
class _Tabled:
    """A group's errors: for every number of its frontier (by `row`) on a grid of a."""

    group: Group
    row: Words
    first: Words
    step: Words
    high: Words
    low: Words


class Output:
    """One output: its groups, angles and constants."""

    def __init__(self, forward: Forward, column: int, effort: int) -> None:
        explained = forward.explained
        result = explained.results[column]
        if result.rest is not None or not self._usual(explained):
            raise NotPlainError
        self.forward, self.graph, self.effort = forward, forward.graph, effort
        self.linear_nodes = _linear_nodes(forward)
        total = explained.meanings[result.meaning]
        if not isinstance(total, Total) or total.word is None:
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
        self.groups: list[Group] = []
        self.turning: list[FlatAddend] = []
        self.still: Poly = {}
        for names, places in components([one.linear for one in flat.addends]):
            self._add_group(names, [flat.addends[k] for k in places])

    def _first(self, flat: Flat, lsb: Fraction) -> tuple[int, int]:
        """Return the bits that are rounded off, and what the heap holds of itself."""
        constant = flat.constant / lsb
        return lsb.denominator.bit_length() - 1, int(constant) if constant.denominator == 1 else 0

    def _usual(self, explained: Explained) -> bool:
        """Tell whether every input lies in its cell, and is not the cell's middle for sure."""
        for one in explained.meanings:
            if isinstance(one, GivenWord) and not (one.angle and one.word is None):
                line = Line(Fraction(1 - one.cells, 2), Fraction(1), one.cells)
                if one.word is not None:
                    line = given_line(explained.graph, one)
                within = exactly(line.step * (Fraction(1, 2) + TIE))
                if one.exact or beside(line, one).size > within.size + 1:
                    return False
        return True

    def _largest(self, flat: Flat) -> int:
        """Return what nothing that is added exceeds, in steps."""
        size = amplitude_of(self.poly, self.reach).size // ONE + 1
        for addend in flat.addends:
            size += amplitude_of(addend.poly, self.reach).size // ONE + 1
            size += sum(abs(int(a.weight * a.most(self.graph.nodes))) + 1 for a in addend.atoms)
        return size + abs(int(flat.constant)) + 1

    def _angles(self, parts: Sequence[HeapPart]) -> list[Turning]:
        """Return the angles on which the output depends: two at most."""
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
            found.append(Turning(place, meaning.word, words, places))
        used = set(needed(self.graph, parts))
        found = [one for one in found if one.meaning in names or one.node in used]
        if len(found) > 2:
            raise NotPlainError
        return found

    def _constant(self, flat: Flat, place: int, lsb: Fraction) -> Enclosure:
        """Return all that is the same at all words, and what may be lost of them."""
        middle = lsb * ((1 << self.graph.nodes[place].bits) - 1) / 2
        return exactly(flat.constant - flat.stands - middle) + flat.lost + self.rounding

    def _beside(self) -> Enclosure:
        """Return what the error may be beside that at corners of cells."""
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
        """Add a group that is looked at, or of which only the worst is known."""
        poly: Poly = {}
        for addend in addends:
            add(poly, addend.poly)
        if not names:
            self.turning += addends
            add(self.still, poly)
            return
        alone: Poly = {(): poly.pop((), {})}
        try:
            group = self._group(names, addends, poly)
        except NotPlainError:
            self._coarsen(addends)
            return
        add(self.still, alone)
        self.slack = self.slack + about(group.exact.slack)
        self.groups.append(group)

    def _coarsen(self, addends: Sequence[FlatAddend]) -> None:
        """Take addends for what they err by at most, whatever the angles are."""
        self.whole = False
        for one in addends:
            half = sum((a.weight * a.most(self.graph.nodes) for a in one.atoms), Fraction(0))
            self.constant = self.constant + one.coarse + exactly(half / 2)

    def _group(self, names: frozenset[int], addends: Sequence[FlatAddend], poly: Poly) -> Group:
        exact = exact_of(poly, self.reach)
        atoms = [atom for one in addends for atom in one.atoms]
        turning = [not linear for linear in self.linear_nodes]
        frontier = Frontier(self.graph, atoms, turning)
        read = {k for k in frontier.nodes if isinstance(self.graph.nodes[k], InputWord)}
        lines = {place: self._cells(place) for place in sorted(names)}
        states = int(np.prod([len(words) for _, words in lines.values()]))
        if states * 8 > self.effort:
            raise NotPlainError
        axes = np.meshgrid(*(words for _, words in lines.values()), indexing="ij")
        inputs, doubled = {}, {}
        for (place, (line, _)), axis in zip(lines.items(), axes, strict=True):
            start, step, words = 2 * line.start - line.step, 2 * line.step, axis.reshape(-1)
            if start.denominator != 1 or step.denominator != 1:
                raise NotPlainError
            node = getattr(self.forward.explained.meanings[place], "word", None)
            if node is not None:
                inputs[node] = words
            low = int(start) + words * int(step)
            doubled[place] = low, low + int(step)
        if read - set(inputs):
            raise NotPlainError
        least, most = exact.values(doubled)
        return Group(tuple(addends), exact, frontier, inputs, least, most)

    def _cells(self, place: int) -> tuple[Line, Words]:
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

    def ends(self) -> tuple[Fraction, Fraction]:
        """Return the least and the largest error."""
        whole = Sweep(self.graph, tuple(self.angles), self.scale)
        if whole.cells << len(self.angles) > self.effort:
            raise NotPlainError
        tables = self._tables()
        profiles = [(one.group, *self._profile(one)) for one in tables]
        worst = Worst(), Worst()
        for corner, first, up, down in self._sums(whole, profiles):
            worst[0].offer(up, first, corner)
            worst[1].offer(-down, first, corner)
        look = Leaf(self, whole, self.groups)
        high = worst[0].refined(lambda one: look.error(one, 1))
        low = -worst[1].refined(lambda one: look.error(one, -1))
        found = self.slack + self.constant
        tiny = sum(_ulps(group.exact.series) * _most(group) for group in self.groups)
        tiny += _ulps(self.still.get((), {})) + 2
        unit = Fraction(1, 1 << self.scale)
        return found.ends[0] + (low - tiny) * unit, found.ends[1] + (high + tiny) * unit

    def _tables(self) -> list[_Tabled]:
        """Return the tables of all groups; of one that is too large only the worst is known."""
        found = []
        for group in list(self.groups):
            try:
                found.append(self._tabled(group))
            except NotPlainError:
                self.groups.remove(group)
                self._coarsen(group.addends)
                for series in self.still.values():
                    for angle in series:
                        series[angle] = (ZERO, ZERO)
                for poly in [one.poly for one in self.turning] + [
                    {(): addend.poly.get((), {})} for one in self.groups for addend in one.addends
                ]:
                    add(self.still, poly)
        return found

    def _sweep(self, group: Group) -> tuple[Sweep, list[int]]:
        """Return a way through the cells of those angles that a group sees, and what it reads."""
        nodes = ancestors(self.graph, group.frontier.words)
        names = {name for angle in group.exact.series for name, _ in angle}
        angles = [one for one in self.angles if one.node in nodes or one.meaning in names]
        return Sweep(self.graph, tuple(angles), self.scale), nodes

    def _tabled(self, group: Group) -> _Tabled:
        """Return a group's largest and least errors for all words that it may read."""
        sweep, nodes = self._sweep(group)
        waves = sweep.waves(group.exact.series, group.exact.scale)
        most = np.iinfo(np.int64).max
        first, last = (np.full(group.frontier.count, end) for end in (most, -most))
        for block in sweep.blocks():
            values = sweep.values(block, nodes)
            which = np.broadcast_to(group.frontier.packed(values), len(values[0])).copy()
            for corner in sweep.corners:
                spread(which, sweep.exact(waves, block, corner), first, last)
        there = np.flatnonzero(first <= last)
        if len(there) * len(group.least) * POINTS > self.effort:
            raise NotPlainError
        row = np.zeros(len(first), np.int64)
        row[there] = np.arange(len(there))
        step = np.maximum(1, -(-(last[there] - first[there]) // (POINTS - 1)))
        high, low = (np.empty((len(there), POINTS), np.int64) for _ in range(2))
        for k, number in enumerate(there.tolist()):
            grid = first[number] + step[k] * np.arange(POINTS, dtype=np.int64)
            high[k], low[k] = group.table(number, grid, self.scale)
        return _Tabled(group, row, first[there], step, high, low)

    def _profile(self, tabled: _Tabled) -> tuple[Sweep, dict[tuple[int, ...], tuple[Words, Words]]]:
        """Return a group's largest and least errors at all cells of its angles, by corner."""
        sweep, nodes = self._sweep(tabled.group)
        exact = tabled.group.exact
        waves = sweep.waves(exact.series, exact.scale)
        found = {corner: ([], []) for corner in sweep.corners}  # type: ignore[var-annotated]
        for block in sweep.blocks():
            values = sweep.values(block, nodes)
            which = tabled.row[tabled.group.frontier.packed(values)]
            which = np.broadcast_to(which, len(values[0])).copy()
            for corner, (highs, lows) in found.items():
                up, down = (np.zeros(len(which), np.int64) for _ in range(2))
                add_group(
                    up, down, which, sweep.exact(waves, block, corner), tabled.first,
                    tabled.step, tabled.high, tabled.low,
                )  # fmt: skip
                highs.append(up)
                lows.append(down)
        joined = {
            corner: (np.concatenate(highs), np.concatenate(lows))
            for corner, (highs, lows) in found.items()
        }
        return sweep, joined

    def _sums(
        self, whole: Sweep, profiles: Sequence[_Profile]
    ) -> Iterator[tuple[tuple[int, ...], int, Words, Words]]:
        """Yield the largest and the least errors of all cells, at every corner of some of them.

        With them the corner and the number of the first of these cells.
        """
        still = whole.waves(self.still.get((), {}), Fraction(1))
        row = cell = 0
        for block in whole.blocks():
            said = self.turned(whole, block)
            shape = shape_of(whole, len(said))
            for corner in whole.corners:
                left = (said - whole.exact(still, block, corner)).reshape(shape)
                up, down = left.copy(), left
                for _, sweep, errors in profiles:
                    own = tuple(
                        side for one, side in zip(whole.angles, corner, strict=True)
                        if one in sweep.angles
                    )  # fmt: skip
                    high, low = (part_of_rows(whole, sweep, one, row, shape) for one in errors[own])
                    up, down = up + high, down + low
                yield corner, cell, up, down
            row, cell = row + shape[0], cell + len(said)

    def turned(self, whole: Sweep, block: Sequence[Words]) -> Words:
        """Return what addends of angles alone put into the heap."""
        atoms = [atom for one in self.turning for atom in one.atoms]
        nodes = ancestors(self.graph, [k for atom in atoms for k in part_reads(atom.part)])
        values = whole.values(block, nodes)
        said = np.zeros(len(values[0]), np.int64)
        for atom in atoms:
            weight = atom.weight * (1 << self.scale)
            if weight.denominator != 1:
                raise NotPlainError
            said = said + atom.value(self.graph.nodes, values) * weight.numerator
        return said


def _ulps(series: Series) -> int:
    """Return by how many units a series may be larger than what is looked up."""
    return 2 * len(series) + 1


def _most(group: Group) -> int:
    return int(max(np.abs(group.least).max(), np.abs(group.most).max()))


def _linear_nodes(forward: Forward) -> list[bool]:
    """Tell of every node of a graph whether it depends on a linear input."""
    linear = {
        one.word for one in forward.explained.meanings
        if isinstance(one, GivenWord) and not one.angle
    }  # fmt: skip
    found: list[bool] = []
    for place, node in enumerate(forward.graph.nodes):
        if isinstance(node, InputWord):
            found.append(place in linear)
        else:
            found.append(any(found[k] for k in reads(node)))
    return found
