"""Sources of compilation: a robot, a function file or a problem; exact outputs as steps."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from boolcomp.base.errors import BoolcompError, UsageError, number, parse_toml
from boolcomp.base.files import is_file, read_text
from boolcomp.problem.function_files import is_function, parse_function
from boolcomp.problem.functions import USUAL, robot_function, robot_problem, split_name
from boolcomp.problem.problem import Problem
from boolcomp.problem.robot.library import load_robot, robot_of
from boolcomp.problem.robot.model import MOST_BYTES, with_payload
from boolcomp.problem.tape import recorded

if TYPE_CHECKING:
    from collections.abc import Sequence

    from boolcomp.problem.algebra import Algebra, Element
    from boolcomp.problem.robot.model import Robot
    from boolcomp.problem.tape import Straight

    Source: TypeAlias = Robot | Problem | str | Path


def load_source(name: str | Path) -> Robot | Problem:
    """Load a robot by its name or file, or a function from a file with tables of words."""
    path = Path(name) if isinstance(name, str | Path) else None
    if path is not None and path.suffix == ".toml" and is_file(path):
        text = read_text(path, MOST_BYTES)
        try:
            written = is_function(parse_toml(text, str(name)))
        except BoolcompError:
            written = False  # load_robot raises the error with its place
        if written:
            return parse_function(text, str(name))
    return load_robot(name)


def problem_of(source: Source, of: str = USUAL, mass: float = 0.0) -> Problem:
    """Return the problem of a robot's function with a payload (kg), or the given problem."""
    loaded = load_source(source) if isinstance(source, str | Path) else source
    if not isinstance(loaded, Problem):
        if mass and "load" in split_name(of)[1]:
            raise UsageError(
                f"a payload of {number(mass)} kg and a load that is an input (load-range) "
                "exclude each other", "give one of them",
            )  # fmt: skip
        robot = robot_of(loaded)
        problem = robot_problem(with_payload(robot, mass), of)
        return replace(problem, unloaded=str(robot.mechanism))
    if of != USUAL:
        raise UsageError(f"{loaded.name} is no robot, so it has no {of}")
    if mass:
        raise UsageError(f"{loaded.name} is a problem already", "payloads are for robots")
    return loaded


def exact_steps(problem: Problem, robot: Robot | None = None, of: str = "") -> Straight | None:
    """Return steps that calculate a problem's exact outputs, named and in order, or None.

    For a problem of a robot without steps of its own, the robot's function `of` is recorded.
    """
    if problem.recorded is not None:
        return problem.recorded
    if problem.calculation is not None:
        return problem.calculation()
    if robot is None:
        return None
    function = robot_function(robot, of)
    if function.exact is not None:
        return None  # it works on numpy arrays alone
    prepared = function.prepared

    def text(algebra: Algebra, *state: Sequence[Element]) -> list[Element]:
        if prepared is not None and prepared.names(robot):
            state = *state, prepared.text(robot, algebra, *state)
        found = zip(function.outputs(robot), function.text(robot, algebra, *state), strict=True)
        named = {one.name: x for one, x in found}
        return [named[one.name] for one in problem.outputs]

    groups = [[x.name for x in inputs(robot)] for inputs in function.groups.values()]
    return recorded(text, groups, [one.name for one in problem.outputs])
