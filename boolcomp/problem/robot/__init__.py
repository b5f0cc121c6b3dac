"""Robot files: read, checked, and held as immutable values."""

from boolcomp.problem.robot.library import load_robot, robot_names, robot_of
from boolcomp.problem.robot.model import Link, Robot
from boolcomp.problem.robot.payload import with_payload
from boolcomp.problem.robot.schema import parse_robot
from boolcomp.problem.robot.stops import Stops, stops_of

__all__ = [
    "Link",
    "Robot",
    "Stops",
    "load_robot",
    "parse_robot",
    "robot_names",
    "robot_of",
    "stops_of",
    "with_payload",
]
