"""`boolcomp evaluate`: torques of files of states, by logic or by Newton-Euler.

Small files are read here; files in chunks are left to the workers of boolcomp.scale.
"""

from __future__ import annotations

import contextlib
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from boolcomp.base.errors import DataError, UsageError, listing, require_name, short, shown
from boolcomp.base.files import is_folder
from boolcomp.base.processes import cores
from boolcomp.commands.options import (
    FILES,
    FilePath,
    chain_options,
    check_robot,
    completes,
    json_option,
    options,
    payload_option,
    print_result,
    refuse_given,
    wants_json,
)
from boolcomp.options import OPTIONS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from boolcomp.codes import Answer
    from boolcomp.engines.engine import Evaluation
    from boolcomp.options import GivenOptions
    from boolcomp.problem.problem import Group
    from boolcomp.problem.words import Interval
    from boolcomp.program.program import Chosen, CodedOutput

    Floats = NDArray[np.float64]


ENGINES = ("auto", "numpy", "llvm", "words", "bdd")
SHARDS = ("samples", "terms", "pipeline")


@click.command("evaluate", epilog="Example: boolcomp evaluate out/2r -i samples.csv -o torques.csv")
@click.argument("program", shell_complete=FILES)
@options(
    chain_options("program"), "function",
    click.option("-i", "--input", "source", default="-", show_default=True, type=FilePath()),
    click.option("-o", "--output", "target", default="-", show_default=True, type=FilePath()),
    click.option("--engine", default="auto", show_default=True,
                 help="auto, numpy, llvm, words, bdd.",
                 shell_complete=completes("commands.evaluate:ENGINES")),
    click.option("--threads", default=1, show_default=True, help="Threads of one native engine."),
    click.option("--processes", default=1, show_default=True, help="Worker processes."),
    "cluster",
    click.option("--shard", default="samples", show_default=True,
                 help="samples, terms or pipeline."),
    click.option("--against",
                 help="ROBOT or function file: also print errors against it (files in chunks)."),
    payload_option("payload", help="Payload in kg; the nearest compiled one is used. With a robot "
                   "also a range, 0..5, as an input."),
    click.option("--interpolate", is_flag=True,
                 help="Interpolate between the two nearest payloads."),
    json_option,
)  # fmt: skip
@click.pass_context
def command(
    context: click.Context, program: str, source: Path, target: Path, *, options: GivenOptions,
    engine: str, threads: int, processes: int, shard: str, against: str | None,
    payload: float | None, interpolate: bool,
) -> None:  # fmt: skip
    """Evaluate the torques of PROGRAM (a folder made by compile) for a file of states.

    Input columns are q1..qn, qd1..qdn, qdd1..qddn (CSV with names in any order, .npy, or .npz with
    q, qd, qdd; -, devices and pipes are CSV); output columns are tau1..taun. A column t or time (or
    T, Time) of a CSV file is copied to the first column of a CSV output. With a ROBOT in place of a
    program the torques, or the function --of, are calculated by Newton-Euler in doubles: a zero may
    print as 7e-18. A function file is calculated in the same way; its columns are the function's
    inputs. Angles of a whole turn wrap; other values outside their range saturate; values beyond
    a joint limit are used unchanged. Saturated values and values beyond limits are counted.

    Workers read and write long files (.npy, .zarr, .parquet, folders of them) in chunks, locally or
    on a --cluster. An interrupted run resumes, and unsigned integers are code words
    (docs/how-to/large-files.md).
    """
    from boolcomp.problem.samples import STANDARD

    require_name("engine", engine, ENGINES)
    require_name("shard", shard, SHARDS)
    _check_workers(threads, processes)
    if source != STANDARD and target.exists() and source.exists() and source.samefile(target):
        raise UsageError(f"{target} is the input file", "give another file for the torques")
    if wants_json() and target == STANDARD:
        raise UsageError("--json uses standard output", "give a file for the torques with -o")
    start = time.perf_counter()
    of, cluster = options.of, options.values["cluster"]
    compiled = bool(program) and is_folder(Path(program))
    if compiled and against is None:
        names = [name for name, one in OPTIONS.items() if one.group == "function"]
        refuse_given(context, names, f"{program} is a compiled program")
    wanted = cluster is not None or against is not None
    whole = interpolate and not wanted and source.suffix == ".npy"  # as one file, by this process
    if not whole and _in_chunks(source, target, processes, shard, compiled=compiled, wanted=wanted):
        if interpolate:
            raise UsageError("--interpolate needs one process and a file that is not in chunks")
        found = _in_batches(
            program, source, target, (processes, cluster), shard, payload=payload, engine=engine,
            threads=threads, against=against, of=of,
        )  # fmt: skip
    else:
        mass = payload, interpolate
        with _runner(program, of, engine, (threads, processes), shard, mass) as runner:
            found = _evaluated(runner, source, target)
    _print(found, program, target, time.perf_counter() - start)


