"""Operations counted by running the methods, beside those that the papers print.

Ours come from a tape that does not fold, so that they are those of the text. Zalzala and Morris
count a change of sign as an addition in four jobs; ours costs nothing and is given apart.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from boolcomp.base.errors import table
from boolcomp.parallel.methods import lagrangian, zomaya
from boolcomp.parallel.methods.recording import record
from boolcomp.parallel.schedule.paper_zalzala import PHASE_1, PHASE_2
from boolcomp.parallel.schedule.paper_zomaya import CUSTOMISED, DIAGONAL, GENERAL
from boolcomp.problem.dynamics.operations import Operations
from boolcomp.problem.expressions.straight import count
from boolcomp.problem.expressions.tape import Tape
from boolcomp.problem.robot.library import load_robot

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from boolcomp.parallel.methods.recording import Physics
    from boolcomp.problem.expressions.straight import Operation
    from boolcomp.problem.robot.model import Robot

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
    return _by_equation("newton-euler", zomaya.general_torques, GENERAL)


def semi_customised(*, dense: bool) -> tuple[Count, ...]:
    """Return their table 3, for full inertia tensors or diagonal ones.

    With diagonal ones, the last row is what the busiest of four processors does a link: it has
    (5), (10) and (12), which are ω, N and n.
    """
    name = f"semi-customised, {'full' if dense else 'diagonal'} tensors"
    torques = partial(zomaya.semi_customised_torques, dense=dense)
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
