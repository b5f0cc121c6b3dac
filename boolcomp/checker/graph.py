"""Check the section `graph`: the words of the graph represent the nodes of the sketch.

    s0 = w0                              a word
    s3 = w7 w8                           words that add up
    s4 = w7 w8 times w9 w10              the same, plus the product of two words
    s7 = w11 of 0 0 1                    a heap: its parts, in order, belong to these addends
    tau1 = shift -0.125 rest qd1 qd2     an output is its cells plus these steps; it is held at
                                         zero where these inputs are zero

The unit and the offset of a word are given by the graph; unneeded nodes have no line. The check
here is structural: the words of a node read only words of the nodes that this node reads. How far
words deviate from their nodes is computed with the bound, and a wrong map makes the bound larger.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from boolcomp.base.errors import DataError, shown
from boolcomp.checker.folder import CheckedCases, DoesNotHoldError, checked
from boolcomp.checker.problem import ClaimedInput, ClaimedTotal, Turns, read_origin, read_sketch
from boolcomp.checker.spans import ONE, IntegerSpan, exactly, two_pi
from boolcomp.words.graph import Angles, Heap, InputWord, Lookup, part_reads, reads

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from boolcomp.checker.folder import CertificateSection, LoadFiles, VerdictStep
    from boolcomp.checker.problem import (
        ClaimedRange,
        ClaimedResult,
        ClaimedSketch,
        ClaimedWord,
        Node,
    )
    from boolcomp.words.graph import OutputWord, WordGraph


_PLACE = re.compile(r"s(\d{1,6}) =((?: w\d{1,6})+)( times w\d{1,6} w\d{1,6})?(?: of([ \d]+))?")
_OUTPUT = re.compile(r"(\w+) = shift (-?[0-9.e+-]+)(?: rest((?: \w+)*))?")


@dataclass(frozen=True, slots=True)
class ClaimedWords:
    """Words that add up, two words whose product is added, and the addends of a heap's parts."""

    words: tuple[int, ...]
    product: tuple[int, int] | None = None
    owners: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Decoded:
    """The shift of an output against its cells, and the inputs whose zero holds it at zero."""

    name: str
    shift: float
    rest: tuple[str, ...] | None


@dataclass(frozen=True, slots=True)
class Places:
    """The words of nodes of the sketch, by node number, and the outputs."""

    nodes: Mapping[int, ClaimedWords]
    outputs: tuple[Decoded, ...]


def read_places(section: CertificateSection) -> Places:
    """Read the section; a `DataError` names the invalid line."""
    nodes: dict[int, ClaimedWords] = {}
    outputs: list[Decoded] = []
    for row, line in enumerate(section.lines):
        place, output = _PLACE.fullmatch(line), _OUTPUT.fullmatch(line)
        if place and not outputs and int(place[1]) not in nodes:
            a, b = map(int, re.findall(r"\d+", place[3])) if place[3] else (0, 0)
            owners = tuple(map(int, (place[4] or "").split()))
            words = tuple(map(int, re.findall(r"\d+", place[2])))
            nodes[int(place[1])] = ClaimedWords(words, (a, b) if place[3] else None, owners)
        elif output and not place:
            rest = None if output[3] is None else tuple(output[3].split())
            outputs.append(Decoded(output[1], _shift(output[2], section.where(row)), rest))
        else:
            raise DataError(
                f"{shown(line)} does not map a node or output", where=section.where(row)
            )
    return Places(nodes, tuple(outputs))


def _shift(text: str, where: str) -> float:
    try:
        return float(text)
    except ValueError as error:
        raise DataError(f"{shown(text)} is no number", where=where) from error


# --------------------------------------------------------------------------------------------------
# The checks of the map, and of the word formats of inputs and outputs.
# --------------------------------------------------------------------------------------------------

SLACK = Fraction(1, 1 << 40)  # of a step: program.json has rounded doubles
TURN_ERROR = 1e-9  # rad: tolerance for a word that spans a turn or a part of one


def check_graph(load: LoadFiles) -> Iterator[VerdictStep]:
    """Check the map from sketch to graph, and the word formats."""
    yield checked("sketch to graph", "map of nodes: words read what nodes read", lambda: _map(load))
    yield checked("words", "cells and codes against program.json", lambda: _words(load))


