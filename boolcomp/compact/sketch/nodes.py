"""The nodes of a sketch while it is made: equal ones once, angle sums from shorter ones."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from boolcomp.compact.sketch.sketch import TURN, AngleSum, Linear, SketchNode, Source, WordSum

if TYPE_CHECKING:
    from collections.abc import Mapping

    from boolcomp.compact.sketch.poly import Angle, Quantity

SAME = 1e-9  # relative


class SketchNodes:
    """Makes nodes over input words, beside those that another maker began with."""

    def __init__(
        self,
        words: Mapping[str, Quantity],
        *,
        exact: bool = False,
        begun: SketchNodes | None = None,
    ) -> None:
        self.words, self.exact = words, exact
        self.nodes: list[SketchNode] = list(begun.nodes) if begun else []
        self._known: dict[SketchNode, int] = dict(begun.known) if begun else {}
        self._angles: dict[Angle, int] = dict(begun.angles) if begun else {}

    @property
    def known(self) -> Mapping[SketchNode, int]:
        """Where every node stands."""
        return self._known

    @property
    def angles(self) -> Mapping[Angle, int]:
        """Where every sum of angles stands."""
        return self._angles

    def add(self, node: SketchNode, *, fresh: bool = False) -> int:
        """Return the number of a node, made if it is new."""
        if fresh or node not in self._known:
            self._known[node] = len(self.nodes)
            self.nodes.append(node)
        return self._known[node]

    def angle(self, angle: Angle) -> int:
        """Return the node of an angle sum, made from a shorter one if that leaves one angle."""
        if angle in self._angles:
            return self._angles[angle]
        if len(angle) == 1 and angle[0][1] == 1:
            place = self._single(angle[0][0])
        else:
            place = self.add(AngleSum(self._items(angle), self.exact))
        self._angles[angle] = place
        return place

    def _items(self, angle: Angle) -> tuple[tuple[int, int], ...]:
        wanted = dict(angle)
        best: tuple[tuple[int, int], ...] | None = None
        for known, place in self._angles.items():
            for sign in (1, -1):
                rest = dict(wanted)
                for name, multiple in known:
                    rest[name] = rest.get(name, 0) - sign * multiple
                left = [(name, m) for name, m in sorted(rest.items()) if m]
                if len(left) == 1 and len(known) > 1 and abs(left[0][1]) in (1, 2):
                    items = ((place, sign), (self._single(left[0][0]), left[0][1]))
                    if best is None or abs(items[1][1]) < abs(best[1][1]):
                        best = items
        return best or tuple((self._single(name), multiple) for name, multiple in angle)

    def _single(self, name: str) -> int:
        word = self.words[name]
        source = self.add(
            Source(name, word.bits, word.part is not None, word.part or 0, word.exact)
        )
        if word.part is not None:
            return source
        # An angle over anything but a part 2^-k of a turn is first put in such parts.
        cells = (1 << TURN) / (2 * math.pi)
        turned = WordSum(
            (Linear(source, word.step * cells),), word.range.centre * cells, angle=True
        )
        return self.add(turned)


def primitive(angle: Angle) -> tuple[Angle, int, bool]:
    """Return an angle sum without its common multiple, that multiple, and whether it is negated."""
    common = math.gcd(*(m for _, m in angle))
    flipped = angle[0][1] < 0
    divisor = -common if flipped else common
    return tuple((name, m // divisor) for name, m in angle), common, flipped


def power_of_two(size: float) -> float:
    """Return the power of two at or below a positive number."""
    return float(2.0 ** math.floor(math.log2(size) + SAME))


def fraction(value: float) -> float:
    """Return a number between 1 and 2 that differs by a power of two; its sign is left out."""
    return abs(value) / power_of_two(abs(value))


def is_power(value: float) -> bool:
    """Tell whether a number is, but for rounding, ± a power of two."""
    return abs(fraction(value) - 1) < SAME


def signed_power(value: float) -> float:
    """Return the power of two at or below a number's size, with its sign."""
    return math.copysign(power_of_two(abs(value)), value)
