"""The tight bound of an output: all cells of its angles, and what groups of linear inputs add.

    error = Σ over groups (what a group adds to the heap - a·P of its inputs) + what angles alone add

For given cells of the angles groups are independent of each other. Within a cell the error is
linear in every input but for a remainder, so that it is largest at a corner. A group sees the angles
through words (a row for all that occur together) and through one exact function a: its largest error
is the highest of many lines in a. All cells are looked at, at all corners; where their sum is above
what is claimed, once more with the output's rounding as it is there.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from boolcomp.checker.expand import Series, expanded, slope
from boolcomp.checker.loops import NEVER, below_chords, by_rest, spread, together, worst_at
from boolcomp.checker.nodes import Given
from boolcomp.checker.parts import added, most, word_of
from boolcomp.checker.plain import TIE
from boolcomp.checker.robotfunctions import NotCoveredError
from boolcomp.checker.spans import NOTHING, ONE, PLACES, Span, between, exactly, waves_at
from boolcomp.checker.steps import DoesNotHoldError
from boolcomp.words.graph import Bits, Heap, part_reads, reads

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from boolcomp.checker.expand import Exponents, Poly
    from boolcomp.checker.plain import Plain
    from boolcomp.words.graph import HeapPart

    Words = NDArray[np.int64]

BITS = 60  # of all that is added
SAME = Fraction(1, 1 << 30)  # steps: what a part that follows no common series may make
LARGEST = 1000  # denominator of a ratio between waves
MOST_STATES, MOST_LOOKED_AT, MOST_LEAVES = 1 << 22, 1 << 33, 4000
POINTS = 9  # of a grid
KEPT = 32  # of what a group adds
BLOCK = 1 << 18  # cells at a time


@dataclass(frozen=True, slots=True)
class Atom:
    """A part of a heap, times a weight in steps of the output's heap."""

    part: HeapPart
    weight: Fraction


@dataclass(frozen=True, slots=True, eq=False)
class Angle:
    """An angle: its word, the values that it may have, and 2^places cells in a turn."""

    name: str
    word: int
    at: Words
    places: int


