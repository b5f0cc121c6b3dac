"""Other ways to split a curve than one width at a time leads to.

One bit more that is split off is seldom a gain unless the slope multiplies it, too; a split into
two tables has nothing in common with slopes. So whole splits are tried, and pairs of steps.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

from boolcomp.compact.limits import WIDE, in_range
from boolcomp.compact.sketch.sketch import Curve
from boolcomp.compact.sketch.variables import INTERPOLATION, Role

if TYPE_CHECKING:
    from collections.abc import Iterator

    from boolcomp.compact.sketch.sketch import Sketch
    from boolcomp.compact.sketch.variables import Widths, WidthVariable

PAIRED = (Role.EXPONENT, Role.SPLIT, Role.LEAD, *INTERPOLATION)
FEWEST, MOST = 2, 9  # leading bits of a coarse table


def _wide(sketch: Sketch, widths: Widths, node: int) -> int:
    """Return how many bits a curve reads that is worth the trouble, else 0."""
    if not isinstance(sketch.nodes[node], Curve) or Role.SPLIT.of(node) not in widths:
        return 0
    read = widths[Role.READ.of(node)]
    return read if read >= WIDE else 0


def curve_splits(sketch: Sketch, widths: Widths, node: int) -> Iterator[dict[WidthVariable, int]]:
    """Yield whole splits of a curve: two tables, slopes, slopes and bends."""
    read = _wide(sketch, widths, node)
    for most in range(FEWEST, min(MOST, read) + 1):
        low = read - most
        ways = [
            (low, max(1, most - 2), 0, 1, 0, 0, 0),
            (low, 1, low, most, -1, 0, 0),
            (low, 3, max(1, low - 3), most, -1, 0, 0),
            (low, 3, max(1, low - 2), most, -1, min(3, low), 2),
            (low, 3, low, most, -1, min(4, low), 3),
        ]
        for way in ways if read else ():
            roles = (Role.SPLIT, Role.LEAD, *INTERPOLATION)
            values = {role.of(node): value for role, value in zip(roles, way, strict=True)}
            if all(in_range(sketch, variable, value) for variable, value in values.items()):
                yield values


def curve_pairs(sketch: Sketch, widths: Widths, node: int) -> Iterator[dict[WidthVariable, int]]:
    """Yield every two widths of a curve one up or down, from where they then are."""
    if not _wide(sketch, widths, node):
        return
    for one, other in itertools.combinations(PAIRED, 2):
        for steps in ((1, 1), (1, -1), (-1, 1), (-1, -1)):
            pair = (one.of(node), other.of(node))
            values = {v: widths[v] + step for v, step in zip(pair, steps, strict=True)}
            if all(in_range(sketch, variable, value) for variable, value in values.items()):
                yield values
