"""The worst errors of a word graph over all its words, at chosen places of their cells, by looking.

The graph is simulated on every word; what is exact the caller says. Nothing here knows how bounds
are proved.
"""

from collections.abc import Callable, Mapping
from itertools import product

import numpy as np
from numpy.typing import NDArray

from boolcomp.compact import Compact
from boolcomp.words import simulate

Floats = NDArray[np.float64]

ENDS = (0.0, 1.0)  # of a cell


def worst_errors(
    compact: Compact,
    exact: Callable[[Floats], Floats],
    within: Mapping[str, tuple[float, ...]] | tuple[float, ...] = ENDS,
) -> list[tuple[float, float]]:
    """Return the least and the largest error of every output, in steps.

    `exact` takes states, (count, inputs), and gives outputs; `within` are places of cells.
    """
    problem, graph, asked = compact.problem, compact.graph, compact.specified_words
    read = {node.name: node.bits for node in graph.inputs}
    spans = [asked[x.name].range if x.name in asked else x.range for x in problem.inputs]
    counts = [1 << read.get(one.name, 0) for one in problem.inputs]
    grid = np.meshgrid(*map(np.arange, counts), indexing="ij")
    cells = [axis.reshape(-1) for axis in grid]
    given = {x.name: w for x, w in zip(problem.inputs, cells, strict=True) if x.name in read}
    found = simulate(graph, given or {"": np.zeros(1, np.int64)})
    assert not found.wrapped
    halves = np.array([2.0 ** (result.bits - 1) - 0.5 for result in graph.results])
    steps = np.array(problem.steps(compact.demand.bits))
    centres = np.array([output.range.centre for output in problem.outputs])
    low, high = np.full(len(steps), np.inf), np.full(len(steps), -np.inf)
    ranges = np.array(
        [[x.range.low for x in problem.inputs], [x.range.high for x in problem.inputs]]
    )
    places = [
        within if isinstance(within, tuple) else within.get(x.name, ENDS) for x in problem.inputs
    ]
    for part in product(*places):
        states = np.stack(
            [
                span.low + (words + p) * (span.width / count)
                for span, words, count, p in zip(spans, cells, counts, part, strict=True)
            ],
            axis=1,
        )
        there = ((states >= ranges[0]) & (states <= ranges[1])).all(axis=1)
        right = np.clip((exact(states) - centres) / steps, -halves, halves)
        errors = (found.words - halves - right)[there]
        if not len(errors):
            continue
        low, high = np.minimum(low, errors.min(axis=0)), np.maximum(high, errors.max(axis=0))
    return list(zip(low.tolist(), high.tolist(), strict=True))
