"""Sums of waves times powers, as numbers that add and multiply.

An element is Σ c · exp(i Σ k·angle) · Π x^p over the inputs of a problem: conjugate pairs make the
waves. Such sums add, multiply and negate, and a sine or cosine of whole multiples of angles is one,
so whatever is written over any algebra (`dynamics/algebra.py`) gives the spectra of its results.

A key packs one small number an input, a harmonic or a power: keys of a product are sums of keys.
"""

from __future__ import annotations

import cmath
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from boolcomp.base.errors import UsageError
from boolcomp.problem.expressions.algebra import Constant
from boolcomp.problem.words import exact_cosine, exact_sine

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from boolcomp.problem.expressions.tape import Straight, Tape
    from boolcomp.problem.problem import Input

    Complex = NDArray[np.complex128]
    Powers = tuple[int, ...]  # a harmonic or a power of every input


# --------------------------------------------------------------------------------------------------
# Functions as polynomials of some inputs, whose coefficients are Fourier sums over the others.
#
# What terms are made of. A coefficient is a `Series` over axes, which are inputs: an angle has
# harmonics, any other input powers. A maker that samples a function takes a transform of the
# samples, whose axes have harmonics in the order of `numpy.fft.fftfreq`, or powers 0, 1, 2; what is
# not rounding of it becomes a series (`sparse`).
# --------------------------------------------------------------------------------------------------


# Coefficients of Π exp(i k·angle) · Π x^k by the harmonics and powers k, one an axis.
Series: TypeAlias = "Mapping[tuple[int, ...], complex]"

NOISE = 1e-12  # below this, relative to the largest coefficient, an amplitude is rounding error
DIGITS = 13  # and above it this many digits are kept, so that 15.75 is 15.75 on every machine
NODES = np.array([0.0, 1.0, -1.0])  # where powers up to the second are sampled


@dataclass(frozen=True, slots=True, eq=False)
class Summand:
    """`factor · coefficient`: a product of inputs, and its coefficient over all axes."""

    factor: tuple[Input, ...]
    coefficient: Series


@dataclass(frozen=True, slots=True, eq=False)
class Spectra:
    """Every output as summands, over the same axes; up to `noise` a coefficient is rounding.

    `prepared` are steps that calculate those factors that are no inputs, by their names.
    """

    axes: tuple[Input, ...]
    outputs: tuple[tuple[Summand, ...], ...]
    noise: float
    decimals: int
    prepared: Straight | None = None


def spectra_of(
    axes: tuple[Input, ...], outputs: Sequence[Sequence[Summand]], scale: float
) -> Spectra:
    """Return spectra whose largest coefficient is about `scale`."""
    decimals = DIGITS - 1 - int(np.floor(np.log10(scale)))
    return Spectra(axes, tuple(map(tuple, outputs)), NOISE * scale, decimals)


def sparse(axes: Sequence[Input], spectrum: Complex, scale: float) -> Series:
    """Return a transform as a series, beside coefficients of about `scale`."""
    return {
        tuple(
            k - size if axis.angle and k > size // 2 else k
            for axis, k, size in zip(axes, index, spectrum.shape, strict=True)
        ): complex(spectrum[index])
        for index in map(tuple, np.argwhere(np.abs(spectrum) > NOISE * scale).tolist())
    }


def grid(axes: Sequence[Input], sizes: Sequence[int]) -> NDArray[np.float64]:
    """Return the points, (points, axes), at which a function's values tell its coefficients."""
    lines = [
        2 * np.pi * np.arange(size) / size if axis.angle else NODES[:size]
        for axis, size in zip(axes, sizes, strict=True)
    ]
    return np.stack([a.ravel() for a in np.meshgrid(*lines, indexing="ij")], axis=-1)


