"""Very many states evaluated, chunk by chunk, wherever that is; a run goes on where it was ended.

    OUT.unfinished/journal    which chunks are done
    OUT.unfinished/output     what becomes OUT when all are
    OUT.unfinished/program    the program, where it is not a saved one

Workers find all of these by their names: machines of a cluster share a disk.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import threading
import time
from concurrent.futures import Executor, Future
from dataclasses import dataclass
from functools import lru_cache
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeVar

import numpy as np

from boolcomp.base.errors import (
    DataError,
    UsageError,
    listing,
    require_name,
    spelled,
    warn,
)
from boolcomp.base.files import UNFINISHED, check_place, folder_of, read_json, sync_folder, telling
from boolcomp.base.workers import ALONE, LazyExecutor, Workers, completed
from boolcomp.engines.choice import engine_name
from boolcomp.engines.engine import Batch, Evaluation, batch_of, evaluate, not_codable
from boolcomp.problem.problem import AngleInputs, degrees_question
from boolcomp.problem.sources import problem_of
from boolcomp.program.files import MOST_HEAD, load_program
from boolcomp.program.program import HEAD, render_program, save_program
from boolcomp.scale import batch_files
from boolcomp.scale.batch_files import (
    WORDS,
    TableColumns,
    columns_of,
    find_source,
    piece_rows,
    read_part,
    results_of,
)
from boolcomp.scale.journal import (
    ENDINGS,
    NPY,
    ZARR,
    Journal,
    OutFile,
    ResultTarget,
    create,
    form_for,
    has,
    is_there,
    write_rows,
)
from boolcomp.scale.partition import make_shares
from boolcomp.scale.stages import BAD, CLIPPED, OUTSIDE, make_runner, planes_bytes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from boolcomp.codes import Answer
    from boolcomp.engines.choice import EngineName
    from boolcomp.engines.engine import Engine, Wiring
    from boolcomp.problem.problem import Problem
    from boolcomp.program.program import CodedOutput, Program
    from boolcomp.scale.batch_files import FilePart, FileSource
    from boolcomp.scale.stages import Runner, Stage


# --------------------------------------------------------------------------------------------------
# Work on a chunk: a worker reads its rows, evaluates them and writes the results.
#
# Workers return counts only. Counts are integers, so that their sums do not depend on the order or
# the number of workers.
# --------------------------------------------------------------------------------------------------


FINE = 1 << 16  # parts of an LSB in which errors are counted
MOST_ERROR = (1 << 31) - 1  # such parts: 32,768 LSB
_LOW = np.uint64((1 << 32) - 1)
_known: dict[str, Program] = {}  # of this process, by checksum


class Against(NamedTuple):
    """The reference of a comparison: a robot or function by name, and its key."""

    name: str
    of: str
    key: str


@dataclass(frozen=True, slots=True)
class BatchJob:
    """The values that all chunks of a run share."""

    program: str  # its folder
    checksum: str
    payload: float | None
    engine: EngineName
    threads: int
    columns: TableColumns
    dtype: str  # of the states
    target: ResultTarget
    against: Against | None = None


@dataclass(frozen=True, slots=True)
class ChunkTask:
    """One chunk: where its rows stand, and the files of a folder that it makes."""

    number: int
    start: int
    stop: int
    parts: tuple[FilePart, ...]
    files: tuple[OutFile, ...]


class Seconds(NamedTuple):
    """How long a worker read and decoded, evaluated, and wrote."""

    reading: float = 0.0
    logic: float = 0.0
    writing: float = 0.0


class Tally(NamedTuple):
    """The counts of some rows and the times they took.

    `errors` are of each output, in 1/`FINE` LSB: the sum of squares, and the largest. `sent` is in
    bytes, from worker to worker. `angle` is the largest that looks like degrees.
    """

    samples: int = 0
    saturated_inputs: int = 0
    saturated_outputs: int = 0
    beyond_stops: int = 0
    errors: tuple[tuple[int, int], ...] = ()
    seconds: Seconds = Seconds()
    sent: int = 0
    angle: float = 0.0

    def joined(self, other: Tally) -> Tally:
        """Return the counts of both sets of rows."""
        pairs = zip_longest(self.errors, other.errors, fillvalue=(0, 0))
        return Tally(
            self.samples + other.samples,
            self.saturated_inputs + other.saturated_inputs,
            self.saturated_outputs + other.saturated_outputs,
            self.beyond_stops + other.beyond_stops,
            tuple((a[0] + b[0], max(a[1], b[1])) for a, b in pairs),
            Seconds(*(a + b for a, b in zip(self.seconds, other.seconds, strict=True))),
            self.sent + other.sent,
            max(self.angle, other.angle),
        )


def checksum_of(folder: Path) -> str:
    """Return the checksum that a saved program states of itself and all its files."""
    document = read_json(folder / HEAD, MOST_HEAD)
    if not isinstance(document, dict) or "checksum" not in document:
        raise DataError("damaged: it states no checksum", where=folder / HEAD)
    return str(document["checksum"])


def remember(checksum: str, program: Program) -> None:
    """Keep a program that this process has, so that it is not loaded again."""
    _known.clear()
    _known[checksum] = program


def program_for(job: BatchJob) -> Program:
    """Return the program of a run, if the folder still holds that one."""
    program = _known.get(job.checksum)
    if program is None:
        folder = Path(job.program)
        if checksum_of(folder) != job.checksum:
            raise DataError("was changed since this run began", where=folder)
        program = load_program(folder)
        remember(job.checksum, program)
    return program


def evaluate_chunk(job: BatchJob, task: ChunkTask) -> Tally:
    """Evaluate a chunk; its results are on the disk when this returns."""
    return _written(job, task, program_for(job).engine(job.payload, job.engine, job.threads))


def _written(
    job: BatchJob, task: ChunkTask, engine: Engine, planes: Sequence[list[NDArray[np.uint8]]] = ()
) -> Tally:
    """Write the results of a chunk; `planes` are what a share is handed for each of the pieces."""
    program, clock, tally = program_for(job), StageClock(), Tally()

    def results() -> Iterator[NDArray[Any]]:
        nonlocal tally
        for k, (part, place, table) in enumerate(pieces(job, task)):
            clock.lap(0)
            if isinstance(engine, EngineShare):
                engine.handed = [one[k] for one in planes]
            arrays = arrays_of(table, engine.wiring.groups)
            with naming(engine.wiring, arrays, job, part, place):
                found = evaluate(engine, arrays, coded=job.dtype == WORDS)
            tally = tally.joined(counted(job, program, table, found))
            clock.lap(1)
            yield found.values
            clock.lap(2)

    write_rows(job.target, task.files, task.start, task.stop, results())
    clock.lap(2)
    sent = sum(one.nbytes for other in planes for one in other)
    return tally._replace(seconds=Seconds(*clock.seconds), sent=sent)


class StageClock:
    """Assigns time to reading (0), logic (1) and writing (2)."""

    def __init__(self) -> None:
        self.seconds = [0.0, 0.0, 0.0]
        self._then = time.perf_counter()

    def lap(self, place: int) -> None:
        """Assign the time since the last call."""
        now = time.perf_counter()
        self.seconds[place] += now - self._then
        self._then = now


def pieces(job: BatchJob, task: ChunkTask) -> Iterator[tuple[FilePart, int, NDArray[Any]]]:
    """Yield the chunk's rows: the part of the table and its place there, and the table."""
    most = piece_rows(job.columns.width, job.dtype)
    count = 0
    for part in task.parts:
        place = part.start
        for table in read_part(part, job.columns, job.dtype, most):
            for start in range(0, len(table), most):
                yield part, place + start, table[start : start + most]
            place, count = place + len(table), count + len(table)
    if count != task.stop - task.start:
        raise DataError(f"{count} rows were found in rows {task.start} to {task.stop}")


