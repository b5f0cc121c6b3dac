"""Checks the section `graph` (see `places`), and that words are coded as the program says."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from boolcomp.base.errors import DataError, shown
from boolcomp.checker.folder import DoesNotHoldError, Found, checked
from boolcomp.checker.network import moved_by
from boolcomp.checker.problem import Given, Total, Turns, read_origin, read_sketch
from boolcomp.checker.spans import ONE, Span, between, exactly, two_pi
from boolcomp.words.graph import Angles, Heap, InputWord, Lookup, part_reads, reads

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from boolcomp.checker.folder import LoadFiles, Section, Step
    from boolcomp.checker.problem import Input, Node, Result, Sketch, Word
    from boolcomp.words.graph import OutputWord, WordGraph


# --------------------------------------------------------------------------------------------------
# The section `graph`: which words of the graph stand for what of the sketch.
#
#     s0 = w0                              a word
#     s3 = w7 w8                           words that add up
#     s4 = w7 w8 times w9 w10              and two whose product is added to them
#     s7 = w11 of 0 0 1                    a heap: its parts, in order, belong to these addends
#     tau1 = shift -0.125 rest qd1 qd2     an output's words stand for so many steps more than their
#                                          cells; where these inputs say zero it is held at zero
#
# What a word counts (its unit and offset) the graph says itself; nodes that are not needed have no
# line. How far words are from what they stand for is for the bound to find: a map that is wrong
# makes that larger. Here is checked that it is one: that words read those of the nodes that theirs
# read.
# --------------------------------------------------------------------------------------------------


_PLACE = re.compile(r"s(\d{1,6}) =((?: w\d{1,6})+)( times w\d{1,6} w\d{1,6})?(?: of([ \d]+))?")
_OUTPUT = re.compile(r"(\w+) = shift (-?[0-9.e+-]+)(?: rest((?: \w+)*))?")


@dataclass(frozen=True, slots=True)
class Place:
    """Words that add up, two whose product is added to them, and the addends of a heap's parts."""

    words: tuple[int, ...]
    product: tuple[int, int] | None = None
    owners: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Decoded:
    """What an output's words stand for beside their cells, and where it is held at zero."""

    name: str
    shift: float
    rest: tuple[str, ...] | None


@dataclass(frozen=True, slots=True)
class Places:
    """Where nodes of the sketch stand, by their numbers, and the outputs."""

    nodes: Mapping[int, Place]
    outputs: tuple[Decoded, ...]


def read_places(section: Section) -> Places:
    """Read the section; a `DataError` names the line that is wrong."""
    nodes: dict[int, Place] = {}
    outputs: list[Decoded] = []
    for row, line in enumerate(section.lines):
        place, output = _PLACE.fullmatch(line), _OUTPUT.fullmatch(line)
        if place and not outputs and int(place[1]) not in nodes:
            a, b = map(int, re.findall(r"\d+", place[3])) if place[3] else (0, 0)
            owners = tuple(map(int, (place[4] or "").split()))
            words = tuple(map(int, re.findall(r"\d+", place[2])))
            nodes[int(place[1])] = Place(words, (a, b) if place[3] else None, owners)
        elif output and not place:
            rest = None if output[3] is None else tuple(output[3].split())
            outputs.append(Decoded(output[1], _shift(output[2], section.where(row)), rest))
        else:
            raise DataError(f"{section.where(row)}: {shown(line)} is no place of a node")
    return Places(nodes, tuple(outputs))


def _shift(text: str, where: str) -> float:
    try:
        return float(text)
    except ValueError as error:
        raise DataError(f"{where}: {shown(text)} is no number") from error


# --------------------------------------------------------------------------------------------------
# Checks the section `graph` (see `places`), and that words are coded as the program says.
# --------------------------------------------------------------------------------------------------


SLACK = Fraction(1, 1 << 40)  # of a step: doubles of program.json are rounded
TURN_ERROR = 1e-9  # rad: such a word is a turn, or a part of one


