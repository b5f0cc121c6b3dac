"""From a tree of links to the joints between a base and one tip or several.

Several tips share what they have in common, the trunk: its joints come once. Joints are numbered
from the base to the first tip, then what the way to the next tip adds, and so on.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from boolcomp.common.errors import UsageError, cut, listing, shown, suggestion
from boolcomp.problem.robot import limits

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from boolcomp.problem.robot.tree import Tree, TreeJoint

MANY = 6  # names that a message lists


@dataclass(frozen=True, slots=True)
class Chain:
    """The arm between a base and its tips: its joints that move.

    `parents` are the numbers (from 1) of the joints before them, 0 for the base.
    """

    tree: Tree
    base: str
    tips: tuple[str, ...]
    joints: tuple[TreeJoint, ...]
    parents: tuple[int, ...]
    leaves: tuple[str, ...] = ()  # where it could have ended as well, if nobody said


def chain_of(tree: Tree, base: str | None = None, tips: Sequence[str] = ()) -> Chain:
    """Return the chain from a base (the root) to tips (the only one that an arm can have)."""
    for name in (base, *tips):
        if name is not None and name not in tree.links:
            raise UsageError(
                f"{tree.element.where}: no link is called {shown(name)}"
                f"{suggestion(name, tree.links)}"
            )
    start = tree.root if base is None else base
    leaves = tuple(link for link in _hanging(tree, start) if not tree.below[link])
    ends = tuple(tips) or (_only_tip(tree, start, leaves),)
    joints: list[TreeJoint] = []
    for k, end in enumerate(ends):
        added = [joint for joint in _arm_to(tree, start, end) if joint not in joints]
        if not added:
            raise UsageError(
                f"{tree.element.where}: the tip {shown(end)} adds no joint to those of "
                f"{listed(ends[:k])}: leave it out"
            )
        joints += added
    if len(joints) > limits.MOST_JOINTS:
        most = limits.MOST_JOINTS
        raise UsageError(f"{tree.element.where}: {len(joints)} joints: an arm has at most {most}")
    numbers = {joint.child: number for number, joint in enumerate(joints, 1)}
    parents = []
    for joint in joints:
        before = [up.child for up in way_up(tree, start, joint.parent) if up.child in numbers]
        parents.append(numbers[before[0]] if before else 0)
    return Chain(tree, start, ends, tuple(joints), tuple(parents), () if tips else leaves)


def way_up(tree: Tree, base: str, tip: str) -> Iterator[TreeJoint]:
    """Yield the joints between two links, from the tip up."""
    link = tip
    while link != base:
        if link not in tree.above:
            raise UsageError(
                f"{tree.element.where}: {shown(tip)} does not hang on {shown(base)}: "
                f"it hangs on {listed([j.parent for j in way_up(tree, tree.root, tip)])}"
            )
        yield tree.above[link]
        link = tree.above[link].parent


def _arm_to(tree: Tree, base: str, tip: str) -> list[TreeJoint]:
    """Return the joints that move between two links, base first; refuse those no arm has."""
    path = list(way_up(tree, base, tip))[::-1]
    for joint in path:
        if joint.kind != "fixed" and not joint.moving:
            joint.element.fail(f"a {joint.kind} joint between {base} and {tip}: no arm has one")
        if joint.mimics is not None and joint.moving:
            joint.element.fail(
                f"it mimics joint {shown(joint.mimics)}: arms whose joints move together are not "
                "read; choose a base or a tip that leaves it out"
            )
    joints = [joint for joint in path if joint.moving]
    if not joints:
        raise UsageError(
            f"{tree.element.where}: no joint moves between {shown(base)} and {shown(tip)}"
        )
    return joints


def _only_tip(tree: Tree, base: str, leaves: Sequence[str]) -> str:
    """Return the leaf that the base's only arm ends in, or the last link that moves."""
    arms: dict[tuple[str, ...], list[str]] = {}
    for leaf in leaves:
        moved = tuple(j.child for j in way_up(tree, base, leaf) if j.moving)[::-1]
        arms.setdefault(moved, []).append(leaf)
    whole = [arm for arm in arms if not any(o != arm and o[: len(arm)] == arm for o in arms)]
    if len(whole) > 1 or not whole[0]:
        raise UsageError(
            f"{tree.element.where}: say with --tip where the arm ends, in any of its links: "
            f"its leaves are {listed(leaves, 4 * MANY)}"
        )
    ends = arms[whole[0]]
    return ends[0] if len(ends) == 1 else whole[0][-1]


def _hanging(tree: Tree, link: str) -> Iterator[str]:
    """Yield a link and all that hangs on it."""
    todo = [link]
    while todo:
        link = todo.pop()
        yield link
        todo += [joint.child for joint in reversed(tree.below[link])]


def listed(names: Sequence[str], most: int = MANY) -> str:
    """Return some names as a message shows them."""
    more = len(names) - most
    return listing([*map(cut, names[:most]), *([f"and {more} more"] if more > 0 else [])])
