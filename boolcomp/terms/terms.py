"""Waves of angle sums, monomials in sines and cosines, and terms made of them."""

from __future__ import annotations

import cmath
import itertools
import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from boolcomp.base.errors import number
from boolcomp.problem.problem import name_order

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from boolcomp.problem.words import Input


Order = tuple[str, int]
Exponents = tuple[tuple[str, int], ...]  # (variable, multiple or power), in order, without zeros


@dataclass(frozen=True, slots=True)
class Wave:
    """(cosine·cos φ + sine·sin φ) · Π d^power with φ = Σ multiple·angle, variables by name.

    The first multiple is positive, so that the form is unique; without multiples the sine is 0.
    """

    multiples: Exponents
    powers: Exponents
    cosine: float
    sine: float = 0.0

    @property
    def amplitude(self) -> float:
        return math.hypot(self.cosine, self.sine)

    @property
    def names(self) -> frozenset[str]:
        return frozenset(name for name, _ in (*self.multiples, *self.powers))

    def evaluate(self, values: Mapping[str, NDArray[np.float64]]) -> NDArray[np.float64]:
        """Return the wave at values given by name; the arrays broadcast."""
        result = np.asarray(self.cosine)
        if self.multiples:
            angle = sum(k * values[name] for name, k in self.multiples)
            result = np.asarray(0.0)
            if self.cosine:
                result = result + self.cosine * np.cos(angle)
            if self.sine:
                result = result + self.sine * np.sin(angle)
        for name, power in self.powers:
            result = result * values[name] ** power
        return result

    def scaled(self, factor: float) -> Wave:
        return Wave(self.multiples, self.powers, factor * self.cosine, factor * self.sine)

    def waves(self) -> tuple[Wave, ...]:
        return (self,)

    def addends(self) -> list[str]:
        """Return the texts of cosine and sine, without zeros."""
        parts = []
        for amplitude, function in ((self.cosine, "cos"), (self.sine, "sin")):
            if amplitude or (function == "cos" and not self.sine):
                trig = [f"{function}{_angle_sum(self.multiples)}"] if self.multiples else []
                parts.append(" ".join([number(amplitude), *_powers(self.powers), *trig]))
        return parts

    def __str__(self) -> str:
        return signed_sum(self.addends())

    def phase_text(self) -> str:
        """Return the text with one cosine and a phase: `5 cos(q1 - 2 q2 - 0.927295)`."""
        if not self.multiples or not self.sine or not self.cosine:
            return str(self)
        phase = math.atan2(-self.sine, self.cosine)
        inside = f"{_angle_sum(self.multiples).strip(' ()')} {phase:+.12g}"
        inside = inside.replace(" -", " - ").replace(" +", " + ")
        trig = f"cos({' '.join(inside.split())})"
        return " ".join([number(self.amplitude), *_powers(self.powers), trig])


@dataclass(frozen=True, slots=True)
class Monomial:
    """amplitude · Π cos^i q · sin^j q · Π d^power, with (angle, i, j) for each angle."""

    angles: tuple[tuple[str, int, int], ...]
    powers: Exponents
    amplitude: float

    @property
    def names(self) -> frozenset[str]:
        return frozenset([entry[0] for entry in self.angles] + [name for name, _ in self.powers])

    def evaluate(self, values: Mapping[str, NDArray[np.float64]]) -> NDArray[np.float64]:
        """Return the product at values given by name."""
        result = np.asarray(self.amplitude)
        for name, cosines, sines in self.angles:
            angle = values[name]
            result = result * np.cos(angle) ** cosines * np.sin(angle) ** sines
        for name, power in self.powers:
            result = result * values[name] ** power
        return result

    def waves(self) -> tuple[Wave, ...]:
        """Return the same function as a sum of waves, by Euler's formula."""
        spectra = [_spectrum(cosines, sines) for _, cosines, sines in self.angles]
        total: dict[Exponents, complex] = {}
        for choice in itertools.product(*(spectrum.items() for spectrum in spectra)):
            multiples = tuple(
                (name, k) for (name, _, _), (k, _) in zip(self.angles, choice, strict=True) if k
            )
            total[multiples] = total.get(multiples, 0) + math.prod(c for _, c in choice)
        return collect((m, self.powers, self.amplitude * c) for m, c in total.items())

    def addends(self) -> list[str]:
        return [str(self)]

    def __str__(self) -> str:
        parts = [number(self.amplitude), *_powers(self.powers)]
        for name, cosines, sines in self.angles:
            for function, power in (("cos", cosines), ("sin", sines)):
                if power:
                    parts.append(f"{function}{f'^{power}' if power > 1 else ''} {name}")
        return " ".join(parts)


