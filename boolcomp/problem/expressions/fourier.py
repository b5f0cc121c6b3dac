"""Sums of waves times powers, as numbers that add and multiply.

An element is Σ c · exp(i Σ k·angle) · Π x^p over the inputs of a problem: conjugate pairs make the
waves. Such sums add, multiply and negate, and a sine or cosine of whole multiples of angles is one,
so whatever is written over any algebra (`dynamics/algebra.py`) gives the spectra of its results.

A key packs one small number an input, a harmonic or a power: keys of a product are sums of keys.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from boolcomp.common.errors import UsageError
from boolcomp.problem.angles import exact_cosine, exact_sine
from boolcomp.problem.expressions.algebra import Constant
from boolcomp.problem.spectra import Summand, spectra_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from boolcomp.problem.problem import Input
    from boolcomp.problem.spectra import Spectra

BITS = 8  # of a number in a key, its sign among them
HALF = 1 << (BITS - 1)
DUST = 1e-14  # of what was added, or of the largest product: what cancels is gone


@dataclass(frozen=True, slots=True, eq=False)
class WaveSum:
    """A sum of waves times powers: its complex coefficients by key, none of them zero."""

    parts: Mapping[int, complex]

    def __add__(self, other: Any) -> WaveSum:
        parts = _parts(other)
        return NotImplemented if parts is None else self._plus(parts, 1.0)

    __radd__ = __add__

    def __sub__(self, other: Any) -> WaveSum:
        parts = _parts(other)
        return NotImplemented if parts is None else self._plus(parts, -1.0)

    def __rsub__(self, other: Any) -> WaveSum:
        parts = _parts(other)
        return NotImplemented if parts is None else (-self)._plus(parts, 1.0)

    def __mul__(self, other: Any) -> WaveSum:
        parts = _parts(other)
        if parts is None:
            return NotImplemented
        found: dict[int, complex] = {}
        for one, c in self.parts.items():
            for two, d in parts.items():
                key = one + two
                found[key] = found.get(key, 0) + c * d
        least = DUST * _largest(self.parts) * _largest(parts)
        return WaveSum({key: c for key, c in found.items() if abs(c) > least})

    __rmul__ = __mul__

    def __neg__(self) -> WaveSum:
        return WaveSum({key: -c for key, c in self.parts.items()})

    def _plus(self, parts: Mapping[int, complex], sign: float) -> WaveSum:
        found = dict(self.parts)
        for key, c in parts.items():
            if key not in found:
                found[key] = sign * c
                continue
            here = found[key]
            total = here + sign * c
            if abs(total) > DUST * (abs(here) + abs(c)):
                found[key] = total
            else:
                del found[key]
        return WaveSum(found)


@dataclass(frozen=True, slots=True, eq=False)
class Angle:
    """A sum of whole multiples of angles, and a constant: it has a sine and a cosine, no value."""

    key: int
    phase: float = 0.0

    def __add__(self, other: Any) -> Angle:
        if isinstance(other, Angle):
            return Angle(self.key + other.key, self.phase + other.phase)
        if isinstance(other, (int, float)):
            return Angle(self.key, self.phase + other)
        return NotImplemented

    __radd__ = __add__

    def __neg__(self) -> Angle:
        return Angle(-self.key, -self.phase)

    def __sub__(self, other: Any) -> Angle:
        turned: Angle = NotImplemented if isinstance(other, WaveSum) else self + -other
        return turned

    def __rsub__(self, other: Any) -> Angle:
        turned: Angle = -self + other
        return turned

    def __mul__(self, other: Any) -> Angle:
        if isinstance(other, (int, float)) and other == int(other):
            return Angle(self.key * int(other), self.phase * other)
        return NotImplemented

    __rmul__ = __mul__


@dataclass(frozen=True, slots=True)
class Harmonics:
    """The algebra of sums of waves over these inputs."""

    inputs: tuple[Input, ...]

    def input(self, one: Input) -> WaveSum | Angle:
        """Return an input as an element: an angle where it is one."""
        key = 1 << (BITS * self.inputs.index(one))
        return Angle(key) if one.angle else WaveSum({key: 1.0})

    def constant(self, value: float) -> WaveSum:
        """Return a number as an element."""
        return WaveSum({0: complex(value)} if value else {})

    def cosine(self, x: Any) -> WaveSum:
        """Return the cosine of an angle."""
        return self._wave(x, 1.0, 0.0)

    def sine(self, x: Any) -> WaveSum:
        """Return the sine of an angle."""
        return self._wave(x, 0.0, 1.0)

    def sign(self, x: Any) -> WaveSum:
        """Refuse: the sign of a sum of waves is none."""
        del x
        raise UsageError("a sign is no sum of waves: it needs a table of its own")

    def _wave(self, x: Any, cosine: float, sine: float) -> WaveSum:
        """Return cosine·cos x + sine·sin x."""
        if not isinstance(x, Angle):
            raise UsageError("only sums of whole multiples of angles have waves")
        cos, sin = exact_cosine(x.phase), exact_sine(x.phase)
        c = complex(cosine * cos + sine * sin, cosine * sin - sine * cos) / 2
        if not x.key:
            return self.constant(2 * c.real)
        return WaveSum({x.key: c, -x.key: c.conjugate()})

    def derivative(self, element: Any, one: Input) -> WaveSum:
        """Return the derivative of an element in an input."""
        place = self.inputs.index(one)
        unit = 1 << (BITS * place)
        found: dict[int, complex] = {}
        for key, c in (_parts(element) or {}).items():
            k = self.numbers(key)[place]
            if k:
                found[key if one.angle else key - unit] = k * c * (1j if one.angle else 1)
        return WaveSum(found)

    def numbers(self, key: int) -> tuple[int, ...]:
        """Return the harmonic or power of every input that a key stands for."""
        found = []
        for _ in self.inputs:
            k = (key + HALF) % (2 * HALF) - HALF
            found.append(k)
            key = (key - k) >> BITS
        return tuple(found)

    def spectra(
        self, axes: tuple[Input, ...], elements: Sequence[Any], scale: float | None = None
    ) -> Spectra:
        """Return elements as spectra over some inputs, all angles among them; others are factors.

        `scale` is the size of the largest coefficient, unless it is given.
        """
        outputs = [self._summands(axes, _parts(element) or {}) for element in elements]
        sizes = (max(map(abs, x.coefficient.values())) for each in outputs for x in each)
        return spectra_of(axes, outputs, scale or max(sizes, default=1.0))

    def _summands(self, axes: tuple[Input, ...], parts: Mapping[int, complex]) -> list[Summand]:
        """Return a summand for every product of inputs that are no axes: short ones first."""
        found: dict[tuple[Input, ...], dict[tuple[int, ...], complex]] = {}
        for key, c in parts.items():
            powers = dict(zip(self.inputs, self.numbers(key), strict=True))
            place = tuple(powers.pop(axis) for axis in axes)
            factor = tuple(one for one, power in powers.items() for _ in range(power))
            found.setdefault(factor, {})[place] = c

        def order(factor: tuple[Input, ...]) -> tuple[bool, int, int, list[int]]:
            places = [self.inputs.index(one) for one in factor]
            return not factor, len(set(factor)), len(factor), places

        return [Summand(factor, found[factor]) for factor in sorted(found, key=order)]


def _parts(x: Any) -> Mapping[int, complex] | None:
    """Return the coefficients of an element, or of a number; None of anything else."""
    if isinstance(x, WaveSum):
        return x.parts
    if isinstance(x, Constant):
        x = x.value
    if isinstance(x, (int, float)):
        return {0: complex(x)} if x else {}
    return None


def _largest(parts: Mapping[int, complex]) -> float:
    return max(map(abs, parts.values()), default=0.0)