def arrays_of(table: NDArray[Any], groups: Sequence[Any]) -> list[NDArray[Any]]:
    """Return an array for every group of inputs."""
    ends = np.cumsum([group.size for group in groups])[:-1]
    return np.split(table, ends, axis=1)


@contextlib.contextmanager
def naming(
    wiring: Wiring, arrays: Sequence[NDArray[Any]], job: BatchJob, part: FilePart, place: int
) -> Iterator[None]:
    """Let errors name the file of these arrays, and the sample in it; they begin at this one."""
    try:
        yield
    except DataError as error:
        if job.dtype == WORDS:
            rows = f"samples {place} to {place + len(arrays[0]) - 1}"
            raise DataError.around(error, f"{part.path}, {rows}") from error
        told = not_codable(wiring, Batch(tuple(arrays)), place)
        raise DataError.around(told, part.path) from error


def counted(job: BatchJob, program: Program, table: NDArray[Any], found: Evaluation) -> Tally:
    """Return the counts of some rows and their results."""
    counts = len(table), found.saturated_inputs, found.saturated_outputs, found.beyond_stops
    angle = 0.0
    errors: tuple[tuple[int, int], ...] = ()
    if job.dtype != WORDS:
        angles = AngleInputs(program.groups, program.angles)
        angle = angles.largest(arrays_of(table, program.groups))
    if job.against is not None:
        exact = reference(job.against, job.payload).reference
        with np.errstate(over="ignore", invalid="ignore"):
            given = found.values - exact(*arrays_of(_values(job, program, table), program.groups))
        outputs = program.chosen(job.payload).outputs
        errors = tuple(_errors(given[:, k], x.code.step) for k, x in enumerate(outputs))
    return Tally(*counts, errors, angle=angle)


