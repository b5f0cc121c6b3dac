"""The robot as a value: a chain or a tree of links in DH form or general frames, SI units."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from boolcomp.base.errors import angle, number
from boolcomp.problem.span import Span, span_of
from boolcomp.problem.words import USUAL_FORMAT

if TYPE_CHECKING:
    from boolcomp.problem.interval import Interval
    from boolcomp.problem.words import WordFormat

JointType = Literal["revolute", "prismatic"]
Triple = tuple[float, float, float]
Inertia = tuple[float, float, float, float, float, float]
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")


@dataclass(frozen=True, slots=True)
class Pose:
    """Where a frame lies in another: its origin, and roll, pitch and yaw about the other's axes."""

    origin: Triple
    rotation: Triple


@dataclass(frozen=True, slots=True)
class Link:
    """One joint and the link it moves, seen from the link's own frame (standard DH).

    The frame of link i is that of link i-1 turned by theta about z, shifted by d along z and a
    along the new x, and turned by alpha about the new x. A revolute joint adds q to theta, a
    prismatic one adds it to d. Where a link has a `pose`, its frame lies so in the frame of link
    i-1 while q is zero, and turns about (slides along) its own `axis` through the frame's origin;
    a, alpha, d and theta are zero then and mean nothing. Link i-1 is that of the joint before, or
    of `parent`, the number of an earlier joint, 0 for the base. Centre of mass and inertia (xx, yy,
    zz, xy, yz, xz, about the centre of mass) are in the link's frame. Rotor inertia and friction
    are those at the motor shaft: they reach the joint through the gear ratio. `position` is where
    the joint may go; its word spans what `span` says, or `word_range`; `word` says what else is
    asked of it. What its drive can give and its encoder counts are for simulation alone; 0 where
    nothing is said.
    """

    type: JointType
    a: float
    alpha: float
    d: float
    theta: float
    mass: float
    center_of_mass: Triple
    inertia: Inertia
    rotor_inertia: float
    gear_ratio: float
    viscous_friction: float
    coulomb_friction: tuple[float, float]
    position: Interval
    velocity: Interval
    acceleration: Interval
    torque: Interval
    doubt: str = ""
    word_range: Interval | None = None
    pose: Pose | None = None
    axis: Triple = (0.0, 0.0, 1.0)
    parent: int | None = None
    word: WordFormat = USUAL_FORMAT
    torque_limit: float = 0.0
    encoder_step: float = 0.0

    @property
    def revolute(self) -> bool:
        """Whether the joint turns (otherwise it slides)."""
        return self.type == "revolute"

    @property
    def span(self) -> Span:
        """What the word of its position spans."""
        return span_of(self.position, self.word_range, revolute=self.revolute)

    @property
    def torque_unit(self) -> str:
        """N·m where the joint turns, N where it slides."""
        return "N·m" if self.revolute else "N"

    @property
    def joint_inertia(self) -> float:
        """Rotor inertia as felt at the joint, Jm·G²: kg·m², or kg for a prismatic joint."""
        return self.rotor_inertia * self.gear_ratio**2

    def __str__(self) -> str:
        return "\n".join(_link_lines(self))


