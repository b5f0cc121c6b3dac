"""Checks the section `graph` (see `places`), and that words are coded as the program says."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from boolcomp.checker.claims.nodes import Given, Total, Turns, read_sketch
from boolcomp.checker.claims.places import read_places
from boolcomp.checker.origin import read_origin
from boolcomp.checker.steps import DoesNotHoldError, Found, checked
from boolcomp.words.graph import Angles, Heap, InputWord, Lookup, part_reads, reads

if TYPE_CHECKING:
    from collections.abc import Iterator

    from boolcomp.checker.claims.nodes import Result, Sketch
    from boolcomp.checker.claims.places import Decoded, Places
    from boolcomp.checker.folder import LoadFiles
    from boolcomp.checker.origin import Input
    from boolcomp.checker.steps import Step
    from boolcomp.words.graph import OutputWord, WordGraph

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