def _require(holds: object, what: str) -> None:
    if not holds:
        raise DoesNotHoldError(f"graph: {what}")


def _map(load: LoadFiles) -> CheckedCases:
    sketch, places = read_sketch(load.section("sketch")), read_places(load.section("graph"))
    if load.graph is None:
        raise DoesNotHoldError("graph: the program has no word graph")
    for place in places.nodes:
        _require(place < len(sketch.nodes), f"s{place} is no node of the sketch")
        _node(place, sketch, places, load.graph)
    names = [one.name for one in sketch.results]
    _require(names == [one.name for one in places.outputs], f"outputs are {names}")
    _require(len(names) == len(load.graph.results), f"the graph has no {len(names)} outputs")
    for one, word in zip(sketch.results, load.graph.results, strict=True):
        lsb = load.graph.scales[word.node].lsb
        _require(
            _of(one.node, places) == (word.node,), f"{one.name} is w{word.node}, not s{one.node}"
        )
        _require(word.drop == -lsb, f"{one.name} drops {word.drop} bits of a word of unit 2^{lsb}")
    return CheckedCases(len(places.nodes), f"{len(load.graph.nodes)} words, {len(names)} outputs")


def _node(k: int, sketch: ClaimedSketch, places: Places, graph: WordGraph) -> None:
    """Check that the words of a node have its kind, and read only words of the nodes it reads."""
    node, place = sketch.nodes[k], places.nodes[k]
    every = (*place.words, *(place.product or ()))
    _require(max(every) < len(graph.nodes), f"s{k}: w{max(every)} is no word")
    first = graph.nodes[place.words[0]]
    if isinstance(node, (ClaimedInput, Turns, ClaimedTotal)):
        _require(len(every) == 1, f"s{k} is one word, not {len(every)}")
    if isinstance(node, ClaimedInput):
        same = isinstance(first, InputWord) and first.name == node.name
        _require(same and first.angle == node.angle, f"s{k} is the input {node.name}: w{every[0]}")  # type: ignore[union-attr]  # (an input)
    elif isinstance(node, ClaimedTotal):
        _require(isinstance(first, Heap) and first.wraps == (node.turning > 0), f"s{k} is a sum")
        parts = first.parts if isinstance(first, Heap) else ()
        _require(len(place.owners) == len(parts), f"s{k}: its heap has {len(parts)} parts")
        for owner, part in zip(place.owners, parts, strict=True):
            _require(owner < len(node.addends), f"s{k} has no addend {owner}")
            check_part(f"s{k}, addend {owner}", node.addends[owner][1], part_reads(part), places)
    else:
        kind = Angles if isinstance(node, Turns) else Lookup
        sources = [item for _, item in node.items] if isinstance(node, Turns) else [node.source]
        allowed = {word for one in sources for word in _of(one, places)}
        for word in every:
            found = graph.nodes[word]
            _require(isinstance(found, kind), f"s{k}: w{word} is no {kind.__name__.lower()}")
            _require(allowed >= set(reads(found)), f"s{k}: w{word} reads a word outside {allowed}")


def _of(node: int, places: Places) -> tuple[int, ...]:
    return places.nodes[node].words if node in places.nodes else ()


def check_part(what: str, nodes: tuple[int, ...], read: tuple[int, ...], places: Places) -> None:
    """Check that a part of a heap reads the words of the nodes that its addend reads."""
    factors = places.nodes[nodes[0]].product if nodes[0] in places.nodes else None
    if len(nodes) == 2:
        good = [(word,) for word in read] == [_of(node, places) for node in nodes]
    elif len(read) == 2:
        good = read == factors
    else:
        good = read[0] in _of(nodes[0], places)
    _require(good, f"{what} reads {', '.join(f'w{word}' for word in read)}")


