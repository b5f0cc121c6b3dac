"""From a URDF's tree of links to the serial arm between two of them.

Whatever hangs on the arm moves with it: what is fixed to a link is one body with it, and joints
that are none of the arm's stand still at zero. The base stands as it does when the joints above it
are at zero, and gravity points down the root's z.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from boolcomp.common.errors import LONGEST_NAME, UsageError, cut, listing, shown, suggestion
from boolcomp.common.text import number
from boolcomp.problem.interval import Interval, round_above, width_problem
from boolcomp.problem.robot import limits
from boolcomp.problem.robot.bodies import Body, merged
from boolcomp.problem.robot.frames import (
    HERE,
    applied,
    composed,
    rotation_rows,
    squared,
    transposed,
)
from boolcomp.problem.robot.inertia import check_inertia
from boolcomp.problem.robot.model import Link, Pose, Robot
from boolcomp.problem.span import TURN

if TYPE_CHECKING:
    from collections.abc import Iterator

    from boolcomp.problem.robot.urdf import Urdf, UrdfJoint

GRAVITY = 9.81
SPEEDS = {True: math.pi, False: 1.0}  # of turning and sliding joints, where a file gives none
STARTING = 0.25  # seconds in which a joint comes to its full speed: URDF has no accelerations
MANY_TURNS = 4
NEAR = 5e-5  # so near a right angle an angle was printed to five digits
MANY = 6  # names that a message lists


Reach = Callable[[Robot], Sequence[float]]


@dataclass(frozen=True, slots=True)
class Chain:
    """The arm between two links: its joints that move, base first."""

    urdf: Urdf
    base: str
    tip: str
    joints: tuple[UrdfJoint, ...]
    leaves: tuple[str, ...] = ()  # where it could have ended as well, if nobody said


@dataclass(frozen=True, slots=True)
class Arm:
    """A robot, the chain it was made from, and what had to be proposed or is doubtful."""

    chain: Chain
    robot: Robot
    notes: tuple[str, ...]

    def __str__(self) -> str:
        """Return the robot's file, with comments that say where everything comes from."""
        head, *links = str(self.robot).split("[[joint]]\n")
        lines = [f"# Made from {shown(self.robot.source)} by boolcomp robots."]
        lines += [f"# {note[0].upper()}{note[1:]}." for note in self.notes]
        lines += ["# Gravity points down the root's z.", head.rstrip()]
        for joint, link in zip(self.chain.joints, links, strict=True):
            ends = f"{shown(joint.parent)} to {shown(joint.child)}"
            lines += [
                "",
                f"# {shown(joint.name)}, {joint.kind}: {ends}",
                "[[joint]]",
                link.rstrip(),
            ]
        return "\n".join(lines) + "\n"


def chain_of(urdf: Urdf, base: str | None = None, tip: str | None = None) -> Chain:
    """Return the chain from a base (the root) to a tip (the only one that an arm can have)."""
    for name in (base, tip):
        if name is not None and name not in urdf.links:
            raise UsageError(
                f"{urdf.element.where}: no link is called {shown(name)}"
                f"{suggestion(name, urdf.links)}"
            )
    start = urdf.root if base is None else base
    leaves = tuple(link for link in _hanging(urdf, start) if not urdf.below[link])
    end = _only_tip(urdf, start, leaves) if tip is None else tip
    path = list(_way_up(urdf, start, end))[::-1]
    for joint in path:
        if joint.kind != "fixed" and not joint.moving:
            joint.element.fail(f"a {joint.kind} joint between {start} and {end}: no arm has one")
        if joint.mimics is not None and joint.moving:
            joint.element.fail(
                f"it mimics joint {shown(joint.mimics)}: arms whose joints move together are not "
                "read; choose a base or a tip that leaves it out"
            )
    joints = tuple(joint for joint in path if joint.moving)
    if not joints:
        raise UsageError(
            f"{urdf.element.where}: no joint moves between {shown(start)} and {shown(end)}"
        )
    if len(joints) > limits.MOST_JOINTS:
        most = limits.MOST_JOINTS
        raise UsageError(f"{urdf.element.where}: {len(joints)} joints: an arm has at most {most}")
    return Chain(urdf, start, end, joints, leaves if tip is None else ())


def _way_up(urdf: Urdf, base: str, tip: str) -> Iterator[UrdfJoint]:
    link = tip
    while link != base:
        if link not in urdf.above:
            raise UsageError(
                f"{urdf.element.where}: {shown(tip)} does not hang on {shown(base)}: "
                f"it hangs on {_listed([j.parent for j in _way_up(urdf, urdf.root, tip)])}"
            )
        yield urdf.above[link]
        link = urdf.above[link].parent


