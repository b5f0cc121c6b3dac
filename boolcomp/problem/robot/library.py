"""Where robots are found: the files that ship with boolcomp, and any path."""

from __future__ import annotations

import re
from pathlib import Path

from boolcomp.common.errors import UsageError, listing, shown, suggestion
from boolcomp.common.files import is_file, read_text, shipped
from boolcomp.problem.robot.limits import MOST_BYTES
from boolcomp.problem.robot.model import Robot
from boolcomp.problem.robot.schema import parse_robot

FOREIGN = {".urdf": "URDF", ".xacro": "URDF", ".sdf": "SDF", ".xml": "XML", ".mjcf": "MJCF"}


def robot_names() -> tuple[str, ...]:
    """Return the names of the robots that ship, sorted."""
    return tuple(sorted(path.stem for path in shipped("robots").glob("*.toml")))


def load_robot(name_or_path: str | Path) -> Robot:
    """Load a robot by shipped name, or from a path: what has a separator or a suffix is one."""
    if not isinstance(name_or_path, str | Path):
        raise UsageError(f"a {type(name_or_path).__name__} is no name or path of a robot")
    text = str(name_or_path)
    if text in robot_names():
        path = shipped("robots") / f"{text}.toml"
        return parse_robot(read_text(path), f"robots/{path.name}")
    if "/" not in text and "\\" not in text and not re.search(r"\.[A-Za-z]\w*$", text):
        beside = f"{text}.toml"
        meant = (beside,) if is_file(Path(beside)) else robot_names()
        raise UsageError(
            f"no robot named {shown(text)}{suggestion(text, meant)}: "
            f"robots are {listing(robot_names())}, or a path ending in .toml"
        )
    path = Path(text)
    if _missing(path):
        near = suggestion(path.stem, robot_names())
        raise UsageError(f"{text}: no such robot file{near}")
    if path.suffix in FOREIGN:
        raise UsageError(f"{text}: {FOREIGN[path.suffix]} is not read: a robot file is TOML")
    return parse_robot(read_text(path, MOST_BYTES), text)


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
