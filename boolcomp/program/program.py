"""Programs: the logic of all outputs of a problem, for one payload or several.

A program has the code of each input word at the finest width that any network reads, and each
distinct network once. In paper mode an output is a sum of terms, each with its own network. In
compact mode one network of natural words computes all outputs of a load.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
from dataclasses import astuple, dataclass, field, fields, replace
from functools import cache
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast, get_args

import numpy as np

from boolcomp.base import VERSION as BOOLCOMP
from boolcomp.base.documents import written
from boolcomp.base.errors import (
    DataError,
    SaturationWarning,
    UsageError,
    listing,
    mass_text,
    number,
    short,
    short_above,
    warn,
)
from boolcomp.base.files import exchange, folder_of, sync_folder, temporary_folder, write_text
from boolcomp.base.results import html_table
from boolcomp.codes import Code
from boolcomp.engines.choice import make_engine
from boolcomp.engines.engine import (
    Call,
    EnginePort,
    Evaluation,
    PortBits,
    Result,
    Stop,
    Wiring,
    WordLogic,
    evaluate,
)
from boolcomp.logic.adders import (
    Addend,
    Sum,
    cells_of,
    coder,
    representable_cells,
    rest_network,
    resting_network,
    sum_network,
    word_of,
)
from boolcomp.logic.network import Builder, copied, render_network
from boolcomp.problem.outputs import ByName, with_names
from boolcomp.problem.problem import AngleInputs, Group, collect_arrays, degrees_question
from boolcomp.problem.word_codes import CodeKind  # noqa: TC001 (read by get_type_hints)
from boolcomp.problem.words import Interval, Zero

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from numpy.typing import ArrayLike

    from boolcomp.codes import Answer
    from boolcomp.engines.choice import EngineName
    from boolcomp.engines.engine import Engine
    from boolcomp.logic.network import Network
    from boolcomp.problem.outputs import NamedOutputs
    from boolcomp.problem.problem import Problem
    from boolcomp.words.graph import WordGraph


PLAIN: tuple[CodeKind, ...] = ("gray", "natural")  # codes that engines encode and decode


def wire(
    groups: tuple[Group, ...], inputs: Sequence[CodedInput], networks: Sequence[Network], load: Load
) -> Wiring:
    """Connect a program's networks to compute the outputs of a load."""
    columns = {
        name: (array, column)
        for array, group in enumerate(groups)
        for column, name in enumerate(group.members)
    }
    plain = ("natural",) if load.joint else PLAIN
    ports: list[EnginePort] = []
    planes = 0
    for word in inputs:
        code, kind = _planes_code(word.code, plain)
        ports.append(EnginePort(*columns[word.name], code, planes, kind))
        planes += code.bits
    maker = _Wirer(ports, planes)
    if load.joint is None:
        results = maker.terms(networks, load.outputs)
    else:
        results = maker.joint(inputs, networks[load.joint.network], load, load.joint)
    return Wiring(
        groups, tuple(ports), tuple(maker.places), tuple(maker.calls), tuple(results), maker.planes,
        logic=graph_logic(inputs, load),
    )  # fmt: skip


def graph_logic(inputs: Sequence[CodedInput], load: Load) -> WordLogic | None:
    """Return the word graph of a load in the form that engines run."""
    if load.graph is None or load.joint is None:
        return None
    cuts = (PortBits(w.input, inputs[w.input].code.bits - w.bits) for w in load.joint.words)
    places = {word.name: place for place, word in enumerate(inputs)}
    rests = (
        None if one.rest is None else tuple(places[name] for name in one.rest if name in places)
        for one in load.outputs
    )
    return WordLogic(load.graph, tuple(cuts), tuple(rests))


def _planes_code(code: Code, plain: Sequence[CodeKind]) -> tuple[Code, CodeKind | None]:
    """Return the code of a word's planes, and the word's own code if it differs."""
    if code.kind in plain:
        return code, None
    return replace(code, kind="natural"), code.kind


