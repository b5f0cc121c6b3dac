"""How much of every input all terms of an output see alike: as much as the effort allows.

All terms that read an input see the same leading bits of where it is, and for those beyond each
takes its own worst. The more is shared the closer is the bound; with nothing shared it is the sum
of the worst of every term. What it costs is counted before anything is done.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, replace
from fractions import Fraction
from heapq import heappop, heappush
from typing import TYPE_CHECKING

import numpy as np

from boolcomp.logic.adders import Addend, Sum
from boolcomp.proof.bound.balls import Enclosure, about, between, exactly
from boolcomp.proof.bound.fields import (
    SHIFT,
    Axis,
    Factor,
    Measured,
    Order,
    corners,
    function_of,
    grouped,
    largest,
    line_of,
    measured,
    on_grid,
    order_of,
    remainder,
    remainders,
    ties,
    up,
)
from boolcomp.proof.bound.meaning import Bound, Bounds, Causes

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from boolcomp.problem.problem import Input
    from boolcomp.proof.bound.fields import Function, Line, TabledSum, TabledTerm, Whole


# --------------------------------------------------------------------------------------------------
# How much of every input all terms of an output see alike: as much as the effort allows.
# --------------------------------------------------------------------------------------------------


FINE = 9  # bits of angles, and of what is squared: cells so narrow hardly bend
BENT = Fraction(1, 256)  # of an output's step: what cells of a term may bend by
ROUGH = 6  # bits of cells in which slopes are looked at
MOST = 1 << 22  # numbers in a table
AHEAD = 2  # bits by which more is shared of angles than of what is linear


@dataclass(frozen=True, slots=True)
class Layout:
    """The axes of every term, and how their tables are added up; `cost` counts numbers."""

    axes: tuple[tuple[Axis, ...], ...]
    order: Order
    cost: int


@dataclass(frozen=True, slots=True)
class _Reader:
    """An input: how fine its cells may be, whether terms bend along it, how many read it."""

    line: Line
    finest: int
    bent: bool
    readers: int


def layout_of(
    terms: Sequence[TabledTerm],
    lines: Mapping[str, Line],
    lsb: Fraction,
    effort: int,
    most: int = MOST,
) -> Layout:
    """Return the finest layout that costs no more than the effort beyond the coarsest there is."""
    search = _Search(tuple(terms), _readers(terms, lines), effort, most)
    readers = search.readers
    common = [name for name, one in readers.items() if one.readers > 1]
    finest = max((readers[name].finest for name in common), default=0)
    bits = dict.fromkeys(common, 0)
    best = search.laid(search.coarse(bits))
    least = best.cost  # every entry is looked at once, whatever the effort
    for level in range(finest + 1):
        wider = {n: min(readers[n].finest, level + AHEAD * readers[n].bent) for n in common}
        found = search.laid(search.coarse(wider))
        if 2 * (found.cost - least) > effort:
            break
        bits, best = wider, found
    for name in sorted(common, key=lambda one: (not readers[one].bent, one)):
        while bits[name] < readers[name].finest:
            wider = {**bits, name: bits[name] + 1}
            found = search.laid(search.coarse(wider))
            if 2 * (found.cost - least) > effort or found.order.splits > best.order.splits:
                break
            bits, best = wider, found
    return search.laid(search.refined(search.coarse(bits), BENT * lsb, effort + least - best.cost))


def _readers(terms: Sequence[TabledTerm], lines: Mapping[str, Line]) -> dict[str, _Reader]:
    widest: Counter[str] = Counter()
    bent: set[str] = set()
    count: Counter[str] = Counter()
    for term in terms:
        for word in term.words:
            name = word.variable.name
            widest[name] = max(widest[name], word.code.bits)
        powers = Counter(variable.name for variable in term.term.factor)
        count.update(variable.name for variable in term.term.variables)
        bent |= {name for name, power in powers.items() if power > 1}
        bent |= {variable.name for variable in term.term.arguments}
    found = {}
    for name, line in lines.items():
        bits = max(widest[name], 1)
        fine = max(bits + 1, FINE) if name in bent else bits + 1
        found[name] = _Reader(line, fine, name in bent, count[name])
    return found


@dataclass(frozen=True, slots=True)
class _Search:
    """What a layout is made for, and what it may cost."""

    terms: tuple[TabledTerm, ...]
    readers: Mapping[str, _Reader]
    effort: int
    most: int

    def laid(self, axes: Sequence[tuple[Axis, ...]]) -> Layout:
        """Return the axes of all terms with an order, and what they cost."""
        cost, scopes = 0, []
        sizes: dict[str, int] = {}
        for term, own in zip(self.terms, axes, strict=True):
            cost += _cost(own) * (1 + len(own) * term.estimated)
            scopes.append(tuple(axis.name for axis in own if axis.told))
            sizes |= {axis.name: axis.groups for axis in own}
        order = order_of(scopes, sizes, self.most)
        return Layout(tuple(axes), order, cost + 2 * order.cost)

    def coarse(self, shared: Mapping[str, int]) -> list[tuple[Axis, ...]]:
        """Return the axes of all terms for so many shared bits, with cells as wide as words'."""
        found = []
        for term in self.terms:
            axes = []
            for word in term.words:
                name, bits = word.variable.name, word.code.bits
                share = shared.get(name, 0)
                one = self.readers[name]
                narrow = max(bits, share)
                if term.estimated:
                    narrow = min(bits, max(share, ROUGH * one.bent))
                axes.append(Axis(name, one.line, narrow, share))
            found.append(tuple(axes) if not term.estimated else self._rougher(axes))
        return found

    def _rougher(self, axes: Sequence[Axis]) -> tuple[Axis, ...]:
        """Return cells that are wider, but no wider than what is shared, until they are few."""
        found = list(axes)
        while _cost(found) * (1 + len(found)) * len(self.terms) * 4 > self.effort:
            place = max(range(len(found)), key=lambda k: found[k].bits - found[k].shared)
            axis = found[place]
            if axis.bits <= max(axis.shared, 1):
                break
            found[place] = replace(axis, bits=axis.bits - 1)
        return tuple(found)

    def refined(
        self, plain: list[tuple[Axis, ...]], enough: Fraction, allowed: int
    ) -> list[tuple[Axis, ...]]:
        """Return axes with narrower cells where terms bend most, while that is allowed."""
        found = list(plain)
        queue: list[tuple[Fraction, int]] = []
        for k, term in enumerate(self.terms):
            if not term.estimated:
                heappush(queue, (-term.times * sum(self._bends(k, found[k]), Fraction(0)), k))
        while queue and -queue[0][0] > enough:
            _, k = heappop(queue)
            bends = self._bends(k, found[k])
            place = bends.index(max(bends))
            axis = found[k][place]
            finer = (*found[k][:place], replace(axis, bits=axis.bits + 1), *found[k][place + 1 :])
            more = _cost(finer) - _cost(found[k])
            if more > allowed or axis.bits >= self.readers[axis.name].finest:
                continue
            allowed -= more
            found[k] = finer
            bent = self.terms[k].times * sum(self._bends(k, finer), Fraction(0))
            heappush(queue, (-bent, k))
        return found

    def _bends(self, place: int, axes: Sequence[Axis]) -> list[Fraction]:
        return remainders(function_of(self.terms[place].term), axes)


