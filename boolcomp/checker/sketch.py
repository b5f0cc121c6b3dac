"""Checks the section `sketch` (see `nodes`): expanded, it is what is asked, but for its digits.

Both are sums of waves times powers; they differ by no more than the sizes of all differences of
coefficients, each times the largest values of its inputs. That is part of every error.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from flint import acb, arb

from boolcomp.checker.nodes import Curve, Given, Powers, Total, Turns, Waves, read_sketch
from boolcomp.checker.origin import function_of, read_origin
from boolcomp.checker.robotfunctions import NotCoveredError
from boolcomp.checker.steps import DoesNotHoldError, Found, Step, checked
from boolcomp.checker.waves import Space, Sum, Variable, balls, number, turned

if TYPE_CHECKING:
    from collections.abc import Iterator

    from boolcomp.checker.container import Section
    from boolcomp.checker.folder import LoadFiles
    from boolcomp.checker.nodes import Node, Sketch
    from boolcomp.checker.origin import Input, Origin

MOST_STEPS = 2.0**-6  # a sketch that differs by more is another function; less is an error


@dataclass(frozen=True, slots=True)
class Angle:
    """Σ multiple·angle over inputs, and an offset, in turns."""

    multiples: dict[str, int]
    offset: arb


@dataclass(frozen=True, slots=True)
class Difference:
    """By how much an output of the sketch may differ from what was asked, in steps."""

    name: str
    steps: float
    cases: int


class Expansion:
    """The nodes of a sketch as sums of waves over the inputs themselves, and angles."""

    def __init__(self, sketch: Sketch, origin: Origin) -> None:
        self.inputs = {one.name: one for one in origin.inputs}
        lone = [x for x in origin.inputs if x.angle and x.word and x.word.part is None]
        self.lone = {f" {x.name}": x for x in lone}  # angles that are numbers to begin with
        variables = [Variable(x.name, x.angle, x.low, x.high) for x in origin.inputs]
        numbers = [Variable(name, angle=False, low=x.low, high=x.high)
                   for name, x in self.lone.items()]  # fmt: skip
        self.space = Space([*variables, *numbers])
        self.sums: dict[int, Sum] = {}
        self.angles: dict[int, Angle] = {}
        for place, node in enumerate(sketch.nodes):
            found = self._value(node)
            if isinstance(found, Angle):
                self.angles[place] = found
            else:
                self.sums[place] = found

    def _value(self, node: Node) -> Sum | Angle:
        if isinstance(node, Given):
            return self._given(node)
        if isinstance(node, Turns):
            return self._turns(node)
        if isinstance(node, Waves):
            return self._waves(node, self.angles[node.source])
        if isinstance(node, Powers):
            found, x = number(0), self.sums[node.source]
            for c in reversed(node.coefficients):
                found = found * x + number(c)
            return found
        if isinstance(node, Curve):
            raise NotCoveredError("a curve is no sum of waves")
        found = number(node.constant)
        for factor, read in node.addends:
            part = self.sums[read[0]]
            found = found + (part * self.sums[read[1]] if read[1:] else part).times(factor)
        return self._turning(found, node) if node.turning else found

    def _given(self, node: Given) -> Sum | Angle:
        one = self.inputs.get(node.name)
        if one is None or one.word is None or (one.word.part is not None) != node.angle:
            raise DoesNotHoldError(f"sketch: {node.name} is no input with such a word")
        low, high = arb(one.word.low), arb(one.word.high)
        if node.angle:
            return Angle({one.name: 1}, -low / (2 * arb.pi()) - 0.5)
        x = self.space.value(f" {one.name}" if one.angle else one.name)
        return (x - number((low + high) / 2)).times((1 << one.word.bits) / (high - low))

    def _turns(self, node: Turns) -> Angle:
        multiples: dict[str, int] = {}
        for multiple, place in node.items:
            for name, k in self.angles[place].multiples.items():
                multiples[name] = multiples.get(name, 0) + multiple * k
        offsets = (self.angles[place].offset * multiple for multiple, place in node.items)
        return Angle(multiples, sum(offsets, arb(0)))

    def _turning(self, found: Sum, node: Total) -> Angle:
        """Return a sum that counts parts of a turn as an angle: whole multiples, and the rest."""
        multiples, offset = {}, arb(0)
        for key, c in found.times(arb(2) ** -node.turning).parts.items():
            factors = [(self.lone[v.name], k) for v, k in self.space.exponents(key)
                       if v.name in self.lone]  # fmt: skip
            if not key:
                offset += c.real
                continue
            if len(factors) != 1 or factors[0][1] != 1 or key != self._key(factors[0][0]):
                raise NotCoveredError("an angle that is no sum of angles")
            one = factors[0][0]
            turns = c.real * 2 * arb.pi()
            multiples[one.name] = round(float(turns.mid()))
            beside = abs(turns - multiples[one.name]) * max(abs(one.low), abs(one.high))
            offset += (beside / (2 * arb.pi())) * arb(0, 1)
        return Angle(multiples, offset)

    def _key(self, one: Input) -> int:
        (key,) = self.space.value(f" {one.name}").parts
        return key

    def _waves(self, node: Waves, angle: Angle) -> Sum:
        found = number(0)
        for k, a, b in node.parts:
            for sign in (1, -1):
                wave = number(acb(a, sign * b) / 2 * turned(angle.offset * 2 * arb.pi() * k * sign))
                for name, multiple in angle.multiples.items():
                    wave = wave * self.space.wave(name, sign * k * multiple)
                found = found + wave
        return found


@lru_cache(maxsize=4)
def differences(origin: Section, section: Section) -> tuple[Difference, ...]:
    """Return by how much every output of a sketch may differ from what was asked."""
    asked, sketch, found = function_of(origin), read_sketch(section), []
    with balls():
        expansion = Expansion(sketch, read_origin(origin))
        for one in sketch.results:
            if one.name not in asked:
                raise DoesNotHoldError(f"sketch: {one.name} is no output of what was asked")
            said = expansion.sums[one.node].times(one.step) + number(one.middle)
            beside = asked[one.name] - said
            most = expansion.space.most(beside) / one.step
            found.append(Difference(one.name, float(most.upper()) * (1 + 2**-50), len(said.parts)))
            if not most < MOST_STEPS:
                raise DoesNotHoldError(_counterexample(one.name, beside, expansion.space, most))
    return tuple(found)


def _counterexample(name: str, beside: Sum, space: Space, most: arb) -> str:
    """Say which coefficient differs most."""
    key = max(beside.parts, key=lambda k: float(abs(beside.parts[k]).mid()))
    factors = (
        f"exp({k}i {v.name})" if v.angle else f"{v.name}^{k}" for v, k in space.exponents(key)
    )
    what, size = " ".join(factors) or "1", complex(beside.parts[key])
    return (
        f"sketch: {name} is another function: it may differ by {float(most.mid()):.3g} steps; the "
        f"coefficient of {what} is {size:.6g} too small"
    )


def check(load: LoadFiles) -> Iterator[Step]:
    """Yield what is checked of a load's section."""
    origin, section = load.section("origin"), load.section("sketch")
    name, method = "waves to sketch", "expansion, coefficients compared in balls"

    def same() -> Found:
        found = differences(origin, section)
        listed = ", ".join(f"{one.name} {one.steps:.2g}" for one in found)
        return Found(sum(one.cases for one in found), f"they differ by at most, in LSB: {listed}")

    try:
        yield checked(name, method, same)
    except NotCoveredError as error:
        yield Step(name, "not checked", note=str(error))
