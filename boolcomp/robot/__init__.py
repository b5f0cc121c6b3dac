"""Robot files: read, checked, and held as immutable values."""

from boolcomp.robot.interval import Interval
from boolcomp.robot.library import load_robot, robot_names, robot_of
from boolcomp.robot.model import Link, Robot
from boolcomp.robot.payload import with_payload
from boolcomp.robot.schema import parse_robot
from boolcomp.robot.span import Span
from boolcomp.robot.stops import Stops, stops_of

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
