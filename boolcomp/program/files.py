"""Load programs from disk, and combine programs into families of loads.

Damaged, incomplete and newer programs are refused. Formats 1 and 2 are for torques of robots only:
inputs q1, qd1, qdd1 and so on, outputs tau1, tau2.
"""

from __future__ import annotations

import math
from dataclasses import fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

from boolcomp.base import VERSION as BOOLCOMP
from boolcomp.base.errors import NO_CONES, BoolcompError, DataError, UsageError, cut, shown, spelled
from boolcomp.base.files import is_file, read_json, read_text, unreadable
from boolcomp.codes import Code
from boolcomp.engines.engine import Stop
from boolcomp.logic.network import parse_network
from boolcomp.problem.problem import Group, numbered
from boolcomp.problem.words import CODE_KINDS, ZEROS, Interval, part_of
from boolcomp.program.program import (
    CERTIFICATE,
    FORMAT,
    HEAD,
    MODES,
    VERSION,
    CodedInput,
    CodedOutput,
    JointNetwork,
    KnownErrors,
    Load,
    Program,
    Slice,
    TermUse,
    canonical,
    digest,
    graph_name,
    network_name,
)
from boolcomp.words.graph import parse_graph
from boolcomp.words.simulation import seems_right

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from boolcomp.logic.network import Network
    from boolcomp.words.graph import WordGraph


Parsed = TypeVar("Parsed")

NAMED = 3  # the first format whose inputs and outputs have names
KINDS = ("q", "qd", "qdd")  # of inputs, in earlier formats
MOST_NETWORKS = 100_000
MOST_INPUTS = 10_000
WORTH_CHOOSING = 3  # loads from which only some are read
MOST_HEAD = 1 << 24  # bytes
MOST_BYTES = 1 << 26  # of all networks: about two million nodes
MOST_GRAPH = 1 << 22  # of one word graph: twenty times that of the PUMA
MOST_CERTIFICATE = 1 << 26
MOST_VALUE = 1e15  # of a range, a load or a bound: no sum of them overflows


@spelled
def load_program(folder: str | Path, payload: float | None = None) -> Program:
    """Read a program; an unusable one raises a `DataError`.

    With a `payload` (kg) only the loads next to it are read, if they can answer for it.
    """
    source = Path(folder)
    if not is_file(source / HEAD):
        if not source.exists():
            raise unreadable(source, FileNotFoundError())
        raise DataError(f"not a program, because it has no {HEAD}", where=source)
    document = _document(read_json(source / HEAD, MOST_HEAD), f"{source / HEAD}")
    reader = _ProgramReader(document, str(source / HEAD))
    texts = _Texts(source, reader.field(document, "files", dict))
    count = reader.count(document, "networks", MOST_NETWORKS)
    places = reader.near(payload)
    places_read = range(count) if places is None else reader.only(count)
    networks = tuple(texts.read(network_name(k), parse_network) for k in places_read)
    reader.read_graphs(texts, places)
    if CERTIFICATE in texts.sums and places is None:
        texts.left = MOST_CERTIFICATE  # of its own
        reader.certificate = texts.read(CERTIFICATE, lambda text, _: text)
    try:
        program = reader.program(networks)
    except DataError:
        raise
    except (ValueError, TypeError, OverflowError, BoolcompError) as error:
        raise DataError.around(error, source / HEAD) from error
    _require_agreement(program, source, places)
    return program


def _require_agreement(program: Program, source: Path, places: list[int] | None) -> None:
    """Raise a `DataError` if a network does not compute its word graph."""
    checked: set[tuple[int, int]] = set()
    for k, load in enumerate(program.loads):
        graph, joint = load.graph, load.joint
        if not graph or not joint or (id(graph), joint.network) in checked:
            continue
        checked.add((id(graph), joint.network))
        if not seems_right(program.networks[joint.network], graph):
            name = graph_name(k if places is None else places[k])
            raise DataError("its network does not compute this graph", where=source / name)


class _Texts:
    """Reads the other files of a program, up to a total size, and verifies their checksums."""

    def __init__(self, source: Path, sums: dict[str, Any]) -> None:
        self.source, self.sums, self.left = source, sums, MOST_BYTES

    def read(
        self, name: str, parse: Callable[[str, str], Parsed], maximum: int = MOST_BYTES
    ) -> Parsed:
        text = read_text(self.source / name, min(maximum, self.left))
        self.left -= len(text)
        if self.sums.get(name) != digest(text):
            raise DataError(
                f"damaged, because its checksum is not the one in {HEAD}", where=self.source / name
            )
        return parse(text, str(self.source / name))


