"""What a forger may change in a certified program, and what must come of it.

Every forgery is tried twice: with the certificate's claim as it was, and with the claim made anew
from the forged `program.json`. All checksums are right in both.
"""

import re
from dataclasses import dataclass
from enum import Enum

from checker.forging import (
    Change,
    Forged,
    conditioned,
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
)  # fmt: skip


class Expected(Enum):
    """What must come of a forgery."""

    REFUSED = "a step that does not hold, or an error in one sentence"
    WITH_FILE = "refused beside the file that the program is said to be of (`--robot`)"
    NOT_VERIFIED = "reported by name as not verified"
    TRUE = "another program, whose claims are true: measured"


REFUSED, WITH_FILE, NOT_VERIFIED, TRUE = Expected


@dataclass(frozen=True)
class Forgery:
    """Changes of a program's files, and what comes of them with the old claim, and a new one."""

    name: str
    program: str
    changes: tuple[Change, ...]
    alone: Expected
    again: Expected
    what: str  # the name under which something is reported as not verified


def forge(
    name: str, program: str, *changes: Change, alone: Expected = REFUSED,
    again: Expected = REFUSED, both: Expected | None = None, what: str = "", unverified: str = "",
) -> Forgery:  # fmt: skip
    if unverified:
        both, what = NOT_VERIFIED, unverified
    return Forgery(name, program, changes, both or alone, both or again, what)


def _gone(_: str) -> str:
    return ""


def _empty(old: str) -> str:
    return old.partition("\n")[0] + "\n"


def _drop_last(old: str) -> str:
    return old.rstrip("\n").rpartition("\n")[0] + "\n"


def _outputs_inverted(network: str) -> str:
    place = network.rindex("outputs")
    return network[:place] + re.sub(r"([ni]\d+)", r"~\1", network[place:])


def _loads_of_certificate(*places: int) -> Change:
    """Return what leaves these loads in the certificate, in this order."""

    def change(old: str) -> str:
        head, *loads = re.split(r"(?m)^== load \d+\n", old)
        return head + "".join(f"== load {k}\n{loads[n]}" for k, n in enumerate(places))

    return rewritten(change)


def _everywhere(old: str, new: str) -> Change:
    """Return what renames a word in all files, but not within texts."""

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


def _both_renamed(one: str, other: str) -> tuple[Change, ...]:
    """Return what exchanges two names in all files."""
    return _everywhere(one, "between"), _everywhere(other, one), _everywhere("between", other)


def _network_exchanged(one: int, other: int) -> Change:
    def change(forged: Forged) -> None:
        names = f"networks/{one}.txt", f"networks/{other}.txt"
        a, b = (forged.files[name] for name in names)
        forged.files |= {names[0]: b, names[1]: a}

    return change


VERDICT = "V\nerror of all: holds\x1b[2J\x9b2J\n"  # its second line must begin none of a verdict
HALF_CELL = 2 * 3.141592653589793 / 64 / 2
O0, O1 = "loads.0.outputs.0", "loads.0.outputs.1"
TREAD = made("inputs.0.code", lambda code: {**code, "zero": "tread"})
TREAD_OUT = made(f"{O0}.code", lambda code: {**code, "zero": "tread"})

PAYLOADS = (
    forge("payload: 0 is said to be 5 kg", "arm", put("loads.0.payload", 5.0)),
    forge("payload: missing", "arm", removed("loads.0.payload")),
    forge("payload: 5 kg here and in the certificate", "arm", put("loads.0.payload", 5.0),
        matched("^payload .*$", "payload 5.0")),
    forge("payload: not in the certificate", "arm", matched("^payload .*\n", "")),
    forge("loads: 2 kg is said to be 5 kg, in both", "loads", put("loads.2.payload", 5.0),
        text("payload 2.0", "payload 5.0")),
    forge("loads: labels exchanged in both", "loads",
        swapped("loads.0.payload", "loads.2.payload"), text("payload 2.0", "payload x"),
        text("payload 0.0", "payload 2.0"), text("payload x", "payload 0.0")),
    forge("loads: sections of two exchanged, and what they are of", "loads",
        _loads_of_certificate(2, 1, 0), swapped("loads.0", "loads.2"),
        swapped("loads.0.payload", "loads.2.payload")),
    forge("loads: other masses in one robot", "loads",
        section("origin", lambda old: old.replace("mass = 6.25", "mass = 6.5"), 1)),
    forge("per_kilogram: a thousandth less", "loads", scaled("per_kilogram", 0.999)),
    forge("per_kilogram: double", "loads", scaled("per_kilogram", 2), again=TRUE),
)  # fmt: skip

