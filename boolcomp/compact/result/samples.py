"""Seeded states of a robot as words: what a graph reads, and what its sketch reads."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from boolcomp.problem.dynamics import inverse_dynamics

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from boolcomp.compact.sketch.poly import Quantity
    from boolcomp.problem.robot import Robot
    from boolcomp.words.graph import Graph
    from boolcomp.words.simulate import Simulated

    Floats = NDArray[np.float64]
    Words = NDArray[np.int64]

KINDS = ("q", "qd", "qdd")
ATTRIBUTES = ("position", "velocity", "acceleration")


@dataclass(frozen=True, slots=True, eq=False)
class States:
    """States by name of input: words, and values in units of words; torques in their steps."""

    words: dict[str, Words]
    values: dict[str, Floats]
    torques: Floats


def draw(
    robot: Robot, quantities: Mapping[str, Quantity], steps: Sequence[float], count: int, seed: int
) -> States:
    """Return seeded states, uniform over the robot's ranges."""
    return states_of(robot, quantities, steps, uniform(robot, count, seed))


def uniform(robot: Robot, count: int, seed: int) -> list[Floats]:
    """Return q, qd and qdd, (count, joints) each, uniform over the robot's ranges."""
    rng = np.random.default_rng(seed)
    arrays = []
    for attribute in ATTRIBUTES:
        ranges = [getattr(link, attribute) for link in robot.links]
        low, high = [r.low for r in ranges], [r.high for r in ranges]
        arrays.append(rng.uniform(low, high, (count, robot.joints)))
    return arrays


def corners(
    robot: Robot, quantities: Mapping[str, Quantity], steps: Sequence[float], count: int, seed: int
) -> States:
    """Return seeded states whose speeds and accelerations lie at the ends of their ranges.

    Every word but squares is linear in them, so that is where it is largest. Half of the angles
    are multiples of π/4, where sums of few waves are.
    """
    rng = np.random.default_rng(seed)
    arrays = []
    for attribute in ATTRIBUTES:
        ranges = [getattr(link, attribute) for link in robot.links]
        if attribute == "position":  # beyond the stops the logic holds, too
            ranges = [link.span.reach for link in robot.links]
        low, high = np.array([r.low for r in ranges]), np.array([r.high for r in ranges])
        drawn = rng.uniform(low, high, (count, robot.joints))
        if attribute != "position":
            drawn = np.where(rng.random(drawn.shape) < 0.5, low, high)
        else:
            grid = np.clip(np.round(drawn / (math.pi / 4)) * (math.pi / 4), low, high)
            drawn = np.where(rng.random(drawn.shape) < 0.5, grid, drawn)
        arrays.append(drawn)
    return states_of(robot, quantities, steps, arrays)


def states_of(
    robot: Robot,
    quantities: Mapping[str, Quantity],
    steps: Sequence[float],
    arrays: Sequence[Floats],
) -> States:
    """Return given states, (samples, joints) each, as words; values keep what words round away."""
    words, values = {}, {}
    for kind, array in zip(KINDS, arrays, strict=True):
        for joint in range(1, robot.joints + 1):
            word = quantities.get(f"{kind}{joint}")
            if word is not None:  # else it is a single value
                column = array[:, joint - 1]
                words[word.name] = word.cells(column)
                values[word.name] = word_value(word, column)
    return States(words, values, inverse_dynamics(robot, *arrays) / np.asarray(steps))


def joined(first: States, second: States) -> States:
    """Return both states, one after the other."""
    return States(
        {name: np.concatenate([w, second.words[name]]) for name, w in first.words.items()},
        {name: np.concatenate([v, second.values[name]]) for name, v in first.values.items()},
        np.concatenate([first.torques, second.torques]),
    )


def word_value(word: Quantity, column: Floats) -> Floats:
    """Return values in units of the word; an angle over part of a turn in radians.

    Angles count from half a turn above the word's lowest border.
    """
    if word.part is not None:
        return column - (word.range.low + math.pi)
    return (column - word.range.centre) / word.step


def torque_values(graph: Graph, simulated: Simulated) -> Floats:
    """Return the torques that words stand for, in their steps."""
    halves = [2.0 ** (result.bits - 1) - 0.5 for result in graph.results]
    return np.asarray(simulated.words - np.asarray(halves))
