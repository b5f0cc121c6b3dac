"""The problem that a program solves, found by its robot's or function's name, file or value."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from boolcomp.base.errors import UsageError, shown
from boolcomp.base.files import is_file, read_text
from boolcomp.checker.claim import ClaimSource
from boolcomp.problem.functions import USUAL, function_of, robot_problem
from boolcomp.problem.problem import Problem
from boolcomp.problem.robot.library import robot_names
from boolcomp.problem.robot.model import Robot, with_payload
from boolcomp.problem.sources import load_source, problem_of

if TYPE_CHECKING:
    from boolcomp.problem.sources import Source
    from boolcomp.program.program import Program


def shipped(name: str) -> str | None:
    """Return the built-in robot of a program's name, whatever its function, or None."""
    return next(
        (one for one in robot_names() if name == one or function_of(name, one) != USUAL), None
    )


def shipped_or_refused(place: str, name: str) -> str:
    """Return the built-in robot of a program; raise a `UsageError` if there is none."""
    robot = shipped(name)
    if robot is None:
        here = f"{name}.toml"
        file = here if is_file(Path(here)) else "FILE"
        raise UsageError(
            f"{place} was compiled for {shown(name)}, which is not a built-in robot",
            f"give its robot or function file with --robot {file}",
        )
    return robot


def claim_source(source: Source) -> ClaimSource | None:
    """Return the text that a certificate must be for; None for a function written in Python."""
    if isinstance(source, Robot | Problem):
        loaded, name = source, source.name
    else:
        loaded, name = load_source(source), str(source)
        if Path(name).suffix == ".toml" and is_file(Path(name)):
            return ClaimSource(read_text(Path(name)), name)
    text = loaded.unloaded if isinstance(loaded, Problem) else str(loaded.mechanism)
    return ClaimSource(text, name) if text else None


def solved_problem(
    program: Program, place: str, source: Source, payload: float
) -> tuple[Problem, Robot | None]:
    """Return the problem of a program with a payload, and its robot, if it is one of a robot.

    Raise a `UsageError` if the program was compiled for another one.
    """
    loaded = source if isinstance(source, Robot | Problem) else load_source(source)
    if isinstance(loaded, Problem):
        problem, robot = problem_of(loaded, mass=payload), None
    else:
        robot = with_payload(loaded, payload)
        problem = robot_problem(robot, function_of(program.name, loaded.name))
    if (problem.name, len(problem.outputs)) != (program.name, len(program.outputs)):
        raise UsageError(
            f"{place} was compiled for {program.name} with {len(program.outputs)} outputs, not "
            f"for {problem.name} with {len(problem.outputs)}",
            "give its robot with --robot",
        )
    return problem, robot
