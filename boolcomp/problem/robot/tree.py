"""Trees of links as robot files describe them, chains of joints in them, and arms from chains.

Bodies that are fixed to a link are merged with it. Joints outside of the chain are fixed at zero,
those above the base included. Gravity is that of the file, by default down the root's z.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from boolcomp.base.errors import (
    LONGEST_NAME,
    UsageError,
    cut,
    listing,
    number,
    shown,
    suggestion,
)
from boolcomp.problem.robot import model
from boolcomp.problem.robot.model import (
    HERE,
    Body,
    Link,
    Pose,
    Robot,
    Z,
    applied,
    check_inertia,
    composed,
    merged,
    rotation_rows,
    snapped,
    transposed,
)
from boolcomp.problem.words import TURN, Interval, round_above, width_problem

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from boolcomp.problem.robot.model import Inertia, Triple
    from boolcomp.problem.robot.xml import Element


# --------------------------------------------------------------------------------------------------
# Trees of links: links with their inertias, joints with frames and limits.
# --------------------------------------------------------------------------------------------------

MOVING = ("revolute", "continuous", "prismatic")
GRAVITY = 9.81
DOWN: Triple = (0.0, 0.0, -GRAVITY)


@dataclass(frozen=True, slots=True)
class Inertial:
    """A mass and its inertia about the centre, in the axes of a frame with this pose."""

    pose: Pose
    mass: float
    inertia: Inertia


@dataclass(frozen=True, slots=True)
class Limit:
    """Limits of a joint's position, speed and torque (force); None if not given."""

    lower: float | None = None
    upper: float | None = None
    velocity: float | None = None
    effort: float | None = None


@dataclass(frozen=True, slots=True)
class Drive:
    """A joint's motor: rotor inertia at its shaft, gear ratio, friction at the joint.

    `given` names the place of the rotor inertia in the file, for a note.
    """

    damping: float = 0.0
    friction: float = 0.0
    rotor_inertia: float = 0.0
    gear_ratio: float = 1.0
    given: str = ""


@dataclass(frozen=True, slots=True)
class TreeLink:
    """A link: a body, or a frame alone; `unknown` is the reason why its inertia is unknown."""

    name: str
    inertial: Inertial | None
    element: Element
    unknown: str = ""


@dataclass(frozen=True, slots=True)
class TreeJoint:
    """A joint: the pose of the child's frame in the parent's, the joint's axis and limits."""

    name: str
    kind: str
    parent: str
    child: str
    pose: Pose
    axis: Triple
    limit: Limit
    drive: Drive
    mimics: str | None
    element: Element

    @property
    def moving(self) -> bool:
        return self.kind in MOVING


@dataclass(frozen=True, slots=True)
class LinkTree:
    """A tree of links: the joint above each link and the joints below it, by the link's name.

    `gravity` is in the axes of the root; `notes` name the parts of the file that are ignored.
    """

    name: str
    links: dict[str, TreeLink]
    above: dict[str, TreeJoint]
    below: dict[str, list[TreeJoint]]
    root: str
    element: Element
    gravity: Triple = DOWN
    notes: tuple[str, ...] = ()


def limit_size(value: float, meant: str, *, revolute: bool) -> float | None:
    """Return the absolute value of a limit; None if it is too small or too large for an arm."""
    size = abs(value)
    invalid = width_problem(-size, size) or model.size_problem(meant, size, revolute=revolute)
    return None if invalid else size


def fixed_joint(name: str, parent: str, child: str, pose: Pose, element: Element) -> TreeJoint:
    """Return a fixed joint between the frame of a moving joint and its child."""
    return TreeJoint(
        f"{name}/fixed", "fixed", parent, child, pose, Z, Limit(), Drive(), None, element
    )


def links_of(links: Iterable[TreeLink]) -> dict[str, TreeLink]:
    """Return links by their names, which must differ."""
    found: dict[str, TreeLink] = {}
    for link in links:
        if link.name in found:
            first = _line(found[link.name])
            link.element.fail(f"a second link of this name; the first is in {first}")
        found[link.name] = link
    return found


