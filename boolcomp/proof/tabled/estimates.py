"""What a term's table errs by where it is too large to be made: from slopes, cell by cell.

    |entry - f(x)| ≤ missed · step + Σ_v sup|∂f/∂v| · h_v

with half cells h_v of the table's words, and suprema over those leading cells that terms share.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from boolcomp.proof.tabled.factors import Axis, Factor, Measured, corners, remainder, ties, up
from boolcomp.proof.tabled.fields import function_of, on_grid

if TYPE_CHECKING:
    from collections.abc import Sequence
    from fractions import Fraction

    from boolcomp.proof.tabled.fields import Function
    from boolcomp.proof.tabled.meaning import TabledTerm
    from boolcomp.proof.tabled.places import Whole


def estimated(term: TabledTerm, axes: Sequence[Axis], unit: Fraction, halves: int) -> Measured:
    """Return what a term errs by whose entries are known only to be rounded values.

    Cells of axes are no finer than words.
    """
    function = function_of(term.term)
    most = _size(function, axes, unit)
    beyond = max(0, int(most.max()) - halves * term.code.cells)  # entries end there
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
    coarse = [_words_at_most(axis) for axis in axes]
    points = [axis.line.whole(axis.bits) for axis in coarse]
    field = on_grid(function, points, unit)
    values = np.abs(np.broadcast_to(field.values, [len(place.at) for place in points]))
    values = corners(values, np.maximum)
    at = [
        (np.arange(axis.groups) + axis.line.cells(axis.shared)[0]) // (1 << axis.shared - one.bits)
        - one.line.cells(one.bits)[0]
        for axis, one in zip(axes, coarse, strict=True)
    ]
    found = values[np.ix_(*at)] if at else values
    return np.asarray(found + field.slack + up(remainder(function, coarse) / unit))


def _words_at_most(axis: Axis) -> Axis:
    """Return an axis whose cells are no finer than the words that are read."""
    bits = min(axis.bits, axis.shared)
    return Axis(axis.name, axis.line, bits, bits)
