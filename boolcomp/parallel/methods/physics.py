"""What every method needs of a joint before its equations begin: rotation, step and axis.

Frames are those of `problem.robot`: standard Denavit-Hartenberg, frame i fixed to link i.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from boolcomp.problem.angles import exact_cosine, exact_sine
from boolcomp.problem.dynamics.vectors import Matrix3, Vector, link_rotation, symmetric
from boolcomp.problem.robot.frames import free_fall

if TYPE_CHECKING:
    from collections.abc import Sequence

    from boolcomp.problem.expressions.algebra import Algebra, Element
    from boolcomp.problem.robot.model import Link, Robot


@dataclass(frozen=True, slots=True)
class Joint:
    """`rotation` takes link vectors to the frame before; the rest is in the link's own frame.

    `step` leads from the origin before to the link's own, `axis` is the joint's.
    """

    rotation: Matrix3
    step: Vector
    axis: Vector

    @property
    def cosine(self) -> Element:
        """The cosine of the joint's angle."""
        return self.rotation.rows[0].x

    @property
    def sine(self) -> Element:
        """The sine of the joint's angle."""
        return self.rotation.rows[1].x


def zeros(algebra: Algebra) -> Vector:
    """Return the vector of zeros."""
    return constants(algebra, (0.0, 0.0, 0.0))


def up(robot: Robot, algebra: Algebra) -> Vector:
    """Return the acceleration of the base that stands for gravity."""
    return constants(algebra, [-g for g in free_fall(robot)])


def constants(algebra: Algebra, values: Sequence[float]) -> Vector:
    """Return a known vector."""
    return Vector(*(algebra.constant(v) for v in values))


def inertia_of(link: Link, algebra: Algebra) -> Matrix3:
    """Return the inertia tensor about the centre of mass."""
    return symmetric(*(algebra.constant(c) for c in link.inertia))


def twist(link: Link) -> tuple[float, float]:
    """Return sin α and cos α, exact at right angles."""
    return exact_sine(link.alpha), exact_cosine(link.alpha)


def times(algebra: Algebra, factor: float, x: Element) -> Element:
    """Return factor·x as somebody who knows the factor would write it: nothing for 0, 1 and -1."""
    if factor == 0:
        return algebra.constant(0.0)
    if abs(factor) == 1:
        return x if factor == 1 else -x
    return algebra.constant(factor) * x


def position(link: Link, algebra: Algebra, q: Element) -> tuple[Element, Element]:
    """Return the angle θ and the offset d at a joint position."""
    fixed, moving = (link.d, link.theta) if link.revolute else (link.theta, link.d)
    moved = algebra.constant(moving) + q if moving else q
    return (moved, algebra.constant(fixed)) if link.revolute else (algebra.constant(fixed), moved)


def rotation_of(link: Link, algebra: Algebra, q: Element) -> Matrix3:
    """Return A: four products with the sine and the cosine of the twist, whatever these are."""
    angle, _ = position(link, algebra, q)
    sin_alpha, cos_alpha = (algebra.constant(x) for x in twist(link))
    cosine, sine = algebra.cosine(angle), algebra.sine(angle)
    return link_rotation(cosine, sine, cos_alpha, sin_alpha, algebra.constant(0.0))


def step_of(link: Link, algebra: Algebra, q: Element) -> Vector:
    """Return p = (a, d sin α, d cos α): two products."""
    _, offset = position(link, algebra, q)
    sin_alpha, cos_alpha = (algebra.constant(x) for x in twist(link))
    return Vector(algebra.constant(link.a), offset * sin_alpha, offset * cos_alpha)


def known_step(link: Link, algebra: Algebra, q: Element) -> Vector:
    """Return p with what is known beforehand calculated beforehand."""
    if link.revolute:
        sin_alpha, cos_alpha = twist(link)
        return constants(algebra, (link.a, link.d * sin_alpha, link.d * cos_alpha))
    _, offset = position(link, algebra, q)
    along, across = (times(algebra, x, offset) for x in twist(link))
    return Vector(algebra.constant(link.a), along, across)


def known_rotation(link: Link, algebra: Algebra, q: Element) -> Matrix3:
    """Return A as written down for one arm: right-angled twists need no products."""
    angle, _ = position(link, algebra, q)
    sin_alpha, cos_alpha = twist(link)
    cosine, sine = algebra.cosine(angle), algebra.sine(angle)
    zero, known = algebra.constant(0.0), algebra.constant
    return Matrix3(
        (
            Vector(cosine, times(algebra, -cos_alpha, sine), times(algebra, sin_alpha, sine)),
            Vector(sine, times(algebra, cos_alpha, cosine), times(algebra, -sin_alpha, cosine)),
            Vector(zero, known(sin_alpha), known(cos_alpha)),
        )
    )


def axis_of(link: Link, algebra: Algebra) -> Vector:
    """Return the joint's axis in the link's frame, (0, sin α, cos α)."""
    return constants(algebra, (0.0, *twist(link)))


def along_axis(link: Link, algebra: Algebra, v: Vector) -> Element:
    """Return the component of v along the joint's axis; right-angled twists only choose one."""
    terms = [
        times(algebra, factor, x)
        for factor, x in zip(twist(link), (v.y, v.z), strict=True)
        if factor
    ]
    return terms[0] if len(terms) == 1 else terms[0] + terms[1]


def back(rotation: Matrix3, v: Vector) -> Vector:
    """Return Aᵀv without the product by A's one zero: 8 multiplications, 5 additions."""
    first, second, third = rotation.rows
    return Vector(
        first.x * v.x + second.x * v.y,
        first.y * v.x + second.y * v.y + third.y * v.z,
        first.z * v.x + second.z * v.y + third.z * v.z,
    )


def forth(rotation: Matrix3, v: Vector) -> Vector:
    """Return A v, likewise."""
    first, second, third = rotation.rows
    return Vector(first.dot(v), second.dot(v), third.y * v.y + third.z * v.z)


def identity(algebra: Algebra) -> Matrix3:
    """Return the rotation after the last link."""
    rows = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
    first, second, third = (constants(algebra, row) for row in rows)
    return Matrix3((first, second, third))


def with_rotor(link: Link, algebra: Algebra, torque: Element, rate: Element) -> Element:
    """Return the torque with what the rotor's inertia adds, where there is one."""
    if not link.joint_inertia:
        return torque
    return torque + algebra.constant(link.joint_inertia) * rate