def _errors(errors: NDArray[np.float64], step: float) -> tuple[int, int]:
    """Return the sum of squares of errors in LSB and the largest, in parts of `FINE`."""
    with np.errstate(over="ignore", invalid="ignore"):
        parts = np.rint(np.nan_to_num(errors / step * FINE, nan=MOST_ERROR))
    sizes = np.minimum(np.abs(parts), MOST_ERROR).astype(np.uint64)
    squares = sizes * sizes  # summed in two halves: neither overflows
    high, low = int((squares >> np.uint64(32)).sum()), int((squares & _LOW).sum())
    return (high << 32) + low, int(sizes.max(initial=0))


def _values(job: BatchJob, program: Program, table: NDArray[Any]) -> NDArray[np.float64]:
    """Return states as values: of code words the middles of their cells."""
    if job.dtype != WORDS:
        return table.astype(np.float64)
    codes = {word.name: word.code for word in program.inputs}
    values = np.zeros(table.shape)
    for k, name in enumerate(job.columns.names):
        if name in codes:
            values[:, k] = codes[name].centre(codes[name].index(table[:, k]))
    return values


@lru_cache(maxsize=4)
def reference(against: Against, payload: float | None) -> Problem:
    """Return the problem that results are compared with, if it still is the same."""
    problem = problem_of(against.name, against.of, payload or 0.0)
    if against.key not in ("", problem.key):
        raise DataError("was changed since this run began", where=against.name)
    return problem


# --------------------------------------------------------------------------------------------------
# Division of a source into chunks: one call of a worker each.
#
# A chunk is the unit of work that a killed run loses, and takes many times as long as a call.
# Chunks depend on the files only, not on workers.
# --------------------------------------------------------------------------------------------------


LEAST, MOST = 1 << 17, 1 << 22  # rows of a chunk: of the largest some ten milliseconds of logic
SHORT = 16  # chunks are enough for files of fewer rows