class Evaluated(NamedTuple):
    """The outcome of an evaluation: saturated inputs and outputs, inputs beyond limits, errors.

    For a program, `outputs` have the errors of the payloads in `chosen`. `more` are further keys of
    JSON, `lines` further lines of text.
    """

    samples: int
    counts: Sequence[int]
    plural: str
    places: str
    outputs: Sequence[CodedOutput]
    answer: Answer
    chosen: Chosen | None
    more: Mapping[str, Any]
    resumed: str = ""
    lines: Sequence[str] = ()


def _print(found: Evaluated, program: str, target: Path, seconds: float) -> None:
    from boolcomp.commands.output import answer_document, guarantees

    inputs, outputs, beyond = found.counts
    document = {
        "program": program, "samples": found.samples, "seconds": seconds,
        "saturated_inputs": inputs, "saturated_torques": outputs, "beyond_stops": beyond,
        "output": str(target),
        "outputs": [answer_document(one, found.answer) for one in found.outputs], **found.more,
    }  # fmt: skip
    count = f"{found.samples} {'sample' if found.samples == 1 else 'samples'} in {seconds:.2f} s"
    saturated = f"; saturated: {inputs} inputs, {outputs} {found.plural}"
    stops = f"; beyond the {found.places}' limits: {beyond} inputs" if beyond else ""
    line = f"{count}{saturated if inputs or outputs else ''}{stops}{found.resumed}"
    lines = [line, *found.lines]
    if found.chosen is not None and not found.chosen.exact:
        lines.append(str(found.chosen))
    if found.outputs:
        lines.append(f"for states within range: {guarantees(found.outputs, found.answer)}")
    print_result(document, "\n".join(lines), err=True)


def _in_chunks(
    source: Path, target: Path, processes: int, shard: str, *, compiled: bool, wanted: bool
) -> bool:
    """Tell whether workers read and write the files; raise a `UsageError` if they cannot.

    `wanted` means that an option is given that needs it.
    """
    from boolcomp.base.files import is_stream
    from boolcomp.scale.batch_files import FORMS, form_of
    from boolcomp.scale.journal import SUFFIXES

    form = form_of(source)
    fits = target.suffix in {*SUFFIXES, ""} and target.name != "-" and not is_stream(target)
    if compiled and form is not None and fits:
        return wanted or source.suffix != ".npy" or shard == "samples" or processes == 1
    kinds = f"{listing(FORMS)} or a folder of such files"
    if wanted:
        what = "a program" if not compiled else f"input and output files in chunks: {kinds}"
        raise UsageError(f"--cluster and --against need {what}")
    if form is not None and source.suffix != ".npy":
        needs = "a program folder" if not compiled else f"an output file (-o) of type {kinds}"
        raise UsageError(f"{source} is evaluated in chunks, which needs {needs}")
    return False


