"""Seeded states of a problem as words: what a graph reads, and what its sketch reads."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from boolcomp.compact.sketch.poly import Quantity
    from boolcomp.problem.problem import Problem
    from boolcomp.words.graph import WordGraph
    from boolcomp.words.simulate import Simulated

    Floats = NDArray[np.float64]
    Words = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class States:
    """States by name of input: words, and values in units of words; outputs in their steps."""

    words: dict[str, Words]
    values: dict[str, Floats]
    outputs: Floats


def draw(
    problem: Problem,
    quantities: Mapping[str, Quantity],
    steps: Sequence[float],
    count: int,
    seed: int,
) -> States:
    """Return seeded states, uniform over the inputs' ranges."""
    return states_of(problem, quantities, steps, problem.draw(count, seed))


def corners(
    problem: Problem,
    quantities: Mapping[str, Quantity],
    steps: Sequence[float],
    count: int,
    seed: int,
) -> States:
    """Return seeded states whose linear inputs lie at the ends of their ranges.

    Every word but squares is linear in them, so that is where it is largest. Half of the angles
    are multiples of π/4, where sums of few waves are.
    """
    rng = np.random.default_rng(seed)
    arrays = []
    for group in problem.groups:
        reach = [one.reach for one in problem.members(group)]  # beyond stops the logic holds, too
        low, high = np.array([r.low for r in reach]), np.array([r.high for r in reach])
        drawn = rng.uniform(low, high, (count, group.size))
        if any(one.angle for one in problem.members(group)):
            grid = np.clip(np.round(drawn / (math.pi / 4)) * (math.pi / 4), low, high)
            drawn = np.where(rng.random(drawn.shape) < 0.5, grid, drawn)
        else:
            drawn = np.where(rng.random(drawn.shape) < 0.5, low, high)
        arrays.append(drawn)
    return states_of(problem, quantities, steps, arrays)


def states_of(
    problem: Problem,
    quantities: Mapping[str, Quantity],
    steps: Sequence[float],
    arrays: Sequence[Floats],
) -> States:
    """Return given states, an array for each group, as words; values keep what words round away."""
    words, values = {}, {}
    for name, column in problem.columns(arrays).items():
        word = quantities.get(name)
        if word is not None:  # else it is a single value
            words[name] = word.cells(column)
            values[name] = word_value(word, column)
    return States(words, values, problem.in_steps(problem.reference(*arrays), steps))


def joined(first: States, second: States) -> States:
    """Return both states, one after the other."""
    return States(
        {name: np.concatenate([w, second.words[name]]) for name, w in first.words.items()},
        {name: np.concatenate([v, second.values[name]]) for name, v in first.values.items()},
        np.concatenate([first.outputs, second.outputs]),
    )


def input_squares(
    problem: Problem,
    quantities: Mapping[str, Quantity],
    steps: Sequence[float],
    count: int,
    seed: int,
    reach: Floats | None = None,
) -> Floats:
    """Return the mean squares, in steps, of what outputs change by from states to their cells.

    Beyond its `reach` an output saturates.
    """
    arrays = problem.draw(count, seed)
    middles = [array.copy() for array in arrays]
    for group, array in zip(problem.groups, middles, strict=True):
        for k, name in enumerate(group.members):
            if (word := quantities.get(name)) is not None:
                array[:, k] = word.range.low + (word.cells(array[:, k]) + 0.5) * word.step
    before, after = problem.reference(*arrays), problem.reference(*middles)
    if reach is not None:
        before, after = (
            np.clip(problem.in_steps(one, steps), -reach, reach) * steps for one in (before, after)
        )
    moved = (after - before) / np.asarray(steps)
    return np.asarray((moved**2).mean(axis=0))


def word_value(word: Quantity, column: Floats) -> Floats:
    """Return values in units of the word; an angle over part of a turn in radians.

    Angles count from half a turn above the word's lowest border.
    """
    if word.part is not None:
        return column - (word.range.low + math.pi)
    return (column - word.range.centre) / word.step


def in_cells(problem: Problem, outputs: Floats) -> Floats:
    """Return outputs in steps from where a cell begins: whole numbers are borders."""
    return outputs + 0.5 * np.asarray([one.format.tread for one in problem.outputs])


def output_values(graph: WordGraph, simulated: Simulated) -> Floats:
    """Return the outputs that words stand for, in their steps."""
    halves = [2.0 ** (result.bits - 1) - (0.0 if result.tread else 0.5) for result in graph.results]
    return np.asarray(simulated.words - np.asarray(halves))