def check_graph(load: LoadFiles) -> Iterator[Step]:
    """Yield what is checked of a load's section."""
    yield checked("sketch to graph", "map of nodes: words read what nodes read", lambda: _map(load))
    yield checked("words", "cells and codes beside program.json", lambda: _words(load))


def _require(holds: object, what: str) -> None:
    if not holds:
        raise DoesNotHoldError(f"graph: {what}")


def _map(load: LoadFiles) -> Found:
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
            _of(one.node, places) == (word.node,), f"{one.name} is w{word.node}: no s{one.node}"
        )
        _require(word.drop == -lsb, f"{one.name} drops {word.drop} bits of a word of unit 2^{lsb}")
    return Found(len(places.nodes), f"{len(load.graph.nodes)} words, {len(names)} outputs")


def _node(k: int, sketch: Sketch, places: Places, graph: WordGraph) -> None:
    """Check that the words of a node are of its kind, and read those of the nodes it reads."""
    node, place = sketch.nodes[k], places.nodes[k]
    every = (*place.words, *(place.product or ()))
    _require(max(every) < len(graph.nodes), f"s{k}: w{max(every)} is no word")
    first = graph.nodes[place.words[0]]
    if isinstance(node, (Given, Turns, Total)):
        _require(len(every) == 1, f"s{k} is one word, not {len(every)}")
    if isinstance(node, Given):
        same = isinstance(first, InputWord) and first.name == node.name
        _require(same and first.angle == node.angle, f"s{k} is the input {node.name}: w{every[0]}")  # type: ignore[union-attr]  # (an input)
    elif isinstance(node, Total):
        _require(isinstance(first, Heap) and first.wraps == (node.turning > 0), f"s{k} is a sum")
        parts = first.parts if isinstance(first, Heap) else ()
        _require(len(place.owners) == len(parts), f"s{k}: its heap has {len(parts)} parts")
        for owner, part in zip(place.owners, parts, strict=True):
            _require(owner < len(node.addends), f"s{k} has no addend {owner}")
            check_part(f"s{k}, addend {owner}", node.addends[owner][1], part_reads(part), places)
    else:
        kind = Angles if isinstance(node, Turns) else Lookup
        sources = [item for _, item in node.items] if isinstance(node, Turns) else [node.source]
        known = {word for one in sources for word in _of(one, places)}
        for word in every:
            found = graph.nodes[word]
            _require(isinstance(found, kind), f"s{k}: w{word} is no {kind.__name__.lower()}")
            _require(known >= set(reads(found)), f"s{k}: w{word} reads another word than w{known}")


def _of(node: int, places: Places) -> tuple[int, ...]:
    return places.nodes[node].words if node in places.nodes else ()


def check_part(what: str, nodes: tuple[int, ...], read: tuple[int, ...], places: Places) -> None:
    """Check that a part of a heap reads words of what its addend reads."""
    factors = places.nodes[nodes[0]].product if nodes[0] in places.nodes else None
    if len(nodes) == 2:
        good = [(word,) for word in read] == [_of(node, places) for node in nodes]
    elif len(read) == 2:
        good = read == factors
    else:
        good = read[0] in _of(nodes[0], places)
    _require(good, f"{what} reads {', '.join(f'w{word}' for word in read)}")


def _words(load: LoadFiles) -> Found:
    """Check that the program codes the words that the graph reads and makes, as it is said here."""
    origin, places = read_origin(load.section("origin")), read_places(load.section("graph"))
    sketch, known = read_sketch(load.section("sketch")), {one.name: one for one in origin.inputs}
    try:
        coded = {one["name"]: one["code"] for one in load.document["inputs"]}
        stops = {name: (low, high) for name, low, high in load.document["stops"]}
        words = [(list(coded)[k], bits, dropped) for k, bits, dropped in load.said["words"]]
        read = [(one.name, one.bits, 0) for one in load.graph.inputs] if load.graph else []
        _require(words == read, f"its inputs are {read}, and the network reads {words}")
        for name in coded:
            _require(name in known, f"{name} is no input")
        for one in origin.inputs:
            _input(one, coded.get(one.name), stops.get(one.name))
        for result, said, output, word in zip(
            sketch.results, load.said["outputs"], places.outputs,
            load.graph.results if load.graph else (), strict=True,
        ):  # fmt: skip
            _output(result, said, output, word)
    except (KeyError, TypeError, ValueError, IndexError) as error:
        raise DoesNotHoldError(
            f"graph: program.json lacks what it should say ({error!r})"
        ) from error
    return Found(len(coded) + len(sketch.results), f"{len(coded)} inputs read")


