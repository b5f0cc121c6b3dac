"""Outputs as polynomials in linear variables whose coefficients are Fourier series of the angles.

All numbers are in units of words: a linear variable (any input but an angle) counts the cells of
its input word from the centre of its range, an angle is the turn its word stands for, an output
counts its own least significant bits. So every scale that remains between words that are to be
added is a power of two, or a constant of the problem.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from boolcomp.problem.interval import Interval
from boolcomp.problem.span import part_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from numpy.typing import NDArray

    from boolcomp.problem.problem import Input, Problem
    from boolcomp.terms.extract import Terms

Monomial = tuple[tuple[str, int], ...]  # (linear variable, power), sorted, powers positive
Angle = tuple[tuple[str, int], ...]  # (angle, multiple), sorted, never zero, the first positive
Series = dict[Angle, complex]  # f = Re Σ c·exp(i Σ multiple·angle); the empty angle is a number
Poly = dict[Monomial, Series]

NOISE = 1e-12  # a coefficient this small beside the largest is rounding error
WORD = 11  # bits: how far words count, at most, where a product has more than two of them
NEARLY = 1e-9  # of a power of two


@dataclass(frozen=True, slots=True)
class Quantity:
    """An input word: its name, the range that its cells divide, and whether it is an angle.

    The logic has to hold within `reach`. Of an angle that `wraps`, 2π + x is x. `group` is the
    place of its group. An `exact` one stands for the middles of its cells and nothing else.
    """

    name: str
    range: Interval
    bits: int
    turns: bool
    reach: Interval
    wraps: bool = False
    group: int = 0
    exact: bool = False

    @property
    def step(self) -> float:
        """The width of a cell."""
        return (self.range.high - self.range.low) / (1 << self.bits)

    @property
    def part(self) -> int | None:
        """The k of an angle over 2^-k of a turn, whose sums are sums of words; else None."""
        return part_of(self.range) if self.turns else None

    def cells(self, column: NDArray[np.float64]) -> NDArray[np.int64]:
        """Return the cells of values; what lies beyond saturates, or wraps."""
        cell = np.floor((column - self.range.low) / self.step).astype(np.int64)
        most = (1 << self.bits) - 1
        return cell & most if self.wraps else np.clip(cell, 0, most)


def quantities(problem: Problem, bits: Mapping[str, int]) -> dict[str, Quantity]:
    """Return every input of a problem by name, but those that are single values.

    `bits` gives the widths of inputs by name, or for all of a group.
    """
    widths = problem.by_input(bits)
    return {
        x.name: Quantity(
            x.name,
            _cells(x, widths[x.name]),
            widths[x.name],
            x.angle,
            x.reach,
            x.wraps,
            place,
            x.exact,
        )
        for place, group in enumerate(problem.groups)
        for x in problem.members(group)
        if not x.range.single
    }


def _cells(one: Input, bits: int) -> Interval:
    """Return what the cells of an input's word divide: half a step lower where zero has one."""
    half = one.word.width / (2 << bits) if one.format.tread else 0.0
    return Interval(one.word.low - half, one.word.high - half) if half else one.word


def output_polys(terms: Terms, words: Mapping[str, Quantity], steps: Iterable[float]) -> list[Poly]:
    """Return every output, in units of its step, over the words of its inputs."""
    polys = []
    for output, parts, step in zip(terms.problem.outputs, terms.outputs, steps, strict=True):
        total: Poly = {}
        if output.range.centre:
            add_into(total, {(): {(): complex(-output.range.centre)}}, 1 / step)
        for term in parts:
            for wave in term.waves():
                part = _wave_poly(wave.multiples, complex(wave.cosine, -wave.sine), words)
                for name, power in wave.powers:
                    part = times_power(part, shifted(words[name]), power)
                for variable in term.factor:
                    part = multiply(part, shifted(words[variable.name]))
                add_into(total, part, 1 / step)
        polys.append(pruned(total))
    return polys


def _wave_poly(multiples: Angle, coefficient: complex, words: Mapping[str, Quantity]) -> Poly:
    """Return a wave over the words' own turns: a word's angle is -π at its lowest border."""
    phase = 0.0
    for name, multiple in multiples:
        word = words[name]
        phase += multiple * (0.0 if word.part is None else word.range.low + math.pi)
    turned = coefficient * complex(np.exp(1j * phase)) if phase else coefficient
    return {(): {tuple(sorted(multiples)): turned}}


