"""What is measured: a program, its load, the problem that it solves where that is known."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from boolcomp.measure.cycles.design import Row
    from boolcomp.problem.problem import Problem
    from boolcomp.problem.robot.model import Robot
    from boolcomp.program.parts import Load
    from boolcomp.program.program import Program


@dataclass(frozen=True, slots=True)
class Subject:
    """A program with a load, its problem with that load, and so many states from a seed.

    `robot` bears the load; it is None where the problem is no robot's. `own` are the program's rms
    errors in last bits, once they are known.
    """

    program: Program
    payload: float
    problem: Problem | None = None
    robot: Robot | None = None
    states: int = 100
    seed: int = 14
    own: Row | None = None

    @property
    def load(self) -> Load:
        """The outputs with the load."""
        return self.program.load(self.payload)

    @property
    def steps(self) -> tuple[float, ...]:
        """The last bits of the outputs' words."""
        return tuple(output.code.step for output in self.load.outputs)
