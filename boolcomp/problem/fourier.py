"""Spectra of functions, and the algebra of sums of waves times powers, which derives them.

An element is Σ c · exp(i Σ k·angle) · Π x^p over the inputs of a problem; conjugate pairs are
waves. Such sums add, multiply and negate, and include sines and cosines of whole multiples of
angles. So a function over any algebra gives the spectra of its results.
"""

from __future__ import annotations

import cmath
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from boolcomp.base.errors import UsageError
from boolcomp.problem.algebra import Algebra, Constant
from boolcomp.problem.words import exact_cosine, exact_sine

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from boolcomp.problem.tape import Straight, Tape
    from boolcomp.problem.words import Input

    Complex = NDArray[np.complex128]

# --------------------------------------------------------------------------------------------------
# Spectra: polynomials of some inputs, whose coefficients are Fourier sums over the others.
#
# A coefficient is a `Series` over axes, which are inputs: an angle has harmonics, any other input
# powers. The transform of a sampled function has harmonics in the order of `numpy.fft.fftfreq`, or
# powers 0, 1, 2; `sparse` turns it into a series without rounding errors.
# --------------------------------------------------------------------------------------------------

# Coefficients of Π exp(i k·angle) · Π x^k by the harmonics and powers k, one per axis.
Series: TypeAlias = "Mapping[tuple[int, ...], complex]"

NOISE = 1e-12  # of the largest coefficient: smaller amplitudes are rounding errors
DIGITS = 13  # significant digits that are kept, so that 15.75 is 15.75 on every machine
NODES = np.array([0.0, 1.0, -1.0])  # samples that determine powers up to the second


@dataclass(frozen=True, slots=True, eq=False)
class Summand:
    """`factor · coefficient`: a product of inputs, and its coefficient over all axes."""

    factor: tuple[Input, ...]
    coefficient: Series


@dataclass(frozen=True, slots=True, eq=False)
class Spectra:
    """Every output as summands over the same axes; coefficients up to `noise` are rounding errors.

    `prepared` has the steps that calculate factors that are not inputs, by their names.
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
    return {
        tuple(
            k - size if axis.angle and k > size // 2 else k
            for axis, k, size in zip(axes, index, spectrum.shape, strict=True)
        ): complex(spectrum[index])
        for index in map(tuple, np.argwhere(np.abs(spectrum) > NOISE * scale).tolist())
    }


def grid(axes: Sequence[Input], sizes: Sequence[int]) -> NDArray[np.float64]:
    """Return the points, (points, axes), whose values determine a function's coefficients."""
    lines = [
        2 * np.pi * np.arange(size) / size if axis.angle else NODES[:size]
        for axis, size in zip(axes, sizes, strict=True)
    ]
    return np.stack([a.ravel() for a in np.meshgrid(*lines, indexing="ij")], axis=-1)


def transform(axes: Sequence[Input], sampled: NDArray[np.float64]) -> Complex:
    """Transform samples: by a DFT along angles, to powers 1, d, d² from d = 0, 1, -1 elsewhere."""
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


def with_constants(axes: Sequence[Input], series: Series) -> Series:
    """Return a series with the values of axes of a single value inserted."""
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
# The algebra of sums of waves times powers.
#
# A key packs one small number per input, a harmonic or a power: keys of a product are sums of keys.
# --------------------------------------------------------------------------------------------------

BITS = 8  # of a number in a key, including its sign
HALF = 1 << (BITS - 1)
DUST = 1e-14  # of the addends, or of the largest product: smaller results are rounding errors