def transform(axes: Sequence[Input], sampled: NDArray[np.float64]) -> Complex:
    """Take a DFT along every angle's axis, and powers 1, d, d² from d = 0, 1, -1 elsewhere."""
    result = sampled.astype(np.complex128)
    for place, axis in enumerate(axes):
        if axis.angle:
            result = np.fft.fft(result, axis=place, norm="forward")
        elif result.shape[place] == len(NODES):
            at_0, at_1, at_minus_1 = np.moveaxis(result, place, 0)
            powers = [at_0, (at_1 - at_minus_1) / 2, (at_1 + at_minus_1) / 2 - at_0]
            result = np.stack(powers, axis=place)
    return result


def derivative(axes: Sequence[Input], spectrum: Complex, place: int) -> Complex:
    """Return the derivative of a function along one of its axes."""
    rows = np.moveaxis(spectrum, place, 0)
    size = len(rows)
    if size == 1:
        return np.zeros_like(spectrum)
    if axes[place].angle:
        harmonics = 1j * np.fft.fftfreq(size, 1 / size)
        rows = rows * harmonics.reshape(-1, *[1] * (rows.ndim - 1))
    else:
        rows = np.stack([rows[1], 2 * rows[2], np.zeros_like(rows[0])])
    return np.moveaxis(rows, 0, place)


def held(axes: Sequence[Input], series: Series) -> Series:
    """Return a series with axes that are single values put in."""
    found: dict[tuple[int, ...], complex] = {}
    for numbers, coefficient in series.items():
        left = []
        for axis, k in zip(axes, numbers, strict=True):
            left.append(0 if axis.range.single else k)
            if axis.range.single:
                value = axis.range.low
                coefficient *= cmath.exp(1j * value * k) if axis.angle else value**k  # noqa: PLW2901
        found[tuple(left)] = found.get(tuple(left), 0) + coefficient
    return found


# --------------------------------------------------------------------------------------------------
# Sums of waves times powers, as numbers that add and multiply.
# --------------------------------------------------------------------------------------------------


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


# --------------------------------------------------------------------------------------------------
# Sums of waves times powers as steps: every input but angles is taken out once, as Horner does.
# --------------------------------------------------------------------------------------------------


if TYPE_CHECKING:
    Parts = Mapping[Powers, complex]


LEAST = 1e-13  # of the largest coefficient: less is rounding


def steps_of(space: Harmonics, element: Any, tape: Tape, wires: Sequence[Any]) -> Any:
    """Record an element of sums of waves on a tape; `wires` are the inputs, in their order."""
    parts = element.parts if isinstance(element, WaveSum) else {0: complex(element)}
    most = max(map(abs, parts.values()), default=0.0)
    named = {space.numbers(key): c for key, c in parts.items() if abs(c) > LEAST * most}
    return _Recorder(space, tape, wires).sum(named)


class _Recorder:
    def __init__(self, space: Harmonics, tape: Tape, wires: Sequence[Any]) -> None:
        self.tape, self.wires = tape, wires
        self.linear = [k for k, one in enumerate(space.inputs) if not one.angle]

    def sum(self, parts: Parts) -> Any:
        """Record P = P0 + v·P1, where v is the input that most of it has."""
        often = Counter(k for powers in parts for k in self.linear if powers[k])
        if not often:
            return self._waves(parts)
        place = min(often, key=lambda k: (-often[k], k))
        rest = {powers: c for powers, c in parts.items() if not powers[place]}
        quotient = {
            (*powers[:place], powers[place] - 1, *powers[place + 1 :]): c
            for powers, c in parts.items()
            if powers[place]
        }
        product = self.wires[place] * self.sum(quotient)
        return product + self.sum(rest) if rest else product

    def _waves(self, parts: Parts) -> Any:
        total: Any = self.tape.constant(0.0)
        for powers, c in sorted(parts.items()):
            first = next((k for k in powers if k), 0)
            if not first:
                total = total + c.real
            elif first > 0:  # of a pair the other one is its conjugate
                angle: Any = self.tape.constant(0.0)
                for wire, multiple in zip(self.wires, powers, strict=True):
                    angle = angle + wire * float(multiple)
                if c.real:
                    total = total + self.tape.cosine(angle) * (2 * c.real)
                if c.imag:
                    total = total - self.tape.sine(angle) * (2 * c.imag)
        return total
