"""A program: the logic of all outputs of a problem, for one tip load or several.

It holds the code of every input word at the finest width that any term reads (a coarser word is
its leading bits), every distinct network once, and of every output the networks of its terms and
how their cells are added (`sums`). Terms that are left out contribute nothing.

In compact mode there are no terms: one network makes all outputs of a load. It reads and makes
natural words; other codes, and zeros at rest, are put on where a program is wired (`joining`).
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import warnings
from dataclasses import asdict, astuple, dataclass, field, fields, replace
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast, get_args

import numpy as np

from boolcomp.base.errors import (
    DataError,
    DataWarning,
    SaturationWarning,
    UsageError,
    listing,
    mass_text,
    number,
    short,
    short_above,
)
from boolcomp.base.files import exchange, folder_of, sync_folder, temporary_folder, write_text
from boolcomp.base.version import VERSION as BOOLCOMP
from boolcomp.engines.choice import make_engine
from boolcomp.engines.engine import Evaluation, Stop, evaluate
from boolcomp.logic.network import render_network
from boolcomp.problem.problem import Angles, gathered, stopped
from boolcomp.program.joining import joined, wire

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import ArrayLike, NDArray

    from boolcomp.codes import Answer, Code
    from boolcomp.engines.choice import EngineName
    from boolcomp.engines.engine import Engine, Wiring
    from boolcomp.logic.network import Network
    from boolcomp.problem.problem import Group, Problem
    from boolcomp.problem.words import Interval
    from boolcomp.words.graph import WordGraph


# --------------------------------------------------------------------------------------------------
# Whether the parts of a program fit together.
# --------------------------------------------------------------------------------------------------


STEP_SLACK = 1e-9  # relative: steps that differ by less are one step


def check_program(program: Program) -> None:
    """Raise a `ValueError` where the parts do not fit together."""
    payloads = [load.payload for load in program.loads]
    if not payloads or len(set(payloads)) != len(payloads):
        raise ValueError("a program has one load or several that differ")
    names = [name for group in program.groups for name in group.members]
    if len(set(names)) != len(names):
        raise ValueError("inputs are repeated")
    read = [word.name for word in program.inputs]
    if len(set(read)) != len(read) or not {*read, *(x.name for x in program.stops)} <= {*names}:
        raise ValueError("an input word, or a stop, is repeated or belongs to no input")
    _check_changes(program)
    for load in program.loads:
        if tuple(output.name for output in load.outputs) != program.returned.members:
            raise ValueError("the outputs are not those that are returned, in order")
        for output in load.outputs:
            for term in output.terms:
                _check_term(program, output, term)
        words = () if load.graph is None else load.graph.nodes
        if len(load.meanings) != len(words) or (words and load.joint is None):
            raise ValueError("a word graph has no network, or words without meanings")
        if load.joint is not None:
            _check_joint(program, load, load.joint)


def _check_changes(program: Program) -> None:
    given = program.per_kilogram
    if len(given) not in (0, len(program.returned.members)) or any(more < 0 for more in given):
        raise ValueError("what a kilogram changes is not said of every output")


def _check_term(program: Program, output: CodedOutput, term: TermUse) -> None:
    _check_use(program, term.name, term.network, term.words, term.code.bits)
    centred = term.code.range.low == -term.code.range.high
    if not centred or abs(term.code.step / output.step - 1) > STEP_SLACK:
        raise ValueError(f"{term.name} is not aligned with {output.name}")


def _check_joint(program: Program, load: Load, joint: JointNetwork) -> None:
    if any(output.terms for output in load.outputs):
        raise ValueError("a load has terms, or one network for all, not both")
    wide = sum(output.code.bits + 1 for output in load.outputs)
    _check_use(program, f"all {program.plural}", joint.network, joint.words, wide)
    inputs = {word.name for word in program.inputs}
    for output in load.outputs:
        if output.rest is not None and (not output.code.tread or not {*output.rest} <= inputs):
            raise ValueError(f"{output.name} has no cell at zero, or rests with no input")
    if load.graph is not None:
        read = [(program.inputs[word.input].name, word.bits, word.dropped) for word in joint.words]
        words = [(node.name, node.bits, 0) for node in load.graph.inputs]
        made = [result.bits for result in load.graph.results]
        if read != words or made != [output.code.bits for output in load.outputs]:
            raise ValueError("a word graph does not fit its network")


def _check_use(
    program: Program, name: str, place: int, words: Sequence[Slice], outputs: int
) -> None:
    if not 0 <= place < len(program.networks):
        raise ValueError(f"{name} has no network")
    network, inputs = program.networks[place], program.inputs
    for word in words:
        known = 0 <= word.input < len(inputs)
        if not known or not 0 <= word.dropped <= word.bits <= inputs[word.input].code.bits:
            raise ValueError(f"{name} reads bits that no input word has")
    width = sum(word.bits - word.dropped for word in words)
    if (network.inputs, len(network.outputs)) != (width, outputs):
        raise ValueError(f"the network of {name} does not fit its words")


# --------------------------------------------------------------------------------------------------
# A program as a small table of HTML, for notebooks.
# --------------------------------------------------------------------------------------------------


INPUTS = ("input", "range", "unit", "bits", "code")
OUTPUTS = ("output", "range", "unit", "bits", "LSB", "rms", "sampled max", "worst found", "bound")
NOTE = (
    "rms and sampled max are of random states, worst found is what a search found, bound is proved"
)


def html_of(program: Program) -> str:
    """Return name, mode, inputs, outputs with what is known of their errors, and size."""
    networks = [program.network(payload) for payload in program.payloads]
    loads = ", ".join(map(mass_text, program.payloads))
    head = f"{program.bits} bits, {program.mode} mode, loads of {loads} kg"
    nodes = ", ".join(str(len(network.nodes)) for network in networks)
    size = f"{nodes} nodes of at most three inputs, depth {max(x.depth for x in networks)}"
    return (
        f"<div><b>{escape(program.name)}</b>: {escape(f'{head}; {size}')}"
        f"{_table(INPUTS, [_input(word) for word in program.inputs])}"
        f"{_table(OUTPUTS, [_output_cells(k, program) for k in range(len(program.outputs))])}"
        f"<div>{NOTE}</div></div>"
    )


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = ["".join(f"<th>{escape(cell)}</th>" for cell in head)]
    lines += ["".join(f"<td>{escape(cell)}</td>" for cell in row) for row in rows]
    return f"<table>{''.join(f'<tr>{line}</tr>' for line in lines)}</table>"


def _input(word: CodedInput) -> list[str]:
    code = word.code
    kind = f"{code.kind}{', wraps' * code.wraps}{', a cell at zero' * code.tread}"
    return [word.name, str(code.range), word.unit or "–", str(code.bits), kind]


def _output_cells(place: int, program: Program) -> list[str]:
    """Return the cells of an output; errors are the largest of all loads."""
    bound = program.bound[place]
    output = replace(program.outputs[place], bound=bound)
    found, step = program.errors.get(output.name), output.code.step
    measured = [None, None, None] if found is None else [*astuple(found)]
    missing = ("not measured", "not measured", "not sought")
    known = [
        none if value is None else f"{short(value, 4)} ({short(value / step, 3)} LSB)"
        for value, none in zip(measured, missing, strict=True)
    ]
    proved = f"{short_above(bound, 4)} ({short_above(bound / step, 3)} LSB)"
    return [
        output.name, str(output.code.range), output.unit or "–", str(output.code.bits),
        number(step), *known, output.bound_note or proved,
    ]  # fmt: skip


# --------------------------------------------------------------------------------------------------
# A library of loads: what stands for a mass at the tip that was not compiled for.
#
# Outputs that are affine in that mass (torques, and all else that forces do) have two answers. The
# nearest load, the heavier of two that are as near: it errs as it does by itself, and by what the
# difference of the masses makes at most. Or the mean of the loads below and above, weighted by how
# near they are: of exact outputs that would be exact, so the mean errs by no more than the mean of
# what both err by.
# --------------------------------------------------------------------------------------------------


MOST_LISTED = 12


@dataclass(frozen=True, slots=True)
class Chosen:
    """Loads that stand for a mass, the nearest first; their weights add up to one.

    `bounds` are what no error of an output exceeds, in its unit, as long as no load saturates.
    """

    mass: float
    loads: tuple[Load, ...]
    weights: tuple[float, ...]
    bounds: tuple[float, ...]

    @property
    def exact(self) -> bool:
        """Whether it was compiled for this very mass."""
        return self.loads[0].payload == self.mass

    @property
    def outputs(self) -> tuple[CodedOutput, ...]:
        """The outputs, with what is known of their errors at this mass."""
        first = self.loads[0].outputs
        if self.exact:
            return first
        pairs = zip(first, self.bounds, strict=True)
        return tuple(replace(one, bound=bound, grade="", errors=None) for one, bound in pairs)

    def __str__(self) -> str:
        each = listing(
            mass_text(load.payload) for load in sorted(self.loads, key=lambda x: x.payload)
        )
        if self.exact:
            return f"the load of {each} kg"
        how = "between the loads" if len(self.loads) > 1 else "by the nearest load,"
        return f"{mass_text(self.mass)} kg {how} of {each} kg"


def masses(payloads: Iterable[float]) -> str:
    """Return masses as a list, a long one by its ends."""
    known = [mass_text(payload) for payload in payloads]
    if len(known) <= MOST_LISTED:
        return listing(known)
    return f"{known[0]}, {known[1]} … {known[-1]} ({len(known)} of them)"


def alone(load: Load) -> Chosen:
    """Return a load that stands for itself."""
    return Chosen(load.payload, (load,), (1.0,), tuple(one.bound for one in load.outputs))


def choose(
    loads: Sequence[Load], per_kilogram: Sequence[float], mass: float, *, interpolate: bool = False
) -> Chosen:
    """Return what stands for a mass, from the lightest load to the heaviest."""
    for load in loads:
        if load.payload == mass:
            return alone(load)
    rising = sorted(loads, key=lambda load: load.payload)
    low, high = rising[0].payload, rising[-1].payload
    if not per_kilogram or not low < mass < high:
        span = f", and answers from {number(low)} to {number(high)}" if per_kilogram else ""
        known = masses(load.payload for load in loads)
        raise UsageError(f"no payload {mass}: this program has {known} kg{span}")
    above = next(k for k, load in enumerate(rising) if load.payload > mass)
    below, above_it = rising[above - 1], rising[above]
    part = (mass - below.payload) / (above_it.payload - below.payload)
    nearer, other, share = (above_it, below, part) if part >= 0.5 else (below, above_it, 1 - part)
    if not interpolate:
        beyond = abs(mass - nearer.payload)
        each = zip(nearer.outputs, per_kilogram, strict=True)
        return Chosen(mass, (nearer,), (1.0,), tuple(x.bound + beyond * more for x, more in each))
    pairs = zip(nearer.outputs, other.outputs, strict=True)
    bounds = tuple(share * one.bound + (1 - share) * two.bound for one, two in pairs)
    return Chosen(mass, (nearer, other), (share, 1 - share), bounds)


def between(found: Sequence[Evaluation], weights: Sequence[float]) -> Evaluation:
    """Return the weighted mean of evaluations; words are those of the first.

    Outputs that saturated are counted in all of them: none did where the count is zero.
    """
    first = found[0]
    if len(found) == 1:
        return first
    values = sum(
        weight * np.asarray(one.values, np.float64)
        for one, weight in zip(found, weights, strict=True)
    )
    return Evaluation(
        np.asarray(values).astype(np.asarray(first.values).dtype), first.words,
        max(one.saturated_inputs for one in found),
        sum(one.saturated_outputs for one in found),
        max(one.beyond_stops for one in found),
    )  # fmt: skip


# --------------------------------------------------------------------------------------------------
# What a program is made of: input words, and the logic of outputs that reads them.
#
# In paper mode an output is a sum of terms, each with a network of its own; in compact mode one
# network makes all outputs of a load.
# --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class CodedInput:
    """A word that is read: the input it codes, and how."""

    name: str
    code: Code
    unit: str = ""

    def __str__(self) -> str:
        return f"{self.name} {self.code}"


@dataclass(frozen=True, slots=True)
class Slice:
    """What a network reads of an input word: its first `bits`, but not the very first `dropped`."""

    input: int
    bits: int
    dropped: int


@dataclass(frozen=True, slots=True)
class TermUse:
    """A term of an output: its network, the code of its value, and what it reads."""

    name: str
    text: str
    network: int
    code: Code
    words: tuple[Slice, ...]


@dataclass(frozen=True, slots=True)
class KnownErrors:
    """What was measured of an output, in its unit: on random states, and the worst searched for.

    None of it is proved. Where nobody has sought the worst error, `worst_found` is None.
    """

    rms: float
    sampled_max: float
    worst_found: float | None = None


WIDE = 2.0  # times the worst found: of wider bounds it is said how wide they are


def over_found(bound: float, found: float | None) -> float | None:
    """Return how many times the worst error found a bound is; None where either is not known."""
    return bound / found if found and math.isfinite(bound) else None


NOT_PROVED, NOT_USEFUL = "no bound is proved", "no useful bound"


def bound_note(bound: float, word: Interval) -> str:
    """Return why a bound is not shown: empty where it is.

    Nothing is proved where it is infinite. Wider than the whole word of its output it says nothing.
    """
    if math.isinf(bound):
        return NOT_PROVED
    return NOT_USEFUL if bound > word.width else ""


@dataclass(frozen=True, slots=True)
class CodedOutput:
    """The sum of an output's terms, rounded to its own code; its name is `tau1`, its symbol `T1`.

    `bound` is the proven error in the output's unit, infinite where none is known, and `grade` how
    tight (plain, tables, tight; empty where nobody says); `errors` are those that were measured, if
    any were. Where the words of all inputs in `rest` are zero it is
    exactly zero: its code has a cell there.
    """

    name: str
    symbol: str
    unit: str
    code: Code
    guard_bits: int = 0
    terms: tuple[TermUse, ...] = ()
    left_out: tuple[str, ...] = ()
    bound: float = math.inf
    errors: KnownErrors | None = None
    rest: tuple[str, ...] | None = None
    grade: str = ""

    @property
    def bound_note(self) -> str:
        """Why no bound is shown: empty where one is (see `bound_note`)."""
        return bound_note(self.bound, self.code.range)

    @property
    def useful_bound(self) -> float:
        """The proven error as it is shown: infinite where none is known, or none is useful."""
        return math.inf if self.bound_note else self.bound

    @property
    def step(self) -> float:
        """The least significant bit that all terms share."""
        return self.code.step / (1 << self.guard_bits)


@dataclass(frozen=True, slots=True)
class JointNetwork:
    """One network for all outputs, and what it reads.

    It reads and makes cells, whatever the codes of words. Its outputs are, for every output, the
    bits of its cell, most significant first, and whether it saturated.
    """

    network: int
    words: tuple[Slice, ...]


@dataclass(frozen=True, slots=True)
class Load:
    """The outputs with one payload (kg) at the tip; `joint` makes them where they have no terms.

    `graph` is the word graph that the joint network was made of, where it is known, and `meanings`
    what every word of it stands for.
    """

    payload: float
    outputs: tuple[CodedOutput, ...]
    joint: JointNetwork | None = None
    graph: WordGraph | None = None
    meanings: tuple[str, ...] = ()


# --------------------------------------------------------------------------------------------------
# Programs to disk: a directory with `program.json` and one text file a network.
#
#     program.json        what the program is, and the SHA-256 of every other file and of itself
#     networks/0.txt      the networks, as `networktext` writes them
#     graphs/0.txt       the word graph of every load that has one of its own, as `Graph` is printed
#     certificate.txt     what the checker reads, where there is one
#
# It is data and nothing else: native code is made on the machine that runs it. A directory appears
# whole under its name or not at all; `programfile` reads it.
# --------------------------------------------------------------------------------------------------


# 2: one network for all outputs of a load; 3: names; 4: signed codes, cells at zero; 5: loads that
# have the graph of another
FORMAT, VERSION, SIGNS, BEFORE_SIGNS = "boolcomp program", 5, 4, 3
HEAD, CERTIFICATE = "program.json", "certificate.txt"


def save_program(program: Program, folder: str | Path) -> None:
    """Write a program to a directory; a program that is there already is replaced."""
    target = Path(os.path.realpath(folder))  # a symbolic link stays one
    if target.is_dir() and any(target.iterdir()) and not (target / HEAD).is_file():
        raise DataError(f"{folder}: is a directory with other things in it, and no program")
    if target.exists() and not target.is_dir():
        raise DataError(f"{folder}: is a file; a program is saved to a directory")
    try:
        with folder_of(target), temporary_folder(target) as temporary:
            new = temporary / "new"
            for name, text in render_program(program).items():
                write_text(new / name, text)
            if target.exists():
                exchange(new, target, temporary / "old")
            else:
                new.rename(target)
            sync_folder(target.parent)
    except OSError as error:
        raise DataError(f"{folder}: cannot be written: {error.strerror}") from error


def render_program(program: Program) -> dict[str, str]:
    """Return the files of a program: texts by their names inside its directory."""
    files = {network_name(k): render_network(n) for k, n in enumerate(program.networks)}
    shared = _shared_graphs(program)
    files |= {
        graph_name(k): str(load.graph)
        for k, load in enumerate(program.loads)
        if load.graph and shared[k] == k
    }
    files |= {CERTIFICATE: program.certificate} if program.certificate else {}
    document: dict[str, Any] = {
        "format": FORMAT,
        "version": _version(program, shared),
        "made_by": f"boolcomp {BOOLCOMP}",
        "name": program.name,
        "bits": program.bits,
        "mode": program.mode,
        "plural": program.plural,
        "places": program.places,
        "demand": program.demand,
        "groups": [[group.name, *group.members] for group in program.groups],
        "returned": [program.returned.name, *program.returned.members],
        "inputs": [
            {"name": word.name, "unit": word.unit, "code": _code(word.code)}
            for word in program.inputs
        ],
        "networks": len(program.networks),
        "loads": [
            {**_load(load), **({} if shared[k] == k else {"graph": shared[k]})}
            for k, load in enumerate(program.loads)
        ],
        **({"per_kilogram": list(program.per_kilogram)} if program.per_kilogram else {}),
        "stops": [[one.name, one.range.low, one.range.high] for one in program.stops],
    }
    return {HEAD: sealed(document, files), **files}


def sealed(document: dict[str, Any], files: Mapping[str, str]) -> str:
    """Return the text of `program.json`: a document with the checksums of the files and its own."""
    whole = {key: value for key, value in document.items() if key != "checksum"}
    whole["files"] = {name: digest(text) for name, text in files.items()}
    whole["checksum"] = digest(canonical(whole))
    return json.dumps(whole, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def _shared_graphs(program: Program) -> list[int]:
    """Return of every load which one's graph it has: equal graphs are one file.

    A certificate is of one file a load.
    """
    first: dict[str, int] = {}
    return [
        k if not load.graph or program.certificate else first.setdefault(str(load.graph), k)
        for k, load in enumerate(program.loads)
    ]


def _version(program: Program, shared: list[int]) -> int:
    """Return the earliest format that can say this."""
    if shared != list(range(len(shared))):
        return VERSION
    return SIGNS if _has_signs(program) else BEFORE_SIGNS


def _has_signs(program: Program) -> bool:
    """Tell whether words are of a kind that earlier versions do not know."""
    codes = [word.code for word in program.inputs]
    codes += [output.code for load in program.loads for output in load.outputs]
    joint = any(load.joint for load in program.loads)
    plain = ("natural",) if joint else ("natural", "gray")
    return any(code.tread or code.kind not in plain for code in codes)


def network_name(k: int) -> str:
    """Return the name of the file of a network."""
    return f"networks/{k}.txt"


def graph_name(k: int) -> str:
    """Return the name of the file of a load's word graph."""
    return f"graphs/{k}.txt"


