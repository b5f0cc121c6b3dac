"""A point mass at the tip whose mass is an input: whatever forces do is linear in it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from boolcomp.problem.robot.payload import with_payload

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from boolcomp.problem.expressions.algebra import Algebra, Element
    from boolcomp.problem.robot.model import Link, Robot


def with_load(
    text: Callable[..., list[Element]],
    place: int,
    robot: Robot,
    algebra: Algebra,
    *state: Sequence[Element],
) -> list[Element]:
    """Return f(robot) + mass · f(a kilogram at the tip), of a text f that is linear in masses.

    `place` is that of the load among what makes a state.
    """
    (mass,) = state[place]
    others = *state[:place], *state[place + 1 :]
    plain = text(robot, algebra, *others)
    more = text(one_kilogram(robot), algebra, *others)
    return [a + mass * b for a, b in zip(plain, more, strict=True)]


def one_kilogram(robot: Robot) -> Robot:
    """Return the robot's geometry with nothing that weighs, but a kilogram at its tip."""
    return with_payload(replace(robot, links=tuple(map(_weightless, robot.links))), 1.0)


def _weightless(link: Link) -> Link:
    return replace(
        link,
        mass=0.0,
        center_of_mass=(0.0, 0.0, 0.0),
        inertia=(0.0, 0.0, 0.0, 0.0, 0.0, 0.0),
        rotor_inertia=0.0,
        viscous_friction=0.0,
        coulomb_friction=(0.0, 0.0),
    )
