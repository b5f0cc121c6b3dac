"""Robots loaded by name, from the files that ship with boolcomp, or by path."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from boolcomp.base.errors import (
    UsageError,
    spelled,
    suggestion,
    unknown,
    warn,
)
from boolcomp.base.files import is_file, read_text, shipped, similar_names
from boolcomp.problem.robot import xml
from boolcomp.problem.robot.model import MOST_BYTES, Robot
from boolcomp.problem.robot.readers import read_mjcf, read_sdf, read_urdf
from boolcomp.problem.robot.toml import parse_robot
from boolcomp.problem.robot.tree import Arm, arm_of, chain_of

if TYPE_CHECKING:
    from collections.abc import Sequence


SUFFIXES = (".toml", ".urdf", ".sdf", ".mjcf", ".xml")
READERS = {"robot": read_urdf, "sdf": read_sdf, "mujoco": read_mjcf}


def robot_names() -> tuple[str, ...]:
    return tuple(sorted(path.stem for path in shipped("robots").glob("*.toml")))


@spelled
def load_robot(name_or_path: str | Path) -> Robot:
    """Load a robot by shipped name, or from a path, which has a separator or a suffix.

    `arm.urdf#tip`, `arm.urdf#base..tip` and, for several tips, `arm.urdf#left,right` select an arm
    in a URDF, SDF or MJCF.
    """
    if not isinstance(name_or_path, str | Path):
        raise UsageError(f"a {type(name_or_path).__name__} is no name or path of a robot")
    text = str(name_or_path)
    if (arm := load_arm(text)) is not None:
        return arm.robot
    if text in robot_names():
        path = shipped("robots") / f"{text}.toml"
        return parse_robot(read_text(path), f"robots/{path.name}")
    if "/" not in text and "\\" not in text and not re.search(r"\.[A-Za-z]\w*$", text):
        file = f"{text}.toml"
        known = (file,) if is_file(Path(file)) else robot_names()
        more = "or a path that ends in .toml, .urdf, .sdf or .mjcf"
        raise unknown("robot", text, robot_names(), more, near=known)
    path = Path(text)
    _check_exists(text)
    if path.suffix == ".xacro":
        raise UsageError("xacro is not read", "run xacro first", where=text)
    return parse_robot(read_text(path, MOST_BYTES), text)


def load_arm(text: str, *, right_angles: bool = False) -> Arm | None:
    """Load an arm such as `arm.urdf#base..tip`, with its notes as warnings; None for other names.

    Both ends may be left out, or the base alone (`arm.urdf#tip`); tips are separated by commas.
    """
    match = re.fullmatch(r"(.*\.(?:urdf|sdf|mjcf|xml))(?:#(?:(.*)\.\.)?(.*))?", text, re.DOTALL)
    if match is None:
        return None
    arm = load_urdf(match[1], match[2] or None, match[3] or None, right_angles=right_angles)
    warn(f"{text}: {'; '.join(arm.notes)}")
    return arm


def load_urdf(
    path: str | Path,
    base: str | None = None,
    tip: str | Sequence[str] | None = None,
    *,
    right_angles: bool = False,
) -> Arm:
    """Read the arm between two links of a URDF, SDF or MJCF; the format is recognised.

    By default the arm goes from the root to the only possible tip. Several tips, in a list or
    separated by commas, share their common joints. `right_angles` takes angles printed as 1.5708
    for right angles.
    """
    from boolcomp.problem.dynamics import torque_reach  # noqa: PLC0415 (which knows robots)

    _check_exists(path)
    top = xml.parse_xml(read_text(Path(path), xml.MOST_BYTES), str(path))
    if top.tag not in READERS:
        top.fail("not a robot", "URDF files begin with <robot>, SDF with <sdf>, MJCF with <mujoco>")
    tree = READERS[top.tag](top)
    if isinstance(tip, str):
        tip = (tip,) if tip in tree.links else tip.split(",")
    return arm_of(chain_of(tree, base, tip or ()), torque_reach, right_angles=right_angles)


def robot_of(robot: Robot | str | Path) -> Robot:
    """Return a robot: itself, or loaded by name or path."""
    if isinstance(robot, Robot):
        return robot
    if not isinstance(robot, str | Path):
        kind = type(robot).__name__
        raise UsageError(f"a {kind} is no robot", "give a name, a path or a Robot")
    return load_robot(robot)


def _check_exists(path: str | Path) -> None:
    try:
        missing = not Path(path).exists()
    except (OSError, ValueError):  # an invalid name: reading the file raises the error
        return
    if missing:
        hint = similar_names(Path(path), SUFFIXES) or suggestion(Path(path).stem, robot_names())
        raise UsageError(
            "no such robot file", hint or "boolcomp robots lists the robots that ship", where=path
        )
