"""Robot files: read, checked, and held as immutable values."""

from boolcomp.robot.interval import Interval
from boolcomp.robot.library import load_robot, robot_names, robot_of
from boolcomp.robot.limits import Limit, limits_of
from boolcomp.robot.model import Link, Robot
from boolcomp.robot.payload import with_payload
from boolcomp.robot.schema import parse_robot
from boolcomp.robot.span import Span

__all__ = [
    "Interval",
    "Limit",
    "Link",
    "Robot",
    "Span",
    "limits_of",
    "load_robot",
    "parse_robot",
    "robot_names",
    "robot_of",
    "with_payload",
]