@dataclass(frozen=True, slots=True, repr=False)
class Robot:
    """An arm on a fixed base, serial or branched; `gravity` is the acceleration of free fall.

    `base` says where the base frame lies in the world, in whose axes gravity is; without it the two
    are one. `tool` is the tip in the last link's frame; without it the tip is that frame. The text
    (`str(robot)`) is a robot file: reading it gives an equal robot.
    """

    name: str
    title: str
    source: str
    doubt: str
    gravity: Triple
    links: tuple[Link, ...]
    tool: Pose | None = None
    base: Pose | None = None
    control_rate: float = 0.0

    @property
    def general(self) -> bool:
        """Whether a joint's frame is none of Denavit and Hartenberg's."""
        return any(link.pose is not None for link in self.links)

    @property
    def parents(self) -> tuple[int, ...]:
        """The number of the joint before each, counted from 1; 0 is the base."""
        return tuple(k if x.parent is None else x.parent for k, x in enumerate(self.links))

    @property
    def branched(self) -> bool:
        """Whether some joint does not follow the one before it: a tree, and no chain."""
        return self.parents != tuple(range(self.joints))

    @property
    def mechanism(self) -> Robot:
        """The arm without its drives and its control rate: what logic is compiled for."""
        links = (replace(link, torque_limit=0.0, encoder_step=0.0) for link in self.links)
        return replace(self, links=tuple(links), control_rate=0.0)

    @property
    def joints(self) -> int:
        """The number of joints."""
        return len(self.links)

    @property
    def mass(self) -> float:
        """The total mass of the links in kg."""
        return sum(link.mass for link in self.links)

    def __str__(self) -> str:
        head = [f"name = {_quoted(self.name)}"]
        for key, value in (("title", self.title), ("source", self.source), ("doubt", self.doubt)):
            if value:
                head.append(f"{key} = {_quoted(value)}")
        head.append(f"gravity = {_list(self.gravity)}")
        if self.control_rate:
            head.append(f"control_rate = {number(self.control_rate)}")
        if self.base is not None:
            head += _pose_lines(self.base, "base_")
        if self.tool is not None:
            head += _pose_lines(self.tool, "tool_")
        return "\n\n".join(["\n".join(head), *(str(link) for link in self.links)]) + "\n"

    __repr__ = __str__


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    # What no TOML text may hold as it is; a tab it may.
    escaped = _CONTROL.sub(lambda match: rf"\u{ord(match[0]):04x}", escaped)
    return f'"{escaped}"'


def _list(values: tuple[float, ...]) -> str:
    return f"[{', '.join(number(value) for value in values)}]"


def _angle(value: float) -> str:
    text = angle(value)
    return _quoted(text) if "pi" in text else text


def _interval(interval: Interval) -> str:
    return f"[{_angle(interval.low)}, {_angle(interval.high)}]"


def _frame_lines(link: Link) -> list[str]:
    if link.pose is not None:
        return [*_pose_lines(link.pose), f"axis = {_list(link.axis)}"]
    return [
        f"a = {number(link.a)}",
        f"alpha = {_angle(link.alpha)}",
        f"d = {number(link.d)}",
        f"theta = {_angle(link.theta)}",
    ]


def _pose_lines(pose: Pose, prefix: str = "") -> list[str]:
    angles = ", ".join(map(_angle, pose.rotation))
    return [f"{prefix}origin = {_list(pose.origin)}", f"{prefix}rotation = [{angles}]"]


def _link_lines(link: Link) -> list[str]:
    inertia = link.inertia if any(link.inertia[3:]) else link.inertia[:3]
    lines = [
        "[[joint]]",
        f'type = "{link.type}"',
        *([] if link.parent is None else [f"parent = {link.parent}"]),
        *_frame_lines(link),
        f"mass = {number(link.mass)}" if link.mass else "massless = true",
        f"center_of_mass = {_list(link.center_of_mass)}",
        f"inertia = {_list(inertia)}",
        f"rotor_inertia = {number(link.rotor_inertia)}",
        f"gear_ratio = {number(link.gear_ratio)}",
        f"viscous_friction = {number(link.viscous_friction)}",
        f"coulomb_friction = {_list(link.coulomb_friction)}",
        f"position_range = {_interval(link.position)}",
        f"velocity_range = {_interval(link.velocity)}",
        f"acceleration_range = {_interval(link.acceleration)}",
        f"torque_range = {_interval(link.torque)}",
    ]
    if link.word_range is not None:
        lines.insert(-3, f"word_range = {_interval(link.word_range)}")
    for key, value in (
        ("bits", link.word.bits),
        ("code", link.word.code),
        ("zero", link.word.zero),
    ):
        if value is not None:
            shown = _quoted(value) if isinstance(value, str) else str(value)
            lines.insert(-3, f"word_{key} = {shown}")
    for key, given in (("torque_limit", link.torque_limit), ("encoder_step", link.encoder_step)):
        if given:
            lines.append(f"{key} = {number(given)}")
    return [*lines, f"doubt = {_quoted(link.doubt)}"] if link.doubt else lines
