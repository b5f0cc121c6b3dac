"""Operations counted by running the methods, beside those that the papers print.

Ours come from a tape that does not fold, so that they are those of the text. Zalzala and Morris
count a change of sign as an addition in four jobs; ours costs nothing and is given apart.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from boolcomp.base.errors import UsageError, listing, suggestion, table
from boolcomp.parallel.methods import lagrangian, symbolic
from boolcomp.parallel.methods.lagrangian import (
    general_torques,
    lagrangian_tasks,
    lagrangian_torques,
    semi_customised_torques,
    split_name,
    ten_name,
    zeng_tasks,
    zeng_torques,
    zomaya_tasks,
)
from boolcomp.parallel.methods.logic import boolean_tasks
from boolcomp.parallel.methods.physics import Recorded, record, recorded
from boolcomp.parallel.schedule.papers import CUSTOMISED, DIAGONAL, GENERAL, PHASE_1, PHASE_2
from boolcomp.problem.dynamics import regrouped
from boolcomp.problem.expressions.algebra import Operations
from boolcomp.problem.expressions.tape import Tape, count, task
from boolcomp.problem.robot.library import load_robot

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from boolcomp.parallel.methods.physics import Physics
    from boolcomp.parallel.methods.symbolic import Equations
    from boolcomp.problem.expressions.algebra import Algebra, Element
    from boolcomp.problem.expressions.tape import Operation, Straight
    from boolcomp.problem.robot.model import Robot


# --------------------------------------------------------------------------------------------------
# Whole cycles of simulation and control: computed torque with PD feedback.
#
#     v = ÿᵣ + Kd (ẏᵣ - ẏ) + Kp (yᵣ - y)        u = M v + k - q
#
# A cycle as in Schäfer and Schiehlen 1992, calculates u and, with Cholesky's factors of M, the
# arm's acceleration under it. With an exact model that is v.
# --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Gains:
    """Feedback of every joint: `proportional` in 1/s², `derivative` in 1/s."""

    proportional: float = 100.0
    derivative: float = 20.0


def forward_program(robot: Robot, tape: Tape) -> Straight:
    """Record forward dynamics: inputs q, qd, u of every joint, outputs qdd."""
    joints = range(1, robot.joints + 1)
    q, qd, u = ([tape.input(f"{name}{i}") for i in joints] for name in ("q", "qd", "u"))
    found = symbolic.forward(robot, tape, q, qd, u)
    return tape.finish([(f"qdd{i}", x) for i, x in enumerate(found, 1)], prune=tape.fold)


def wanted(
    algebra: Algebra,
    gains: Gains,
    state: Sequence[Sequence[Element]],
    reference: Sequence[Sequence[Element]],
) -> list[Element]:
    """Return v from the state (q, q̇) and the reference (q, q̇, q̈)."""
    found = []
    for i, (q, qd, qr, qdr, qddr) in enumerate(zip(*state, *reference, strict=True), 1):
        with task(algebra, f"v/{i}"):
            slow = algebra.constant(gains.proportional) * (qr - q)
            fast = algebra.constant(gains.derivative) * (qdr - qd)
            found.append(qddr + fast + slow)
    return found


def computed_torque(
    algebra: Algebra, equations: Equations, rates: Sequence[Element]
) -> list[Element]:
    """Return u = M v + k - q."""
    return symbolic.driven(algebra, equations, rates, "u")


def cycle(robot: Robot, tape: Tape, gains: Gains | None = None) -> Straight:
    """Record a cycle: inputs q, qd, qr, qdr, qddr of every joint, outputs u and qdd."""
    joints = range(1, robot.joints + 1)
    names = ("q", "qd", "qr", "qdr", "qddr")
    q, qd, *reference = ([tape.input(f"{name}{i}") for i in joints] for name in names)
    bodies = symbolic.bodies_of(robot, tape, q, qd)
    equations = symbolic.assemble(tape, bodies, robot.joints)
    rates = wanted(tape, gains or Gains(), (q, qd), reference)
    u = computed_torque(tape, equations, rates)
    found = symbolic.accelerations(tape, equations, u)
    outputs = [
        *((f"u{i}", x) for i, x in enumerate(u, 1)),
        *((f"qdd{i}", x) for i, x in enumerate(found, 1)),
    ]
    return tape.finish(outputs, prune=tape.fold)


# --------------------------------------------------------------------------------------------------
# The methods by name: their physics, and their task graphs.
# --------------------------------------------------------------------------------------------------


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
        "symbolic equations of motion, solved by Cholesky", _SCHAEFER, forward_program,
        symbolic.forward_tasks, whole=True,
    ),
    "symbolic-cycle": Method(
        "symbolic equations of motion, Cholesky and a control law", _SCHAEFER, cycle,
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


# --------------------------------------------------------------------------------------------------
# Operations counted by running the methods, beside those that the papers print.
# --------------------------------------------------------------------------------------------------


_SIGNS = "printed additions include {} changes of sign"
# Zalzala and Morris, tables 1 and 2, under our names of the jobs; D and c are dealt out by rows.
_PHASE_ONE = dict(zip(lagrangian.PHASE_ONE, PHASE_1.values(), strict=True))
_PHASE_TWO = dict(zip(("Da", "e", "tau*", "ca", "tau**", "tau"), PHASE_2.values(), strict=True))
_BUSIEST = ("w", "N", "n")


@dataclass(frozen=True, slots=True)
class Count:
    """A row: what a method's equation takes here and in print; `signs` are changes of sign."""

    method: str
    equation: str
    ours: Operations
    signs: int
    printed: Operations
    note: str = ""

    @property
    def agrees(self) -> bool:
        """Whether ours is the printed count, changes of sign counted as the note says."""
        ours = self.ours.additions
        additions = ours + self.signs if self.note else ours
        return (self.ours.multiplications, additions) == (
            self.printed.multiplications,
            self.printed.additions,
        )


