"""Elementary functions of columns of floats, the same on every machine, with a proved error.

They are made of tables, which balls (`arb`) make, and of sums, products, quotients and roots, which
IEEE 754 rounds in one way. A column's values are off by at most `OFF` in units that each function
names. Where a table is read the rest r is at most half a place of it, so that Taylor's formula
ends after a few powers; what it leaves out, and all roundings, are below a tenth of what is stated.
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
    Short = NDArray[np.int32]
    Floats = NDArray[np.float64]


# --------------------------------------------------------------------------------------------------
# Two whole numbers of a tiny unit between which a real number lies.
#
# All that a bound is made of is kept so: sums are exact, products are rounded outward. Numbers that
# are no fractions come in as balls (`arb`) and are rounded outward once.
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
        """Return a multiple by an exact number."""
        if not factor:
            return ZERO
        low, high = self.low * factor.numerator, self.high * factor.numerator
        if factor < 0:
            low, high = high, low
        return Enclosure(low // factor.denominator, -(-high // factor.denominator))

    def meet(self, other: Enclosure) -> Enclosure:
        """Return what both hold, of two that enclose the same."""
        low, high = max(self.low, other.low), min(self.high, other.high)
        if low > high:
            raise ValueError("two enclosures of one number have nothing in common")
        return Enclosure(low, high)

    def join(self, other: Enclosure) -> Enclosure:
        """Return what holds both."""
        return Enclosure(min(self.low, other.low), max(self.high, other.high))

    def holds(self, other: Enclosure) -> bool:
        """Tell whether all of another lies in it."""
        return self.low <= other.low and other.high <= self.high

    @property
    def size(self) -> int:
        """The largest absolute value, in units."""
        return max(self.high, -self.low)

    @property
    def ends(self) -> tuple[Fraction, Fraction]:
        """Both ends as numbers."""
        return Fraction(self.low, ONE), Fraction(self.high, ONE)

    def __str__(self) -> str:
        return f"{float(self.ends[0]):.6g} .. {float(self.ends[1]):.6g}"


ZERO = Enclosure(0, 0)


def exactly(value: Fraction | float) -> Enclosure:
    """Return an enclosure of a number; of those that are multiples of the unit it is exact."""
    given = Fraction(value)
    scaled = given.numerator << PLACES
    return Enclosure(scaled // given.denominator, -(-scaled // given.denominator))


def between(low: Fraction | float, high: Fraction | float) -> Enclosure:
    """Return an enclosure of all numbers from one to another."""
    return Enclosure(exactly(low).low, exactly(high).high)


def about(size: Enclosure) -> Enclosure:
    """Return an enclosure of all numbers that are no larger than a size."""
    return Enclosure(-size.size, size.size)


def of_ball(ball: arb) -> Enclosure:
    """Return an enclosure of a ball."""
    if not ball.is_finite():
        raise ValueError("a ball without ends encloses nothing")
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
# Waves at many places of a grid: whole numbers of the unit of enclosures, and what they err by.
#
# Sines come from balls, once for every grid; everything after that is exact or counted.
# --------------------------------------------------------------------------------------------------


PRECISION = 140  # bits of balls
FINEST = 1 << 14  # places in a turn at which waves of angles are looked at that are no words


class Sampled(NamedTuple):
    """Values in units, as whole numbers; each errs by no more than `slack` units."""

    values: Whole
    slack: int

    @property
    def hull(self) -> Enclosure:
        """What holds all values."""
        return Enclosure(int(self.values.min()) - self.slack, int(self.values.max()) + self.slack)


@lru_cache(maxsize=1)
def pi() -> Enclosure:
    """Return an enclosure of π."""
    return of_ball(precise().pi())


def precise() -> type[arb]:
    """Return balls, of which enough bits are kept."""
    from flint import arb, ctx  # noqa: PLC0415 (a fifth of a second, for bounds alone)

    ctx.prec = PRECISION
    return arb


def ball(value: Enclosure) -> arb:
    """Return a ball that holds an enclosure."""
    arb = precise()
    low, high = (arb(end) * arb(2) ** -PLACES for end in (value.low, value.high))
    return low.union(high)


@lru_cache(maxsize=16)
def cosines(places: int) -> Whole:
    """Return cos(2πj/places) for all j, in units, each less than two off; places are 2^k ≥ 8."""
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
    """Return the coefficients of waves of an angle that is counted from so many turns."""
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
    """Return the part of a start that lies on half steps, and the rest."""
    half = step / 2
    on = Fraction(round(start / half)) * half
    return on, start - on


# --------------------------------------------------------------------------------------------------
# Tables of ranges: the least and the largest of any entries one after another, at once.
#
# All numbers are whole ones of 31 bits, in some unit; ends are rounded outward.
# --------------------------------------------------------------------------------------------------


MOST = (1 << 31) - 1


class Store:
    """Two long columns, of low and of high ends, to which tables are added."""

    def __init__(self) -> None:
        self._low: list[Short] = []
        self._high: list[Short] = []
        self._used = 0

    @property
    def columns(self) -> tuple[Short, Short]:
        """Both columns."""
        none = [np.zeros(1, np.int32)]
        return np.concatenate(self._low or none), np.concatenate(self._high or none)

    def plain(self, low: Whole, high: Whole) -> int:
        """Add entries as they are; return where they begin."""
        start = self._used
        for column, values in ((self._low, low), (self._high, high)):
            if len(values) and max(abs(int(values.min())), abs(int(values.max()))) > MOST:
                raise ValueError("a number that is too large for a table of ranges")
            column.append(values.astype(np.int32))
        self._used += len(low)
        return start

    def ranges(self, low: Whole, high: Whole) -> int:
        """Add entries and, level by level, the ranges of 2, 4, 8 … of them (see `between`)."""
        start = self.plain(low, high)
        span = 1
        while 2 * span <= len(low):
            low, high = _pairs(low, span, least=True), _pairs(high, span, least=False)
            self.plain(low, high)
            span *= 2
        return start


def _pairs(values: Whole, span: int, *, least: bool) -> Whole:
    other = np.concatenate([values[span:], values[-1:].repeat(span)])
    return np.asarray(np.minimum(values, other) if least else np.maximum(values, other))


def peaks(values: Whole) -> list[int]:
    """Return the places of a circle where values are larger, or smaller, than just before them.

    And not so just after them. Between two places without a peak between the largest value and
    the least are at the ends.
    """
    before, after = np.roll(values, 1), np.roll(values, -1)
    top = (values > before) & (values >= after)
    bottom = (values < before) & (values <= after)
    return [int(k) for k in np.flatnonzero(top | bottom)]


def windows(values: Whole, starts: Sequence[int], count: int) -> tuple[Whole, Whole]:
    """Return the least and the largest of `count` values of a circle from every start on."""
    places = len(values)
    if count >= places:
        ones = np.ones(len(starts), dtype=object)
        return ones * values.min(), ones * values.max()
    low = high = np.concatenate([values, values])
    span = 1
    while 2 * span <= count:
        low, high = _pairs(low, span, least=True), _pairs(high, span, least=False)
        span *= 2
    one = np.array([start % places for start in starts], dtype=np.int64)
    two = one + count - span
    return np.minimum(low[one], low[two]), np.maximum(high[one], high[two])


# --------------------------------------------------------------------------------------------------
# Elementary functions of columns of floats, the same on every machine, with a proved error.
# --------------------------------------------------------------------------------------------------


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
