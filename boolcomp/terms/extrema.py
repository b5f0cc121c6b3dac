"""The exact height of a function of position over a box: interior extrema, not only corners.

One wave has a closed form. A sum of waves is searched: a grid of starts and compass steps find a
value that is attained; branch and bound with second-order bounds proves that nothing exceeds it,
in up to three variables (beyond them the proof would cost more than it is worth, and the bound
says how far the truth could lie).
"""

from __future__ import annotations

import functools
import itertools
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from boolcomp.dynamics import inverse_dynamics

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from boolcomp.robot import Robot
    from boolcomp.terms.term import Term
    from boolcomp.terms.variables import Variable
    from boolcomp.terms.waves import Wave

TOLERANCE = 1e-10  # relative gap between what is attained and what is proved
MOST_BOXES = 20_000  # alive at once before branch and bound gives up
MOST_ROUNDS = 300  # of compass search; a narrow ridge could be crept along for ever
STARTS = 16
TORQUE_STARTS = 16
PROVED_VARIABLES = 3


@dataclass(frozen=True, slots=True)
class Extreme:
    """`value` is attained by |f| somewhere in the box; nothing exceeds `bound`."""

    value: float
    bound: float

    @property
    def exact(self) -> bool:
        """Whether the two agree to ten digits."""
        return self.bound - self.value <= 2 * TOLERANCE * self.bound


@functools.lru_cache(maxsize=4096)
def amplitude(term: Term) -> Extreme:
    """Return the largest |term| over the ranges of its variables."""
    coefficient = largest(term.waves(), term.positions)
    factor = math.prod(variable.range.magnitude for variable in term.factor)
    return Extreme(coefficient.value * factor, coefficient.bound * factor)


def ceiling(term: Term) -> float:
    """Return the sum of the amplitudes of a term's waves: a cheap bound of its height."""
    factor = math.prod(variable.range.magnitude for variable in term.factor)
    return factor * _Field.of(term.waves(), term.positions).ceiling()


def largest(waves: tuple[Wave, ...], variables: tuple[Variable, ...]) -> Extreme:
    """Return the largest absolute value of a sum of waves over the variables' ranges."""
    if not variables:
        value = abs(sum(wave.cosine for wave in waves))
        return Extreme(value, value)
    if len(waves) == 1 and not waves[0].powers:
        value = _one_wave(waves[0], variables)
        return Extreme(value, value)
    field = _Field.of(waves, variables)
    value = field.climb()
    ceiling = field.ceiling()
    if ceiling - value <= TOLERANCE * ceiling:
        return Extreme(value, max(value, ceiling))
    if len(variables) > PROVED_VARIABLES:
        return Extreme(value, ceiling)
    return Extreme(value, _prove(field, value))


def climb(
    height: Callable[[NDArray[np.float64]], NDArray[np.float64]],
    starts: NDArray[np.float64],
    low: NDArray[np.float64],
    high: NDArray[np.float64],
    step: float,
) -> float:
    """Return the largest height that compass search finds from these starts inside a box.

    Every round tries a step either way along each axis, and its two ends (many extrema are
    corners); steps halve where nothing was better.
    """
    points, best = starts, height(starts)
    count, axes = points.shape
    steps = np.full(count, step)
    moves = np.concatenate([np.eye(axes), -np.eye(axes)]) * (high - low)
    rows = np.arange(count)
    for _ in range(MOST_ROUNDS):
        if steps.max() < 1e-8:
            break
        tried = np.clip(points[:, None] + steps[:, None, None] * moves, low, high)
        ends = np.repeat(points[:, None], 2 * axes, axis=1)
        ends[:, range(axes), range(axes)] = low
        ends[:, range(axes, 2 * axes), range(axes)] = high
        tried = np.concatenate([tried, ends], axis=1)
        heights = height(tried.reshape(-1, axes)).reshape(count, -1)
        choice = heights.argmax(axis=1)
        better = heights[rows, choice] > best
        points = np.where(better[:, None], tried[rows, choice], points)
        best = np.where(better, heights[rows, choice], best)
        steps = np.where(better, steps, steps / 2)
    return float(best.max())