@dataclass(frozen=True, slots=True, eq=False)
class WaveSum:
    """A sum of waves times powers: its complex coefficients, which are not zero, by key."""

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
    """A sum of whole multiples of angles and a constant, for sines and cosines only."""

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
class Harmonics(Algebra):
    """The algebra of sums of waves over these inputs."""

    inputs: tuple[Input, ...]

    def input(self, one: Input) -> WaveSum | Angle:
        """Return an input as an element."""
        key = 1 << (BITS * self.inputs.index(one))
        return Angle(key) if one.angle else WaveSum({key: 1.0})

    def constant(self, value: float) -> WaveSum:
        return WaveSum({0: complex(value)} if value else {})

    def function(self, kind: str, *x: Any) -> WaveSum:
        """Return a sine or cosine."""
        if kind not in ("sin", "cos"):
            raise UsageError(f"a {kind} is no sum of waves: it needs a separate table")
        (angle,) = x
        if not isinstance(angle, Angle):
            raise UsageError("only sums of whole multiples of angles have waves")
        cos, sin = exact_cosine(angle.phase), exact_sine(angle.phase)
        c = (complex(cos, sin) if kind == "cos" else complex(sin, 0.0 - cos)) / 2
        if not angle.key:
            return self.constant(2 * c.real)
        return WaveSum({angle.key: c, -angle.key: c.conjugate()})

    def derivative(self, element: Any, one: Input) -> WaveSum:
        """Return the derivative of an element with respect to an input."""
        place = self.inputs.index(one)
        unit = 1 << (BITS * place)
        found: dict[int, complex] = {}
        for key, c in (_parts(element) or {}).items():
            k = self.numbers(key)[place]
            if k:
                found[key if one.angle else key - unit] = k * c * (1j if one.angle else 1)
        return WaveSum(found)

    def numbers(self, key: int) -> tuple[int, ...]:
        """Unpack a key to the harmonic or power of every input."""
        found = []
        for _ in self.inputs:
            k = (key + HALF) % (2 * HALF) - HALF
            found.append(k)
            key = (key - k) >> BITS
        return tuple(found)

    def spectra(
        self, axes: tuple[Input, ...], elements: Sequence[Any], scale: float | None = None
    ) -> Spectra:
        """Return elements as spectra over axes, which include all angles; other inputs are factors.

        `scale` is by default the size of the largest coefficient.
        """
        outputs = [self._summands(axes, _parts(element) or {}) for element in elements]
        sizes = (max(map(abs, x.coefficient.values())) for each in outputs for x in each)
        return spectra_of(axes, outputs, scale or max(sizes, default=1.0))

    def _summands(self, axes: tuple[Input, ...], parts: Mapping[int, complex]) -> list[Summand]:
        """Return a summand for every product of inputs that are not axes, short ones first."""
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
    """Return the coefficients of an element or a number, None for other objects."""
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
# Sums of waves times powers as steps, by Horner's method for all inputs but angles.
# --------------------------------------------------------------------------------------------------

LEAST = 1e-13  # of the largest coefficient: smaller ones are rounding errors


def steps_of(space: Harmonics, element: Any, tape: Tape, wires: Sequence[Any]) -> Any:
    """Record an element of sums of waves on a tape; `wires` are the inputs, in their order."""
    parts = element.parts if isinstance(element, WaveSum) else {0: complex(element)}
    least = LEAST * _largest(parts)
    named = {space.numbers(key): c for key, c in parts.items() if abs(c) > least}
    return _Recorder(space, tape, wires).sum(named)


class _Recorder:
    def __init__(self, space: Harmonics, tape: Tape, wires: Sequence[Any]) -> None:
        self.tape, self.wires = tape, wires
        self.linear = [k for k, one in enumerate(space.inputs) if not one.angle]

    def sum(self, parts: Series) -> Any:
        """Record P = P0 + v·P1, where v is the most frequent input."""
        counts = Counter(k for powers in parts for k in self.linear if powers[k])
        if not counts:
            return self._waves(parts)
        place = min(counts, key=lambda k: (-counts[k], k))
        rest = {powers: c for powers, c in parts.items() if not powers[place]}
        quotient = {
            (*powers[:place], powers[place] - 1, *powers[place + 1 :]): c
            for powers, c in parts.items()
            if powers[place]
        }
        product = self.wires[place] * self.sum(quotient)
        return product + self.sum(rest) if rest else product

    def _waves(self, parts: Series) -> Any:
        total: Any = self.tape.constant(0.0)
        for powers, c in sorted(parts.items()):
            first = next((k for k in powers if k), 0)
            if not first:
                total = total + c.real
            elif first > 0:  # the other one of the pair is its conjugate
                angle: Any = self.tape.constant(0.0)
                for wire, multiple in zip(self.wires, powers, strict=True):
                    angle = angle + wire * float(multiple)
                if c.real:
                    total = total + self.tape.cosine(angle) * (2 * c.real)
                if c.imag:
                    total = total - self.tape.sine(angle) * (2 * c.imag)
        return total
