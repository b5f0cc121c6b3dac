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
import warnings
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from boolcomp.base.files import UNFINISHED, check_place, folder_of, sync_folder
from boolcomp.batches.chunk import (
    FINE,
    Against,
    Errors,
    Job,
    Seconds,
    Tally,
    checksum_of,
    evaluate_chunk,
    reference,
    remember,
)
from boolcomp.batches.journal import Journal
from boolcomp.batches.plan import Plan, usual_chunk
from boolcomp.common.errors import (
    DataError,
    DataWarning,
    UsageError,
    listing,
    require_name,
    spelled,
)
from boolcomp.common.workers import ALONE, Workers
from boolcomp.problem.degrees import Seen
from boolcomp.program.files import load_program
from boolcomp.program.writing import HEAD, render_program, save_program
from boolcomp.scale.batch_parts import columns_of, results_of
from boolcomp.scale.batch_sources import find_source
from boolcomp.scale.journal import ENDINGS, NPY, Target, create, form_for, has, is_there, telling

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from boolcomp.batches.chunk import Task
    from boolcomp.codes import Answer
    from boolcomp.engines import EngineName
    from boolcomp.problem.problem import Problem
    from boolcomp.program.parts import CodedOutput
    from boolcomp.program.program import Program

ENDING = ".unfinished"
OURS = {"journal", "output", "program"}
LAYOUT = 1  # of journals and chunks: runs of others are not gone on with


@dataclass(frozen=True, slots=True)
class OutputErrors:
    """What an output errs by, over all states of a run, in LSB."""

    name: str
    rms: float
    largest: float


@dataclass(frozen=True, slots=True)
class Batches:
    """What a run found: counts over all samples, and errors where results were compared.

    `resumed` of the `chunks` were done by earlier runs. `seconds` are those of workers, summed up,
    of this run and the earlier ones; `sent` are bytes from worker to worker. Results are of the
    type `answer`. A `question` is asked where angles look like degrees.
    """

    samples: int
    saturated_inputs: int
    saturated_outputs: int
    beyond_stops: int
    errors: tuple[OutputErrors, ...]
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
) -> Batches:
    """Evaluate the states of files into files, by `workers`, and return what was counted.

    The source is an .npy or Parquet file, a zarr array, or a folder of .npy or Parquet files, which
    are one table in the order of their names, numbers in them taken as such. The target is an .npy
    file, a zarr array (.zarr), or a folder of Parquet (.parquet) or of files as the source's.
    Unsigned integers are code words, of other numbers float32 stays so. With `against`, a robot or
    a function (file), results are compared with what is exact. `advance` is told how many more
    rows are done. Of a Dask cluster workers may share the product terms of a chunk (`shard`) and
    not the samples. Given again, a run that was ended goes on.
    """
    final = Path(os.path.realpath(target))  # a symbolic link stays one
    check_place(final / "any" if final.is_dir() else final)
    run = _prepared(
        program, Path(source), Path(target), final, payload=payload, against=against, of=of
    )
    job = replace(run.job, engine=engine, threads=threads)
    if shard != "samples":
        check_shard(shard, run.mode)
    rows = usual_chunk(run.source.rows) if chunk is None else max(1, chunk)
    plan = Plan(run.source, job.target.form, rows)
    asked = {
        "layout": LAYOUT, "program": job.checksum, "payload": job.payload,
        "input": run.source.identity, "rows": run.source.rows, "output": job.target.form,
        "chunks": len(plan), "chunk": rows, "against": job.against and list(job.against[1:]),
    }  # fmt: skip
    folder = Path(job.target.place).parent
    with contextlib.ExitStack() as around:
        with telling(job.target):
            around.enter_context(folder_of(folder / "journal"))
        around.callback(_tidy, folder)
        if not isinstance(program, str | Path):
            save_program(program, job.program)
        with Journal(folder / "journal", asked) as journal:
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
            found = _summed(job, run.outputs, journal, len(plan), resumed)
    if found.question:
        warnings.warn(f"{source}: {found.question}", DataWarning, stacklevel=2)
    return found


@dataclass(frozen=True, slots=True)
class _Run:
    job: Job
    source: Any
    outputs: Sequence[CodedOutput]
    mode: str


def check_shard(shard: str, mode: str) -> None:
    """Refuse a way to share work that a program, or files in chunks, do not have."""
    if shard != "terms":
        require_name("shard", shard, ("samples", "terms"))
    if mode == "compact":
        raise UsageError(
            "--shard terms deals out product terms, and a compact program has none: say "
            "--shard samples, or compile with --mode paper"
        )


def _prepared(
    given: Program | str | Path,
    source: Path,
    target: Path,
    final: Path,
    *,
    payload: float | None,
    against: str | Path | None,
    of: str,
) -> _Run:
    """Look at everything that can be wrong before anything is written."""
    folder = final.parent / f"{final.name}{ENDING}"
    if isinstance(given, str | Path):
        place = Path(os.path.abspath(given))  # noqa: PTH100 (links stay)
        program, checksum = load_program(place), checksum_of(place)
    else:
        program, place = given, folder / "program"
        checksum = str(json.loads(render_program(program)[HEAD])["checksum"])
    if payload is None and len(program.payloads) > 1:
        masses = listing(f"{mass:g}" for mass in program.payloads)
        raise UsageError(f"this program has payloads {masses} kg: say which with --payload")
    remember(checksum, program)
    columns, results = columns_of(program), results_of(program, payload)
    found = find_source(source, columns)
    if Path(os.path.realpath(source)) == final:
        raise UsageError(f"{target} is the input: give the results another name")
    form = form_for(target, found.form)
    real = "float32" if found.dtype == "float32" else "float64"
    grown = Target(form, str(folder / "output"), str(target), found.rows, real, results)
    compared = None if against is None else _against(str(against), of, payload, program)
    job = Job(str(place), checksum, payload, "auto", 1, columns, found.dtype, grown, compared)
    return _Run(job, found, program.chosen(payload).outputs, program.mode)