class _Runner(NamedTuple):
    """A function from arrays of states to results and counts, with the names of its columns.

    For a program, `outputs` have the errors of the payloads in `chosen`. `angles` are inputs with
    their limits.
    """

    groups: tuple[Group, ...]
    returned: Group
    plural: str
    places: str
    run: Callable[..., tuple[Floats, int, int, int]]
    outputs: tuple[CodedOutput, ...] = ()
    chosen: Chosen | None = None
    angles: Mapping[str, Interval | None] = {}


def _loads(chosen: Chosen | None) -> dict[str, Any]:
    """Return the JSON keys of a payload between two compiled payloads."""
    if chosen is None or chosen.exact:
        return {}
    pairs = zip(chosen.loads, chosen.weights, strict=True)
    loads = [{"payload": load.payload, "weight": weight} for load, weight in pairs]
    return {"payload": chosen.mass, "loads": loads}


def _evaluated(runner: _Runner, source: Path, target: Path) -> Evaluated:
    """Evaluate a file."""
    from boolcomp.commands.output import counter
    from boolcomp.problem.problem import AngleInputs, degrees_question
    from boolcomp.problem.samples import read_states, write_results

    angles, angle = AngleInputs(runner.groups, runner.angles), 0.0
    totals = [0, 0, 0]
    samples = 0
    with (
        read_states(source, runner.groups) as (chunks, count),
        write_results(target, runner.returned) as sink,
        counter("evaluating", count) as advance,
    ):
        for state in chunks:
            values, *counts = runner.run(*state.arrays)
            angle = max(angle, angles.largest(state.arrays))
            _check_results(values, runner.returned, source, samples)
            sink.write(values, state.times)
            samples += len(values)
            totals = [total + count for total, count in zip(totals, counts, strict=True)]
            advance(len(values))
    if question := degrees_question(angle):
        click.echo(f"warning: {question}", err=True)
    answer: Answer = "float64" if target.suffix in (".npy", ".npz") else "csv"
    return Evaluated(
        samples, totals, runner.plural, runner.places, runner.outputs, answer, runner.chosen,
        _loads(runner.chosen),
    )  # fmt: skip


def _check_workers(threads: int, processes: int) -> None:
    maximum = max(8, 4 * cores())
    for name, value in (("processes", processes), ("threads", threads)):
        if not 1 <= value <= maximum:
            raise UsageError(f"{name} must be 1 to {maximum} on this machine, not {shown(value)}")
    if threads > 1 and processes > 1:
        raise UsageError("--threads and --processes exclude each other", "give one")


def _check_results(values: Floats, returned: Group, source: Path, before: int) -> None:
    """Raise a `DataError` for the first non-finite result; `before` samples came earlier."""
    import numpy as np

    if not np.isfinite(values).all():
        row, column = (int(k) for k in np.argwhere(~np.isfinite(values))[0])
        raise DataError(
            f"{returned.members[column]} of sample {before + row} is {values[row, column]}: its "
            "state has values that are too large, or for which the function is not defined",
            where=source,
        )


@contextlib.contextmanager
def _runner(
    program: str,
    of: str,
    engine: Any,
    workers: tuple[int, int],
    shard: Any,
    mass: tuple[float | None, bool],
) -> Iterator[_Runner]:
    """Provide the runner of a program, a robot or a function file."""
    payload, interpolate = mass
    if interpolate and payload is None:
        raise UsageError("--interpolate needs --payload")
    if not program or not is_folder(Path(program)):
        if interpolate:
            raise UsageError(
                "--interpolate needs a program", "arithmetic takes any payload: leave it out"
            )
        yield _arithmetic(program, of, payload)
        return
    from boolcomp.program.files import load_program
    from boolcomp.program.program import masses

    loaded = load_program(program, payload)
    if payload is None and len(loaded.payloads) > 1:
        known = masses(loaded.payloads)
        raise UsageError(f"this program has payloads {known} kg", "select one with --payload")
    threads, processes = workers
    chosen = loaded.chosen(payload, interpolate=interpolate)
    names = loaded.groups, loaded.returned, loaded.plural, loaded.places
    facts = chosen.outputs, chosen, loaded.angles
    if processes == 1:

        def here(*state: Floats) -> tuple[Floats, int, int, int]:
            return _counted(
                loaded.evaluate(
                    *state, payload=payload, interpolate=interpolate, engine=engine, threads=threads
                )
            )

        yield _Runner(*names, here, *facts)
        return
    if interpolate:
        raise UsageError("--interpolate runs in one process", "leave out --processes")
    if shard != "samples" and loaded.mode == "compact":
        raise UsageError(
            f"--shard {shard} distributes product terms, and a compact program has none",
            "use --shard samples, or compile with --mode paper",
        )
    from boolcomp.scale.pool import ProcessPool

    with ProcessPool(
        loaded, processes=processes, shard=shard, engine=engine, payload=chosen.loads[0].payload
    ) as pool:

        def shared(*state: Floats) -> tuple[Floats, int, int, int]:
            return _counted(pool.evaluate(*state))

        yield _Runner(*names, shared, *facts)


