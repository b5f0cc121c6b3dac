"""What a term's table errs by where it is too large to be made: from slopes, cell by cell.

    |entry - f(x)| ≤ missed · step + Σ_v sup|∂f/∂v| · h_v

with half cells h_v of the table's words, and suprema over those leading cells that terms share.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from boolcomp.proof.bound.fields import Factor, Measured, corners, grouped, remainder, ties, up
from boolcomp.proof.tabled.fields import function_of, on_grid

if TYPE_CHECKING:
    from collections.abc import Sequence
    from fractions import Fraction

    from boolcomp.proof.bound.fields import Axis
    from boolcomp.proof.tabled.fields import Function
    from boolcomp.proof.tabled.meaning import TabledTerm
    from boolcomp.proof.tabled.places import Whole


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
