"""What a worker does: it reads the rows of a chunk, evaluates them, and writes the results.

Of a chunk nothing but counts is returned. They are integers, so that their sums are the same in any
order, on any number of workers.
"""

from __future__ import annotations

import contextlib
import time
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from boolcomp.base.files import read_json
from boolcomp.common.errors import DataError
from boolcomp.engines.engine import Batch, evaluate, not_codable
from boolcomp.problem.degrees import Angles, Seen
from boolcomp.problem.sources import problem_of
from boolcomp.program.files import MOST_HEAD, load_program
from boolcomp.program.writing import HEAD
from boolcomp.scale.batch_parts import WORDS, Columns, piece_rows
from boolcomp.scale.batch_sources import read_part
from boolcomp.scale.journal import OutFile, Target, written

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from boolcomp.engines import EngineName
    from boolcomp.engines.engine import Engine, Evaluation
    from boolcomp.engines.wiring import Wiring
    from boolcomp.problem.problem import Problem
    from boolcomp.program.program import Program
    from boolcomp.scale.batch_parts import Part

FINE = 1 << 16  # parts of an LSB in which errors are counted
MOST_ERROR = (1 << 31) - 1  # such parts: 32,768 LSB
_LOW = np.uint64((1 << 32) - 1)
_known: dict[str, Program] = {}  # of this process, by checksum


class Against(NamedTuple):
    """What results are compared with: a robot or function as users name it, and its key."""

    name: str
    of: str
    key: str


@dataclass(frozen=True, slots=True)
class Job:
    """What all chunks of a run have in common."""

    program: str  # its folder
    checksum: str
    payload: float | None
    engine: EngineName
    threads: int
    columns: Columns
    dtype: str  # of the states
    target: Target
    against: Against | None = None


@dataclass(frozen=True, slots=True)
class Task:
    """One chunk: where its rows stand, and the files of a folder that it makes."""

    number: int
    start: int
    stop: int
    parts: tuple[Part, ...]
    files: tuple[OutFile, ...]


class Seconds(NamedTuple):
    """How long a worker read and decoded, evaluated, and wrote."""

    reading: float = 0.0
    logic: float = 0.0
    writing: float = 0.0


class Errors(NamedTuple):
    """Errors of an output in 1/`FINE` LSB: the sum of squares, and the largest."""

    squares: int
    largest: int


class Tally(NamedTuple):
    """What is counted of a chunk, and how long it took."""

    samples: int
    saturated_inputs: int
    saturated_outputs: int
    beyond_stops: int
    errors: tuple[Errors, ...]
    seconds: Seconds
    sent: int = 0  # bytes from worker to worker
    angle: float = 0.0  # the largest beyond two turns (see `Seen`)
    outside: int = 0  # samples with angles beyond stops


def checksum_of(folder: Path) -> str:
    """Return the checksum that a saved program states of itself and all its files."""
    document = read_json(folder / HEAD, MOST_HEAD)
    if not isinstance(document, dict) or "checksum" not in document:
        raise DataError(f"{folder / HEAD}: damaged: it states no checksum")
    return str(document["checksum"])


def remember(checksum: str, program: Program) -> None:
    """Keep a program that this process has, so that it is not loaded again."""
    _known.clear()
    _known[checksum] = program


def program_for(job: Job) -> Program:
    """Return the program of a run, if the folder still holds that one."""
    program = _known.get(job.checksum)
    if program is None:
        folder = Path(job.program)
        if checksum_of(folder) != job.checksum:
            raise DataError(f"{folder}: was changed since this run began")
        program = load_program(folder)
        remember(job.checksum, program)
    return program


def evaluate_chunk(job: Job, task: Task) -> Tally:
    """Evaluate a chunk; its results are on the disk when this returns."""
    program = program_for(job)
    engine = program.engine(job.payload, job.engine, job.threads)
    count = Counting(job, program)
    clock = Clock()
    with written(job.target, task.files) as sink:
        for row, part, place, table in pieces(job, task, clock):
            found = evaluated(engine, table, job, part, place)
            count.add(table, found)
            clock.lap(1)
            sink.write(row, found.values)
            clock.lap(2)
    clock.lap(2)
    return count.tally(clock.seconds)


class Clock:
    """Deals time to what was done in it: reading (0), logic (1), writing (2)."""

    def __init__(self) -> None:
        self._sums = [0.0, 0.0, 0.0]
        self._then = time.perf_counter()

    def lap(self, place: int) -> None:
        """Deal the time since the last one."""
        now = time.perf_counter()
        self._sums[place] += now - self._then
        self._then = now

    @property
    def seconds(self) -> Seconds:
        """What was dealt so far."""
        return Seconds(*self._sums)


