"""Rows of states in files: which there are (`Source`), and pieces of them (`Part`).

A form of files (`npyfiles`, `parquetfiles`, `zarrays`) looks at a file, which gives a `Found`, and
reads a `Part` of it. What was looked at has a stamp, and what was changed since is not read.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from boolcomp.base.errors import DataError, UsageError, installing, listing
from boolcomp.base.files import regular_file

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import BinaryIO

    from numpy.typing import NDArray

    from boolcomp.program.program import Program


WORDS = "uint32"  # the type of code words; all others are values
MOST_PIECE = 1 << 23  # bytes of states that are evaluated at a time: about what caches hold
MOST_ROWS, LEAST_ROWS = 1 << 17, 1 << 10


@dataclass(frozen=True, slots=True)
class Columns:
    """The columns of a table, in order, and their units."""

    names: tuple[str, ...]
    units: tuple[str, ...]

    @property
    def width(self) -> int:
        """How many there are."""
        return len(self.names)


@dataclass(frozen=True, slots=True)
class Found:
    """What a file holds: its rows, of the type that engines take.

    `ends` are rows after which reading may best stop; the last one is no less than `rows`.
    """

    rows: int
    dtype: str
    stamp: str
    ends: Sequence[int]


@dataclass(frozen=True, slots=True)
class Part:
    """Rows `start` to `stop` of a file, which has this stamp."""

    form: str
    path: str
    start: int
    stop: int
    stamp: str


@dataclass(frozen=True)
class Source:
    """Files, one after the other, as one table; a `folder` of them, or one alone."""

    path: Path
    form: str
    folder: bool
    files: tuple[tuple[str, Found], ...]

    @cached_property
    def starts(self) -> tuple[int, ...]:
        """The row with which every file begins, and the number of all rows."""
        ends = [0]
        for _, found in self.files:
            ends.append(ends[-1] + found.rows)
        return tuple(ends)

    @property
    def rows(self) -> int:
        """The number of rows."""
        return self.starts[-1]

    @property
    def dtype(self) -> str:
        """The type of all rows."""
        return self.files[0][1].dtype

    @cached_property
    def identity(self) -> str:
        """A digest of what was looked at: names, rows, sizes and times of the files."""
        text = hashlib.sha256(f"{self.form} {self.dtype}".encode())
        for path, found in self.files:
            text.update(f"\n{found.rows} {found.stamp} {Path(path).name}".encode())
        return text.hexdigest()

    def parts(self, start: int, stop: int) -> tuple[Part, ...]:
        """Return where these rows stand."""
        found = []
        place = max(0, bisect_right(self.starts, start) - 1)
        while place < len(self.files) and self.starts[place] < stop:
            first, last = self.starts[place : place + 2]
            path, one = self.files[place]
            low, high = max(start, first) - first, min(stop, last) - first
            if low < high:
                found.append(Part(self.form, path, low, high, one.stamp))
            place += 1
        return tuple(found)

    def end_after(self, row: int) -> int:
        """Return the first row from this one on before which reading may well stop."""
        if row >= self.rows:
            return self.rows
        place = bisect_left(self.starts, row) - 1
        first, ends = self.starts[place], self.files[place][1].ends
        return min(first + ends[bisect_left(ends, row - first)], self.starts[place + 1])


def columns_of(program: Program) -> Columns:
    """Return the columns of a program's states; what it does not read has no unit."""
    units = {word.name: word.unit for word in program.inputs}
    names = tuple(name for group in program.groups for name in group.members)
    return Columns(names, tuple(units.get(name, "") for name in names))


def results_of(program: Program, payload: float | None) -> Columns:
    """Return the columns of its results."""
    outputs = program.chosen(payload).outputs
    return Columns(program.returned.members, tuple(output.unit for output in outputs))


def engine_type(where: str, kinds: Sequence[np.dtype[Any]]) -> str:
    """Return what engines are given: code words where all are unsigned, float32 where all are."""
    unsigned = [kind.kind == "u" for kind in kinds]
    if any(unsigned) and not all(unsigned):
        raise DataError(f"{where}: some columns are unsigned integers, code words, and some not")
    if unsigned[0]:
        return WORDS
    return "float32" if all(kind == np.float32 for kind in kinds) else "float64"


def as_type(array: NDArray[Any], dtype: str, where: str) -> NDArray[Any]:
    """Return an array in the type that engines take."""
    if dtype == WORDS and array.dtype.itemsize > 4 and array.size and int(array.max()) >> 32:
        raise DataError(f"{where}: a word of more than 32 bits: {int(array.max())}")
    with np.errstate(over="ignore", invalid="ignore"):  # what is not finite is told of later
        return array.astype(dtype, copy=False)


def piece_rows(width: int, dtype: str) -> int:
    """Return how many rows are evaluated at a time."""
    rows = MOST_PIECE // max(1, width * np.dtype(dtype).itemsize)
    return max(LEAST_ROWS, min(MOST_ROWS, 1 << max(0, rows.bit_length() - 1)))


def stamp_of(status: os.stat_result) -> str:
    """Return what tells that a file was changed."""
    return f"{status.st_size}-{status.st_mtime_ns}"


@contextlib.contextmanager
def opened(part: Part) -> Iterator[BinaryIO]:
    """Open the file of a part, if it is still the one that was looked at."""
    with regular_file(Path(part.path)) as file:
        if stamp_of(os.fstat(file.fileno())) != part.stamp:
            raise changed(part.path)
        yield file


def changed(path: str) -> DataError:
    """Return the error about a file that was changed while a run was under way."""
    return DataError(f"{path}: was changed since this run began")


def missing_extra(what: str, package: str) -> UsageError:
    """Return the error about a package that is not there."""
    return UsageError(f"{what} needs {package}: {installing(package)}")


def check_names(where: str, names: Sequence[str], columns: Columns) -> None:
    """Refuse a table where a column is missing or there twice; others are not read."""
    missing = [name for name in columns.names if name not in names]
    if missing:
        raise DataError(f"{where}: missing columns: {listing(missing)}")
    twice = [name for name in columns.names if list(names).count(name) > 1]
    if twice:
        raise DataError(f"{where}: holds {listing(twice)} twice")


def check_unit(where: str, name: str, given: str, wanted: str) -> None:
    """Refuse a column that says it is in another unit; one that says nothing is believed."""
    if given and wanted and given != wanted:
        raise DataError(f"{where}: {name} is in {given}: this program takes {wanted}")
