"""The section `claim`: what a user of the program relies on, line by line.

    name "machado-2r"                    and bits, mode, demand, what outputs are called
    group ["q", "q1", "q2"]              the arrays of program(q, qd, qdd), in order
    input {"name": "q1", "unit": "rad", "code": …}
    stop ["q2", -1.0, 1.0]
    load 0 of 0.0 kg
    output {"name": "tau1", "unit": "N·m", "code": …, "bound": 5.677652, …}
    bound "tau1" 3.63369728 LSB
    while w8 w10                         bounds of this load hold while these do not overflow
    exact ["x"]                          inputs that lie in the middles of their cells alone

The lines must be those that `program.json` makes, which has no other keys than it should have. Who
changes both finds that names, order, groups, units, stops, payloads and what a kilogram changes are
derived from `origin` once more. What cannot be derived is listed (`not_verified`).
"""

from __future__ import annotations

import json
import math
import re
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from boolcomp.base.errors import DataError, parse_toml, shown
from boolcomp.checker.bound import read_bounds
from boolcomp.checker.folder import (
    DAMAGE,
    NAME,
    DoesNotHoldError,
    Found,
    NotCoveredError,
    Step,
    checked,
    printable,
)
from boolcomp.checker.problem import input_of, outputs_of, read_origin, space_of, values_of
from boolcomp.checker.robot import (
    RANGES,
    SIGNATURES,
    Space,
    Sum,
    Variable,
    document_of,
    ends_of,
    number,
    precise,
    robot_of,
    signature,
)
from boolcomp.checker.tabled import KINDS

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

    from flint import arb

    from boolcomp.checker.folder import LoadFiles, ProgramFiles, Section
    from boolcomp.checker.problem import Input, Origin
    from boolcomp.checker.robot import Robot


# --------------------------------------------------------------------------------------------------
# The section `claim`: what a user of the program relies on, line by line.
# --------------------------------------------------------------------------------------------------


ONCE = "name", "bits", "mode", "plural", "places", "demand", "returned", "per_kilogram"
OUTPUT = "name", "unit", "code", "rest", "grade", "bound"  # and not what was only measured
# What tables of program.json hold, and no other keys: `int` is zero or more, `float` any number,
# a list one of such, a tuple one of several; what ends with a question mark may be missing.
CODE = {"kind": KINDS, "bits": tuple(range(1, 65)), "range": [float], "zero?": ("rise", "tread")}
INPUT = {"name": str, "unit": str, "code": {**CODE, "wraps?": (True, False)}}
WORDS = {"network": int, "words": [[int]]}
TERM = {"name": str, "text": str, "code": CODE, **WORDS}
ERRORS = {"rms": float, "sampled_max": float, "worst_found": (float, None)}
SUM = {
    "name": str, "symbol": str, "unit": str, "code": CODE, "bound": (float, None),
    "errors": (ERRORS, None), "grade?": str, "rest?": [str],
}  # fmt: skip
PAPER = {**SUM, "guard_bits": int, "terms": [TERM], "left_out": [str]}
COMPACT = {**SUM, "guard_bits": (0,), "terms": [()], "left_out": [()]}  # no terms
LOADS = {
    "paper": {"payload": float, "outputs": [PAPER]},
    "compact": {"payload": float, "outputs": [COMPACT], **WORDS, "meanings?": [str]},
}
TOP = {
    "format": ("boolcomp program",), "version": (3, 4, 5), "made_by": str, "name": str, "bits": int,
    "mode": tuple(LOADS), "plural": str, "places": str, "demand": str, "groups": [[str]],
    "returned": [str], "inputs": [INPUT], "networks": int, "loads": list, "per_kilogram?": [float],
    "stops": [[(str, float)]], "files": dict,
}  # fmt: skip
FULL = 1e-9  # a range that is this little short of a turn is one
CONSTANT = 1e-8  # of the largest output: what varies no more may be left out
ROUNDED = 1 + Fraction(1, 1 << 40)  # doubles of a demand are rounded
_REMARK = re.compile(r"^\| (title|source|doubt)", re.MULTILINE)
_PART = re.compile(r"(?:([^=]+)=)?\s*([0-9.]+(?:e[-+]?[0-9]+)?)\s*(\S.*)", re.IGNORECASE)


