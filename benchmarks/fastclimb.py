"""The climbing search of `proof/climbing.py` with its inner loops compiled: the same moves, faster.

Climbers, restarts, halvings and what is noted are those of `Climbers`; moves have the same chances,
of other random numbers. Errors are not rounded to a few digits here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from boolcomp.base.loops import njit
from boolcomp.proof.worst import NEAREST, Climbers, SearchedCells

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from boolcomp.proof.worst import SearchedProgram

    Floats = NDArray[np.float64]
    Indices = NDArray[np.int64]


class FastCells(SearchedCells):
    """`Cells` on compiled loops."""

    def states(self, cell: Indices, part: Floats) -> Floats:
        """Return the inputs at places of cells."""
        states = np.empty(cell.shape)
        ends = np.stack([self.start, self.step, self.low, self.high, self.below, self.short])
        words = np.stack([self.first, self.last, self.wraps.astype(np.int64)])
        count = cell.shape[-1]
        _place(
            cell.reshape(-1, count), part.reshape(-1, count), words, ends, states.reshape(-1, count)
        )
        return states


class FastClimbers(Climbers):
    """`Climbers` on compiled loops; the subject's problem has a compiled reference."""

    def __init__(self, subject: SearchedProgram, rng: np.random.Generator) -> None:
        super().__init__(subject, rng)
        self.cells = FastCells(subject.axes)

    def moved(self, cell: Indices, part: Floats) -> tuple[Indices, Floats]:
        """Return other cells and places: of every climber one input or several are changed."""
        new_cell, new_part = cell.copy(), part.copy()
        words = np.stack([self.cells.first, self.cells.last, self.cells.bits])
        seed = self.rng.integers(1, 1 << 63, dtype=np.uint64)
        _move(cell, part, words, seed, new_cell, new_part)
        return new_cell, new_part

    def _evaluated(self, states: Floats) -> Floats:
        """Return errors at states, and note the worst."""
        subject = self.subject
        arrays = subject.problem.arrays(states)
        ends = np.array([[code.low, code.high, code.step] for code in subject.codes])
        exact = np.ascontiguousarray(subject.problem.reference(*arrays))
        errors = np.empty(exact.shape)
        at = _judge(subject.logic(*arrays), exact, ends, errors, self.best)
        self.evaluations += len(states)
        for target, row in enumerate(at):
            if row >= 0:
                self.states[target] = states[row]
        return errors


@njit(cache=False)
def _judge(found: Floats, exact: Floats, ends: Floats, errors: Floats, best: Floats) -> Indices:
    """Fill errors in steps; raise what is best towards either sign, and say in which rows."""
    at = np.full(len(best), -1)
    for i in range(found.shape[0]):
        for k in range(found.shape[1]):
            inside = min(max(exact[i, k], ends[k, 0]), ends[k, 1])
            error = (found[i, k] - inside) / ends[k, 2]
            errors[i, k] = error
            if error > best[2 * k]:
                best[2 * k], at[2 * k] = error, i
            if -error > best[2 * k + 1]:
                best[2 * k + 1], at[2 * k + 1] = -error, i
    return at


@njit(cache=False)
def _place(cell: Indices, part: Floats, words: Indices, ends: Floats, states: Floats) -> None:
    """Fill the inputs at places of cells; `words` are first and last cells, and what wraps."""
    start, step, low, high, below, short = ends
    rows, axes = cell.shape
    for r in range(rows):
        for a in range(axes):
            one, wraps = cell[r, a], words[2, a] != 0
            lower = start[a] + one * step[a] - below[a]
            upper = start[a] + (one + 1) * step[a] - short[a]
            if not wraps and one <= words[0, a]:
                lower = low[a]
            if not wraps and one >= words[1, a]:
                upper = high[a]
            state = upper if part[r, a] == 1 else lower + part[r, a] * (upper - lower)
            if wraps and state < low[a]:
                state += high[a] - low[a]
            states[r, a] = min(max(state, low[a]), high[a])


@njit(cache=False, inline="always")
def _next(state: np.uint64) -> np.uint64:
    """Return the next random word (xorshift64)."""
    state ^= state << np.uint64(13)
    state ^= state >> np.uint64(7)
    return state ^ (state << np.uint64(17))


@njit(cache=False, inline="always")
def _below(state: np.uint64, count: int) -> int:
    """Return a random number below a count of less than a million."""
    return int((state >> np.uint64(33)) % np.uint64(count))


@njit(cache=False)
def _move(
    cell: Indices,
    part: Floats,
    words: Indices,
    seed: np.uint64,
    new_cell: Indices,
    new_part: Floats,
) -> None:
    """Change one input or several of every climber; `words` are first, last cells and bits."""
    targets, rows, axes = cell.shape
    state = seed
    for t in range(targets):
        for r in range(rows):
            state = _next(state)
            share = _below(state, 3)
            state = _next(state)
            forced = _below(state, axes)
            for a in range(axes):
                state = _next(state)
                if a != forced and _below(state, axes) >= share:
                    continue
                state = _next(state)
                mate = (r + 1 + _below(state, max(1, rows - 1))) % rows
                state = _next(state)
                kind = _below(state, 16)
                if kind in (10, 11):
                    new_cell[t, r, a], new_part[t, r, a] = cell[t, mate, a], part[t, mate, a]
                    continue
                state = _next(state)
                new = _other_cell(kind, cell[t, r, a], words[:, a], state)
                state = _next(state)
                new_part[t, r, a] = _other_part(kind, part[t, r, a], state)
                new_cell[t, r, a] = min(max(new, words[0, a]), words[1, a])


@njit(cache=False, inline="always")
def _other_cell(kind: int, old: int, word: Indices, state: np.uint64) -> int:
    """Return a neighbour, a cell away by one bit, with one bit changed, or anywhere; or the old."""
    one = 1 << _below(state, word[2])
    up = 1 if state & np.uint64(1) else -1
    if kind < 4:
        return old + up
    if kind < 6:
        return old + one * up
    if kind < 9:
        return int(word[0]) + ((old - int(word[0])) ^ one)
    return int(word[0]) + _below(state, word[1] - word[0] + 1) if kind == 9 else old


@njit(cache=False, inline="always")
def _other_part(kind: int, within: float, state: np.uint64) -> float:
    """Return a corner, the other side, nearby, or anywhere; of near cells often the same place."""
    corner = 0.0 if state & np.uint64(1) else 1.0
    drawn = (state >> np.uint64(11)) * 2.0**-53
    if kind < 6:
        return within if state & np.uint64(2) else corner
    if kind < 10:
        return corner
    if kind < 14:
        return 1 - within
    if kind == 14:
        by = 2.0 ** (NEAREST * drawn)
        return min(max(within + (by if state & np.uint64(1) else -by), 0.0), 1.0)
    return drawn