def _counted(found: Evaluation) -> tuple[Floats, int, int, int]:
    counts = found.saturated_inputs, found.saturated_outputs, found.beyond_stops
    return found.values, *counts


def _arithmetic(name: str, of: str, payload: float | None) -> _Runner:
    import numpy as np

    from boolcomp.problem.problem import angles_of
    from boolcomp.problem.sources import problem_of

    check_robot(name)
    problem = problem_of(name, of, payload or 0.0)

    def run(*state: Floats) -> tuple[Floats, int, int, int]:
        with np.errstate(over="ignore", invalid="ignore"):  # _check_results finds these
            return problem.reference(*state), 0, 0, 0

    names = problem.groups, problem.returned, problem.plural, problem.places
    return _Runner(*names, run, angles=angles_of(problem))


# --------------------------------------------------------------------------------------------------
# Files in chunks.
# --------------------------------------------------------------------------------------------------


def _in_batches(
    program: str,
    source: Path,
    target: Path,
    places: tuple[int, str | None],
    shard: Any,
    **chosen: Any,
) -> Evaluated:
    """Evaluate files chunk by chunk on processes or on a cluster."""
    from boolcomp.base.workers import Workers
    from boolcomp.commands.output import counter
    from boolcomp.program.files import load_program
    from boolcomp.scale.batches import ENDING, evaluate_files

    processes, cluster = places
    if shard != "samples" and cluster is None and processes > 1:
        raise UsageError(
            f"--shard {shard} with --processes needs a .npy file", "use --shard samples"
        )
    if cluster is None:  # one process does not distribute terms
        shard = "samples"
    workers = Workers.of(None if cluster else processes, cluster)
    try:
        with counter("evaluating", None) as advance:
            found = evaluate_files(
                program, source, target, workers=workers, shard=shard, advance=advance, **chosen
            )
    except KeyboardInterrupt:
        left = target.with_name(f"{target.name}{ENDING}")
        if left.is_dir():
            click.echo(f"finished chunks are in {left}: the same command resumes", err=True)
        raise
    loaded = load_program(program)
    loads = loaded.chosen(chosen["payload"])
    more = {
        "chunks": found.chunks, "resumed": found.resumed,
        "worker_seconds": found.seconds._asdict(), "sent": found.sent,
        "errors": [
            {"name": one.name, "rms_lsb": one.rms, "max_lsb": one.largest} for one in found.errors
        ],
    }  # fmt: skip
    lines = [
        f"{one.name}: rms error {short(one.rms, 4)} LSB, largest {short(one.largest, 4)} LSB, over "
        "these states"
        for one in found.errors
    ]
    return Evaluated(
        found.samples, (found.saturated_inputs, found.saturated_outputs, found.beyond_stops),
        loaded.plural, loaded.places, loads.outputs, found.answer, loads, more,
        f"; {found.resumed} of {found.chunks} chunks were done" if found.resumed else "", lines,
    )  # fmt: skip
