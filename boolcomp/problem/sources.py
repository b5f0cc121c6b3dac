"""What is to be compiled, as users name it: a robot, a function file, a problem."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from boolcomp.base.errors import BoolcompError, UsageError, number, parse_toml
from boolcomp.base.files import is_file, read_text
from boolcomp.problem.choices import parted
from boolcomp.problem.expressions.algebra import Folding
from boolcomp.problem.expressions.tape import Tape
from boolcomp.problem.functions import USUAL, robot_function, robot_problem
from boolcomp.problem.problem import Problem
from boolcomp.problem.robot.library import load_robot, robot_of
from boolcomp.problem.robot.model import MOST_BYTES, with_payload
from boolcomp.problem.written.files import is_function, parse_function

if TYPE_CHECKING:
    from boolcomp.problem.expressions.tape import Straight
    from boolcomp.problem.robot.model import Robot

    Source: TypeAlias = Robot | Problem | str | Path


# --------------------------------------------------------------------------------------------------
# What is to be compiled, as users name it: a robot, a function file, a problem.
# --------------------------------------------------------------------------------------------------


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


# --------------------------------------------------------------------------------------------------
# The exact outputs of a problem as steps: what prints them for other languages needs no more.
# --------------------------------------------------------------------------------------------------


def exact_steps(problem: Problem, robot: Robot | None = None, of: str = "") -> Straight | None:
    """Return steps that calculate a problem's outputs, named and in order; None where none are.

    A problem of a robot without steps of its own is recorded from the text of its function `of`.
    """
    if problem.recorded is not None:
        return problem.recorded
    if problem.calculation is not None:
        return problem.calculation()
    if robot is None:
        return None
    function = robot_function(robot, of)
    if function.exact is not None:
        return None  # of numpy's columns, and of nothing else
    tape = Tape()
    wires = [[tape.input(x.name) for x in inputs(robot)] for inputs in function.groups.values()]
    given = wires
    if function.prepared is not None and function.prepared.names(robot):
        given = [*wires, function.prepared.text(robot, tape, *wires)]
    algebra = tape if function.stepwise else Folding(tape)
    found = function.text(robot, algebra, *given)
    made = {one.name: x for one, x in zip(function.outputs(robot), found, strict=True)}
    return tape.finish([(one.name, made[one.name]) for one in problem.outputs])
