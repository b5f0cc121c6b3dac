"""Elementary functions of columns of floats, the same on every machine, with a proved error.

They are made of tables, which balls (`arb`) make, and of sums, products, quotients and roots, which
IEEE 754 rounds in one way. A column's values are off by at most `OFF` in units that each function
names. Where a table is read the rest r is at most half a place of it, so that Taylor's formula
ends after a few powers; what it leaves out, and all roundings, are below a tenth of what is stated.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from boolcomp.proof.bound.waves import precise

if TYPE_CHECKING:
    from collections.abc import Callable

    from flint import arb
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

OFF = 2.0**-46  # of 1, or of the value, as each function says
TURN_PARTS = 512  # of a turn, for sines
STEPS = 64  # in a factor of 2, of exponentials; in 1, of arcs
MANTISSAS = 256  # of logarithms, from a half to one
FARTHEST = 2.0**16  # of a sine's argument: beyond it any value may be
LARGEST, SMALLEST = 700.0, -700.0  # of an exponent


@lru_cache(maxsize=8)
def _table(kind: str) -> Floats:
    """Return the floats that are nearest to a function's values at its places."""
    ball = precise()
    values: list[arb]
    if kind == "sin":
        values = [(ball(2 * k) / TURN_PARTS).sin_pi() for k in range(TURN_PARTS)]
    elif kind == "exp":
        values = [(ball(k) / STEPS * ball(2).log()).exp() for k in range(STEPS)]
    elif kind == "log":
        values = [(ball(k) / MANTISSAS).log() for k in range(MANTISSAS // 2, MANTISSAS + 1)]
    else:
        values = [(ball(k) / STEPS).atan() for k in range(STEPS + 1)]
    return np.array([float(one) for one in values])


@lru_cache(maxsize=4)
def _parts(kind: str) -> tuple[float, float]:
    """Return a constant in two parts, the first of 26 bits."""
    ball = precise()
    value = 2 * ball.pi() / TURN_PARTS if kind == "turn" else ball(2).log() / STEPS
    first, exponent = math.frexp(float(value))
    head = math.ldexp(round(first * 2**26), exponent - 26)
    return head, float(value - ball(head))


def sine(x: Floats) -> Floats:
    """Return sines of |x| up to `FARTHEST`, `OFF` off."""
    return _turned(x, 0)


def cosine(x: Floats) -> Floats:
    """Return cosines of |x| up to `FARTHEST`, `OFF` off."""
    return _turned(x, TURN_PARTS // 4)


def _turned(x: Floats, quarter: int) -> Floats:
    head, tail = _parts("turn")
    places = np.rint(x / head)
    rest = (x - places * head) - places * tail
    place = places.astype(np.int64) + quarter
    near = _table("sin")
    s, c = near[place % TURN_PARTS], near[(place + TURN_PARTS // 4) % TURN_PARTS]
    square = rest * rest
    odd = rest * (1 - square * (1 / 6 - square / 120))
    even = square * (0.5 - square / 24)
    return s + (c * odd - s * even)


def exponential(x: Floats) -> Floats:
    """Return exponentials of x from `SMALLEST` to `LARGEST`, off by `OFF` of themselves."""
    head, tail = _parts("exp")
    places = np.rint(x / head)
    rest = (x - places * head) - places * tail
    place = places.astype(np.int64)
    near = _table("exp")
    power = rest * (1 + rest * (0.5 + rest * (1 / 6 + rest * (1 / 24 + rest / 120))))
    base = near[place % STEPS]
    return np.asarray(np.ldexp(base + base * power, (place // STEPS).astype(np.int32)))


def logarithm(x: Floats) -> Floats:
    """Return logarithms of normal x > 0, off by `OFF` of 1 and of themselves."""
    mantissa, exponent = np.frexp(x)
    place = np.rint(mantissa * MANTISSAS)
    at = place / MANTISSAS
    rest = (mantissa - at) / at
    near = _table("log")
    power = 1 / 4 - rest * (1 / 5 - rest / 6)
    own = rest * (1 - rest * (0.5 - rest * (1 / 3 - rest * power)))
    first = near[place.astype(np.int64) - MANTISSAS // 2]
    return np.asarray(exponent * near[0] * -1.0 + (first + own))


def arc(x: Floats) -> Floats:
    """Return angles whose tangent is x, any float, `OFF` off."""
    size = np.abs(x)
    far = size > 1
    with np.errstate(divide="ignore"):
        inner = np.where(far, 1 / np.where(far, size, 1.0), size)
    place = np.nan_to_num(np.rint(inner * STEPS))
    at = place / STEPS
    rest = (inner - at) / (1 + inner * at)
    square = rest * rest
    power = rest * (1 - square * (1 / 3 - square * (1 / 5 - square / 7)))
    near = _table("atan")
    found = near[place.astype(np.int64)] + power
    return np.asarray(np.copysign(np.where(far, math.pi / 2 - found, found), x))


def arc_sine(x: Floats) -> Floats:
    """Return angles whose sine is x, from -1 to 1, `OFF` off."""
    with np.errstate(divide="ignore"):
        return arc(x / np.sqrt((1 - x) * (1 + x)))


def arc_cosine(x: Floats) -> Floats:
    """Return angles whose cosine is x, from -1 to 1, `OFF` off."""
    with np.errstate(divide="ignore"):
        return 2 * arc(np.sqrt((1 - x) / (1 + x)))


def hyperbolic(x: Floats) -> Floats:
    """Return hyperbolic tangents of any x, `OFF` off."""
    twice = np.minimum(2 * np.abs(x), 80.0)
    return np.asarray(np.copysign(1 - 2 / (exponential(twice) + 1), x))


def angle_of(y: Floats, x: Floats) -> Floats:
    """Return the angle of the point (x, y), in -π .. π, `OFF` off; of (0, 0) it is 0."""
    with np.errstate(divide="ignore", invalid="ignore"):
        slope = arc(np.abs(y) / np.abs(x))
    slope = np.where((y == 0) & (x == 0), 0.0, slope)
    return np.asarray(np.copysign(np.where(x < 0, math.pi - slope, slope), y))


FUNCTIONS: dict[str, Callable[[Floats], Floats]] = {
    "exp": exponential,
    "log": logarithm,
    "atan": arc,
    "asin": arc_sine,
    "acos": arc_cosine,
    "tanh": hyperbolic,
}
