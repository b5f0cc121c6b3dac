"""The largest absolute value of a coefficient over a box, including interior extrema.

One wave has a closed form. For a sum of waves, compass search from a grid finds a value that is
attained. In up to three variables, branch and bound with second-order bounds proves it; in more
the proof is too expensive, and the sum of amplitudes is the bound.
"""

from __future__ import annotations

import functools
import itertools
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from boolcomp.problem.problem import climb

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from boolcomp.problem.problem import Problem
    from boolcomp.problem.words import Input
    from boolcomp.terms.terms import Term, Wave

TOLERANCE = 1e-10  # relative gap between attained value and proved bound
MOST_BOXES = 20_000  # of branch and bound at a time
COARSE = 1 / 128  # step at which Newton's method replaces compass search
NEWTON_STEPS = 12
NEAR, FLAT = 1e-5, 1e-9
MOST_ROUNDS = 300  # of branch and bound
STARTS = 16
OUTPUT_STARTS = 16
PROVED_VARIABLES = 3


@dataclass(frozen=True, slots=True)
class Extreme:
    """A value that |f| attains in the box, and an upper bound of |f|."""

    value: float
    bound: float

    @property
    def exact(self) -> bool:
        return self.bound - self.value <= 2 * TOLERANCE * self.bound


@functools.lru_cache(maxsize=4096)
def height(term: Term) -> float:
    return _attained(term.waves(), term.arguments) * _factor_height(term)


@functools.lru_cache(maxsize=4096)
def amplitude(term: Term) -> Extreme:
    """Return the largest |term| over the ranges of its variables."""
    coefficient = largest(term.waves(), term.arguments)
    factor = _factor_height(term)
    return Extreme(coefficient.value * factor, coefficient.bound * factor)


def _factor_height(term: Term) -> float:
    return math.prod(variable.reach.magnitude for variable in term.factor)


def ceiling(term: Term) -> float:
    return _factor_height(term) * _WaveArrays.of(term.waves(), term.arguments).ceiling()


def largest(waves: tuple[Wave, ...], variables: tuple[Input, ...]) -> Extreme:
    """Return the largest absolute value of a sum of waves over the variables' ranges."""
    value = _attained(waves, variables)
    if not variables or _is_one_wave(waves):
        return Extreme(value, value)
    field = _WaveArrays.of(waves, variables)
    ceiling = field.ceiling()
    if ceiling - value <= TOLERANCE * ceiling:
        return Extreme(value, max(value, ceiling))
    if len(variables) > PROVED_VARIABLES:
        return Extreme(value, ceiling)
    return Extreme(value, _prove(field, value))


def _attained(waves: tuple[Wave, ...], variables: tuple[Input, ...]) -> float:
    if not variables:
        return abs(sum(wave.cosine for wave in waves))
    if _is_one_wave(waves):
        return _one_wave(waves[0], variables)
    # Halves of a term and symmetric entries of the inertia differ by a factor: one search for both.
    scale = math.ldexp(1, math.frexp(max(wave.amplitude for wave in waves))[1])
    scale = math.copysign(scale, waves[0].cosine or waves[0].sine)
    return _searched(tuple(wave.scaled(1 / scale) for wave in waves), variables) * abs(scale)


@functools.lru_cache(maxsize=4096)
def _searched(waves: tuple[Wave, ...], variables: tuple[Input, ...]) -> float:
    return _WaveArrays.of(waves, variables).climb()


def _is_one_wave(waves: tuple[Wave, ...]) -> bool:
    return len(waves) == 1 and not waves[0].powers


def _one_wave(wave: Wave, variables: tuple[Input, ...]) -> float:
    """Return amplitude·max|cos(φ - φ0)| over an interval of φ."""
    ranges = {variable.name: variable.reach for variable in variables}
    ends = [sorted((k * ranges[name].low, k * ranges[name].high)) for name, k in wave.multiples]
    shift = math.atan2(wave.sine, wave.cosine)
    low, high = sum(e[0] for e in ends) - shift, sum(e[1] for e in ends) - shift
    if math.floor(high / math.pi + 1e-12) >= math.ceil(low / math.pi - 1e-12):
        return wave.amplitude
    return wave.amplitude * max(abs(math.cos(low)), abs(math.cos(high)))


