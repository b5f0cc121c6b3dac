"""What is to be compiled, as users name it: a robot, a function file, a problem."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from boolcomp.base.errors import number, parse_toml
from boolcomp.base.files import is_file, read_text
from boolcomp.common.errors import BoolcompError, UsageError
from boolcomp.problem.choices import parted
from boolcomp.problem.functions import USUAL, robot_problem
from boolcomp.problem.problem import Problem
from boolcomp.problem.robot.library import load_robot, robot_of
from boolcomp.problem.robot.limits import MOST_BYTES
from boolcomp.problem.robot.payload import with_payload
from boolcomp.problem.written.files import is_function, parse_function

if TYPE_CHECKING:
    from boolcomp.problem.robot.model import Robot

    Source: TypeAlias = Robot | Problem | str | Path


def load_source(name: str | Path) -> Robot | Problem:
    """Load a robot by its name or file, or the function that a file describes.

    A file with tables of inputs and outputs is a function, whatever it is called.
    """
    path = Path(name) if isinstance(name, str | Path) else None
    if path is not None and path.suffix == ".toml" and is_file(path):
        text = read_text(path, MOST_BYTES)
        try:
            written = is_function(parse_toml(text, str(name)))
        except BoolcompError:
            written = False  # reading it as a robot says what is wrong with it
        if written:
            return parse_function(text, str(name))
    return load_robot(name)


def problem_of(source: Source, of: str = USUAL, mass: float = 0.0) -> Problem:
    """Return the problem of a robot's function, with a mass (kg) at its tip; others are one."""
    loaded = load_source(source) if isinstance(source, str | Path) else source
    if not isinstance(loaded, Problem):
        if mass and "load" in parted(of)[1]:
            raise UsageError(
                f"a payload of {number(mass)} kg, and a load that is an input (load-range): "
                "ask for one of them"
            )
        robot = robot_of(loaded)
        made = robot_problem(with_payload(robot, mass), of)
        return replace(made, unloaded=str(robot.mechanism))
    if of != USUAL:
        raise UsageError(f"{loaded.name} is no robot: it has no {of}")
    if mass:
        raise UsageError(f"{loaded.name} is a problem already: payloads are for robots")
    return loaded