class _Wirer:
    """Builds the list of calls; equal calls are shared."""

    def __init__(self, ports: Sequence[EnginePort], planes: int) -> None:
        self.ports, self.planes = ports, planes
        self.places: dict[Network, int] = {}
        self.calls: list[Call] = []
        self.made: dict[tuple[int, tuple[int, ...]], int] = {}

    def call(
        self,
        network: Network,
        reads: tuple[int, ...],
        port: int | None = None,
        total: Sum | None = None,
    ) -> int:
        """Add a call of a network on planes, unless there is one; return its first plane."""
        place = self.places.setdefault(network, len(self.places))
        if (place, reads) not in self.made:
            self.calls.append(Call(place, reads, self.planes, port, total))
            self.made[place, reads] = self.planes
            self.planes += len(network.outputs)
        return self.made[place, reads]

    def joint(
        self, inputs: Sequence[CodedInput], network: Network, load: Load, joint: JointNetwork
    ) -> list[Result]:
        """Call the network of all outputs, which reads and computes cells."""
        firsts = [port.first for port in self.ports]
        for k, port in enumerate(self.ports):
            if port.given.first:  # cells without a word are not read
                firsts[k] = self.call(saturator(port.given), _planes_of(port), k)
        first = self.call(network, tuple(_slice_planes(firsts, joint.words)))
        names = [word.name for word in inputs]
        results = []
        for output in load.outputs:
            code, kind = _planes_code(output.code, ("natural",))
            made = range(first, first + code.bits + 1)
            first = made.stop
            if output.rest is not None:
                reads = [names.index(name) for name in output.rest]
                words = tuple((inputs[k].code.bits, inputs[k].code.tread) for k in reads)
                cells = (
                    plane
                    for k in reads
                    for plane in range(firsts[k], firsts[k] + inputs[k].code.bits)
                )
                rest = self.call(rest_network(words), tuple(cells))
                gated = self.call(resting_network(code.bits), (rest, *made))
                made = range(gated, gated + code.bits + 1)
            results.append(Result(output.name, code, made.start, made.stop - 1, kind))
        return results

    def terms(self, tables: Sequence[Network], outputs: Sequence[CodedOutput]) -> list[Result]:
        """Call the networks of tables and sums; terms share equal calls."""
        firsts = [
            self.call(coder_of(port.given), _planes_of(port), k) if port.kind else port.first
            for k, port in enumerate(self.ports)
        ]
        results = []
        for output in outputs:
            counts: dict[int, Addend] = {}
            for term in output.terms:
                reads = tuple(_slice_planes(firsts, term.words))
                first = self.call(tables[term.network], reads)
                times = counts[first].times + 1 if first in counts else 1
                counts[first] = Addend(term.code.bits, term.code.kind, times)
            total = Sum(tuple(counts.values()), output.code.bits, output.guard_bits)
            words = [range(first, first + addend.bits) for first, addend in counts.items()]
            reads = tuple(k for word in words for k in word)
            first = self.call(_sum_network(total), reads, total=total)
            code, kind = _planes_code(output.code, PLAIN)
            results.append(Result(output.name, code, first, first + code.bits, kind))
        return results


def _planes_of(port: EnginePort) -> tuple[int, ...]:
    return tuple(range(port.first, port.first + port.code.bits))


def coder_of(code: Code) -> Network:
    """Return the network that converts cells of a code to words."""
    return coder(code.kind, code.bits, tread=code.tread)


def saturator(code: Code) -> Network:
    """Return the network that moves cells without a word of a code to the nearest one."""
    return representable_cells(code.kind, code.bits, tread=code.tread)


def joined(wiring: Wiring) -> Network:
    """Return a wiring as one network from input words to output words, in their codes.

    The outputs are, for every result, the bits of its word, most significant first, and whether it
    saturated. A Gray word of paper mode is replaced by its cell.
    """
    builder = Builder(sum(port.code.bits for port in wiring.ports))
    given = [
        [builder.input(port.first + k) for k in range(port.code.bits)] for port in wiring.ports
    ]
    planes: list[int] = []
    for port, word in zip(wiring.ports, given, strict=True):
        if port.kind is not None:
            word = cells_of(builder, word, port.given.kind, tread=port.given.tread)  # noqa: PLW2901
        planes += word
    for call in wiring.calls:
        reads = [planes[k] for k in call.inputs]
        if call.port is None:
            planes += copied(wiring.networks[call.network], builder, reads)
        elif wiring.networks[call.network] == coder_of(wiring.ports[call.port].given):
            planes += given[call.port]
        else:  # the planes are cells already
            planes += reads
    outputs: list[int] = []
    for result in wiring.results:
        cells = planes[result.first : result.first + result.code.bits]
        if result.kind is not None:
            cells = word_of(builder, cells, result.kind, tread=result.code.tread)
        outputs += [*cells, planes[result.saturated]]
    return builder.build(outputs)