def _cost(axes: Sequence[Axis]) -> int:
    return math.prod(axis.cells + 1 for axis in axes)


# --------------------------------------------------------------------------------------------------
# What a term's table errs by where it is too large to be made: from slopes, cell by cell.
#
#     |entry - f(x)| ≤ missed · step + Σ_v sup|∂f/∂v| · h_v
#
# with half cells h_v of the table's words, and suprema over those leading cells that terms share.
# --------------------------------------------------------------------------------------------------


def estimated(term: TabledTerm, axes: Sequence[Axis], unit: Fraction, halves: int) -> Measured:
    """Return what a term errs by whose entries are known only to be rounded values.

    Cells of axes are no finer than words.
    """
    function = function_of(term.term)
    sizes = {axis.name: axis.line.size for axis in axes}
    most = min(int(_size(function, axes, unit).max()), up(function.height(sizes) / unit))
    beyond = max(0, most - halves * term.code.cells)  # entries end there
    tables = up(term.missed * 2 * halves) + beyond
    total: Whole = np.zeros([axis.groups for axis in axes], np.int64)
    for axis, word in zip(axes, term.words, strict=True):
        half = axis.line.step(word.code.bits) / 2
        total = total + _size(function.slope(axis.name), axes, unit / half)
    total = total + up(ties(function, axes) / unit)
    names = tuple(axis.name for axis in axes if axis.told)
    errors = term.times * (total + tables).reshape([n for n in total.shape if n > 1])
    inputs = term.times * int(total.max())
    return Measured(Factor(names, errors, errors), term.times * tables, inputs, 0)


def _size(function: Function, axes: Sequence[Axis], unit: Fraction) -> Whole:
    """Return what a function's size never exceeds in the cells that are shared."""
    points = [axis.line.whole(axis.bits) for axis in axes]
    field = on_grid(function, points, unit)
    values = np.abs(np.broadcast_to(field.values, [len(place.at) for place in points]))
    values = corners(values, np.maximum) + field.slack + up(remainder(function, axes) / unit)
    wide = [axis.bits < axis.shared for axis in axes]
    groups = [
        np.arange(axis.cells) if w else axis.group() for axis, w in zip(axes, wide, strict=True)
    ]
    values = grouped(values, groups)
    for k, axis in enumerate(axes):
        if wide[k]:  # all that is shared within a cell has its value
            parts = np.arange(axis.groups) + axis.line.cells(axis.shared)[0]
            cells = (parts >> (axis.shared - axis.bits)) - axis.line.cells(axis.bits)[0]
            values = np.take(values, cells, axis=k)
    return values


# --------------------------------------------------------------------------------------------------
# The bound of a sum of tables: what its output's word less the exact output may be.
#
#     y(w) - τ(x) = [y(w) - Σ entries] + Σ [entry - term(x)]
#
# The first is the rounding of the sum, of which all remainders are looked at. The second is the
# largest sum of the terms' errors over all states of the inputs, in either direction.
# --------------------------------------------------------------------------------------------------


