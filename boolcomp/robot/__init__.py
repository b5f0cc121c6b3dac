"""Robot files: read, checked, and held as immutable values."""

from boolcomp.robot.library import load_robot, robot_names, robot_of
from boolcomp.robot.model import Interval, Link, Robot
from boolcomp.robot.payload import with_payload
from boolcomp.robot.schema import parse_robot

__all__ = [
    "Interval",
    "Link",
    "Robot",
    "load_robot",
    "parse_robot",
    "robot_names",
    "robot_of",
    "with_payload",
]
