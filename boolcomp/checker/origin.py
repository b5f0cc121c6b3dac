"""The section `origin`: what is calculated, as its user gave it, and the inputs with their words.

    function inverse-dynamics
    | name = "arm"                       a robot file, line by line
    input q1 -3.0 3.0 angle word -3.14 3.14 10 of 0 wraps
    input qd1 -1.0 1.0 word -1.0 1.0 8 of all
    input q2 0.5 0.5 angle               a single value: it has no word

An input lies between the first two numbers. Its word has 2^10 cells, which divide -3.14 .. 3.14; of
an angle that is 2^-0 of a turn (`of all`: it is no such part), and what `wraps` may be whole turns
farther. To a sketch an angle counts turns from half a turn above its word's lowest border, if it is
a part of a turn; any other input counts cells from the middle. An `exact` input lies in the middles
of cells alone.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from boolcomp.checker.robot import ranges
from boolcomp.checker.robotfunctions import NotCoveredError, outputs
from boolcomp.checker.steps import DoesNotHoldError, Found, Step, checked
from boolcomp.checker.waves import Space, Variable, balls
from boolcomp.common.errors import DataError, shown

if TYPE_CHECKING:
    from collections.abc import Iterator

    from boolcomp.checker.container import Section
    from boolcomp.checker.folder import LoadFiles
    from boolcomp.checker.waves import Sum

_REAL = r"(-?[0-9.e+-]+)"
_INPUT = re.compile(
    rf"input (\w+) {_REAL} {_REAL}( angle)?"
    rf"(?: word {_REAL} {_REAL} (\d\d?) of (\d\d?|all)( wraps)?( exact)?)?"
)


@dataclass(frozen=True, slots=True)
class Word:
    """An input's word: 2^bits cells divide low .. high, 2^-part of a turn if that is said."""

    low: float
    high: float
    bits: int
    part: int | None
    wraps: bool
    exact: bool


@dataclass(frozen=True, slots=True)
class Input:
    """An input: between which numbers it lies, and its word; a single value has none."""

    name: str
    low: float
    high: float
    angle: bool
    word: Word | None


@dataclass(frozen=True, slots=True)
class Origin:
    """A function of a robot, or nothing that is said, and all inputs."""

    function: str
    robot: str
    inputs: tuple[Input, ...]

    @property
    def space(self) -> Space:
        """The space of sums over its inputs."""
        return Space([Variable(x.name, x.angle, x.low, x.high) for x in self.inputs])


def read_origin(section: Section) -> Origin:
    """Read the section; a `DataError` names the line that is wrong."""
    lines = list(section.lines)
    function = lines.pop(0).removeprefix("function ") if lines[0][:9] == "function " else ""
    robot = [line[2:] for line in lines if line[:1] == "|"]
    inputs = []
    for row, line in enumerate(section.lines[len(section.lines) - len(lines) + len(robot) :]):
        try:
            inputs.append(_input(line))
        except (ValueError, AttributeError) as error:
            where = section.where(row + len(section.lines) - len(lines) + len(robot))
            raise DataError(f"{where}: {shown(line)} is no input, or has no such word") from error
    if len({one.name for one in inputs}) < len(inputs):
        raise DataError(f"{section.where(0)}: an input is there twice")
    return Origin(function, "\n".join(robot), tuple(inputs))


def _input(line: str) -> Input:
    name, low, high, angle, *rest = _INPUT.fullmatch(line).groups()  # type: ignore[union-attr]
    if float(low) > float(high) or (rest[0] is None) != (float(low) == float(high)):
        raise ValueError(line)
    word = None
    if rest[0] is not None:
        part = None if rest[3] == "all" else int(rest[3])
        word = Word(
            float(rest[0]), float(rest[1]), int(rest[2]), part, bool(rest[4]), bool(rest[5])
        )
        if word.low >= word.high or word.bits > 60 or (part is not None and not angle):
            raise ValueError(line)
    return Input(name, float(low), float(high), bool(angle), word)


@lru_cache(maxsize=4)
def function_of(section: Section) -> dict[str, Sum]:
    """Return what is calculated as sums of waves by the outputs' names; they may be not covered."""
    origin = read_origin(section)
    if not origin.function:
        raise NotCoveredError("it says no function of a robot")
    with balls():
        found = outputs(origin.function, origin.robot, origin.space)
        return {name: origin.space.held(one) for name, one in found.items()}


def check(load: LoadFiles) -> Iterator[Step]:
    """Yield what is checked of a load's section: robot to sums of waves, ranges of inputs."""
    section = load.section("origin")
    name, method = "robot to waves", "Lagrange's equations in balls, a second time"

    def waves() -> Found:
        origin, found = read_origin(section), function_of(section)
        said = ranges(origin.robot)
        for one in origin.inputs:
            if said.get(one.name, (one.low, one.high)) != (one.low, one.high):
                low, high = said[one.name]
                raise DoesNotHoldError(
                    f"origin: {one.name} is said to lie in {one.low!r} .. {one.high!r}, and the "
                    f"robot's joint may go from {low!r} to {high!r}"
                )
        parts = sum(len(one.parts) for one in found.values())
        return Found(parts, f"{origin.function}: {len(found)} outputs")

    try:
        yield checked(name, method, waves)
    except NotCoveredError as error:
        yield Step(name, "not checked", note=f"{error}")
