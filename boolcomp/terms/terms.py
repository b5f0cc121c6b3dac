"""Functions of position: waves in angle sums, and monomials in single sines and cosines."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from boolcomp.base.errors import number
from boolcomp.problem.problem import name_order

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from numpy.typing import NDArray

Order = tuple[str, int]
Exponents = tuple[tuple[str, int], ...]  # (variable, how often), in their order, never zero


@dataclass(frozen=True, slots=True)
class Wave:
    """(cosine·cos φ + sine·sin φ) · Π d^power with φ = Σ multiple·angle, variables by name.

    The first multiple is positive, so that each wave has one name; without multiples the sine is 0.
    """

    multiples: Exponents
    powers: Exponents
    cosine: float
    sine: float = 0.0

    @property
    def amplitude(self) -> float:
        """The height of the wave: √(cosine² + sine²)."""
        return math.hypot(self.cosine, self.sine)

    @property
    def names(self) -> frozenset[str]:
        """The variables it depends on."""
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
        """Return the wave times a number."""
        return Wave(self.multiples, self.powers, factor * self.cosine, factor * self.sine)

    def waves(self) -> tuple[Wave, ...]:
        """Return itself: a monomial is a sum of waves, a wave already is one."""
        return (self,)

    def addends(self) -> list[str]:
        """Return the text of its cosine and of its sine, those that are not zero."""
        parts = []
        for amplitude, function in ((self.cosine, "cos"), (self.sine, "sin")):
            if amplitude or (function == "cos" and not self.sine):
                trig = [f"{function}{_angle_sum(self.multiples)}"] if self.multiples else []
                parts.append(" ".join([number(amplitude), *_powers(self.powers), *trig]))
        return parts

    def __str__(self) -> str:
        return signed_sum(self.addends())

    def phase_text(self) -> str:
        """Write it with one cosine and a phase: `5 cos(q1 - 2 q2 - 0.927295)`."""
        if not self.multiples or not self.sine or not self.cosine:
            return str(self)
        phase = math.atan2(-self.sine, self.cosine)
        inside = f"{_angle_sum(self.multiples).strip(' ()')} {phase:+.12g}"
        inside = inside.replace(" -", " - ").replace(" +", " + ")
        trig = f"cos({' '.join(inside.split())})"
        return " ".join([number(self.amplitude), *_powers(self.powers), trig])


@dataclass(frozen=True, slots=True)
class Monomial:
    """amplitude · Π cos^i q · sin^j q · Π d^power, with (angle, i, j) of each."""

    angles: tuple[tuple[str, int, int], ...]
    powers: Exponents
    amplitude: float

    @property
    def names(self) -> frozenset[str]:
        """The variables it depends on."""
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
        """Return the same function as a sum of waves (Euler's formula, multiplied out)."""
        spectra = [_spectrum(cosines, sines) for _, cosines, sines in self.angles]
        total: dict[Exponents, complex] = {}
        for choice in itertools.product(*(spectrum.items() for spectrum in spectra)):
            multiples = tuple(
                (name, k) for (name, _, _), (k, _) in zip(self.angles, choice, strict=True) if k
            )
            total[multiples] = total.get(multiples, 0) + math.prod(c for _, c in choice)
        return collect((m, self.powers, self.amplitude * c) for m, c in total.items())

    def addends(self) -> list[str]:
        """Return its text as the one addend it is."""
        return [str(self)]

    def __str__(self) -> str:
        parts = [number(self.amplitude), *_powers(self.powers)]
        for name, cosines, sines in self.angles:
            for function, power in (("cos", cosines), ("sin", sines)):
                if power:
                    parts.append(f"{function}{f'^{power}' if power > 1 else ''} {name}")
        return " ".join(parts)


def collect(parts: Iterable[tuple[Exponents, Exponents, complex]]) -> tuple[Wave, ...]:
    """Add Re(c·exp(iφ))·Πd^power over all parts: one wave each, in canonical order."""
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
    """Sort key: fewest angles first, then low names, low multiples, low powers."""
    size = sum(abs(k) for _, k in wave.multiples)
    turns = [(name_order(name), -k) for name, k in wave.multiples]
    return (size, turns, [(name_order(name), power) for name, power in wave.powers])


def signed_sum(parts: Iterable[str]) -> str:
    """Join addends with their signs: `4 + 5 cos q2 - 3 sin q2`."""
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
