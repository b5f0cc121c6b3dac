"""The methods by name: their physics, and their task graphs."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from boolcomp.common.errors import UsageError, listing, suggestion
from boolcomp.parallel.methods import control, symbolic
from boolcomp.parallel.methods.boolean import boolean_tasks
from boolcomp.parallel.methods.lagrangian import lagrangian_tasks, lagrangian_torques
from boolcomp.parallel.methods.recording import Recorded, record, recorded
from boolcomp.parallel.methods.zeng import split_name, ten_name, zeng_tasks, zeng_torques
from boolcomp.parallel.methods.zomaya import general_torques, semi_customised_torques, zomaya_tasks
from boolcomp.problem.dynamics import regrouped
from boolcomp.problem.expressions.tape import Tape

if TYPE_CHECKING:
    from collections.abc import Callable

    from boolcomp.problem.expressions.straight import Straight
    from boolcomp.problem.robot.model import Robot


@dataclass(frozen=True, slots=True)
class Method:
    """A method: what it is, where it is from, and its function.

    `function` is the physics, `(robot, algebra, q, qd, qdd) -> torques`; where `whole`, it is
    `(robot, tape) -> program` with inputs and outputs of its own; of `boolean` it makes the task
    graph from tables. `tasks` names its tasks, `dummies`: an entry and an exit are among them, as
    the paper counts. `general`: it takes joints in any frames. `literal`: unless asked otherwise,
    its tasks cost what the text says, products with zero included, as its paper counts.
    """

    title: str
    paper: str
    function: Callable[..., Any]
    tasks: Callable[[Robot], tuple[str, ...]] = lambda _: ()
    literal: bool = False
    whole: bool = False
    dummies: bool = False
    general: bool = False

    def __str__(self) -> str:
        return f"{self.title} ({self.paper})"


_ZOMAYA = "Zomaya and Morris 1989"
_ZENG = "Zeng and Egan 1991"
_ZALZALA = "Zalzala and Morris 1989"
_SCHAEFER = "Schäfer and Schiehlen 1992"

METHODS: dict[str, Method] = {
    "newton-euler": Method(
        "general Newton-Euler", _ZOMAYA, general_torques, zomaya_tasks, literal=True
    ),
    "semi-customised": Method(
        "semi-customised Newton-Euler", _ZOMAYA, semi_customised_torques, zomaya_tasks,
        literal=True,
    ),
    "customised": Method(
        "Newton-Euler customised by folding constants", _ZOMAYA, semi_customised_torques,
        zomaya_tasks,
    ),
    "regrouped": Method(
        "customised Newton-Euler with regrouped parameters", "Khalil and Kleinfinger 1987",
        regrouped.torques, regrouped.tasks, general=True,
    ),
    "lagrangian": Method(
        "recursive Lagrangian in ten plus six jobs", _ZALZALA, lagrangian_torques,
        lagrangian_tasks, literal=True,
    ),
    "lagrangian-rows": Method(
        "recursive Lagrangian, D and c by rows", _ZALZALA,
        partial(lagrangian_torques, rows=True),
        partial(lagrangian_tasks, rows=True), literal=True,
    ),
    "zeng-19": Method(
        "Newton-Euler in 19 tasks a link", _ZENG, zeng_torques, zeng_tasks, literal=True
    ),
    "zeng-10": Method(
        "Newton-Euler in 10 tasks a link", _ZENG,
        partial(zeng_torques, name=ten_name),
        partial(zeng_tasks, name=ten_name), literal=True, dummies=True,
    ),
    "zeng-52": Method(
        "Newton-Euler in 10 tasks a link, the third split (version 5)", _ZENG,
        partial(zeng_torques, name=split_name, split=True),
        partial(zeng_tasks, name=split_name), literal=True, dummies=True,
    ),
    "symbolic": Method(
        "symbolic equations of motion", _SCHAEFER, symbolic.torques, symbolic.tasks
    ),
    "symbolic-forward": Method(
        "symbolic equations of motion, solved by Cholesky", _SCHAEFER, control.forward_program,
        symbolic.forward_tasks, whole=True,
    ),
    "symbolic-cycle": Method(
        "symbolic equations of motion, Cholesky and a control law", _SCHAEFER, control.cycle,
        symbolic.cycle_tasks, whole=True,
    ),
    "boolean": Method("product terms, ORs and sums", "Machado et al. 1988", boolean_tasks),
}  # fmt: skip


def method_named(name: str) -> Method:
    """Return a method; a `UsageError` says which there are."""
    if name not in METHODS:
        raise UsageError(
            f"unknown method {name!r}{suggestion(name, METHODS)}; there are {listing(METHODS)}"
        )
    return METHODS[name]


def straight_line(name: str, robot: Robot, *, tape: Tape | None = None) -> Straight:
    """Return a method's calculation of the torques as one program: inputs q1.., qd1.., qdd1.. .

    (`symbolic-forward` and `symbolic-cycle` have others: see `parallel.methods.control`.) By
    default constants are folded and common subexpressions shared, across tasks too: the best code
    for one processor.
    """
    function = _physics(name)
    if robot.branched and not METHODS[name].general:
        raise UsageError(
            f"{robot.name} is a tree of joints (a joint has a parent of its own), and the method "
            f"{name!r} is written for a chain"
        )
    if robot.general and not METHODS[name].general:
        raise UsageError(
            f"{robot.name} has joints in general frames (origin, rotation, axis), and the method "
            f"{name!r} is written for Denavit-Hartenberg frames (a, alpha, d, theta)"
        )
    tape = Tape() if tape is None else tape
    if METHODS[name].whole:
        program: Straight = function(robot, tape)
        return program
    return record(robot, function, tape)


def task_graph(name: str, robot: Robot, *, literal: bool | None = None) -> Recorded:
    """Return a method's task graph for a robot, with the program that its tasks calculate.

    `literal` counts every operation of the text (the paper's counts, for any arm); otherwise
    constants fold and a subexpression is calculated once a task. By default as the paper did.
    """
    method = method_named(name)
    tape = Tape(shared=False, fold=not (method.literal if literal is None else literal))
    straight = straight_line(name, robot, tape=tape)
    dummies = ("0", str(10 * robot.joints + 1)) if method.dummies else None
    return recorded(f"{name} {robot.name}", straight, method.tasks(robot), dummies=dummies)


def _physics(name: str) -> Callable[..., Any]:
    method = method_named(name)
    if name == "boolean":
        raise UsageError(
            "the method 'boolean' is made of the tables of a compiled program, not of a robot "
            "alone: compile the robot in paper mode first"
        )
    return method.function