ORDER = (
    forge("order: joints the other way round, and torques", "arm",
        *(swapped(f"groups.{k}.1", f"groups.{k}.2") for k in range(3)),
        swapped("returned.1", "returned.2")),
    forge("order: a member that nothing reads", "arm",
        made("groups.0", lambda old: [*old, "q3"])),
    forge("order: an output is dropped everywhere", "arm", removed("returned.2"), removed(O1),
        matched(r"^tau2 .*\n", "", count=0)),
    forge("order: an output more, everywhere", "arm",
        made("returned", lambda old: [*old, "tau3"]),
        made("loads.0.outputs", lambda old: [*old, {**old[1], "name": "tau3"}]),
        matched(r"^tau2( .*)$", r"tau2\1\ntau3\1", count=0)),
    forge("order: names of inputs, and the words", "arm",
        swapped("inputs.2.name", "inputs.3.name"), put("loads.0.words.2.0", 2),
        put("loads.0.words.3.0", 3)),
    forge("order: inputs of a function, everywhere but its steps", "product",
        *_both_renamed("x", "u"), both=WITH_FILE),
)  # fmt: skip

NAMES = (
    forge("unit: of a function's input", "product", put("inputs.0.unit", "mm"), again=WITH_FILE),
    forge("name: another robot, in the certificate, too", "arm", put("name", "puma560"),
        text('name = "machado-2r"', 'name = "puma560"'), again=WITH_FILE),
    forge("name: half a character", "arm", put("name", "\ud800")),
    forge("name: lines that look like a verdict", "arm", put("name", VERDICT)),
    forge("name: an output of a function", "product", _everywhere("z", "power"), both=WITH_FILE),
    forge("demand: lines that look like a verdict", "product", put("demand", VERDICT),
        again=NOT_VERIFIED, what="demand"),
    forge("label: symbol", "arm", put(f"{O0}.symbol", "T2"), unverified="symbol"),
    forge("label: who made it", "arm", put("made_by", "boolcomp 9.9"), unverified="made_by"),
    forge("label: meanings of words", "arm", swapped("loads.0.meanings.0", "loads.0.meanings.1"),
        unverified="meanings"),
    forge("label: title of the robot", "arm", text("| title = ", '| title = "PUMA 560" #'),
        unverified="title"),
    forge("label: source of the robot", "arm", matched("^. source = .*$", '| source = "ISO"'),
        unverified="source"),
    forge("label: a term's text", "tabled", put(f"{O0}.terms.0.text", "0"), unverified="text"),
    forge("label: a term that was left out", "tabled", put(f"{O0}.left_out", ["5 qd1^2"]),
        unverified="left_out"),
)  # fmt: skip

