"""Load programs from disk, and combine programs into families of loads.

Damaged, incomplete and newer programs are refused. Formats 1 and 2 are for torques of robots only:
inputs q1, qd1, qdd1 and so on, outputs tau1, tau2.
"""

from __future__ import annotations

from dataclasses import fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from boolcomp.base import VERSION as BOOLCOMP
from boolcomp.base.documents import DocumentReader
from boolcomp.base.errors import NO_CONES, BoolcompError, DataError, UsageError, cut, shown, spelled
from boolcomp.base.files import is_file, read_json, read_text, unreadable
from boolcomp.codes import Code
from boolcomp.engines.engine import Stop
from boolcomp.logic.network import parse_network
from boolcomp.problem.problem import Group, numbered
from boolcomp.problem.words import Interval, part_of
from boolcomp.program.program import (
    CERTIFICATE,
    FORMAT,
    HEAD,
    VERSION,
    CodedInput,
    CodeEntry,
    JointNetwork,
    Load,
    LoadEntry,
    Program,
    ProgramEntry,
    Slice,
    canonical,
    digest,
    graph_name,
    network_name,
)
from boolcomp.words.graph import parse_graph
from boolcomp.words.simulation import seems_right

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from boolcomp.logic.network import Network
    from boolcomp.words.graph import WordGraph


Parsed = TypeVar("Parsed")

NAMED = 3  # the first format whose inputs and outputs have names
KINDS = ("q", "qd", "qdd")  # of inputs, in earlier formats
MOST_INPUTS = 10_000
MOST_GUARD_BITS = 64
WORTH_CHOOSING = 3  # loads from which only some are read
MOST_HEAD = 1 << 24  # bytes
MOST_BYTES = 1 << 26  # of all networks: about two million nodes
MOST_GRAPH = 1 << 22  # of one word graph: twenty times that of the PUMA
MOST_CERTIFICATE = 1 << 26


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
    where = str(source / HEAD)
    reader = DocumentReader(where, FORMS)
    document = _document(read_json(source / HEAD, MOST_HEAD), where)
    texts = _Texts(source, reader.read(dict, document.get("files"), "files"))
    try:
        if document["version"] < NAMED:
            document = _named(document, reader)
        entry = reader.read(ProgramEntry, document, "")
        if "approximate=cones" in entry.demand.split():
            reader.fail(NO_CONES)
        program, graphs = _program(entry, texts, payload)
    except DataError:
        raise
    except (ValueError, TypeError, OverflowError, BoolcompError) as error:
        raise DataError.around(error, where) from error
    _require_agreement(program, [source / graph_name(k) for k in graphs])
    return program


def _program(
    entry: ProgramEntry, texts: _Texts, payload: float | None
) -> tuple[Program, list[int]]:
    """Return a program with the loads next to a mass, and the places of their graphs."""
    if "approximate=cones" in entry.demand.split():
        raise UsageError(NO_CONES)
    kept = _near(entry, payload)
    loads, whole = [entry.loads[k] for k in kept], len(kept) == len(entry.loads)
    own = [k if one.graph is None else one.graph for k, one in zip(kept, loads, strict=True)]
    drawn = [k for k, one in zip(own, loads, strict=True) if one.meanings is not None]
    graphs = {k: texts.read(graph_name(k), parse_graph, MOST_GRAPH) for k in dict.fromkeys(drawn)}
    used: dict[int, int] = {}

    def place(network: int) -> int:
        return network if whole else used.setdefault(network, len(used))

    made = tuple(_load(one, graphs.get(k), place) for k, one in zip(own, loads, strict=True))
    numbers = range(entry.networks) if whole else used
    networks = tuple(texts.read(network_name(k), parse_network) for k in numbers)
    certificate = ""
    if CERTIFICATE in texts.sums and whole:
        texts.left = MOST_CERTIFICATE  # of its own
        certificate = texts.read(CERTIFICATE, lambda text, _: text)
    program = Program(
        entry.name, entry.bits, entry.mode, entry.groups, entry.returned, entry.inputs, networks,
        made, entry.stops, entry.plural, entry.places, entry.demand, certificate,
        entry.per_kilogram,
    )  # fmt: skip
    return program, own


