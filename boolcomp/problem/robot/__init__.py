"""Robot files: read, checked, and held as immutable values."""

from boolcomp.problem.robot.library import load_arm, load_robot, load_urdf, robot_names, robot_of
from boolcomp.problem.robot.model import Link, Pose, Robot
from boolcomp.problem.robot.payload import with_payload
from boolcomp.problem.robot.schema import parse_robot

__all__ = [
    "Link",
    "Pose",
    "Robot",
    "load_arm",
    "load_robot",
    "load_urdf",
    "parse_robot",
    "robot_names",
    "robot_of",
    "with_payload",
]
