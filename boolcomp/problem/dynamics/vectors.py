"""Vectors of three elements of any algebra, and the rotations of Denavit and Hartenberg."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from boolcomp.problem.expressions.algebra import Element


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
