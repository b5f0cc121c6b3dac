"""Whether a certificate speaks of the robot, or the function, of a file: as it is read here.

Without a file its claims are those of a robot that the certificate describes.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from boolcomp.base.errors import parse_toml
from boolcomp.checker.functions.signatures import RANGES
from boolcomp.checker.functions.waves import Space, Sum, Variable, number, precise
from boolcomp.checker.functions.written import input_of, outputs_of
from boolcomp.checker.origin import read_origin, space_of, values_of
from boolcomp.checker.robot import document_of, ends_of, robot_of
from boolcomp.checker.steps import DoesNotHoldError, Found, NotCoveredError, Step, checked
from boolcomp.common.errors import DataError, shown

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from flint import arb

    from boolcomp.checker.folder import LoadFiles
    from boolcomp.checker.origin import Origin
    from boolcomp.checker.robot import Robot

SNAP = 5e-5  # an angle that is printed as 1.5708 is a right one, of Denavit and Hartenberg's keys
ALIKE = 1e-12  # of the largest of some numbers: doubles of bodies that were put together


@dataclass(frozen=True, slots=True)
class Asked:
    """The text of a robot or function file, and how it is called in messages."""

    text: str
    where: str


def check_same(load: LoadFiles, asked: Asked) -> Iterator[Step]:
    """Yield whether a load's origin is what was asked: parameters, ranges and stops."""
    name, method = "same as asked", "parameters and ranges beside the file"

    def same() -> Found:
        origin = read_origin(load.section("origin"))
        exact = [one.name for one in origin.inputs if one.word and one.word.exact]
        _require_same(not exact, f"{exact} lie in the middles of cells alone")
        if not origin.function:
            return _same_function(load, origin, asked)
        if origin.payload is None:
            raise NotCoveredError("in format 1 a robot holds its load: it is not the file's")
        return _same_robot(origin, asked)

    try:
        yield checked(name, method, same)
    except NotCoveredError as error:
        yield Step(name, method, note=str(error))


def _require_same(holds: object, what: str) -> None:
    if not holds:
        raise DoesNotHoldError(f"another one than that of the file: {what}")


def _same_robot(origin: Origin, asked: Asked) -> Found:
    """Compare the robot of a certificate with that of a file."""
    try:
        theirs = document_of(asked.text)
    except DataError as error:
        raise DataError(f"{asked.where}: {error}") from error
    mine = document_of(origin.robot)
    _snap(theirs)
    pairs = list(zip(mine["joint"], theirs["joint"], strict=False))
    _require_same(mine["name"] == theirs["name"], f"it is {shown(mine['name'])}")
    _require_same(len(mine["joint"]) == len(theirs["joint"]), f"it has {len(mine['joint'])} joints")
    for k, (one, other) in enumerate(pairs, 1):
        _require_same(one["type"] == other["type"], f"joint {k} is {one['type']}")
        for kind in (*RANGES.values(), "torque"):
            ends = ends_of(one, kind)
            _require_same(ends == ends_of(other, kind), f"{kind}_range of joint {k} is {ends}")
    with precise():
        turns = [(f"q{k}", one["type"] == "revolute") for k, one in enumerate(mine["joint"], 1)]
        space = Space([Variable(q, turn, -1.0, 1.0) for q, turn in turns])
        parts = [_parts(robot_of(document, space)) for document in (mine, theirs)]
        for what, values in parts[0].items():
            _require_same(_alike(values, parts[1][what], space), f"{what} differs")
    return Found(len(parts[0]), f"{len(pairs)} joints, their ranges and stops")


def _snap(document: dict[str, Any]) -> None:
    """Put angles of Denavit and Hartenberg's keys back on multiples of pi/2, as files are read."""
    for joint in document["joint"]:
        for key in ("alpha", "theta"):
            angle = joint.get(key, 0)
            turns = 0 if isinstance(angle, str) else round(angle / (math.pi / 2))
            if turns and abs(angle - turns * math.pi / 2) < SNAP:
                joint[key] = f"{turns}*pi/2"


def _parts(robot: Robot) -> dict[str, list[Sum]]:
    """Return all that a robot is, by what it is called in messages."""
    found = {
        "gravity": robot.gravity,
        "base": [one for row in robot.base for one in row],
        "tool": [one for row in robot.tool for one in row],
    }
    for k, one in enumerate(robot.joints, 1):
        numbers: dict[str, Sequence[int | arb]] = {
            "its parent": [one.parent],
            "its rotor": [one.rotor],
            "its viscous friction": [one.viscous],
            "its dry friction": one.dry,
        }
        rows = {"where it lies": one.place, "how it moves": one.motion}
        rows |= {"its mass, centre or inertia": one.moments}
        found |= {f"{what} of joint {k}": list(map(number, x)) for what, x in numbers.items()}
        found |= {f"{what} of joint {k}": [y for row in x for y in row] for what, x in rows.items()}
    return found


def _alike(values: Sequence[Sum], others: Sequence[Sum], space: Space) -> bool:
    """Tell whether numbers are the same, but for the rounding of doubles."""

    def size(of: Sum) -> arb:
        return space.most(of)

    largest = max(float(size(one).upper()) for one in (*values, *others))
    pairs = zip(values, others, strict=True)
    return all(float(size(a - b).upper()) <= ALIKE * largest for a, b in pairs)


def _same_function(load: LoadFiles, origin: Origin, asked: Asked) -> Found:
    """Compare the function of a certificate with that of a file, its inputs in order, its units."""
    document = load.document
    try:
        file = parse_toml(asked.text, f"{asked.where}: it is no function that can be read")
        given = {name: input_of(table) for name, table in file["inputs"].items()}
        units = {name: table.get("unit", "") for name, table in file["outputs"].items()}
        _require_same(file["name"] == document["name"], f"it is {shown(document['name'])}")
        inputs = {one.name: (one.low, one.high, one.angle) for one in origin.inputs}
        _require_same(list(inputs) == list(given), f"its inputs are {list(inputs)}")
        for name, ends in inputs.items():
            _require_same(ends == given[name][:3], f"{name} lies in {ends[0]} .. {ends[1]}")
        said = {one["name"]: one["unit"] for one in document["inputs"]}
        for name, unit in said.items():
            _require_same(unit == given[name][3], f"the unit of {name} is {shown(unit)}")
        said = {one["name"]: one["unit"] for one in load.said["outputs"]}
        _require_same(list(said) == list(units), f"its outputs are {list(said)}")
        _require_same(said == units, f"the units of its outputs are {said}")
        with precise():
            space = space_of(origin)
            mine, theirs = values_of(origin, space), outputs_of(file, space)
            for name, value in mine.items():
                _require_same(_alike([value], [theirs[name]], space), f"{name} is another function")
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise DataError(f"{asked.where}: it is no function that can be read ({error!r})") from error
    return Found(len(inputs) + len(said), "inputs in order, units, outputs")
