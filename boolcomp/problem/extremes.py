"""What a function reaches over a box, found by sampling and climbing, and a range that holds it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Height = Callable[[Floats, NDArray[np.int64]], Floats]

FINEST = 1e-8  # steps of compass search, as parts of a range
GAIN = 1e-13  # less is rounding error, which a search could follow for ever
MOST_ROUNDS = 300  # of compass search; a narrow ridge could be crept along for ever
SAMPLES = 100_000
BEST = 8  # samples from which every extreme is climbed to
FINE = 1e-6  # steps, as parts of a range, at which climbing ends
# Between what a search finds and a range: the search proves nothing, and a word in compact mode
# is sized for 1.02 times the largest and 3 steps more, 2.3 % of the range at 8 bits.
MARGIN = 1.05


def extremes(
    exact: Callable[[Floats], Floats],
    bounds: tuple[Floats, Floats],
    samples: int = SAMPLES,
    best: int = BEST,
    fine: float = FINE,
) -> tuple[Floats, Floats]:
    """Return a function's values at uniform samples of a box, and its extremes: no proof.

    Values are (samples, outputs). Extremes are (2, outputs): the largest of every output, and of
    what is climbed to from so many of the best samples of its negative.
    """
    low, high = bounds
    states = np.random.default_rng(1988).uniform(low, high, size=(samples, len(low)))
    values = exact(states)
    n = values.shape[1]
    # One function to climb for every output and sign, from its best samples.
    order = np.argsort(np.concatenate([values, -values], axis=1), axis=0)[-best:]
    which = np.repeat(np.arange(2 * n), best)
    place, sign = which % n, np.where(which < n, 1.0, -1.0)

    def height(x: Floats, rows: NDArray[np.int64]) -> Floats:
        return np.asarray(exact(x)[np.arange(len(x)), place[rows]] * sign[rows])

    _, found = climb(height, states[order.T.ravel()], low, high, 0.25, fine)
    most = np.array([_tidy(value) for value in found.reshape(2 * n, best).max(axis=1)])
    return values, most.reshape(2, n)


def climb(
    height: Height,
    starts: NDArray[np.float64],
    low: NDArray[np.float64],
    high: NDArray[np.float64],
    step: float,
    until: float = FINEST,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return where compass search inside a box leads from every start, and the heights there.

    Every round tries a step either way along each axis, and its two ends (many extrema are
    corners); steps halve where nothing was better. `height` is told of every point which start it
    belongs to, so that one search can climb several functions. Whatever cannot be better (the
    point itself, the ends again where the point has not moved) is not calculated again.
    """
    every = np.arange(len(starts))
    points, best = starts.copy(), height(starts, every)
    count, axes = points.shape
    steps, moved = np.full(count, step), np.ones(count, dtype=bool)
    wide = high - low
    for _ in range(MOST_ROUNDS):
        rows = every[steps >= until]
        if not len(rows):
            break
        here, pace = points[rows], steps[rows, None] * wide
        places = np.stack([here + pace, here - pace, here * 0 + low, here * 0 + high])
        places = np.clip(places, low, high)
        fresh = places != here
        fresh[2:] &= moved[rows, None]
        index = np.nonzero(fresh)
        row, axis = index[1], index[2]
        tried = here[row]
        tried[np.arange(len(row)), axis] = places[index]
        raised = np.full(places.shape, -np.inf)
        raised[index] = height(tried, rows[row])
        heights = raised.transpose(1, 0, 2).reshape(len(rows), -1)
        choice = heights.argmax(axis=1)
        found = heights[np.arange(len(rows)), choice]
        gain = np.where(best[rows] < 0, -GAIN, GAIN)  # a height below zero rises towards it
        moved[rows] = better = found > best[rows] * (1 + gain)
        k = np.flatnonzero(better)
        which, along = divmod(choice[k], axes)
        points[rows[k], along] = places[which, k, along]
        best[rows[k]] = found[k]
        steps[rows[~better]] /= 2
    return points, best


def _tidy(value: float) -> float:
    """Keep nine digits, so that no machine's last bit shows."""
    return float(f"{value:.9g}") + 0.0