def collect(parts: Iterable[tuple[Exponents, Exponents, complex]]) -> tuple[Wave, ...]:
    """Add Re(c·exp(iφ))·Πd^power over all parts, to waves in canonical order."""
    total: dict[tuple[Exponents, Exponents], complex] = {}
    for multiples, powers, coefficient in parts:
        flip = bool(multiples) and multiples[0][1] < 0
        key = (tuple((j, -k) for j, k in multiples) if flip else multiples, powers)
        total[key] = total.get(key, 0) + (coefficient.conjugate() if flip else coefficient)
    waves = (
        Wave(multiples, powers, c.real + 0.0, 0.0 - c.imag if multiples else 0.0)
        for (multiples, powers), c in total.items()
    )
    return tuple(sorted((w for w in waves if w.amplitude), key=wave_order))


def wave_order(wave: Wave) -> tuple[int, list[tuple[Order, int]], list[tuple[Order, int]]]:
    """Return a sort key: fewest angles first, then low names, low multiples, low powers."""
    size = sum(abs(k) for _, k in wave.multiples)
    turns = [(name_order(name), -k) for name, k in wave.multiples]
    return (size, turns, [(name_order(name), power) for name, power in wave.powers])


def signed_sum(parts: Iterable[str]) -> str:
    return " + ".join(parts).replace("+ -", "- ")


def _spectrum(cosines: int, sines: int) -> dict[int, complex]:
    """Return cos^i · sin^j as Σ c_k exp(i k q)."""
    spectrum: dict[int, complex] = {0: 1.0}
    steps = [((1, 0.5), (-1, 0.5))] * cosines + [((1, -0.5j), (-1, 0.5j))] * sines
    for step in steps:
        product: dict[int, complex] = {}
        for k, c in spectrum.items():
            for shift, factor in step:
                product[k + shift] = product.get(k + shift, 0) + c * factor
        spectrum = product
    return {k: c for k, c in spectrum.items() if c}


def _powers(powers: Exponents) -> list[str]:
    return [f"{name}^{power}" if power > 1 else name for name, power in powers]


def _angle_sum(multiples: Exponents) -> str:
    parts = [f"{k} {name}".removeprefix("1 ").replace("-1 ", "-") for name, k in multiples]
    return f" {parts[0]}" if parts == [multiples[0][0]] else f"({signed_sum(parts)})"


# --------------------------------------------------------------------------------------------------
# Terms: a coefficient over some inputs times a factor of others.
# --------------------------------------------------------------------------------------------------

SAME = 1e-9  # of the largest coefficient: smaller differences are rounding errors


