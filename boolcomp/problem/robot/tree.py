"""Trees of links as files describe them: links with their inertias, joints with frames and limits.

Readers (URDF, MJCF, SDF) make such a tree; `chain` finds arms in it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from boolcomp.common.errors import shown

if TYPE_CHECKING:
    from collections.abc import Iterable

    from boolcomp.problem.robot.model import Inertia, Pose, Triple
    from boolcomp.problem.robot.xmltext import Element

MOVING = ("revolute", "continuous", "prismatic")
GRAVITY = 9.81
DOWN: Triple = (0.0, 0.0, -GRAVITY)


@dataclass(frozen=True, slots=True)
class Inertial:
    """A mass and its central inertia, in the axes of a frame that lies so in the link's."""

    pose: Pose
    mass: float
    inertia: Inertia


@dataclass(frozen=True, slots=True)
class Limit:
    """Where a joint may go, how fast, and with what torque (force); None where nothing is said."""

    lower: float | None = None
    upper: float | None = None
    velocity: float | None = None
    effort: float | None = None


@dataclass(frozen=True, slots=True)
class Drive:
    """What a joint's motor adds: rotor inertia at its shaft and gear ratio, friction at the joint.

    `given` says where the file gives the rotor inertia, for a note.
    """

    damping: float = 0.0
    friction: float = 0.0
    rotor_inertia: float = 0.0
    gear_ratio: float = 1.0
    given: str = ""


@dataclass(frozen=True, slots=True)
class TreeLink:
    """A link: a body, or a frame alone; `unknown` says why its inertia is not known."""

    name: str
    inertial: Inertial | None
    element: Element
    unknown: str = ""


@dataclass(frozen=True, slots=True)
class TreeJoint:
    """A joint: where the child's frame lies in the parent's, and how it may move."""

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
        """Whether an arm may have it: it turns or slides."""
        return self.kind in MOVING


@dataclass(frozen=True, slots=True)
class Tree:
    """A tree of links: the joint above each and those below it, by the link's name.

    `gravity` is in the axes of the root; `notes` say what the reader left out.
    """

    name: str
    links: dict[str, TreeLink]
    above: dict[str, TreeJoint]
    below: dict[str, list[TreeJoint]]
    root: str
    element: Element
    gravity: Triple = DOWN
    notes: tuple[str, ...] = ()


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
) -> Tree:
    """Return the tree that links and joints make; a mistake names line and element."""
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
    return Tree(name, links, above, below, root, top, gravity, tuple(notes))


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
        top.fail("every link is moved by a joint: the joints go round in a circle")
    if len(roots) > 1:
        links[roots[1]].element.fail(
            f"no joint moves it, nor link {shown(roots[0])}: one link alone can be the root"
        )
    todo, left = [roots[0]], dict(links)
    while todo:
        del left[link := todo.pop()]
        todo += [joint.child for joint in below[link]]
    for lost in left.values():
        lost.element.fail("the joints above it go round in a circle")
    return roots[0]