def _document(document: Any, where: str) -> dict[str, Any]:
    """Return the JSON document after checking its format, version and checksum, in this order."""
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise DataError("not a boolcomp program", where=where)
    version = document.get("version")
    if not isinstance(version, int) or isinstance(version, bool) or version < 1:
        raise DataError("damaged, because it has no version", where=where)
    if version > VERSION:
        raise DataError(
            f"the program has format {shown(version)}, made by {cut(str(document.get('made_by')))}",
            f"this boolcomp ({BOOLCOMP}) reads up to format {VERSION}: install a newer one",
            where=where,
        )
    checksum = document.pop("checksum", None)
    if checksum != digest(canonical(document)):
        raise DataError("damaged, because its checksum is not the one it states", where=where)
    return document


class _ProgramReader:
    """Converts the document to values after checking their types."""

    def __init__(self, document: dict[str, Any], where: str) -> None:
        self.document = document
        self.where = where
        self.graphs: dict[int, WordGraph] = {}  # by load
        self.certificate = ""

    def fail(self, what: str) -> NoReturn:
        raise DataError(what, where=self.where)

    def field(self, section: Any, key: str, kind: type) -> Any:
        """Return an entry of a section; integers are also accepted as floats."""
        if not isinstance(section, dict) or key not in section:
            self.fail(f"{key!r} is missing")
        value = section[key]
        if kind is float and isinstance(value, int) and not isinstance(value, bool):
            value = float(max(-MOST_VALUE - 1, min(MOST_VALUE + 1, value)))
        if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
            self.fail(f"{key!r} is {shown(value)}, not of type {kind.__name__}")
        if isinstance(value, float) and not abs(value) <= MOST_VALUE:
            self.fail(f"{key!r} is not from -{MOST_VALUE:g} to {MOST_VALUE:g}")
        return value

    def count(self, section: Any, key: str, maximum: int) -> int:
        value: int = self.field(section, key, int)
        if not 0 <= value <= maximum:
            self.fail(f"{key!r} is {shown(value)}, not 0 to {maximum}")
        return value

    @property
    def named(self) -> bool:
        return bool(self.document["version"] >= NAMED)

    def text(self, section: Any, key: str) -> str:
        value: str = self.field(section, key, str)
        return value

    def items(self, section: Any, key: str) -> list[Any]:
        value: list[Any] = self.field(section, key, list)
        return value

    def program(self, networks: tuple[Any, ...]) -> Program:
        document = self.document
        mode = self.field(document, "mode", str)
        if mode not in MODES:
            self.fail(f"mode {shown(mode)} is not known")
        groups, returned = self.groups()
        demand = self.text(document, "demand") if self.named else ""
        if "approximate=cones" in demand.split():
            self.fail(NO_CONES)
        return Program(
            self.text(document, "name" if self.named else "robot"),
            self.field(document, "bits", int),
            mode,
            groups,
            returned,
            tuple(self.input(item) for item in self.items(document, "inputs")),
            networks,
            tuple(self.load(k, item) for k, item in enumerate(self.items(document, "loads"))),
            self.stops(groups),
            self.text(document, "plural") if self.named else "torques",
            self.text(document, "places") if self.named else "joints",
            demand,
            self.certificate,
            self.numbers({"per_kilogram": [], **document}, "per_kilogram"),
        )

    def read_graphs(self, texts: _Texts, places: list[int] | None) -> None:
        """Read the word graphs of loads, which have these places in the file."""
        graphs: dict[int, WordGraph] = {}
        for k, item in enumerate(self.items(self.document, "loads")):
            if isinstance(item, dict) and "meanings" in item:
                own = {"graph": k if places is None else places[k], **item}
                place = self.count(own, "graph", MOST_NETWORKS)
                if place not in graphs:
                    graphs[place] = texts.read(graph_name(place), parse_graph, MOST_GRAPH)
                self.graphs[k] = graphs[place]

    def near(self, payload: float | None) -> list[int] | None:
        """Keep the loads next to a mass if they answer for it; return their places (None: all)."""
        loads = self.items(self.document, "loads")
        if payload is None or len(loads) < WORTH_CHOOSING or "per_kilogram" not in self.document:
            return None
        known = sorted((self.field(item, "payload", float), k) for k, item in enumerate(loads))
        above = next((n for n, (mass, _) in enumerate(known) if mass >= payload), 0)
        if not above and known[0][0] != payload:
            return None  # beyond all loads: the error message lists them
        kept = [k for mass, k in known if mass == payload] or [
            k for _, k in known[above - 1 : above + 1]
        ]
        self.document["loads"] = [loads[k] for k in kept]
        return kept

    def only(self, count: int) -> list[int]:
        """Return the networks of the remaining loads, and renumber them."""
        used: dict[int, int] = {}
        for item in self.items(self.document, "loads"):
            outputs = self.items(item, "outputs")
            terms = [term for one in outputs for term in self.items(one, "terms")]
            for section in (item, *terms) if "network" in item else terms:
                place = self.count(section, "network", count - 1)
                section["network"] = used.setdefault(place, len(used))
        return list(used)

    def groups(self) -> tuple[tuple[Group, ...], Group]:
        """Return the groups of inputs, and the group of outputs."""
        if self.named:
            groups = tuple(self.group(item) for item in self.items(self.document, "groups"))
            return groups, self.group(self.items(self.document, "returned"))
        loads = self.items(self.document, "loads")
        joints = len(self.items(loads[0], "torques")) if loads else 0
        return tuple(numbered(kind, joints) for kind in KINDS), numbered("tau", joints)

    def group(self, item: Any) -> Group:
        if not isinstance(item, list) or not 1 < len(item) <= MOST_INPUTS:
            self.fail("a group needs a name and those of its members")
        name, *members = (self.text({"group": part}, "group") for part in item)
        return Group(name, tuple(members))

    def stops(self, groups: tuple[Group, ...]) -> tuple[Stop, ...]:
        items = self.items({"stops": [], **self.document}, "stops")
        return tuple(self.stop(item, groups) for item in items)

    def stop(self, item: Any, groups: tuple[Group, ...]) -> Stop:
        if not isinstance(item, list) or len(item) != (3 if self.named else 4):
            self.fail("a stop needs a name and two numbers")
        if self.named:
            name = self.text({"stops": item[0]}, "stops")
        else:
            array, column = (self.field({"stops": part}, "stops", int) for part in item[:2])
            if not (0 <= array < len(groups) and 0 <= column < groups[array].size):
                self.fail("a stop names no joint of the robot")
            name = groups[array].members[column]
        low, high = (self.field({"stops": part}, "stops", float) for part in item[-2:])
        if not low <= high:
            self.fail(f"stops are empty: {low} .. {high}")
        return Stop(name, Interval(low, high))

    def input(self, item: Any) -> CodedInput:
        code = self.code(item)
        if self.named:
            return CodedInput(self.text(item, "name"), code, self.text(item, "unit"))
        kind = self.text(item, "kind")
        if kind not in KINDS:
            self.fail(f"input {shown(kind)} is not known")
        # The first version has no `wraps`, but its full turns wrap as well.
        if "stops" not in self.document and kind == "q" and part_of(code.range) == 0:
            code = replace(code, wraps=True)
        return CodedInput(f"{kind}{self.field(item, 'joint', int)}", code)

    def code(self, item: Any) -> Code:
        section = self.field(item, "code", dict)
        kind = self.field(section, "kind", str)
        ends = self.field(section, "range", list)
        if kind not in CODE_KINDS or len(ends) != 2:
            self.fail("a code has an unknown kind, or no two ends of its range")
        low, high = (self.field({"range": end}, "range", float) for end in ends)
        if not low < high:
            self.fail(f"a range is empty: {low} .. {high}")
        wraps = self.field({"wraps": False, **section}, "wraps", bool)
        zero = self.field({"zero": "rise", **section}, "zero", str)
        if zero not in ZEROS:
            self.fail(f"a place of zero is {shown(zero)}")
        bits = self.field(section, "bits", int)
        return Code(Interval(low, high), bits, kind, wraps, zero == "tread")

    def load(self, place: int, item: Any) -> Load:
        key = "outputs" if self.named else "torques"
        outputs = tuple(self.output(k, x) for k, x in enumerate(self.items(item, key), 1))
        payload, joint = self.field(item, "payload", float), None
        if "network" in item:
            joint = JointNetwork(self.field(item, "network", int), self.words(item))
        named = self.texts(item, "meanings") if "meanings" in item else ()
        return Load(payload, outputs, joint, self.graphs.get(place), named)

    def output(self, place: int, item: Any) -> CodedOutput:
        if self.named:
            name, symbol, unit = (self.text(item, key) for key in ("name", "symbol", "unit"))
        else:
            if self.field(item, "joint", int) != place:
                self.fail("the torques are not in the order of the joints")
            name, symbol, unit = f"tau{place}", f"T{place}", ""
        return CodedOutput(
            name,
            symbol,
            unit,
            self.code(item),
            self.count(item, "guard_bits", 64),
            tuple(self.term(term) for term in self.items(item, "terms")),
            self.texts(item, "left_out"),
            math.inf if item.get("bound") is None else self.field(item, "bound", float),
            None if item.get("errors") is None else self.errors(item["errors"]),
            None if "rest" not in item else self.texts(item, "rest"),
            self.text({"grade": "", **item}, "grade"),  # older programs lack it
        )

    def numbers(self, item: Any, key: str) -> tuple[float, ...]:
        return tuple(self.field({key: value}, key, float) for value in self.items(item, key))

    def texts(self, item: Any, key: str) -> tuple[str, ...]:
        return tuple(self.text({key: text}, key) for text in self.items(item, key))

    def errors(self, item: Any) -> KnownErrors:
        rms, sampled = (self.field(item, key, float) for key in ("rms", "sampled_max"))
        sought = item.get("worst_found") is not None
        return KnownErrors(rms, sampled, self.field(item, "worst_found", float) if sought else None)

    def words(self, item: Any) -> tuple[Slice, ...]:
        words = []
        for word in self.field(item, "words", list):
            if not isinstance(word, list) or len(word) != 3:
                self.fail("a word that is read needs three integers")
            words.append(Slice(*(self.field({"words": part}, "words", int) for part in word)))
        return tuple(words)

    def term(self, item: Any) -> TermUse:
        return TermUse(
            self.field(item, "name", str),
            self.field(item, "text", str),
            self.field(item, "network", int),
            self.code(item),
            self.words(item),
        )


