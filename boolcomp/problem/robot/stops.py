"""Where variables may be, for those of which that is less than their words can say."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from boolcomp.problem.span import all_around

if TYPE_CHECKING:
    from collections.abc import Iterator

    from boolcomp.problem.interval import Interval
    from boolcomp.problem.robot.model import Robot


@dataclass(frozen=True, slots=True)
class Stops:
    """The stops of a joint, or a single value: of q, qd or qdd (`array` 0, 1, 2), from joint 0."""

    array: int
    column: int
    range: Interval

    def __str__(self) -> str:
        return f"{('q', 'qd', 'qdd')[self.array]}{self.column + 1} within {self.range}"


def stops_of(robot: Robot) -> tuple[Stops, ...]:
    """Return the stops of joints that turn, and what is a single value."""
    return tuple(_found(robot))


def _found(robot: Robot) -> Iterator[Stops]:
    for array, kind in enumerate(("position", "velocity", "acceleration")):
        for column, link in enumerate(robot.links):
            interval: Interval = getattr(link, kind)
            around = link.revolute and all_around(interval)
            narrower = link.revolute or interval != link.span.word
            stops = kind == "position" and narrower and not around
            if interval.single or stops:
                yield Stops(array, column, interval)
