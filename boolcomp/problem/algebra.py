"""Algebras: the operations that functions over any algebra need, and constants that fold.

An algebra makes constants and takes functions. Its elements add, subtract, multiply and negate,
with each other and with constants. Numpy arrays, sums of waves and tapes are algebras. This file
also holds the rules of all operations, vectors, matrices and counts of operations.
"""

from __future__ import annotations

import math
import operator
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from boolcomp.problem.words import exact_cosine, exact_sine

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    Floats: TypeAlias = NDArray[np.float64]

Ends: TypeAlias = tuple[float, float]
ANYTHING: Ends = (-math.inf, math.inf)

# --------------------------------------------------------------------------------------------------
# Enclosures of operations by intervals.
#
# They are sound except for rounding, and often too wide: that of x - x is twice as wide as that of
# x. So they prove that a step is valid, but never that it is not.
# --------------------------------------------------------------------------------------------------

LARGEST = 700.0  # of an exponent


def _product(a: Ends, b: Ends) -> Ends:
    corners = [0.0 if not x or not y else x * y for x in a for y in b]
    return min(corners), max(corners)


def _quotient(a: Ends, b: Ends) -> Ends:
    return _product(a, ANYTHING if b[0] <= 0 <= b[1] else (1 / b[1], 1 / b[0]))


def even_ends(x: Ends, function: Callable[[float], float]) -> Ends:
    """Return the range of an even function that rises with the size of its argument."""
    ends = sorted(map(function, x))
    return (function(0.0) if x[0] <= 0 <= x[1] else ends[0]), ends[1]


def _cosine(x: Ends) -> Ends:
    low, high = x
    if not math.isfinite(low) or not math.isfinite(high) or high - low >= 2 * math.pi:
        return -1.0, 1.0
    ends = sorted((math.cos(low), math.cos(high)))
    top = math.floor(high / (2 * math.pi)) >= math.ceil(low / (2 * math.pi))
    turned = (low - math.pi) / (2 * math.pi), (high - math.pi) / (2 * math.pi)
    bottom = math.floor(turned[1]) >= math.ceil(turned[0])
    return (-1.0 if bottom else ends[0]), (1.0 if top else ends[1])


def _rising(function: Callable[[float], float]) -> Callable[[Ends], Ends]:
    return lambda x: (function(x[0]), function(x[1]))


# --------------------------------------------------------------------------------------------------
# The rules of operations: on numpy arrays, on numbers, on intervals, and as text.
#
# `step(x)` is 1 for positive x, else 0; `wrap(x)` is the angle in -π .. π that differs from x by
# whole turns.
# --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Rule:
    """An operation; `text` has its operands as {0} and {1}, by default it is a call.

    `number` evaluates it at numbers, by default `arrays` does. The ends of the domain are included;
    at an end the value may be infinite.
    """

    arrays: Callable[..., Floats]
    ends: Callable[..., Ends]
    text: str = ""
    number: Callable[..., float] | None = None
    domain: Ends = ANYTHING
    arity: int = 1


def wrap(x: Any) -> Any:
    return x - 2 * math.pi * np.floor(x / (2 * math.pi) + 0.5)


def step(x: Any) -> Any:
    return np.where(np.asarray(x) > 0, 1.0, 0.0)