def _input(one: Input, code: dict[str, Any] | None, stop: tuple[float, float] | None) -> None:
    """Check the range of an input, and the cells of its word."""
    said = (one.low, one.high)
    _require(stop in (None, said), f"{one.name} lies in {said}, and the program says {stop}")
    if code is None or one.word is None:
        _require(code is None, f"{one.name} has no word")
        return
    low, high = code["range"]
    half = (high - low) / (2 << code["bits"]) if code.get("zero") == "tread" else 0.0
    if not one.word.wraps and stop is None:
        _require(said == (low, high), f"{one.name} lies in {said}, and its word is {low} .. {high}")
    cells = (one.word.low, one.word.high, one.word.wraps)
    found = (low - half, high - half, code.get("wraps", False))
    _require(cells == found, f"{one.name} has the cells {cells}, and the program {found}")
    part = None if one.word.part is None else 2 * math.pi / 2**one.word.part
    whole = part is None or abs(high - low - part) < TURN_ERROR
    _require(whole, f"the word of {one.name} spans no 2^-{one.word.part} of a turn")
    _require(not one.word.wraps or one.word.part == 0, f"{one.name} wraps, and spans no turn")


def _output(result: Result, said: dict[str, Any], output: Decoded, word: OutputWord) -> None:
    """Check that an output's cells are steps of the sketch, moved by the shift that is said."""
    code, name, step = said["code"], result.name, Fraction(result.step)
    low, high = map(Fraction, code["range"])
    tread = code.get("zero") == "tread"
    same = said["name"] == name and (code["bits"], tread) == (word.bits, word.tread)
    _require(same, f"{name} has a word of {word.bits} bits, and the program says another one")
    middle = Fraction(result.middle) + Fraction(output.shift) * step
    moved = abs((low + high) / 2 - middle) + abs((high - low) - step * 2**word.bits)
    _require(moved <= step * SLACK, f"{name} has its cells elsewhere: {code['range']}")
    rest = None if said.get("rest") is None else tuple(said["rest"])
    _require(rest == output.rest, f"{name} rests where {rest} are zero, not {output.rest}")


# --------------------------------------------------------------------------------------------------
# What the words of a graph are said to stand for: functions of the inputs, node by node.
#
# An input counts cells of its word from the middle of its range, an angle turns, an output its own
# steps from the middle of its range.
# --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class InputCells:
    """Where an input may be, and over how many cells its word spans 2^-part of a turn, or all.

    A word that `wraps` takes a whole turn more for the same. An `exact` input lies in the middle
    of one of these cells.
    """

    allowed: Span
    cells: int
    part: int = 0
    wraps: bool = False
    exact: bool = False


@dataclass(frozen=True, slots=True)
class OutputSteps:
    """An output: its node, and a step in its own unit.

    Its words stand for `shift` steps more than their cells say. Where inputs lie in `rest`, if that
    is said, its word may be held at zero.
    """

    name: str
    node: int
    step: Fraction
    shift: Fraction
    rest: Mapping[str, Span] | None = None


