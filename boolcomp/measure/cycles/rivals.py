"""What else does the work of a program on a microcontroller, as designs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from boolcomp.measure.cycles.byhand import NAME, hand_design
from boolcomp.measure.cycles.floats import float_design
from boolcomp.measure.cycles.host import HOST
from boolcomp.parallel.methods import straight_line
from boolcomp.problem.expressions.straight import Straight
from boolcomp.problem.functions import USUAL, function_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from boolcomp.measure.cycles.design import Design
    from boolcomp.measure.cycles.subject import Subject

FLOAT_STATES = 25  # they take a hundred times as long


def rivals(
    subject: Subject, deadline: float, progress: Callable[[str], None]
) -> Iterator[tuple[str, Design | str]]:
    """Yield every rival by its name: a design, or why there is none."""
    progress("float")
    yield "float", _float(subject)
    progress(NAME)
    yield NAME, _by_hand(subject, deadline)


def _by_hand(subject: Subject, deadline: float) -> Design | str:
    problem, robot = subject.problem, subject.robot
    if problem is None or robot is None or function_of(problem.name, robot.name) != USUAL:
        return "it is the inverse dynamics of a robot"
    if HOST.missing():
        return HOST.missing()
    return hand_design(subject, robot, deadline)


def _float(subject: Subject) -> Design | str:
    problem, robot = subject.problem, subject.robot
    if problem is None:
        return "the program's robot is not known: say it with --robot FILE"
    name = "float"
    program: object = None
    if robot is not None and function_of(problem.name, robot.name) == USUAL:
        name = "float, Newton-Euler"
        program = straight_line("regrouped", robot)
    elif problem.calculation is not None:
        program = problem.calculation()
    else:
        program = problem.form()
    if not isinstance(program, Straight):
        return "its outputs are sums of waves here, and no steps"
    return float_design(problem, program, name, min(FLOAT_STATES, subject.states), subject.seed)
