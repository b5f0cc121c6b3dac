"""How large words become: climbed to, one input after another, from the largest of samples.

A word of a recursion is a product of products; where it is largest, samples hardly ever are. Of
linear inputs the ends are tried, of angles some points of their reach and then steps nearby.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from boolcomp.compact.errors.samples import word_value
from boolcomp.compact.sketch.sketch import WordSum

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from numpy.typing import NDArray

    from boolcomp.compact.sketch.poly import Quantity
    from boolcomp.compact.sketch.sketch import Sketch

    Floats = NDArray[np.float64]

STARTS = 4  # states from which the size of a word is climbed
POINTS = 9  # of an angle's reach
STEPS = (None, 1 / 16, 1 / 64)  # of that reach, a sweep each; None: the points


def climbed(
    sketch: Sketch, words: Mapping[str, Quantity], samples: Mapping[str, Floats]
) -> dict[str, Floats]:
    """Return states at which the sums of a sketch are about as large as they become.

    `samples` and what is returned are values by the names of inputs, in units of words.
    """
    sums = [place for place, node in enumerate(sketch.nodes) if isinstance(node, WordSum)]
    values = sketch.evaluate(samples)
    starts = [np.argsort(-np.abs(values[place]), kind="stable")[:STARTS] for place in sums]
    rows, own = np.concatenate(starts), np.repeat(sums, [len(one) for one in starts])
    states = {name: column[rows] for name, column in samples.items()}
    for step in STEPS:
        for name, column in states.items():
            tried = [column, *_moves(words[name], column, step)]
            sizes = np.array([_sizes(sketch, {**states, name: one}, own) for one in tried])
            best = sizes.argmax(axis=0)
            states[name] = np.array(tried)[best, np.arange(len(column))]
    return states


def _moves(word: Quantity, column: Floats, step: float | None) -> Iterator[Floats]:
    """Yield other values of an input: ends of its reach, and where an angle moves."""
    low, high = word_value(word, np.array([word.reach.low, word.reach.high])).tolist()
    if not word.turns:
        yield from (np.full_like(column, end) for end in (low, high))
    elif step is None:
        yield from (np.full_like(column, place) for place in np.linspace(low, high, POINTS))
    else:
        for sign in (-1.0, 1.0):
            moved = column + sign * step * (high - low)
            yield moved if word.wraps else np.clip(moved, low, high)


def _sizes(sketch: Sketch, states: Mapping[str, Floats], own: NDArray[np.intp]) -> Floats:
    values = sketch.evaluate(states)
    found = np.zeros(len(own))
    for place in np.unique(own):
        rows = own == place
        found[rows] = np.abs(values[place][rows])
    return found