def stated(
    document: Mapping[str, Any], unproved: Sequence[Iterable[int]], exact: Sequence[str] = ()
) -> list[str]:
    """Return the lines of a claim; `unproved` are the words of every load that may overflow."""
    lines = [f"{key} {_text(document[key])}" for key in ONCE if key in document]
    for key in ("groups", "inputs", "stops"):
        lines += [f"{key[:-1]} {_text(one)}" for one in document[key]]
    for place, (load, words) in enumerate(zip(document["loads"], unproved, strict=True)):
        lines.append(f"load {place} of {_text(load['payload'])} kg")
        for one in load["outputs"]:
            lines.append(f"output {_text({key: one[key] for key in OUTPUT if key in one})}")
            if one["bound"] is not None:
                steps = one["bound"] / float(_step(one))
                lines.append(f"bound {_text(one['name'])} {steps!r} LSB")
        lines += [" ".join(["while", *(f"w{k}" for k in words)])] if words else []
    return [*lines, f"exact {_text(list(exact))}"] if exact else lines


def _text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _step(output: Mapping[str, Any]) -> Fraction:
    low, high = (Fraction(float(end)) for end in output["code"]["range"])
    return (high - low) / (1 << int(output["code"]["bits"]))


def _require(holds: object, what: str) -> None:
    if not holds:
        raise DoesNotHoldError(f"claim: {what}")


def check_claim(program: ProgramFiles) -> Iterator[Step]:
    """Yield what is checked of the claim; a certificate of format 1 has none."""
    document, certificate = program.document, program.certificate
    claim = None if certificate is None else certificate.claim
    if claim is None:
        note = f"{NAME} is of format 1, which does not state it: compile with --certify once more"
        yield Step("claim", "none", note=note)
    else:
        yield _step_of("claim", "line by line beside program.json", lambda: _lines(program, claim))
    yield _step_of("names", "derived from what was asked", lambda: _names(program))
    yield _step_of("demand", "beside words and bounds", lambda: _demand(document))
    if len(program.loads) > 1 or "per_kilogram" in document:
        yield _step_of("loads", "one robot; what a kilogram changes", lambda: _loads(program))


def _step_of(name: str, method: str, check: Callable[[], Found]) -> Step:
    try:
        return checked(name, method, check)
    except NotCoveredError as error:
        return Step(name, "not checked", note=str(error))


def _lines(program: ProgramFiles, claim: Section) -> Found:
    """Compare the claim with what program.json says."""
    _document(program.document)
    unproved = [
        read_bounds(load.section("bound")).unproved if load.graph and "bound" in load.sections
        else () for load in program.loads
    ]  # fmt: skip
    origins = [read_origin(load.section("origin")) for load in program.loads]
    exact = dict.fromkeys(x.name for one in origins for x in one.inputs if x.word and x.word.exact)
    said = stated(program.document, unproved, list(exact))
    for place, (one, other) in enumerate(zip(claim.lines, said, strict=False)):
        _require(one == other, f"{claim.where(place)} is {shown(one)}, and the program {other}")
    count = len(claim.lines)
    _require(count == len(said), f"it has {count} lines, and the program says {len(said)}")
    return Found(count)


# program.json ------------------------------------------------------------------------------------


def _shaped(where: str, value: Any, shape: Any) -> None:
    """Refuse a part of program.json that is none: a reader may take it for something."""
    if isinstance(shape, dict) and isinstance(value, dict):
        parts = {key.rstrip("?"): part for key, part in shape.items()}
        missing = [key for key in shape if key not in value and key[-1] != "?"]
        wrong = missing + [key for key in value if key not in parts]
        _require(not wrong, f"{where}: {shown((wrong or [''])[0])} is missing, or no key of it")
        for key, one in value.items():
            _shaped(f"{where}: {key}", one, parts[key])
        return
    if isinstance(shape, list) and isinstance(value, list):
        for one in value:
            _shaped(where, one, shape[0])
        return
    shapes = shape if isinstance(shape, tuple) else (shape,)
    _require(any(_is(value, one) for one in shapes), f"{where}: {shown(value)} is not understood")


