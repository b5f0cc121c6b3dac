"""Robot files: read, checked, and held as immutable values."""

from boolcomp.problem.robot.interval import Interval
from boolcomp.problem.robot.library import load_robot, robot_names, robot_of
from boolcomp.problem.robot.model import Link, Robot
from boolcomp.problem.robot.payload import with_payload
from boolcomp.problem.robot.schema import parse_robot
from boolcomp.problem.robot.span import Span
from boolcomp.problem.robot.stops import Stops, stops_of

__all__ = [
    "Interval",
    "Link",
    "Robot",
    "Span",
    "Stops",
    "load_robot",
    "parse_robot",
    "robot_names",
    "robot_of",
    "stops_of",
    "with_payload",
]