_sum_network = cache(sum_network)


def _slice_planes(firsts: Sequence[int], words: tuple[Slice, ...]) -> Iterable[int]:
    for word in words:
        first = firsts[word.input]
        yield from range(first + word.dropped, first + word.bits)


# --------------------------------------------------------------------------------------------------
# Checks that the parts of a program fit together.
# --------------------------------------------------------------------------------------------------

STEP_SLACK = 1e-9  # relative difference of equal steps


def check_program(program: Program) -> None:
    """Raise a `ValueError` if the parts do not fit together."""
    payloads = [load.payload for load in program.loads]
    if not payloads or len(set(payloads)) != len(payloads):
        raise ValueError("a program needs at least one load, and no payload twice")
    names = [name for group in program.groups for name in group.members]
    if len(set(names)) != len(names):
        raise ValueError("inputs are repeated")
    read = [word.name for word in program.inputs]
    if len(set(read)) != len(read) or not {*read, *(x.name for x in program.stops)} <= {*names}:
        raise ValueError("an input word, or a stop, is repeated or belongs to no input")
    _check_changes(program)
    for load in program.loads:
        if tuple(output.name for output in load.outputs) != program.returned.members:
            raise ValueError("the outputs differ from the returned group")
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
        raise ValueError("per_kilogram needs a non-negative number for every output")


def _check_term(program: Program, output: CodedOutput, term: TermUse) -> None:
    _check_use(program, term.name, term.network, term.words, term.code.bits)
    centred = term.code.range.low == -term.code.range.high
    if not centred or abs(term.code.step / output.step - 1) > STEP_SLACK:
        raise ValueError(f"{term.name} is not aligned with {output.name}")


def _check_joint(program: Program, load: Load, joint: JointNetwork) -> None:
    if any(output.terms for output in load.outputs):
        raise ValueError("a load has both terms and a network of all outputs")
    width = sum(output.code.bits + 1 for output in load.outputs)
    _check_use(program, f"all {program.plural}", joint.network, joint.words, width)
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
            raise ValueError(f"{name} reads bits beyond its input words")
    width = sum(word.bits - word.dropped for word in words)
    if (network.inputs, len(network.outputs)) != (width, outputs):
        raise ValueError(f"the network of {name} does not fit its words")


# --------------------------------------------------------------------------------------------------
# A program as a small table of HTML, for notebooks.
# --------------------------------------------------------------------------------------------------

INPUTS = ("input", "range", "unit", "bits", "code")
OUTPUTS = ("output", "range", "unit", "bits", "LSB", "rms", "sampled max", "worst found", "bound")
NOTE = "rms and sampled max: random states; worst found: largest error of a search; bound: proved"


def html_of(program: Program) -> str:
    """Return name, mode, size, inputs, and outputs with their known errors."""
    networks = [program.network(payload) for payload in program.payloads]
    loads = ", ".join(map(mass_text, program.payloads))
    head = f"{program.bits} bits, {program.mode} mode, loads of {loads} kg"
    nodes = ", ".join(str(len(network.nodes)) for network in networks)
    size = f"{nodes} nodes of at most three inputs, depth {max(x.depth for x in networks)}"
    return (
        f"<div><b>{escape(program.name)}</b>: {escape(f'{head}; {size}')}"
        f"{html_table(INPUTS, [_input(word) for word in program.inputs])}"
        f"{html_table(OUTPUTS, [_output_cells(k, program) for k in range(len(program.outputs))])}"
        f"<div>{NOTE}</div></div>"
    )


def _input(word: CodedInput) -> list[str]:
    code = word.code
    kind = f"{code.kind}{', wraps' * code.wraps}{', a cell at zero' * code.tread}"
    return [word.name, str(code.range), word.unit or "–", str(code.bits), kind]


def _output_cells(place: int, program: Program) -> list[str]:
    """Return the cells of an output; errors are the largest of all loads."""
    bound = program.bound[place]
    output = replace(program.outputs[place], bound=bound)
    found, step = program.errors.get(output.name), output.code.step
    measured = [None] * 3 if found is None else [found.rms, found.sampled_max, found.worst_found]
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
# A library of loads: answers for payloads between those of the program.
#
# For outputs that are affine in the payload there are two answers. The first is the nearest load,
# the heavier of two equally near: its error grows by at most the change of the output over the
# difference of the masses. The second is the weighted mean of the loads below and above: its error
# is at most the same mean of the errors of both.
# --------------------------------------------------------------------------------------------------