@dataclass(frozen=True, slots=True)
class _WaveArrays:
    """Waves as arrays: f(x) = Σ_w (c_w cos(m_w·x) + s_w sin(m_w·x)) Π x^p_w over a box."""

    low: NDArray[np.float64]
    high: NDArray[np.float64]
    multiples: NDArray[np.float64]
    powers: NDArray[np.int64]
    cosine: NDArray[np.float64]
    sine: NDArray[np.float64]

    @staticmethod
    def of(waves: tuple[Wave, ...], variables: tuple[Input, ...]) -> _WaveArrays:
        place = {variable.name: k for k, variable in enumerate(variables)}
        multiples = np.zeros((len(waves), len(variables)))
        powers = np.zeros((len(waves), len(variables)), dtype=np.int64)
        for row, wave in enumerate(waves):
            for name, k in wave.multiples:
                multiples[row, place[name]] = k
            for name, power in wave.powers:
                powers[row, place[name]] = power
        return _WaveArrays(
            np.array([v.reach.low for v in variables]),
            np.array([v.reach.high for v in variables]),
            multiples,
            powers,
            np.array([wave.cosine for wave in waves]),
            np.array([wave.sine for wave in waves]),
        )

    def values(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        total = np.zeros(len(x))
        for part, curve in ((self.cosine, np.cos), (self.sine, np.sin)):
            kept = np.flatnonzero(part)  # most waves are either a cosine or a sine
            if len(kept):
                # einsum: these products are too small for the threads of a BLAS
                waves = curve(np.einsum("pa,wa->pw", x, self.multiples[kept]))
                if self.powers.any():
                    waves *= self._monomials(x, self.powers[kept])
                total += np.einsum("pw,w->p", waves, part[kept])
        return total

    def on_grid(self, lines: Sequence[NDArray[np.float64]]) -> NDArray[np.float64]:
        """Return the values on a grid, the last axis fastest: waves are products over axes."""
        sides = [self.cosine[None] - 1j * self.sine[None], np.ones((1, len(self.cosine)), complex)]
        for axis, line in enumerate(lines):
            factor = np.exp(1j * line[:, None] * self.multiples[:, axis])
            factor *= line[:, None] ** self.powers[:, axis]
            side = int(2 * axis >= len(lines))
            sides[side] = (sides[side][:, None] * factor).reshape(-1, len(self.cosine))
        return np.asarray(np.einsum("aw,bw->ab", *sides).real.ravel())

    def gradient(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        phase = x @ self.multiples.T
        cosine, sine = np.cos(phase), np.sin(phase)
        waves = self.cosine * cosine + self.sine * sine
        slopes = self.sine * cosine - self.cosine * sine
        monomials = self._monomials(x, self.powers)
        result = (slopes * monomials) @ self.multiples
        for axis in np.flatnonzero(self.powers.any(axis=0)):
            lower = _lowered(self.powers, int(axis))
            slope = self.powers[:, axis] * self._monomials(x, lower)
            result[:, axis] += (waves * slope).sum(axis=-1)
        return np.asarray(result)

    def curvature(self) -> NDArray[np.float64]:
        """Return bounds of |∂²f/∂x_i∂x_j| over the whole box."""
        amplitude = np.hypot(self.cosine, self.sine)
        reach = np.maximum(np.abs(self.low), np.abs(self.high))[None, :]
        axes = len(self.low)

        turns, powers = np.abs(self.multiples), self.powers
        result = np.zeros((axes, axes))
        for i, j in itertools.product(range(axes), repeat=2):
            once, twice = _lowered(powers, i), _lowered(_lowered(powers, i), j)
            both_turn = turns[:, i] * turns[:, j] * self._monomials(reach, powers)
            j_turns = turns[:, j] * powers[:, i] * self._monomials(reach, once)
            i_turns = turns[:, i] * powers[:, j] * self._monomials(reach, _lowered(powers, j))
            both_slide = powers[:, i] * once[:, j] * self._monomials(reach, twice)
            result[i, j] = (amplitude * (both_turn + i_turns + j_turns + both_slide)).sum()
        return result

    def ceiling(self) -> float:
        """Return an upper bound: the sum of amplitudes, each at the largest powers."""
        reach = np.maximum(np.abs(self.low), np.abs(self.high))[None, :]
        heights = np.hypot(self.cosine, self.sine) * self._monomials(reach, self.powers)
        return float(heights.sum())

    def climb(self) -> float:
        """Return the largest |f| found by compass search from a grid and Newton's method."""
        axes = len(self.low)
        each = max(3, round(4096 ** (1 / axes))) if axes > 1 else 64
        ends = zip(self.low, self.high, strict=True)
        lines = [np.linspace(low, high, min(each, 33)) for low, high in ends]
        grid = np.stack([a.ravel() for a in np.meshgrid(*lines, indexing="ij")], axis=-1)
        order = np.argsort(-np.abs(self.on_grid(lines)), kind="stable")[:STARTS]
        near, _ = climb(
            lambda x, _: np.abs(self.values(x)), grid[order], self.low, self.high, 1 / each, COARSE
        )
        return self._ascend(near)

    def _ascend(self, points: NDArray[np.float64]) -> float:
        """Return the largest |f| found by Newton's method inside the box."""
        axes, width = len(self.low), self.high - self.low
        best = np.abs(self.values(points))
        for _ in range(NEWTON_STEPS):
            sign = np.sign(self.values(points))[:, None]
            shifted = points[:, None, None] + np.stack([np.eye(axes), -np.eye(axes)]) * NEAR
            slopes = self.gradient(shifted.reshape(-1, axes)).reshape(-1, 2, axes, axes)
            curved = (slopes[:, 0] - slopes[:, 1]) / (2 * NEAR) * sign[:, None]
            slope = self.gradient(points) * sign
            stuck = (points <= self.low) & (slope < 0) | (points >= self.high) & (slope > 0)
            curved[stuck[:, :, None] | stuck[:, None, :]] = 0.0
            bends, axis = np.linalg.eigh((curved + curved.transpose(0, 2, 1)) / 2)
            # Uphill along every axis, also where the curvature is positive or nearly zero.
            bends = np.maximum(np.abs(bends), FLAT * np.abs(bends).max(axis=1, keepdims=True))
            along = np.einsum("pij,pi->pj", axis, np.where(stuck, 0.0, slope))
            step = np.einsum("pij,pj->pi", axis, along / np.maximum(bends, 1e-300))
            tried = np.clip(points + np.clip(step, -width, width), self.low, self.high)
            heights = np.abs(self.values(tried))
            better = heights > best
            points, best = np.where(better[:, None], tried, points), np.maximum(best, heights)
            if not better.any():
                break
        return float(best.max())

    @staticmethod
    def _monomials(x: NDArray[np.float64], powers: NDArray[np.int64]) -> NDArray[np.float64]:
        if not powers.any():
            return np.ones((1, len(powers)))
        return np.asarray(np.prod(x[:, None, :] ** powers[None, :, :], axis=-1))


def _lowered(powers: NDArray[np.int64], axis: int) -> NDArray[np.int64]:
    """Return the powers with one axis differentiated."""
    lower = powers.copy()
    lower[:, axis] = np.maximum(lower[:, axis] - 1, 0)
    return lower


def _prove(field: _WaveArrays, attained: float) -> float:
    """Return an upper bound of |f|, by branch and bound until no box exceeds `attained`."""
    curvature = field.curvature()
    target = attained * (1 + TOLERANCE)
    centres = (field.low + field.high)[None, :] / 2
    half = (field.high - field.low) / 2
    for _ in range(MOST_ROUNDS):
        reach = np.abs(field.values(centres)) + np.abs(field.gradient(centres)) @ half
        reach = reach + half @ curvature @ half / 2
        alive = reach > target
        if not alive.any():
            return target
        if alive.sum() > MOST_BOXES:
            break
        axis = int(np.argmax(half * np.sqrt(np.diag(curvature))))
        half = half.copy()
        half[axis] /= 2
        shift = np.zeros_like(half)
        shift[axis] = half[axis]
        centres = np.concatenate([centres[alive] - shift, centres[alive] + shift])
    return float(min(reach.max(), field.ceiling()))


@functools.lru_cache(maxsize=64)
def output_amplitudes(problem: Problem) -> tuple[float, ...]:
    """Return the largest size of every output that a seeded search finds, to 9 digits."""
    count = len(problem.outputs)
    low, high = problem.bounds()
    starts = np.random.default_rng(1988).uniform(low, high, size=(OUTPUT_STARTS, len(low)))
    place = np.repeat(np.arange(count), OUTPUT_STARTS)

    def height(x: NDArray[np.float64], rows: NDArray[np.int64]) -> NDArray[np.float64]:
        return np.abs(problem.exact(x)[np.arange(len(x)), place[rows]])

    _, heights = climb(height, np.tile(starts, (count, 1)), low, high, 0.25)
    return tuple(float(f"{best:.9g}") for best in heights.reshape(count, -1).max(axis=1))