def shifted(word: Quantity) -> Poly:
    """Return a linear variable: the centre of its range and a cell for each unit of its word."""
    centre = word.range.centre
    poly: Poly = {((word.name, 1),): {(): complex(word.step)}}
    if centre:
        poly[()] = {(): complex(centre)}
    return poly


def multiply(one: Poly, linear: Poly) -> Poly:
    """Return a product with a polynomial whose coefficients are plain numbers."""
    result: Poly = {}
    for monomial, series in linear.items():
        factor = series[()].real
        for other, coefficients in one.items():
            powers = dict(other)
            for name, power in monomial:
                powers[name] = powers.get(name, 0) + power
            add_into(result, {tuple(sorted(powers.items())): coefficients}, factor)
    return result


def times_power(poly: Poly, linear: Poly, power: int) -> Poly:
    """Return `poly · linear^power`."""
    for _ in range(power):
        poly = multiply(poly, linear)
    return poly


def add_into(total: Poly, part: Poly, factor: float = 1.0) -> None:
    """Add `factor · part` to a polynomial that is being made."""
    for monomial, series in part.items():
        into = total.setdefault(monomial, {})
        for angle, coefficient in series.items():
            into[angle] = into.get(angle, 0) + factor * coefficient


def pruned(poly: Poly) -> Poly:
    """Return a polynomial without coefficients that are rounding error, in canonical order."""
    largest = max((abs(c) for s in poly.values() for c in s.values()), default=0.0)
    result: Poly = {}
    for monomial in sorted(poly):
        # Words count to some 2^9 to 2^11, so coefficients of many of them are small, and no error.
        factors = sum(power for _, power in monomial)
        least = math.ldexp(NOISE * largest, -WORD * max(0, factors - 2))
        series = {a: c for a, c in sorted(poly[monomial].items()) if abs(c) > least}
        if series:
            result[monomial] = series
    return result


def substituted(poly: Poly, name: str, linear: Poly) -> Poly:
    """Return a polynomial with a linear variable replaced by a combination of others."""
    result: Poly = {}
    for monomial, series in poly.items():
        powers = dict(monomial)
        power = powers.pop(name, 0)
        part: Poly = {tuple(sorted(powers.items())): series}
        add_into(result, times_power(part, linear, power))
    return pruned(result)


def divided(poly: Poly, name: str) -> tuple[Poly, Poly]:
    """Return (quotient, rest) with poly = rest + name·quotient, the rest free of the variable."""
    quotient: Poly = {}
    rest: Poly = {}
    for monomial, series in poly.items():
        powers = dict(monomial)
        if name not in powers:
            rest[monomial] = series
            continue
        powers[name] -= 1
        quotient[tuple((n, p) for n, p in sorted(powers.items()) if p)] = series
    return quotient, rest


def scaled(poly: Poly, factor: float) -> Poly:
    """Return a polynomial times a number."""
    return {m: {a: factor * c for a, c in s.items()} for m, s in poly.items()}


def variables(poly: Poly) -> tuple[str, ...]:
    """Return its linear variables, sorted."""
    return tuple(sorted({name for monomial in poly for name, _ in monomial}))


def constant(poly: Poly) -> float:
    """Return the number that stands alone in a polynomial."""
    return poly.get((), {}).get((), 0j).real


def without_constant(poly: Poly) -> Poly:
    """Return a polynomial without the number that stands alone in it."""
    result = {m: dict(s) for m, s in poly.items()}
    if () in result and () in result[()]:
        del result[()][()]
        if not result[()]:
            del result[()]
    return result


def signed_digits(value: float, smallest: float, most: int = 16) -> tuple[float, ...]:
    """Return signed powers of two that sum to a number, to within `smallest`, largest first."""
    found: list[float] = []
    rest = value
    while abs(rest) > smallest and len(found) < most:
        power = 2.0 ** math.floor(math.log2(abs(rest) * 4 / 3) + NEARLY)
        found.append(math.copysign(power, rest))
        rest -= found[-1]
    return tuple(found)