def _one_wave(wave: Wave, variables: tuple[Variable, ...]) -> float:
    """Return amplitude·max|cos(φ - φ0)| where φ covers an interval."""
    ranges = {variable.joint: variable.range for variable in variables}
    ends = [sorted((k * ranges[j].low, k * ranges[j].high)) for j, k in wave.multiples]
    shift = math.atan2(wave.sine, wave.cosine)
    low, high = sum(e[0] for e in ends) - shift, sum(e[1] for e in ends) - shift
    if math.floor(high / math.pi + 1e-12) >= math.ceil(low / math.pi - 1e-12):
        return wave.amplitude
    return wave.amplitude * max(abs(math.cos(low)), abs(math.cos(high)))


@dataclass(frozen=True, slots=True)
class _Field:
    """The waves as arrays: f(x) = Σ_w (c_w cos(m_w·x) + s_w sin(m_w·x)) Π x^p_w over a box."""

    low: NDArray[np.float64]
    high: NDArray[np.float64]
    multiples: NDArray[np.float64]
    powers: NDArray[np.int64]
    cosine: NDArray[np.float64]
    sine: NDArray[np.float64]

    @staticmethod
    def of(waves: tuple[Wave, ...], variables: tuple[Variable, ...]) -> _Field:
        place = {variable.joint: k for k, variable in enumerate(variables)}
        multiples = np.zeros((len(waves), len(variables)))
        powers = np.zeros((len(waves), len(variables)), dtype=np.int64)
        for row, wave in enumerate(waves):
            for joint, k in wave.multiples:
                multiples[row, place[joint]] = k
            for joint, power in wave.powers:
                powers[row, place[joint]] = power
        return _Field(
            np.array([v.range.low for v in variables]),
            np.array([v.range.high for v in variables]),
            multiples,
            powers,
            np.array([wave.cosine for wave in waves]),
            np.array([wave.sine for wave in waves]),
        )

    def values(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        phase = x @ self.multiples.T
        waves = self.cosine * np.cos(phase) + self.sine * np.sin(phase)
        return np.asarray((waves * self._monomials(x, self.powers)).sum(axis=-1))

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
        """Return Σ amplitudes, each at the largest sliding positions: nothing exceeds it."""
        reach = np.maximum(np.abs(self.low), np.abs(self.high))[None, :]
        heights = np.hypot(self.cosine, self.sine) * self._monomials(reach, self.powers)
        return float(heights.sum())

    def climb(self) -> float:
        axes = len(self.low)
        each = max(3, round(4096 ** (1 / axes))) if axes > 1 else 64
        ends = zip(self.low, self.high, strict=True)
        lines = [np.linspace(low, high, min(each, 33)) for low, high in ends]
        grid = np.stack([a.ravel() for a in np.meshgrid(*lines, indexing="ij")], axis=-1)
        order = np.argsort(-np.abs(self.values(grid)), kind="stable")[:STARTS]
        return climb(lambda x: np.abs(self.values(x)), grid[order], self.low, self.high, 1 / each)

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


def _prove(field: _Field, attained: float) -> float:
    """Return an upper bound of |f|: branch and bound until no box could exceed what is attained."""
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


@functools.lru_cache(maxsize=256)
def torque_amplitude(robot: Robot, joint: int) -> float:
    """Return the largest |torque| of a joint (from one) that a seeded search finds, 9 digits.

    A search, not a proof: it tells how much of the torque's range the arm uses.
    """
    links = robot.links
    ranges = [
        interval
        for kind in ("position", "velocity", "acceleration")
        for interval in (getattr(link, kind) for link in links)
    ]
    low, high = np.array([r.low for r in ranges]), np.array([r.high for r in ranges])
    starts = np.random.default_rng(1988).uniform(low, high, size=(TORQUE_STARTS, len(ranges)))
    n = robot.joints

    def height(x: NDArray[np.float64]) -> NDArray[np.float64]:
        tau = inverse_dynamics(robot, x[:, :n], x[:, n : 2 * n], x[:, 2 * n :])
        return np.abs(tau[:, joint - 1])

    return float(f"{climb(height, starts, low, high, 0.25):.9g}")
