"""The grade of bounds where none is asked for: tight if that takes little work, else plain.

Work is counted before any is done, so that a graph has the same bound on any machine: the steps of
all boxes that branch and bound may look at, or the cells of all inputs where the graph is looked at
cell by cell. Cells of angles are limited by the same effort.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from boolcomp.proof.bound.cells import cells_of, most_cells
from boolcomp.proof.bound.expansion import NotPlainError
from boolcomp.proof.bound.meaning import GivenWord, LinearPart, Total, TurnSum
from boolcomp.proof.bound.result import BOXES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from boolcomp.proof.bound.meaning import Explained, Meaning
    from boolcomp.proof.bound.result import Grade

USUAL = 20  # effort: millions of cells and states, thousands of boxes
MOST = 10_000_000  # steps of all boxes: with all else about 5 s of processor time


def usual_grade(explained: Explained) -> Grade:
    """Return the grade of bounds where none is asked for.

    It follows from the graph alone: how many cells it has where all are looked at, else the steps
    of the boxes that tight bounds of all outputs may take.
    """
    if _has_few_cells(explained):
        return "tight"
    steps = sum(_steps(explained, one.meaning) for one in explained.results)
    return "tight" if steps * USUAL * BOXES <= MOST else "plain"


def counted_work(explained: Explained, effort: int) -> tuple[int, int]:
    """Return how many cells tight bounds look at, or at most how many steps of boxes."""
    if _has_few_cells(explained, effort):
        return cells_of(explained), 0
    steps = sum(_steps(explained, one.meaning) for one in explained.results)
    return 0, steps * effort * BOXES


def _has_few_cells(explained: Explained, effort: int = USUAL) -> bool:
    try:
        return cells_of(explained) <= most_cells(effort)
    except NotPlainError:
        return False


def _steps(explained: Explained, place: int) -> int:
    """Return how many meanings and addends are looked at for each box of an output."""
    waiting, seen, steps = [place], set[int](), 0
    while waiting:
        k = waiting.pop()
        if k in seen:
            continue
        seen.add(k)
        one = explained.meanings[k]
        read = list(_read(one))
        steps += 1 + len(read)
        waiting += read
    return steps


def _read(meaning: Meaning) -> Iterator[int]:
    """Yield the meanings that a meaning is made of."""
    if isinstance(meaning, TurnSum):
        yield from (item for item, _ in meaning.items)
    elif isinstance(meaning, Total):
        for addend in meaning.addends:
            if isinstance(addend, LinearPart):
                yield addend.meaning
            else:
                yield from (addend.a, addend.b)
    elif not isinstance(meaning, GivenWord):
        yield meaning.source
