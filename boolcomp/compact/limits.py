"""Which values width variables may have, and the widths that a search begins with."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from boolcomp.compact.graph.layout import DIGITS, constant_digits
from boolcomp.compact.noise import MOST_READ, Model
from boolcomp.compact.sketch.sketch import (
    AngleSum,
    Curve,
    Linear,
    Product,
    Sketch,
    Source,
    Table,
    WordSum,
    reads,
)
from boolcomp.compact.sketch.variables import Role, WidthVariable

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from boolcomp.compact.sketch.variables import Widths

    Floats = NDArray[np.float64]

LOWEST_CUT, HIGHEST = -12, 60
MOST_ANGLE = 16  # bits of an angle sum
WIDE = 10  # bits read by a curve from which on slopes are tried first
MOST_CURVE = 16  # bits that the table of a curve may read: bipartite ones stay small
_LIMITS = {
    Role.ANGLE_BITS: (3, MOST_ANGLE),
    Role.READ: (1, MOST_READ),
    Role.EXPONENT: (-HIGHEST, HIGHEST),
    Role.SPLIT: (0, 7),
    Role.LEAD: (2, 10),
    Role.KEEP: (0, 1),
    Role.DROP_A: (0, 30),
    Role.DROP_B: (0, 30),
}
# Entries of curves are within ±2 (see `sketch/direct.py`): a lowest bit of 4 says nothing of them.
_CURVE_LIMITS = {
    Role.EXPONENT: (-HIGHEST, 1),
    Role.READ: (1, MOST_CURVE),
    Role.SPLIT: (0, 12),
    Role.LEAD: (1, 12),
    Role.TIMES: (0, 12),
    Role.SLOPES: (1, 12),
    Role.FINENESS: (-6, 4),
    Role.BEND: (0, 6),
    Role.BENDS: (0, 6),
}


def in_range(sketch: Sketch, variable: WidthVariable, value: int) -> bool:
    """Tell whether a width may have a value."""
    low, high = _limits(sketch, variable)
    return low <= value <= high


def effective(model: Model, widths: Widths, variable: WidthVariable) -> int:
    """Return the value that a width has in effect: no word tells more than what it is made of.

    All values above it are the same choice; a step down begins there.
    """
    value, place = widths[variable], variable.node
    if variable.role is Role.ANGLE_BITS:
        return min(value, model.turn(widths, place).word.known)
    if variable.role is Role.READ:
        (source,) = reads(model.sketch.nodes[place])
        return min(value, model.bits(widths, source))
    return value


def _limits(sketch: Sketch, variable: WidthVariable) -> tuple[int, int]:
    node = sketch.nodes[variable.node]
    if isinstance(node, Curve):
        return _CURVE_LIMITS.get(variable.role) or _LIMITS[variable.role]
    if not isinstance(node, WordSum):
        return _LIMITS[variable.role]
    if variable.role is Role.CUT:
        if variable.node in sketch.outputs:
            return LOWEST_CUT, 0
        return (0, 12) if node.angle else (-HIGHEST, HIGHEST)
    if variable.role is Role.DIGITS:
        addend = node.addends[variable.addend or 0]
        return 1, min(
            8, len(constant_digits(addend.factor, DIGITS)) if isinstance(addend, Linear) else 1
        )
    return _LIMITS[variable.role]


def first_widths(model: Model, allowed: Floats) -> dict[WidthVariable, int]:
    """Return widths that give every rounding an equal part of the allowed variances."""
    sketch = model.sketch
    sources = sum(not isinstance(node, (Source, AngleSum)) for node in sketch.nodes)
    share = allowed / max(4, sources)
    widths: dict[WidthVariable, int] = {}
    for place, node in enumerate(sketch.nodes):
        felt = model.sensitivities[place].value
        step = _exponent(share * 12, felt)
        if isinstance(node, AngleSum):
            widths[Role.ANGLE_BITS.of(place)] = MOST_ANGLE
        elif isinstance(node, Table):
            most = _CURVE_LIMITS[Role.EXPONENT][1] if isinstance(node, Curve) else HIGHEST
            widths[Role.EXPONENT.of(place)] = min(step, most)
            read = _first_read(model, place, node, share)
            widths[Role.READ.of(place)] = read
            if place not in model.operands:
                widths |= _first_split(place, node, read, whole=model.costs.whole)
        elif isinstance(node, WordSum):
            widths[Role.CUT.of(place)] = _bounded_cut(sketch, place, node, step - 2)
            for k, addend in enumerate(node.addends):
                widths[Role.KEEP.of(place, k)] = 1
                if isinstance(addend, Product):
                    widths[Role.DROP_A.of(place, k)] = 0
                    widths[Role.DROP_B.of(place, k)] = 0
                else:
                    widths[Role.DIGITS.of(place, k)] = min(
                        4, len(constant_digits(addend.factor, DIGITS))
                    )
    return widths


def _first_split(place: int, node: Table, read: int, *, whole: bool) -> dict[WidthVariable, int]:
    """Return how a table is split at first: curves of wide words by slopes, others in two.

    Where whole tables are cheap none but wide curves are.
    """
    low = 0 if whole and not isinstance(node, Curve) else max(0, read - 6)
    first = {Role.SPLIT: low, Role.LEAD: min(read, 5)}
    if isinstance(node, Curve):
        times = low if read >= WIDE else 0
        first |= {Role.TIMES: times, Role.SLOPES: 6, Role.FINENESS: -1, Role.BEND: 0, Role.BENDS: 2}
        if read >= WIDE:
            first |= {Role.LEAD: 3, Role.BEND: min(3, low)}
    return {role.of(place): value for role, value in first.items()}


def _first_read(model: Model, place: int, node: Table, share: Floats) -> int:
    """Return how many bits a table has to read, so that its cells are no wider than allowed."""
    step = 2.0 ** _exponent(share * 12, model.sensitivities[place].slope)
    whole = 2 * math.pi if node.angle else 2 * model.statistics.largest[node.source]
    most = MOST_CURVE if isinstance(node, Curve) else MOST_READ
    return max(2, min(most, math.ceil(math.log2(max(whole / step, 1.0)))))


def _bounded_cut(sketch: Sketch, place: int, node: WordSum, cut: int) -> int:
    if place in sketch.outputs:
        return max(LOWEST_CUT, min(0, cut))
    return min(max(cut, 0), 12) if node.angle else cut


def _exponent(variance: Floats, felt: Floats) -> int:
    ratios = [v / f for v, f in zip(variance, felt, strict=True) if f > 0]
    return math.floor(math.log2(min(ratios)) / 2) if ratios else 0