# --------------------------------------------------------------------------------------------------
# Families: one program with the loads of several. Equal networks are shared.
# --------------------------------------------------------------------------------------------------


def family_of(programs: Iterable[Program]) -> Program:
    """Merge programs of the same problem with different loads into one."""
    members = list(programs)
    if not members or any(_head(program) != _head(members[0]) for program in members):
        raise UsageError("a family is made of programs of one robot, word length and mode")
    first = members[0]
    finest: dict[str, CodedInput] = {}
    for word in (word for program in members for word in program.inputs):
        known = finest.setdefault(word.name, word)
        if replace(known.code, bits=2) != replace(word.code, bits=2):
            raise UsageError(f"the programs of a family differ in the range or code of {word.name}")
        if known.code.bits < word.code.bits:
            finest[word.name] = word
    order = [name for group in first.groups for name in group.members if name in finest]
    networks: dict[Network, int] = {}
    loads: list[Load] = []
    for program in members:
        for network in program.networks:
            networks.setdefault(network, len(networks))
        loads += _moved(program, {name: k for k, name in enumerate(order)}, networks)
    return replace(
        first, inputs=tuple(finest[name] for name in order), networks=tuple(networks),
        loads=tuple(loads), certificate="", per_kilogram=(),
    )  # fmt: skip


