"""What a forger may change in a certified program, and what must come of it.

Every forgery is tried twice: with the certificate's claim as it was, and with the claim made anew
from the forged `program.json`. All checksums are right in both.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

from checker.forging import (
    conditioned,
    every,
    made,
    matched,
    moved,
    put,
    removed,
    rewritten,
    scaled,
    section,
    swapped,
    text,
)

from boolcomp.program.writing import CERTIFICATE

if TYPE_CHECKING:
    from checker.forging import Change, Forged


class Expected(Enum):
    """What must come of a forgery."""

    REFUSED = "a step that does not hold, or an error in one sentence"
    WITH_FILE = "refused beside the file that the program is said to be of (`--robot`)"
    NOT_VERIFIED = "reported by name as not verified"
    TRUE = "another program, whose claims are true: measured"


REFUSED, WITH_FILE, NOT_VERIFIED, TRUE = Expected


@dataclass(frozen=True)
class Forgery:
    """A change of a program's files, and what comes of it with the old claim, and a new one.

    `what` is the name under which something is reported as not verified.
    """

    name: str
    program: str
    change: Change
    alone: Expected = REFUSED
    again: Expected = REFUSED
    what: str = ""


def _head_only(old: str) -> str:
    return old.partition("\n")[0] + "\n"


def _without_loads(old: str) -> str:
    return old.partition("== load")[0]


def _gone(_: str) -> str:
    return ""


def _empty(old: str) -> str:
    return _head_only(old)


def _twice(old: str) -> str:
    return old + old


def _drop_last(old: str) -> str:
    return old.rstrip("\n").rpartition("\n")[0] + "\n"


def _lines_exchanged(old: str) -> str:
    head, one, other, *rest = old.splitlines(keepends=True)
    return "".join([head, other, one, *rest])


def _without_certificate(forged: Forged) -> None:
    del forged.files[CERTIFICATE]


def _sections_turned(forged: Forged) -> None:
    """Write the sections of a load the other way round."""
    old = forged.files[CERTIFICATE]
    parts = re.split(r"(?m)^(?== \w)", old[old.index("= origin") :])
    forged.files[CERTIFICATE] = old[: old.index("= origin")] + "".join(reversed(parts))


def _format_1(forged: Forged) -> None:
    """Write the certificate as one of format 1, which says less."""
    old = forged.files[CERTIFICATE]
    loads = re.sub(r"(?m)^payload .*\n", "", old[old.index("== load 0") :])
    forged.files[CERTIFICATE] = "boolcomp certificate 1\n" + loads


def _section_exchanged(one: int, other: int) -> Change:
    """Exchange what is said of two loads in the certificate."""

    def change(old: str) -> str:
        head, *loads = re.split(r"(?m)^== load \d+\n", old)
        loads[one], loads[other] = loads[other], loads[one]
        return head + "".join(f"== load {k}\n{part}" for k, part in enumerate(loads))

    return rewritten(change)


def _without_load(place: int) -> Change:
    """Take the part of a load out of the certificate."""

    def change(old: str) -> str:
        head, *loads = re.split(r"(?m)^== load \d+\n", old)
        del loads[place]
        return head + "".join(f"== load {k}\n{part}" for k, part in enumerate(loads))

    return rewritten(change)


def _everywhere(old: str, new: str) -> Change:
    """Rename a word in the certificate and in `program.json`, in all places but texts."""

    def renamed(value: object) -> object:
        if isinstance(value, dict):
            return {key: renamed(one) for key, one in value.items()}
        if isinstance(value, list):
            return [renamed(one) for one in value]
        return new if value == old else value

    def change(forged: Forged) -> None:
        for key in ("groups", "returned", "inputs", "loads", "stops"):
            forged.head[key] = renamed(forged.head[key])
        for name, old_text in forged.files.items():
            if not name.startswith("networks"):
                forged.files[name] = re.sub(rf"\b{old}\b", new, old_text)

    return change


def _both_renamed(one: str, other: str) -> Change:
    """Exchange two names in all files."""
    between = _everywhere(one, "between"), _everywhere(other, one), _everywhere("between", other)
    return every(*between)


def _load_copied(payload: float, kilogram: list[float]) -> Change:
    """Say that the first load's logic is that of another load, too."""

    def change(forged: Forged) -> None:
        first = forged.head["loads"][0]
        forged.head["loads"] = [first, {**first, "payload": payload}]
        forged.head["per_kilogram"] = kilogram
        for name in ("graphs/0.txt",):
            forged.files["graphs/1.txt"] = forged.files[name]
        old = forged.files[CERTIFICATE]
        load = old[old.index("== load 0") :]
        again = load.replace("== load 0", "== load 1", 1)
        again = re.sub(r"(?m)^payload .*$", f"payload {payload}", again)
        forged.files[CERTIFICATE] = old + again

    return change


def _network_exchanged(one: int, other: int) -> Change:
    def change(forged: Forged) -> None:
        names = f"networks/{one}.txt", f"networks/{other}.txt"
        a, b = (forged.files[name] for name in names)
        forged.files |= {names[0]: b, names[1]: a}

    return change


def _pad(line: str) -> Change:
    """Put a line at the end of the first joint of every robot of the certificate."""
    return text("\n| torque_range = ", f"\n| {line}\n| torque_range = ")


VERDICT = "V\nerror of all: holds\x1b[2J\x9b2J\n"  # its second line must begin none of a verdict
HALF_CELL = 2 * 3.141592653589793 / 64 / 2
O0, O1 = "loads.0.outputs.0", "loads.0.outputs.1"
TREAD = made("inputs.0.code", lambda code: {**code, "zero": "tread"})
TREAD_OUT = made(f"{O0}.code", lambda code: {**code, "zero": "tread"})