def usual_chunk(rows: int) -> int:
    return max(LEAST, min(MOST, -(-rows // (SHORT * LEAST)) * LEAST))


class ChunkPlan:
    """The chunks of a run, made when needed, because there may be millions."""

    def __init__(self, source: FileSource, form: str, rows: int) -> None:
        self.source, self.form = source, form
        self.by_files = source.folder and form in ENDINGS
        self.ends = _by_files(source, rows) if self.by_files else _by_rows(source, form, rows)
        self.stems = [Path(name).stem for name, _ in source.files] if self.by_files else []

    def __len__(self) -> int:
        return len(self.ends)

    def __getitem__(self, place: int) -> ChunkTask:
        first, last = (self.ends[place - 1] if place else 0), self.ends[place]
        if not self.by_files:
            start, stop = first, last
            named = [OutFile(f"{place:08d}", start, stop)] if self.form in ENDINGS else []
        else:
            starts = self.source.starts
            start, stop = starts[first], starts[last]
            named = [OutFile(self.stems[k], starts[k], starts[k + 1]) for k in range(first, last)]
        return ChunkTask(place, start, stop, self.source.parts(start, stop), tuple(named))


def _by_rows(source: FileSource, form: str, rows: int) -> list[int]:
    """Return the last row's end of every chunk.

    Chunks end where reading may best stop; of an array that is written, where a chunk of it ends.
    """
    ends: list[int] = []
    if form == ZARR:
        each = -(-rows // batch_files.ROWS) * batch_files.ROWS
        ends = [*range(each, source.rows, each), source.rows]
    else:
        row = 0
        while row < source.rows:
            row = source.end_after(row + rows)
            ends.append(row)
    return ends or [0]


def _by_files(source: FileSource, rows: int) -> list[int]:
    """Return the end of every chunk's files: whole ones, whose rows are enough together."""
    starts = source.starts
    names = [Path(name).stem for name, _ in source.files]
    if len({*names}) < len(names):
        raise DataError("two files of the same name", where=source.path)
    ends = []
    first = 0
    for k in range(1, len(starts)):
        if starts[k] - starts[first] >= rows or k == len(starts) - 1:
            ends.append(k)
            first = k
    return ends


# --------------------------------------------------------------------------------------------------
# Very many states evaluated, chunk by chunk, wherever that is; a run goes on where it was ended.
# --------------------------------------------------------------------------------------------------


ENDING = ".unfinished"
LAYOUT = 2  # of journals and chunks: runs of others are not gone on with


@dataclass(frozen=True, slots=True)
class SampledErrors:
    """Errors of an output over all states of a run, in LSB."""

    name: str
    rms: float
    largest: float


@dataclass(frozen=True, slots=True)
class BatchTotals:
    """Counts over all samples of a run, and errors if results were compared.

    `resumed` of the `chunks` were done by earlier runs. `seconds` are the sum over workers of this
    and earlier runs; `sent` is the number of bytes between workers. Results have the type `answer`.
    `question` is a warning about angles that may be degrees.
    """

    samples: int
    saturated_inputs: int
    saturated_outputs: int
    beyond_stops: int
    errors: tuple[SampledErrors, ...]
    chunks: int
    resumed: int
    seconds: Seconds
    sent: int
    answer: Answer = "float64"
    question: str = ""


@spelled
def evaluate_files(
    program: Program | str | Path,
    source: str | Path,
    target: str | Path,
    *,
    workers: Workers = ALONE,
    payload: float | None = None,
    engine: EngineName = "auto",
    threads: int = 1,
    shard: Literal["samples", "terms"] = "samples",
    against: str | Path | None = None,
    of: str = "inverse-dynamics",
    chunk: int | None = None,
    advance: Callable[[int], None] = lambda _: None,
) -> BatchTotals:
    """Evaluate the states of files into files by `workers`, and return the counts.

    The source is an .npy or Parquet file, a zarr array, or a folder of .npy or Parquet files that
    form one table in the natural order of their names. The target is an .npy file, a zarr array
    (.zarr), or a folder of Parquet files (.parquet) or of files like those of the source. Unsigned
    integers are code words; float32 stays float32. `against` names a robot or a function (file)
    whose exact results are compared. `advance` is called with the number of rows that were
    completed. On a Dask cluster, workers can share the product terms of a chunk instead of samples
    (`shard`). An interrupted run continues when it is called again.
    """
    final = Path(os.path.realpath(target))  # a symbolic link stays one
    check_place(final / "any" if final.is_dir() else final)
    job, found, loaded = _prepared(
        program, Path(source), Path(target), final, (payload, engine, threads),
        against=against, of=of,
    )  # fmt: skip
    if shard != "samples":
        check_shard(shard, loaded.mode)
    rows = usual_chunk(found.rows) if chunk is None else max(1, chunk)
    plan = ChunkPlan(found, job.target.form, rows)
    asked = {
        "layout": LAYOUT, "program": job.checksum, "payload": job.payload,
        "input": found.identity, "rows": found.rows, "output": job.target.form,
        "chunks": len(plan), "chunk": rows, "against": job.against and list(job.against[1:]),
    }  # fmt: skip
    folder = Path(job.target.place).parent
    with contextlib.ExitStack() as around:
        with telling(job.target.name):
            around.enter_context(folder_of(folder / "journal"))
        journal = around.enter_context(Journal(folder / "journal", asked))
        if not isinstance(program, str | Path):
            save_program(program, job.program)
        whole = _begun(journal, job, plan, final)
        resumed = len(journal.done)
        if not whole:
            left = [k for k in range(len(plan)) if k not in journal.done]
            advance(sum(int(record["samples"]) for record in journal.done.values()))
            for place, tally in _tallies(workers, shard, job, plan, left):
                journal.add({"chunk": left[place], **tally._asdict()})
                advance(tally.samples)
            _publish(job.target, final)
        shutil.rmtree(folder, ignore_errors=True)
        totals = _summed(job, loaded.chosen(payload).outputs, journal, len(plan), resumed)
    if totals.question:
        warn(f"{source}: {totals.question}")
    return totals


def check_shard(shard: str, mode: str) -> None:
    """Refuse a way to share work that a program, or files in chunks, do not have."""
    if shard != "terms":
        require_name("shard", shard, ("samples", "terms"))
    if mode == "compact":
        raise UsageError(
            "--shard terms distributes product terms, and a compact program has none",
            "use --shard samples, or compile with --mode paper",
        )


def _prepared(
    given: Program | str | Path, source: Path, target: Path, final: Path,
    chosen: tuple[float | None, EngineName, int], *, against: str | Path | None, of: str,
) -> tuple[BatchJob, FileSource, Program]:  # fmt: skip
    """Look at everything that can be wrong before anything is written."""
    folder, payload = final.parent / f"{final.name}{ENDING}", chosen[0]
    if isinstance(given, str | Path):
        place = Path(os.path.abspath(given))  # noqa: PTH100 (links stay)
        program, checksum = load_program(place), checksum_of(place)
    else:
        program, place = given, folder / "program"
        checksum = str(json.loads(render_program(program)[HEAD])["checksum"])
    if payload is None and len(program.payloads) > 1:
        masses = listing(f"{mass:g}" for mass in program.payloads)
        raise UsageError(f"this program has payloads {masses} kg", "select one with --payload")
    remember(checksum, program)
    columns, results = columns_of(program), results_of(program, payload)
    found = find_source(source, columns)
    if Path(os.path.realpath(source)) == final:
        raise UsageError(f"{target} is the input", "give the results another name")
    form = form_for(target, found.form)
    real = "float32" if found.dtype == "float32" else "float64"
    grown = ResultTarget(form, str(folder / "output"), str(target), found.rows, real, results)
    compared = None if against is None else _against(str(against), of, payload, program)
    job = BatchJob(str(place), checksum, *chosen, columns, found.dtype, grown, compared)
    return job, found, program


def _against(name: str, of: str, payload: float | None, program: Program) -> Against:
    """Return the reference of the comparison; it must have the same words."""
    path = Path(name.partition("#")[0])
    absolute = str(path.absolute()) + name[len(str(path)) :] if path.is_file() else name
    problem = reference(Against(absolute, of, ""), payload)
    if problem.groups != program.groups or problem.returned != program.returned:
        raise UsageError(
            f"{_function(problem)} there, and {_function(program)} in the program, cannot be "
            "compared", where=name,
        )  # fmt: skip
    return Against(absolute, of, problem.key)


def _function(of: Problem | Program) -> str:
    inputs = listing(name for group in of.groups for name in group.members)
    return f"{inputs} give {listing(of.returned.members)}"


def _begun(journal: Journal, job: BatchJob, plan: ChunkPlan, final: Path) -> bool:
    """Make what workers write to, if it is not there; tell whether a run was as good as over."""
    target = job.target
    if is_there(target):
        if target.form in ENDINGS:  # deleted files are made again
            for number in [*journal.done]:
                if number >= len(plan) or not all(has(target, x) for x in plan[number].files):
                    del journal.done[number]
        _check_free(target, final)
        return False
    if len(journal.done) == len(plan) and final.exists():
        return True  # it was ended between its last two steps
    _check_free(target, final)
    journal.restart()
    with telling(target.name):
        _remove(Path(target.place))
    create(target)
    return False


def _check_free(target: ResultTarget, final: Path) -> None:
    """Refuse to replace a folder that is no earlier result."""
    if final.is_dir() and (target.form == NPY or any(final.iterdir())):
        raise DataError(
            "a folder of this name exists", "remove it, or give another name", where=target.name
        )
    if final.is_file() and target.form != NPY:
        raise DataError(
            "a file of this name exists", "remove it, or give another name", where=target.name
        )


def _tallies(
    workers: Workers, shard: str, job: BatchJob, plan: ChunkPlan, left: Sequence[int]
) -> Iterator[tuple[int, Tally]]:
    """Yield (place, tally) of the chunks that are left, as they come."""
    calls = ((job, plan[k]) for k in left)
    if shard == "samples" or not left:
        yield from workers.completed(evaluate_chunk, calls)
        return
    with workers.opened() as open_:
        pool = open_.where.started if isinstance(open_.where, LazyExecutor) else open_.where
        for place, future in completed(TermsPool(pool), joined, calls):
            yield place, future.result()


def _publish(target: ResultTarget, final: Path) -> None:
    """Give what is whole its name."""
    place = Path(target.place)
    with telling(target.name):
        if place.is_dir():  # what killed workers left
            for one in place.iterdir():
                if one.name.startswith(".") and one.name.endswith(UNFINISHED):
                    one.unlink(missing_ok=True)
            sync_folder(place)
        place.replace(final)
        sync_folder(final.parent)


def _summed(
    job: BatchJob, outputs: Sequence[CodedOutput], journal: Journal, chunks: int, resumed: int
) -> BatchTotals:
    """Sum up what is known of all chunks, in their order: seconds are no integers."""
    total = Tally(errors=((0, 0),) * len(outputs) if job.against else ())
    for k in sorted(journal.done):
        record = {name: x for name, x in journal.done[k].items() if name != "chunk"}
        total = total.joined(Tally(**record))
    samples = total.samples
    errors = tuple(
        SampledErrors(output.name, (squares / max(1, samples)) ** 0.5 / FINE, largest / FINE)
        for output, (squares, largest) in zip(outputs, total.errors, strict=False)
    )
    answer: Answer = "float32" if job.target.dtype == "float32" else "float64"
    question = degrees_question(total.angle)
    return BatchTotals(
        *total[:4], errors, chunks, resumed, total.seconds, total.sent, answer, question
    )


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


# --------------------------------------------------------------------------------------------------
# Product terms dealt to the workers of a Dask cluster (the paper's Fig. 2a), chunk by chunk.
#
# Every worker evaluates its terms for all samples of a chunk, which it reads itself. The planes of
# partial results pass from worker to worker; the last one joins them and makes the outputs (see
# `partition`). Only Dask passes results between workers, so this needs a Dask cluster.
# --------------------------------------------------------------------------------------------------


class EngineShare:
    """An engine for one share: it makes planes, or takes those of the others and makes outputs."""

    name = "llvm"

    def __init__(self, stage: Stage, wiring: Wiring, engine: str) -> None:
        self.stage, self.wiring = stage, wiring
        self.runner: Runner = make_runner(stage, engine)
        self.handed: list[NDArray[np.uint8]] = []
        self.sent = np.empty(0, np.uint8)

    def run(self, batch: Batch) -> Evaluation:
        """Do what the share does for a batch; without outputs there are no results."""
        values, words = batch.empty_results(len(self.stage.results))
        self.sent = np.empty(planes_bytes(len(self.stage.sent), batch.samples), np.uint8)
        out = values if self.stage.results else self.sent
        counts = self.runner.run_stage(batch.arrays, self.handed, out, words)
        if counts[BAD]:
            raise not_codable(self.wiring, batch)
        outside = int(counts[OUTSIDE]) if self.stage.counting else 0
        return Evaluation(values, words, outside, int(counts[CLIPPED]))


def share_of(job: BatchJob, k: int, count: int) -> EngineShare:
    return _share_of(job, k, count, threading.get_ident())


@lru_cache(maxsize=8)
def _share_of(job: BatchJob, k: int, count: int, thread: int) -> EngineShare:
    del thread  # a share has memory of its own
    program = program_for(job)
    load = program.chosen(job.payload).loads[0].payload
    stages = make_shares(program, count, load)
    return EngineShare(stages[k], program.wiring(load), engine_name(job.engine))


def partial(job: BatchJob, task: ChunkTask, k: int, count: int) -> list[NDArray[np.uint8]]:
    """Return the planes of a share that is not the last, for all rows of a chunk, by pieces."""
    share = share_of(job, k, count)
    made = []
    for part, first, table in pieces(job, task):
        arrays = arrays_of(table, share.wiring.groups)
        with naming(share.wiring, arrays, job, part, first):
            share.run(batch_of(share.wiring, arrays, coded=job.dtype == WORDS)[0])
        made.append(share.sent)
    return made


def joined(job: BatchJob, task: ChunkTask, count: int, *others: list[NDArray[np.uint8]]) -> Tally:
    """Do the last share of a chunk, join what the others made, and write the results."""
    return _written(job, task, share_of(job, count - 1, count), others)


Result = TypeVar("Result")


class TermsPool(Executor):
    """Submits chunks as a share for every worker of a cluster; the last is fed by the others."""

    ahead = 3  # chunks under way at a time, each at another worker

    def __init__(self, pool: Any) -> None:
        if not hasattr(pool, "client"):
            raise UsageError(
                "--shard terms sends planes among workers", "give --cluster or --processes"
            )
        self._client = pool.client
        self._names = [*pool.client.scheduler_info(n_workers=-1)["workers"]]
        if not self._names:
            raise UsageError("--shard terms deals to workers, and the cluster has none yet")

    def submit(self, function: Callable[..., Result], /, *given: Any, **_: Any) -> Future[Result]:
        """Let the last worker call a function with the planes of the others."""
        count, place = len(self._names), {"allow_other_workers": True, "pure": False}
        made = [
            self._client.submit(partial, *given, k, count, workers=[name], **place)
            for k, name in enumerate(self._names[:-1])
        ]
        from boolcomp.base.dask import handed_on  # noqa: PLC0415 (an extra)

        last = self._client.get_executor(workers=self._names[-1:], **place)
        return handed_on(last.submit(function, *given, count, *made))