MOST_LISTED = 12


@dataclass(frozen=True, slots=True)
class Chosen:
    """Loads that answer for a payload, the nearest first; their weights add up to one.

    `bounds` are the proved errors of outputs, in their units; they hold while no load saturates.
    """

    mass: float
    loads: tuple[Load, ...]
    weights: tuple[float, ...]
    bounds: tuple[float, ...]

    @property
    def exact(self) -> bool:
        """Whether the program has a load of exactly this mass."""
        return self.loads[0].payload == self.mass

    @property
    def outputs(self) -> tuple[CodedOutput, ...]:
        """The outputs, with their bounds at this mass."""
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
    """Return masses as a list, which is abbreviated if it is long."""
    known = [mass_text(payload) for payload in payloads]
    if len(known) <= MOST_LISTED:
        return listing(known)
    return f"{known[0]}, {known[1]} … {known[-1]} ({len(known)} of them)"


def alone(load: Load) -> Chosen:
    """Return the choice of a load at its own payload."""
    return Chosen(load.payload, (load,), (1.0,), tuple(one.bound for one in load.outputs))


def choose(
    loads: Sequence[Load], per_kilogram: Sequence[float], mass: float, *, interpolate: bool = False
) -> Chosen:
    """Return the loads that answer for a mass; `UsageError` beyond the range of payloads."""
    for load in loads:
        if load.payload == mass:
            return alone(load)
    rising = sorted(loads, key=lambda load: load.payload)
    low, high = rising[0].payload, rising[-1].payload
    if not per_kilogram or not low < mass < high:
        span = f", and answers from {number(low)} to {number(high)}" if per_kilogram else ""
        known = masses(load.payload for load in loads)
        raise UsageError(f"no payload {mass}", f"this program has {known} kg{span}")
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
    """Return the weighted mean of evaluations, with the words of the first.

    The number of saturated outputs is the sum over all of them.
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
# The parts of a program: input words, outputs, and the networks of outputs.
# --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class CodedInput:
    """An input of the problem with the code of its word."""

    name: str
    code: Code
    unit: str = ""

    def __str__(self) -> str:
        return f"{self.name} {self.code}"


@dataclass(frozen=True, slots=True)
class Slice:
    """The bits of an input word that a network reads: from bit `dropped` to before bit `bits`.

    Bit 0 is the most significant one.
    """

    input: int
    bits: int
    dropped: int


@dataclass(frozen=True, slots=True)
class TermUse:
    """A term of an output: its network, the code of its value, and the input bits it reads."""

    name: str
    text: str
    network: int
    code: Code
    words: tuple[Slice, ...]


@dataclass(frozen=True, slots=True)
class KnownErrors:
    """Measured errors of an output, in its unit: on random states, and by a search.

    `worst_found` is the largest error found by a search; None if there was no search. The true
    maximum may be larger.
    """

    rms: float
    sampled_max: float
    worst_found: float | None = None


@dataclass(frozen=True, slots=True)
class OutputErrors(KnownErrors):
    """The same, over all loads, with the proved `bound`, one step of the word (`lsb`) and the unit.

    >>> import boolcomp as bc
    >>> one = bc.compile("machado-2r", bits=8).errors["tau1"]
    >>> round(one.rms, 2), round(one.found, 2), round(one.bound, 2), one.unit
    (0.66, 5.68, 5.68, 'N·m')
    >>> round(one.bound / one.lsb, 2)  # in LSB
    3.63
    """

    bound: float = math.inf
    lsb: float = 0.0
    unit: str = ""

    @property
    def found(self) -> float | None:
        """The largest error found by a search; None if there was no search."""
        return self.worst_found


WIDE = 2.0  # ratio of a bound to the largest error found from which it is shown


def over_found(bound: float, found: float | None) -> float | None:
    """Return the ratio of a bound to the largest error found; None if either is unknown."""
    return bound / found if found and math.isfinite(bound) else None


NOT_PROVED, NOT_USEFUL = "no bound is proved", "no useful bound"


def bound_note(bound: float, word: Interval) -> str:
    """Return the reason why a bound is not shown; empty if it is shown.

    An infinite bound is not proved, and one wider than the output word has no use.
    """
    if math.isinf(bound):
        return NOT_PROVED
    return NOT_USEFUL if bound > word.width else ""


@dataclass(frozen=True, slots=True)
class CodedOutput:
    """The sum of an output's terms, rounded to its own code; its name is `tau1`, its symbol `T1`.

    `bound` is the proved error in the output's unit, infinite if there is none, and `grade` the
    level of the proof (plain, tables, tight; empty if unknown). `errors` are the measured ones.
    The output is exactly zero if the words of all inputs in `rest` are zero; its code then has a
    cell there.
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
        """The reason why no bound is shown; empty if one is."""
        return bound_note(self.bound, self.code.range)

    @property
    def useful_bound(self) -> float:
        """The bound, or infinity if it is wider than the output word."""
        return math.inf if self.bound_note else self.bound

    @property
    def step(self) -> float:
        """The least significant bit that all terms share."""
        return self.code.step / (1 << self.guard_bits)