class Group:
    """Linear inputs: what they add to the heap, and a·P with a series a and the values of P."""

    def __init__(self, tight: Tight, names: Sequence[str], atoms: Sequence[Atom], poly: Poly) -> None:
        self.tight, self.atoms = tight, atoms
        self.series, factors, self.scale = self._ratios(poly)
        ends = [tight.ends(name) for name in names]
        if math.prod(len(low) for _, low, _ in ends) > MOST_STATES:
            raise NotCoveredError
        axes = np.meshgrid(*(np.arange(len(low)) for _, low, _ in ends), indexing="ij")
        self.words, twice = {}, {}
        for name, (word, low, high), axis in zip(names, ends, axes, strict=True):
            place = axis.reshape(-1)
            twice[name] = low[place], high[place]
            if word is not None:
                self.words[word] = tight.values[name][place]
        self.least, self.largest = _extremes(factors, twice)
        own = [k for k in tight.needed(atoms) if tight.linear[k]]
        self.nodes = [k for k in own if k not in self.words]
        self.seen = sorted(k for k in tight.read_by(self.nodes, atoms) if not tight.linear[k])
        self.kept: dict[tuple[int, ...], Words] = {}
        self.drops = tight.unread(self.seen, self.nodes, atoms)

    def _ratios(self, poly: Poly) -> tuple[Series, dict[Exponents, int], Fraction]:
        """Return a and what multiples of it are the factors of monomials of twice the inputs."""
        tight = self.tight
        degree = max((sum(k for _, k in powers) for powers in poly), default=0)
        main = max(poly, key=lambda powers: max(abs(c[i].low) for c in poly[powers].values() for i in (0, 1)))
        series = poly[main]
        top, part = max(((key, i) for key in series for i in (0, 1)), key=lambda x: abs(series[x[0]][x[1]].low))
        if not series[top][part].low:
            raise NotCoveredError
        ratios = {}
        for powers, other in poly.items():
            found = Fraction(other.get(top, (NOTHING, NOTHING))[part].low, series[top][part].low)
            ratio = ratios[powers] = found.limit_denominator(LARGEST)
            left = {
                key: tuple(
                    other.get(key, (NOTHING, NOTHING))[i]
                    - series.get(key, (NOTHING, NOTHING))[i].times(ratio)
                    for i in (0, 1)
                )
                for key in other.keys() | series.keys()
            }
            beside = slope({powers: left}, "", 0, tight.reach)  # type: ignore[dict-item]
            if beside.size > SAME * ONE:
                raise NotCoveredError
            tight.slack = tight.slack + beside
        ratios = {p: r * 2 ** (degree - sum(k for _, k in p)) for p, r in ratios.items() if r}
        common = math.lcm(*(r.denominator for r in ratios.values()))
        return series, {p: int(r * common) for p, r in ratios.items()}, Fraction(1, common << degree)

    def profile(self) -> Profile:
        """Return the largest errors both ways at all cells of what the group sees."""
        tight = self.tight
        nodes = tight.needed_by(self.seen)
        names = {name for turned in self.series for name, _ in turned}
        angles = [one for one in tight.angles if one.word in nodes or one.name in names]
        words, count = tight.sweep(angles, nodes), math.prod(len(one.at) for one in angles)
        packed = np.zeros(count, np.int64)
        for k in self.seen:
            packed = packed << (tight.graph.nodes[k].bits - self.drops[k]) | words[k] >> self.drops[k]
        _, cells, which = np.unique(packed, return_index=True, return_inverse=True)
        if len(cells) * len(self.least) > MOST_LOOKED_AT:
            raise NotCoveredError
        series = Waves(tight, self.series, self.scale, angles)
        first, last = np.full(len(cells), -NEVER), np.full(len(cells), NEVER)
        values = {}
        for corner in product((0, 1), repeat=len(angles)):
            values[corner] = np.broadcast_to(series.at(words, corner), count).copy()
            spread(which, values[corner], first, last)
        step = np.maximum(1, -(-(last - first) // (POINTS - 1)))
        ends = np.empty((2, len(cells), POINTS), np.int64)
        for row, cell in enumerate(cells):
            put = self.put({k: int(words[k][min(cell, len(words[k]) - 1)]) for k in self.seen})
            grid = first[row] + step[row] * np.arange(POINTS)
            worst_at(put, self.least, self.largest, grid, tight.shift, ends[:, row])
        errors = {}
        for (corner, a), way in product(values.items(), (0, 1)):
            errors[corner, way] = np.empty(count, np.int64)
            below_chords(errors[corner, way], which, a, first, step, ends[way])
        size = max(int(np.abs(self.least).max()), int(np.abs(self.largest).max()))
        return Profile(angles, errors, series.error * size)

    def put(self, words: Mapping[int, int]) -> Words:
        """Return what the group adds to the heap at all states, for some words of what it sees."""
        key = tuple(int(words[k]) >> self.drops[k] for k in self.seen)
        if key not in self.kept:
            if len(self.kept) >= KEPT:
                self.kept.clear()
            found = {**self.words, **{k: np.full(1, words[k], np.int64) for k in self.seen}}
            for k in self.nodes:
                found[k] = word_of(self.tight.graph, k, found)
            total = self.tight.put(self.atoms, found)
            self.kept[key] = np.broadcast_to(total, self.least.shape).copy()
        return self.kept[key]


@dataclass(frozen=True, slots=True, eq=False)
class Profile:
    """A group's largest errors at all cells of some angles, by corner and way (0 is up); up to `error` too low."""

    angles: Sequence[Angle]
    errors: Mapping[tuple[tuple[int, ...], int], Words]
    error: int

    def part(self, whole: Sequence[Angle], corner: Sequence[int], way: int, rows: slice) -> Words:
        """Return them at a corner, at some rows of the first of all angles."""
        mine = [one in self.angles for one in whole]
        sides = tuple(side for side, own in zip(corner, mine, strict=True) if own)
        sizes = [len(one.at) if own else 1 for one, own in zip(whole, mine, strict=True)]
        grid = self.errors[sides, way].reshape(sizes)
        return grid[rows] if mine and mine[0] else grid


def _extremes(
    factors: Mapping[Exponents, int], twice: Mapping[str, tuple[Words, Words]]
) -> tuple[Words, Words]:
    """Return the least and the largest P at the corners of cells."""
    names, found = sorted(twice), []
    for corner in product((0, 1), repeat=len(names)):
        at = {name: twice[name][side] for name, side in zip(names, corner, strict=True)}
        total = np.zeros(len(next(iter(twice.values()))[0]), np.int64)
        for powers, factor in factors.items():
            value = np.full_like(total, factor)
            for name, k in powers:
                value = value * at[name] ** k
            total += value
        found.append(total)
    return np.minimum.reduce(found), np.maximum.reduce(found)


class Tight:
    """One output: its groups, its angles, and what is the same everywhere."""

    def __init__(self, plain: Plain, column: int, groups: Sequence[Sequence[str]]) -> None:
        self.plain, self.graph, self.claim = plain, plain.graph, plain.claim
        self.result = self.graph.results[column]
        output = self.claim.outputs[column]
        if output.rest is not None:
            raise NotCoveredError
        self.moved = plain.moved(output, column)
        self.places = {
            one.name: k for k, one in enumerate(self.claim.functions) if isinstance(one, Given)
        }
        self.reach = {name: plain.seen[k].near.hull for name, k in self.places.items()}
        self.values = {
            name: at for name, k in self.places.items() if (at := plain.seen[k].at) is not None
        }
        self.linear, self.depends = self._depends()
        self.group_of = {name: k for k, names in enumerate(groups) for name in names}
        self.atoms: dict[int | None, list[Atom]] = {}
        self.constant, self.lost = Fraction(0), NOTHING
        self._take_apart(self.result.node, Fraction(1))
        self.poly = expanded(self.claim, output.node)
        polys: dict[int | None, Poly] = {}
        for powers, series in self.poly.items():
            polys.setdefault(self._group([name for name, _ in powers]), {})[powers] = series
        self.angles = self._angles()
        self.slack = self._bent()
        self.still = polys.get(None, {}).get((), {})
        self.groups = [
            Group(self, names, self.atoms.get(k, []), polys.get(k, {}))
            for k, names in enumerate(groups)
            if k in polys
        ]
        if self.atoms.keys() - polys.keys() - {None}:
            raise NotCoveredError
        self._scales()

    def _scales(self) -> None:
        """Choose how finely is calculated: all sums fit in 64 bits."""
        listed = [atom for atoms in self.atoms.values() for atom in atoms]
        fine = math.lcm(1, *(atom.weight.denominator for atom in listed))
        self.fine, self.drop = fine.bit_length() - 1, self.result.drop
        if self.drop + self.fine > 20:
            raise NotCoveredError
        size = 2 + sum(
            abs(atom.weight) * most(self.graph, atom.part) / (1 << self.drop) for atom in listed
        )
        size += slope(self.poly, "", 0, self.reach).size // ONE + 1
        self.scale = BITS - int(size).bit_length()
        self.shift = self.scale - self.drop - self.fine  # of a unit of what is put into the heap

    def _depends(self) -> tuple[list[bool], list[frozenset[str]]]:
        """Tell of every word whether it depends on linear inputs, and on which."""
        of = {
            self.claim.places[k].words[0]: name
            for name, k in self.places.items()
            if self.claim.places[k].words and not self.claim.functions[k].angle  # type: ignore[union-attr]
        }
        found: list[frozenset[str]] = []
        for k in range(len(self.graph.nodes)):
            own = frozenset([of[k]]) if k in of else frozenset()
            found.append(own.union(*(found[n] for n in reads(self.graph.nodes[k]))))
        return [bool(one) for one in found], found

    def _group(self, names: Sequence[str] | frozenset[str]) -> int | None:
        """Return the one group of some linear inputs."""
        groups = {self.group_of.get(name, -1) for name in names}
        if len(groups) > 1 or -1 in groups:
            raise NotCoveredError
        return groups.pop() if groups else None

    def _take_apart(self, word: int, weight: Fraction) -> None:
        """Take a heap's parts; sums within it that several groups make are taken apart as well."""
        heap = self.graph.nodes[word]
        if not isinstance(heap, Heap) or heap.wraps:
            raise NotCoveredError
        self.constant += weight * heap.constant
        for part in heap.parts:
            names = frozenset[str]().union(*(self.depends[k] for k in part_reads(part)))
            several = len({self.group_of.get(name) for name in names}) > 1
            if not several or not isinstance(part, Bits):
                self.atoms.setdefault(self._group(names), []).append(Atom(part, weight))
                continue
            size = weight * Fraction(2) ** (part.column - part.drop)
            gone = size * ((1 << part.drop) - 1)
            if part.negative:
                self.constant += weight * most(self.graph, part)
                self.lost = self.lost + between(min(0, gone), max(0, gone))
                size = -size
            else:
                self.lost = self.lost + between(min(0, -gone), max(0, -gone))
            self._take_apart(part.node, size)

    def ends(self, name: str) -> tuple[int | None, Words, Words]:
        """Return a linear input's word, and twice the ends of all cells that it may lie in."""
        place = self.places[name]
        given, words = self.claim.inputs[name], self.claim.places[place].words
        if given.exact:
            raise NotCoveredError
        if not words:  # cells of its own: nothing reads them
            start, step, at = Fraction(-given.cells), Fraction(2), np.arange(given.cells)
        else:
            line, at = self.plain.seen[place].line, self.values[name]
            start, step = 2 * line.start - line.step, 2 * line.step
        if given.allowed.size > (Fraction(given.cells, 2) + step * TIE) * ONE:
            raise NotCoveredError  # it may lie beyond its word
        if start.denominator != 1 or step.denominator != 1:
            raise NotCoveredError
        lows = int(start) + int(step) * at
        return (words[0] if words else None), lows, lows + int(step)

    def _angles(self) -> list[Angle]:
        """Return the angles that the output or its heap depends on."""
        names = {name for series in self.poly.values() for turned in series for name, _ in turned}
        used, found = set(self.needed([a for one in self.atoms.values() for a in one])), []
        for name, k in sorted(self.places.items()):
            given, words = self.claim.inputs[name], self.claim.places[k].words
            if not self.claim.functions[k].angle or not (name in names or set(words) & used):  # type: ignore[union-attr]
                continue
            if not words or given.exact:
                raise NotCoveredError
            low, high = given.allowed.ends
            beside, end = TIE * self.plain.seen[k].line.step, Fraction(1, 1 << given.part)
            if not given.wraps and not -beside <= low + Fraction(1, 2) <= high + Fraction(1, 2) <= end + beside:
                raise NotCoveredError
            places = self.graph.nodes[words[0]].bits + given.part
            found.append(Angle(name, words[0], self.values[name], places))
        return found

    def _bent(self) -> Span:
        """Return what the error may be beside that at corners of cells."""
        total = NOTHING
        for name, k in self.places.items():
            seen = self.plain.seen[k]
            step = seen.line.step if seen.word is not None else Fraction(1)
            bent = slope(self.poly, name, 2, self.reach).times(step * step / 8)
            total = total + bent + slope(self.poly, name, 1, self.reach).times(step * TIE)
        return total.around

    def needed(self, atoms: Sequence[Atom], *, turning: bool = False) -> list[int]:
        """Return all words that some parts need, in their order; or of these the angles' alone."""
        found = self.needed_by([k for atom in atoms for k in part_reads(atom.part)])
        return [k for k in found if not (turning and self.linear[k])]

    def needed_by(self, words: Sequence[int]) -> list[int]:
        """Return words and all that they read, in their order."""
        waiting, found = list(words), set[int]()
        while waiting:
            k = waiting.pop()
            if k not in found:
                found.add(k)
                waiting += reads(self.graph.nodes[k])
        return sorted(found)

    def unread(
        self, seen: Sequence[int], nodes: Sequence[int], atoms: Sequence[Atom]
    ) -> dict[int, int]:
        """Return how many of the lowest bits of words nothing reads."""
        found = {k: self.graph.nodes[k].bits for k in seen}
        parts, heaps = [atom.part for atom in atoms], [self.graph.nodes[k] for k in nodes]
        parts += [part for heap in heaps if isinstance(heap, Heap) for part in heap.parts]
        for heap in heaps:
            if not isinstance(heap, Heap):
                found |= {k: 0 for k in reads(heap) if k in found}
        for part in parts:
            pairs = [(part.node, part.drop)] if isinstance(part, Bits) else [
                (part.a, part.drop_a), (part.b, part.drop_b)]  # fmt: skip
            found |= {k: min(found[k], drop) for k, drop in pairs if k in found}
        return found

    def read_by(self, nodes: Sequence[int], atoms: Sequence[Atom]) -> set[int]:
        """Return the words that nodes and parts read."""
        found = {k for atom in atoms for k in part_reads(atom.part)}
        return found.union(*(reads(self.graph.nodes[k]) for k in nodes))

    def put(self, atoms: Sequence[Atom], words: Mapping[int, Words]) -> Words:
        """Return what parts add to the heap, in the finest of its units."""
        total = np.zeros(1, np.int64)
        for atom in atoms:
            total = total + int(atom.weight * (1 << self.fine)) * added(self.graph, atom.part, words)
        return total

    def sweep(self, angles: Sequence[Angle], nodes: Sequence[int]) -> dict[int, Words]:
        """Return words at all cells of some angles, side by side."""
        grid = np.meshgrid(*(one.at for one in angles), indexing="ij")
        words = {one.word: axis.reshape(-1) for one, axis in zip(angles, grid, strict=True)}
        for k in nodes:
            if k not in words:
                words[k] = word_of(self.graph, k, words)
        return words

    def confirm(self, low: Fraction, high: Fraction) -> int:
        """Hold what is claimed against all cells; return how many there are."""
        if max(low, -high) > Fraction(-1, 2):  # words that saturate are half a step beside ranges
            raise NotCoveredError
        profiles = [group.profile() for group in self.groups]
        for sign, end in ((1, high), (-1, -low)):
            self._confirm(sign, end, profiles)
        return math.prod(len(one.at) for one in self.angles) << len(self.angles)

    def _confirm(self, sign: int, end: Fraction, profiles: Sequence[Profile]) -> None:
        angles, still = self.angles, Waves(self, self.still, Fraction(1), self.angles)
        tiny = still.error + sum(one.error for one in profiles)
        step = Fraction(1, 1 << self.drop)
        beside = self.slack + (self.lost.times(step))
        fixed = step * (self.constant - Fraction((1 << self.graph.nodes[self.result.node].bits) - 1, 2))
        fixed = sign * (fixed + self.moved) + Fraction((beside if sign > 0 else -beside).high, ONE)
        left = int((end - fixed) * (1 << self.scale) // 1) - tiny
        atoms, size = self.atoms.get(None, []), [len(one.at) for one in angles]
        half = (1 << self.scale >> 1) - (1 << self.scale >> (self.drop + 1))  # of rounding
        nodes, looked = self.needed(atoms), 0
        chunk = max(1, BLOCK // math.prod(size[1:])) if size else 1
        for row in range(0, size[0] if size else 1, chunk):
            rows = slice(row, row + chunk)
            some = [replace(angles[0], at=angles[0].at[rows]), *angles[1:]] if angles else []
            shape = [len(one.at) for one in some]
            words = self.sweep(some, nodes)
            put = sign * (self.put(atoms, words) << self.shift)
            for corner in product((0, 1), repeat=len(angles)):
                total = np.broadcast_to(put - sign * still.at(words, corner), math.prod(shape))
                total = sum((one.part(angles, corner, sign < 0, rows) for one in profiles), total.reshape(shape))
                above = np.argwhere(total > left - half)
                looked += len(above)
                if looked > MOST_LEAVES:
                    raise self._missed(sign, end, int(total.max()) + half - left)
                for place in above:
                    cell = {one.word: int(one.at[k]) for one, k in zip(some, place, strict=True)}
                    worst = self._leaf(sign, cell, corner, still, half)
                    if worst > left:
                        raise self._missed(sign, end, worst - left, cell)

    def _missed(
        self, sign: int, end: Fraction, above: int, cell: Mapping[int, int] | None = None
    ) -> DoesNotHoldError:
        confirmed = float(sign * (end + Fraction(above, 1 << self.scale)))
        where = "".join(f", w{k} {value}" for k, value in (cell or {}).items())
        return DoesNotHoldError(f"{float(sign * end):.6f} is claimed, {confirmed:.6f} confirmed{where}")

    def _leaf(
        self, sign: int, cell: Mapping[int, int], corner: Sequence[int], still: Waves, half: int
    ) -> int:
        """Return the largest error in one cell, with its rounding as it is there."""
        words = {k: np.full(1, value, np.int64) for k, value in cell.items()}
        angles = [replace(one, at=words[one.word]) for one in self.angles]
        words = self.sweep(angles, self.needed([a for one in self.atoms.values() for a in one], turning=True))
        rests = 1 << (self.drop + self.fine)
        put = self.put(self.atoms.get(None, []), words)
        alone = sign * ((put << self.shift) - still.at(words, corner))
        total = np.full(rests, NEVER, np.int64)
        total[int(put[0]) & (rests - 1)] = alone[0]
        for group in self.groups:
            a = int(Waves(self, group.series, group.scale, angles).at(words, corner)[0])
            put = group.put({k: int(words[k][0]) for k in group.seen})
            mine = by_rest(put, group.least, group.largest, a, sign, self.shift, rests)
            total = together(total, mine)
        if self.lost != NOTHING or self.fine or self.constant.denominator != 1:
            return int(total.max()) + half
        rest = (np.arange(rests) + int(self.constant)) & (rests - 1)
        unit = 1 << self.scale >> (self.drop + 1)
        rounded = (1 << self.scale >> 1) - (2 * rest + 1) * unit
        return int(np.where(total > NEVER, total + sign * rounded, NEVER).max())


class Waves:
    """A series at corners of cells: tables of its waves, and what its values err by at most."""

    def __init__(self, tight: Tight, series: Series, scale: Fraction, angles: Sequence[Angle]) -> None:
        self.angles, self.places = angles, max([3, *(one.places for one in angles)])
        count = 1 << self.places
        at = np.array([k << (PLACES - self.places) for k in range(count)], object)
        self.tables: list[tuple[list[int], Words]] = []
        self.error = 0
        for turned, (a, b) in series.items():
            if turned and turned[0][1] < 0:
                continue  # its conjugate counts twice
            often, times = dict(turned), scale * (2 if turned else 1)
            if set(often) - {one.name for one in angles}:
                raise NotCoveredError
            found = waves_at([(1 if turned else 0, a.times(times), b.times(times))], at)
            low = found.low >> (PLACES - tight.scale)
            self.error += int(np.max((found.high >> (PLACES - tight.scale)) + 1 - low))
            self.tables.append(([often.get(one.name, 0) for one in angles], low.astype(np.int64)))

    def at(self, words: Mapping[int, Words], corner: Sequence[int]) -> Words:
        """Return the values at a corner of every cell, up to `error` too low."""
        total, mask = np.zeros(1, np.int64), (1 << self.places) - 1
        for often, table in self.tables:
            index = np.zeros(1, np.int64)
            for one, side, k in zip(self.angles, corner, often, strict=True):
                place = (words[one.word] + side) << (self.places - one.places)
                index = index + k * (place - (1 << self.places >> 1))
            total = total + table[index & mask]
        return total
