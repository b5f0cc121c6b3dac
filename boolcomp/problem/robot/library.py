"""Where robots are found: the files that ship with boolcomp, and any path."""

from __future__ import annotations

import re
import warnings
from pathlib import Path
from typing import TYPE_CHECKING

from boolcomp.base.errors import DataWarning, UsageError, listing, shown, spelled, suggestion
from boolcomp.base.files import is_file, read_text, shipped
from boolcomp.problem.robot import xml
from boolcomp.problem.robot.model import (
    MOST_BYTES,
    Robot,
)
from boolcomp.problem.robot.sdf_mjcf import read_mjcf, read_sdf
from boolcomp.problem.robot.toml import parse_robot
from boolcomp.problem.robot.tree import Arm, arm_of, chain_of
from boolcomp.problem.robot.xml import read_urdf

if TYPE_CHECKING:
    from collections.abc import Sequence

    from boolcomp.problem.robot.tree import Tree


SUFFIXES = (".urdf", ".sdf", ".mjcf", ".xml")  # of files that describe trees of links
READERS = {"robot": read_urdf, "sdf": read_sdf, "mujoco": read_mjcf}


def robot_names() -> tuple[str, ...]:
    """Return the names of the robots that ship, sorted."""
    return tuple(sorted(path.stem for path in shipped("robots").glob("*.toml")))


@spelled
def load_robot(name_or_path: str | Path) -> Robot:
    """Load a robot by shipped name, or from a path: what has a separator or a suffix is one.

    Of a URDF, SDF or MJCF, `arm.urdf#tip` or `arm.urdf#base..tip` says which arm is meant, and
    `arm.urdf#left,right` one with several tips.
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
        beside = f"{text}.toml"
        meant = (beside,) if is_file(Path(beside)) else robot_names()
        raise UsageError(
            f"no robot named {shown(text)}{suggestion(text, meant)}: "
            f"robots are {listing(robot_names())}, or a path ending in .toml, .urdf, .sdf or .mjcf"
        )
    path = Path(text)
    if _missing(path):
        near = suggestion(path.stem, robot_names())
        raise UsageError(f"{text}: no such robot file{near}")
    if path.suffix == ".xacro":
        raise UsageError(f"{text}: xacro is not read: run xacro first")
    return parse_robot(read_text(path, MOST_BYTES), text)


def load_arm(text: str, *, right_angles: bool = False) -> Arm | None:
    """Return the arm that `arm.urdf#base..tip` names, warning of its notes; None for other names.

    Both ends may be left out, or the base alone (`arm.urdf#tip`); tips are separated by commas.
    """
    match = re.fullmatch(r"(.*\.(?:urdf|sdf|mjcf|xml))(?:#(?:(.*)\.\.)?(.*))?", text, re.DOTALL)
    if match is None:
        return None
    arm = load_urdf(match[1], match[2] or None, match[3] or None, right_angles=right_angles)
    warnings.warn(f"{text}: {'; '.join(arm.notes)}", DataWarning, stacklevel=3)
    return arm


def load_urdf(
    path: str | Path,
    base: str | None = None,
    tip: str | Sequence[str] | None = None,
    *,
    right_angles: bool = False,
) -> Arm:
    """Read the arm between two links of a URDF, SDF or MJCF, whichever the file turns out to be.

    By default it goes from the root to the only tip that it can have; several tips, in a list or
    separated by commas, share the joints that they all hang on. Angles printed as 1.5708 are right
    ones if `right_angles` says so.
    """
    from boolcomp.problem.dynamics.newton_euler import torque_reach  # noqa: PLC0415 (which knows robots)

    if _missing(Path(path)):
        raise UsageError(f"{path}: no such robot file{suggestion(Path(path).stem, robot_names())}")
    tree = _tree(read_text(Path(path), xml.MOST_BYTES), str(path))
    if isinstance(tip, str):
        tip = (tip,) if tip in tree.links else tip.split(",")
    return arm_of(chain_of(tree, base, tip or ()), torque_reach, right_angles=right_angles)


def _tree(text: str, where: str) -> Tree:
    top = xml.parse_xml(text, where)
    if top.tag not in READERS:
        top.fail("no robot: it begins with <robot> in URDF, <sdf> in SDF, <mujoco> in MJCF")
    return READERS[top.tag](top)


def robot_of(robot: Robot | str | Path) -> Robot:
    """Return a robot: itself, or loaded by name or path."""
    if isinstance(robot, Robot):
        return robot
    if not isinstance(robot, str | Path):
        kind = type(robot).__name__
        raise UsageError(f"a {kind} is no robot: give a name, a path, or what load_robot returns")
    return load_robot(robot)


def _missing(path: Path) -> bool:
    try:
        return not path.exists()
    except (OSError, ValueError):  # a name that no file can have: reading it says why
        return False