def tree_of(
    top: Element,
    name: str,
    links: dict[str, TreeLink],
    joints: Iterable[TreeJoint],
    *,
    gravity: Triple = DOWN,
    notes: Iterable[str] = (),
) -> LinkTree:
    """Return the tree of links and joints; errors name line and element."""
    above: dict[str, TreeJoint] = {}
    names: dict[str, TreeJoint] = {}
    for joint in joints:
        element = joint.element
        if joint.name in names:
            element.fail(f"a second joint of this name; the first is in {_line(names[joint.name])}")
        if joint.child in above:
            other = above[joint.child].name
            element.fail(f"link {shown(joint.child)} is moved by joint {shown(other)} already")
        above[joint.child] = names[joint.name] = joint
    below: dict[str, list[TreeJoint]] = {name: [] for name in links}
    for joint in above.values():
        below[joint.parent].append(joint)
    root = _root(top, links, above, below)
    return LinkTree(name, links, above, below, root, top, gravity, tuple(notes))


def _line(value: TreeLink | TreeJoint) -> str:
    return f"line {value.element.line}"


def _root(
    top: Element,
    links: dict[str, TreeLink],
    above: dict[str, TreeJoint],
    below: dict[str, list[TreeJoint]],
) -> str:
    roots = [name for name in links if name not in above]
    if not roots:
        top.fail("every link is moved by a joint: the joints form a cycle")
    if len(roots) > 1:
        links[roots[1]].element.fail(
            f"no joint moves it or link {shown(roots[0])}: there must be one root"
        )
    todo, left = [roots[0]], dict(links)
    while todo:
        del left[link := todo.pop()]
        todo += [joint.child for joint in below[link]]
    for lost in left.values():
        lost.element.fail("the joints above it form a cycle")
    return roots[0]


# --------------------------------------------------------------------------------------------------
# Chains: the joints between a base and one or several tips.
#
# Joints are numbered from the base to the first tip; then come the joints that each further tip
# adds.
# --------------------------------------------------------------------------------------------------

MANY = 6  # names that a message lists


@dataclass(frozen=True, slots=True)
class Chain:
    """The moving joints between a base and its tips.

    `parents` are the numbers (from 1) of the joints before them, 0 for the base. `leaves` are the
    other possible tips, if the user chose none.
    """

    tree: LinkTree
    base: str
    tips: tuple[str, ...]
    joints: tuple[TreeJoint, ...]
    parents: tuple[int, ...]
    leaves: tuple[str, ...] = ()


def chain_of(tree: LinkTree, base: str | None = None, tips: Sequence[str] = ()) -> Chain:
    """Return the chain from a base (default: the root) to tips (default: the only possible one)."""
    for name in (base, *tips):
        if name is not None and name not in tree.links:
            raise UsageError(f"no link is called {shown(name)}", suggestion(name, tree.links))
    start = tree.root if base is None else base
    leaves = tuple(link for link in _descendants(tree, start) if not tree.below[link])
    ends = tuple(tips) or (_only_tip(tree, start, leaves),)
    joints: list[TreeJoint] = []
    for end in ends:
        added = [joint for joint in _arm_to(tree, start, end) if joint not in joints]
        if not added:
            raise UsageError(f"the tip {shown(end)} adds no joint", "leave it out")
        joints += added
    if len(joints) > model.MOST_JOINTS:
        raise UsageError(
            f"{len(joints)} joints are too many",
            f"an arm has at most {model.MOST_JOINTS}: select it with --base and --tip",
        )
    numbers = {joint.child: number for number, joint in enumerate(joints, 1)}
    parents = []
    for joint in joints:
        before = [up.child for up in joints_above(tree, start, joint.parent) if up.child in numbers]
        parents.append(numbers[before[0]] if before else 0)
    return Chain(tree, start, ends, tuple(joints), tuple(parents), () if tips else leaves)


def joints_above(tree: LinkTree, base: str, tip: str) -> Iterator[TreeJoint]:
    """Yield the joints between two links, from the tip up."""
    link = tip
    while link != base:
        if link not in tree.above:
            raise UsageError(
                f"{shown(tip)} is not below {shown(base)}",
                f"it is below {listed([j.parent for j in joints_above(tree, tree.root, tip)])}",
            )
        yield tree.above[link]
        link = tree.above[link].parent