def with_loads(program: Program, masses: Iterable[float]) -> Program:
    """Return a program with some of its loads, in their order."""
    payloads = {program.load(mass).payload for mass in masses}
    kept = [load for load in program.loads if load.payload in payloads]
    parts = [replace(program, loads=(load,), per_kilogram=(), certificate="") for load in kept]
    made = family_of(_trimmed(one) for one in parts)
    return replace(made, per_kilogram=program.per_kilogram if len(kept) > 1 else ())


def _trimmed(program: Program) -> Program:
    """Remove the networks that the only load of a program does not use."""
    (load,) = program.loads
    used = {use.network for output in load.outputs for use in output.terms}
    used |= {load.joint.network} if load.joint else set()
    order = sorted(used)
    to = {place: k for k, place in enumerate(order)}
    outputs = tuple(
        replace(one, terms=tuple(replace(use, network=to[use.network]) for use in one.terms))
        for one in load.outputs
    )
    joint = load.joint and replace(load.joint, network=to[load.joint.network])
    networks = tuple(program.networks[place] for place in order)
    return replace(program, networks=networks, loads=(replace(load, outputs=outputs, joint=joint),))


def _head(program: Program) -> tuple[object, ...]:
    """Return the fields that the programs of a family share."""
    skipped = ("inputs", "networks", "loads", "certificate", "per_kilogram")
    return tuple(
        getattr(program, one.name) for one in fields(program)
        if one.init and one.name not in skipped
    )  # fmt: skip


def _moved(
    program: Program, places: dict[str, int], networks: dict[Network, int]
) -> Iterator[Load]:
    """Yield a program's loads with input words and networks renumbered."""
    at = [networks[network] for network in program.networks]
    to = [places[word.name] for word in program.inputs]

    def moved(words: Iterable[Slice]) -> tuple[Slice, ...]:
        return tuple(replace(word, input=to[word.input]) for word in words)

    for load in program.loads:
        outputs = tuple(
            replace(
                output,
                terms=tuple(
                    replace(use, network=at[use.network], words=moved(use.words))
                    for use in output.terms
                ),
            )
            for output in load.outputs
        )
        joint = load.joint
        if joint is not None:
            joint = JointNetwork(at[joint.network], moved(joint.words))
        yield replace(load, outputs=outputs, joint=joint)
