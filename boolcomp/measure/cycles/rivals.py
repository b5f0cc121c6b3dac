"""What else does the work of a program on a microcontroller, as designs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from boolcomp.measure.cycles.byhand import HAND_NAME as BY_HAND
from boolcomp.measure.cycles.byhand import hand_design
from boolcomp.measure.cycles.fixed import fixed_design
from boolcomp.measure.cycles.floats import float_design
from boolcomp.measure.cycles.host import HOST
from boolcomp.parallel.methods.registry import straight_line
from boolcomp.problem.expressions.straight import Straight
from boolcomp.problem.functions import USUAL, function_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from boolcomp.measure.cycles.design import Design
    from boolcomp.measure.cycles.subject import Subject

FIXED = "fixed point"
FLOAT_STATES = 25  # they take a hundred times as long


def rivals(
    subject: Subject, deadline: float, progress: Callable[[str], None]
) -> Iterator[tuple[str, Design | str]]:
    """Yield every rival by its name: a design, or why there is none."""
    progress("float")
    program = _steps(subject)
    yield "float", program if isinstance(program, str) else _float(subject, program)
    progress(FIXED)
    if isinstance(program, str) or HOST.missing():
        yield FIXED, HOST.missing() or str(program)
    else:
        yield FIXED, fixed_design(subject, program, deadline)
    progress(BY_HAND)
    yield BY_HAND, _by_hand(subject, deadline)


def _steps(subject: Subject) -> Straight | str:
    """Return the calculation with fewest operations, or why there is none."""
    problem = subject.problem
    if problem is None:
        return "the file of its robot or function is not known: say it with --robot FILE"
    if _dynamics(subject) and subject.robot is not None:
        return straight_line("regrouped", subject.robot)
    found = problem.form() if problem.calculation is None else problem.calculation()
    return found if isinstance(found, Straight) else "its outputs are sums of waves, and no steps"


def _dynamics(subject: Subject) -> bool:
    """Tell whether a program is the inverse dynamics of a robot."""
    problem, robot = subject.problem, subject.robot
    if problem is None or robot is None:
        return False
    return function_of(problem.name, robot.name) == USUAL


def _float(subject: Subject, program: Straight) -> Design | str:
    name = "float, Newton-Euler" if _dynamics(subject) else "float"
    states = min(FLOAT_STATES, subject.states)
    assert subject.problem is not None  # noqa: S101 (its steps are known)
    return float_design(subject.problem, program, name, states, subject.seed)


def _by_hand(subject: Subject, deadline: float) -> Design | str:
    if not _dynamics(subject) or subject.robot is None:
        return "it calculates only the inverse dynamics of two parallel joints"
    if HOST.missing():
        return HOST.missing()
    return hand_design(subject, subject.robot, deadline)
