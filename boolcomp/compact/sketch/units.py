"""What 1 counts in the words of a calculation: units in which few constants are left.

A product's factor must be a power of two, and so a unit matters only between 1 and 2. A constant
that remains costs signed digits of a word, a word more where it stands before a product of words,
or, before a function of one word, a table of its own: a table that is there already costs nothing.
So units are chosen one after another for the least of these, from several starts.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from boolcomp.compact.sketch.nodes import power_of_two
from boolcomp.compact.sketch.poly import signed_digits

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Mapping, Sequence

CLASS_DIGITS = 9  # of a unit's place between two powers of two
TABLE = 60.0  # nodes: of a table
DIGIT = 18.0  # of a signed digit of a constant beyond the first
WORD = 20.0  # of a word that is a multiple of another
FINE, MOST_DIGITS = 2.0**-7, 5  # of constants
SWEEPS = 8

Key: TypeAlias = "tuple[Hashable, float]"


@dataclass(frozen=True, slots=True)
class Part:
    """One product of a sum: a coefficient, the words and the functions of one word it reads."""

    owner: int
    coefficient: float
    words: tuple[int, ...]
    functions: tuple[Hashable, ...]


def chosen_units(
    parts: Sequence[Part],
    fixed: Mapping[int, float],
    free: Iterable[int],
    plain: Mapping[Hashable, float] | None = None,
) -> dict[int, float]:
    """Return units between 1 and 2 for the words that are free.

    `plain` are multiples of functions that are a word as it is, an angle's, and so need no table.
    """
    bare = {name: unit_class(multiple) for name, multiple in (plain or {}).items()}
    places = sorted(free, reverse=True)
    classes = {place: unit_class(unit) for place, unit in fixed.items()}
    starts = [1.0, *(x for x, _ in Counter(classes.values()).most_common(3))]
    best: tuple[float, dict[int, float]] | None = None
    for start in dict.fromkeys(starts):
        search = _Search(parts, {**classes, **dict.fromkeys(places, start)}, places, bare)
        search.run()
        if best is None or search.cost < best[0] - 1e-9:
            best = (search.cost, {place: search.units[place] for place in places})
    return best[1] if best else {}


def unit_class(unit: float) -> float:
    """Return the unit between 1 and 2 that differs by a power of two, and a sign."""
    fraction = abs(unit) / power_of_two(abs(unit))
    return float(f"{fraction:.{CLASS_DIGITS}g}")


class _Search:
    """Units, what they cost, and how often every table and multiple of a word is read."""

    def __init__(
        self,
        parts: Sequence[Part],
        units: dict[int, float],
        free: Sequence[int],
        bare: Mapping[Hashable, float],
    ) -> None:
        self.parts, self.units, self.free, self.bare = parts, units, free, bare
        self.touching: dict[int, list[int]] = defaultdict(list)
        for k, part in enumerate(parts):
            for place in dict.fromkeys((part.owner, *part.words)):
                self.touching[place].append(k)
        self.used: Counter[Key] = Counter()
        self.cost = 0.0
        for k in range(len(parts)):
            self._count(k, 1)

    def run(self) -> None:
        """Move one unit after another while that saves anything."""
        for _ in range(SWEEPS):
            before = self.cost
            for place in self.free:
                self._improve(place)
            if self.cost >= before - 1e-9:
                return

    def _improve(self, place: int) -> None:
        """Give a word the unit that costs least."""
        least, best = self.cost - 1e-9, self.units[place]
        for unit in self._candidates(place):
            self._set(place, unit)
            if self.cost < least - 1e-9:
                least, best = self.cost, unit
        self._set(place, best)

    def _set(self, place: int, unit: float) -> None:
        for k in self.touching[place]:
            self._count(k, -1)
        self.units[place] = unit
        for k in self.touching[place]:
            self._count(k, 1)

    def _candidates(self, place: int) -> list[float]:
        """Return the units that leave no constant somewhere, or one whose table is there."""
        found: dict[float, None] = {}
        for k in self.touching[place]:
            part = self.parts[k]
            factor = self._factor(part)
            wanted = [1.0]
            if len(part.functions) == 1:
                own = part.functions[0]
                wanted += [multiple for name, multiple in self.used if name == own]
                wanted += [self.bare[own]] if own in self.bare else []
            for multiple in wanted:
                if part.owner == place and place not in part.words:
                    found[unit_class(self.units[place] * factor / multiple)] = None
                elif part.words.count(place) == 1 and part.owner != place:
                    found[unit_class(self.units[place] * multiple / factor)] = None
        return list(found)

    def _factor(self, part: Part) -> float:
        """Return the constant that is left before a product."""
        words = math.prod(self.units[place] for place in part.words)
        return unit_class(part.coefficient * words / self.units[part.owner])

    def _count(self, k: int, step: int) -> None:
        """Add what a product costs, or take it away."""
        part = self.parts[k]
        factor = self._factor(part)
        if part.functions:
            keys = [(name, 1.0) for name in part.functions[1:]]
            own = part.functions[0]
            same = abs(factor - self.bare.get(own, 0.0)) < 1e-7
            self._use((own, factor), step, 0.0 if same else TABLE)
            for key in keys:
                self._use(key, step, TABLE)
        elif len(part.words) == 1:
            self.cost += step * DIGIT * _digits(factor)
        elif len(part.words) == 2 and factor != 1:
            self._use((part.words[0], factor), step, WORD + DIGIT * _digits(factor))

    def _use(self, key: Key, step: int, cost: float) -> None:
        before = self.used[key]
        self.used[key] = before + step
        if before == 0 or before + step == 0:
            self.cost += step * cost
        if before + step == 0:
            del self.used[key]


def _digits(factor: float) -> int:
    """Return how many signed digits a constant takes beyond the first."""
    return max(0, len(signed_digits(factor, FINE, MOST_DIGITS)) - 1)