def digest(text: str) -> str:
    """Return the checksum of a text."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def canonical(document: dict[str, Any]) -> str:
    """Return the text of a document that its checksum is of."""
    return json.dumps(document, sort_keys=True, separators=(",", ":"))


def _code(code: Code) -> dict[str, Any]:
    section = {"kind": code.kind, "bits": code.bits, "range": [code.range.low, code.range.high]}
    section |= {"wraps": True} if code.wraps else {}
    return {**section, "zero": "tread"} if code.tread else section


def _load(load: Load) -> dict[str, Any]:
    outputs = [_output_document(output) for output in load.outputs]
    section: dict[str, Any] = {"payload": load.payload, "outputs": outputs}
    if load.joint is None:
        return section
    section |= {"network": load.joint.network, "words": _words(load.joint.words)}
    return section if load.graph is None else {**section, "meanings": list(load.meanings)}


def _words(words: Sequence[Slice]) -> list[list[int]]:
    return [[word.input, word.bits, word.dropped] for word in words]


def _output_document(output: CodedOutput) -> dict[str, Any]:
    return {
        "name": output.name,
        "symbol": output.symbol,
        "unit": output.unit,
        "code": _code(output.code),
        "guard_bits": output.guard_bits,
        "terms": [
            {
                "name": term.name,
                "text": term.text,
                "network": term.network,
                "code": _code(term.code),
                "words": _words(term.words),
            }
            for term in output.terms
        ],
        "left_out": list(output.left_out),
        "bound": output.bound if math.isfinite(output.bound) else None,
        "errors": None if output.errors is None else asdict(output.errors),
        **({} if output.rest is None else {"rest": list(output.rest)}),
        **({"grade": output.grade} if output.grade else {}),
    }


# --------------------------------------------------------------------------------------------------
# A program: the logic of all outputs of a problem, for one tip load or several.
# --------------------------------------------------------------------------------------------------


Mode = Literal["paper", "compact"]
MODES: tuple[Mode, ...] = get_args(Mode)
WHOSE = "this program"


@dataclass(frozen=True, slots=True, repr=False)
class Program:
    """The logic of all outputs of a problem. Immutable; engines are made when first needed.

    States are an array for each of the `groups`, of words that are read and others; results are
    the group `returned`. `plural` is what a user calls the outputs ("torques"), `places` what
    inputs belong to ("joints"), `demand` what was asked for in compact mode. A
    `certificate` is a text for the checker (`boolcomp.checker`), which nothing else reads. Where
    outputs are affine in the mass at the tip, `per_kilogram` says how much one kilogram changes
    each at most, in its unit: then there is an answer for masses between loads (`library`).
    """

    name: str
    bits: int
    mode: Mode
    groups: tuple[Group, ...]
    returned: Group
    inputs: tuple[CodedInput, ...]
    networks: tuple[Network, ...]
    loads: tuple[Load, ...]
    stops: tuple[Stop, ...] = ()
    plural: str = "outputs"
    places: str = "inputs"
    demand: str = ""
    certificate: str = ""
    per_kilogram: tuple[float, ...] = ()
    _engines: dict[tuple[float | None, str, int], Engine] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    _asked: list[str] = field(default_factory=list, init=False, repr=False, compare=False)
    _angles: Angles = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.mode not in MODES:
            raise ValueError(f"mode {self.mode!r}: modes are {listing(MODES)}")
        check_program(self)
        object.__setattr__(self, "_angles", Angles(self.groups, self.angles))

    def __reduce__(self) -> tuple[Any, ...]:
        # Engines hold native code of this process: another one makes its own.
        return Program, tuple(getattr(self, one.name) for one in fields(self) if one.init)

    @property
    def outputs(self) -> tuple[CodedOutput, ...]:
        """The outputs, with the first load."""
        return self.loads[0].outputs

    @property
    def payloads(self) -> tuple[float, ...]:
        """The tip loads (kg) it was compiled for."""
        return tuple(load.payload for load in self.loads)

    @property
    def graph(self) -> WordGraph | None:
        """The word graph, with the first load; None in paper mode and where it is not known."""
        return self.loads[0].graph

    @property
    def asked(self) -> dict[str, str]:
        """What was asked for in compact mode, by name, as `demand` writes it."""
        return {name: value for name, _, value in (x.partition("=") for x in self.demand.split())}

    @property
    def errors(self) -> dict[str, KnownErrors]:
        """The errors that were measured, by output, the largest over all loads; none unmeasured.

        The codes of the outputs say what one LSB is: `output.code.step`.
        """
        known = {}
        for outputs in zip(*(load.outputs for load in self.loads), strict=True):
            found = [output.errors for output in outputs if output.errors is not None]
            if len(found) == len(self.loads):
                each = zip(*map(astuple, found), strict=True)
                known[outputs[0].name] = KnownErrors(*map(_most, each))
        return known

    @property
    def sampled_max(self) -> tuple[float | None, ...]:
        """The largest error of random states of every output in its unit, over all loads.

        None where none was measured. It says what happened: see `worst_found` and `bound`.
        """
        known = (self.errors.get(output.name) for output in self.outputs)
        return tuple(None if found is None else found.sampled_max for found in known)

    @property
    def worst_found(self) -> tuple[float | None, ...]:
        """The largest error of every output that a search found, in its unit, over all loads.

        None where nobody sought it. Errors may be larger: only `bound` is proved.
        """
        known = (self.errors.get(output.name) for output in self.outputs)
        return tuple(None if found is None else found.worst_found for found in known)

    @property
    def bound(self) -> tuple[float, ...]:
        """The proven error of every output in its unit, over all loads.

        It holds for inputs in range; an output beyond its word counts as the nearest that it can
        say. Infinite where none is known. It is of what words stand for: the type of answers adds
        its `rounding`.
        """
        return tuple(max(load.outputs[k].bound for load in self.loads) for k in self._places)

    @property
    def useful_bound(self) -> tuple[float, ...]:
        """The same, but infinite where a bound is wider than the word of its output."""
        found = ((load.outputs[k].useful_bound for load in self.loads) for k in self._places)
        return tuple(map(max, found))

    @property
    def _places(self) -> range:
        return range(self.returned.size)

    def rounding(self, answer: Answer = "float64") -> tuple[float, ...]:
        """Return by how much answers of a type may be off beyond `bound`, in outputs' units.

        `answer` is "float64", "float32" (the type of answers to float32 inputs), or "csv" for the
        nine digits of a text.
        """
        return tuple(
            max(load.outputs[k].code.rounding(answer) for load in self.loads)
            for k in range(self.returned.size)
        )

    def load(self, payload: float | None = None) -> Load:
        """Return the outputs with a payload; the first load where none is named."""
        for load in self.loads:
            if payload is None or load.payload == payload:
                return load
        raise UsageError(f"no payload {payload}: {WHOSE} has {masses(self.payloads)} kg")

    def chosen(self, payload: float | None = None, *, interpolate: bool = False) -> Chosen:
        """Return what stands for a mass at the tip (see `library`), and by how much it errs."""
        if payload is None:
            return alone(self.load())
        return choose(self.loads, self.per_kilogram, payload, interpolate=interpolate)

    def wiring(self, payload: float | None = None) -> Wiring:
        """Return what an engine runs."""
        wiring = wire(self.groups, self.inputs, self.networks, self.load(payload))
        return replace(wiring, stops=self.stops, places=self.places)

    def network(self, payload: float | None = None) -> Network:
        """Return all logic of a load as one network, sums and codes and all (see `joined`)."""
        return joined(self.wiring(payload))

    def __call__(
        self,
        *arrays: ArrayLike,
        payload: float | None = None,
        interpolate: bool = False,
        engine: EngineName = "auto",
        threads: int = 1,
        **named: ArrayLike,
    ) -> NDArray[Any]:
        """Return the outputs at one state or many: (outputs,) or (samples, outputs), or a scalar.

        Arrays are given in the order of the groups or by their names, such as `q=...`: (members,),
        (samples, members), or a number for all; or every input by its own name, such as `q1=...`:
        numbers, or samples. Angles over a whole turn wrap, other values outside their range
        saturate; that, and what lies beyond stops, is a `SaturationWarning`. Angles that look like
        degrees are asked about once, by a `DataWarning`. A program with several
        loads is told which by `payload` (kg): the nearest is taken, or with `interpolate` what lies
        between two. See `evaluate`.
        """
        given = gathered(self.groups, arrays, named, WHOSE)
        found = self._found(given, payload, interpolate, engine, threads)
        if not self._asked and (found.values.ndim > 1 or not self._angles.near(given)):
            self._ask_degrees(given, found)
        if doubt := found.doubt(self.plural, self.places):
            text = f"{self.name}: {doubt}: {self._meaning(found)}"
            warnings.warn(text, SaturationWarning, stacklevel=2)
        return found.values

    torques = __call__  # as programs of robots are read

    @property
    def angles(self) -> dict[str, Interval | None]:
        """The angles among the inputs with their stops; None of those that turn all the way."""
        stops = {one.name: one.range for one in self.stops}
        return {
            one.name: stops.get(one.name, None if one.code.wraps else one.code.range)
            for one in self.inputs
            if one.unit == "rad"
        }

    def _ask_degrees(self, given: Sequence[ArrayLike], found: Evaluation) -> None:
        """Warn, once, of angles that look like degrees; of one state, only beyond two turns."""
        seen = self._angles.seen(given, found.values.size // len(self.outputs))
        if found.values.ndim < 2:
            seen = seen._replace(outside=0)
        if question := seen.question:
            self._asked.append(question)
            warnings.warn(f"{self.name}: {question}", DataWarning, stacklevel=3)

    def _meaning(self, found: Evaluation) -> str:
        """Say what it means for outputs that values were beyond words or stops."""
        if (
            found.saturated_inputs
            or found.saturated_outputs
            or any(s.range.single for s in self.stops)
        ):
            return f"their {self.plural} are not what they seem"
        return "further out than 2 % of a turn (with word_range: at all) the logic is free"

    def evaluate(
        self,
        *arrays: ArrayLike,
        payload: float | None = None,
        interpolate: bool = False,
        engine: EngineName = "auto",
        threads: int = 1,
        **named: ArrayLike,
    ) -> Evaluation:
        """Return outputs, their code words, and how many values saturated or lay beyond stops.

        Outputs are float32 where all arrays are, else float64. More `threads` share a large batch,
        in the native engine. Shapes and names that do not fit are a `UsageError`, NaN and
        infinities a `DataError`. Of a mass between two loads `chosen` says what errors are at most.
        """
        given = gathered(self.groups, arrays, named, WHOSE)
        return self._found(given, payload, interpolate, engine, threads)

    def _found(
        self,
        given: list[ArrayLike],
        payload: float | None,
        interpolate: bool,  # noqa: FBT001 (of this class alone)
        engine: EngineName,
        threads: int,
    ) -> Evaluation:
        """Return what `evaluate` does of an array for every group."""
        if interpolate:
            chosen = self.chosen(payload, interpolate=True)
            each = [
                evaluate(self.engine(load.payload, engine, threads), given, coded=False)
                for load in chosen.loads
            ]
            return between(each, chosen.weights)
        runs = self.engine(payload, engine, threads)
        state: Any = getattr(runs, "state", None)  # of engines that take single states apart
        if state is not None and (found := state(given)) is not None:
            return cast("Evaluation", found)
        return evaluate(runs, given, coded=False)

    def evaluate_words(
        self,
        *arrays: ArrayLike,
        payload: float | None = None,
        engine: EngineName = "auto",
        **named: ArrayLike,
    ) -> Evaluation:
        """Do what `evaluate` does, for integer code words (as an encoder may give them).

        A word is in the code of its `CodedInput`; one that does not fit is a `DataError`.
        """
        given = gathered(self.groups, arrays, named, WHOSE)
        return evaluate(self.engine(payload, engine), given, coded=True)

    def engine(
        self, payload: float | None = None, name: EngineName = "auto", threads: int = 1
    ) -> Engine:
        """Return what runs the program with the load nearest to a mass, made when first asked for.

        The native one also takes columns of code words and bit-planes: `run_codes`, `run_planes`.
        """
        if payload is None and (None, name, threads) in self._engines:
            return self._engines[
                None, name, threads
            ]  # as it mostly is: single states feel all else
        if payload is None and len(self.loads) > 1:
            known = masses(self.payloads)
            raise UsageError(f"{WHOSE} has loads of {known} kg: say which with payload=")
        load = self.chosen(payload).loads[0].payload
        key = (load, name, threads)
        if key not in self._engines:
            self._engines[key] = make_engine(self.wiring(load), name, threads)
        if payload is None:
            self._engines[None, name, threads] = self._engines[key]
        return self._engines[key]

    def save(self, folder: str | Path) -> None:
        """Write the program to a directory, whole or not at all."""
        save_program(self, folder)

    def __repr__(self) -> str:
        nodes = sum(len(network.nodes) for network in self.networks)
        made = f"{nodes} nodes" if self.mode == "compact" else f"{nodes} nodes before the adders"
        loads = masses(self.payloads)
        head = f"{self.name}: {self.bits} bits, {self.mode} mode"
        return f"<program {head}, {made}, loads of {loads} kg>"

    def _repr_html_(self) -> str:
        """Return what notebooks show."""
        return html_of(self)

    def __str__(self) -> str:
        lines = [f"program {self.name}: {self.bits} bits, {self.mode} mode"]
        lines += [f"  input {word}" for word in self.inputs]
        lines += [f"  {one}" for one in self.stops]
        lines += [f"  network {k}: {network!r}" for k, network in enumerate(self.networks)]
        for load in self.loads:
            lines.append(f"  payload {mass_text(load.payload)} kg")
            lines += [f"    {_text(output, load.joint)}" for output in load.outputs]
        return "\n".join(lines)


def _most(values: Sequence[float | None]) -> Any:
    """Return the largest of an error of all loads; None where one of them is not known."""
    known = [value for value in values if value is not None]
    return max(known) if len(known) == len(values) else None


def _text(output: CodedOutput, joint: JointNetwork | None) -> str:
    if joint is not None:
        return f"{output.symbol} {output.code} = network {joint.network}"
    terms = " + ".join(f"{term.name}(network {term.network})" for term in output.terms)
    return f"{output.symbol} {output.code}, {output.guard_bits} guard bits = {terms}"


def program_of_problem(
    problem: Problem,
    bits: int,
    mode: Mode,
    codes: Mapping[str, Code],
    networks: Sequence[Network],
    loads: Sequence[Load],
) -> Program:
    """Return a problem's program; `codes` are those of the input words, by name.

    `bits` are what the user asked for: a word may be wider.
    """
    return Program(
        problem.name, bits, mode, problem.groups, problem.returned,
        tuple(CodedInput(x.name, codes[x.name], x.unit) for x in problem.inputs if x.name in codes),
        tuple(networks), tuple(loads), tuple(Stop(x.name, x.range) for x in stopped(problem)),
        problem.plural, problem.places,
    )  # fmt: skip


def program_of_network(
    problem: Problem,
    bits: int,
    inputs: Mapping[str, Code],
    codes: Sequence[Code],
    network: Network,
    payload: float = 0.0,
) -> Program:
    """Return the program of one network that reads whole input words and makes all outputs.

    `inputs` are the codes of its input words by name, in its order, `codes` those of the outputs.
    """
    order = [one.name for one in problem.inputs if one.name in inputs]
    words = tuple(Slice(order.index(name), code.bits, 0) for name, code in inputs.items())
    outputs = tuple(
        CodedOutput(one.name, one.symbol, one.unit, code)
        for one, code in zip(problem.outputs, codes, strict=True)
    )
    load = Load(payload, outputs, JointNetwork(0, words))
    return program_of_problem(problem, bits, "compact", inputs, (network,), (load,))
