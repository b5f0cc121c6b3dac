"""Algebras: the operations that functions over any algebra need, and constants that fold.

An algebra makes constants and takes sines, cosines and signs. Its elements add, subtract, multiply
and negate, with each other and with constants. Numpy arrays, intervals, operation counters and task
recorders are algebras. This file also holds vectors, matrices and counts of operations.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias

import numpy as np

from boolcomp.problem.words import exact_cosine, exact_sine

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    Floats: TypeAlias = NDArray[np.float64]

# --------------------------------------------------------------------------------------------------
# The operations of straight-line programs, on numpy arrays and on numbers.
#
# `step(x)` is 1 for positive x, else 0; `wrap(x)` is the angle in -π .. π that differs from x by
# whole turns.
# --------------------------------------------------------------------------------------------------

Unary = Literal[
    "sqrt", "sin", "cos", "sign", "exp", "log", "atan", "asin", "acos", "tanh", "abs", "step",
    "wrap",
]  # fmt: skip
Kind: TypeAlias = Literal["input", "constant", "add", "sub", "mul", "div", "neg", "atan2"] | Unary
SYMBOLS = {"add": "+", "sub": "-", "mul": "*", "div": "/"}


def wrap(x: Any) -> Any:
    return x - 2 * math.pi * np.floor(x / (2 * math.pi) + 0.5)


def step(x: Any) -> Any:
    return np.where(np.asarray(x) > 0, 1.0, 0.0)


UNARY_FUNCTIONS: dict[Unary, Callable[..., Floats]] = {
    "sqrt": np.sqrt,
    "sin": np.sin,
    "cos": np.cos,
    "sign": np.sign,
    "exp": np.exp,
    "log": np.log,
    "atan": np.arctan,
    "asin": np.arcsin,
    "acos": np.arccos,
    "tanh": np.tanh,
    "abs": np.abs,
    "step": step,
    "wrap": wrap,
}
OPERATIONS: dict[str, Callable[..., Floats]] = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "div": np.divide,
    "neg": np.negative,
    "atan2": np.arctan2,
    **{str(kind): function for kind, function in UNARY_FUNCTIONS.items()},
}
ARITY: dict[str, int] = {"input": 0, "constant": 0, "neg": 1} | dict.fromkeys(UNARY_FUNCTIONS, 1)
_EXACT: dict[str, Callable[[float], float]] = {"sin": exact_sine, "cos": exact_cosine}
# Domains of functions, ends included; at an end the value may be infinite.
DOMAINS: dict[str, tuple[float, float]] = {
    "sqrt": (0.0, math.inf),
    "log": (0.0, math.inf),
    "asin": (-1.0, 1.0),
    "acos": (-1.0, 1.0),
}


def value_of(kind: Unary, x: float) -> float:
    """Evaluate a function at a number; the result is not finite where it is undefined."""
    if kind in _EXACT:
        return _EXACT[kind](x)
    with np.errstate(all="ignore"):
        return float(UNARY_FUNCTIONS[kind](x))


# --------------------------------------------------------------------------------------------------
# Algebras.
# --------------------------------------------------------------------------------------------------

Element = Any  # numpy array, float, interval, counter …: an element of any algebra


class Algebra(Protocol):
    """The operations that are not operators."""

    def constant(self, value: float) -> Element:
        """Return a number as an element."""

    def sine(self, x: Element) -> Element:
        """Return sin x."""

    def cosine(self, x: Element) -> Element:
        """Return cos x."""

    def sign(self, x: Element) -> Element:
        """Return -1, 0 or 1."""


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
class Folding:
    """An algebra in which constants fold, over one for all other elements."""

    inner: Algebra

    def constant(self, value: float) -> Constant:
        return Constant(float(value))

    def sine(self, x: Element) -> Element:
        return Constant(exact_sine(x.value)) if isinstance(x, Constant) else self.inner.sine(x)

    def cosine(self, x: Element) -> Element:
        return Constant(exact_cosine(x.value)) if isinstance(x, Constant) else self.inner.cosine(x)

    def sign(self, x: Element) -> Element:
        """Fold the sign of a constant."""
        if isinstance(x, Constant):
            return Constant(float((x.value > 0) - (x.value < 0)))
        return self.inner.sign(x)


class FunctionAlgebra(Protocol):
    """An algebra such as `Tape` or `NumpyColumns`, with division and more functions."""

    def constant(self, value: float) -> Element:
        """Return a number as an element."""

    def function(self, kind: Unary, x: Element) -> Element:
        """Return a function by its name."""

    def arc(self, y: Element, x: Element) -> Element:
        """Return the angle of the point (x, y)."""


class NumpyColumns:
    """The algebra of numpy arrays and numbers."""

    def constant(self, value: float) -> Element:
        return value

    def sine(self, x: Element) -> Element:
        return np.sin(x)

    def cosine(self, x: Element) -> Element:
        return np.cos(x)

    def sign(self, x: Element) -> Element:
        return np.sign(x)

    def function(self, kind: Unary, x: Element) -> Element:
        return UNARY_FUNCTIONS[kind](x)

    def arc(self, y: Element, x: Element) -> Element:
        return np.arctan2(y, x)


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