def _only_tip(urdf: Urdf, base: str, leaves: Sequence[str]) -> str:
    """Return the leaf that the base's only arm ends in, or the last link that moves."""
    arms: dict[tuple[str, ...], list[str]] = {}
    for leaf in leaves:
        moved = tuple(j.child for j in _way_up(urdf, base, leaf) if j.moving)[::-1]
        arms.setdefault(moved, []).append(leaf)
    whole = [arm for arm in arms if not any(o != arm and o[: len(arm)] == arm for o in arms)]
    if len(whole) > 1 or not whole[0]:
        raise UsageError(
            f"{urdf.element.where}: say with --tip where the arm ends, in any of its links: "
            f"its leaves are {_listed(leaves, 4 * MANY)}"
        )
    ends = arms[whole[0]]
    return ends[0] if len(ends) == 1 else whole[0][-1]


def _hanging(urdf: Urdf, link: str) -> Iterator[str]:
    """Yield a link and all that hangs on it."""
    todo = [link]
    while todo:
        link = todo.pop()
        yield link
        todo += [joint.child for joint in reversed(urdf.below[link])]


def _listed(names: Sequence[str], most: int = MANY) -> str:
    more = len(names) - most
    return listing([*map(cut, names[:most]), *([f"and {more} more"] if more > 0 else [])])


def arm_of(chain: Chain, reach: Reach, *, right_angles: bool = False) -> Arm:
    """Return a chain as a robot, and sentences about what its file does not say.

    `reach` tells how large an arm's torques become: for joints whose effort is not given. Angles
    printed as 1.5708 are right ones if `right_angles` says so.
    """
    tree = _Tree(chain.urdf, NEAR if right_angles else 0.0)
    joints, links, held = chain.joints, [], list[str]()
    before = tree.between(chain.base, joints[0].parent)
    for joint, after in zip(joints, (*joints[1:], None), strict=True):
        body = merged(list(tree.carried(joint.child, after, held)))
        links.append(_link(joint, composed(before, tree.pose(joint)), body))
        before = tree.between(joint.child, chain.tip if after is None else after.parent)
    root = rotation_rows(tree.between(chain.urdf.root, chain.base).rotation)
    robot = Robot(
        name=_file_name(chain.urdf.name), title=f"{chain.base} to {chain.tip}",
        source=Path(chain.urdf.element.where).name, doubt="",
        gravity=applied(transposed(root), (0.0, 0.0, -GRAVITY)), links=tuple(links),
        tool=None if before == HERE else before,
    )  # fmt: skip
    notes = [*_chosen(chain), *_proposed(joints), *_held(held)]
    notes += [] if right_angles else _nearly_right(chain)
    robot = _with_torques(robot, joints, reach)
    return Arm(chain, replace(robot, doubt="; ".join(notes)), tuple(notes))


class _Tree:
    """A URDF's tree, its angles right ones within a tolerance."""

    def __init__(self, urdf: Urdf, tolerance: float) -> None:
        self.urdf, self.tolerance = urdf, tolerance

    def pose(self, joint: UrdfJoint) -> Pose:
        return squared(joint.pose, self.tolerance)

    def between(self, top: str, bottom: str) -> Pose:
        """Return where a link lies in one that it hangs on, all joints at zero."""
        pose = HERE
        for joint in reversed(list(_way_up(self.urdf, top, bottom))):
            pose = composed(pose, self.pose(joint))
        return pose

    def carried(self, link: str, after: UrdfJoint | None, held: list[str]) -> Iterator[Body]:
        """Yield the bodies that move with a link, but for what the joint after it moves."""
        todo = [(link, HERE)]
        while todo:
            name, pose = todo.pop()
            inertial = self.urdf.links[name].inertial
            if inertial is not None:
                body = Body(inertial.mass, HERE.origin, inertial.inertia)
                yield body.seen_from(inertial.pose).seen_from(pose)
            for joint in self.urdf.below[name]:
                if joint is not after:
                    todo.append((joint.child, composed(pose, self.pose(joint))))
                    held += [joint.name] * (joint.kind != "fixed")


