"""Enclosures in fixed-point arithmetic, harmonics on grids, and reproducible elementary functions.

Elementary functions of float columns are the same on every machine. They consist of tables, made by
ball arithmetic (`arb`), and of operations whose rounding IEEE 754 defines. Their errors are at most
`OFF`, in units that each function states. With a table, the rest r is at most half a table step,
and a few terms of Taylor's series suffice. The truncation and all rounding errors together are
below a tenth of the stated error.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from flint import arb
    from numpy.typing import NDArray

    Whole = NDArray[np.object_]
    Floats = NDArray[np.float64]


# --------------------------------------------------------------------------------------------------
# Enclosures of real numbers.
#
# Their ends are integers in units of 2^-80: sums are exact, products are rounded outward.
# Irrational numbers are converted from balls (`arb`), and rounded outward once.
# --------------------------------------------------------------------------------------------------

PLACES = 80  # the unit is 2^-80
ONE = 1 << PLACES


@dataclass(frozen=True, slots=True)
class Enclosure:
    """low .. high, in units of 2^-PLACES."""

    low: int
    high: int

    def __add__(self, other: Enclosure) -> Enclosure:
        return Enclosure(self.low + other.low, self.high + other.high)

    def __sub__(self, other: Enclosure) -> Enclosure:
        return Enclosure(self.low - other.high, self.high - other.low)

    def __neg__(self) -> Enclosure:
        return Enclosure(-self.high, -self.low)

    def __mul__(self, other: Enclosure) -> Enclosure:
        ends = (
            self.low * other.low, self.low * other.high,
            self.high * other.low, self.high * other.high,
        )  # fmt: skip
        return Enclosure(min(ends) >> PLACES, -(-max(ends) >> PLACES))

    def times(self, factor: Fraction) -> Enclosure:
        """Multiply by an exact number."""
        if not factor:
            return ZERO
        low, high = self.low * factor.numerator, self.high * factor.numerator
        if factor < 0:
            low, high = high, low
        return Enclosure(low // factor.denominator, -(-high // factor.denominator))

    def meet(self, other: Enclosure) -> Enclosure:
        """Intersect two enclosures of the same number."""
        low, high = max(self.low, other.low), min(self.high, other.high)
        if low > high:
            raise ValueError("two enclosures of one number have nothing in common")
        return Enclosure(low, high)

    def join(self, other: Enclosure) -> Enclosure:
        return Enclosure(min(self.low, other.low), max(self.high, other.high))

    def holds(self, other: Enclosure) -> bool:
        return self.low <= other.low and other.high <= self.high

    @property
    def size(self) -> int:
        return max(self.high, -self.low)

    @property
    def ends(self) -> tuple[Fraction, Fraction]:
        return Fraction(self.low, ONE), Fraction(self.high, ONE)

    def __str__(self) -> str:
        return f"{float(self.ends[0]):.6g} .. {float(self.ends[1]):.6g}"


ZERO = Enclosure(0, 0)


def exactly(value: Fraction | float) -> Enclosure:
    """Return the smallest enclosure of a number; it is exact for multiples of the unit."""
    given = Fraction(value)
    scaled = given.numerator << PLACES
    return Enclosure(scaled // given.denominator, -(-scaled // given.denominator))


def between(low: Fraction | float, high: Fraction | float) -> Enclosure:
    return Enclosure(exactly(low).low, exactly(high).high)


def about(size: Enclosure) -> Enclosure:
    return Enclosure(-size.size, size.size)


def of_ball(ball: arb) -> Enclosure:
    """Return an enclosure of a ball."""
    if not ball.is_finite():
        raise ValueError("an unbounded ball has no enclosure")
    (middle, up), (radius, more) = ball.mid().man_exp(), ball.rad().man_exp()
    low, high = _scaled(int(middle), int(up)), _scaled(int(radius), int(more))
    return Enclosure(low[0] - high[1], low[1] + high[1])


def _scaled(mantissa: int, exponent: int) -> tuple[int, int]:
    """Return a dyadic number in units, rounded down and up."""
    shift = exponent + PLACES
    if shift >= 0:
        return mantissa << shift, mantissa << shift
    return mantissa >> -shift, -(-mantissa >> -shift)


# --------------------------------------------------------------------------------------------------
# Sums of harmonics at grid points, in units of enclosures, with counted errors.
#
# Sines are balls, computed once per grid; all other operations are exact, or their rounding counts.
# --------------------------------------------------------------------------------------------------

PRECISION = 140  # bits of balls
FINEST = 1 << 14  # grid points in a turn for angles without words


class Sampled(NamedTuple):
    """Values as integers in units, each with an error of at most `slack` units."""

    values: Whole
    slack: int

    @property
    def hull(self) -> Enclosure:
        return Enclosure(int(self.values.min()) - self.slack, int(self.values.max()) + self.slack)


@lru_cache(maxsize=1)
def pi() -> Enclosure:
    return of_ball(precise().pi())


def precise() -> type[arb]:
    """Import the ball type with `PRECISION` bits."""
    from flint import arb, ctx  # noqa: PLC0415 (a fifth of a second that only bounds need)

    ctx.prec = PRECISION
    return arb


def ball(value: Enclosure) -> arb:
    """Return a ball that holds an enclosure."""
    arb = precise()
    low, high = (arb(end) * arb(2) ** -PLACES for end in (value.low, value.high))
    return low.union(high)


@lru_cache(maxsize=16)
def cosines(places: int) -> Whole:
    """Return cos(2πj/places) for all j, with errors below two units; places are 2^k ≥ 8."""
    from flint import fmpq  # noqa: PLC0415 (see `precise`)

    arb, eighth = precise(), places // 8
    first, second = [], []
    for j in range(eighth + 1):
        sine, cosine = arb.sin_cos_pi_fmpq(fmpq(2 * j, places))
        first.append(of_ball(cosine).low)
        second.append(of_ball(sine).low)
    quarter = np.array(first + second[:-1][::-1], dtype=object)  # cos of 0 .. a quarter turn
    half = np.concatenate([quarter, -quarter[-2::-1]])
    return np.concatenate([half, half[-2:0:-1]])


def phase(turns: Fraction) -> tuple[Enclosure, Enclosure]:
    """Return the cosine and the sine of an angle."""
    from flint import fmpq  # noqa: PLC0415 (see `precise`)

    sine, cosine = precise().sin_cos_pi_fmpq(fmpq(2 * turns.numerator, turns.denominator))
    return of_ball(cosine), of_ball(sine)


Coefficients = tuple[int, Enclosure, Enclosure]  # k, and the real and imaginary part


def turned(parts: Sequence[tuple[int, float, float]], turns: Fraction) -> list[Coefficients]:
    """Shift the origin of a sum of harmonics by turns; return its coefficients."""
    found = []
    for k, real, imaginary in parts:
        a, b = exactly(real), exactly(imaginary)
        if turns and k:
            c, s = phase(k * turns)
            a, b = a * c - b * s, a * s + b * c
        found.append((k, a, b))
    return found


def waves_at(parts: Sequence[Coefficients], start: Fraction, step: Fraction, ks: Whole) -> Sampled:
    """Return Re Σ c·exp(2πi·k·(start + step·j)) for all j of `ks`.

    Start and step are dyadic.
    """
    places = max(8, start.denominator, step.denominator)
    index = (ks.astype(object) * int(step * places) + int(start * places)) % places
    index = index.astype(np.int64)
    table = cosines(places)
    total, slack = np.zeros(len(ks), dtype=object), 0
    for k, a, b in parts:
        at = index * k % places
        for part, shift in ((a, 0), (-b, -places // 4)):  # -sin x = -cos(x - a quarter turn)
            middle = (part.low + part.high) >> 1
            if not part.size:
                continue
            total = total + ((table[(at + shift) % places] * middle) >> PLACES)
            slack += (part.high - part.low) + 2 + 2 * (-(-part.size >> PLACES))
    return Sampled(total, slack)


def split_start(start: Fraction, step: Fraction) -> tuple[Fraction, Fraction]:
    """Split a start into a multiple of half a step and a rest."""
    half = step / 2
    on = Fraction(round(start / half)) * half
    return on, start - on


# --------------------------------------------------------------------------------------------------
# Elementary functions of float columns, the same on every machine, with proved errors.
# --------------------------------------------------------------------------------------------------

OFF = 2.0**-46  # error, absolute or relative, as each function states
TURN_PARTS = 512  # table steps in a turn, for sines
STEPS = 64  # table steps in a factor of 2 for exponentials, in 1 for arcs
MANTISSAS = 256  # table steps in 1 for logarithms
FARTHEST = 2.0**16  # largest argument of a sine; beyond it, errors are unbounded
LARGEST, SMALLEST = 700.0, -700.0  # argument of exponentials


@lru_cache(maxsize=8)
def _table(kind: str) -> Floats:
    """Return the floats nearest to the values of a function at its table steps."""
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
    """Split a constant into a float of 26 bits and a rest."""
    ball = precise()
    value = 2 * ball.pi() / TURN_PARTS if kind == "turn" else ball(2).log() / STEPS
    first, exponent = math.frexp(float(value))
    head = math.ldexp(round(first * 2**26), exponent - 26)
    return head, float(value - ball(head))


def sine(x: Floats) -> Floats:
    return _turned(x, 0)


def cosine(x: Floats) -> Floats:
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
    """Return exponentials of x in `SMALLEST` .. `LARGEST`, with a relative error of `OFF`."""
    head, tail = _parts("exp")
    places = np.rint(x / head)
    rest = (x - places * head) - places * tail
    place = places.astype(np.int64)
    near = _table("exp")
    power = rest * (1 + rest * (0.5 + rest * (1 / 6 + rest * (1 / 24 + rest / 120))))
    base = near[place % STEPS]
    return np.asarray(np.ldexp(base + base * power, (place // STEPS).astype(np.int32)))


def logarithm(x: Floats) -> Floats:
    """Return logarithms of normal x > 0, with an absolute plus relative error of `OFF`."""
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
    """Return arc tangents of any floats, with an error of `OFF`."""
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
    """Return arc sines of x in -1 .. 1, with an error of `OFF`."""
    with np.errstate(divide="ignore"):
        return arc(x / np.sqrt((1 - x) * (1 + x)))


def arc_cosine(x: Floats) -> Floats:
    """Return arc cosines of x in -1 .. 1, with an error of `OFF`."""
    with np.errstate(divide="ignore"):
        return 2 * arc(np.sqrt((1 - x) / (1 + x)))


def hyperbolic(x: Floats) -> Floats:
    """Return hyperbolic tangents of any x, with an error of `OFF`."""
    twice = np.minimum(2 * np.abs(x), 80.0)
    return np.asarray(np.copysign(1 - 2 / (exponential(twice) + 1), x))


def angle_of(y: Floats, x: Floats) -> Floats:
    """Return the angle of the point (x, y) in -π .. π, with an error of `OFF`; 0 at the origin."""
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
