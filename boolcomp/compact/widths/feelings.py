"""How strongly torques feel errors of words: the adjoint of a sketch over sampled states."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from boolcomp.compact.sketch.sketch import (
    TURN,
    Addend,
    AngleSum,
    Linear,
    Powers,
    Sketch,
    SketchNode,
    Sum,
    Waves,
    addend_value,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Feeling:
    """Mean squares, one for every torque, of how it feels an error; lists follow the addends."""

    value: Floats  # of a node's own value
    slope: Floats  # of a table's argument
    read_a: tuple[Floats, ...]  # of the words that products read
    read_b: tuple[Floats, ...]
    size: tuple[Floats, ...]  # of an addend, relative to itself
    spread: tuple[Floats, ...]  # of putting an addend's mean in its place


def stacked(one: Feeling, other: Feeling) -> Feeling:
    """Return the rows of both."""

    def both(x: tuple[Floats, ...], y: tuple[Floats, ...]) -> tuple[Floats, ...]:
        return tuple(np.concatenate(pair) for pair in zip(x, y, strict=True))

    return Feeling(
        np.concatenate([one.value, other.value]),
        np.concatenate([one.slope, other.slope]),
        both(one.read_a, other.read_a),
        both(one.read_b, other.read_b),
        both(one.size, other.size),
        both(one.spread, other.spread),
    )


def feelings(sketch: Sketch, values: Sequence[Floats], *, apart: bool = False) -> list[Feeling]:
    """Walk back from the torques: how they change with every node's value.

    Where the states of the torques are `apart`, each torque is only asked at its own.
    """
    shape = (len(sketch.outputs), len(values[sketch.outputs[0]]))
    adjoint = [np.zeros(shape) for _ in sketch.nodes]
    for joint, place in enumerate(sketch.outputs):
        if apart:
            adjoint[place][joint, _own_states(joint, *shape)] += math.sqrt(shape[0])
        else:
            adjoint[place][joint] += 1
    found: list[Feeling] = []
    for place in reversed(range(len(sketch.nodes))):
        node, felt = sketch.nodes[place], adjoint[place]
        slope, lists = np.zeros(shape[0]), _Lists([], [], [], [])
        if isinstance(node, AngleSum):
            for item, multiple in node.items:
                adjoint[item] += multiple * felt * _radians(sketch.nodes[item])
        elif isinstance(node, Waves):
            felt_angle = felt * node.slope(sketch.angle(node.source, values))
            slope = _square(felt_angle)
            adjoint[node.source] += felt_angle * _radians(sketch.nodes[node.source])
        elif isinstance(node, Powers):
            felt_x = felt * node.slope(values[node.source])
            slope = _square(felt_x)
            adjoint[node.source] += felt_x
        elif isinstance(node, Sum):
            for addend in node.addends:
                _feel(addend, felt, values, adjoint, lists)
        size, spread = tuple(lists.size), tuple(lists.spread)
        feeling = Feeling(_square(felt), slope, tuple(lists.a), tuple(lists.b), size, spread)
        found.append(feeling)
    return found[::-1]


def _radians(node: SketchNode) -> float:
    """Return what a unit of an angle is: a sum counts small parts of a turn, all else radians."""
    return 2 * math.pi / (1 << TURN) if isinstance(node, Sum) else 1.0


def _own_states(joint: int, joints: int, count: int) -> slice:
    """Return the states of a torque, of states that stand torque after torque."""
    return slice(joint * count // joints, (joint + 1) * count // joints)


@dataclass(frozen=True, slots=True)
class _Lists:
    a: list[Floats]
    b: list[Floats]
    size: list[Floats]
    spread: list[Floats]


def _feel(
    addend: Addend, felt: Floats, values: Sequence[Floats], adjoint: list[Floats], lists: _Lists
) -> None:
    value = addend_value(addend, values)
    lists.size.append(_square(felt * value))
    lists.spread.append(_square(felt * (value - value.mean())))
    if isinstance(addend, Linear):
        adjoint[addend.node] += addend.factor * felt
        lists.a.append(np.zeros(len(felt)))
        lists.b.append(np.zeros(len(felt)))
        return
    felt_a = addend.factor * felt * values[addend.b]
    felt_b = addend.factor * felt * values[addend.a]
    adjoint[addend.a] += felt_a
    adjoint[addend.b] += felt_b
    lists.a.append(_square(felt_a))
    lists.b.append(_square(felt_b))


def _square(felt: Floats) -> Floats:
    return np.asarray((felt * felt).mean(axis=1))
