"""Problems whose inputs are words to begin with, and no measured quantities.

What else a cell of an input word could stand for is then no error: the output of a converter is
what it is, and a table of a function is compared with the function at the table's own points.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from boolcomp.problem.problem import Floats, Input, Problem

# Of every group: low end, step, cells, and whether the last cell is followed by the first.
Words = tuple[tuple[tuple[float, float, int, bool], ...], ...]
TIE = 1e-9  # of a cell: what an encoder takes for on a border (`codes`)


def with_exact_words(problem: Problem, bits: Mapping[str, int]) -> Problem:
    """Return a problem whose inputs are words of so many bits, by name or for all of a group."""
    widths = problem.by_input(bits)
    words = tuple(
        tuple(_word(one, widths[one.name]) for one in problem.members(group))
        for group in problem.groups
    )
    listed = " ".join(f"{name}={width}" for name, width in sorted(widths.items()))
    return replace(
        problem,
        key=f"{problem.key}\nexact words: {listed}",
        inputs=tuple(replace(one, exact=True) for one in problem.inputs),
        reference=partial(_at_words, problem.reference, words),
    )


def _word(one: Input, bits: int) -> tuple[float, float, int, bool]:
    return one.word.low, one.word.width / (1 << bits), 1 << bits, one.wraps


def _at_words(reference: Callable[..., Floats], words: Words, *arrays: Floats) -> Floats:
    """Return what a reference gives at the middles of the cells in which states lie."""
    return reference(
        *(
            np.stack([_middle(column, *word) for column, word in zip(a.T, w, strict=True)], axis=1)
            for a, w in zip(arrays, words, strict=True)
        )
    )


def _middle(column: Floats, low: float, step: float, cells: int, wraps: bool) -> Floats:  # noqa: FBT001
    if not step:  # a single value
        return column
    cell = np.floor((column - low) / step + TIE)
    cell = cell % cells if wraps else np.clip(cell, 0, cells - 1)
    return np.asarray(low + (cell + 0.5) * step)
