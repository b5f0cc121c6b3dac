"""Check the section `claim`, the list of all statements that a user of the program relies on.

    name "machado-2r"                    and bits, mode, demand, names of groups
    group ["q", "q1", "q2"]              the arrays of program(q, qd, qdd), in order
    input {"name": "q1", "unit": "rad", "code": …}
    stop ["q2", -1.0, 1.0]
    load 0 of 0.0 kg
    output {"name": "tau1", "unit": "N·m", "code": …, "bound": 5.677652, …}
    bound "tau1" 3.63369728 LSB
    while w8 w10                         bounds of this load require that these do not overflow
    exact ["x"]                          inputs that lie in the middles of their cells

The lines must be those that follow from `program.json`, which may have no unknown keys. Because a
forger can change both, names, order, groups, units, stops, payloads and the effect of a kilogram
are derived from `origin` as well. `not_verified` lists the statements that cannot be derived.
"""

from __future__ import annotations

import json
import math
import re
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from boolcomp.base.errors import DataError, parse_toml, shown
from boolcomp.checker.bound import read_bounds
from boolcomp.checker.folder import (
    DAMAGE,
    NAME,
    CheckedCases,
    DoesNotHoldError,
    NotCoveredError,
    VerdictStep,
    checked,
    printable,
)
from boolcomp.checker.problem import input_of, outputs_of, read_origin, space_of, values_of
from boolcomp.checker.robot import (
    RANGES,
    ClaimedWaveSum,
    Space,
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
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from flint import arb

    from boolcomp.checker.folder import CertificateSection, LoadFiles, ProgramFiles
    from boolcomp.checker.problem import ClaimedRange, Origin
    from boolcomp.checker.robot import ClaimedRobot


# --------------------------------------------------------------------------------------------------
# The section `claim`.
# --------------------------------------------------------------------------------------------------

ONCE = "name", "bits", "mode", "plural", "places", "demand", "returned", "per_kilogram"
OUTPUT = "name", "unit", "code", "rest", "grade", "bound"  # measured errors are not part of a claim
# The keys of tables in program.json. `int` means an integer ≥ 0, `float` any number, a list means a
# list of such values, a tuple lists alternatives, and a key with a question mark is optional.
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
FULL = 1e-9  # rad: tolerance for a range of a full turn
CONSTANT = 1e-8  # of the largest output: an output that varies less may be left out
ROUNDED = 1 + Fraction(1, 1 << 40)  # tolerance for rounded doubles in a demand
_REMARK = re.compile(r"^\| (title|source|doubt)", re.MULTILINE)
_PART = re.compile(r"(?:([^=]+)=)?\s*([0-9.]+(?:e[-+]?[0-9]+)?)\s*(\S.*)", re.IGNORECASE)


def stated(
    document: Mapping[str, Any], unproved: Sequence[Iterable[int]], exact: Sequence[str] = ()
) -> list[str]:
    """Return the lines of a claim; `unproved` has the words of each load that may overflow."""
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


def check_claim(program: ProgramFiles) -> Iterator[VerdictStep]:
    """Check the claim; a certificate of format 1 has none."""
    document, certificate = program.document, program.certificate
    claim = None if certificate is None else certificate.claim
    if claim is None:
        note = f"{NAME} has format 1, which lacks this section: compile with --certify again"
        yield VerdictStep("claim", "none", note=note)
    else:
        yield checked("claim", "line by line against program.json", lambda: _lines(program, claim))
    yield checked("names", "derived from the origin", lambda: _names(program))
    yield checked("demand", "against words and bounds", lambda: _demand(document))
    if len(program.loads) > 1 or "per_kilogram" in document:
        yield checked("loads", "one robot; effect of a kilogram", lambda: _loads(program))


def _lines(program: ProgramFiles, claim: CertificateSection) -> CheckedCases:
    """Compare the claim with program.json."""
    _document(program.document)
    unproved = [
        read_bounds(load.section("bound")).unproved if load.graph and "bound" in load.sections
        else () for load in program.loads
    ]  # fmt: skip
    origins = [read_origin(load.section("origin")) for load in program.loads]
    exact = dict.fromkeys(x.name for one in origins for x in one.inputs if x.word and x.word.exact)
    lines = stated(program.document, unproved, list(exact))
    for place, (one, other) in enumerate(zip(claim.lines, lines, strict=False)):
        _require(one == other, f"{claim.where(place)} is {shown(one)}, but the program has {other}")
    count = len(claim.lines)
    _require(count == len(lines), f"it has {count} lines, but the program needs {len(lines)}")
    return CheckedCases(count)


# program.json ------------------------------------------------------------------------------------


def _shaped(where: str, value: Any, shape: Any) -> None:
    """Require that a part of program.json has a shape, so that readers cannot misinterpret it."""
    if isinstance(shape, dict) and isinstance(value, dict):
        parts = {key.rstrip("?"): part for key, part in shape.items()}
        missing = [key for key in shape if key not in value and key[-1] != "?"]
        wrong = missing + [key for key in value if key not in parts]
        _require(not wrong, f"{where}: {shown((wrong or [''])[0])} is missing, or an unknown key")
        for key, one in value.items():
            _shaped(f"{where}: {key}", one, parts[key])
        return
    if isinstance(shape, list) and isinstance(value, list):
        for one in value:
            _shaped(where, one, shape[0])
        return
    shapes = shape if isinstance(shape, tuple) else (shape,)
    _require(any(_is(value, one) for one in shapes), f"{where}: {shown(value)} is invalid")


def _is(value: Any, shape: Any) -> bool:
    """Tell whether a value has a type, or equals a constant, of a shape."""
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
    """Require that program.json has the keys and types of its format."""
    _shaped("program.json", document, TOP)
    for load in document["loads"]:
        _shaped("load", load, LOADS[document["mode"]])


# derived from the origin -------------------------------------------------------------------------


def _names(program: ProgramFiles) -> CheckedCases:
    """Derive names, order, groups, units, stops and payloads of all loads from their origins."""
    document = program.document
    _document(document)
    _require(program.loads, "there is no load")
    for load in program.loads:
        origin = read_origin(load.section("origin"))
        names = [one.name for one in origin.inputs]
        read = [one["name"] for one in document["inputs"]]
        _require(read == [name for name in names if name in read], f"inputs are {names}, in order")
        made = [one["name"] for one in load.entry["outputs"]]
        _require(len(set(made)) == len(made) > 0, "outputs are missing, or one occurs twice")
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
        held, claimed = (origin.payload or 0.0) if origin.function else 0.0, load.entry["payload"]
        has_claim = program.certificate is not None and program.certificate.claim is not None
        _require(
            not has_claim or not origin.function or origin.payload is not None,
            "the origin has no payload",
        )
        same = held == claimed and not isinstance(claimed, bool)
        _require(
            same or (origin.function and origin.payload is None),
            f"the payload of load {load.place} is {shown(claimed)} kg, but the robot's {held} kg",
        )
    count = len(document["inputs"]) + len(document["returned"]) - 1
    return CheckedCases(count * len(program.loads), "order, groups, units, stops, payloads")


def _same(what: str, claimed: Any, derived: Any) -> None:
    _require(
        claimed == derived, f"{what} are {_text(derived)}, but in the program {_text(claimed)}"
    )


def _of_robot(
    document: Mapping[str, Any], load: LoadFiles, origin: Origin, made: Sequence[str]
) -> str:
    """Compare names with those of a robot's function; return the group name of its outputs."""
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
        _require_constant(origin, left)
    for one in load.entry["outputs"]:
        _same(f"units of {one['name']}", one["unit"], known.outputs[one["name"]])
    return known.returned


def _require_constant(origin: Origin, names: Collection[str]) -> None:
    """Require that outputs are constant, since the program leaves them out."""
    with precise():
        space = space_of(origin)
        values = values_of(origin, space)
        largest = max(float(space.maximum(one).upper()) for one in values.values())
        for name in names:
            varies = ClaimedWaveSum({key: c for key, c in values[name].parts.items() if key}, 0)
            maximum = float(space.maximum(varies).upper())
            _require(maximum <= CONSTANT * largest, f"{name} varies, but is no output")


def _stops(document: Mapping[str, Any], inputs: Sequence[ClaimedRange]) -> None:
    """Check the stops of inputs; words that exceed the range of their input need a stop."""
    stops = {name: (low, high) for name, low, high in document["stops"]}
    codes = {one["name"]: one["code"] for one in document["inputs"]}
    _require(len(stops) == len(document["stops"]), "an input has two stops")
    _require(stops.keys() <= {one.name for one in inputs}, "a stop belongs to no input")
    for one in inputs:
        if one.angle and one.word and not one.word.wraps:
            turns = one.high - one.low, one.word.high - one.word.low
            all_around = turns[0] > 2 * math.pi - FULL and abs(turns[1] - 2 * math.pi) < FULL
            _require(not all_around, f"{one.name} covers a full turn, but does not wrap")
        ends, code = (one.low, one.high), codes.get(one.name)
        if one.angle and one.low < one.high:
            needed = one.high - one.low <= 2 * math.pi - FULL
        else:
            needed = one.low == one.high or (code is not None and ends != tuple(code["range"]))
        found = stops.get(one.name)
        _require(found == ends or not (found or needed), f"{one.name} stops at {ends}, not {found}")


# demand, loads -----------------------------------------------------------------------------------


def _demand(document: Mapping[str, Any]) -> CheckedCases:
    """Check the number of bits, and that proved bounds meet the guaranteed error, if any."""
    parts = [part.partition("=") for part in document["demand"].split(" ") if document["demand"]]
    demand = {key: value for key, _, value in parts}
    unambiguous = len(demand) == len(parts) and all(
        equals and key.split() == [key] and value.split() == [value] for key, equals, value in parts
    )
    _require(unambiguous, "its demand is no list of choices with distinct names")
    bits = str(document["bits"])
    _require(
        demand.get("bits", bits) == bits, f"{bits} bits, but {demand.get('bits')} in its demand"
    )
    if "error" not in demand:
        return CheckedCases(len(parts), "no error is guaranteed")
    allowed, count = _allowed(demand["error"], document["returned"]), 0
    for load in document["loads"]:
        for one in load["outputs"]:
            if one["name"] not in allowed:
                continue
            amount, unit = allowed[one["name"]]
            known = unit in ("lsb", _plain(one["unit"]), "abs")
            _require(known, f"the unit {shown(unit)} of the guaranteed error is unknown")
            maximum = amount * (_step(one) if unit == "lsb" else 1) * ROUNDED
            kept = one["bound"] is not None and Fraction(one["bound"]) <= maximum
            _require(kept, f"{demand['error']} is guaranteed, but not proved for {one['name']}")
            count += 1
    return CheckedCases(count, f"no error exceeds the guaranteed {demand['error']}")


def _allowed(text: str, returned: Sequence[str]) -> dict[str, tuple[Fraction, str]]:
    """Return the amount and the unit of the guaranteed error of every output."""
    parts = [_PART.fullmatch(part.strip()) for part in text.split(",")]
    _require(all(parts), f"the guaranteed error {shown(text)} is invalid")
    listed = [((m[1] or "").strip(), (Fraction(m[2]), _plain(m[3]))) for m in parts if m]
    group, *names = returned
    if not listed[0][0]:
        _require(len(listed) in (1, len(names)), f"the guaranteed error {shown(text)} is invalid")
        return {name: listed[k % len(listed)][1] for k, name in enumerate(names)}
    known = {name for name, _ in listed} <= {group, *names}
    _require(known, f"the guaranteed error {shown(text)} names other outputs")
    errors = dict(listed)
    found = {name: errors.get(name, errors.get(group)) for name in names}
    return {name: one for name, one in found.items() if one}


def _plain(unit: str) -> str:
    return re.sub(r"[·*.\s⋅]", "", unit).casefold()


def _loads(program: ProgramFiles) -> CheckedCases:
    """Check that all loads belong to one robot, and the effect of a kilogram at its tip."""
    origins = [read_origin(load.section("origin")) for load in program.loads]
    first = origins[0]
    for place, one in enumerate(origins):
        pair = [(x.function, x.robot, x.steps, x.outputs) for x in (one, first)]
        _require(pair[0] == pair[1], f"load {place} has another robot or function than load 0")
    if any(one.function and one.payload is None for one in origins):
        raise NotCoveredError("a certificate of format 1 does not state the payloads of loads")
    masses = [one.payload for one in origins]
    _require(len(set(masses)) == len(masses), "two loads have the same mass")
    if "per_kilogram" not in program.document:
        return CheckedCases(len(origins))
    claims, names = program.document["per_kilogram"], program.document["returned"][1:]
    _require(first.function, "loads require a function of a robot")
    _require(len(claims) == len(names), "per_kilogram must have a number for every output")
    for name, effect, claimed in zip(names, per_kilogram(first, names), claims, strict=True):
        _require(effect <= claimed, f"a kilogram changes {name} by {effect:.6g}, not {claimed}")
    return CheckedCases(len(origins) * len(names), "between loads, too")


def per_kilogram(origin: Origin, names: Iterable[str]) -> list[float]:
    """Bound the change of outputs, affine functions of the payload, by a kilogram at the tip."""
    with precise():
        space = space_of(origin)
        one, other = (values_of(origin, space, extra) for extra in (1.0, 0.0))
        effects = [space.maximum(one[name] - other[name]) for name in names]
        return [float(x.upper()) * (1 + 2**-50) for x in effects]


# what is not derived -----------------------------------------------------------------------------


def not_verified(program: ProgramFiles, *, confirmed: bool = False) -> list[str]:
    """Name the statements that are not derived; `confirmed` if a file confirms names and units."""
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
    """Describe the robot or function of the certificate, with its ranges, in a sentence."""
    if program.certificate is None:
        return ""
    try:
        origin = read_origin(program.loads[0].section("origin"))
        units = {one["name"]: one["unit"] for one in program.document["inputs"]}
        name, what = program.document["name"], "robot" if origin.function else "function"
        with suppress(NotCoveredError):
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
# The comparison with a robot or function file.
#
# Without a file, the claims are about the robot that the certificate describes.
# --------------------------------------------------------------------------------------------------

SNAP = 5e-5  # rad: Denavit-Hartenberg angles printed as 1.5708 are right angles
ALIKE = 1e-12  # of the largest number: rounding of doubles when bodies are combined


@dataclass(frozen=True, slots=True)
class ClaimSource:
    """The text of a robot or function file, and its name in messages."""

    text: str
    where: str


def check_same(load: LoadFiles, source: ClaimSource) -> Iterator[VerdictStep]:
    """Check that the origin of a load has the parameters, ranges and stops of a file."""

    def same() -> CheckedCases:
        origin = read_origin(load.section("origin"))
        exact = [one.name for one in origin.inputs if one.word and one.word.exact]
        _require_same(not exact, f"{exact} lie in the middles of their cells")
        if not origin.function:
            return _same_function(load, origin, source)
        if origin.payload is None:
            raise NotCoveredError(
                "in format 1 a robot includes its payload, and differs from a file"
            )
        return _same_robot(origin, source)

    yield checked("same as file", "parameters and ranges against the file", same)


def _require_same(holds: object, what: str) -> None:
    if not holds:
        raise DoesNotHoldError(f"it differs from the file: {what}")


def _same_robot(origin: Origin, source: ClaimSource) -> CheckedCases:
    """Compare the robot of a certificate with a robot file."""
    try:
        theirs = document_of(source.text)
    except DataError as error:
        raise DataError.around(error, source.where) from error
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
    return CheckedCases(len(parts[0]), f"{len(pairs)} joints, their ranges and stops")


def _snap(document: dict[str, Any]) -> None:
    """Make Denavit-Hartenberg angles exact multiples of pi/2, as the reader of files does."""
    for joint in document["joint"]:
        for key in ("alpha", "theta"):
            angle = joint.get(key, 0)
            turns = 0 if isinstance(angle, str) else round(angle / (math.pi / 2))
            if turns and abs(angle - turns * math.pi / 2) < SNAP:
                joint[key] = f"{turns}*pi/2"


def _parts(robot: ClaimedRobot) -> dict[str, list[ClaimedWaveSum]]:
    """Return all parameters of a robot, by their names in messages."""
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


def _alike(
    values: Sequence[ClaimedWaveSum], others: Sequence[ClaimedWaveSum], space: Space
) -> bool:
    """Tell whether numbers are equal up to the rounding of doubles."""
    largest = max(float(space.maximum(one).upper()) for one in (*values, *others))
    pairs = zip(values, others, strict=True)
    return all(float(space.maximum(a - b).upper()) <= ALIKE * largest for a, b in pairs)


def _same_function(load: LoadFiles, origin: Origin, source: ClaimSource) -> CheckedCases:
    """Compare the function of a certificate with a file: inputs in order, units, outputs."""
    document = load.document
    try:
        file = parse_toml(source.text, f"{source.where}: not a function file")
        given = {name: input_of(table) for name, table in file["inputs"].items()}
        units = {name: table.get("unit", "") for name, table in file["outputs"].items()}
        _require_same(file["name"] == document["name"], f"it is {shown(document['name'])}")
        inputs = {one.name: (one.low, one.high, one.angle) for one in origin.inputs}
        _require_same(list(inputs) == list(given), f"its inputs are {list(inputs)}")
        for name, ends in inputs.items():
            _require_same(ends == given[name][:3], f"{name} lies in {ends[0]} .. {ends[1]}")
        claimed = {one["name"]: one["unit"] for one in document["inputs"]}
        for name, unit in claimed.items():
            _require_same(unit == given[name][3], f"the unit of {name} is {shown(unit)}")
        claimed = {one["name"]: one["unit"] for one in load.entry["outputs"]}
        _require_same(list(claimed) == list(units), f"its outputs are {list(claimed)}")
        _require_same(claimed == units, f"the units of its outputs are {claimed}")
        with precise():
            space = space_of(origin)
            mine, theirs = values_of(origin, space), outputs_of(file, space)
            for name, value in mine.items():
                _require_same(_alike([value], [theirs[name]], space), f"{name} is another function")
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise DataError(f"not a function file ({error!r})", where=source.where) from error
    return CheckedCases(len(inputs) + len(claimed), "inputs in order, units, outputs")
