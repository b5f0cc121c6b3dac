"""Checks the section `sketch` (see `nodes`): expanded, it is what is asked, but for its digits.

Both are sums of waves times powers; they differ by no more than the sizes of all differences of
coefficients, each times the largest values of its inputs. That is part of every error.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING

from flint import acb, arb

from boolcomp.checker.claims.nodes import Curve, Given, Powers, Total, Turns, Waves, read_sketch
from boolcomp.checker.functions.curves import EXACT, SAME, TURNING
from boolcomp.checker.functions.waves import Sum, number, precise, turned
from boolcomp.checker.origin import function_of, read_origin
from boolcomp.checker.steps import DoesNotHoldError, Found, NotCoveredError, Step, checked
from boolcomp.common.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from boolcomp.checker.claims.nodes import Node
    from boolcomp.checker.container import Section
    from boolcomp.checker.folder import LoadFiles
    from boolcomp.checker.functions.curves import Functions
    from boolcomp.checker.functions.waves import Space
    from boolcomp.checker.origin import Input

MOST_STEPS = 2.0**-6  # a sketch that differs by more is another function; less is an error


@dataclass(frozen=True, slots=True)
class Angle:
    """Σ multiple·angle over inputs, and an offset, in turns; a `turning` one but for whole ones."""

    multiples: dict[str, int]
    offset: arb
    turning: bool = True


@dataclass(frozen=True, slots=True)
class Difference:
    """By how much an output of the sketch may differ from what was asked, in steps."""

    name: str
    steps: float
    cases: int


class Expansion:
    """The nodes of a sketch as sums of waves over the inputs themselves, and angles."""

    def __init__(
        self, nodes: Mapping[int, Node], inputs: Mapping[str, Input], space: Functions
    ) -> None:
        self.inputs, self.space = inputs, space
        self.sums: dict[int, Sum] = {}
        self.angles: dict[int, Angle] = {}
        for place, node in nodes.items():
            found = self._value(node)
            if isinstance(found, Angle):
                self.angles[place] = found
            else:
                self.sums[place] = found

    def _value(self, node: Node) -> Sum | Angle:
        if isinstance(node, Given):
            return self.given(node)
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
            return self.curve(node)
        found = number(node.constant)
        for factor, read in node.addends:
            part = self.sums[read[0]]
            found = found + (part * self.sums[read[1]] if read[1:] else part).times(factor)
        return self.turning(found, node) if node.turning else found

    def given(self, node: Given) -> Sum | Angle:
        """Return an input as the sketch counts it: an angle in turns, cells of any other word."""
        one = self.inputs.get(node.name)
        if one is None or one.word is None or (one.word.part is not None) != node.angle:
            raise DoesNotHoldError(f"sketch: {node.name} is no input with such a word")
        low, high = arb(one.word.low), arb(one.word.high)
        if node.angle:
            return Angle({one.name: 1}, -low / (2 * arb.pi()) - 0.5, one.word.wraps)
        x = self.space.angle(one.name) if one.angle else self.space.value(one.name)
        return (x - number((low + high) / 2)).times((1 << one.word.bits) / (high - low))

    def _turns(self, node: Turns) -> Angle:
        multiples: dict[str, int] = {}
        for multiple, place in node.items:
            for name, k in self.angles[place].multiples.items():
                multiples[name] = multiples.get(name, 0) + multiple * k
        offsets = (self.angles[place].offset * multiple for multiple, place in node.items)
        return Angle(multiples, sum(offsets, arb(0)))

    def turning(self, found: Sum, node: Total) -> Angle:
        """Return a sum that counts parts of a turn as an angle: whole multiples, and the rest."""
        multiples, offset = {}, arb(0)
        for key, c in found.times(arb(2) ** -node.turning).parts.items():
            if not key:
                offset += c.real
                continue
            (one, power), *others = self.space.exponents(key)
            if others or power != 1 or one.name[0] != EXACT:
                raise NotCoveredError("an angle that is no sum of angles")
            turns = c.real * 2 * arb.pi()
            multiples[one.name[1:]] = round(float(turns.mid()))
            away = abs(turns - multiples[one.name[1:]]) * max(abs(one.low), abs(one.high))
            offset += away / (2 * arb.pi()) * arb(0, 1)
        return Angle(multiples, offset)

    def _waves(self, node: Waves, angle: Angle) -> Sum:
        found = number(0)
        for k, a, b in node.parts:
            for sign in (1, -1):
                wave = number(acb(a, sign * b) / 2 * turned(angle.offset * 2 * arb.pi() * k * sign))
                for name, multiple in angle.multiples.items():
                    wave = wave * self.space.wave(name, sign * k * multiple)
                found = found + wave
        return found

    def curve(self, node: Curve) -> Sum:
        """Return a curve, where it does not stand still: what its argument may be is known."""
        if node.angle:
            angle = self.angles[node.source]
            mark, x = TURNING if angle.turning else EXACT, number(angle.offset * 2 * arb.pi())
            for name, multiple in angle.multiples.items():
                x = x + self.space.angle(name, mark).times(multiple)
        else:
            x = self.sums[node.source]
        x = x.times(node.unit) + number(node.middle)
        if not math.isinf(node.high) or not math.isinf(node.low):
            low, high = self.space.reached(x)
            over = max(arb(0), node.low - low, high - node.high)
            if not over < SAME:
                raise NotCoveredError("a curve that stands still where its argument may go on")
            x = x + self.space.beside(over)
        values: list[Sum] = []
        for step in node.steps:
            values.append(self.space.step(step, values, x))
        if any(
            v.name[0] == TURNING for key in values[-1].parts for v, _ in self.space.exponents(key)
        ):
            raise NotCoveredError("a curve of an angle that does not repeat itself")
        return values[-1].times(node.factor)


@lru_cache(maxsize=4)
def differences(origin: Section, section: Section) -> tuple[Difference, ...]:
    """Return by how much every output of a sketch may differ from what was asked."""
    sketch, found = read_sketch(section), []
    with precise():
        space, asked = function_of(origin)
        inputs = {one.name: one for one in read_origin(origin).inputs}
        expansion = Expansion(dict(enumerate(sketch.nodes)), inputs, space)
        for one in sketch.results:
            if one.name not in asked:
                raise DoesNotHoldError(f"sketch: {one.name} is no output of what was asked")
            said = expansion.sums[one.node].times(one.step) + number(one.middle)
            beside = asked[one.name] - said
            most = space.most(beside) / one.step
            found.append(Difference(one.name, float(most.upper()) * (1 + 2**-50), len(said.parts)))
            if not most < MOST_STEPS:
                _refuse(one.name, beside, space, most)
    return tuple(found)


def beside_asked(load: LoadFiles, name: str) -> Fraction:
    """Return what an output's sketch errs by, in steps: 0 where that is not known (and said so)."""
    try:
        found = differences(load.section("origin"), load.section("sketch"))
    except (NotCoveredError, DataError):
        return Fraction(0)
    return Fraction(next(one.steps for one in found if one.name == name))


def _refuse(name: str, beside: Sum, space: Space, most: arb) -> None:
    """Say which coefficient differs most; a function may be one that was not recognised."""
    key = max(beside.parts, key=lambda k: float(space.most(Sum({k: beside.parts[k]}, 0)).mid()))
    listed = [(one.name, k, one.angle) for one, k in space.exponents(key)]
    factors = [f"exp({k}i {of})" if angle else f"{of}^{k}" for of, k, angle in listed]
    what, size = " ".join(factors) or "1", complex(beside.parts[key])
    if any(" " in of for of, _, _ in listed):
        raise NotCoveredError(f"{name}: {what} is not known to be the same on both sides")
    raise DoesNotHoldError(
        f"sketch: {name} is another function: it may differ by {float(most.mid()):.3g} steps; the "
        f"coefficient of {what} is {size:.6g} too small"
    )


def check_sketch(load: LoadFiles) -> Iterator[Step]:
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
