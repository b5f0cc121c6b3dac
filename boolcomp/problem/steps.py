"""The exact outputs of a problem as steps: what prints them for other languages needs no more."""

from __future__ import annotations

from typing import TYPE_CHECKING

from boolcomp.problem.expressions.algebra import Folding
from boolcomp.problem.expressions.tape import Tape
from boolcomp.problem.functions import robot_function

if TYPE_CHECKING:
    from boolcomp.problem.expressions.straight import Straight
    from boolcomp.problem.problem import Problem
    from boolcomp.problem.robot.model import Robot


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
