"""The variables of a torque: position, speed and acceleration of each joint, with their ranges."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from boolcomp.problem.interval import Interval
    from boolcomp.problem.robot import Robot

Kind = Literal["q", "qd", "qdd"]


@dataclass(frozen=True, slots=True)
class Variable:
    """One word variable, such as q2 over -pi .. pi; `turns` where it is an angle.

    `range` is where the logic holds; its code spans `word` where that is more, and `wraps` where
    2π + x is x.
    """

    kind: Kind
    joint: int
    range: Interval
    turns: bool = False
    word: Interval | None = None
    wraps: bool = False

    @property
    def spanned(self) -> Interval:
        """What its code spans."""
        return self.word or self.range

    @property
    def name(self) -> str:
        """`q1`, `qd1`, `qdd1`: joints count from one."""
        return f"{self.kind}{self.joint}"

    def __str__(self) -> str:
        return f"{self.name} in {self.range}"


def position(robot: Robot, joint: int) -> Variable:
    """Return q of a joint (counted from one)."""
    link = robot.links[joint - 1]
    span = link.span
    word = None if span.word == span.reach else span.word
    return Variable("q", joint, span.reach, link.revolute, word, span.wraps)


def speed(robot: Robot, joint: int) -> Variable:
    """Return q̇ of a joint."""
    return Variable("qd", joint, robot.links[joint - 1].velocity)


def acceleration(robot: Robot, joint: int) -> Variable:
    """Return q̈ of a joint."""
    return Variable("qdd", joint, robot.links[joint - 1].acceleration)
