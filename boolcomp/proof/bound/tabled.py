"""Proved bounds of paper mode: sums of tables, whose terms share inputs (see `checker.tabled`).

The checker compares the entries of tables with their terms, and finds the largest sum of errors.
This module selects the cells of its grids: every term has its own, and all terms distinguish the
same leading bits of an input. Fewer of these bits give a wider bound at less cost. The work is
counted before it is done.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, replace
from fractions import Fraction
from heapq import heapify, heappop, heappush
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from boolcomp.checker.tabled import (
    TIE,
    ClaimedCode,
    ClaimedPart,
    ClaimedTerm,
    GridAxis,
    InputCellsLine,
    StateErrors,
    cells_of,
    elimination,
    errors_of,
    fraction_bits,
    halves_of,
    height_of,
    index_of,
    limits_of,
)
from boolcomp.proof.bound.balls import ZERO, between
from boolcomp.proof.bound.bounds import Bound, Causes

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from boolcomp.checker.tabled import ClaimedOutput, Table, TableUse
    from boolcomp.codes import Code
    from boolcomp.logic.simulation import TruthTable
    from boolcomp.problem.words import Input
    from boolcomp.terms.terms import Term

    Whole = NDArray[np.int64]
    Grid = dict[str, GridAxis]


# --------------------------------------------------------------------------------------------------
# The terms of an output and their tables.
# --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class TabledTerm:
    """A term, its table, and the words that the table reads.

    `table` is None if it was not made. Its entries are then within `missed` steps of the term at
    the middles of cells, clamped to the code.
    """

    function: ClaimedTerm
    use: TableUse
    table: TruthTable | None = None
    missed: Fraction = Fraction(1, 2)

    @property
    def words(self) -> dict[str, int]:
        """The number of leading bits that the table reads of every input."""
        return {name: bits for name, bits, _ in self.use.words}


@dataclass(frozen=True, slots=True)
class TabledSum:
    """An output with its distinct terms: the terms of `claimed` refer to them as networks.

    `inputs` are the cells of the inputs' words. Terms that are `left_out` have no tables.
    """

    claimed: ClaimedOutput
    unit: str
    terms: tuple[TabledTerm, ...]
    left_out: tuple[ClaimedTerm, ...]
    inputs: Mapping[str, InputCellsLine]
    codes: Mapping[str, ClaimedCode]

    @property
    def sizes(self) -> dict[str, Fraction]:
        return {name: line.size for name, line in self.inputs.items()}


def claimed_term(term: Term, output: str = "") -> ClaimedTerm:
    """Return a term as the checker reads it, with exact coefficients and unknown errors."""
    parts = []
    for wave in term.waves():
        powers = Counter(dict(wave.powers))
        powers.update(variable.name for variable in term.factor)
        coefficients = Fraction(wave.cosine), Fraction(wave.sine)
        parts.append(ClaimedPart(*coefficients, dict(wave.multiples), dict(powers)))
    return ClaimedTerm(output, term.name, Fraction(0), Fraction(0), tuple(parts))


def claimed_code(code: Code) -> ClaimedCode:
    """Return a code as the checker reads it."""
    ends = Fraction(code.range.low), Fraction(code.range.high)
    return ClaimedCode(*ends, code.bits, code.kind, wraps=False)


def line_of(variable: Input, bits: int = 1, fewest: int = 1) -> InputCellsLine:
    """Return the cells of an input; one that wraps may have any value in a turn.

    `fewest` is the number of bits of the coarsest word that a table reads.
    """
    word, wraps = variable.word, variable.wraps
    low, width = Fraction(word.low), Fraction(word.high) - Fraction(word.low)
    allowed = word if wraps else variable.range
    ends = Fraction(allowed.low), Fraction(allowed.high)
    tie = TIE * width / (1 << fewest)
    return InputCellsLine(variable.name, low, width, bits, *ends, wraps, tie)


def derivative(term: ClaimedTerm, name: str) -> ClaimedTerm:
    """Differentiate a term by an input."""
    found = []
    for part in term.parts:
        if k := part.multiples.get(name, 0):
            found.append(replace(part, cosine=k * part.sine, sine=-k * part.cosine))
        if power := part.powers.get(name, 0):
            powers = {**part.powers, name: power - 1}
            if power == 1:
                del powers[name]
            sides = power * part.cosine, power * part.sine
            found.append(ClaimedPart(*sides, part.multiples, powers))
    return replace(term, parts=tuple(found))


# --------------------------------------------------------------------------------------------------
# The cells of all terms, and the leading bits that tables distinguish, within the allowed effort.
# --------------------------------------------------------------------------------------------------

FINE = 9  # bits of inputs in which a term is curved: limit of refinement
BENT = Fraction(1, 256)  # of an output's step: tolerated deviation by curvature
ROUGH = 6  # bits of the cells on which derivatives of terms without tables are bounded
AHEAD = 2  # additional shared bits of such inputs, compared with linear ones


class CountedGrids(NamedTuple):
    """The grids of all terms, the numbers that they and their elimination process, and its steps.

    An input that takes more than one step is maximised separately for several tables.
    """

    grids: list[Grid]
    cost: int
    steps: int


class GridSearch:
    """The grids of all terms of a sum, given the leading bits that terms share."""

    def __init__(self, output: TabledSum, effort: int) -> None:
        self.output, self.effort = output, effort
        self.cells: dict[tuple[str, int], InputCellsLine] = {}
        parts = [part for term in output.terms for part in term.function.parts]
        self.bent = {name for part in parts for name in part.multiples}
        self.bent |= {name for part in parts for name, power in part.powers.items() if power > 1}
        self.widest: dict[str, int] = {}
        for term in output.terms:
            for name, bits in term.words.items():
                self.widest[name] = max(bits, self.widest.get(name, 1))
        count = Counter(name for term in output.terms for name in term.words)
        self.common = sorted(name for name in count if count[name] > 1)

    def chosen(self) -> tuple[list[Grid], Grid]:
        """Choose the finest grids whose cost exceeds that of the coarsest by at most the effort.

        Also return an axis with the shared bits for every input of several terms.
        """
        shared = dict.fromkeys(self.common, 0)
        best = self.cost(shared)
        limit = best.cost + self.effort // 2
        for level in range(max(map(self.finest, self.common), default=0) + 1):
            finer = {
                name: min(self.finest(name), level + AHEAD * (name in self.bent))
                for name in self.common
            }
            found = self.cost(finer)
            if found.cost > limit:
                break
            shared, best = finer, found
        for name in sorted(self.common, key=lambda one: (one not in self.bent, one)):
            while shared[name] < self.finest(name):
                finer = {**shared, name: shared[name] + 1}
                found = self.cost(finer)
                if found.cost > limit or found.steps > max(best.steps, len(self.common)):
                    break
                shared, best = finer, found
        grids = self.refined(best.grids, self.effort // 2 + limit - best.cost)
        return grids, {name: self.axis(name, share) for name, share in shared.items()}

    def finest(self, name: str) -> int:
        """Return the largest number of shared bits: those of a word, and the side of a cell."""
        return max(self.widest[name] + 1, FINE * (name in self.bent))

    def line(self, name: str, bits: int) -> InputCellsLine:
        """Return the cells of an input, which are made once."""
        if (name, bits) not in self.cells:
            self.cells[name, bits] = replace(self.output.inputs[name], bits=bits)
        return self.cells[name, bits]

    def axis(self, name: str, share: int, least: int = 0) -> GridAxis:
        """Return the cells of an input, of at least so many bits.

        A linear input whose sides are shared has the same cells in all terms.
        """
        most = share if name in self.bent else min(share, self.widest[name])
        return GridAxis(self.line(name, max(least, most)), share)

    def grid(self, term: TabledTerm, shared: Mapping[str, int]) -> Grid:
        """Return the cells of a term, at least as fine as its words, or wider for estimates."""
        if term.table is not None:
            return {
                name: self.axis(name, shared.get(name, 0), word)
                for name, word in term.words.items()
            }
        found = {}
        for name, word in term.words.items():
            share = shared.get(name, 0)
            bits = min(word, max(share, ROUGH * (name in self.bent)))
            found[name] = GridAxis(self.line(name, bits), min(share, bits))
        while 4 * len(self.output.terms) * (1 + len(found)) * points(found) > self.effort:
            name = max(found, key=lambda one: found[one].line.bits - found[one].shared)
            axis = found[name]
            if axis.line.bits <= max(axis.shared, 1):
                break
            found[name] = replace(axis, line=self.line(name, axis.line.bits - 1))
        return found

    def cost(self, shared: Mapping[str, int]) -> CountedGrids:
        """Count the numbers that terms and their elimination process."""
        sizes = {name: self.axis(name, share).extent for name, share in shared.items()}
        grids = [self.grid(term, shared) for term in self.output.terms]
        cost, scopes = 0, []
        for term, grid in zip(self.output.terms, grids, strict=True):
            cost += points(grid) * (1 + len(grid) * (term.table is None))
            scopes.append(tuple(name for name in grid if shared.get(name, 0)))
        steps = list(elimination(scopes, sizes))
        for _, tables, scope in steps:
            cost += 2 * math.prod(sizes[name] for name in scope) * len(tables)
        return CountedGrids(grids, cost, len(steps))

    def refined(self, grids: list[Grid], allowed: int) -> list[Grid]:
        """Narrow cells where terms deviate most, as far as the cost allows."""
        found, enough = list(grids), BENT * self.output.claimed.code.step
        times = Counter(use.network for use in self.output.claimed.terms)
        queue = [(-times[k] * sum(self.bends(k, grid).values()), k) for k, grid in enumerate(grids)]
        heapify(queue)
        while queue and -queue[0][0] > enough:
            _, k = heappop(queue)
            bends = self.bends(k, found[k])
            name = max(bends, key=lambda one: bends[one])
            axis = found[k][name]
            finer = {**found[k], name: replace(axis, line=self.line(name, axis.line.bits + 1))}
            more = points(finer) - points(found[k])
            if more <= allowed and axis.line.bits < self.finest(name):
                allowed -= more
                found[k] = finer
                heappush(queue, (-times[k] * sum(self.bends(k, finer).values()), k))
        return found

    def bends(self, place: int, grid: Grid) -> dict[str, Fraction]:
        """Bound the deviation of a term with a table inside cells, for every curved input."""
        term = self.output.terms[place]
        if term.table is None:
            return {}
        return {
            name: term.function.curvature(name, self.output.sizes) * axis.line.cell**2 / 8
            for name, axis in grid.items()
            if name in self.bent
        }


def points(grid: Grid) -> int:
    return math.prod((len(axis.line.cells) + 1) << axis.sides for axis in grid.values())


# --------------------------------------------------------------------------------------------------
# Errors of terms.
#
# Entries with one free bit may have either value, with more free bits any value. A table that is
# too large to be made has entries known up to rounding, over half cells h_v of its words:
#
#     |entry - f(x)| ≤ missed · step + Σ_v sup|∂f/∂v| · h_v
# --------------------------------------------------------------------------------------------------


def entries_of(table: TruthTable, code: ClaimedCode) -> tuple[Whole, Whole]:
    """Return the least and the largest value of every row, in half steps."""
    words = table.words().astype(np.int64)
    here = cells_of(words, code.bits, code.kind)
    if not table.free:
        return halves_of(here, code.bits), halves_of(here, code.bits)
    free = np.zeros(len(words), np.int64)
    for column in table.free:
        packed = np.frombuffer(column.tobytes(), dtype=np.uint8)
        free = free << 1 | np.unpackbits(packed)[: len(free)]
    other = cells_of(words ^ free, code.bits, code.kind)
    one = free & (free - 1) == 0  # at most one bit is free
    low = np.where(one, np.minimum(here, other), 0)
    high = np.where(one, np.maximum(here, other), (1 << code.bits) - 1)
    return halves_of(low, code.bits), halves_of(high, code.bits)


def measured(
    term: TabledTerm, table: TruthTable, grid: Grid, codes: Mapping[str, ClaimedCode], room: int
) -> StateErrors:
    """Enclose the errors of a term by all entries of its table, at the corners of all cells.

    `codes` are those of inputs; `room` is the number of fraction bits of a step.
    """
    index, unit = index_of(term.use, codes, grid), term.use.code.step / (1 << room)
    low, high = (side << (room - 1) for side in entries_of(table, term.use.code))
    found = errors_of(term.function, grid, index, high, unit)
    if not table.free:
        return found
    least = errors_of(term.function, grid, index, low, unit)
    return replace(found, low=least.low, ends=(least.ends[0], found.ends[1]))


def estimated(term: TabledTerm, cells: Grid, shared: Grid, unit: Fraction) -> StateErrors:
    """Enclose the errors of a term whose entries are known up to rounding.

    Its cells may be wider than those of the `shared` bits.
    """
    grid = {
        name: replace(axis, line=_with_middles(axis.line, term.words[name]))
        for name, axis in cells.items()
    }
    names = tuple(name for name in term.function.names if shared.get(name, grid[name]).shared)
    _, size = _largest(term.function, grid, unit)
    beyond = max(0, math.ceil(int(size.max()) - term.use.code.high / unit))
    total: Whole = np.full([grid[name].extent for name in names], beyond)
    total += math.ceil(term.missed * term.use.code.step / unit)
    for name, axis in grid.items():
        half = axis.line.width / (2 << term.words[name])
        scope, size = _largest(derivative(term.function, name), grid, unit / half)
        total = total + size.reshape([grid[one].extent if one in scope else 1 for one in names])
    for k, name in enumerate(names):
        total = np.take(total, _owners(grid[name], shared[name]), axis=k)
    return StateErrors((names, total), (names, total), 0, (-int(total.max()), int(total.max())))


def _largest(function: ClaimedTerm, grid: Grid, unit: Fraction) -> Table:
    """Bound the absolute value of a function for all shared bits, in units."""
    index = {name: np.zeros(len(axis.line.cells), np.int64) for name, axis in grid.items()}
    found = errors_of(function, grid, index, np.zeros(1, np.int64), unit)
    height = height_of([function], {name: axis.line.size for name, axis in grid.items()}) / unit
    scope, high = found.high
    return scope, np.minimum(np.maximum(high, found.low[1]) + found.slack, math.ceil(height))


def _with_middles(line: InputCellsLine, bits: int) -> InputCellsLine:
    """Extend the range of an input to the middles of the words that it has."""
    words = replace(line, bits=bits)
    least, most = (words.low + words.cell * (k + Fraction(1, 2)) for k in words.reached)
    return replace(line, least=min(line.least, least), most=max(line.most, most))


def _owners(wide: GridAxis, narrow: GridAxis) -> Whole:
    """Return the group that contains each group of an axis with more shared bits."""
    first = narrow.first + np.arange(narrow.extent)
    return (first >> (narrow.shared - wide.shared)) - wide.first


# --------------------------------------------------------------------------------------------------
# The bound of a sum of tables.
# --------------------------------------------------------------------------------------------------

EFFORT = 30  # million numbers processed for an output


def bound_of(output: TabledSum, effort: float = EFFORT) -> Bound:
    """Return the bound of a sum of tables, in steps of its word."""
    claimed, sizes = output.claimed, output.sizes
    room = fraction_bits([term.function for term in output.terms], sizes, claimed.step)
    unit = claimed.step / (1 << room)
    grids, shared = GridSearch(output, int(effort * 1_000_000)).chosen()
    found = [
        estimated(term, grid, shared, unit)
        if term.table is None
        else measured(term, term.table, grid, output.codes, room)
        for term, grid in zip(output.terms, grids, strict=True)
    ]
    left = height_of(output.left_out, sizes) / claimed.code.step
    low, high = limits_of(claimed, [found[use.network] for use in claimed.terms], unit, left)
    causes = Causes(between(low, high), ZERO, ZERO, ZERO)
    return Bound(claimed.name, output.unit, float(claimed.code.step), low, high, causes, "tight")