def _arm_to(tree: LinkTree, base: str, tip: str) -> list[TreeJoint]:
    """Return the moving joints between two links, base first; other than arm joints are errors."""
    path = list(joints_above(tree, base, tip))[::-1]
    for joint in path:
        if joint.kind != "fixed" and not joint.moving:
            joint.element.fail(
                f"a {joint.kind} joint between {base} and {tip}: not possible in an arm"
            )
        if joint.mimics is not None and joint.moving:
            joint.element.fail(
                f"it mimics joint {shown(joint.mimics)}: arms whose joints move together are not "
                "read", "choose a base or a tip that leaves it out",
            )  # fmt: skip
    joints = [joint for joint in path if joint.moving]
    if not joints:
        raise UsageError(
            f"no joint moves between {shown(base)} and {shown(tip)}",
            "give another --base or --tip",
        )  # fmt: skip
    return joints


def _only_tip(tree: LinkTree, base: str, leaves: Sequence[str]) -> str:
    """Return the leaf of the base's only arm, or its last moving link if it has several leaves."""
    arms: dict[tuple[str, ...], list[str]] = {}
    for leaf in leaves:
        moved = tuple(j.child for j in joints_above(tree, base, leaf) if j.moving)[::-1]
        arms.setdefault(moved, []).append(leaf)
    whole = [arm for arm in arms if not any(o != arm and o[: len(arm)] == arm for o in arms)]
    if len(whole) > 1 or not whole[0]:
        raise UsageError(
            "the model has several tips",
            "give the link where the arm ends with --tip: its leaves are "
            f"{listed(leaves, 4 * MANY)}",
        )  # fmt: skip
    ends = arms[whole[0]]
    return ends[0] if len(ends) == 1 else whole[0][-1]


def _descendants(tree: LinkTree, link: str) -> Iterator[str]:
    """Yield a link and all its descendants."""
    todo = [link]
    while todo:
        link = todo.pop()
        yield link
        todo += [joint.child for joint in reversed(tree.below[link])]


def listed(names: Sequence[str], most: int = MANY) -> str:
    """Return names for a message, at most `most` of them."""
    more = len(names) - most
    return listing([*map(cut, names[:most]), *([f"and {more} more"] if more > 0 else [])])


# --------------------------------------------------------------------------------------------------
# Arms: robots from chains, with notes about data that the file does not contain.
# --------------------------------------------------------------------------------------------------

SPEEDS = {True: math.pi, False: 1.0}  # default of turning and of sliding joints
STARTING = 0.25  # seconds from rest to full speed: files contain no accelerations
MANY_TURNS = 4
NEAR = 5e-5  # an angle that differs less from a right angle may be one printed to five digits

Reach = Callable[[Robot], Sequence[float]]


@dataclass(frozen=True, slots=True)
class Arm:
    """A robot, its chain, and notes about proposed and doubtful values."""

    chain: Chain
    robot: Robot
    notes: tuple[str, ...]

    def __str__(self) -> str:
        """Return the robot's file, with comments that name the sources of its values."""
        head, *links = str(self.robot).split("[[joint]]\n")
        lines = [f"# Made from {shown(self.robot.source)} by boolcomp robots."]
        lines += [f"# {note[0].upper()}{note[1:]}." for note in self.notes]
        lines += ["# Gravity points down the root's z."] * (self.chain.tree.gravity == DOWN)
        lines += [head.rstrip()]
        for joint, link in zip(self.chain.joints, links, strict=True):
            ends = f"{shown(joint.parent)} to {shown(joint.child)}"
            comment = f"# {shown(joint.name)}, {joint.kind}: {ends}"
            lines += ["", comment, "[[joint]]", link.rstrip()]
        return "\n".join(lines) + "\n"


def arm_of(chain: Chain, reach: Reach, *, right_angles: bool = False) -> Arm:
    """Return a chain as a robot, with notes about data that its file does not contain.

    `reach` returns an arm's largest torques, for joints without effort. `right_angles` takes
    angles printed as 1.5708 for right angles.
    """
    tree = _Measured(chain.tree, NEAR if right_angles else 0.0)
    joints, links, held = chain.joints, [], list[str]()
    for number_before, (joint, parent) in enumerate(zip(joints, chain.parents, strict=True)):
        top = joints[parent - 1].child if parent else chain.base
        body = merged(list(tree.moving_bodies(joint.child, joints, held)))
        pose = composed(tree.between(top, joint.parent), tree.pose(joint))
        link = _link(joint, pose, body)
        links.append(link if parent == number_before else replace(link, parent=parent))
    tool = tree.between(joints[-1].child, chain.tips[-1])
    root = rotation_rows(tree.between(chain.tree.root, chain.base).rotation)
    robot = Robot(
        name=_file_name(chain.tree.name), title=f"{chain.base} to {listing(chain.tips)}",
        source=Path(chain.tree.element.where).name, doubt="",
        gravity=applied(transposed(root), chain.tree.gravity), links=tuple(links),
        tool=None if tool == HERE else tool,
    )  # fmt: skip
    notes = [*_chosen(chain), *_proposed(joints), *_read(joints)]
    notes += [f"held at zero: {listed(held)}"] * bool(held)
    notes += chain.tree.notes
    notes += [] if right_angles else _nearly_right(chain)
    robot = _with_torques(robot, joints, reach)
    return Arm(chain, replace(robot, doubt="; ".join(notes)), tuple(notes))