PAYLOADS = (
    Forgery("payload: 0 is said to be 5 kg", "arm", put("loads.0.payload", 5.0)),
    Forgery("payload: 0 is said to be a gram", "arm", put("loads.0.payload", 0.001)),
    Forgery("payload: 0 is said to be -1 kg", "arm", put("loads.0.payload", -1.0)),
    Forgery("payload: true", "arm", put("loads.0.payload", True)),  # noqa: FBT003 (JSON has such)
    Forgery("payload: a text", "arm", put("loads.0.payload", "0.0")),
    Forgery("payload: missing", "arm", removed("loads.0.payload")),
    Forgery(
        "payload: 5 kg here and in the certificate",
        "arm",
        every(put("loads.0.payload", 5.0), matched("^payload .*$", "payload 5.0")),
    ),
    Forgery(
        "payload: 5 kg in the certificate alone", "arm", matched("^payload .*$", "payload 5.0")
    ),
    Forgery("payload: not in the certificate", "arm", matched("^payload .*\n", "")),
    Forgery(
        "payload: 5 kg of a certificate of format 1",
        "arm",
        every(_format_1, put("loads.0.payload", 5.0)),
    ),
    Forgery(
        "payload: 5 kg of a certificate that ships", "machado-2r-8", put("loads.0.payload", 5.0)
    ),
    Forgery("payload: 5 kg of a sum of tables", "tabled", put("loads.0.payload", 5.0)),
    Forgery(
        "payload: 5 kg of a sum of tables, in both",
        "tabled",
        every(put("loads.0.payload", 5.0), matched("^payload .*$", "payload 5.0")),
    ),
    Forgery("payload: 1 kg of a function", "product", put("loads.0.payload", 1.0)),
    Forgery(
        "payload: 1 kg of a function, in both",
        "product",
        every(put("loads.0.payload", 1.0), text("= origin\n", "= origin\npayload 1.0\n")),
    ),
    Forgery("loads: 1 kg is said to be 5 kg", "loads", put("loads.1.payload", 5.0)),
    Forgery("loads: 2 kg is said to be 5 kg", "loads", put("loads.2.payload", 5.0)),
    Forgery(
        "loads: 2 kg is said to be 5 kg, in both",
        "loads",
        every(put("loads.2.payload", 5.0), text("payload 2.0", "payload 5.0")),
    ),
    Forgery(
        "loads: a kilogram more each",
        "loads",
        every(*(put(f"loads.{k}.payload", k + 1.0) for k in range(3))),
    ),
    Forgery(
        "loads: labels of the first and last exchanged",
        "loads",
        swapped("loads.0.payload", "loads.2.payload"),
    ),
    Forgery(
        "loads: labels of the last two exchanged",
        "loads",
        swapped("loads.1.payload", "loads.2.payload"),
    ),
    Forgery(
        "loads: labels exchanged in both",
        "loads",
        every(
            swapped("loads.0.payload", "loads.2.payload"),
            text("payload 2.0", "payload x"),
            text("payload 0.0", "payload 2.0"),
            text("payload x", "payload 0.0"),
        ),
    ),
    Forgery("loads: two of 1 kg", "loads", put("loads.2.payload", 1.0)),
    Forgery(
        "loads: all of 0 kg", "loads", every(*(put(f"loads.{k}.payload", 0.0) for k in range(3)))
    ),
    Forgery(
        "loads: logic of two exchanged",
        "loads",
        every(
            swapped("loads.0.network", "loads.1.network"),
            swapped("loads.0.outputs", "loads.1.outputs"),
        ),
    ),
    Forgery(
        "loads: all of two exchanged but the label",
        "loads",
        every(swapped("loads.0", "loads.1"), swapped("loads.0.payload", "loads.1.payload")),
    ),
    Forgery("loads: sections of two exchanged", "loads", _section_exchanged(0, 1)),
    Forgery(
        "loads: sections of two exchanged, and what they are of",
        "loads",
        every(
            _section_exchanged(0, 2),
            swapped("loads.0", "loads.2"),
            swapped("loads.0.payload", "loads.2.payload"),
        ),
    ),
    Forgery("loads: one without sections", "loads", _without_load(2)),
    Forgery("loads: one removed here alone", "loads", removed("loads.2")),
    Forgery("loads: none", "loads", every(put("loads", []), rewritten(_without_loads))),
    Forgery(
        "loads: none of a single one", "arm", every(put("loads", []), rewritten(_without_loads))
    ),
    Forgery("loads: the certificate has none", "arm", rewritten(_without_loads)),
    Forgery(
        "loads: one added without sections",
        "arm",
        made("loads", lambda old: [*old, {**old[0], "payload": 1.0}]),
    ),
    Forgery("loads: one added with sections, of 1 kg", "arm", _load_copied(1.0, [0.0, 0.0])),
    Forgery(
        "loads: one added with sections, of 1 kg, and enough between",
        "arm",
        _load_copied(1.0, [100.0, 100.0]),
    ),
    Forgery("loads: one added with sections, of 0 kg", "arm", _load_copied(0.0, [100.0, 100.0])),
    Forgery(
        "loads: other masses in one robot",
        "loads",
        section("origin", lambda old: old.replace("mass = 6.25", "mass = 6.5"), 1),
    ),
    Forgery(
        "loads: other friction in one robot, which nothing reads",
        "loads",
        section(
            "origin", lambda old: old.replace("viscous_friction = 0", "viscous_friction = 1"), 1
        ),
    ),
    Forgery(
        "loads: another function in one",
        "loads",
        section("origin", lambda old: old.replace("function gravity", "function bias"), 1),
    ),
    Forgery("loads: other logic of the same load", "loads", put("loads.2.network", 1)),
    Forgery("per_kilogram: 0", "loads", put("per_kilogram", [0.0, 0.0])),
    Forgery("per_kilogram: half", "loads", scaled("per_kilogram", 0.5)),
    Forgery("per_kilogram: a thousandth less", "loads", scaled("per_kilogram", 0.999)),
    Forgery("per_kilogram: of one output 0", "loads", put("per_kilogram.1", 0.0)),
    Forgery(
        "per_kilogram: outputs exchanged", "loads", swapped("per_kilogram.0", "per_kilogram.1")
    ),
    Forgery("per_kilogram: negative", "loads", scaled("per_kilogram", -1)),
    Forgery("per_kilogram: of one output", "loads", removed("per_kilogram.1")),
    Forgery(
        "per_kilogram: of three outputs", "loads", made("per_kilogram", lambda old: [*old, 100.0])
    ),
    Forgery(
        "per_kilogram: texts", "loads", made("per_kilogram", lambda old: [f"{x}" for x in old])
    ),
    Forgery("per_kilogram: of a single load, 0", "arm", put("per_kilogram", [0.0, 0.0])),
    Forgery("per_kilogram: of a function", "product", put("per_kilogram", [1.0, 1.0])),
    Forgery("per_kilogram: double", "loads", scaled("per_kilogram", 2), REFUSED, TRUE),
)

ORDER = (
    *(
        Forgery(
            f"order: members of {name} exchanged", "arm", swapped(f"groups.{k}.1", f"groups.{k}.2")
        )
        for k, name in enumerate(("q", "qd", "qdd"))
    ),
    Forgery(
        "order: members of all groups exchanged",
        "arm",
        every(*(swapped(f"groups.{k}.1", f"groups.{k}.2") for k in range(3))),
    ),
    Forgery(
        "order: joints the other way round, and torques",
        "arm",
        every(
            *(swapped(f"groups.{k}.1", f"groups.{k}.2") for k in range(3)),
            swapped("returned.1", "returned.2"),
        ),
    ),
    Forgery("order: groups q and qd", "arm", swapped("groups.0", "groups.1")),
    Forgery("order: groups qd and qdd", "arm", swapped("groups.1", "groups.2")),
    Forgery("order: groups q and qdd", "arm", swapped("groups.0", "groups.2")),
    Forgery("order: names of groups q and qdd", "arm", swapped("groups.0.0", "groups.2.0")),
    Forgery("order: a group is called p", "arm", put("groups.0.0", "p")),
    Forgery(
        "order: one group",
        "arm",
        made("groups", lambda old: [["q", *(x for one in old for x in one[1:])]]),
    ),
    Forgery(
        "order: six groups",
        "arm",
        made("groups", lambda old: [[x, x] for one in old for x in one[1:]]),
    ),
    Forgery(
        "order: groups are joints",
        "arm",
        put("groups", [["a", "q1", "qd1", "qdd1"], ["b", "q2", "qd2", "qdd2"]]),
    ),
    Forgery("order: a member twice", "arm", put("groups.1.2", "qd1")),
    Forgery("order: a member of two groups", "arm", put("groups.1.1", "q1")),
    Forgery(
        "order: a member that nothing reads", "arm", made("groups.0", lambda old: [*old, "q3"])
    ),
    Forgery(
        "order: a member that nothing reads comes first",
        "arm",
        made("groups.1", lambda old: [old[0], "qd0", *old[1:]]),
    ),
    Forgery("order: a member is missing", "arm", removed("groups.1.2")),
    Forgery("order: a group is missing", "arm", removed("groups.1")),
    Forgery("order: no groups", "arm", put("groups", [])),
    Forgery("order: a group more", "arm", made("groups", lambda old: [*old, ["x", "x1"]])),
    Forgery("order: returned outputs", "arm", swapped("returned.1", "returned.2")),
    Forgery(
        "order: outputs and what is returned",
        "arm",
        every(swapped("returned.1", "returned.2"), swapped(O0, O1)),
    ),
    Forgery(
        "order: outputs but their names",
        "arm",
        every(swapped(O0, O1), swapped(f"{O0}.name", f"{O1}.name")),
    ),
    Forgery("order: an output is not returned", "arm", removed("returned.2")),
    Forgery("order: an output is returned twice", "arm", put("returned.2", "tau1")),
    Forgery("order: returned group is called f", "arm", put("returned.0", "f")),
    Forgery("order: an output is dropped", "arm", every(removed("returned.2"), removed(O1))),
    Forgery(
        "order: an output is dropped everywhere",
        "arm",
        every(removed("returned.2"), removed(O1), matched(r"^tau2 .*\n", "", count=0)),
    ),
    Forgery(
        "order: an output more",
        "arm",
        every(
            made("returned", lambda old: [*old, "tau3"]),
            made("loads.0.outputs", lambda old: [*old, {**old[1], "name": "tau3"}]),
        ),
    ),
    Forgery(
        "order: an output more, everywhere",
        "arm",
        every(
            made("returned", lambda old: [*old, "tau3"]),
            made("loads.0.outputs", lambda old: [*old, {**old[1], "name": "tau3"}]),
            matched(r"^tau2( .*)$", r"tau2\1\ntau3\1", count=0),
        ),
    ),
    Forgery("order: words of two inputs", "arm", swapped("loads.0.words.0", "loads.0.words.1")),
    Forgery(
        "order: words read other inputs",
        "arm",
        every(put("loads.0.words.2.0", 2), put("loads.0.words.3.0", 3)),
    ),
    Forgery("order: words read one input twice", "arm", put("loads.0.words.2.0", 2)),
    Forgery("order: inputs of words from the end", "arm", put("loads.0.words.0.0", -4)),
    Forgery("order: inputs", "arm", swapped("inputs.0", "inputs.1")),
    Forgery("order: inputs of one range", "arm", swapped("inputs.2", "inputs.3")),
    Forgery("order: names of inputs", "arm", swapped("inputs.0.name", "inputs.1.name")),
    Forgery(
        "order: names of inputs of one range", "arm", swapped("inputs.2.name", "inputs.3.name")
    ),
    Forgery(
        "order: names of inputs, and the words",
        "arm",
        every(
            swapped("inputs.2.name", "inputs.3.name"),
            put("loads.0.words.2.0", 2),
            put("loads.0.words.3.0", 3),
        ),
        REFUSED,
        REFUSED,
    ),
    Forgery("order: an input twice", "arm", made("inputs", lambda old: [*old, old[0]])),
    Forgery("order: an input is missing", "arm", removed("inputs.0")),
    Forgery(
        "order: an input that nothing reads is missing from groups",
        "arm",
        put("groups.1", ["qd", "qd1"]),
    ),
    Forgery("order: groups of a function", "product", swapped("groups.0", "groups.1")),
    Forgery("order: names of a function's groups", "product", swapped("groups.0.0", "groups.1.0")),
    Forgery(
        "order: members of a function's groups", "product", swapped("groups.0.1", "groups.1.1")
    ),
    Forgery("order: one group of a function", "product", put("groups", [["x", "x", "u"]])),
    Forgery("order: outputs of a function", "product", swapped("returned.1", "returned.2")),
    Forgery(
        "order: inputs of a function, names and words",
        "product",
        every(
            swapped("inputs.0.name", "inputs.1.name"), swapped("loads.0.words.0", "loads.0.words.1")
        ),
    ),
    Forgery(
        "order: inputs of a function, everywhere but its steps",
        "product",
        _both_renamed("x", "u"),
        WITH_FILE,
        WITH_FILE,
    ),
    Forgery(
        "order: members of q, of a sum of tables", "tabled", swapped("groups.0.1", "groups.0.2")
    ),
    Forgery("order: groups, of a sum of tables", "tabled", swapped("groups.1", "groups.2")),
    Forgery(
        "order: returned torques, of a sum of tables", "tabled", swapped("returned.1", "returned.2")
    ),
    Forgery("order: members of a stopped arm", "stopped", swapped("groups.0.1", "groups.0.2")),
    Forgery(
        "order: members of q of a program that ships",
        "machado-2r-8",
        swapped("groups.0.1", "groups.0.2"),
    ),
    Forgery(
        "order: groups of a program that ships", "machado-2r-8", swapped("groups.1", "groups.2")
    ),
    Forgery("order: members of q, of a family", "loads", swapped("groups.0.1", "groups.0.2")),
)