def _is(value: Any, shape: Any) -> bool:
    """Tell whether a value is of a type, or a value."""
    if isinstance(shape, dict):
        if isinstance(value, dict):
            _shaped("errors", value, shape)
        return isinstance(value, dict)
    if shape is int:
        return type(value) is int and value >= 0
    if shape is float:
        return type(value) in (int, float) and math.isfinite(value)
    return (
        isinstance(value, shape)
        if isinstance(shape, type)
        else type(value) is type(shape) and value == shape
    )


def _document(document: dict[str, Any]) -> None:
    """Refuse what program.json should not say."""
    _shaped("program.json", document, TOP)
    for load in document["loads"]:
        _shaped("load", load, LOADS[document["mode"]])


# derived from the origin -------------------------------------------------------------------------


def _names(program: ProgramFiles) -> Found:
    """Derive names, order, groups, units, stops and payloads of all loads."""
    document = program.document
    _document(document)
    _require(program.loads, "there is no load")
    for load in program.loads:
        origin = read_origin(load.section("origin"))
        names = [one.name for one in origin.inputs]
        read = [one["name"] for one in document["inputs"]]
        _require(read == [name for name in names if name in read], f"inputs are {names}, in order")
        made = [one["name"] for one in load.said["outputs"]]
        _require(len(set(made)) == len(made) > 0, "an output is there twice, or none is")
        if origin.function:
            returned = _of_robot(document, load, origin, made)
        else:
            _same("places", document["places"], "inputs")
            _same("plural", document["plural"], "outputs")
            _same("groups", document["groups"], [[name, name] for name in names])
            _same("outputs", made, [name for name, _ in origin.outputs])
            returned = made[0] if len(made) == 1 else "outputs"
        _same("returned", document["returned"], [returned, *made])
        _stops(document, origin.inputs)
        held, said = (origin.payload or 0.0) if origin.function else 0.0, load.said["payload"]
        known = program.certificate is not None and program.certificate.claim is not None
        _require(
            not known or not origin.function or origin.payload is not None,
            "the origin does not say what the robot holds",
        )
        same = held == said and not isinstance(said, bool)
        _require(
            same or (origin.function and origin.payload is None),
            f"the payload of load {load.place} is {shown(said)} kg, and the robot holds {held} kg",
        )
    count = len(document["inputs"]) + len(document["returned"]) - 1
    return Found(count * len(program.loads), "order, groups, units, stops, payloads")


def _same(what: str, said: Any, derived: Any) -> None:
    _require(said == derived, f"{what} are {_text(derived)}, and the program says {_text(said)}")


def _of_robot(
    document: Mapping[str, Any], load: LoadFiles, origin: Origin, made: Sequence[str]
) -> str:
    """Compare names with those of a robot's function; return the group of its outputs."""
    known = signature(origin.function, origin.robot)
    _same("name", document["name"], known.name)
    _same("places", document["places"], "joints")
    _same("plural", document["plural"], known.plural)
    _same("groups", document["groups"], [[name, *has] for name, has in known.groups.items()])
    _same("inputs", [one.name for one in origin.inputs], list(known.units))
    for one in document["inputs"]:
        _same(f"units of {one['name']}", one["unit"], known.units[one["name"]])
    for one in origin.inputs:
        _same(f"ends of {one.name}", [one.low, one.high], list(known.ranges[one.name]))
    _same("outputs", made, [name for name in known.outputs if name in made])
    if left := [name for name in known.outputs if name not in made]:
        _constant(origin, left)
    for one in load.said["outputs"]:
        _same(f"units of {one['name']}", one["unit"], known.outputs[one["name"]])
    return known.returned


def _constant(origin: Origin, names: Collection[str]) -> None:
    """Refuse to leave out an output that varies."""
    with precise():
        space = space_of(origin)
        values = values_of(origin, space)
        largest = max(float(space.most(one).upper()) for one in values.values())
        for name in names:
            varies = Sum({key: c for key, c in values[name].parts.items() if key}, 0)
            most = float(space.most(varies).upper())
            _require(most <= CONSTANT * largest, f"{name} varies, and is no output")