class _Measured:
    """Poses and bodies of a tree; angles within a tolerance of right angles are right angles."""

    def __init__(self, tree: LinkTree, tolerance: float) -> None:
        self.tree, self.tolerance = tree, tolerance

    def pose(self, joint: TreeJoint) -> Pose:
        return snapped(joint.pose, self.tolerance)

    def between(self, top: str, bottom: str) -> Pose:
        """Return the pose of a link in one of its ancestors, with all joints at zero."""
        pose = HERE
        for joint in reversed(list(joints_above(self.tree, top, bottom))):
            pose = composed(pose, self.pose(joint))
        return pose

    def moving_bodies(self, link: str, arm: Sequence[TreeJoint], held: list[str]) -> Iterator[Body]:
        """Yield the bodies that move with a link, without those behind other joints of the arm."""
        todo = [(link, HERE)]
        while todo:
            name, pose = todo.pop()
            found = self.tree.links[name]
            if found.unknown:
                found.element.fail(found.unknown)
            if found.inertial is not None:
                body = Body(found.inertial.mass, HERE.origin, found.inertial.inertia)
                yield body.in_frame(found.inertial.pose).in_frame(pose)
            for joint in self.tree.below[name]:
                if joint not in arm:
                    todo.append((joint.child, composed(pose, self.pose(joint))))
                    held += [joint.name] * (joint.kind != "fixed")


def _link(joint: TreeJoint, pose: Pose, body: Body) -> Link:
    revolute, drive = joint.kind != "prismatic", joint.drive
    if 0 < body.mass < model.LEAST_MASS:
        joint.element.fail(
            f"it moves {body.mass:g} kg", f"give at least {model.LEAST_MASS:g} kg, or nothing"
        )
    problem, doubtful = check_inertia(body.inertia)
    if problem:
        joint.element.fail(f"the inertia of the bodies that it moves is {problem}")
    # Friction is given at the joint in these files, at the motor's shaft in a `Link`.
    viscous, coulomb = drive.damping / drive.gear_ratio**2, drive.friction / abs(drive.gear_ratio)
    for key, values in (
        ("origin", pose.origin), ("center_of_mass", body.centre), ("mass", [body.mass]),
        ("inertia", body.inertia), ("viscous_friction", [viscous]), ("coulomb_friction", [coulomb]),
    ):  # fmt: skip
        size = model.size_problem(key, max(map(abs, values)), revolute=True)
        if size:
            joint.element.fail(f"the {key.replace('_', ' ')} {size}")
    speed = joint.limit.velocity or SPEEDS[revolute]
    torque = joint.limit.effort or 1.0
    return Link(
        type="revolute" if revolute else "prismatic",
        a=0.0, alpha=0.0, d=0.0, theta=0.0, pose=pose, axis=joint.axis,
        mass=body.mass, center_of_mass=body.centre, inertia=body.inertia,
        rotor_inertia=drive.rotor_inertia, gear_ratio=drive.gear_ratio,
        viscous_friction=viscous, coulomb_friction=(coulomb, coulomb),
        position=_position(joint),
        velocity=Interval(-speed, speed),
        acceleration=_symmetric(round_above(speed / STARTING)),
        torque=Interval(-torque, torque),
        doubt=doubtful,
    )  # fmt: skip