NAMES = (
    Forgery("unit: q1 in degrees", "arm", put("inputs.0.unit", "deg")),
    Forgery(
        "unit: all angles in degrees",
        "arm",
        every(put("inputs.0.unit", "deg"), put("inputs.1.unit", "deg")),
    ),
    Forgery("unit: accelerations in degrees", "arm", put("inputs.2.unit", "deg/s²")),
    Forgery("unit: speeds and accelerations exchanged", "arm", put("inputs.2.unit", "rad/s")),
    Forgery("unit: none of an input", "arm", put("inputs.0.unit", "")),
    Forgery("unit: none is known of an input", "arm", removed("inputs.0.unit")),
    Forgery("unit: tau1 in kN·m", "arm", put(f"{O0}.unit", "kN·m")),
    Forgery("unit: tau1 in lbf·ft", "arm", put(f"{O0}.unit", "lbf·ft")),
    Forgery("unit: tau2 in N", "arm", put(f"{O1}.unit", "N")),
    Forgery("unit: none of an output", "arm", put(f"{O1}.unit", "")),
    Forgery("unit: Nm in other letters", "arm", put(f"{O0}.unit", "Nm")),
    Forgery("unit: of one load", "loads", put("loads.1.outputs.0.unit", "kN·m")),
    Forgery("unit: of a sum of tables", "tabled", put(f"{O0}.unit", "kN·m")),
    Forgery(
        "unit: of a function's input", "product", put("inputs.0.unit", "mm"), REFUSED, WITH_FILE
    ),
    Forgery("unit: of a function's output", "product", put(f"{O0}.unit", "kW"), REFUSED, WITH_FILE),
    Forgery(
        "unit: of a function's outputs exchanged",
        "product",
        swapped(f"{O0}.unit", f"{O1}.unit"),
        REFUSED,
        WITH_FILE,
    ),
    Forgery("unit: of a program that ships", "machado-2r-8", put(f"{O0}.unit", "kN·m")),
    Forgery("name: another robot", "arm", put("name", "puma560")),
    Forgery("name: another function of the robot", "arm", put("name", "machado-2r-gravity")),
    Forgery("name: the robot, of its gravity", "loads", put("name", "machado-2r")),
    Forgery(
        "name: another robot, in the certificate, too",
        "arm",
        every(put("name", "puma560"), text('name = "machado-2r"', 'name = "puma560"')),
        REFUSED,
        WITH_FILE,
    ),
    Forgery(
        "name: another robot in the certificate alone",
        "arm",
        text('name = "machado-2r"', 'name = "puma560"'),
    ),
    Forgery("name: another function", "product", put("name", "quotient"), REFUSED, WITH_FILE),
    Forgery("name: half a character", "arm", put("name", "\ud800")),
    Forgery(
        "name: lines that look like a verdict",
        "arm",
        put("name", VERDICT),
    ),
    Forgery(
        "name: an output of a function", "product", _everywhere("z", "power"), WITH_FILE, WITH_FILE
    ),
    Forgery(
        "name: an input of a function", "product", _everywhere("x", "length"), WITH_FILE, WITH_FILE
    ),
    Forgery(
        "name: half a character, of a function",
        "product",
        put("name", "\ud800"),
        REFUSED,
        WITH_FILE,
    ),
    Forgery(
        "unit: half a character, of a function",
        "product",
        put("inputs.0.unit", "\udfff"),
        REFUSED,
        WITH_FILE,
    ),
    Forgery(
        "unit: lines that look like a verdict",
        "product",
        put("inputs.0.unit", VERDICT),
        REFUSED,
        WITH_FILE,
    ),
    Forgery(
        "name: lines that look like a verdict, of a function",
        "product",
        put("name", VERDICT),
        REFUSED,
        WITH_FILE,
    ),
    Forgery(
        "unit: of an output, lines that look like a verdict",
        "product",
        put(f"{O0}.unit", VERDICT),
        REFUSED,
        WITH_FILE,
    ),
    Forgery(
        "demand: lines that look like a verdict",
        "product",
        put("demand", VERDICT),
        REFUSED,
        NOT_VERIFIED,
        "demand",
    ),
    Forgery("name: an output", "arm", put(f"{O0}.name", "force")),
    Forgery("name: outputs exchanged", "arm", swapped(f"{O0}.name", f"{O1}.name")),
    Forgery("name: outputs exchanged everywhere", "arm", _both_renamed("tau1", "tau2")),
    Forgery(
        "name: outputs exchanged everywhere, of a function",
        "product",
        _both_renamed("z", "y"),
        WITH_FILE,
        WITH_FILE,
    ),
    Forgery("name: inputs exchanged everywhere", "arm", _both_renamed("qdd1", "qdd2")),
    Forgery(
        "name: an input, in groups as well",
        "arm",
        every(put("inputs.0.name", "x1"), put("groups.0.1", "x1")),
    ),
    Forgery("name: plural", "arm", put("plural", "forces")),
    Forgery("name: places", "arm", put("places", "motors")),
    Forgery("name: plural of a function", "product", put("plural", "torques")),
    Forgery("name: places of a function", "product", put("places", "joints")),
    Forgery(
        "label: symbol", "arm", put(f"{O0}.symbol", "T2"), NOT_VERIFIED, NOT_VERIFIED, "symbol"
    ),
    Forgery(
        "label: symbols exchanged",
        "arm",
        swapped(f"{O0}.symbol", f"{O1}.symbol"),
        NOT_VERIFIED,
        NOT_VERIFIED,
        "symbol",
    ),
    Forgery(
        "label: symbol of a function",
        "product",
        put(f"{O0}.symbol", "y"),
        NOT_VERIFIED,
        NOT_VERIFIED,
        "symbol",
    ),
    Forgery(
        "label: symbol of a sum of tables",
        "tabled",
        put(f"{O0}.symbol", "T2"),
        NOT_VERIFIED,
        NOT_VERIFIED,
        "symbol",
    ),
    Forgery(
        "label: who made it",
        "arm",
        put("made_by", "boolcomp 9.9"),
        NOT_VERIFIED,
        NOT_VERIFIED,
        "made_by",
    ),
    Forgery(
        "label: meanings of words",
        "arm",
        swapped("loads.0.meanings.0", "loads.0.meanings.1"),
        NOT_VERIFIED,
        NOT_VERIFIED,
        "meanings",
    ),
    Forgery(
        "label: meanings of words of a load",
        "loads",
        put("loads.1.meanings.0", "q2"),
        NOT_VERIFIED,
        NOT_VERIFIED,
        "meanings",
    ),
    Forgery(
        "label: title of the robot",
        "arm",
        text("| title = ", '| title = "PUMA 560" #'),
        NOT_VERIFIED,
        NOT_VERIFIED,
        "title",
    ),
    Forgery(
        "label: source of the robot",
        "arm",
        matched("^. source = .*$", '| source = "ISO"'),
        NOT_VERIFIED,
        NOT_VERIFIED,
        "source",
    ),
    Forgery(
        "label: a term's text",
        "tabled",
        put(f"{O0}.terms.0.text", "0"),
        NOT_VERIFIED,
        NOT_VERIFIED,
        "text",
    ),
    Forgery(
        "label: a term that was left out",
        "tabled",
        put(f"{O0}.left_out", ["5 qd1^2"]),
        NOT_VERIFIED,
        NOT_VERIFIED,
        "left_out",
    ),
    Forgery(
        "label: a term that was left out of compact logic",
        "arm",
        put(f"{O0}.left_out", ["5 qd1^2"]),
    ),
)

