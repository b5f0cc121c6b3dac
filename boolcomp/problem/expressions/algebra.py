"""What the recurrence asks of numbers, and constants that fold.

The recurrence is one text over any algebra. An algebra makes constants and takes sines, cosines
and signs; its elements add, subtract, multiply and negate, with each other and with constants.
Numpy arrays, intervals, operation counters and task recorders all fit.
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
# What one operation of a straight-line program does: of columns, and of a single known number.
#
# `step(x)` is 1 where x is positive and 0 elsewhere; `wrap(x)` is the angle in -π .. π that differs
# from x by whole turns.
# --------------------------------------------------------------------------------------------------


Unary = Literal[
    "sqrt", "sin", "cos", "sign", "exp", "log", "atan", "asin", "acos", "tanh", "abs", "step",
    "wrap",
]  # fmt: skip
Kind: TypeAlias = Literal["input", "constant", "add", "sub", "mul", "div", "neg", "atan2"] | Unary
SYMBOLS = {"add": "+", "sub": "-", "mul": "*", "div": "/"}


def wrap(x: Any) -> Any:
    """Return angles turned by whole turns into -π .. π."""
    return x - 2 * math.pi * np.floor(x / (2 * math.pi) + 0.5)


def step(x: Any) -> Any:
    """Return 1 where x is positive, else 0."""
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
# Where a function is defined, ends included; whether it is at an end, its value tells.
DOMAINS: dict[str, tuple[float, float]] = {
    "sqrt": (0.0, math.inf),
    "log": (0.0, math.inf),
    "asin": (-1.0, 1.0),
    "acos": (-1.0, 1.0),
}


def value_of(kind: Unary, x: float) -> float:
    """Return a function of a known number; not finite where it has no value."""
    if kind in _EXACT:
        return _EXACT[kind](x)
    with np.errstate(all="ignore"):
        return float(UNARY_FUNCTIONS[kind](x))


# --------------------------------------------------------------------------------------------------
# What the recurrence asks of numbers, and constants that fold.
# --------------------------------------------------------------------------------------------------


Element = Any  # numpy array, float, interval, counter …: whatever the algebra calculates with


class Algebra(Protocol):
    """The operations that are not operators."""

    def constant(self, value: float) -> Element:
        """Return a known number as an element."""

    def sine(self, x: Element) -> Element:
        """Return sin x."""

    def cosine(self, x: Element) -> Element:
        """Return cos x."""

    def sign(self, x: Element) -> Element:
        """Return -1, 0 or 1."""


@dataclass(frozen=True, slots=True)
class Constant:
    """A number known before the samples are: it folds with its like, and 0 and 1 cost nothing.

    This alone turns the general recurrence into one customised for a robot, and for the rows of
    zeros that the inertia matrix and gravity ask for.
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
    """An algebra in which known numbers fold, over one that calculates with the rest."""

    inner: Algebra

    def constant(self, value: float) -> Constant:
        """Return a number that folds."""
        return Constant(float(value))

    def sine(self, x: Element) -> Element:
        """Fold sin of a known angle; multiples of a right angle are exact."""
        return Constant(exact_sine(x.value)) if isinstance(x, Constant) else self.inner.sine(x)

    def cosine(self, x: Element) -> Element:
        """Fold cos of a known angle; multiples of a right angle are exact."""
        return Constant(exact_cosine(x.value)) if isinstance(x, Constant) else self.inner.cosine(x)

    def sign(self, x: Element) -> Element:
        """Fold the sign of a known number."""
        if isinstance(x, Constant):
            return Constant(float((x.value > 0) - (x.value < 0)))
        return self.inner.sign(x)


# --------------------------------------------------------------------------------------------------
# Algebras that have functions of one number, besides waves and signs, and the angle of a point.
# --------------------------------------------------------------------------------------------------


class FunctionAlgebra(Protocol):
    """What `Tape` and numpy's columns can do: elements divide, too."""

    def constant(self, value: float) -> Element:
        """Return a known number as an element."""

    def function(self, kind: Unary, x: Element) -> Element:
        """Return a function by its name."""

    def arc(self, y: Element, x: Element) -> Element:
        """Return the angle of the point (x, y)."""


class Columns:
    """The algebra of numpy's columns, plain numbers among them."""

    def constant(self, value: float) -> Element:
        """Return the number."""
        return value

    def function(self, kind: Unary, x: Element) -> Element:
        """Return a function of a column."""
        return UNARY_FUNCTIONS[kind](x)

    def arc(self, y: Element, x: Element) -> Element:
        """Return the angles of points."""
        return np.arctan2(y, x)


# --------------------------------------------------------------------------------------------------
# How much arithmetic something takes, in the units of the papers.
# --------------------------------------------------------------------------------------------------


_WORDS = ("mul", "add", "div", "root", "fun")


@dataclass(frozen=True, slots=True)
class Operations:
    """Counts of scalar operations: a subtraction is an addition, a change of sign costs nothing.

    `functions` are sines, cosines and signs, which the papers leave out of their counts.
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
        """The five counts, in the order of the fields."""
        return tuple(getattr(self, field.name) for field in fields(self))

    @property
    def total(self) -> int:
        """All operations, whatever they cost."""
        return sum(self.counts)

    def __str__(self) -> str:
        """`12 mul 9 add`; what does not occur is left out, `0` if nothing does."""
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
        """Return the vector times a scalar."""
        return Vector(factor * self.x, factor * self.y, factor * self.z)

    def dot(self, other: Vector) -> Element:
        """Return the scalar product."""
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
        """The transpose; of a rotation, the rotation back."""
        a, b, c = self.rows
        return Matrix3((Vector(a.x, b.x, c.x), Vector(a.y, b.y, c.y), Vector(a.z, b.z, c.z)))


def link_rotation(
    cos_theta: Element, sin_theta: Element, cos_alpha: Element, sin_alpha: Element, zero: Element
) -> Matrix3:
    """Return R = Rz(theta)·Rx(alpha), which takes a link's vectors to its predecessor's frame."""
    return Matrix3(
        (
            Vector(cos_theta, -(sin_theta * cos_alpha), sin_theta * sin_alpha),
            Vector(sin_theta, cos_theta * cos_alpha, -(cos_theta * sin_alpha)),
            Vector(zero, sin_alpha, cos_alpha),
        )
    )


def rotation_about(axis: Vector, less: Vector, cosine: Element, sine: Element) -> Matrix3:
    """Return nnᵀ + (1 - nnᵀ) cos + [n]× sin of an axis n; `less` has 1 - x², 1 - y², 1 - z²."""
    x, y, z = axis
    xy, yz, xz = ((a * b) - (a * b) * cosine for a, b in ((x, y), (y, z), (x, z)))
    return Matrix3(
        (
            Vector(x * x + less.x * cosine, xy - z * sine, xz + y * sine),
            Vector(xy + z * sine, y * y + less.y * cosine, yz - x * sine),
            Vector(xz - y * sine, yz + x * sine, z * z + less.z * cosine),
        )
    )


def symmetric(
    xx: Element, yy: Element, zz: Element, xy: Element, yz: Element, xz: Element
) -> Matrix3:
    """Return the inertia tensor with these entries."""
    return Matrix3((Vector(xx, xy, xz), Vector(xy, yy, yz), Vector(xz, yz, zz)))