@dataclass(frozen=True, slots=True)
class JointNetwork:
    """One network for all outputs, and the input bits that it reads.

    It reads and computes cells, whatever the codes of words are. Its outputs are, for every output,
    the bits of the cell, most significant first, and whether it saturated.
    """

    network: int
    words: tuple[Slice, ...]


@dataclass(frozen=True, slots=True)
class Load:
    """The outputs with one payload (kg); `joint` computes them if they have no terms.

    `graph` is the word graph of the joint network, if known; `meanings` describe its words.
    """

    payload: float
    outputs: tuple[CodedOutput, ...]
    joint: JointNetwork | None = None
    graph: WordGraph | None = None
    meanings: tuple[str, ...] = ()


# --------------------------------------------------------------------------------------------------
# Programs to disk: a directory of text files, which is replaced atomically.
#
# - program.json: the description, with the SHA-256 of every other file and of itself
# - networks/0.txt: the networks, see `render_network`
# - graphs/0.txt: the word graphs, see `WordGraph.__str__`; loads may share one
# - certificate.txt: the certificate for the checker, if there is one
# --------------------------------------------------------------------------------------------------


# 2: one network for all outputs of a load; 3: names; 4: signed codes, cells at zero; 5: shared
# graphs
FORMAT, VERSION, SIGNS, BEFORE_SIGNS = "boolcomp program", 5, 4, 3
HEAD, CERTIFICATE = "program.json", "certificate.txt"


@dataclass(frozen=True, slots=True)
class CodeEntry:
    """A code in program.json."""

    kind: CodeKind
    bits: int
    range: Interval
    wraps: bool = False
    zero: Zero = "rise"


@dataclass(frozen=True, slots=True)
class LoadEntry:
    """A load in program.json: of a joint network with its `words`, and the place of its graph.

    Loads with `meanings` have a graph, by default that of their own place.
    """

    payload: float
    outputs: tuple[CodedOutput, ...]
    network: int | None = None
    words: tuple[Slice, ...] | None = None
    meanings: tuple[str, ...] | None = None
    graph: int | None = None


@dataclass(frozen=True, slots=True)
class ProgramEntry:
    """The content of program.json without checksums."""

    format: str
    version: int
    made_by: str
    name: str
    bits: int
    mode: Mode
    plural: str
    places: str
    demand: str
    groups: tuple[Group, ...]
    returned: Group
    inputs: tuple[CodedInput, ...]
    networks: int
    loads: tuple[LoadEntry, ...]
    per_kilogram: tuple[float, ...] = ()
    stops: tuple[Stop, ...] = ()


OPTIONAL = {
    "wraps", "zero", "network", "words", "meanings", "graph", "per_kilogram", "rest", "grade",
}  # fmt: skip
FORMS: dict[type, Callable[[Any], Any]] = {
    Code: lambda x: CodeEntry(x.kind, x.bits, x.range, x.wraps, "tread" if x.tread else "rise"),
    CodedInput: lambda x: {"name": x.name, "unit": x.unit, "code": x.code},
    Group: lambda x: (x.name, *x.members),
    Interval: lambda x: (x.low, x.high),
    Slice: lambda x: (x.input, x.bits, x.dropped),
    Stop: lambda x: (x.name, x.range.low, x.range.high),
}