@dataclass(frozen=True, slots=True)
class Claim:
    """A graph, the functions that its words are said to stand for, where they stand, outputs.

    By how many of their steps words are `moved` by cones, at least and at most, stands beside.
    """

    graph: WordGraph
    functions: tuple[Node, ...]
    places: tuple[Place, ...]
    inputs: Mapping[str, InputCells]
    outputs: tuple[OutputSteps, ...]
    moved: Mapping[int, tuple[int, int]] = field(default_factory=dict)

    def beside(self, word: int) -> Span:
        """Return by how many of its steps cones move a word."""
        return between(*self.moved.get(word, (0, 0)))

    def within(self, allowed: Mapping[str, Span]) -> Claim:
        """Return the same for some inputs that may be in fewer places."""
        inputs = {
            name: replace(one, allowed=allowed.get(name, one.allowed))
            for name, one in self.inputs.items()
        }
        return replace(self, inputs=inputs)

    def needed(self, place: int) -> list[int]:
        """Return a function and all that it reads, in their order."""
        waiting, found = [place], set[int]()
        while waiting:
            k = waiting.pop()
            if k in found:
                continue
            found.add(k)
            function = self.functions[k]
            if isinstance(function, Turns):
                waiting += [item for _, item in function.items]
            elif isinstance(function, Total):
                waiting += [n for _, read in function.addends for n in read]
            elif not isinstance(function, Given):
                waiting.append(function.source)
        return sorted(found)


ROUNDED = Fraction(1, 1 << 40)  # of a cell: what doubles of words' ends are off by


def claim_of(load: LoadFiles) -> Claim:
    """Return what the sections of a load say."""
    sketch, places = read_sketch(load.section("sketch")), read_places(load.section("graph"))
    origin = {one.name: one for one in read_origin(load.section("origin")).inputs}
    names = [one.name for one in places.outputs]
    if load.graph is None or [one.name for one in sketch.results] != names:
        raise DoesNotHoldError("the program has no word graph, or other outputs than its sketch")
    words, inputs, zeros = {}, {}, {}
    for node in sketch.nodes:
        if not isinstance(node, Given):
            continue
        one = origin.get(node.name)
        if one is None or one.word is None or (node.angle and one.word.part is None):
            raise DoesNotHoldError(f"{node.name} is no input that has such a word")
        words[node.name] = one.word
        low, high = (_units(end, one.word, angle=node.angle) for end in (one.low, one.high))
        inputs[node.name] = InputCells(
            Span(low.low, high.high), 1 << one.word.bits, one.word.part or 0 if node.angle else 0,
            one.word.wraps, one.word.exact,
        )  # fmt: skip
    for name, word in words.items():
        zeros[name] = _units(0.0, word, angle=False) + Span(-ONE, ONE)
    outputs = tuple(
        OutputSteps(
            one.name, one.node, Fraction(one.step), Fraction(end.shift),
            None if end.rest is None else {name: zeros[name] for name in end.rest if name in zeros},
        )
        for one, end in zip(sketch.results, places.outputs, strict=True)
    )  # fmt: skip
    stands = tuple(places.nodes.get(k, Place(())) for k in range(len(sketch.nodes)))
    if any(k >= len(load.graph.nodes) for one in stands for k in all_words(one)):
        raise DoesNotHoldError("a function stands at a word that there is not")
    moved = moved_by(load.graph, load.sections)
    return Claim(load.graph, sketch.nodes, stands, inputs, outputs, moved)


def all_words(place: Place) -> tuple[int, ...]:
    """Return all words that stand for a function."""
    return place.words + (place.product or ())


def _units(value: float, word: Word, *, angle: bool) -> Span:
    """Return a value of an input as a sketch counts it."""
    low, high = Fraction(word.low), Fraction(word.high)
    beside = Span(-int(ONE * ROUNDED), int(ONE * ROUNDED))
    if not angle:
        steps = (Fraction(value) - (low + high) / 2) * (1 << word.bits) / (high - low)
        return exactly(steps) + beside
    ends = [(Fraction(value) - low) / end for end in two_pi().ends]
    half = exactly(Fraction(1, 2))
    return (
        Span(exactly(min(ends)).low, exactly(max(ends)).high)
        - half
        + beside.times(Fraction(1, 1 << word.bits))
    )
