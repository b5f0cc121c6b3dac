"""The section `graph`: which words of the graph stand for what of the sketch.

    s0 = w0                              a word
    s3 = w7 w8                           words that add up
    s4 = w7 w8 times w9 w10              and two whose product is added to them
    s7 = w11 of 0 0 1                    a heap: its parts, in order, belong to these addends
    tau1 = shift -0.125 rest qd1 qd2     an output's words stand for so many steps more than their
                                         cells; where these inputs say zero it is held at zero

What a word counts (its unit and offset) the graph says itself; nodes that are not needed have no
line. How far words are from what they stand for is for the bound to find: a map that is wrong makes
that larger. Here is checked that it is one: that words read those of the nodes that theirs read.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from boolcomp.common.errors import DataError, shown

if TYPE_CHECKING:
    from collections.abc import Mapping

    from boolcomp.checker.container import Section

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
