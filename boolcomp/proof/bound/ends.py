"""Curves of sums stand still beyond their ends, which samples found: what is meant does not.

A sketch tabulates a curve of a sum where samples of the sum were, and a little farther. Where it is
not seen that the sum stays there the sketch's function may be another than what was asked for; by
how much is enclosed here, node by node as the plain bound is, and added to a bound of any grade.
"""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING

from boolcomp.proof.bound.curves import curve_within
from boolcomp.proof.bound.enclosure import ZERO, Enclosure, between
from boolcomp.proof.bound.known import NONE, Known
from boolcomp.proof.bound.meaning import CurveTable, GivenWord, LinearPart, Total, TurnSum
from boolcomp.proof.bound.plain import Forward
from boolcomp.proof.bound.tables import table_known

if TYPE_CHECKING:
    from boolcomp.proof.bound.meaning import Explained, TableMeaning
    from boolcomp.proof.bound.result import Bound, Bounds

PIECES = 64  # of what lies beyond an end: in each a curve is enclosed by itself


def beyond_ends(explained: Explained, bounds: Bounds) -> Bounds:
    """Return bounds of what was asked for, from those of the sketch's function.

    A `DataError` where a curve has no bound beyond an end.
    """
    if all(bound.of_asked for bound in bounds.outputs):
        return bounds
    if not any(_ends(explained, one) for one in explained.meanings):
        return bounds
    more = _Excess(Forward(explained)).found
    outputs = [
        _moved(bound, more[result.meaning])
        for bound, result in zip(bounds.outputs, explained.results, strict=True)
    ]
    return replace(bounds, outputs=tuple(outputs))


def _ends(explained: Explained, table: object) -> bool:
    """Tell whether a meaning is a curve that ends where it need not; inputs end where they may."""
    if not isinstance(table, CurveTable):
        return False
    given = isinstance(explained.meanings[table.source], GivenWord)
    return not given and (math.isfinite(table.low) or math.isfinite(table.high))


def _moved(bound: Bound, by: Enclosure) -> Bound:
    low, high = by.ends
    causes = replace(bound.causes, inputs=bound.causes.inputs + by)
    return replace(bound, low=bound.low + low, high=bound.high + high, causes=causes)


class _Excess:
    """How much more the sketch's function is than what is meant, for every meaning."""

    def __init__(self, forward: Forward) -> None:
        self.forward, self.meanings = forward, forward.explained.meanings
        self.found: list[Enclosure] = []
        for meaning in self.meanings:
            if isinstance(meaning, GivenWord):
                self.found.append(ZERO)
            elif isinstance(meaning, TurnSum):
                parts = (self._turns(k).times(Fraction(often)) for k, often in meaning.items)
                self.found.append(sum(parts, ZERO))
            elif isinstance(meaning, Total):
                self.found.append(self._total(meaning))
            else:
                self.found.append(self._table(meaning))

    def _values(self, place: int) -> Enclosure:
        """Return between which numbers the sketch's function lies where the inputs are."""
        known = self.forward.known[place]
        return known.exact - known.inputs

    def _turns(self, place: int) -> Enclosure:
        """Return what is found of an angle, in turns."""
        meaning = self.meanings[place]
        turning = meaning.turning if isinstance(meaning, Total) else 0
        return self.found[place].times(Fraction(1, 1 << turning))

    def _total(self, total: Total) -> Enclosure:
        more = ZERO
        for addend in total.addends:
            factor = Fraction(addend.factor)
            if isinstance(addend, LinearPart):
                more = more + self.found[addend.meaning].times(factor)
                continue
            a, b = self._values(addend.a), self._values(addend.b)
            by_a, by_b = self.found[addend.a], self.found[addend.b]
            more = more + (a * by_b + b * by_a - by_a * by_b).times(factor)
        return more

    def _table(self, table: TableMeaning) -> Enclosure:
        by = self._turns(table.source)
        if not isinstance(table, CurveTable):
            if by == ZERO:
                return ZERO
            # as if what is meant were where the inputs are, and the sketch at their cells' middles
            values = self._values(table.source)
            source = Known(values, values, NONE, by)
            return table_known(self.forward.graph, table, source, None).inputs
        free = replace(table, low=-math.inf, high=math.inf)
        if by != ZERO:
            values = self._values(table.source)
            return curve_within(table, values) - _within(free, values - by)
        if not _ends(self.forward.explained, table):
            return ZERO
        return _beyond(table, free, self._values(table.source))


def _beyond(table: CurveTable, free: CurveTable, values: Enclosure) -> Enclosure:
    """Return how much more a curve with ends is than one without, for values of its source."""
    more = ZERO
    low, high = values.ends
    middle, unit = Fraction(table.middle), Fraction(table.unit)
    for end in (table.low, table.high):
        if not math.isfinite(end):
            continue
        at = (Fraction(end) - middle) / unit
        lower = (end == table.low) == (unit > 0)
        first, last = (low, min(at, high)) if lower else (max(at, low), high)
        if first < last:
            still = curve_within(table, between(at, at))
            more = _both(more, still - _within(free, between(first, last)))
    return more


def _within(table: CurveTable, values: Enclosure) -> Enclosure:
    """Return what a curve is for all values, piece by piece."""
    low, high = values.ends
    borders = [low + (high - low) * k / PIECES for k in range(PIECES + 1)]
    found = [curve_within(table, between(*pair)) for pair in pairwise(borders)]
    return Enclosure(min(one.low for one in found), max(one.high for one in found))


def _both(one: Enclosure, two: Enclosure) -> Enclosure:
    return Enclosure(min(one.low, two.low), max(one.high, two.high))
