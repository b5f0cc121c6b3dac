"""Whether states look as if their angles were in degrees: counted while they are read."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from boolcomp.problem.span import TURN

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import ArrayLike, NDArray

    from boolcomp.problem.interval import Interval
    from boolcomp.problem.problem import Group, Problem

LARGEST_ANGLE = 2 * TURN  # rad: no joint is told to go further, unless its own range is larger
MANY = 0.01  # of the samples beyond stops
SLACK = 1e-6  # of a stop, or of a radian: values on a stop are rounded to either side
ASKED = "are the angles in degrees?"


def angles_of(problem: Problem) -> dict[str, Interval | None]:
    """Return the angles among a problem's inputs with their stops; None of those that turn."""
    return {
        one.name: None if one.wraps and one.range.width > TURN * (1 - SLACK) else one.range
        for one in problem.inputs
        if one.angle
    }


class Seen(NamedTuple):
    """What was seen of the angles of some samples.

    `most` is the largest angle beyond two turns, or beyond its own stops where these are further;
    0 where there is none. `outside` counts samples that have an angle beyond its stops.
    """

    most: float = 0.0
    outside: int = 0
    samples: int = 0

    def joined(self, other: Seen) -> Seen:
        """Return what was seen of both."""
        return Seen(
            max(self.most, other.most), self.outside + other.outside, self.samples + other.samples
        )

    @property
    def question(self) -> str:
        """A question where the angles look like degrees; else nothing."""
        if self.most:
            return f"an angle of {self.most:.4g} rad is beyond two turns: {ASKED}"
        if self.outside > MANY * self.samples:
            return f"{self.outside} of {self.samples} samples have angles beyond stops: {ASKED}"
        return ""


class _Column(NamedTuple):
    """An angle of a group: its place there, how far it may be at all, and where its stops are."""

    place: int
    far: float
    low: float
    high: float


class Angles:
    """The angles among inputs, and how far each may be."""

    def __init__(self, groups: Sequence[Group], stops: Mapping[str, Interval | None]) -> None:
        """Take the groups of all inputs, and the stops of those that are angles."""
        self.columns = [
            [_column(k, stops[name]) for k, name in enumerate(group.members) if name in stops]
            for group in groups
        ]
        # Where all values of a group lie within these, nothing is to be asked of it.
        self.limits = [
            (place, max(max(-x.far, x.low) for x in own), min(min(x.far, x.high) for x in own))
            for place, own in enumerate(self.columns)
            if own
        ]

    def near(self, arrays: Sequence[ArrayLike]) -> bool:
        """Tell, quickly, whether no angle of one state is far; False where it is not known."""
        for place, low, high in self.limits:
            given: Any = arrays[place]
            try:
                if not (low <= min(given) and max(given) <= high):
                    return False
            except (TypeError, ValueError):  # a number, or what is nested
                if not isinstance(given, int | float) or not low <= given <= high:
                    return False
        return True

    def seen(self, arrays: Sequence[ArrayLike], samples: int) -> Seen:
        """Look at some samples, an array for every group: (samples, members), or one for all."""
        most = 0.0
        beyond: NDArray[np.bool_] | None = None
        for place, lowest, highest in self.limits:
            given = np.asarray(arrays[place])
            if not given.size or (lowest <= given.min() and given.max() <= highest):
                continue
            for k, far, low, high in self.columns[place]:
                column = given[..., k] if given.ndim else given
                largest = float(np.abs(column).max())
                if largest > far:
                    most = max(most, largest)
                rows = (column < low) | (column > high)
                beyond = rows if beyond is None else beyond | rows
        outside = 0
        if beyond is not None:
            outside = int(np.count_nonzero(np.broadcast_to(beyond, samples)))
        return Seen(most, outside, samples)


def _column(place: int, stops: Interval | None) -> _Column:
    if stops is None:
        return _Column(place, LARGEST_ANGLE, -math.inf, math.inf)
    slack = SLACK * max(1.0, stops.magnitude)
    return _Column(
        place, max(LARGEST_ANGLE, stops.magnitude), stops.low - slack, stops.high + slack
    )