def _stops(document: Mapping[str, Any], inputs: Sequence[Input]) -> None:
    """Compare the stops of inputs: where a word can say more than its input may be."""
    said = {name: (low, high) for name, low, high in document["stops"]}
    codes = {one["name"]: one["code"] for one in document["inputs"]}
    _require(len(said) == len(document["stops"]), "a stop is there twice")
    _require(said.keys() <= {one.name for one in inputs}, "a stop belongs to no input")
    for one in inputs:
        if one.angle and one.word and not one.word.wraps:
            turns = one.high - one.low, one.word.high - one.word.low
            all_around = turns[0] > 2 * math.pi - FULL and abs(turns[1] - 2 * math.pi) < FULL
            _require(not all_around, f"{one.name} goes all the way round, and does not wrap")
        ends, code = (one.low, one.high), codes.get(one.name)
        if one.angle and one.low < one.high:
            needed = one.high - one.low <= 2 * math.pi - FULL
        else:
            needed = one.low == one.high or (code is not None and ends != tuple(code["range"]))
        found = said.get(one.name)
        _require(found == ends or not (found or needed), f"{one.name} stops at {ends}, not {found}")


# demand, loads -----------------------------------------------------------------------------------


def _demand(document: Mapping[str, Any]) -> Found:
    """Check that bits are those of the words, and that bounds keep an error that is promised."""
    parts = [part.partition("=") for part in document["demand"].split(" ") if document["demand"]]
    said = {key: value for key, _, value in parts}
    one_way = len(said) == len(parts) and all(
        equals and key.split() == [key] and value.split() == [value] for key, equals, value in parts
    )
    _require(one_way, "its demand is no list of choices, each said once")
    bits = str(document["bits"])
    _require(
        said.get("bits", bits) == bits, f"{bits} bits, and its demand is of {said.get('bits')}"
    )
    if "error" not in said:
        return Found(len(parts), "no error is promised")
    allowed, count = _allowed(said["error"], document["returned"]), 0
    for load in document["loads"]:
        for one in load["outputs"]:
            if one["name"] not in allowed:
                continue
            amount, unit = allowed[one["name"]]
            known = unit in ("lsb", _plain(one["unit"]), "abs")
            _require(known, f"a promise in {shown(unit)} is not understood")
            most = amount * (_step(one) if unit == "lsb" else 1) * ROUNDED
            kept = one["bound"] is not None and Fraction(one["bound"]) <= most
            _require(kept, f"{said['error']} is promised, which is not proved of {one['name']}")
            count += 1
    return Found(count, f"no error of more than {said['error']} is promised")


def _allowed(text: str, returned: Sequence[str]) -> dict[str, tuple[Fraction, str]]:
    """Return the amount and the unit that a promise says of every output."""
    parts = [_PART.fullmatch(part.strip()) for part in text.split(",")]
    _require(all(parts), f"the promise {shown(text)} is not understood")
    listed = [((m[1] or "").strip(), (Fraction(m[2]), _plain(m[3]))) for m in parts if m]
    group, *names = returned
    if not listed[0][0]:
        _require(len(listed) in (1, len(names)), f"the promise {shown(text)} is not understood")
        return {name: listed[k % len(listed)][1] for k, name in enumerate(names)}
    known = {name for name, _ in listed} <= {group, *names}
    _require(known, f"the promise {shown(text)} is of other outputs")
    said = dict(listed)
    return {name: said.get(name, said.get(group)) for name in names if {name, group} & said.keys()}  # type: ignore[misc]  # one of both is there


def _plain(unit: str) -> str:
    """Return a unit as it is compared: N·m, N*m, N m and Nm are the same, and case is none."""
    return re.sub(r"[·*.\s⋅]", "", unit).casefold()