def _require_agreement(program: Program, files: Sequence[Path]) -> None:
    """Raise a `DataError` if a network does not compute the word graph of a file."""
    checked: set[tuple[int, int]] = set()
    for k, load in enumerate(program.loads):
        graph, joint = load.graph, load.joint
        if not graph or not joint or (id(graph), joint.network) in checked:
            continue
        checked.add((id(graph), joint.network))
        if not seems_right(program.networks[joint.network], graph):
            raise DataError("its network does not compute this graph", where=files[k])


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


def _near(entry: ProgramEntry, payload: float | None) -> Sequence[int]:
    """Return the places of the loads next to a mass if they answer for it, else of all."""
    known = sorted((one.payload, k) for k, one in enumerate(entry.loads))
    exact = [k for mass, k in known if mass == payload]
    above = sum(payload is not None and mass < payload for mass, _ in known)
    if len(known) < WORTH_CHOOSING or not entry.per_kilogram:
        return range(len(known))
    if not exact and not 0 < above < len(known):
        return range(len(known))  # beyond all loads: the error message lists them
    return exact or [k for _, k in known[above - 1 : above + 1]]


def _load(entry: LoadEntry, graph: WordGraph | None, place: Callable[[int], int]) -> Load:
    if not all(0 <= one.guard_bits <= MOST_GUARD_BITS for one in entry.outputs):
        raise UsageError(f"guard bits are 0 to {MOST_GUARD_BITS}")
    outputs = tuple(
        replace(one, terms=tuple(replace(x, network=place(x.network)) for x in one.terms))
        for one in entry.outputs
    )
    joint = None
    if entry.network is not None:
        joint = JointNetwork(place(entry.network), entry.words or ())
    return Load(entry.payload, outputs, joint, graph, entry.meanings or ())


def _code(entry: CodeEntry) -> Code:
    if entry.range.single:
        raise UsageError(f"the range of a code is empty: {entry.range}")
    return Code(entry.range, entry.bits, entry.kind, entry.wraps, entry.zero == "tread")


def _range(ends: tuple[float, float]) -> Interval:
    if not ends[0] <= ends[1]:
        raise UsageError(f"a range is empty: {ends[0]} .. {ends[1]}")
    return Interval(*ends)


def _group(names: tuple[str, ...]) -> Group:
    if not 1 < len(names) <= MOST_INPUTS:
        raise UsageError("a group needs a name and those of its members")
    return Group(names[0], names[1:])


FORMS: dict[type, tuple[Any, Callable[[Any], Any]]] = {
    Code: (CodeEntry, _code),
    Group: (tuple[str, ...], _group),
    Interval: (tuple[float, float], _range),
    Slice: (tuple[int, int, int], lambda row: Slice(*row)),
    Stop: (tuple[str, float, float], lambda row: Stop(row[0], _range(row[1:]))),
}


def _named(document: dict[str, Any], reader: DocumentReader) -> dict[str, Any]:
    """Return a document of format 1 or 2 in format 3: torques of robots get names."""
    try:
        loads, stops = document["loads"], document.get("stops", [])
        joints = len(loads[0]["torques"]) if loads else 0
        groups = [[kind, *numbered(kind, joints).members] for kind in KINDS]
        for one in document["inputs"]:
            if one["kind"] not in KINDS:
                reader.fail(f"input {shown(one['kind'])} is not known")
            # The first version has no `wraps`, but its full turns wrap as well.
            whole = part_of(Interval(*one["code"]["range"])) == 0
            if "stops" not in document and one["kind"] == "q" and whole:
                one["code"]["wraps"] = True
            one |= {"name": f"{one['kind']}{one['joint']}", "unit": ""}
        for load in loads:
            load["outputs"] = load["torques"]
            for place, one in enumerate(load["outputs"], 1):
                if one["joint"] != place:
                    reader.fail("the torques are not in the order of the joints")
                one |= {"name": f"tau{place}", "symbol": f"T{place}", "unit": ""}
        if any(len(one) != 4 for one in stops):
            reader.fail("a stop needs two places and two numbers")
        if not all(0 <= array < len(KINDS) and 0 <= column < joints for array, column, *_ in stops):
            reader.fail("a stop names no joint of the robot")
        return document | {
            "name": document["robot"], "plural": "torques", "places": "joints", "demand": "",
            "groups": groups, "returned": ["tau", *numbered("tau", joints).members],
            "stops": [[groups[array][1 + column], *ends] for array, column, *ends in stops],
        }  # fmt: skip
    except (LookupError, TypeError, AttributeError) as error:
        reader.fail(f"damaged: {error}")


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
