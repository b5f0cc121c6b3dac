"""What the words of a graph are said to stand for: functions of the inputs, node by node.

An input counts cells of its word from the middle of its range, an angle turns, an output its own
steps from the middle of its range.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import TYPE_CHECKING

from boolcomp.checker.claims.nodes import Given, Total, Turns, read_sketch
from boolcomp.checker.claims.places import Place, read_places
from boolcomp.checker.cones import moved_by
from boolcomp.checker.origin import read_origin
from boolcomp.checker.spans import ONE, Span, between, exactly, two_pi
from boolcomp.checker.steps import DoesNotHoldError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from boolcomp.checker.claims.nodes import Node
    from boolcomp.checker.folder import LoadFiles
    from boolcomp.checker.origin import Word
    from boolcomp.words.graph import WordGraph


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