WORDS = (
    *(
        Forgery(f"code: q1 in {kind}", "arm", put("inputs.0.code.kind", kind), REFUSED, TRUE)
        for kind in ("gray", "twos", "sign-magnitude")
    ),
    Forgery("code: an unknown kind", "arm", put("inputs.0.code.kind", "bcd")),
    Forgery("code: tau1 in gray", "arm", put(f"{O0}.code.kind", "gray"), REFUSED, TRUE),
    Forgery("code: tau1 in two's complement", "arm", put(f"{O0}.code.kind", "twos"), REFUSED, TRUE),
    Forgery(
        "code: a sum of tables reads natural words", "tabled", put("inputs.0.code.kind", "natural")
    ),
    Forgery(
        "code: a sum of tables reads two's complement", "tabled", put("inputs.4.code.kind", "twos")
    ),
    Forgery(
        "code: a table makes natural words", "tabled", put(f"{O0}.terms.0.code.kind", "natural")
    ),
    Forgery(
        "code: a sum of tables makes natural words",
        "tabled",
        put(f"{O0}.code.kind", "natural"),
        REFUSED,
        TRUE,
    ),
    Forgery(
        "code: of one load", "loads", put("loads.1.outputs.0.code.kind", "gray"), REFUSED, TRUE
    ),
    Forgery(
        "code: a function reads natural words",
        "product",
        put("inputs.1.code.kind", "natural"),
        REFUSED,
        TRUE,
    ),
    Forgery("bits: the program's", "arm", put("bits", 16)),
    Forgery(
        "bits: the program's, and the demand's",
        "arm",
        every(put("bits", 16), made("demand", lambda old: old.replace("bits=4 ", "bits=16 "))),
        REFUSED,
        NOT_VERIFIED,
        "bits",
    ),
    Forgery("bits: of a sum of tables", "tabled", put("bits", 16), REFUSED, NOT_VERIFIED, "bits"),
    Forgery("bits: a text", "arm", put("bits", "4")),
    Forgery(
        "bits: of an input's word, one more", "arm", put("inputs.0.code.bits", 7), REFUSED, TRUE
    ),
    Forgery("bits: of an input's word, one less", "arm", put("inputs.0.code.bits", 5)),
    Forgery(
        "bits: of an input's word, more, of a sum of tables", "tabled", put("inputs.4.code.bits", 6)
    ),
    Forgery("bits: of an output's word", "arm", put(f"{O0}.code.bits", 4)),
    Forgery("bits: of an output's word, more", "arm", put(f"{O0}.code.bits", 6)),
    Forgery("bits: a word reads fewer", "arm", put("loads.0.words.0.1", 5)),
    Forgery("bits: a word reads others", "arm", put("loads.0.words.0.2", 1)),
    Forgery(
        "bits: a word reads lower ones",
        "arm",
        every(
            put("loads.0.words.0.1", 7), put("loads.0.words.0.2", 1), put("inputs.0.code.bits", 7)
        ),
    ),
    Forgery("bits: guard bits of compact logic", "arm", put(f"{O0}.guard_bits", 2)),
    Forgery("bits: guard bits fewer", "tabled", put(f"{O0}.guard_bits", 1)),
    Forgery("bits: guard bits none", "tabled", put(f"{O0}.guard_bits", 0)),
    Forgery("bits: guard bits more", "tabled", put(f"{O0}.guard_bits", 3)),
    Forgery("zero: of an input in the middle of a cell", "product", TREAD),
    Forgery("zero: of an input between cells", "product", removed("inputs.1.code.zero")),
    Forgery("zero: of an angle in the middle of a cell", "arm", TREAD),
    Forgery(
        "zero: of an angle, and its range moved",
        "arm",
        every(TREAD, moved("inputs.0.code.range", HALF_CELL)),
        REFUSED,
        TRUE,
    ),
    Forgery(
        "zero: of an angle, and its range moved the other way",
        "arm",
        every(TREAD, moved("inputs.0.code.range", -HALF_CELL)),
    ),
    Forgery("zero: of an output", "arm", TREAD_OUT),
    Forgery(
        "zero: of an output, and its range moved",
        "arm",
        every(TREAD_OUT, moved(f"{O0}.code.range", 6.25)),
    ),
    Forgery("zero: of a sum of tables' input", "tabled", TREAD),
    Forgery("zero: of a sum of tables' output", "tabled", TREAD_OUT),
    Forgery(
        "zero: an unknown place",
        "arm",
        made("inputs.0.code", lambda code: {**code, "zero": "left"}),
    ),
    Forgery("range: of an acceleration half", "arm", scaled("inputs.2.code.range", 0.5)),
    Forgery("range: of an acceleration double", "arm", scaled("inputs.2.code.range", 2)),
    Forgery("range: of an acceleration moved", "arm", moved("inputs.2.code.range", 0.25)),
    Forgery(
        "range: of an angle in degrees", "arm", scaled("inputs.0.code.range", 57.29577951308232)
    ),
    Forgery(
        "range: of an angle moved by a cell", "arm", moved("inputs.0.code.range", 2 * HALF_CELL)
    ),
    Forgery(
        "range: of an angle moved by a turn",
        "arm",
        moved("inputs.0.code.range", 4 * 3.141592653589793 / 2),
    ),
    Forgery("range: of an angle half", "arm", scaled("inputs.0.code.range", 0.5)),
    Forgery("range: of an output double", "arm", scaled(f"{O0}.code.range", 2)),
    Forgery(
        "range: of an output half, and its bound",
        "arm",
        every(scaled(f"{O0}.code.range", 0.5), scaled(f"{O0}.bound", 0.5)),
    ),
    Forgery(
        "range: of an output in kN·m, its bound and its unit",
        "arm",
        every(
            scaled(f"{O0}.code.range", 0.001),
            scaled(f"{O0}.bound", 0.001),
            put(f"{O0}.unit", "kN·m"),
        ),
    ),
    Forgery(
        "range: of an output in kN·m, in the certificate, too",
        "arm",
        every(
            scaled(f"{O0}.code.range", 0.001),
            scaled(f"{O0}.bound", 0.001),
            put(f"{O0}.unit", "kN·m"),
            text("tau1 = 0.0 25.0 ", "tau1 = 0.0 0.025 "),
        ),
    ),
    Forgery("range: of an output moved by a step", "arm", moved(f"{O0}.code.range", 25.0)),
    Forgery(
        "range: of an output moved by a step, and its shift",
        "arm",
        every(moved(f"{O0}.code.range", 25.0), text("tau1 = shift 0.0", "tau1 = shift 1.0")),
    ),
    Forgery(
        "range: of an output moved by a thousandth of a step",
        "arm",
        moved(f"{O0}.code.range", 0.025),
    ),
    Forgery("range: of an output mirrored", "arm", scaled(f"{O0}.code.range", -1)),
    Forgery("range: of one load's output", "loads", scaled("loads.1.outputs.0.code.range", 0.5)),
    Forgery("range: of a sum of tables", "tabled", scaled(f"{O0}.code.range", 2)),
    Forgery(
        "range: of a sum of tables, all steps",
        "tabled",
        every(
            scaled(f"{O0}.code.range", 2),
            *(scaled(f"{O0}.terms.{k}.code.range", 2) for k in range(6)),
        ),
    ),
    Forgery("range: of a sum of tables, moved", "tabled", moved(f"{O0}.code.range", 25.0)),
    Forgery("range: of a table", "tabled", scaled(f"{O0}.terms.0.code.range", 0.5)),
    Forgery("range: of a function's input", "product", scaled("inputs.0.code.range", 10)),
    Forgery(
        "range: of a function's input, in the certificate, too",
        "product",
        every(
            scaled("inputs.0.code.range", 10),
            text("input x -1.0 1.0 word -1.0 1.0", "input x -10.0 10.0 word -10.0 10.0"),
        ),
    ),
    Forgery(
        "range: of a function's input narrower, bounds as they were",
        "product",
        every(
            made("stops", lambda _: [["x", -0.5, 0.5]]),
            text("input x -1.0 1.0 word", "input x -0.5 0.5 word"),
        ),
        REFUSED,
        WITH_FILE,
    ),
    Forgery("wraps: an angle does not", "arm", removed("inputs.0.code.wraps")),
    Forgery("wraps: false", "arm", put("inputs.0.code.wraps", False)),  # noqa: FBT003 (JSON has such)
    Forgery("wraps: a text", "arm", put("inputs.0.code.wraps", "yes")),
    Forgery(
        "wraps: an acceleration", "arm", made("inputs.2.code", lambda code: {**code, "wraps": True})
    ),
    Forgery(
        "wraps: a stopped angle",
        "stopped",
        made("inputs.0.code", lambda code: {**code, "wraps": True}),
    ),
    Forgery("wraps: an output", "arm", made(f"{O0}.code", lambda code: {**code, "wraps": True})),
    Forgery(
        "wraps: an angle does not, in the certificate, too",
        "arm",
        every(removed("inputs.0.code.wraps"), matched("^(input q1 .*) wraps$", r"\1")),
    ),
    Forgery("stops: none", "stopped", put("stops", [])),
    Forgery("stops: wider", "stopped", put("stops.0", ["q1", -1.2, 1.2])),
    Forgery("stops: narrower", "stopped", put("stops.0", ["q1", -0.5, 0.5])),
    Forgery("stops: of the joint that is fixed", "stopped", put("stops.1", ["q2", -0.5, -0.5])),
    Forgery("stops: of the joint that is fixed, none", "stopped", removed("stops.1")),
    Forgery("stops: the joint that is fixed moves", "stopped", put("stops.1", ["q2", 0.0, 1.0])),
    Forgery("stops: exchanged", "stopped", swapped("stops.0.0", "stops.1.0")),
    Forgery("stops: one twice", "stopped", made("stops", lambda old: [*old, old[0]])),
    Forgery("stops: of an angle that turns", "arm", put("stops", [["q1", -1.0, 1.0]])),
    Forgery("stops: of an acceleration", "arm", put("stops", [["qdd1", -0.5, 0.5]])),
    Forgery("stops: of no input", "arm", put("stops", [["q9", -0.5, 0.5]])),
    Forgery("stops: of an input that nothing reads", "arm", put("stops", [["qd1", -0.5, 0.5]])),
    Forgery("stops: of a sum of tables", "tabled", put("stops", [["qd1", -0.5, 0.5]])),
    Forgery(
        "stops: wider, in the certificate, too",
        "stopped",
        every(put("stops.0", ["q1", -1.2, 1.2]), text("input q1 -1.0 1.0", "input q1 -1.2 1.2")),
    ),
    Forgery(
        "stops: narrower, in the robot, too",
        "stopped",
        every(
            put("stops.0", ["q1", -0.5, 0.5]),
            text("input q1 -1.0 1.0", "input q1 -0.5 0.5"),
            text("position_range = [-1, 1]", "position_range = [-0.5, 0.5]"),
        ),
        REFUSED,
        WITH_FILE,
    ),
    Forgery(
        "exact: inputs lie in the middles of cells alone, and bounds are less",
        "product",
        every(
            matched(r"^(input \w .*)$", r"\1 exact", count=0),
            put(f"{O0}.bound", 0.325),
            put(f"{O1}.bound", 0.2),
            matched(r"^z plain .*$", "z plain -1.3 1.1"),
            matched(r"^y plain .*$", "y plain -0.6 0.6"),
        ),
        REFUSED,
        WITH_FILE,
    ),
    Forgery(
        "exact: inputs lie in the middles of cells alone",
        "product",
        matched(r"^(input \w .*)$", r"\1 exact", count=0),
        REFUSED,
        WITH_FILE,
    ),
    Forgery("rest: an output is zero where an input is", "product", put(f"{O0}.rest", ["u"])),
    Forgery(
        "rest: and so says the certificate",
        "product",
        every(put(f"{O1}.rest", ["u"]), matched("^(y = shift .*)$", r"\1 rest u")),
    ),
    Forgery("rest: of nothing", "arm", put(f"{O0}.rest", [])),
    Forgery(
        "rest: where nothing moves, in the certificate, too",
        "arm",
        every(
            put(f"{O0}.rest", ["qdd1", "qdd2"]),
            matched("^(tau1 = shift .*)$", r"\1 rest qdd1 qdd2"),
        ),
    ),
    Forgery("rest: of a sum of tables", "tabled", put(f"{O0}.rest", ["qdd1"])),
)