RULES = {
    "add": Rule(
        np.add, lambda a, b: (a[0] + b[0], a[1] + b[1]), "{0} + {1}", operator.add, arity=2
    ),
    "sub": Rule(
        np.subtract, lambda a, b: (a[0] - b[1], a[1] - b[0]), "{0} - {1}", operator.sub, arity=2
    ),
    "mul": Rule(np.multiply, _product, "{0} * {1}", operator.mul, arity=2),
    "div": Rule(np.divide, _quotient, "{0} / {1}", operator.truediv, arity=2),
    "neg": Rule(np.negative, lambda a: (-a[1], -a[0]), "-{0}", operator.neg),
    "atan2": Rule(np.arctan2, lambda *_: (-math.pi, math.pi), number=math.atan2, arity=2),
    "sqrt": Rule(np.sqrt, _rising(math.sqrt), domain=(0.0, math.inf)),
    "sin": Rule(
        np.sin, lambda a: _cosine((a[0] - math.pi / 2, a[1] - math.pi / 2)), number=exact_sine
    ),
    "cos": Rule(np.cos, _cosine, number=exact_cosine),
    "sign": Rule(np.sign, _rising(lambda x: float((x > 0) - (x < 0)))),
    "exp": Rule(np.exp, _rising(lambda x: math.exp(x) if x < LARGEST else math.inf)),
    "log": Rule(
        np.log, _rising(lambda x: math.log(x) if x > 0 else -math.inf), domain=(0.0, math.inf)
    ),
    "atan": Rule(np.arctan, _rising(math.atan)),
    "asin": Rule(np.arcsin, _rising(math.asin), domain=(-1.0, 1.0)),
    "acos": Rule(np.arccos, lambda a: (math.acos(a[1]), math.acos(a[0])), domain=(-1.0, 1.0)),
    "tanh": Rule(np.tanh, _rising(math.tanh)),
    "abs": Rule(np.abs, lambda a: even_ends(a, abs)),
    "step": Rule(step, _rising(lambda x: float(x > 0))),
    "wrap": Rule(wrap, lambda _: (-math.pi, math.pi)),
}
OPERATIONS = {kind: rule.arrays for kind, rule in RULES.items()}
ARITHMETIC = ("add", "sub", "mul", "div", "neg")


def value_of(kind: str, *x: float) -> float:
    """Evaluate an operation at numbers; the result is not finite where it is undefined."""
    rule = RULES[kind]
    if rule.number is not None:
        return rule.number(*x)
    with np.errstate(all="ignore"):
        return float(rule.arrays(*x))


# --------------------------------------------------------------------------------------------------
# Algebras.
# --------------------------------------------------------------------------------------------------

Element = Any  # numpy array, float, interval, counter …: an element of any algebra


class Algebra:
    """The operations that are not operators."""

    def constant(self, value: float) -> Element:
        """Return a number as an element."""
        raise NotImplementedError

    def function(self, kind: str, *x: Element) -> Element:
        """Return a function by its name in `RULES`."""
        raise NotImplementedError

    def sine(self, x: Element) -> Element:
        return self.function("sin", x)

    def cosine(self, x: Element) -> Element:
        return self.function("cos", x)

    def sign(self, x: Element) -> Element:
        return self.function("sign", x)

    def root(self, x: Element) -> Element:
        return self.function("sqrt", x)

    def arc(self, y: Element, x: Element) -> Element:
        """Return the angle of the point (x, y)."""
        return self.function("atan2", y, x)


@dataclass(frozen=True, slots=True)
class Constant:
    """A constant: operations with other constants fold, and those with 0 and 1 cost nothing.

    This customises the general recurrence for a robot, and for the zero speeds and accelerations
    of gravity and the inertia matrix.
    """

    value: float
    __array_ufunc__ = None  # numpy arrays leave mixed operations to this class

    def __add__(self, other: Element) -> Element:
        if isinstance(other, Constant):
            return Constant(self.value + other.value)
        return other if self.value == 0 else self.value + other

    __radd__ = __add__

    def __sub__(self, other: Element) -> Element:
        if isinstance(other, Constant):
            return Constant(self.value - other.value)
        return -other if self.value == 0 else self.value - other

    def __rsub__(self, other: Element) -> Element:
        return other if self.value == 0 else other - self.value

    def __mul__(self, other: Element) -> Element:
        if isinstance(other, Constant):
            return Constant(self.value * other.value)
        if self.value == 0:
            return Constant(0.0)
        if abs(self.value) == 1:
            return other if self.value == 1 else -other
        return self.value * other

    __rmul__ = __mul__

    def __neg__(self) -> Constant:
        return Constant(-self.value)


@dataclass(frozen=True, slots=True)
class Folding(Algebra):
    """An algebra in which constants fold, over one for all other elements."""

    inner: Algebra

    def constant(self, value: float) -> Constant:
        return Constant(float(value))

    def function(self, kind: str, *x: Element) -> Element:
        """Fold functions of constants."""
        if all(isinstance(one, Constant) for one in x):
            return Constant(value_of(kind, *(one.value for one in x)))
        return self.inner.function(kind, *x)


class NumpyColumns(Algebra):
    """The algebra of numpy arrays and numbers."""

    def constant(self, value: float) -> Element:
        return value

    def function(self, kind: str, *x: Element) -> Element:
        return OPERATIONS[kind](*x)