def reference() -> Robot:
    """Return the arm that is counted: the PUMA 560 without the rotors that the papers leave out."""
    return without_rotors(load_robot("puma560"))


def without_rotors(robot: Robot) -> Robot:
    """Return an arm whose motors have no inertia."""
    return replace(robot, links=tuple(replace(link, rotor_inertia=0.0) for link in robot.links))


def counted(robot: Robot, torques: Physics) -> dict[str, tuple[Operations, int]]:
    """Return what every task of a method takes as it is written, and its changes of sign."""
    groups: dict[str, list[Operation]] = {}
    for node in record(robot, torques, Tape(fold=False)).nodes:
        groups.setdefault(node.task, []).append(node)
    return {
        name: (count(nodes), sum(node.kind == "neg" for node in nodes))
        for name, nodes in groups.items()
    }


def newton_euler() -> tuple[Count, ...]:
    """Return Zomaya and Morris's table 2, of one link and in all."""
    return _by_equation("newton-euler", lagrangian.general_torques, GENERAL)


def semi_customised(*, dense: bool) -> tuple[Count, ...]:
    """Return their table 3, for full inertia tensors or diagonal ones.

    With diagonal ones, the last row is what the busiest of four processors does a link: it has
    (5), (10) and (12), which are ω, N and n.
    """
    name = f"semi-customised, {'full' if dense else 'diagonal'} tensors"
    torques = partial(lagrangian.semi_customised_torques, dense=dense)
    rows = _by_equation(name, torques, CUSTOMISED if dense else DIAGONAL)
    if dense:
        return rows
    ours = sum((row.ours for row in rows if row.equation in _BUSIEST), Operations())
    return (*rows, Count(name, "w + N + n", ours, 0, Operations(40, 32)))


def _by_equation(
    method: str, torques: Physics, printed: Mapping[str, tuple[int, int]]
) -> tuple[Count, ...]:
    arithmetic = {name: only(found[0]) for name, found in counted(reference(), torques).items()}
    nothing = Operations()
    rows = [
        Count(method, name, arithmetic.get(f"{name}/3", nothing), 0, Operations(*pair))
        for name, pair in printed.items()
    ]
    total = Operations(*(sum(pair[k] for pair in printed.values()) for k in (0, 1)))
    ours = sum((row.ours for row in rows), nothing)
    return (*rows, Count(method, "a link", ours, 0, total))


def recursive_lagrangian() -> tuple[Count, ...]:
    """Return Zalzala and Morris's tables 1 and 2, and their critical path for six links."""
    robot = reference()
    found = counted(robot, partial(lagrangian.lagrangian_torques, rows=True))
    rows = []
    for phase, start in ((_PHASE_ONE, 1), (_PHASE_TWO, robot.joints)):
        for job, counts in phase.items():
            for label, link, pair in (("n>1", 3, counts[:2]), ("n=1", start, counts[2:])):
                ours, signs = found.get(f"{job}/{link}", (Operations(), 0))
                printed, own = Operations(*pair), only(ours)
                note = _SIGNS.format(signs) if own.additions != printed.additions else ""
                rows.append(Count("lagrangian", f"{job}, {label}", own, signs, printed, note))
    path = distributed_lagrangian(robot)
    return (*rows, Count("lagrangian", "path, n=6", path, 0, Operations(383, 307)))


def only(operations: Operations) -> Operations:
    """Return multiplications and additions alone: no paper counts sines and cosines."""
    return Operations(operations.multiplications, operations.additions)


def distributed_lagrangian(robot: Robot) -> Operations:
    """Return the critical path of the distributed recursive Lagrangian, (50) to (53).

    Outwards the longest job of every link, then p̈ and D* of the last, which are a level late;
    inwards a row of D and one of c on one processor. Printed: (65n-7)/(53n-11), 383/307 for six.
    The additions agree because ours has no changes of sign: table 1's total would give one more.
    """
    found = counted(without_rotors(robot), partial(lagrangian.lagrangian_torques, rows=True))
    cost = {name: only(ours) for name, (ours, _) in found.items()}
    last = robot.joints
    total = Operations()
    for i in range(1, last + 1):
        jobs = (cost.get(f"{job}/{i}", Operations()) for job in lagrangian.PHASE_ONE[:3])
        total = total + max(jobs, key=lambda job: job.total)
    total = total + cost[f"pdd/{last}"] + cost[f"D*/{last}"]
    for i in range(1, last):
        total = total + cost[f"Da/{i}"] + cost[f"ca/{i}"]
    return total


def report(rows: Sequence[Count]) -> str:
    """Return the rows as a table."""
    cells = [
        [
            row.method,
            row.equation,
            f"{row.ours.multiplications}/{row.ours.additions}",
            f"{row.printed.multiplications}/{row.printed.additions}",
            row.note,
        ]
        for row in rows
    ]
    return table(("method", "equation", "ours", "printed", "note"), cells, left=(0, 1, 4))
