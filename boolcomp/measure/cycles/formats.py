"""Formats of 16-bit fixed point for every value of a straight-line program.

A value v is the integer v 2^f. No f is larger than its largest value allows (`tops`), and none
larger than those who read it need: a sum its own, a product all there are. Products of two values
in 16 bits are moved down by 16 bits at least, which costs nothing, and up again by `up` at most.
Angles are whole turns in 2^16, and wrap.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from boolcomp.problem.expressions.rules import OPERATIONS

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from numpy.typing import NDArray

    from boolcomp.problem.expressions.straight import Operation, Straight

    Floats = NDArray[np.float64]

WORD = 16
MARGIN = 1.15  # times the largest value that was met
WAVE = WORD - 1  # binary places of a sine
KINDS = frozenset(("input", "constant", "add", "sub", "neg", "mul", "sin", "cos"))
WAVES = frozenset(("sin", "cos"))


@dataclass(frozen=True, slots=True)
class Formats:
    """The binary places of every node; those of angles and constants mean nothing."""

    places: tuple[int, ...]
    angles: frozenset[int]


def angles_of(program: Straight, turning: Collection[str]) -> frozenset[int] | str:
    """Return the nodes that are angles: inputs that turn, and their sums; or who reads them else.

    Everybody else would have to know how many turns they made.
    """
    found: set[int] = set()
    for place, node in enumerate(program.nodes):
        reads = [k in found for k in node.operands]
        linear = node.kind in ("add", "sub", "neg")
        if (node.kind == "input" and node.name in turning) or (linear and reads and all(reads)):
            found.add(place)
        elif any(reads) and node.kind not in WAVES:
            return f"an angle is read by {node.kind}"
    return frozenset(found)


def tops(program: Straight, columns: Mapping[str, Floats]) -> list[int]:
    """Return the most binary places that every node's largest value allows."""
    values: list[Floats] = []
    found = []
    for node in program.nodes:
        values.append(_value(node, values, columns))
        most = float(np.abs(values[-1]).max()) * MARGIN
        found.append(WORD - 1 - math.ceil(math.log2(most)) if most > 0 else WORD - 1)
    return found


def _value(node: Operation, values: list[Floats], columns: Mapping[str, Floats]) -> Floats:
    if node.kind == "input":
        return columns[node.name]
    if node.kind == "constant":
        return np.array([node.value])
    if node.kind == "neg":
        return -values[node.operands[0]]
    operands = [values[k] for k in node.operands]
    waves = {"sin": np.sin, "cos": np.cos}
    function = waves[node.kind] if node.kind in waves else OPERATIONS[node.kind]
    return np.asarray(function(*operands))


def formats(program: Straight, most: list[int], angles: frozenset[int], up: int) -> Formats:
    """Choose the places of every node: first what readers need, then what products have."""
    nodes = program.nodes
    wanted = [-math.inf] * len(nodes)
    for one in program.outputs:
        wanted[one.node] = math.inf
    places = list(most)
    for place in reversed(range(len(nodes))):
        node = nodes[place]
        if node.kind in ("add", "sub", "neg"):
            operands = max(most[k] for k in node.operands)
            places[place] = int(min(most[place], wanted[place], operands))
        elif node.kind == "mul":
            places[place] = int(min(most[place], wanted[place]))
        elif node.kind in WAVES:
            places[place] = WAVE
        for k in node.operands:
            need = places[place] if node.kind in ("add", "sub", "neg") else math.inf
            wanted[k] = max(wanted[k], need)
    for place, node in enumerate(nodes):
        if node.kind == "mul" and not any(nodes[k].kind == "constant" for k in node.operands):
            natural = sum(places[k] for k in node.operands) - WORD
            places[place] = min(places[place], natural + up)
    return Formats(tuple(places), angles)
