"""Words and exact values of every node of a sketch and its graph at random states, in floats.

Shares nothing with bounds: values are calculated from the inputs themselves.
"""

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from boolcomp.compact import Compact, quantities
from boolcomp.problem import Input
from boolcomp.words import InputWord, node_word

Floats = NDArray[np.float64]
Words = NDArray[np.int64]


class States(NamedTuple):
    """All nodes' words; the sketch's values at the middles of cells, and where the inputs are."""

    words: list[Words]
    middles: list[Floats]
    values: list[Floats]


def drawn(compact: Compact, count: int, seed: int) -> States:
    """Return random states, many of them at ends of cells and of ranges."""
    rng = np.random.default_rng(seed)
    asked = quantities(compact.problem, compact.demand.input_bits)
    graph = compact.graph
    bits = {node.name: node.bits for node in graph.inputs}
    words: list[Words] = []
    at: dict[str, Floats] = {}
    centre: dict[str, Floats] = {}
    for one in compact.problem.inputs:
        if one.name not in asked:
            continue
        word = asked[one.name]
        x = _places(one, word, count, rng)
        drop = word.bits - bits.get(one.name, word.bits)
        coarse = word.cells(x) >> drop
        middle = np.asarray(word.range.low + (coarse + 0.5) * word.step * (1 << drop), np.float64)
        if one.name not in bits:
            middle = np.full(count, (one.range.low + one.range.high) / 2)
        for column, into in ((x, at), (middle, centre)):
            if word.part is not None:
                into[one.name] = column - (word.range.low + math.pi)
            else:
                into[one.name] = (column - word.range.centre) / word.step
        _keep(words, graph.inputs, one.name, coarse)
    for place, node in enumerate(graph.nodes):
        if not isinstance(node, InputWord):
            words.append(node_word(graph, place, words)[0])
    sketch = compact.sketch
    return States(words, sketch.evaluate(centre), sketch.evaluate(at))


def _places(one: Input, word: Any, count: int, rng: np.random.Generator) -> Floats:
    """Return places of an input: many at ends of cells, some at those of its range."""
    x: Floats = rng.uniform(one.range.low, one.range.high, count)
    part = rng.choice([1e-6, 0.5, 1 - 1e-6], count)
    x = np.where(rng.random(count) < 0.7, word.range.low + (word.cells(x) + part) * word.step, x)
    x = np.where(rng.random(count) < 0.1, rng.choice([one.range.low, one.range.high], count), x)
    x = np.clip(x, one.range.low, one.range.high)
    if word.exact:
        x = np.asarray(word.range.low + (word.cells(x) + 0.5) * word.step, np.float64)
    return np.asarray(x, np.float64)


def _keep(words: list[Words], inputs: tuple[InputWord, ...], name: str, found: Words) -> None:
    names = [node.name for node in inputs]
    while len(words) < len(names):
        words.append(np.zeros_like(found))
    if name in names:
        words[names.index(name)] = found