def _against(name: str, of: str, payload: float | None, program: Program) -> Against:
    """Return what results are compared with: it must be of the same words."""
    path = Path(name.partition("#")[0])
    absolute = str(path.absolute()) + name[len(str(path)) :] if path.is_file() else name
    problem = reference(Against(absolute, of, ""), payload)
    if problem.groups != program.groups or problem.returned != program.returned:
        raise UsageError(
            f"{name}: {_function(problem)} there, and {_function(program)} in the program: they "
            "cannot be compared"
        )
    return Against(absolute, of, problem.key)


def _function(of: Problem | Program) -> str:
    inputs = listing(name for group in of.groups for name in group.members)
    return f"{inputs} give {listing(of.returned.members)}"


def _begun(journal: Journal, job: Job, plan: Sequence[Task], final: Path) -> bool:
    """Make what workers write to, if it is not there; tell whether a run was as good as over."""
    target = job.target
    if is_there(target):
        if target.form in ENDINGS:  # files that somebody took away are made again
            for number in [*journal.done]:
                if number >= len(plan) or not all(has(target, x) for x in plan[number].files):
                    del journal.done[number]
        _check_free(target, final)
        return False
    if len(journal.done) == len(plan) and final.exists():
        return True  # it was ended between its last two steps
    _check_free(target, final)
    journal.restart()
    with telling(target):
        _remove(Path(target.place))
    create(target)
    return False


def _check_free(target: Target, final: Path) -> None:
    """Refuse to replace what is no file: whatever lies in a folder may be dear to somebody."""
    if final.is_dir() and (target.form == NPY or any(final.iterdir())):
        raise DataError(f"{target.name}: is a folder already: take it away, or give another name")
    if final.is_file() and target.form != NPY:
        raise DataError(f"{target.name}: is a file already: take it away, or give another name")


def _tallies(
    workers: Workers, shard: str, job: Job, plan: Sequence[Task], left: Sequence[int]
) -> Iterator[tuple[int, Tally]]:
    """Yield (place, tally) of the chunks that are left, as they come."""
    if shard == "samples" or not left:
        return workers.completed(evaluate_chunk, Calls(job, plan, left))
    from boolcomp.batches import terms  # noqa: PLC0415 (only who deals out terms needs it)

    return terms.completed(workers, job, plan, left)


class Calls(list[Any]):
    """The calls for the chunks of these numbers, made when they are asked for."""

    def __init__(self, job: Job, plan: Sequence[Task], numbers: Iterable[int]) -> None:
        super().__init__(numbers)
        self._job, self._plan = job, plan

    def __getitem__(self, place: Any) -> Any:
        return self._job, self._plan[super().__getitem__(place)]


def _publish(target: Target, final: Path) -> None:
    """Give what is whole its name."""
    place = Path(target.place)
    with telling(target):
        if place.is_dir():  # what killed workers left
            for one in place.iterdir():
                if one.name.startswith(".") and one.name.endswith(UNFINISHED):
                    one.unlink(missing_ok=True)
            sync_folder(place)
        place.replace(final)
        sync_folder(final.parent)


def _summed(
    job: Job, outputs: Sequence[CodedOutput], journal: Journal, chunks: int, resumed: int
) -> Batches:
    """Sum up what is known of all chunks, in their order: seconds are no integers."""
    records = [journal.done[k] for k in sorted(journal.done)]
    samples, inputs, results, beyond, sent = (
        sum(int(record[name]) for record in records)
        for name in ("samples", "saturated_inputs", "saturated_outputs", "beyond_stops", "sent")
    )
    angle = max((float(record.get("angle", 0)) for record in records), default=0.0)
    outside = sum(int(record.get("outside", 0)) for record in records)
    errors = []
    for k, output in enumerate(outputs if job.against else ()):
        each = [Errors(*record["errors"][k]) for record in records]
        mean = sum(one.squares for one in each) / max(1, samples)
        largest = max((one.largest for one in each), default=0)
        errors.append(OutputErrors(output.name, mean**0.5 / FINE, largest / FINE))
    columns = zip(*(record["seconds"] for record in records), strict=True)
    seconds = Seconds(*(float(sum(column)) for column in columns))
    answer: Answer = "float32" if job.target.dtype == "float32" else "float64"
    return Batches(
        samples, inputs, results, beyond, tuple(errors), chunks, resumed, seconds, sent, answer,
        Seen(angle, outside, samples).question,
    )  # fmt: skip


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def _tidy(folder: Path) -> None:
    """Remove a folder of a run that has done nothing: there is nothing to go on with."""
    with contextlib.suppress(OSError):
        if {one.name for one in folder.iterdir()} <= OURS and not Journal.begun(folder / "journal"):
            shutil.rmtree(folder, ignore_errors=True)


__all__ = ["Batches", "OutputErrors", "Tally", "evaluate_files"]