def pieces(
    job: Job, task: Task, clock: Clock | None = None
) -> Iterator[tuple[int, Part, int, NDArray[Any]]]:
    """Yield the chunk's rows: number of the first, its part and place there, and the table."""
    most = piece_rows(job.columns.width, job.dtype)
    row = task.start
    for part in task.parts:
        place = part.start
        for table in read_part(part, job.columns, job.dtype, most):
            for start in range(0, len(table), most):
                some = table[start : start + most]
                if clock is not None:
                    clock.lap(0)
                yield row, part, place, some
                row, place = row + len(some), place + len(some)
    if row != task.stop:
        raise DataError(f"rows {task.start} to {task.stop}: {row - task.start} of them were there")


def arrays_of(table: NDArray[Any], groups: Sequence[Any]) -> list[NDArray[Any]]:
    """Return an array for every group of inputs."""
    ends = np.cumsum([group.size for group in groups])[:-1]
    return np.split(table, ends, axis=1)


def evaluated(engine: Engine, table: NDArray[Any], job: Job, part: Part, place: int) -> Evaluation:
    """Return what an engine makes of rows; errors name the file and the sample in it."""
    arrays = arrays_of(table, engine.wiring.groups)
    with naming(engine.wiring, arrays, job, part, place):
        return evaluate(engine, arrays, coded=job.dtype == WORDS)


@contextlib.contextmanager
def naming(
    wiring: Wiring, arrays: Sequence[NDArray[Any]], job: Job, part: Part, place: int
) -> Iterator[None]:
    """Let errors name the file of these arrays, and the sample in it; they begin at this one."""
    try:
        yield
    except DataError as error:
        if job.dtype == WORDS:
            rows = f"samples {place} to {place + len(arrays[0]) - 1}"
            raise DataError(f"{part.path}: {error} ({rows})") from error
        told = not_codable(wiring, Batch(tuple(arrays)), place)
        raise DataError(f"{part.path}: {told}") from error


class Counting:
    """Sums up what is counted, piece after piece."""

    def __init__(self, job: Job, program: Program) -> None:
        self._program, self._payload = program, job.payload
        self._problem = None if job.against is None else reference(job.against, job.payload)
        outputs = program.chosen(job.payload).outputs if self._problem else ()
        self._steps = np.array([output.code.step for output in outputs])
        self._coded = job.dtype == WORDS
        self._angles, self._seen = Angles(program.groups, program.angles), Seen()
        self._counts = [0, 0, 0, 0]
        self._errors = [[0, 0] for _ in outputs]

    def add(self, table: NDArray[Any], found: Evaluation) -> None:
        """Add what was found of some rows."""
        counts = found.saturated_inputs, found.saturated_outputs, found.beyond_stops
        for k, count in enumerate((len(table), *counts)):
            self._counts[k] += count
        if not self._coded:
            arrays = arrays_of(table, self._program.groups)
            self._seen = self._seen.joined(self._angles.seen(arrays, len(table)))
        if self._problem is None:
            return
        states = arrays_of(self._values(table), self._program.groups)
        with np.errstate(over="ignore", invalid="ignore"):
            errors = (found.values - self._problem.reference(*states)) / self._steps
        parts = np.rint(np.nan_to_num(errors * FINE, nan=MOST_ERROR))
        sizes = np.minimum(np.abs(parts), MOST_ERROR).astype(np.uint64)
        squares = sizes * sizes
        for k, sums in enumerate(self._errors):  # in two halves: neither overflows
            column = squares[:, k]
            high, low = (column >> np.uint64(32)).sum(), (column & _LOW).sum()
            sums[0] += (int(high) << 32) + int(low)
            sums[1] = max(sums[1], int(sizes[:, k].max(initial=0)))

    def _values(self, table: NDArray[Any]) -> NDArray[np.float64]:
        """Return states as values: of code words the middles of their cells."""
        if not self._coded:
            return table.astype(np.float64)
        codes = {word.name: word.code for word in self._program.inputs}
        names = [name for group in self._program.groups for name in group.members]
        values = np.zeros(table.shape)
        for k, name in enumerate(names):
            if name in codes:
                values[:, k] = codes[name].centre(codes[name].index(table[:, k]))
        return values

    def tally(self, seconds: Seconds) -> Tally:
        """Return the sums."""
        samples, inputs, outputs, beyond = self._counts
        errors = tuple(Errors(*sums) for sums in self._errors)
        return Tally(
            samples, inputs, outputs, beyond, errors, seconds,
            angle=self._seen.most, outside=self._seen.outside,
        )  # fmt: skip


@lru_cache(maxsize=4)
def reference(against: Against, payload: float | None) -> Problem:
    """Return the problem that results are compared with, if it still is the same."""
    problem = problem_of(against.name, against.of, payload or 0.0)
    if against.key not in ("", problem.key):
        raise DataError(f"{against.name}: was changed since this run began")
    return problem
