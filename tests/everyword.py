"""The worst error of an arm of two links over all words that its program reads, by looking.

For every word, at every corner of the cell that it stands for: the program is run, Newton and Euler
say what is exact. That is linear in accelerations, and quadratic in speeds, of which the largest
and the least value over all that a word may stand for are calculated. Nothing here knows how
bounds are proved.
"""

from collections.abc import Iterator
from itertools import product
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from boolcomp.problem import Problem
from boolcomp.program import Program

Floats = NDArray[np.float64]

NAMES = ("q1", "q2", "qd1", "qd2", "qdd1", "qdd2")


class Extremes(NamedTuple):
    """The largest and the least error of every output in LSB, and how many words there were."""

    high: Floats
    low: Floats
    words: int


def cells(program: Program, problem: Problem) -> dict[str, Floats]:
    """Return the borders of the cells of every input: those that the logic tells apart."""
    joint = program.loads[0].joint
    assert joint is not None
    read = {program.inputs[one.input].name: one.bits for one in joint.words}
    return {
        one.name: np.linspace(one.range.low, one.range.high, (1 << read.get(one.name, 0)) + 1)
        for one in problem.inputs
    }


def all_corners(program: Program, problem: Problem) -> Extremes:
    """Return the worst errors of all words at all corners of their cells; words read no speeds."""
    borders = cells(program, problem)
    assert tuple(borders) == NAMES
    assert len(borders["qd1"]) == len(borders["qd2"]) == 2
    steps = np.array([output.code.step for output in program.outputs])
    high, low = np.full(2, -np.inf), np.full(2, np.inf)
    exact = [_exact(problem, borders, q1) for q1 in borders["q1"]]
    for k in range(len(exact) - 1):
        said = _said(program, borders, k)
        for i, j in product((0, 1), repeat=2):
            corner = _Exact(*(part[j : len(said) + j, None, None] for part in exact[k + i]))
            _look(said, corner, borders, steps, (high, low))
    sizes = [len(borders[name]) - 1 for name in NAMES]
    return Extremes(high, low, int(np.prod(sizes)))


def _said(program: Program, borders: dict[str, Floats], k: int) -> Floats:
    """Return what a program says for the k-th word of q1, (q2, qdd1, qdd2, outputs)."""
    middles = {name: (x[1:] + x[:-1]) / 2 for name, x in borders.items()}
    middles["q1"] = middles["q1"][k : k + 1]
    grid = np.meshgrid(*(middles[name] for name in NAMES), indexing="ij")
    flat = [x.reshape(-1) for x in grid]
    found = program.evaluate(*(np.stack(flat[n : n + 2], axis=1) for n in (0, 2, 4))).values
    return found.reshape(*(len(middles[n]) for n in ("q2", "qdd1", "qdd2")), 2)


class _Exact(NamedTuple):
    """Exact outputs: both mass terms, and what all else is at most and at least."""

    first: Floats
    second: Floats
    most: Floats
    least: Floats


def _exact(problem: Problem, borders: dict[str, Floats], q1: float) -> _Exact:
    """Return exact outputs at an angle and every border of the other, (borders, outputs)."""
    ends = float(borders["qd1"][-1]), float(borders["qd2"][-1])
    assert all(-borders[name][0] == borders[name][-1] for name in ("qd1", "qd2"))
    angles = borders["q2"]
    # At rest; accelerated one by one; fast one by one, and both.
    rates = [[0, 0, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1], [1, 0, 0, 0], [0, 1, 0, 0], [1, 1, 0, 0]]
    states = np.array([[q1, q2, *rate] for rate in rates for q2 in angles], np.float64)
    rest, one, two, *fast = problem.exact(states).reshape(len(rates), len(angles), 2)
    a, c, both = (x - rest for x in fast)
    values = np.array(list(_quadratic((a, both - a - c, c), *ends)))
    return _Exact(one - rest, two - rest, rest + values.max(axis=0), rest + values.min(axis=0))


def _quadratic(form: tuple[Floats, Floats, Floats], u: float, v: float) -> Iterator[Floats]:
    """Yield a·x² + b·xy + c·y² where it may be largest or least for |x| ≤ u, |y| ≤ v."""
    a, b, c = form
    none = np.zeros_like(a)
    places: list[tuple[Floats | float, Floats | float]] = [(none, none)]
    for x, y in product((-u, u), (-v, v)):
        places += [(x, y), (x, _turn(b * x, c, v)), (_turn(b * y, a, u), y)]
    for one, two in places:
        yield a * one * one + b * one * two + c * two * two


def _turn(linear: Floats, square: Floats, limit: float) -> Floats:
    """Return where linear·x + square·x² turns round, within limits."""
    safe = np.where(square == 0, 1.0, square)
    return np.clip(np.where(square == 0, 0.0, -linear / (2 * safe)), -limit, limit)


def _look(
    said: Floats, exact: _Exact, borders: dict[str, Floats], steps: Floats,
    found: tuple[Floats, Floats],
) -> None:  # fmt: skip
    """Take note of the errors of all words of accelerations, at both ends of each."""
    high, low = found
    ends = borders["qdd1"], borders["qdd2"]
    for i, j in product((0, 1), repeat=2):
        first = ends[0][i : said.shape[1] + i, None, None] * exact.first
        second = ends[1][j : said.shape[2] + j, None] * exact.second
        left = said - first - second
        np.maximum(high, ((left - exact.least) / steps).max(axis=(0, 1, 2)), out=high)
        np.minimum(low, ((left - exact.most) / steps).min(axis=(0, 1, 2)), out=low)
