"""Every serial chain of up to seven joints in the wheel `example-robot-data`, by Pinocchio."""

import importlib.metadata
import re
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin
import pytest

import boolcomp as bc
from boolcomp.problem import Robot, load_urdf, parse_robot

MOST = 7
STATES = 20
LARGE = {"tiago_dual"}
REFUSED = ("it mimics joint", "not positive semidefinite")


def files() -> list[Path]:
    try:
        listed = importlib.metadata.files("example-robot-data") or []
    except importlib.metadata.PackageNotFoundError:  # 131 MB, which not everybody has
        return []
    return sorted(Path(str(p.locate())) for p in listed if p.suffix == ".urdf")


ROBOTS = [path for path in files() if "<link" in path.read_text(encoding="utf-8")]


def chains(model: Any) -> set[tuple[int, ...]]:
    """Return the last seven (or fewer) joints above every joint on which no other hangs."""
    parents = list(model.parents)
    found = set()
    for leaf in range(1, model.njoints):
        if leaf not in parents:
            chain = [leaf]
            while parents[chain[0]]:
                chain.insert(0, parents[chain[0]])
            found.add(tuple(chain[-MOST:]))
    return found


def body_of(model: Any, joint: int) -> str:
    """Return the link that a joint moves: the first body whose frame lies in the joint's."""
    if joint == 0:
        return next(str(f.name) for f in model.frames if f.type == pin.FrameType.BODY)
    return next(
        str(f.name)
        for f in model.frames
        if f.type == pin.FrameType.BODY
        and f.parentJoint == joint
        and f.placement.isIdentity()
        and model.frames[f.parentFrame].type == pin.FrameType.JOINT
    )


def compare(robot: Robot, model: Any, kept: tuple[int, ...]) -> float:
    """Return the largest error over the states, relative to the largest torque of each.

    Joints that are none of the chain's stand still at zero.
    """
    data, rng = model.createData(), np.random.default_rng(len(kept))
    joints = [model.joints[k] for k in kept]
    places = [joint.idx_v for joint in joints]
    q, qd, qdd = (rng.uniform(-4, 4, (STATES, robot.joints)) for _ in range(3))
    ours, worst = bc.inverse_dynamics(robot, q, qd, qdd), 0.0
    there, speed, rate = pin.neutral(model), np.zeros(model.nv), np.zeros(model.nv)
    for k in range(STATES):
        for joint, angle in zip(joints, q[k], strict=True):
            turn = [angle] if joint.nq == 1 else [np.cos(angle), np.sin(angle)]
            there[joint.idx_q : joint.idx_q + joint.nq] = turn
        speed[places], rate[places] = qd[k], qdd[k]
        theirs = pin.rnea(model, data, there, speed, rate)[places]
        worst = max(worst, np.abs(ours[k] - theirs).max() / max(np.abs(theirs).max(), 1e-9))
    return worst


TRUNK, BRANCH = 2, 3  # joints of a tree's trunk and of each of its branches, at most


def branches(model: Any, joint: int) -> list[tuple[int, ...]]:
    """Return the ways down from every joint on this one, along first children, cut short."""
    parents, found = list(model.parents), []
    for first in (k for k in range(1, model.njoints) if parents[k] == joint):
        way = [first]
        while len(way) < BRANCH and way[-1] in parents[1:]:
            way.append(parents.index(way[-1], 1))
        found.append(tuple(way))
    return found


def trees(model: Any) -> dict[tuple[int, ...], list[tuple[int, ...]]]:
    """Return trunks with their branches, two or more: of joints that carry several."""
    found = {}
    for joint in range(model.njoints):
        trunk = [joint] if joint else []
        while trunk and len(trunk) < TRUNK and model.parents[trunk[0]]:
            trunk.insert(0, model.parents[trunk[0]])
        below = branches(model, joint)
        if len(below) > 1:
            found[tuple(trunk)] = below[:2]
    return found


def same(path: Path, model: Any, kept: tuple[int, ...], ends: list[int]) -> None:
    """Hold the arm of these joints against the model's, unless it is one that is refused."""
    base = body_of(model, model.parents[kept[0]])
    try:
        arm = load_urdf(path, base, [body_of(model, end) for end in ends])
    except bc.DataError as error:
        if not any(reason in str(error) for reason in REFUSED):
            raise
    else:
        assert [joint.name for joint in arm.chain.joints] == [model.names[k] for k in kept]
        assert compare(arm.robot, model, kept) < 1e-9
        assert parse_robot(str(arm.robot)) == arm.robot


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::boolcomp.base.errors.DataWarning")
@pytest.mark.parametrize("path", [
    pytest.param(path, id=path.stem, marks=[pytest.mark.check] if path.stem in LARGE else [])
    for path in ROBOTS
])  # fmt: skip
def test_chains_and_trees_of_a_file_agree_with_pinocchio_to_nine_digits(path: Path) -> None:
    model = pin.buildModelFromUrdf(str(path))
    for kept in sorted(chains(model)):
        same(path, model, kept, [kept[-1]])
    for trunk, below in trees(model).items():
        kept = (*trunk, *(joint for branch in below for joint in branch))
        same(path, model, kept, [branch[-1] for branch in below])


# Robots that ship, and the files their facts are from: angles of so100 have five digits there.
SHIPPED = [
    ("panda", "panda.urdf", 1e-9), ("j2s6", "kinova.urdf", 1e-9), ("so100", "so100.urdf", 1e-3),
]  # fmt: skip
PARTS = r"hand|hand_tcp|leftfinger|rightfinger|\w+_joint\d?"  # of the hand that panda has there
HAND = rf'<(joint|link) name="panda_({PARTS})"([^>]*/>|[^>]*>.*?</\1>)'


@pytest.mark.slow
@pytest.mark.skipif(not files(), reason="example-robot-data is not installed")
@pytest.mark.parametrize(("name", "file", "tolerance"), SHIPPED)
def test_shipped_arms_are_those_of_the_wheel(name: str, file: str, tolerance: float) -> None:
    path = next(path for path in ROBOTS if path.name == file)
    text = re.sub(HAND, "", path.read_text(encoding="utf-8"), flags=re.DOTALL)
    robot = bc.load_robot(name)
    kept = tuple(range(1, robot.joints + 1))
    assert compare(robot, pin.buildModelFromXML(text), kept) < tolerance
