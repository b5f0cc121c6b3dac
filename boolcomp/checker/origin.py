"""The section `origin`: what is calculated, as its user gave it, and the inputs with their words.

    function inverse-dynamics
    payload 1.5                          kg, at the tip of the robot
    | name = "arm"                       a robot file, line by line
    step mul 0 1                         or the steps of a function, after its inputs, in order,
    output y 3                           and which of them are its outputs
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

import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from boolcomp.checker.claims.nodes import operation
from boolcomp.checker.functions.curves import Functions
from boolcomp.checker.functions.robotfunctions import outputs
from boolcomp.checker.functions.signatures import signature
from boolcomp.checker.functions.waves import Variable, precise
from boolcomp.checker.steps import DoesNotHoldError, Found, NotCoveredError, Step, checked
from boolcomp.common.errors import DataError, shown

if TYPE_CHECKING:
    from collections.abc import Iterator

    from boolcomp.checker.claims.nodes import Operation
    from boolcomp.checker.container import Section
    from boolcomp.checker.folder import LoadFiles
    from boolcomp.checker.functions.waves import Sum

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
    """A function of a robot, or the steps of one after its inputs, and all inputs.

    In format 1 the robot holds its payload (None), and what that is is not said.
    """

    function: str
    payload: float | None
    robot: str
    steps: tuple[Operation, ...]
    outputs: tuple[tuple[str, int], ...]
    inputs: tuple[Input, ...]


def read_origin(section: Section) -> Origin:
    """Read the section; a `DataError` names the line that is wrong."""
    function, payload, robot, outputs = "", None, [], {}
    steps: list[Operation] = []
    inputs: dict[str, Input] = {}
    for row, line in enumerate(section.lines):
        kind, _, rest = line.partition(" ")
        try:
            if kind == "input":
                one = _input(line)
                _require_line(one.name not in inputs)
                inputs[one.name] = one
            elif kind == "|":
                robot.append(rest)
            elif kind == "payload":
                _require_line(row == 1 and not math.isinf(float(rest)) and float(rest) >= 0)
                payload = float(rest)
            elif kind == "step":
                steps.append(operation(rest.split(" "), len(inputs) + len(steps)))
            elif kind == "output":
                name, place = rest.split(" ")
                _require_line(name not in outputs)
                outputs[name] = int(place)
                _require_line(0 <= int(place) < len(inputs) + len(steps))
            else:
                _require_line(kind == "function" and not row)
                function = rest
        except (ValueError, AttributeError) as error:
            where = section.where(row)
            raise DataError(f"{where}: {shown(line)} is no line of an origin") from error
    found = tuple(inputs.values())
    return Origin(function, payload, "\n".join(robot), tuple(steps), tuple(outputs.items()), found)


def _require_line(holds: bool) -> None:  # noqa: FBT001 (what is checked)
    if not holds:
        raise ValueError("no line of an origin")


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


def space_of(origin: Origin) -> Functions:
    """Return the space of sums over the inputs of an origin."""
    return Functions([Variable(x.name, x.angle, x.low, x.high) for x in origin.inputs])


def values_of(origin: Origin, space: Functions, more: float = 0.0) -> dict[str, Sum]:
    """Return what is calculated, by the outputs' names; `more` is added to the payload (kg)."""
    if origin.function:
        payload = (origin.payload or 0.0) + more
        found = outputs(origin.function, origin.robot, space, payload)
        return {name: space.held(one) for name, one in found.items()}
    values = [space.angle(x.name) if x.angle else space.value(x.name) for x in origin.inputs]
    for step in origin.steps:
        values.append(space.step(step, values, values[0]))
    return {name: space.held(values[place]) for name, place in origin.outputs}


def function_of(section: Section) -> tuple[Functions, dict[str, Sum]]:
    """Return what is calculated as sums of waves, by the outputs' names, and their space."""
    origin = read_origin(section)
    space = space_of(origin)
    return space, values_of(origin, space)


def check_origin(load: LoadFiles) -> Iterator[Step]:
    """Yield what is checked of a load's section: robot to sums of waves, ranges of inputs."""
    section = load.section("origin")
    name, method = "robot to waves", "Lagrange's equations in balls, a second time"
    if not section.text.startswith("function "):
        name, method = "function to waves", "its steps in balls, a second time"

    def waves() -> Found:
        origin = read_origin(section)
        with precise():
            found = function_of(section)[1]
        said = signature(origin.function, origin.robot).ranges if origin.function else {}
        for one in origin.inputs:
            if said.get(one.name, (one.low, one.high)) != (one.low, one.high):
                low, high = said[one.name]
                raise DoesNotHoldError(
                    f"origin: {one.name} is said to lie in {one.low!r} .. {one.high!r}, and the "
                    f"robot's joint may go from {low!r} to {high!r}"
                )
        parts = sum(len(one.parts) for one in found.values())
        of = origin.function or f"{len(origin.steps)} steps"
        return Found(parts, f"{of}: {len(found)} outputs")

    try:
        yield checked(name, method, waves)
    except NotCoveredError as error:
        yield Step(name, "not checked", note=f"{error}")