def _words(load: LoadFiles) -> CheckedCases:
    """Check the program's word formats against `origin`, `sketch` and `graph`."""
    origin, places = read_origin(load.section("origin")), read_places(load.section("graph"))
    sketch, inputs = read_sketch(load.section("sketch")), {one.name for one in origin.inputs}
    try:
        coded = {one["name"]: one["code"] for one in load.document["inputs"]}
        stops = {name: (low, high) for name, low, high in load.document["stops"]}
        words = [(list(coded)[k], bits, dropped) for k, bits, dropped in load.entry["words"]]
        read = [(one.name, one.bits, 0) for one in load.graph.inputs] if load.graph else []
        _require(words == read, f"its inputs are {read}, but the network reads {words}")
        for name in coded:
            _require(name in inputs, f"{name} is no input")
        for one in origin.inputs:
            _input(one, coded.get(one.name), stops.get(one.name))
        for result, entry, output, word in zip(
            sketch.results, load.entry["outputs"], places.outputs,
            load.graph.results if load.graph else (), strict=True,
        ):  # fmt: skip
            _output(result, entry, output, word)
    except (KeyError, TypeError, ValueError, IndexError) as error:
        raise DoesNotHoldError(f"graph: program.json is incomplete ({error!r})") from error
    return CheckedCases(len(coded) + len(sketch.results), f"{len(coded)} inputs read")


def _input(
    one: ClaimedRange, code: dict[str, Any] | None, stop: tuple[float, float] | None
) -> None:
    """Check the range of an input, and the cells of its word."""
    ends = (one.low, one.high)
    _require(stop in (None, ends), f"{one.name} lies in {ends}, but its limits are {stop}")
    if code is None or one.word is None:
        _require(code is None, f"{one.name} has no word")
        return
    low, high = code["range"]
    half = (high - low) / (2 << code["bits"]) if code.get("zero") == "tread" else 0.0
    if not one.word.wraps and stop is None:
        _require(ends == (low, high), f"{one.name} lies in {ends}, but its word is {low} .. {high}")
    cells = (one.word.low, one.word.high, one.word.wraps)
    found = (low - half, high - half, code.get("wraps", False))
    _require(cells == found, f"{one.name} has the cells {cells}, but in the program {found}")
    part = None if one.word.part is None else 2 * math.pi / 2**one.word.part
    whole = part is None or abs(high - low - part) < TURN_ERROR
    _require(whole, f"the word of {one.name} spans no 2^-{one.word.part} of a turn")
    _require(not one.word.wraps or one.word.part == 0, f"{one.name} wraps, but spans no turn")


def _output(
    result: ClaimedResult, entry: dict[str, Any], output: Decoded, word: OutputWord
) -> None:
    """Check that the cells of an output are steps of the sketch, displaced by the shift."""
    code, name, step = entry["code"], result.name, Fraction(result.step)
    low, high = map(Fraction, code["range"])
    tread = code.get("zero") == "tread"
    same = entry["name"] == name and (code["bits"], tread) == (word.bits, word.tread)
    _require(same, f"{name} has a word of {word.bits} bits, but another one in the program")
    middle = Fraction(result.middle) + Fraction(output.shift) * step
    moved = abs((low + high) / 2 - middle) + abs((high - low) - step * 2**word.bits)
    _require(moved <= step * SLACK, f"the cells of {name} are displaced: {code['range']}")
    rest = None if entry.get("rest") is None else tuple(entry["rest"])
    _require(rest == output.rest, f"{name} rests where {rest} are zero, not {output.rest}")


# --------------------------------------------------------------------------------------------------
# The claim of `origin`, `sketch` and `graph` together: words represent functions of the inputs.
#
# An input counts cells of its word from the middle of its range, an angle counts turns, an output
# counts its own steps from the middle of its range.
# --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class InputCells:
    """The allowed values of an input; `cells` of its word span 2^-part of a turn, or its range.

    The word of an input that `wraps` has the same value a whole turn farther. An `exact` input lies
    in the middle of a cell.
    """

    allowed: IntegerSpan
    cells: int
    part: int = 0
    wraps: bool = False
    exact: bool = False


@dataclass(frozen=True, slots=True)
class OutputSteps:
    """An output: its node, and its step in its own unit.

    Its value is that of its cells plus `shift` steps. Where all inputs of `rest` lie in these
    spans, its word may be held at zero.
    """

    name: str
    node: int
    step: Fraction
    shift: Fraction
    rest: Mapping[str, IntegerSpan] | None = None