# --------------------------------------------------------------------------------------------------
# Counts of operations, in the units of the papers.
# --------------------------------------------------------------------------------------------------

_WORDS = ("mul", "add", "div", "root", "fun")


@dataclass(frozen=True, slots=True)
class Operations:
    """Counts of scalar operations: a subtraction is an addition, a change of sign costs nothing.

    `functions` are sines, cosines and signs, which the papers do not count.
    """

    multiplications: int = 0
    additions: int = 0
    divisions: int = 0
    roots: int = 0
    functions: int = 0

    def __add__(self, other: Operations) -> Operations:
        pairs = zip(self.counts, other.counts, strict=True)
        return Operations(*(mine + theirs for mine, theirs in pairs))

    @property
    def counts(self) -> tuple[int, ...]:
        return tuple(getattr(self, field.name) for field in fields(self))

    @property
    def total(self) -> int:
        return sum(self.counts)

    def __str__(self) -> str:
        """Return the counts that are not zero, such as `12 mul 9 add`, else `0`."""
        parts = zip(self.counts, _WORDS, strict=True)
        return " ".join(f"{count} {word}" for count, word in parts if count) or "0"


# --------------------------------------------------------------------------------------------------
# Vectors of three elements of any algebra, and the rotations of Denavit and Hartenberg.
# --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Vector:
    """Three components; `@` is the cross product."""

    x: Element
    y: Element
    z: Element

    def __iter__(self) -> Iterator[Element]:
        return iter((self.x, self.y, self.z))

    def __add__(self, other: Vector) -> Vector:
        return Vector(self.x + other.x, self.y + other.y, self.z + other.z)

    def __matmul__(self, other: Vector) -> Vector:
        return Vector(
            self.y * other.z - self.z * other.y,
            self.z * other.x - self.x * other.z,
            self.x * other.y - self.y * other.x,
        )

    def scaled(self, factor: Element) -> Vector:
        return Vector(factor * self.x, factor * self.y, factor * self.z)

    def dot(self, other: Vector) -> Element:
        return self.x * other.x + self.y * other.y + self.z * other.z


@dataclass(frozen=True, slots=True)
class Matrix3:
    """Three rows; `@` is the product of two matrices."""

    rows: tuple[Vector, Vector, Vector]

    def __mul__(self, v: Vector) -> Vector:
        first, second, third = self.rows
        return Vector(first.dot(v), second.dot(v), third.dot(v))

    def __matmul__(self, other: Matrix3) -> Matrix3:
        first, second, third = other.transposed.rows
        return Matrix3((self * first, self * second, self * third)).transposed

    @property
    def transposed(self) -> Matrix3:
        """The transpose, which is the inverse of a rotation."""
        a, b, c = self.rows
        return Matrix3((Vector(a.x, b.x, c.x), Vector(a.y, b.y, c.y), Vector(a.z, b.z, c.z)))


def link_rotation(
    cos_theta: Element, sin_theta: Element, cos_alpha: Element, sin_alpha: Element, zero: Element
) -> Matrix3:
    return Matrix3(
        (
            Vector(cos_theta, -(sin_theta * cos_alpha), sin_theta * sin_alpha),
            Vector(sin_theta, cos_theta * cos_alpha, -(cos_theta * sin_alpha)),
            Vector(zero, sin_alpha, cos_alpha),
        )
    )


def rotation_about(axis: Vector, rest: Vector, cosine: Element, sine: Element) -> Matrix3:
    """Return nnᵀ + (1 - nnᵀ) cos + [n]× sin of an axis n; `rest` is 1 - x², 1 - y², 1 - z²."""
    x, y, z = axis
    xy, yz, xz = ((a * b) - (a * b) * cosine for a, b in ((x, y), (y, z), (x, z)))
    return Matrix3(
        (
            Vector(x * x + rest.x * cosine, xy - z * sine, xz + y * sine),
            Vector(xy + z * sine, y * y + rest.y * cosine, yz - x * sine),
            Vector(xz - y * sine, yz + x * sine, z * z + rest.z * cosine),
        )
    )


def symmetric(
    xx: Element, yy: Element, zz: Element, xy: Element, yz: Element, xz: Element
) -> Matrix3:
    return Matrix3((Vector(xx, xy, xz), Vector(xy, yy, yz), Vector(xz, yz, zz)))