WORDS = (
    forge("code: q1 in gray", "arm", put("inputs.0.code.kind", "gray"), again=TRUE),
    forge("code: tau1 in gray", "arm", put(f"{O0}.code.kind", "gray"), again=TRUE),
    forge("code: a sum of tables reads natural words", "tabled",
        put("inputs.0.code.kind", "natural")),
    forge("bits: the program's, and the demand's", "arm", put("bits", 16),
        made("demand", lambda old: old.replace("bits=4 ", "bits=16 ")), again=NOT_VERIFIED,
        what="bits"),
    forge("bits: of an input's word, one more", "arm", put("inputs.0.code.bits", 7), again=TRUE),
    forge("zero: of an input in the middle of a cell", "product", TREAD),
    forge("zero: of an angle, and its range moved", "arm", TREAD,
        moved("inputs.0.code.range", HALF_CELL), again=TRUE),
    forge("zero: of an output, and its range moved", "arm", TREAD_OUT,
        moved(f"{O0}.code.range", 6.25)),
    forge("range: of an output in kN·m, in the certificate, too", "arm",
        scaled(f"{O0}.code.range", 0.001), scaled(f"{O0}.bound", 0.001), put(f"{O0}.unit", "kN·m"),
        text("tau1 = 0.0 25.0 ", "tau1 = 0.0 0.025 ")),
    forge("range: of an output moved by a step, and its shift", "arm",
        moved(f"{O0}.code.range", 25.0), text("tau1 = shift 0.0", "tau1 = shift 1.0")),
    forge("range: of a function's input, in the certificate, too", "product",
        scaled("inputs.0.code.range", 10), text("input x -1.0 1.0 word -1.0 1.0",
        "input x -10.0 10.0 word -10.0 10.0")),
    forge("wraps: an angle does not, in the certificate, too", "arm",
        removed("inputs.0.code.wraps"), matched("^(input q1 .*) wraps$", r"\1")),
    forge("stops: wider, in the certificate, too", "stopped", put("stops.0", ["q1", -1.2, 1.2]),
        text("input q1 -1.0 1.0", "input q1 -1.2 1.2")),
    forge("stops: narrower, in the robot, too", "stopped", put("stops.0", ["q1", -0.5, 0.5]),
        text("input q1 -1.0 1.0", "input q1 -0.5 0.5"),
        text("position_range = [-1, 1]", "position_range = [-0.5, 0.5]"), again=WITH_FILE),
    forge("exact: inputs lie in the middles of cells alone, and bounds are less", "product",
        matched(r"^(input \w .*)$", r"\1 exact", count=0), put(f"{O0}.bound", 0.325),
        put(f"{O1}.bound", 0.2), matched(r"^z plain .*$", "z plain -1.3 1.1"),
        matched(r"^y plain .*$", "y plain -0.6 0.6"), again=WITH_FILE),
    forge("rest: and so says the certificate", "product", put(f"{O1}.rest", ["u"]),
        matched("^(y = shift .*)$", r"\1 rest u")),
)  # fmt: skip

PROMISES = (
    forge("demand: an invented error", "arm", made("demand", lambda old: f"{old} error=0.1lsb")),
    forge("demand: an invented error after one that holds", "arm",
        made("demand", lambda old: f"{old} error=9lsb grade=plain error=0.1lsb")),
    forge("demand: an error that holds", "arm", made("demand", lambda old: f"{old} error=9lsb"),
        again=TRUE),
    forge("demand: none", "arm", put("demand", ""), again=TRUE),
    forge("grade: tight", "arm", put(f"{O0}.grade", "tight"), again=NOT_VERIFIED, what="grade"),
    *(forge(f"measured: {key} in {where}", where, put(f"{O0}.errors.{key}", 0.01), unverified=key)
        for key, where in (("rms", "arm"), ("sampled_max", "tabled"), ("worst_found", "arm"))),
    forge("bound: a little smaller", "arm", scaled(f"{O0}.bound", 0.999)),
    forge("bound: double", "arm", scaled(f"{O0}.bound", 2), again=TRUE),
    forge("bound: half, in the certificate, too", "arm", scaled(f"{O0}.bound", 0.5),
        matched(r"^tau1 plain .*$", "tau1 plain -1.46 1.46")),
    forge("bound: certificate and figure upside down", "arm", put(f"{O0}.bound", 0.0),
        matched(r"^tau1 plain .*$", "tau1 plain 9.0 -9.0")),
    forge("condition: while a word does not overflow", "arm", conditioned("w8")),
    forge("condition: the figures stay", "arm", section("bound", lambda old: f"{old}while w8\n")),
    forge("condition: dropped, and a figure invented", "conditional", text("\nwhile ", "\n"),
        put(f"{O0}.bound", 20.0)),
    forge("condition: a figure is invented", "conditional", put(f"{O0}.bound", 100.0)),
    forge("condition: as it is", "conditional"),
)  # fmt: skip