@dataclass(frozen=True, slots=True)
class Claim:
    """A graph, the functions of the sketch, the words that represent them, inputs and outputs."""

    graph: WordGraph
    functions: tuple[Node, ...]
    places: tuple[ClaimedWords, ...]
    inputs: Mapping[str, InputCells]
    outputs: tuple[OutputSteps, ...]

    def within(self, allowed: Mapping[str, IntegerSpan]) -> Claim:
        """Restrict some inputs to smaller spans."""
        inputs = {
            name: replace(one, allowed=allowed.get(name, one.allowed))
            for name, one in self.inputs.items()
        }
        return replace(self, inputs=inputs)

    def needed(self, place: int) -> list[int]:
        """Return a function and all functions that it depends on, in order."""
        waiting, found = [place], set[int]()
        while waiting:
            k = waiting.pop()
            if k not in found:
                found.add(k)
                waiting += functions_read(self.functions[k])
        return sorted(found)


def functions_read(function: Node) -> list[int]:
    """Return the functions that a function depends on directly."""
    if isinstance(function, Turns):
        return [item for _, item in function.items]
    if isinstance(function, ClaimedTotal):
        return [k for _, read in function.addends for k in read]
    return [] if isinstance(function, ClaimedInput) else [function.source]


ROUNDED = Fraction(1, 1 << 40)  # of a cell: rounding of the doubles that limit a word


def claim_of(load: LoadFiles) -> Claim:
    """Combine the sections of a load."""
    sketch, places = read_sketch(load.section("sketch")), read_places(load.section("graph"))
    origin = {one.name: one for one in read_origin(load.section("origin")).inputs}
    names = [one.name for one in places.outputs]
    if load.graph is None or [one.name for one in sketch.results] != names:
        raise DoesNotHoldError("the program has no word graph, or its sketch has other outputs")
    words, inputs, zeros = {}, {}, {}
    for node in sketch.nodes:
        if not isinstance(node, ClaimedInput):
            continue
        one = origin.get(node.name)
        if one is None or one.word is None or (node.angle and one.word.part is None):
            raise DoesNotHoldError(f"{node.name} is no input with such a word")
        words[node.name] = one.word
        low, high = (_units(end, one.word, angle=node.angle) for end in (one.low, one.high))
        inputs[node.name] = InputCells(
            IntegerSpan(low.low, high.high),
            1 << one.word.bits,
            one.word.part or 0 if node.angle else 0,
            one.word.wraps,
            one.word.exact,
        )
    for name, word in words.items():
        zeros[name] = _units(0.0, word, angle=False) + IntegerSpan(-ONE, ONE)
    outputs = tuple(
        OutputSteps(
            one.name, one.node, Fraction(one.step), Fraction(end.shift),
            None if end.rest is None else {name: zeros[name] for name in end.rest if name in zeros},
        )
        for one, end in zip(sketch.results, places.outputs, strict=True)
    )  # fmt: skip
    claimed = tuple(places.nodes.get(k, ClaimedWords(())) for k in range(len(sketch.nodes)))
    if any(k >= len(load.graph.nodes) for one in claimed for k in all_words(one)):
        raise DoesNotHoldError("the section graph names a word that the graph does not have")
    return Claim(load.graph, sketch.nodes, claimed, inputs, outputs)


def all_words(place: ClaimedWords) -> tuple[int, ...]:
    return place.words + (place.product or ())


def _units(value: float, word: ClaimedWord, *, angle: bool) -> IntegerSpan:
    """Return a value of an input in the unit of the sketch."""
    low, high = Fraction(word.low), Fraction(word.high)
    rounding = IntegerSpan(-int(ONE * ROUNDED), int(ONE * ROUNDED))
    if not angle:
        steps = (Fraction(value) - (low + high) / 2) * (1 << word.bits) / (high - low)
        return exactly(steps) + rounding
    ends = [(Fraction(value) - low) / end for end in two_pi().ends]
    half = exactly(Fraction(1, 2))
    return (
        IntegerSpan(exactly(min(ends)).low, exactly(max(ends)).high)
        - half
        + rounding.times(Fraction(1, 1 << word.bits))
    )
