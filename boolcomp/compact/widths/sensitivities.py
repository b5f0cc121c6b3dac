"""How sensitive outputs are to errors of words: the adjoint of a sketch over sampled states."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from boolcomp.compact.sketch.sketch import (
    TURN,
    Addend,
    AngleSum,
    Curve,
    Linear,
    Sketch,
    SketchNode,
    Source,
    Table,
    WordSum,
    addend_value,
)
from boolcomp.compact.widths.norms import MEAN_SQUARE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from boolcomp.compact.widths.norms import Norm

    Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Sensitivity:
    """Mean squares of derivatives, or another norm of them, one for every output.

    Tuples follow the addends.
    """

    value: Floats  # of a node's own value
    slope: Floats  # of a table's argument
    read_a: tuple[Floats, ...]  # of the words that products read
    read_b: tuple[Floats, ...]
    size: tuple[Floats, ...]  # of an addend, relative to itself
    spread: tuple[Floats, ...]  # of putting an addend's mean in its place


def stacked(one: Sensitivity, other: Sensitivity) -> Sensitivity:
    """Return the rows of both."""

    def both(x: tuple[Floats, ...], y: tuple[Floats, ...]) -> tuple[Floats, ...]:
        return tuple(np.concatenate(pair) for pair in zip(x, y, strict=True))

    return Sensitivity(
        np.concatenate([one.value, other.value]),
        np.concatenate([one.slope, other.slope]),
        both(one.read_a, other.read_a),
        both(one.read_b, other.read_b),
        both(one.size, other.size),
        both(one.spread, other.spread),
    )


def sensitivities(
    sketch: Sketch,
    values: Sequence[Floats],
    norm: Norm = MEAN_SQUARE,
    *,
    apart: bool = False,
    reach: Floats | None = None,
) -> list[Sensitivity]:
    """Walk back from the outputs: how they change with every node's value.

    Where the states of the outputs are `apart`, each output is only asked at its own. An output
    that saturates beyond its `reach` does not change there.
    """
    shape = (len(sketch.outputs), len(values[sketch.outputs[0]]))
    adjoint = [np.zeros(shape) for _ in sketch.nodes]
    for output, place in enumerate(sketch.outputs):
        if apart:
            adjoint[place][output, _own_states(output, *shape)] += math.sqrt(shape[0])
        elif reach is not None:
            adjoint[place][output] += within(values[place], reach[output])
        else:
            adjoint[place][output] += 1
    found: list[Sensitivity] = []
    for place in reversed(range(len(sketch.nodes))):
        node, own = sketch.nodes[place], adjoint[place]
        slope, addends = np.zeros(shape[0]), _Addends(norm, [], [], [], [])
        if isinstance(node, AngleSum):
            for item, multiple in node.items:
                adjoint[item] += multiple * own * _radians(sketch.nodes[item])
        elif isinstance(node, Table):
            argument = sketch.argument(node, values)
            by_word = own * _steepness(sketch, node, argument)
            slope = norm.size(by_word)
            unit = _radians(sketch.nodes[node.source]) if node.angle else 1.0
            adjoint[node.source] += by_word * unit
        elif isinstance(node, WordSum):
            for addend in node.addends:
                addends.walk_back(addend, own, values, adjoint)
        found.append(Sensitivity(norm.size(own), slope, *addends.frozen()))
    return found[::-1]


def within(values: Floats, reach: float) -> NDArray[np.bool_]:
    """Return at which states an output does not saturate; all, where it would at every state."""
    inside = np.asarray(np.abs(values) <= reach)
    return inside if inside.any() else np.ones_like(inside)


def _steepness(sketch: Sketch, table: Table, argument: Floats) -> Floats:
    """Return by how much a table's value changes with its argument."""
    if not isinstance(table, Curve):
        return table.slope(argument)
    return table.steepness(argument, exact=isinstance(sketch.nodes[table.source], Source))


def _radians(node: SketchNode) -> float:
    """Return what a unit of an angle is: a sum counts small parts of a turn, all else radians."""
    return 2 * math.pi / (1 << TURN) if isinstance(node, WordSum) else 1.0


def _own_states(output: int, outputs: int, count: int) -> slice:
    """Return the states of an output, of states that stand output after output."""
    return slice(output * count // outputs, (output + 1) * count // outputs)


@dataclass(frozen=True, slots=True)
class _Addends:
    """The lists of a sensitivity while they are made."""

    norm: Norm
    read_a: list[Floats]
    read_b: list[Floats]
    size: list[Floats]
    spread: list[Floats]

    def walk_back(
        self, addend: Addend, own: Floats, values: Sequence[Floats], adjoint: list[Floats]
    ) -> None:
        """Note an addend of a sum whose adjoint is known, and hand that on to what it reads."""
        value = addend_value(addend, values)
        self.size.append(self.norm.size(own * value))
        self.spread.append(self.norm.size(own * (value - value.mean())))
        if isinstance(addend, Linear):
            adjoint[addend.node] += addend.factor * own
            self.read_a.append(np.zeros(len(own)))
            self.read_b.append(np.zeros(len(own)))
            return
        by_a = addend.factor * own * values[addend.b]
        by_b = addend.factor * own * values[addend.a]
        adjoint[addend.a] += by_a
        adjoint[addend.b] += by_b
        self.read_a.append(self.norm.size(by_a))
        self.read_b.append(self.norm.size(by_b))

    def frozen(self) -> tuple[tuple[Floats, ...], ...]:
        """Return all lists as they stand in a sensitivity."""
        return tuple(self.read_a), tuple(self.read_b), tuple(self.size), tuple(self.spread)
