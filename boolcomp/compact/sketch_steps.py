"""A sketch of the steps of a calculation: sums, products, and a table of whatever reads one word.

Every step is a function of its root (see `roots`). A root that is a step of its own is a word, a
sum of products; a function of a root is a table of it, however many steps it takes; what is linear
in a root is no table but an addend.

Words have units of their own (what 1 counts), because a product's factor must be a power of two:
constants go into tables where one is at hand, for that costs nothing; else a sum takes the unit
that suits most of those that read it, or a multiple of it is made.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from boolcomp.compact.sketch.fourier import waves_of
from boolcomp.compact.sketch.nodes import (
    SAME,
    SketchNodes,
    fraction,
    is_power,
    power_of_two,
    primitive,
    signed_power,
)
from boolcomp.compact.sketch.roots import Known, Rooted, Turned, lowered
from boolcomp.compact.sketch.sketch import (
    Addend,
    Curve,
    Linear,
    Product,
    Sketch,
    Source,
    Waves,
    WordSum,
)
from boolcomp.compact.sketch.structure import Factor, Mixed, Monomials, Structure
from boolcomp.compact.sketch.units import Part, chosen_units
from boolcomp.problem.expressions.straight import Operation, Returned, Straight

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Hashable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from boolcomp.compact.sketch.poly import Angle, Quantity
    from boolcomp.compact.sketch.roots import Root
    from boolcomp.problem.problem import Problem

    Floats = NDArray[np.float64]

POINTS = 512  # at which a function is looked at
COEFFICIENT = 11  # digits of a wave's amplitude
WIDER = 0.01  # of a sampled range: what may lie beyond
NEAR_ZERO = 1e-3  # rad: a function that is linear about zero is linear there


def direct_sketch(
    problem: Problem,
    steps: Straight,
    words: Mapping[str, Quantity],
    units: Sequence[float],
    *,
    exact: bool = False,
) -> Sketch:
    """Return the sketch of steps, each output in these units; sums of angles may be `exact`."""
    structure = Structure(problem, lowered(problem, steps))
    return Emitter(structure, words, units, exact=exact).sketch()


@dataclass(slots=True)
class Word:
    """A root as a word: its node, what 1 counts, and the value of 0."""

    node: int
    unit: float
    middle: float


class Emitter:
    """Chooses units, then makes nodes."""

    def __init__(
        self,
        structure: Structure,
        words: Mapping[str, Quantity],
        units: Sequence[float | None],
        *,
        exact: bool,
    ) -> None:
        self.of, self.words = structure, words
        self.maker = SketchNodes(words, exact=exact)
        self.made: dict[int, Word] = {}
        self.users = structure.users()
        self.chosen = self._units(units)
        self.units = [self.chosen[-1 - k] for k in range(len(units))]

    def sketch(self) -> Sketch:
        """Return the sketch."""
        problem, outputs = self.of.problem, []
        self._register_angles()
        for output, sums, unit in zip(problem.outputs, self.of.outputs, self.units, strict=True):
            number, addends = self._addends(sums, unit)
            total = number - output.range.centre / unit
            outputs.append(self.maker.add(WordSum(tuple(addends), total), fresh=True))
        return Sketch(tuple(self.maker.nodes), tuple(outputs))

    def results(self) -> list[Word]:
        """Return every output as a word that others may read: a lone table is one itself."""
        self._register_angles()
        found = []
        for sums, unit in zip(self.of.outputs, self.units, strict=True):
            number, addends = self._addends(sums, unit)
            lone = addends[0] if len(addends) == 1 and not number else None
            if isinstance(lone, Linear) and lone.factor > 0:
                found.append(Word(lone.node, unit * lone.factor, 0.0))
            else:
                node = self.maker.add(WordSum(tuple(addends), number))
                found.append(Word(node, unit, 0.0))
        return found

    def _register_angles(self) -> None:
        """Make sums of angles first, short ones before long ones that build on them."""
        angles: set[Angle] = set()
        for sums in [*self.of.outputs, *self.of.sums.values()]:
            for factors in sums:
                roots = (self.of.root(f) for f in factors)
                angles.update(root for root in roots if not isinstance(root, int))
        for angle in sorted(angles, key=lambda a: (sum(abs(m) for _, m in a), a)):
            self.maker.angle(angle)

    # units -------------------------------------------------------------------------------------

    def _units(self, units: Sequence[float | None]) -> dict[int, float]:
        """Return what 1 counts in every root and output: an input's step, or what suits."""
        steps, sums = self.of.steps, self.of.sums
        chosen = {-1 - k: unit for k, unit in enumerate(units) if unit is not None}
        for place, step in enumerate(steps.nodes):
            if step.kind == "input" and step.name in self.words:
                chosen[place] = self.words[step.name].step
        parts = [
            Part(
                owner,
                coefficient,
                tuple(f for f in factors if isinstance(f, int)),
                tuple(f for f in factors if not isinstance(f, int)),
            )
            for owner, own in [*((-1 - k, x) for k, x in enumerate(self.of.outputs)), *sums.items()]
            for factors, coefficient in own.items()
            if factors
        ]
        functions = {one for part in parts for one in part.functions if isinstance(one, Mixed)}
        slopes = {one: self._slope(one) for one in functions}
        plain: dict[Hashable, float] = {
            one: 1 / (2 * math.pi * slope) for one, slope in slopes.items() if slope
        }
        free = [*sums, *(-1 - k for k, unit in enumerate(units) if unit is None)]
        for place, unit in chosen_units(parts, chosen, free, plain).items():
            held = steps.outputs[-1 - place].node if place < 0 else place
            size = max(abs(self.of.low[held]), abs(self.of.high[held]), 1e-300)
            chosen[place] = unit * power_of_two(size)
        return chosen

    def _slope(self, factor: Mixed) -> float:
        """Return the slope of a function of an angle where it is linear about zero, else 0."""
        if isinstance(root := self.of.root(factor), int):
            return 0.0
        x = np.asarray([-2.0, -1.0, 1.0, 2.0]) * NEAR_ZERO
        y = self._function(factor, root).evaluate([x])[0]
        wide, narrow = float(y[3] - y[0]) / 4, float(y[2] - y[1]) / 2
        return narrow / NEAR_ZERO if abs(wide - narrow) <= SAME * abs(narrow) else 0.0

    # nodes -------------------------------------------------------------------------------------

    def _word(self, place: int) -> Word:
        """Return a root as a word, made if it is new."""
        if place not in self.made:
            step = self.of.steps.nodes[place]
            if step.kind == "input":
                word = self.words[step.name]
                source = self.maker.add(Source(step.name, word.bits, angle=False, exact=word.exact))
                self.made[place] = Word(source, word.step, word.range.centre)
            else:
                only_tables = all(owner is None for owner, _ in self.users[place])
                middle = (self.of.low[place] + self.of.high[place]) / 2 if only_tables else 0.0
                if abs(middle) < WIDER * (self.of.high[place] - self.of.low[place]):
                    middle = 0.0
                unit = self.chosen[place]
                number, addends = self._addends(self.of.sums[place], unit)
                node = self.maker.add(WordSum(tuple(addends), _rounded(number - middle / unit)))
                self.made[place] = Word(node, unit, float(middle))
        return self.made[place]

    def _addends(self, sums: Monomials, unit: float) -> tuple[float, list[Addend]]:
        """Return the constant and the addends of a sum in a unit."""
        number = sums.get((), 0.0) / unit
        addends: list[Addend] = []
        for factors, coefficient in sums.items():
            if not factors:
                continue
            for plain, value in self._products(factors, coefficient):
                if not plain:
                    number += value / unit
                elif len(plain) == 1:
                    addends.append(self._linear(plain[0], value, unit))
                else:
                    addends.append(self._product(plain[0], plain[1], value, unit))
        return _rounded(number), _merged(addends)

    def _products(
        self, factors: tuple[Factor, ...], coefficient: float
    ) -> Iterator[tuple[tuple[Factor, ...], float]]:
        """Yield a product of at most two factors as products of words about zero."""
        pairs: list[tuple[tuple[Factor, ...], float]] = [((), coefficient)]
        for factor in factors:
            middle = self._word(factor).middle if isinstance(factor, int) else 0.0
            pairs = [
                one
                for found, value in pairs
                for one in (((*found, factor), value), (found, value * middle))
                if one[1]
            ]
        yield from pairs

    def _linear(self, factor: Factor, coefficient: float, unit: float) -> Addend:
        """Return an addend: a word times a constant, or a table which holds that."""
        if isinstance(factor, int):
            word = self._word(factor)
            return Linear(word.node, _rounded(coefficient * word.unit / unit))
        node, scale = self._table(factor, coefficient / unit)
        return Linear(node, scale)

    def _product(self, one: Factor, other: Factor, coefficient: float, unit: float) -> Addend:
        """Return the product of two words in a unit; what is no power of two goes into a table."""
        wanted = coefficient / unit
        if isinstance(one, int) and isinstance(other, int):
            a, b = self._word(one), self._word(other)
            factor = wanted * a.unit * b.unit
            if is_power(factor):
                return Product(a.node, b.node, signed_power(factor))
            multiple, scale = self._multiple(a.node, factor)
            return Product(multiple, b.node, scale)
        if isinstance(one, int):
            one, other = other, one
        if isinstance(other, int):
            word = self._word(other)
            node, scale = self._table(one, wanted * word.unit)
            return Product(node, word.node, scale)
        node, scale = self._table(other, fraction(wanted))
        plain, rest = self._table(one, wanted / fraction(wanted))
        return Product(plain, node, scale * rest)

    def _multiple(self, node: int, factor: float) -> tuple[int, float]:
        """Return a word that is a multiple of another, and the power of two that is left."""
        scale = math.copysign(power_of_two(abs(factor)), factor)
        return self.maker.add(WordSum((Linear(node, _rounded(factor / scale)),), 0.0)), scale

    # tables ------------------------------------------------------------------------------------

    def _table(self, factor: Factor, times: float) -> tuple[int, float]:
        """Return the table of a multiple of a function, and the power of two that is left."""
        if isinstance(factor, int):
            raise TypeError("a word needs no table")
        root = self.of.root(factor)
        function = self._function(factor, root)
        if isinstance(root, int):
            word = self._word(root)
            low, high = self._ends(root, function)
            curve = Curve(word.node, function, word.unit, word.middle, 1.0, low, high)
            return self._scaled(
                curve, np.asarray((np.linspace(low, high, POINTS) - word.middle) / word.unit), times
            )
        x = np.asarray(np.arange(POINTS) * (2 * math.pi / POINTS) - math.pi)
        turned = Curve(self.maker.angle(root), function, angle=True)
        if (waves := waves_of(turned, x)) is not None:
            return self._scaled(waves, x, times)
        low, high = self._stops(root)
        return self._scaled(replace(turned, low=low, high=high), x, times)

    def _scaled(self, table: Curve | Waves, x: Floats, times: float) -> tuple[int, float]:
        size = float(np.abs(table.at(x)).max()) * abs(times)
        scale = math.copysign(power_of_two(size), times) if size else 1.0
        inside = times / scale
        if isinstance(table, Curve):
            return self.maker.add(replace(table, factor=_rounded(inside))), scale
        parts = tuple((k, _rounded(a * inside), _rounded(b * inside)) for k, a, b in table.parts)
        return self.maker.add(Waves(table.source, parts)), scale

    def _ends(self, root: int, function: Straight) -> tuple[float, float]:
        """Return where an argument ends: a little wider than sampled, where there are values.

        An input ends where the logic has to hold.
        """
        low, high = float(self.of.low[root]), float(self.of.high[root])
        step = self.of.steps.nodes[root]
        if step.kind == "input":
            reach = self.of.problem.input(step.name).reach
            return reach.low, reach.high
        wide = WIDER * (high - low)
        return _defined(function, low, low - wide), _defined(function, high, high + wide)

    def _stops(self, root: Angle) -> tuple[float, float]:
        """Return where a function of an angle ends: nowhere, unless the angle has stops."""
        (name, multiple), *others = root
        word = self.words[name]
        if others or multiple != 1 or word.wraps or word.part is None:
            return -math.inf, math.inf
        border = word.range.low + math.pi
        return word.reach.low - border, word.reach.high - border

    def _function(self, factor: Mixed, root: Root) -> Straight:
        """Return a function of its root as steps with one input, x."""
        nodes: list[Operation] = [Operation("input", name="x")]
        places: dict[int, int] = {}
        if isinstance(root, int):
            places[root] = 0

        def put(operation: Operation) -> int:
            nodes.append(operation)
            return len(nodes) - 1

        for place in self._between([place for _, place in factor.parts], places):
            found = self.of.roots[place]
            if isinstance(found, Known):
                places[place] = put(Operation("constant", value=found.value))
            elif isinstance(found, Turned):
                places[place] = self._argument(found, put)
            else:
                step = self.of.steps.nodes[place]
                operands = tuple(places[k] for k in step.operands)
                places[place] = put(replace(step, operands=operands, task=""))
        total = -1
        for value, place in factor.parts:
            part = places[place]
            if value != 1.0:
                part = put(Operation("mul", (put(Operation("constant", value=value)), part)))
            total = part if total < 0 else put(Operation("add", (total, part)))
        return Straight(tuple(nodes), (Returned("y", total),))

    def _between(self, wanted: Sequence[int], known: Container[int]) -> list[int]:
        """Return the steps from a root to those that are wanted, in order."""
        needed: set[int] = set()
        waiting = [place for place in wanted if place not in known]
        while waiting:
            place = waiting.pop()
            if place not in needed:
                needed.add(place)
                if isinstance(self.of.roots[place], Rooted):
                    operands = self.of.steps.nodes[place].operands
                    waiting += [k for k in operands if k not in known]
        return sorted(needed)

    def _argument(self, turned: Turned, put: Callable[[Operation], int]) -> int:
        """Return a sum of angles as a multiple of x: the turn of a primitive sum's word."""
        _, common, flipped = primitive(turned.multiples)
        phase = turned.phase
        for name, multiple in turned.multiples:
            word = self.words[name]
            phase += multiple * (0.0 if word.part is None else word.range.low + math.pi)
        times = put(Operation("constant", value=float(-common if flipped else common)))
        product = put(Operation("mul", (times, 0)))
        if not phase:
            return product
        return put(Operation("add", (product, put(Operation("constant", value=phase)))))


def _defined(function: Straight, inside: float, outside: float) -> float:
    """Return the end of a range: the outer one, or as far out as the function has values."""
    with np.errstate(all="ignore"):
        x = inside + (outside - inside) * np.linspace(0.0, 1.0, POINTS)
        there = np.isfinite(function.evaluate([x])[0])
    return float(outside if there.all() else inside)


def _rounded(value: float) -> float:
    return float(f"{value:.{COEFFICIENT}g}") + 0.0


def _merged(addends: Sequence[Addend]) -> list[Addend]:
    """Add the factors of what is linear in the same word."""
    linear: dict[int, float] = {}
    for addend in addends:
        if isinstance(addend, Linear):
            linear[addend.node] = linear.get(addend.node, 0.0) + addend.factor
    products = [addend for addend in addends if isinstance(addend, Product)]
    return [*(Linear(node, factor) for node, factor in linear.items() if factor), *products]