EFFORT = 30  # million numbers that are looked at for an output
PLACES = 16  # bits of a step's share that is the unit, where numbers leave room for them
DECODER = Fraction(1, 1 << 16)  # of a step: more than what decoders round


def bounds_of(outputs: Sequence[TabledSum], effort: float = EFFORT) -> Bounds:
    """Return the bounds of sums; `effort` counts millions of numbers for each."""
    return Bounds(tuple(bound_of(one, effort) for one in outputs))


def bound_of(output: TabledSum, effort: float = EFFORT) -> Bound:
    """Return the bound of a sum of tables, in steps of its word."""
    _check(output)
    rounding = _rounding(output)
    lines = _lines(output)
    unit, halves = _unit(output, lines)
    layout = layout_of(output.terms, lines, Fraction(output.word.step), int(effort * 1_000_000))
    found = [
        (estimated if one.estimated else measured)(one, axes, unit, halves)
        for one, axes in zip(output.terms, layout.axes, strict=True)
    ]
    factors = [one.factor for one in found]
    share = Fraction(1, 2 * halves << output.guard_bits)
    left = _left_out(output)
    high, low = (
        share * largest([(one.names, side) for one, side in sides], layout.order) + left
        for sides in (
            [(one, one.high) for one in factors],
            [(one, one.low) for one in factors],
        )
    )
    least, most = rounding.ends
    bent = share * sum(one.remainder for one in found)
    inputs, tables = (
        about(exactly(share * sum(s)))
        for s in ((one.inputs for one in found), (one.tables for one in found))
    )
    return Bound(
        output.name, output.unit, output.word.step,
        min(least - low, -Fraction(1, 2)), max(most + high, Fraction(1, 2)),
        Causes(inputs, tables, about(exactly(left)), rounding), "tight", float(bent),
    )  # fmt: skip


def _left_out(output: TabledSum) -> Fraction:
    """Return what all terms without tables never exceed together, in steps of the word."""
    sizes = {v.name: line_of(v, 1).size for term in output.left_out for v in term.variables}
    whole = sum((function_of(term).height(sizes) for term in output.left_out), Fraction(0))
    return whole / Fraction(output.word.step)


def _check(output: TabledSum) -> None:
    """Raise a `ValueError` where codes are not those of one sum, or inputs stand twice."""
    step = output.step
    for term in output.terms:
        names = [variable.name for variable in term.term.variables]
        if len(set(names)) < len(names):
            raise ValueError(f"{term.term.name} has an input in its coefficient and as a factor")
        if [word.variable.name for word in term.words] != names:
            raise ValueError(f"the table of {term.term.name} reads other inputs than it has")
        low = -step * term.code.cells / 2
        if Fraction(term.code.range.low) != low or Fraction(term.code.step) != step:
            raise ValueError(f"the code of {term.term.name} has another step than the sum")
        if term.code.tread or any(word.code.tread for word in term.words):
            raise ValueError(f"{term.term.name} has a cell at zero, which tables have not")


def _rounding(output: TabledSum) -> Enclosure:
    """Return by how much the output's word is more than the sum of the entries, in its steps."""
    addends = tuple(Addend(one.code.bits, one.code.kind, one.times) for one in output.terms)
    total = Sum(addends, output.word.bits, output.guard_bits)
    whole = 1 << output.guard_bits
    apart = math.gcd(whole, *(one.times for one in addends))
    rests = (total.offset % apart, total.offset % apart + whole - apart)
    # The sum of entries is N + ½ or N steps above the range's lower end, as halves are even.
    halves = (1 << (output.word.bits + output.guard_bits)) - sum(
        a.times * (a.cells - 1) for a in addends
    )
    within = Fraction(halves % 2, 2)
    above = Fraction(output.word.low) / output.step + (whole << output.word.bits) // 2
    ends = [(above + Fraction(whole, 2) - rest - within) / whole for rest in rests]
    return between(min(ends) - DECODER, max(ends) + DECODER)


def _lines(output: TabledSum) -> dict[str, Line]:
    """Return the cells of all inputs, by name."""
    inputs: dict[str, Input] = {}
    fewest: dict[str, int] = {}
    for term in output.terms:
        for variable in term.term.variables:
            inputs.setdefault(variable.name, variable)
        for word in term.words:
            name = word.variable.name
            fewest[name] = min(fewest.get(name, word.code.bits), word.code.bits)
    return {name: line_of(one, fewest.get(name, 1)) for name, one in inputs.items()}


def _unit(output: TabledSum, lines: dict[str, Line]) -> tuple[Fraction, int]:
    """Return what errors are counted in, and how many of these half a step has."""
    sizes = {name: line.size for name, line in lines.items()}
    heights = (function_of(one.term).height(sizes) for one in output.terms)
    steps = math.ceil(max(heights, default=Fraction(0)) / output.step)
    room = min(PLACES, 61 - SHIFT - steps.bit_length())
    if room < 1:
        raise ValueError(f"the terms of {output.name} have too many steps to be counted")
    return output.step / (1 << room), 1 << (room - 1)
