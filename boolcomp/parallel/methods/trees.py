"""Tree-structured arms: serial branches on the last link of a trunk, and their subsystems.

Strategy 1 of Schäfer and Schiehlen 1992: every branch is cut off and gets equations of its own,

    M_k ÿ_k + k_k = q_k + Q_k g,        ẏ_k = I_k ẏ,

ẏ_k being the velocity of the frame that it hangs on (three of turning, three of the origin, in
that frame) and its joints' speeds. The cut's forces g vanish when the equations are multiplied by
I_kᵀ and added up:

    M = M_0 + Σ I_kᵀ M_k I_k,   k = k_0 + Σ I_kᵀ (k_k + M_k İ_k ẏ),   q = q_0 + Σ I_kᵀ q_k

Branches wait for the trunk's motion only, not for one another.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING

from boolcomp.parallel.methods import joints as of
from boolcomp.parallel.methods.symbolic import (
    Body,
    Column,
    Equations,
    Frame,
    advance,
    assemble,
    base,
)
from boolcomp.problem.dynamics.tape import task

if TYPE_CHECKING:
    from collections.abc import Sequence

    from boolcomp.problem.dynamics.algebra import Algebra, Element
    from boolcomp.problem.robot import Robot

TWIST = 6  # coordinates of a frame's velocity


@dataclass(frozen=True, slots=True)
class Tree:
    """A trunk and the arms on its last link; gravity is the trunk's.

    Joints are numbered through: the trunk's first, then those of each branch.
    """

    name: str
    trunk: Robot
    branches: tuple[Robot, ...]

    @property
    def joints(self) -> int:
        """How many joints there are in all."""
        return self.trunk.joints + sum(branch.joints for branch in self.branches)

    @property
    def starts(self) -> tuple[int, ...]:
        """How many joints come before each branch's first."""
        counts = (branch.joints for branch in self.branches)
        return tuple(accumulate(counts, initial=self.trunk.joints))[: len(self.branches)]

    def __str__(self) -> str:
        branches = ", ".join(f"{b.name} ({b.joints})" for b in self.branches)
        return f"tree {self.name}: {self.trunk.name} ({self.trunk.joints}), on it {branches}"


def equations(
    tree: Tree, algebra: Algebra, q: Sequence[Element], qd: Sequence[Element]
) -> Equations:
    """Return M, k and q of the whole tree at once."""
    trunk = tree.trunk
    state = (q[: trunk.joints], qd[: trunk.joints])
    frame, bodies = _chain(trunk, algebra, base(trunk, algebra), state)
    for k, (branch, start) in enumerate(zip(tree.branches, tree.starts, strict=True), 1):
        end = start + branch.joints
        state = (q[start:end], qd[start:end])
        bodies += _chain(branch, algebra, frame, state, first=start, prefix=f"{k}.")[1]
    return assemble(algebra, bodies, tree.joints)


def subsystem_equations(
    tree: Tree, algebra: Algebra, q: Sequence[Element], qd: Sequence[Element]
) -> Equations:
    """Return the same from subsystems: each branch for itself, then coupled."""
    trunk = tree.trunk
    state = (q[: trunk.joints], qd[: trunk.joints])
    frame, bodies = _chain(trunk, algebra, base(trunk, algebra), state)
    whole = assemble(algebra, bodies, trunk.joints)
    zero = algebra.constant(0.0)
    size = range(tree.joints)
    M = [[whole.mass[r][c] if r < trunk.joints else zero for c in range(r + 1)] for r in size]
    k = [whole.k[r] if r < trunk.joints else zero for r in size]
    weights = [whole.q[r] if r < trunk.joints else zero for r in size]
    for number, (branch, start) in enumerate(zip(tree.branches, tree.starts, strict=True), 1):
        end = start + branch.joints
        local = _cut(branch, algebra, frame, (q[start:end], qd[start:end]), f"{number}.")
        with task(algebra, f"couple/{number}"):
            into = _jacobian(algebra, frame, branch.joints, start, tree.joints)
            _couple(algebra, local, into, frame, (M, k, weights))
    return Equations(tuple(tuple(row) for row in M), tuple(k), tuple(weights))


def _chain(
    robot: Robot,
    algebra: Algebra,
    frame: Frame,
    state: tuple[Sequence[Element], Sequence[Element]],
    *,
    first: int = 0,
    prefix: str = "",
) -> tuple[Frame, list[Body]]:
    """Go out along a chain: the frame at its end, its bodies; `first` columns come before its."""
    bodies = []
    for i, (link, *now) in enumerate(zip(robot.links, *state, strict=True), 1):
        label = f"{prefix}{i}"
        frame, body = advance(label, first + i, link, algebra, frame, (now[0], now[1]))
        bodies.append(body)
    return frame, bodies


def _cut(
    branch: Robot,
    algebra: Algebra,
    at: Frame,
    state: tuple[Sequence[Element], Sequence[Element]],
    prefix: str,
) -> Equations:
    """Return a branch's own equations: six coordinates of the frame it hangs on, its joints."""
    none = of.zeros(algebra)
    unit = of.identity(algebra).rows
    turning = tuple(Column(c, axis, none) for c, axis in enumerate(unit, 1))
    moving = tuple(Column(c, none, axis) for c, axis in enumerate(unit, 4))
    frame = Frame((*turning, *moving), at.omega, none, none, at.down)
    _, bodies = _chain(branch, algebra, frame, state, first=TWIST, prefix=prefix)
    return assemble(algebra, bodies, TWIST + branch.joints, prefix)


def _jacobian(
    algebra: Algebra, frame: Frame, joints: int, start: int, total: int
) -> list[list[Element | None]]:
    """Return I_k by rows; None where it is zero."""
    rows: list[list[Element | None]] = [[None] * total for _ in range(TWIST + joints)]
    for column in frame.columns:
        entries = (*column.turn, *column.move)
        for row, entry in zip(rows, entries, strict=False):
            row[column.joint - 1] = entry
    for i in range(joints):
        rows[TWIST + i][start + i] = algebra.constant(1.0)
    return rows


def _couple(
    algebra: Algebra,
    local: Equations,
    into: Sequence[Sequence[Element | None]],
    frame: Frame,
    whole: tuple[list[list[Element]], list[Element], list[Element]],
) -> None:
    """Add I_kᵀ(…) of one branch to M, k and q, which the caller has made for this."""
    mass, k, q = whole
    size = range(len(into))
    bias = (*frame.omega_dot, *frame.acceleration)
    biased = []
    for a in size:
        total = local.k[a]
        for c, rate in enumerate(bias):
            total = total + local.entry(a, c) * rate
        biased.append(total)
    moved = [
        [_dot(algebra, [local.entry(a, b) for b in size], [row[c] for row in into]) for a in size]
        for c in range(len(mass))
    ]
    for r in range(len(mass)):
        column = [row[r] for row in into]
        for c in range(r + 1):
            mass[r][c] = mass[r][c] + _dot(algebra, moved[c], column)
        k[r] = k[r] + _dot(algebra, biased, column)
        q[r] = q[r] + _dot(algebra, list(local.q), column)


def _dot(algebra: Algebra, values: Sequence[Element], column: Sequence[Element | None]) -> Element:
    total = None
    for value, entry in zip(values, column, strict=True):
        if entry is not None:
            total = value * entry if total is None else total + value * entry
    return algebra.constant(0.0) if total is None else total