@dataclass(frozen=True, slots=True)
class Term:
    """`coefficient(arguments) · factor`: (15.75 + 10 cos q2) qdd1, in the unit of its output.

    `factor` are the inputs that multiply the coefficient (a square has its input twice). `output`
    is the title of the term's output.
    """

    name: str
    output: str
    coefficient: tuple[Wave | Monomial, ...]
    arguments: tuple[Input, ...]
    factor: tuple[Input, ...]

    @property
    def variables(self) -> tuple[Input, ...]:
        return (*self.arguments, *dict.fromkeys(self.factor))

    def evaluate(self, values: Mapping[str, NDArray[np.float64]]) -> NDArray[np.float64]:
        """Return the term at values given by variable name; the arrays broadcast."""
        total = sum((part.evaluate(values) for part in self.coefficient), np.asarray(0.0))
        for variable in self.factor:
            total = total * values[variable.name]
        return np.asarray(total)

    def waves(self) -> tuple[Wave, ...]:
        return tuple(wave for part in self.coefficient for wave in part.waves())

    def named(self, name: str) -> Term:
        return replace(self, name=name)

    def part(self, waves: Iterable[Wave]) -> Term:
        """Return the term with these waves only, and their variables."""
        kept = tuple(sorted(waves, key=wave_order))
        names = frozenset[str]().union(*(wave.names for wave in kept))
        arguments = tuple(v for v in self.arguments if v.name in names)
        return replace(self, coefficient=kept, arguments=arguments)

    @property
    def factor_text(self) -> str:
        """The factor as text: `qdd1`, `qd1 qd2`, `qd2^2` or ""."""
        names = [variable.name for variable in self.factor]
        if len(names) == 2 and names[0] == names[1]:
            return f"{names[0]}^2"
        return " ".join(names)

    def __str__(self) -> str:
        return self._text([text for part in self.coefficient for text in part.addends()])

    def phase_text(self) -> str:
        return self._text([wave.phase_text() for wave in self.waves()])

    def _text(self, addends: Sequence[str]) -> str:
        total = signed_sum(addends)
        if not self.factor:
            return total
        return f"{total if len(addends) == 1 else f'({total})'} {self.factor_text}"

    def parity(self, variable: Input) -> int:
        return self.reflection(variable, 0.0)

    def reflections(self, variable: Input) -> tuple[tuple[float, int], ...]:
        """Return every (point, sign) with f(2·point - x) = sign·f(x).

        Angles are tried at multiples of pi/4 up to 3 pi/4 (each is equivalent to itself plus pi),
        other variables at zero and at the centre of their range.
        """
        points = [0.0, variable.reach.centre]
        if variable.angle:
            points = [k * math.pi / 4 for k in range(4)]
        found = ((point, self.reflection(variable, point)) for point in dict.fromkeys(points))
        return tuple((point, sign) for point, sign in found if sign)

    def reflection(self, variable: Input, point: float) -> int:
        """Return s = ±1 if f(2·point - x) = s·f(x) for all x, else 0."""
        if variable in self.factor:
            return 0 if point else (-1) ** self.factor.count(variable)
        here = _coefficients(self.waves())
        slack = SAME * max((abs(c) for c in here.values()), default=0.0)
        mirrored: Iterable[tuple[tuple[Exponents, Exponents], complex]]
        if any(name == variable.name for _, powers in here for name, _ in powers):
            mirrored = _coefficients(collect(_mirrored(self.waves(), variable, point))).items()
        else:
            mirrored = _turned_over(here, variable.name, point)
        signs, missing = [1, -1], dict(here)
        for key, mirror in mirrored:
            one = missing.pop(key, 0.0)
            signs = [sign for sign in signs if abs(mirror - sign * one) <= slack]
            if not signs:
                return 0
        return signs[0] if all(abs(one) <= slack for one in missing.values()) else 0


def _coefficients(waves: Iterable[Wave]) -> dict[tuple[Exponents, Exponents], complex]:
    return {(wave.multiples, wave.powers): complex(wave.cosine, -wave.sine) for wave in waves}


def _turned_over(
    waves: Mapping[tuple[Exponents, Exponents], complex], angle: str, point: float
) -> Iterator[tuple[tuple[Exponents, Exponents], complex]]:
    """Yield waves with an angle x replaced by 2·point - x, one for each."""
    for (multiples, powers), coefficient in waves.items():
        turns = dict(multiples)
        k = turns.get(angle, 0)
        if not k:
            yield (multiples, powers), coefficient
            continue
        turns[angle] = -k
        turned = coefficient * cmath.exp(2j * k * point) if point else coefficient
        if multiples[0][0] == angle:  # the conjugate has a positive first multiple
            turns, turned = {j: -m for j, m in turns.items()}, turned.conjugate()
        yield (tuple(turns.items()), powers), turned


def _mirrored(
    waves: Iterable[Wave], variable: Input, point: float
) -> Iterator[tuple[Exponents, Exponents, complex]]:
    """Yield the waves with x, which is no angle, replaced by 2·point - x, as complex parts."""
    name = variable.name
    for wave in waves:
        coefficient = complex(wave.cosine, -wave.sine)
        power = dict(wave.powers).get(name, 0)
        others = tuple(entry for entry in wave.powers if entry[0] != name)
        for low in range(power + 1):  # (2p - x)^n by the binomial theorem
            weight = math.comb(power, low) * (2 * point) ** (power - low) * (-1) ** low
            if weight:
                powers = (*others, (name, low)) if low else others
                ordered = tuple(sorted(powers, key=lambda power: name_order(power[0])))
                yield wave.multiples, ordered, coefficient * weight


def evaluate_terms(
    terms: Iterable[Term], values: Mapping[str, NDArray[np.float64]]
) -> NDArray[np.float64]:
    """Return the sum of terms at values given by variable name."""
    shape = np.broadcast_shapes(*(v.shape for v in values.values()))
    return sum((term.evaluate(values) for term in terms), np.zeros(shape))