PROMISES = (
    Forgery("demand: an invented error", "arm", made("demand", lambda old: f"{old} error=0.1lsb")),
    Forgery("demand: an invented error instead", "arm", put("demand", "bits=4 error=0.1lsb")),
    Forgery(
        "demand: an invented error in units", "arm", made("demand", lambda old: f"{old} error=1N·m")
    ),
    Forgery(
        "demand: an invented error of one output",
        "arm",
        made("demand", lambda old: f"{old} error=tau2=0.1lsb"),
    ),
    Forgery(
        "demand: an invented error after one that holds",
        "arm",
        made("demand", lambda old: f"{old} error=9lsb grade=plain error=0.1lsb"),
    ),
    Forgery(
        "demand: an invented error after a tab",
        "arm",
        made("demand", lambda old: f"{old}\terror=0.1lsb"),
    ),
    Forgery(
        "demand: an invented error on a line of its own",
        "arm",
        made("demand", lambda old: f"{old}\nerror=0.1lsb"),
    ),
    Forgery(
        "demand: an error that is no number",
        "arm",
        made("demand", lambda old: f"{old} error=littlelsb"),
    ),
    Forgery(
        "demand: an invented error in a unit of nobody",
        "arm",
        made("demand", lambda old: f"{old} error=1percent"),
    ),
    Forgery(
        "demand: an invented error of a sum of tables", "tabled", put("demand", "error=0.1lsb")
    ),
    Forgery(
        "demand: an invented error of a function",
        "product",
        made("demand", lambda old: f"{old} error=0.1lsb"),
    ),
    Forgery(
        "demand: an error that holds",
        "arm",
        made("demand", lambda old: f"{old} error=9lsb"),
        REFUSED,
        TRUE,
    ),
    Forgery("demand: bits", "arm", made("demand", lambda old: old.replace("bits=4", "bits=16", 1))),
    Forgery("demand: bits once more", "arm", made("demand", lambda old: f"{old} bits=16")),
    Forgery(
        "demand: a smaller rms error",
        "arm",
        made("demand", lambda old: old.replace("rms=paper's", "rms=0.01")),
        REFUSED,
        NOT_VERIFIED,
        "demand",
    ),
    Forgery(
        "demand: a smaller error found",
        "arm",
        made("demand", lambda old: old.replace("max=any", "max=0.01")),
        REFUSED,
        NOT_VERIFIED,
        "demand",
    ),
    Forgery(
        "demand: more effort",
        "arm",
        made("demand", lambda old: old.replace("effort=30.0", "effort=9999.0")),
        REFUSED,
        NOT_VERIFIED,
        "demand",
    ),
    Forgery(
        "demand: it saturates",
        "arm",
        made("demand", lambda old: old.replace("saturate=False", "saturate=True")),
        REFUSED,
        NOT_VERIFIED,
        "demand",
    ),
    Forgery("demand: none", "arm", put("demand", ""), REFUSED, TRUE),
    Forgery("demand: missing", "arm", removed("demand")),
    Forgery("grade: tight", "arm", put(f"{O0}.grade", "tight"), REFUSED, NOT_VERIFIED, "grade"),
    Forgery(
        "grade: a word of nobody",
        "loads",
        put("loads.1.outputs.0.grade", "exact"),
        REFUSED,
        NOT_VERIFIED,
        "grade",
    ),
    Forgery(
        "grade: of a sum of tables",
        "tabled",
        put(f"{O0}.grade", "tight"),
        REFUSED,
        NOT_VERIFIED,
        "grade",
    ),
    *(
        Forgery(
            f"measured: {name} is {value} {where}",
            where,
            put(f"{O0}.errors.{key}", value),
            NOT_VERIFIED,
            NOT_VERIFIED,
            key,
        )
        for where in ("arm", "tabled")
        for name, key, value in (
            ("rms error", "rms", 0.001),
            ("largest sampled", "sampled_max", 0.01),
            ("worst found", "worst_found", 0.01),
        )
    ),
    Forgery(
        "measured: worst found of one load",
        "loads",
        put("loads.2.outputs.1.errors.worst_found", 0.0),
        NOT_VERIFIED,
        NOT_VERIFIED,
        "worst_found",
    ),
    Forgery(
        "measured: rms error of a function",
        "product",
        put(f"{O0}.errors.rms", 0.0),
        NOT_VERIFIED,
        NOT_VERIFIED,
        "rms",
    ),
    Forgery(
        "measured: an unknown figure",
        "arm",
        made(f"{O0}.errors", lambda old: {**old, "proved_max": 0.1}),
    ),
    Forgery("measured: a number", "arm", put(f"{O0}.errors", 3)),
    Forgery("bound: a little smaller", "arm", scaled(f"{O0}.bound", 0.999)),
    Forgery("bound: half", "arm", scaled(f"{O0}.bound", 0.5)),
    Forgery("bound: 0", "arm", put(f"{O0}.bound", 0.0)),
    Forgery("bound: negative", "arm", scaled(f"{O0}.bound", -1)),
    Forgery("bound: a text", "arm", put(f"{O0}.bound", "0.1")),
    Forgery("bound: false", "arm", put(f"{O0}.bound", False)),  # noqa: FBT003 (JSON has such)
    Forgery("bound: outputs exchanged", "arm", swapped(f"{O0}.bound", f"{O1}.bound")),
    Forgery("bound: missing", "arm", removed(f"{O0}.bound")),
    Forgery("bound: none", "arm", put(f"{O0}.bound", None)),
    Forgery("bound: double", "arm", scaled(f"{O0}.bound", 2), REFUSED, TRUE),
    Forgery(
        "bound: half, in the certificate, too",
        "arm",
        every(scaled(f"{O0}.bound", 0.5), matched(r"^tau1 plain .*$", "tau1 plain -1.46 1.46")),
    ),
    Forgery(
        "bound: half, tight in the certificate",
        "arm",
        every(
            scaled(f"{O0}.bound", 0.5),
            matched(r"^tau1 plain .*$", "tau1 tight -1.46 1.46 qd1 qd2 | qdd1 | qdd2"),
        ),
    ),
    Forgery("bound: certificate lower", "arm", matched(r"^tau1 plain .*$", "tau1 plain -0.6 0.6")),
    Forgery(
        "bound: certificate upside down", "arm", matched(r"^tau1 plain .*$", "tau1 plain 0.5 -0.5")
    ),
    Forgery(
        "bound: certificate and figure upside down",
        "arm",
        every(put(f"{O0}.bound", 0.0), matched(r"^tau1 plain .*$", "tau1 plain 9.0 -9.0")),
    ),
    Forgery("bound: of one load half", "loads", scaled("loads.2.outputs.0.bound", 0.5)),
    Forgery(
        "bound: loads exchanged",
        "loads",
        swapped("loads.0.outputs.0.bound", "loads.1.outputs.0.bound"),
    ),
    Forgery("bound: of a sum of tables half", "tabled", scaled(f"{O0}.bound", 0.5)),
    Forgery(
        "bound: of a sum of tables half, in the certificate, too",
        "tabled",
        every(scaled(f"{O0}.bound", 0.5), matched(r"^tau1 -2\.\d+ \S+$", "tau1 -1.1 1.1")),
    ),
    Forgery("bound: of a sum of tables none", "tabled", put(f"{O0}.bound", None)),
    Forgery("bound: of a function half", "product", scaled(f"{O0}.bound", 0.5)),
    Forgery("bound: of a program that ships half", "machado-2r-8", scaled(f"{O0}.bound", 0.5)),
    Forgery("condition: while a word does not overflow", "arm", conditioned("w8")),
    Forgery("condition: the figures stay", "arm", section("bound", lambda old: f"{old}while w8\n")),
    Forgery(
        "condition: the figures are no keys",
        "arm",
        every(conditioned("w8"), removed(f"{O0}.bound"), removed(f"{O1}.bound")),
    ),
    Forgery("condition: of a word that is no sum", "arm", conditioned("w0")),
    Forgery("condition: of no word", "arm", conditioned("w999")),
    Forgery("condition: of one load", "loads", conditioned("w3", 1)),
    Forgery(
        "condition: dropped, and a figure invented",
        "conditional",
        every(text("\nwhile ", "\n"), put(f"{O0}.bound", 20.0)),
        REFUSED,
    ),
    Forgery("condition: a figure is invented", "conditional", put(f"{O0}.bound", 100.0)),
    Forgery(
        "condition: figures are invented",
        "conditional",
        every(put(f"{O0}.bound", 100.0), put(f"{O1}.bound", 100.0)),
    ),
    Forgery("condition: as it is", "conditional", every()),
)

