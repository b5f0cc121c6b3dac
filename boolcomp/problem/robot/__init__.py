"""Robot files: read, checked, and held as immutable values."""

from boolcomp.problem.robot.bodies import Body
from boolcomp.problem.robot.library import load_arm, load_robot, load_urdf, robot_names, robot_of
from boolcomp.problem.robot.model import Link, Pose, Robot
from boolcomp.problem.robot.payload import with_body, with_payload
from boolcomp.problem.robot.toml import parse_robot

__all__ = [
    "Body",
    "Link",
    "Pose",
    "Robot",
    "load_arm",
    "load_robot",
    "load_urdf",
    "parse_robot",
    "robot_names",
    "robot_of",
    "with_body",
    "with_payload",
]