FILES = (
    *(forge(f"section: no {name}", "arm", section(name, _gone)) for name in ("origin", "sketch",
        "graph", "first", "lemmas", "bound")),
    *(forge(f"section: {name} is empty", "arm", section(name, _empty))
        for name in ("origin", "lemmas", "bound")),
    *(forge(f"section: the last line of {name} is missing", "arm", section(name, _drop_last))
        for name in ("sketch", "graph", "first", "lemmas", "bound")),
    forge("section: an unknown one", "arm", rewritten(lambda old: f"{old}= trust\nall\n")),
    forge("section: none at all", "arm", rewritten(lambda old: old[: old.index("= origin")])),
    forge("certificate: of format 3", "arm", matched(r"\Aboolcomp certificate \d",
        "boolcomp certificate 3")),
    forge("robot: friction that nothing reads", "arm",
        text("viscous_friction = 0", "viscous_friction = 9"), both=WITH_FILE),
    forge("robot: half the speeds of inputs, too", "arm",
        text("velocity_range = [-1, 1]", "velocity_range = [-0.5, 0.5]", count=-1),
        matched(r"^(input qd\d) -1.0 1.0", r"\1 -0.5 0.5", count=0), both=WITH_FILE),
    forge("robot: half the speeds, and stops and a lower bound", "arm",
        text("velocity_range = [-1, 1]", "velocity_range = [-0.5, 0.5]", count=-1),
        matched(r"^(input qd\d) -1.0 1.0", r"\1 -0.5 0.5", count=0),
        put("stops", [["qd1", -0.5, 0.5], ["qd2", -0.5, 0.5]]), put(f"{O0}.bound", 68.0),
        matched("^tau1 plain .*$", "tau1 plain -2.719 2.719"), again=WITH_FILE),
    forge("robot: accelerations that the word does not say", "arm",
        text("acceleration_range = [-1, 1]", "acceleration_range = [-2, 2]"),
        text("input qdd1 -1.0 1.0 word", "input qdd1 -2.0 2.0 word")),
    forge("function: outputs exchanged in the origin", "product",
        section("origin", lambda old: re.sub(r"output (\w) (\d)\noutput (\w) (\d)",
        r"output \1 \4\noutput \3 \2", old))),
    forge("function: inputs and groups exchanged, and the steps", "product",
        section("origin", lambda old: (re.sub(r"(input x .*\n)(input u .*\n)", r"\2\1",
        old) .replace("step mul 1 3", "step mul 0 3") .replace("step sub 0 1", "step sub 1 0"))),
        swapped("groups.0", "groups.1"), swapped("inputs.0", "inputs.1"),
        put("loads.0.words", [[1, 4, 0], [0, 4, 0]]), again=WITH_FILE),
    forge("format: of signs, which it has not", "arm", put("version", 4), both=TRUE),
    forge("key: the graph of another load", "loads", put("loads.1.graph", 0)),
    forge("network: of another load", "loads", _network_exchanged(0, 1)),
    forge("graph: units of words", "arm", matched(r" at -0\.\d+", " at 5.0", "graphs/0.txt"),
        unverified="meanings"),
    forge("payload: 5 kg of a lighter robot, in both", "arm", put("loads.0.payload", 5.0),
        matched("^payload .*$", "payload 5.0"), text("mass = 6.25", "mass = 1.25"),
        again=WITH_FILE),
    forge("loads: one removed everywhere", "loads", removed("loads.2"), _loads_of_certificate(0, 1),
        again=TRUE),
    forge("per_kilogram: none", "loads", removed("per_kilogram"), again=TRUE),
    forge("type: bits are a real number", "arm", put("inputs.0.code.bits", 6.0)),
    forge("type: a demand is a list", "arm", put("demand", ["error=0.1lsb"])),
    forge("network: outputs inverted", "arm", rewritten(_outputs_inverted, "networks/0.txt")),
    forge("term: left out in both", "tabled", removed(f"{O0}.terms.0"),
        matched(r"^tau1 T11 \S+ \S+ =", "tau1 =", count=1)),
    forge("term: reads its inputs the other way round", "tabled",
        swapped(f"{O0}.terms.0.words.0", f"{O0}.terms.0.words.1")),
)  # fmt: skip

FORGERIES = (*PAYLOADS, *ORDER, *NAMES, *WORDS, *PROMISES, *FILES)