def _position(joint: TreeJoint) -> Interval:
    low, high = joint.limit.lower, joint.limit.upper
    unusable = _unusable(joint)
    if unusable and joint.kind == "prismatic":
        joint.element.fail(f"it has {unusable}", "give them, in metres")
    if unusable or joint.kind == "continuous" or low is None or high is None:
        return Interval(-TURN / 2, TURN / 2)
    revolute = joint.kind != "prismatic"
    size = model.size_problem("position_range", max(abs(low), abs(high)), revolute=revolute)
    if problem := size or width_problem(low, high):
        joint.element.fail(f"its limits are wrong: {problem}")
    return Interval(low, high)


def _unusable(joint: TreeJoint) -> str:
    """Describe position limits that are missing or implausible, else return an empty text."""
    low, high = joint.limit.lower, joint.limit.upper
    if low is None or high is None:
        return "no limits of its position"
    if low == high:
        return f"equal lower and upper limits ({number(low)})"  # a placeholder of many files
    if joint.kind == "revolute" and high - low > MANY_TURNS * TURN:
        return f"limits of more than {MANY_TURNS} turns"
    return ""


def _with_torques(robot: Robot, joints: Sequence[TreeJoint], reach: Reach) -> Robot:
    """Return the robot with torque ranges for joints without effort."""
    missing = [joint.limit.effort is None for joint in joints]
    if not any(missing):
        return robot
    links = list(robot.links)
    for k, most in enumerate(reach(robot)):
        if missing[k]:
            size = round_above(most)
            if problem := width_problem(-size, size) or model.size_problem(
                "torque_range", size, revolute=links[k].revolute
            ):
                joints[k].element.fail(f"its torque range {problem}")
            links[k] = replace(links[k], torque=_symmetric(size))
    return replace(robot, links=tuple(links))


def _symmetric(most: float) -> Interval:
    return Interval(-most, most)


def _chosen(chain: Chain) -> Iterator[str]:
    if len(chain.leaves) > 1:
        leaves = listed(chain.leaves)
        yield f"the arm ends in {chain.tips[0]}; --tip may say another link (leaves: {leaves})"


def _proposed(joints: Sequence[TreeJoint]) -> Iterator[str]:
    """Yield notes about values that were proposed because the file does not contain them."""
    yield "accelerations are proposed: those that give full speed within a quarter of a second"
    slow = [joint for joint in joints if joint.limit.velocity is None]
    for kind, unit in (("continuous", "pi rad/s"), ("prismatic", "1 m/s")):
        of_kind = [j.name for j in slow if (j.kind == "prismatic") == (kind == "prismatic")]
        if of_kind:
            yield f"speeds of up to {unit} are proposed for {listed(of_kind)}"
    weak = [joint.name for joint in joints if joint.limit.effort is None]
    if weak:
        yield f"torque ranges are proposed for {listed(weak)}: what they reach, rounded up"
    for joint in joints:
        unusable = _unusable(joint) if joint.kind == "revolute" else ""
        if unusable:
            yield f"{joint.name} has {unusable}: taken as one full turn"


def _read(joints: Sequence[TreeJoint]) -> Iterator[str]:
    """Yield notes about the sources of rotor inertias."""
    for joint in joints:
        if joint.drive.given:
            gear = joint.drive.gear_ratio
            geared = f" at a gear ratio of {number(gear)}" if gear != 1 else ""
            inertia = number(joint.drive.rotor_inertia)
            yield f"{joint.name} has a rotor inertia of {inertia}{geared}, from {joint.drive.given}"


def _nearly_right(chain: Chain) -> Iterator[str]:
    """Yield a note on angles that were printed with few digits, except those of the tool."""
    above = (joints_above(chain.tree, chain.base, joint.child) for joint in chain.joints)
    joints = dict.fromkeys(joint for way in above for joint in list(way)[::-1])
    found = [
        (number(angle), joint.element.line)
        for joint in joints
        for angle, right in zip(
            joint.pose.rotation, snapped(joint.pose, NEAR).rotation, strict=True
        )
        if angle != right
    ]
    if found:
        angle, line = found[-1]
        where = f"line {line}" + (", and others" if len(found) > 1 else "")
        yield f"{angle} is nearly a right angle ({where}): --right-angles makes it one"


def _file_name(name: str) -> str:
    """Return a name that robot files may contain."""
    kept = re.sub(r"[^A-Za-z0-9_.-]+", "-", name).lstrip("_.-")[:LONGEST_NAME].rstrip("-")
    return kept or "robot"