def save_program(program: Program, folder: str | Path) -> None:
    """Write a program to a directory; an older program in it is replaced."""
    target = Path(os.path.realpath(folder))  # a symbolic link stays one
    if target.is_dir() and any(target.iterdir()) and not (target / HEAD).is_file():
        raise DataError(
            "a folder with other files, not a program", "give another name with -o", where=folder
        )
    if target.exists() and not target.is_dir():
        raise DataError(
            "a file, but a program is saved to a folder", "give another name with -o", where=folder
        )
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
        raise DataError(f"cannot be written: {error.strerror}", where=folder) from error


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
    graphs = [None if place == k else place for k, place in enumerate(shared)]
    loads = tuple(map(_load_entry, program.loads, graphs))
    entry = ProgramEntry(
        FORMAT, _version(program, shared), f"boolcomp {BOOLCOMP}", program.name, program.bits,
        program.mode, program.plural, program.places, program.demand, program.groups,
        program.returned, program.inputs, len(program.networks), loads, program.per_kilogram,
        program.stops,
    )  # fmt: skip
    return {HEAD: sealed(written(entry, FORMS, OPTIONAL), files), **files}


def _load_entry(load: Load, graph: int | None) -> LoadEntry:
    if load.joint is None:
        return LoadEntry(load.payload, load.outputs)
    named = load.meanings if load.graph else None
    joint = load.joint
    return LoadEntry(load.payload, load.outputs, joint.network, joint.words, named, graph)