def _link(joint: UrdfJoint, pose: Pose, body: Body) -> Link:
    revolute = joint.kind != "prismatic"
    if 0 < body.mass < limits.LEAST_MASS:
        joint.element.fail(f"it moves {body.mass:g} kg: at least {limits.LEAST_MASS:g} or nothing")
    problem, doubtful = check_inertia(body.inertia)
    if problem:
        joint.element.fail(f"the inertia of what it moves is {problem}")
    for key, values in (
        ("origin", pose.origin), ("center_of_mass", body.centre), ("mass", [body.mass]),
        ("inertia", body.inertia),
    ):  # fmt: skip
        size = limits.size_problem(key, max(map(abs, values)), revolute=True)
        if size:
            joint.element.fail(f"the {key.replace('_', ' ')} {size}")
    speed = joint.limit.velocity or SPEEDS[revolute]
    torque = joint.limit.effort or 1.0
    return Link(
        type="revolute" if revolute else "prismatic",
        a=0.0, alpha=0.0, d=0.0, theta=0.0, pose=pose, axis=joint.axis,
        mass=body.mass, center_of_mass=body.centre, inertia=body.inertia,
        rotor_inertia=0.0, gear_ratio=1.0,
        viscous_friction=joint.damping, coulomb_friction=(joint.friction, joint.friction),
        position=_position(joint),
        velocity=Interval(-speed, speed),
        acceleration=_symmetric(round_above(speed / STARTING)),
        torque=Interval(-torque, torque),
        doubt=doubtful,
    )  # fmt: skip


def _position(joint: UrdfJoint) -> Interval:
    low, high = joint.limit.lower, joint.limit.upper
    endless = joint.kind == "continuous"
    if endless or low is None or high is None or not 0 <= high - low <= MANY_TURNS * TURN:
        if joint.kind == "prismatic":
            joint.element.fail("<limit lower=… upper=…> is missing: how far it slides, in metres")
        return Interval(-TURN / 2, TURN / 2)
    revolute = joint.kind != "prismatic"
    size = limits.size_problem("position_range", max(abs(low), abs(high)), revolute=revolute)
    if problem := size or (low < high and width_problem(low, high)):
        joint.element.fail(f"its limits: {problem}")
    return Interval(low, high)


def _with_torques(robot: Robot, joints: Sequence[UrdfJoint], reach: Reach) -> Robot:
    """Return the robot with torque ranges where the file gives no effort."""
    missing = [joint.limit.effort is None for joint in joints]
    if not any(missing):
        return robot
    links = list(robot.links)
    for k, most in enumerate(reach(robot)):
        if missing[k]:
            size = round_above(most)
            if problem := width_problem(-size, size) or limits.size_problem(
                "torque_range", size, revolute=links[k].revolute
            ):
                joints[k].element.fail(f"its torque range {problem}")
            links[k] = replace(links[k], torque=_symmetric(size))
    return replace(robot, links=tuple(links))


def _symmetric(most: float) -> Interval:
    return Interval(-most, most)


def _chosen(chain: Chain) -> Iterator[str]:
    if len(chain.leaves) > 1:
        leaves = _listed(chain.leaves)
        yield f"the arm ends in {chain.tip}; --tip may say another link (leaves: {leaves})"


def _proposed(joints: Sequence[UrdfJoint]) -> Iterator[str]:
    """Yield what was proposed because the file does not say it."""
    yield "accelerations are proposed: those that give full speed within a quarter of a second"
    slow = [joint for joint in joints if joint.limit.velocity is None]
    for kind, unit in (("continuous", "pi rad/s"), ("prismatic", "1 m/s")):
        of_kind = [j.name for j in slow if (j.kind == "prismatic") == (kind == "prismatic")]
        if of_kind:
            yield f"speeds of up to {unit} are proposed for {_listed(of_kind)}"
    weak = [joint.name for joint in joints if joint.limit.effort is None]
    if weak:
        yield f"torque ranges are proposed for {_listed(weak)}: what they reach, rounded up"
    for joint in joints:
        low, high = joint.limit.lower, joint.limit.upper
        if joint.kind != "revolute":
            continue
        if low is None or high is None:
            yield f"{joint.name} has no limits of its position: taken as one full turn"
        elif not high - low <= MANY_TURNS * TURN:
            yield f"{joint.name} has limits of more than {MANY_TURNS} turns: taken as one full turn"


def _held(names: Sequence[str]) -> Iterator[str]:
    if names:
        yield f"held at zero: {_listed(names)}"


def _nearly_right(chain: Chain) -> Iterator[str]:
    """Yield a note on angles that were printed with few digits; not on those of the tool."""
    found = [
        (number(angle), joint.element.line)
        for joint in _way_up(chain.urdf, chain.base, chain.joints[-1].child)
        for angle, right in zip(
            joint.pose.rotation, squared(joint.pose, NEAR).rotation, strict=True
        )
        if angle != right
    ]
    if found:
        angle, line = found[-1]
        where = f"line {line}" + (", and others" if len(found) > 1 else "")
        yield f"{angle} is nearly a right angle ({where}): --right-angles makes it one"


def _file_name(name: str) -> str:
    """Return a robot's name as robot files may have it."""
    kept = re.sub(r"[^A-Za-z0-9_.-]+", "-", name).lstrip("_.-")[:LONGEST_NAME].rstrip("-")
    return kept or "robot"