FILES = (
    *(
        Forgery(f"section: no {name}", "arm", section(name, _gone))
        for name in ("origin", "sketch", "graph", "first", "lemmas", "bound")
    ),
    *(
        Forgery(f"section: {name} is empty", "arm", section(name, _empty))
        for name in ("origin", "sketch", "graph", "first", "lemmas", "bound")
    ),
    *(
        Forgery(f"section: {name} twice", "arm", section(name, _twice))
        for name in ("origin", "sketch", "graph", "first", "lemmas", "bound")
    ),
    *(
        Forgery(f"section: the last line of {name} is missing", "arm", section(name, _drop_last))
        for name in ("sketch", "graph", "first", "lemmas", "bound")
    ),
    Forgery("section: an unknown one", "arm", rewritten(lambda old: f"{old}= trust\nall\n")),
    Forgery("section: lines of bound exchanged", "arm", section("bound", _lines_exchanged)),
    Forgery("section: no terms", "tabled", section("terms", _gone)),
    Forgery("section: no bound of a sum of tables", "tabled", section("bound", _gone)),
    Forgery("section: empty bound of a sum of tables", "tabled", section("bound", _empty)),
    Forgery("section: none at all", "arm", rewritten(lambda old: old[: old.index("= origin")])),
    Forgery(
        "section: none of a load",
        "loads",
        rewritten(lambda old: old[: old.index("== load 2")] + "== load 2\n"),
    ),
    Forgery("certificate: its first line", "arm", rewritten(_head_only)),
    Forgery("certificate: empty", "arm", rewritten(_gone)),
    Forgery("certificate: gone", "arm", _without_certificate),
    Forgery("certificate: of format 1", "arm", _format_1),
    Forgery("certificate: of format 1, of a family", "loads", _format_1),
    Forgery(
        "certificate: of format 3",
        "arm",
        matched(r"\Aboolcomp certificate \d", "boolcomp certificate 3"),
    ),
    Forgery(
        "certificate: another program's",
        "arm",
        rewritten(lambda old: old.replace("velocity_range = [-1, 1]", "velocity_range = [-2, 2]")),
    ),
    Forgery("robot: an unknown key of a joint", "arm", _pad("payload = 5")),
    Forgery("robot: an unknown key", "arm", text("| gravity = ", "| scale = 2\n| gravity = ")),
    Forgery(
        "robot: an unknown table", "arm", matched("^input q1 ", "| [load]\n| mass = 5\ninput q1 ")
    ),
    Forgery("robot: a key that is there in another form", "arm", _pad("origin = [0, 0, 0]")),
    Forgery("robot: a heavier link", "arm", text("mass = 6.25", "mass = 7.25")),
    Forgery("robot: gravity of the moon", "arm", text("-9.8", "-1.62")),
    Forgery("robot: another gear", "arm", text("gear_ratio = 1\n", "gear_ratio = 2\n")),
    Forgery("robot: a longer link", "arm", text("| a = 0.8", "| a = 0.9")),
    Forgery(
        "robot: a joint more",
        "arm",
        matched(
            "^input q1 ",
            '| [[joint]]\n| type = "revolute"\n| a = 0\n| alpha = 0\n| d = 0\n'
            "| theta = 0\n| mass = 0\n| center_of_mass = [0, 0, 0]\n| inertia = [0, 0, 0]\n"
            "| rotor_inertia = 0\n| gear_ratio = 1\n| viscous_friction = 0\n"
            "| coulomb_friction = [0, 0]\n| position_range = [0, 0]\n"
            "| velocity_range = [0, 0]\n| acceleration_range = [0, 0]\n"
            "| torque_range = [-1, 1]\ninput q1 ",
        ),
    ),
    Forgery(
        "robot: friction that nothing reads",
        "arm",
        text("viscous_friction = 0", "viscous_friction = 9"),
        WITH_FILE,
        WITH_FILE,
    ),
    Forgery(
        "robot: dry friction that nothing reads",
        "arm",
        text("coulomb_friction = [0, 0]", "coulomb_friction = [1, -1]"),
        WITH_FILE,
        WITH_FILE,
    ),
    Forgery(
        "robot: torques that nothing reads",
        "arm",
        text("torque_range = [-200, 200]", "torque_range = [-2, 2]"),
        WITH_FILE,
        WITH_FILE,
    ),
    Forgery(
        "robot: a tool that nothing reads",
        "arm",
        text("| gravity = ", "| tool_origin = [0.5, 0, 0]\n| gravity = "),
        WITH_FILE,
        WITH_FILE,
    ),
    Forgery(
        "robot: half the speeds",
        "arm",
        text("velocity_range = [-1, 1]", "velocity_range = [-0.5, 0.5]", count=-1),
    ),
    Forgery(
        "robot: half the speeds of inputs, too",
        "arm",
        every(
            text("velocity_range = [-1, 1]", "velocity_range = [-0.5, 0.5]", count=-1),
            matched(r"^(input qd\d) -1.0 1.0", r"\1 -0.5 0.5", count=0),
        ),
        WITH_FILE,
        WITH_FILE,
    ),
    Forgery(
        "robot: half the speeds, and stops",
        "machado-2r-8",
        every(
            text("velocity_range = [-1, 1]", "velocity_range = [-0.5, 0.5]", count=-1),
            matched(r"^(input qd\d) -1.0 1.0", r"\1 -0.5 0.5", count=0),
            put("stops", [["qd1", -0.5, 0.5], ["qd2", -0.5, 0.5]]),
        ),
        REFUSED,
        WITH_FILE,
    ),
    Forgery(
        "robot: half the speeds, and stops and a lower bound",
        "arm",
        every(
            text("velocity_range = [-1, 1]", "velocity_range = [-0.5, 0.5]", count=-1),
            matched(r"^(input qd\d) -1.0 1.0", r"\1 -0.5 0.5", count=0),
            put("stops", [["qd1", -0.5, 0.5], ["qd2", -0.5, 0.5]]),
            put(f"{O0}.bound", 68.0),
            matched("^tau1 plain .*$", "tau1 plain -2.719 2.719"),
        ),
        REFUSED,
        WITH_FILE,
    ),
    Forgery(
        "robot: accelerations that the word does not say",
        "arm",
        every(
            text("acceleration_range = [-1, 1]", "acceleration_range = [-2, 2]"),
            text("input qdd1 -1.0 1.0 word", "input qdd1 -2.0 2.0 word"),
        ),
    ),
    Forgery("function: another one", "arm", text("function inverse-dynamics", "function bias")),
    Forgery(
        "function: with friction",
        "arm",
        text("function inverse-dynamics", "function inverse-dynamics-with-friction"),
        REFUSED,
    ),
    Forgery(
        "function: with a load",
        "arm",
        text("function inverse-dynamics", "function inverse-dynamics:load=0..5"),
    ),
    Forgery("function: unknown", "arm", text("function inverse-dynamics", "function dynamics")),
    Forgery("function: none", "arm", text("function inverse-dynamics\n", "")),
    Forgery("function: another constant", "product", text("step 0.5", "step 0.75")),
    Forgery("function: another operation", "product", text("step sub ", "step add ")),
    Forgery(
        "function: outputs exchanged in the origin",
        "product",
        section(
            "origin",
            lambda old: re.sub(
                r"output (\w) (\d)\noutput (\w) (\d)", r"output \1 \4\noutput \3 \2", old
            ),
        ),
    ),
    Forgery(
        "function: inputs exchanged in the origin",
        "product",
        section("origin", lambda old: re.sub(r"(input x .*\n)(input u .*\n)", r"\2\1", old)),
    ),
    Forgery(
        "function: inputs and groups exchanged, and the steps",
        "product",
        every(
            section(
                "origin",
                lambda old: (
                    re.sub(r"(input x .*\n)(input u .*\n)", r"\2\1", old)
                    .replace("step mul 1 3", "step mul 0 3")
                    .replace("step sub 0 1", "step sub 1 0")
                ),
            ),
            swapped("groups.0", "groups.1"),
            swapped("inputs.0", "inputs.1"),
            put("loads.0.words", [[1, 4, 0], [0, 4, 0]]),
        ),
        REFUSED,
        WITH_FILE,
    ),
    Forgery(
        "function: an input more",
        "product",
        every(
            text("step mul 0 1", "input v -1.0 1.0 word -1.0 1.0 4 of all\nstep mul 0 1"),
            made("groups", lambda old: [*old, ["v", "v"]]),
        ),
    ),
    Forgery("mode: paper", "arm", put("mode", "paper")),
    Forgery("mode: compact", "tabled", put("mode", "compact")),
    Forgery("mode: unknown", "arm", put("mode", "exact")),
    Forgery("format: an earlier one", "arm", put("version", 2)),
    Forgery("format: a later one", "arm", put("version", 6)),
    Forgery("format: of signs, which it has not", "arm", put("version", 4), TRUE, TRUE),
    Forgery("format: another", "arm", put("format", "program")),
    Forgery("key: unknown", "arm", put("scale", 2)),
    Forgery("key: unknown of a load", "arm", put("loads.0.scale", 2)),
    Forgery("key: the graph of another load", "loads", put("loads.1.graph", 0)),
    Forgery("key: unknown of an input", "arm", put("inputs.0.offset", 1.0)),
    Forgery("key: unknown of an input's code", "arm", put("inputs.0.code.offset", 1.0)),
    Forgery("key: unknown of an output", "arm", put(f"{O0}.sign", -1)),
    Forgery("key: unknown of an output's code", "arm", put(f"{O0}.code.offset", 1.0)),
    Forgery("key: unknown of a term", "tabled", put(f"{O0}.terms.0.sign", -1)),
    Forgery("key: no inputs", "arm", removed("inputs")),
    Forgery("key: no outputs of a load", "arm", removed("loads.0.outputs")),
    Forgery("key: no code of an output", "arm", removed(f"{O0}.code")),
    Forgery("key: no code of an input", "arm", removed("inputs.0.code")),
    Forgery("key: inputs are a text", "arm", put("inputs", "q1")),
    Forgery("key: no stops", "arm", removed("stops")),
    Forgery("key: no networks", "arm", put("networks", 0)),
    Forgery("network: of another load", "loads", _network_exchanged(0, 1)),
    Forgery("section: in another order", "arm", _sections_turned, TRUE, TRUE),
    Forgery(
        "graph: units of words",
        "arm",
        matched(r" at -0\.\d+", " at 5.0", "graphs/0.txt"),
        NOT_VERIFIED,
        NOT_VERIFIED,
        "meanings",
    ),
    Forgery("graph: a table", "arm", matched(r"(= table w0:5) 2 2", r"\1 3 2", "graphs/0.txt")),
    Forgery("graph: a constant", "arm", matched(r" \+ 33 unit", " + 34 unit", "graphs/0.txt")),
    Forgery(
        "stops: the joint that is fixed stands elsewhere",
        "stopped",
        every(
            put("stops.1", ["q2", 0.6, 0.6]),
            text("input q2 0.5 0.5", "input q2 0.6 0.6"),
            text("position_range = [0.5, 0.5]", "position_range = [0.6, 0.6]"),
        ),
    ),
    Forgery("stops: of three numbers", "stopped", put("stops.0", ["q1", -1.0, 1.0, 0.0])),
    Forgery(
        "demand: an invented error after a space of another kind",
        "arm",
        made("demand", lambda old: f"{old}\xa0error=0.1lsb"),
    ),
    Forgery(
        "demand: an invented error of every output",
        "arm",
        made("demand", lambda old: f"{old} error=tau1=9lsb,tau2=0.1lsb"),
    ),
    Forgery(
        "demand: an invented error with a space in it",
        "arm",
        made("demand", lambda old: f"{old} error=1 N·m"),
    ),
    Forgery(
        "payload: 5 kg of a lighter robot, in both",
        "arm",
        every(
            put("loads.0.payload", 5.0),
            matched("^payload .*$", "payload 5.0"),
            text("mass = 6.25", "mass = 1.25"),
        ),
        REFUSED,
        WITH_FILE,
    ),
    Forgery(
        "loads: a kilogram more each, of a lighter robot",
        "loads",
        every(
            *(put(f"loads.{k}.payload", k + 1.0) for k in range(3)),
            text("payload 2.0", "payload 3.0"),
            text("payload 1.0", "payload 2.0"),
            text("payload 0.0", "payload 1.0"),
            text("mass = 6.25", "mass = 5.25", count=-1),
        ),
        REFUSED,
        WITH_FILE,
    ),
    Forgery(
        "loads: one removed everywhere",
        "loads",
        every(removed("loads.2"), _without_load(2)),
        REFUSED,
        TRUE,
    ),
    Forgery(
        "loads: two exchanged in all that is said of them",
        "loads",
        every(swapped("loads.0", "loads.1"), _section_exchanged(0, 1)),
        REFUSED,
        REFUSED,
    ),
    Forgery(
        "loads: a tool, at which they are",
        "loads",
        text("| gravity = ", "| tool_origin = [0.5, 0, 0]\n| gravity = ", count=-1),
    ),
    Forgery("per_kilogram: none", "loads", removed("per_kilogram"), REFUSED, TRUE),
    Forgery("network: counted from the end", "loads", put("loads.2.network", -1)),
    Forgery("network: false", "arm", put("loads.0.network", False)),  # noqa: FBT003 (JSON has such)
    Forgery(
        "type: a range of texts", "arm", made(f"{O0}.code.range", lambda old: [f"{x}" for x in old])
    ),
    Forgery(
        "type: an input's range of texts",
        "arm",
        made("inputs.0.code.range", lambda old: [f"{x}" for x in old]),
    ),
    Forgery("type: bits are a real number", "arm", put("inputs.0.code.bits", 6.0)),
    Forgery("type: bits of an output are a real number", "arm", put(f"{O0}.code.bits", 5.0)),
    Forgery("type: a bound is a text", "arm", made(f"{O0}.bound", str)),
    Forgery("type: a word is a real number", "arm", put("loads.0.words.0.1", 6.0)),
    Forgery(
        "type: meanings are a text",
        "arm",
        put("loads.0.meanings", "q1"),
        NOT_VERIFIED,
        NOT_VERIFIED,
        "meanings",
    ),
    Forgery(
        "type: a meaning is a number",
        "arm",
        put("loads.0.meanings.0", 1),
        NOT_VERIFIED,
        NOT_VERIFIED,
        "meanings",
    ),
    Forgery(
        "type: a symbol is a number",
        "arm",
        put(f"{O0}.symbol", 1),
        NOT_VERIFIED,
        NOT_VERIFIED,
        "symbol",
    ),
    Forgery(
        "type: who made it is a number",
        "arm",
        put("made_by", 1),
        NOT_VERIFIED,
        NOT_VERIFIED,
        "made_by",
    ),
    Forgery("type: a demand is a list", "arm", put("demand", ["error=0.1lsb"])),
    Forgery(
        "type: a grade is a list",
        "arm",
        put(f"{O0}.grade", ["tight"]),
        REFUSED,
        NOT_VERIFIED,
        "grade",
    ),
    Forgery("type: loads are a table", "arm", made("loads", lambda old: {"0": old[0]})),
    Forgery("type: a load is a text", "arm", put("loads.0", "meanings")),
    Forgery("type: an error is a text", "arm", put(f"{O0}.errors.rms", "0.1")),
    Forgery("network: tables exchanged", "tabled", _network_exchanged(1, 7)),
    Forgery(
        "network: outputs inverted",
        "arm",
        rewritten(
            lambda old: (
                old[: old.rindex("outputs")]
                + re.sub(r"([ni]\d+)", r"~\1", old[old.rindex("outputs") :])
            ),
            "networks/0.txt",
        ),
    ),
    Forgery("term: without its place", "tabled", removed(f"{O0}.terms.0")),
    Forgery(
        "term: without its place in both",
        "tabled",
        every(removed(f"{O0}.terms.0"), matched(r"^tau1 T11 .*\n", "")),
    ),
    Forgery(
        "term: left out in both",
        "tabled",
        every(removed(f"{O0}.terms.0"), matched(r"^tau1 T11 \S+ \S+ =", "tau1 =", count=1)),
    ),
    Forgery("term: twice", "tabled", made(f"{O0}.terms", lambda old: [*old, old[0]])),
    Forgery("term: of another output", "tabled", swapped(f"{O0}.terms.0", f"{O1}.terms.0")),
    Forgery("term: another table", "tabled", put(f"{O0}.terms.0.network", 1)),
    Forgery("term: reads other inputs", "tabled", put(f"{O0}.terms.0.words.1.0", 5)),
    Forgery(
        "term: reads its inputs the other way round",
        "tabled",
        swapped(f"{O0}.terms.0.words.0", f"{O0}.terms.0.words.1"),
    ),
    Forgery("term: another name", "tabled", put(f"{O0}.terms.0.name", "T99")),
    Forgery("term: another coefficient", "tabled", text(" = 4.0 0.0 qdd2^1", " = 4.5 0.0 qdd2^1")),
    Forgery("term: smaller errors", "tabled", matched(r"^(tau1 T16) \S+ \S+", r"\1 -0.1 0.1")),
)

FORGERIES = (*PAYLOADS, *ORDER, *NAMES, *WORDS, *PROMISES, *FILES)
