"""How the rows of a source are dealt to chunks: one call of a worker each.

A chunk is done or not, so it is what is lost when a run is killed; and it is what a worker is sent
for, so it takes many times as long as to send it. Chunks depend on the files alone, not on workers.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, overload

from boolcomp.batches.chunk import Task
from boolcomp.common.errors import DataError
from boolcomp.scale import zarrays
from boolcomp.scale.journal import ENDINGS, ZARR, OutFile

if TYPE_CHECKING:
    from boolcomp.scale.batch_parts import Source

LEAST, MOST = 1 << 17, 1 << 22  # rows of a chunk: of the largest some ten milliseconds of logic
SHORT = 16  # chunks are enough for files of fewer rows


def usual_chunk(rows: int) -> int:
    """Return how many rows a chunk has."""
    return max(LEAST, min(MOST, -(-rows // (SHORT * LEAST)) * LEAST))


class Plan(Sequence[Task]):
    """The chunks of a run, made when they are asked for: there may be very many."""

    def __init__(self, source: Source, form: str, rows: int) -> None:
        self.source, self.form = source, form
        self.by_files = source.folder and form in ENDINGS
        self.ends = _by_files(source, rows) if self.by_files else _by_rows(source, form, rows)
        self.stems = [Path(name).stem for name, _ in source.files] if self.by_files else []

    def __len__(self) -> int:
        return len(self.ends)

    @overload
    def __getitem__(self, place: int) -> Task: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[Task]: ...
    def __getitem__(self, place: int | slice) -> Task | Sequence[Task]:
        if isinstance(place, slice):
            return [self[k] for k in range(*place.indices(len(self)))]
        if not 0 <= place < len(self):
            raise IndexError(place)
        first, last = (self.ends[place - 1] if place else 0), self.ends[place]
        if not self.by_files:
            start, stop = first, last
            named = [OutFile(f"{place:08d}", start, stop)] if self.form in ENDINGS else []
        else:
            starts = self.source.starts
            start, stop = starts[first], starts[last]
            named = [OutFile(self.stems[k], starts[k], starts[k + 1]) for k in range(first, last)]
        return Task(place, start, stop, self.source.parts(start, stop), tuple(named))


def _by_rows(source: Source, form: str, rows: int) -> list[int]:
    """Return the last row's end of every chunk.

    Chunks end where reading may best stop; of an array that is written, where a chunk of it ends.
    """
    ends: list[int] = []
    if form == ZARR:
        each = -(-rows // zarrays.ROWS) * zarrays.ROWS
        ends = [*range(each, source.rows, each), source.rows]
    else:
        row = 0
        while row < source.rows:
            row = source.end_after(row + rows)
            ends.append(row)
    return ends or [0]


def _by_files(source: Source, rows: int) -> list[int]:
    """Return the end of every chunk's files: whole ones, whose rows are enough together."""
    starts = source.starts
    names = [Path(name).stem for name, _ in source.files]
    if len({*names}) < len(names):
        raise DataError(f"{source.path}: two files of the same name")
    ends = []
    first = 0
    for k in range(1, len(starts)):
        if starts[k] - starts[first] >= rows or k == len(starts) - 1:
            ends.append(k)
            first = k
    return ends