def _loads(program: ProgramFiles) -> Found:
    """Check that all loads are of one robot, and what a kilogram at its tip changes."""
    origins = [read_origin(load.section("origin")) for load in program.loads]
    first = origins[0]
    for place, one in enumerate(origins):
        pair = [(x.function, x.robot, x.steps, x.outputs) for x in (one, first)]
        _require(pair[0] == pair[1], f"load {place} is of another robot or function than load 0")
    if any(one.function and one.payload is None for one in origins):
        raise NotCoveredError("a certificate of format 1 does not say which load is which")
    masses = [one.payload for one in origins]
    _require(len(set(masses)) == len(masses), "two loads have one mass")
    if "per_kilogram" not in program.document:
        return Found(len(origins))
    said, names = program.document["per_kilogram"], program.document["returned"][1:]
    _require(first.function, "a function of no robot has no loads")
    _require(len(said) == len(names), "what a kilogram changes is not said of every output")
    for name, most, claimed in zip(names, per_kilogram(first, names), said, strict=True):
        _require(most <= claimed, f"a kilogram changes {name} by {most:.6g}, not {claimed}")
    return Found(len(origins) * len(names), "between loads, too")


def per_kilogram(origin: Origin, names: Iterable[str]) -> list[float]:
    """Return what a kilogram at the tip changes outputs by at most: they are affine in it."""
    with precise():
        space = space_of(origin)
        one, other = (values_of(origin, space, more) for more in (1.0, 0.0))
        most = [space.most(one[name] - other[name]) for name in names]
        return [float(x.upper()) * (1 + 2**-50) for x in most]


# what is not derived -----------------------------------------------------------------------------


def not_verified(program: ProgramFiles, *, confirmed: bool = False) -> list[str]:
    """Return what is stated and not derived; `confirmed` is a file that names and units are of."""
    try:
        return _not_derived(program, confirmed=confirmed)
    except DAMAGE:
        return ["program.json, which is damaged"]


def _not_derived(program: ProgramFiles, *, confirmed: bool) -> list[str]:
    document = program.document
    texts = [load.sections["origin"].text for load in program.loads if "origin" in load.sections]
    robot = any(one.startswith("function ") for one in texts)
    loads = document["loads"]
    outputs = [one for load in loads for one in load["outputs"]]
    errors = [one["errors"] for one in outputs if one.get("errors")]
    widths = {one["code"]["bits"] for one in outputs}
    listed = {
        "made_by": True,
        "demand (but for its bits and error)": bool(document.get("demand")),
        "bits (outputs have others)": widths != {document.get("bits")},
        "name": not robot and not confirmed,
        "units": not robot and not confirmed,
        "title, source, doubt": any(map(_REMARK.search, texts)),
        "symbols": True,
        "grade": any("grade" in one for one in outputs),
        "meanings": any("meanings" in load for load in loads),
        "text, left_out": any(one.get("terms") for one in outputs),
        "rms, sampled_max": bool(errors),
        "worst_found": any(one.get("worst_found") is not None for one in errors),
        "payload": robot and not (program.certificate and program.certificate.claim),
    }
    return [name for name, holds in listed.items() if holds]


def described(program: ProgramFiles) -> str:
    """Return a sentence of what robot or function the claims are, with its ranges."""
    if program.certificate is None:
        return ""
    try:
        origin = read_origin(program.loads[0].section("origin"))
        units = {one["name"]: one["unit"] for one in program.document["inputs"]}
        name, what = program.document["name"], "robot" if origin.function else "function"
        if origin.function.partition(":")[0] in SIGNATURES:
            units = signature(origin.function, origin.robot).units
    except (*DAMAGE, DataError):
        return ""
    ranges = []
    for one in origin.inputs:
        middles = " (middles of cells)" if one.word and one.word.exact else ""
        unit = f" {units[one.name]}" if units.get(one.name) else ""
        ranges.append(f"{one.name} {one.low:.6g} .. {one.high:.6g}{unit}{middles}")
    text = f"for the {what} described in the certificate, {shown(name)}: {', '.join(ranges)}"
    return printable(text)


# --------------------------------------------------------------------------------------------------
# Whether a certificate speaks of the robot, or the function, of a file: as it is read here.
#
# Without a file its claims are those of a robot that the certificate describes.
# --------------------------------------------------------------------------------------------------


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
