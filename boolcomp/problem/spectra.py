"""Functions as polynomials of some inputs, whose coefficients are Fourier sums over the others.

What terms are made of. A coefficient is a `Series` over axes, which are inputs: an angle has
harmonics, any other input powers. A maker that samples a function takes a transform of the samples,
whose axes have harmonics in the order of `numpy.fft.fftfreq`, or powers 0, 1, 2; what is not
rounding of it becomes a series (`sparse`).
"""

from __future__ import annotations

import cmath
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from boolcomp.problem.expressions.straight import Straight
    from boolcomp.problem.problem import Input

    Complex = NDArray[np.complex128]

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
