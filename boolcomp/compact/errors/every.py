"""All words of a problem that has few enough: of exact words the largest error is known.

An input that is no exact word has states anywhere in a cell, and errors are largest at its ends
where the function is monotonous: widths are chosen with states there. `errors.worst` seeks more.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from boolcomp.compact.sketch.poly import quantities

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from boolcomp.compact.sketch.poly import Quantity
    from boolcomp.problem.problem import Input, Problem

    Floats = NDArray[np.float64]

MOST_BITS = 16  # of all input words together
EDGE = 1e-6  # of a cell: how near to its end


def is_countable(problem: Problem, bits: Mapping[str, int]) -> bool:
    """Tell whether all words of a problem can be looked at."""
    return sum(word.bits for word in quantities(problem, bits).values()) <= MOST_BITS


def is_exact(problem: Problem, bits: Mapping[str, int]) -> bool:
    """Tell whether all words can be looked at, and stand for nothing but themselves."""
    return is_countable(problem, bits) and all(one.exact for one in problem.inputs)


def every_state(problem: Problem, bits: Mapping[str, int]) -> tuple[Floats, ...]:
    """Return all states that matter, an array for each group; `is_countable` must hold."""
    return _every(problem, tuple(sorted(bits.items())))


@lru_cache(maxsize=2)
def _every(problem: Problem, bits: tuple[tuple[str, int], ...]) -> tuple[Floats, ...]:
    words = quantities(problem, dict(bits))
    axes = [_axis(one, words.get(one.name)) for one in problem.inputs]
    grid = np.meshgrid(*axes, indexing="ij")
    return problem.arrays(np.stack([axis.reshape(-1) for axis in grid], axis=1))


def _axis(one: Input, word: Quantity | None) -> Floats:
    """Return the places of an input that matter, within where it may be."""
    if word is None:  # a single value
        return np.array([one.range.low])
    cells = np.arange(1 << word.bits, dtype=np.float64)
    inside = [0.5] if word.exact else [EDGE, 1 - EDGE]
    found = np.concatenate([word.range.low + (cells + part) * word.step for part in inside])
    if word.exact:
        return np.asarray(found[(found >= one.range.low) & (found <= one.range.high)])
    return np.unique(np.clip(found, one.range.low, one.range.high))
