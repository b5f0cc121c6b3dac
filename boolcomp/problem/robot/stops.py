"""Where variables may be, for those of which that is less than their words can say."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from boolcomp.problem.interval import Interval
    from boolcomp.problem.problem import Problem


@dataclass(frozen=True, slots=True)
class Stops:
    """The stops of a joint, or a single value: of q, qd or qdd (`array` 0, 1, 2), from joint 0."""

    array: int
    column: int
    range: Interval

    def __str__(self) -> str:
        return f"{('q', 'qd', 'qdd')[self.array]}{self.column + 1} within {self.range}"


def stops_of(problem: Problem) -> tuple[Stops, ...]:
    """Return the stops of joints that turn, and what is a single value."""
    return tuple(
        Stops(array, column, one.range)
        for array, group in enumerate(problem.groups)
        for column, one in enumerate(problem.members(group))
        if one.stopped
    )