def sealed(document: dict[str, Any], files: Mapping[str, str]) -> str:
    """Return the text of `program.json` with the checksums of all files and its own."""
    whole = {key: value for key, value in document.items() if key != "checksum"}
    whole["files"] = {name: digest(text) for name, text in files.items()}
    whole["checksum"] = digest(canonical(whole))
    return json.dumps(whole, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def _shared_graphs(program: Program) -> list[int]:
    """Return for every load the first load with an equal graph, whose file it shares.

    A certificate needs a file for each load.
    """
    first: dict[str, int] = {}
    return [
        k if not load.graph or program.certificate else first.setdefault(str(load.graph), k)
        for k, load in enumerate(program.loads)
    ]


def _version(program: Program, shared: list[int]) -> int:
    """Return the earliest format version that can represent the program."""
    if shared != list(range(len(shared))):
        return VERSION
    outputs = [output for load in program.loads for output in load.outputs]
    plain = ("natural",) if any(load.joint for load in program.loads) else ("natural", "gray")
    codes = [*(one.code for one in program.inputs), *(one.code for one in outputs)]
    signs = any(code.tread or code.kind not in plain for code in codes)
    return SIGNS if signs else BEFORE_SIGNS


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
    """Return the text of a document for its checksum."""
    return json.dumps(document, sort_keys=True, separators=(",", ":"))


# --------------------------------------------------------------------------------------------------
# The program itself.
# --------------------------------------------------------------------------------------------------

Mode = Literal["paper", "compact"]
MODES: tuple[Mode, ...] = get_args(Mode)
WHOSE = "this program"


@dataclass(frozen=True, slots=True, repr=False)
class Program:
    """The logic of all outputs of a problem. Immutable; engines are made at first use.

    A state has an array for each of the `groups`, also for inputs that no network reads; results
    are the group `returned`. `plural` is the noun for outputs ("torques"), `places` that for the
    owners of inputs ("joints"), and `demand` the text of the options of compact mode. `certificate`
    is a text for `boolcomp.checker`. If outputs are affine in the payload, `per_kilogram` is the
    largest change of each by one kilogram, in its unit; payloads between loads then have answers.
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
    _angles: AngleInputs = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.mode not in MODES:
            raise ValueError(f"mode {self.mode!r}: modes are {listing(MODES)}")
        check_program(self)
        object.__setattr__(self, "_angles", AngleInputs(self.groups, self.angles))

    def __reduce__(self) -> tuple[Any, ...]:
        # Engines have native code of this process.
        return type(self), tuple(getattr(self, one.name) for one in fields(self) if one.init)

    @property
    def outputs(self) -> tuple[CodedOutput, ...]:
        """The outputs of the first load."""
        return self.loads[0].outputs

    @property
    def payloads(self) -> tuple[float, ...]:
        """The payloads (kg) of the loads."""
        return tuple(load.payload for load in self.loads)

    @property
    def graph(self) -> WordGraph | None:
        """The word graph of the first load; None in paper mode or if unknown."""
        return self.loads[0].graph

    @property
    def asked(self) -> dict[str, str]:
        """The options of compact mode by name, parsed from `demand`."""
        return {name: value for name, _, value in (x.partition("=") for x in self.demand.split())}

    @property
    def errors(self) -> dict[str, OutputErrors]:
        """The errors by output, the largest over all loads; unmeasured outputs are left out."""
        known: ByName[OutputErrors] = ByName("output")
        for outputs in zip(*(load.outputs for load in self.loads), strict=True):
            found = [output.errors for output in outputs if output.errors is not None]
            if len(found) == len(self.loads):
                first, each = outputs[0], zip(*map(astuple, found), strict=True)
                more = max(x.bound for x in outputs), first.code.step, first.unit
                known[first.name] = OutputErrors(*(*map(_largest, each), *more))
        return known

    @property
    def sampled_max(self) -> tuple[float | None, ...]:
        """The largest error of every output on random states, in its unit, over all loads.

        None if it was not measured. See also `worst_found` and `bound`.
        """
        known = (self.errors.get(output.name) for output in self.outputs)
        return tuple(None if found is None else found.sampled_max for found in known)

    @property
    def worst_found(self) -> tuple[float | None, ...]:
        """The largest error of every output found by a search, in its unit, over all loads.

        None if there was no search. Errors may be larger; only `bound` is proved.
        """
        known = (self.errors.get(output.name) for output in self.outputs)
        return tuple(None if found is None else found.worst_found for found in known)

    @property
    def bound(self) -> tuple[float, ...]:
        """The proved error of every output in its unit, over all loads; infinite if unknown.

        It holds for inputs in range. If the exact output is outside the range of the word, the
        error is measured from the nearest representable value. The type of answers adds `rounding`.
        """
        return tuple(max(load.outputs[k].bound for load in self.loads) for k in self._places)

    @property
    def useful_bound(self) -> tuple[float, ...]:
        """The same, but infinite if a bound is wider than the word of its output."""
        found = ((load.outputs[k].useful_bound for load in self.loads) for k in self._places)
        return tuple(map(max, found))

    @property
    def _places(self) -> range:
        return range(self.returned.size)

    def rounding(self, answer: Answer = "float64") -> tuple[float, ...]:
        """Return the rounding error of a type of answers, to be added to `bound`.

        `answer` is "float64", "float32" (the type of answers to float32 inputs), or "csv" for
        texts of nine digits.
        """
        return tuple(
            max(load.outputs[k].code.rounding(answer) for load in self.loads)
            for k in range(self.returned.size)
        )

    def load(self, payload: float | None = None) -> Load:
        """Return the load of a payload; the first by default."""
        for load in self.loads:
            if payload is None or load.payload == payload:
                return load
        raise UsageError(f"no payload {payload}", f"{WHOSE} has {masses(self.payloads)} kg")

    def chosen(self, payload: float | None = None, *, interpolate: bool = False) -> Chosen:
        """Return the loads that answer for a payload, with their error bounds."""
        if payload is None:
            return alone(self.load())
        return choose(self.loads, self.per_kilogram, payload, interpolate=interpolate)

    def wiring(self, payload: float | None = None) -> Wiring:
        """Return the connected networks of a load, which an engine runs."""
        wiring = wire(self.groups, self.inputs, self.networks, self.load(payload))
        return replace(wiring, stops=self.stops, places=self.places)

    def network(self, payload: float | None = None) -> Network:
        """Return all logic of a load as one network, with sums and codes (see `joined`)."""
        return joined(self.wiring(payload))

    def __call__(
        self,
        *arrays: ArrayLike,
        payload: float | None = None,
        interpolate: bool = False,
        engine: EngineName = "auto",
        threads: int = 1,
        **named: ArrayLike,
    ) -> NamedOutputs:
        """Return the outputs at one state or many: (outputs,) or (samples, outputs), or a scalar.

        Arrays are given in the order of the groups or by their names, such as `q=...`: (members,),
        (samples, members), or a number for all. Alternatively every input is given by its own name,
        such as `q1=...`, as a number or samples. Angles over a whole turn wrap; other values
        outside their range saturate, with a `SaturationWarning`, as have values beyond stops.
        Angles that look like degrees give one `DataWarning`. With several loads `payload` (kg)
        selects the nearest, or with `interpolate` the mean of two. Columns of two or more outputs
        have names: `program(...)["tau1"]`, `.tau1` (see `NamedOutputs`). See `evaluate`.
        """
        given = collect_arrays(self.groups, arrays, named, WHOSE)
        found = self._found(given, payload, interpolate, engine, threads)
        if not self._asked and (found.values.ndim > 1 or not self._angles.plausible(given)):
            self._ask_degrees(given)
        if doubt := found.doubt(self.plural, self.places):
            text = f"{self.name}: {doubt}: {self._meaning(found)}"
            warn(text, SaturationWarning)
        return with_names(found.values, self.returned.members)

    torques = __call__  # for programs of robots

    @property
    def angles(self) -> dict[str, Interval | None]:
        """The angles among the inputs with their ranges; None for whole turns."""
        stops = {one.name: one.range for one in self.stops}
        return {
            one.name: stops.get(one.name, None if one.code.wraps else one.code.range)
            for one in self.inputs
            if one.unit == "rad"
        }

    def _ask_degrees(self, given: Sequence[ArrayLike]) -> None:
        """Warn once about angles that look like degrees."""
        if question := degrees_question(self._angles.largest(given)):
            self._asked.append(question)
            warn(f"{self.name}: {question}")

    def _meaning(self, found: Evaluation) -> str:
        """Return the effect of values beyond words or stops on the outputs."""
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
        """Return outputs, their code words, and the numbers of values saturated or beyond stops.

        Outputs are float32 if all arrays are, else float64. In the native engine `threads` share a
        large batch. Invalid shapes and names raise a `UsageError`, NaN and infinities a
        `DataError`. For a payload between two loads `chosen` returns the error bounds.
        """
        given = collect_arrays(self.groups, arrays, named, WHOSE)
        return self._found(given, payload, interpolate, engine, threads)

    def _found(
        self,
        given: list[ArrayLike],
        payload: float | None,
        interpolate: bool,  # noqa: FBT001 (private)
        engine: EngineName,
        threads: int,
    ) -> Evaluation:
        """Evaluate with an array for every group."""
        if interpolate:
            chosen = self.chosen(payload, interpolate=True)
            each = [
                evaluate(self.engine(load.payload, engine, threads), given, coded=False)
                for load in chosen.loads
            ]
            return between(each, chosen.weights)
        runs = self.engine(payload, engine, threads)
        state: Any = getattr(runs, "state", None)  # a fast path of some engines for single states
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
        """Evaluate integer code words, such as those of an encoder.

        A word is in the code of its `CodedInput`; one that does not fit raises a `DataError`.
        """
        given = collect_arrays(self.groups, arrays, named, WHOSE)
        return evaluate(self.engine(payload, engine), given, coded=True)

    def engine(
        self, payload: float | None = None, name: EngineName = "auto", threads: int = 1
    ) -> Engine:
        """Return the engine for the load nearest to a mass; it is made at first use.

        The native one also takes columns of code words and bit-planes: `run_codes`, `run_planes`.
        """
        default = None, name, threads
        if payload is None and default in self._engines:  # first: it delays single states
            return self._engines[default]
        if payload is None and len(self.loads) > 1:
            known = masses(self.payloads)
            raise UsageError(f"{WHOSE} has loads of {known} kg", "select one with payload=")
        load = self.chosen(payload).loads[0].payload
        key = (load, name, threads)
        if key not in self._engines:
            self._engines[key] = make_engine(self.wiring(load), name, threads)
        if payload is None:
            self._engines[default] = self._engines[key]
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


def _largest(values: Sequence[float | None]) -> Any:
    """Return the largest error of all loads; None if one of them is unknown."""
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

    `bits` is the word length that the user specified; a word may be wider.
    """
    return Program(
        problem.name, bits, mode, problem.groups, problem.returned,
        tuple(CodedInput(x.name, codes[x.name], x.unit) for x in problem.inputs if x.name in codes),
        tuple(networks), tuple(loads),
        tuple(Stop(x.name, x.range) for x in problem.inputs if x.limited),
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
    """Return the program of one network that reads whole input words and computes all outputs.

    `inputs` are the codes of its input words by name, in its order; `codes` those of the outputs.
    """
    order = [one.name for one in problem.inputs if one.name in inputs]
    words = tuple(Slice(order.index(name), code.bits, 0) for name, code in inputs.items())
    outputs = tuple(
        CodedOutput(one.name, one.symbol, one.unit, code)
        for one, code in zip(problem.outputs, codes, strict=True)
    )
    load = Load(payload, outputs, JointNetwork(0, words))
    return program_of_problem(problem, bits, "compact", inputs, (network,), (load,))
