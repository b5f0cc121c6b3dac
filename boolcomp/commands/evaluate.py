"""`boolcomp evaluate`: torques of files of states, by logic or by Newton-Euler."""

from __future__ import annotations

import contextlib
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from boolcomp.base.errors import DataError, UsageError, listing, short, shown, suggestion
from boolcomp.base.files import is_folder
from boolcomp.base.processes import cores
from boolcomp.commands.options import (
    FUNCTION,
    FilePath,
    chain_options,
    check_robot,
    cluster_option,
    function_options,
    given,
    json_option,
    print_json,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    import numpy as np
    from numpy.typing import NDArray

    from boolcomp.codes import Answer
    from boolcomp.engines.engine import Evaluation
    from boolcomp.problem.problem import Group
    from boolcomp.problem.words import Interval
    from boolcomp.program.program import Chosen, CodedOutput
    from boolcomp.scale.batches import Batches

    Floats = NDArray[np.float64]


# --------------------------------------------------------------------------------------------------
# `boolcomp evaluate`: torques of files of states, by logic or by Newton-Euler.
# --------------------------------------------------------------------------------------------------


ENGINES = ("auto", "numpy", "llvm", "words", "bdd")
SHARDS = ("samples", "terms", "pipeline")
COUNTS = ("saturated_inputs", "saturated_torques", "beyond_stops")  # keys of --json


@click.command("evaluate", epilog="Example: boolcomp evaluate out/2r -i samples.csv -o torques.csv")
@click.argument("program")
@chain_options("program")
@function_options
@click.option("-i", "--input", "source", default="-", show_default=True, type=FilePath())
@click.option("-o", "--output", "target", default="-", show_default=True, type=FilePath())
@click.option("--engine", default="auto", show_default=True, help="auto, numpy, llvm, words, bdd.")
@click.option("--threads", default=1, show_default=True, help="Threads of one native engine.")
@click.option("--processes", default=1, show_default=True, help="Worker processes.")
@cluster_option
@click.option("--shard", default="samples", show_default=True, help="samples, terms or pipeline.")
@click.option("--against", help="ROBOT or function file: sum up errors too, of files in chunks.")
@click.option("--payload", type=float, help="Tip load in kg: the nearest it was compiled for.")
@click.option("--interpolate", is_flag=True, help="Between the two loads that are nearest.")
@json_option
@click.pass_context
def command(
    context: click.Context,
    program: str,
    source: Path,
    target: Path,
    *,
    of: str,
    engine: str,
    threads: int,
    processes: int,
    cluster: str | None,
    shard: str,
    against: str | None,
    payload: float | None,
    interpolate: bool,
    as_json: bool,
) -> None:
    """Evaluate the torques of PROGRAM (a folder made by compile) for a file of states.

    Columns are q1..qn, qd1..qdn, qdd1..qddn in (CSV by name in any order, .npy, .npz with q, qd,
    qdd; -, a device or a pipe is CSV), tau1..taun out. A column t or time (or T, Time) of a CSV
    file comes first in a CSV file of torques, unchanged. With a ROBOT in place of a program the
    torques are those of Newton-Euler, or what --of says, arithmetic in doubles: zero may print as
    7e-18; a function file in its place is calculated so, too, and a state in it has the function's
    inputs. Angles
    over a whole turn wrap; other values outside their range saturate, and values beyond a joint's
    stops are taken as they are: both are counted.

    Files of any length (.npy, .zarr, .parquet, folders of them) are read and written in chunks by
    the workers themselves, also of a --cluster; such a run goes on where it was ended, and unsigned
    integers are code words (docs/cluster.md).
    """
    from boolcomp.problem.samples import STANDARD

    _check("engine", engine, ENGINES)
    _check("shard", shard, SHARDS)
    _check_workers(threads, processes)
    if source != STANDARD and target.exists() and source.exists() and source.samefile(target):
        raise UsageError(f"{target} is the input: give the torques another file")
    if as_json and target == STANDARD:
        raise UsageError("--json prints on standard output: give the torques a file with -o")
    start = time.perf_counter()
    compiled = bool(program) and is_folder(Path(program))
    if compiled and against is None:
        _refuse_functions(context, program)
    wanted = cluster is not None or against is not None
    whole = interpolate and not wanted and source.suffix == ".npy"  # as one file, by this process
    if not whole and _in_chunks(source, target, processes, shard, compiled=compiled, wanted=wanted):
        if interpolate:
            raise UsageError("--interpolate is of one process, and of no files in chunks")
        asked = Asked(program, source, target, engine, threads, processes, cluster, shard, payload,
                      against, of)  # fmt: skip
        evaluate_batches(asked, as_json=as_json)
        return
    mass = _Mass(payload, interpolate)
    with _runner(program, of, engine, (threads, processes), shard, mass) as runner:
        done = _evaluated(runner, source, target)
        plural, places, known = runner.plural, runner.places, runner.outputs
        chosen = runner.chosen
    samples, *counts = done.values()
    seconds = time.perf_counter() - start
    if as_json:
        from boolcomp.commands.output import answered

        head = {"program": program, "samples": samples, "seconds": seconds}
        answer: Answer = "float64" if target.suffix in (".npy", ".npz") else "csv"
        told = [answered(one, answer) for one in known]
        print_json({**head, **done, "output": str(target), "outputs": told, **_loads(chosen)})
        return
    inputs, outputs, beyond = counts
    saturated = f"; saturated: {inputs} inputs, {outputs} {plural}" if inputs or outputs else ""
    stops = f"; beyond the {places}' stops: {beyond} inputs" if beyond else ""
    click.echo(
        f"{samples} {'sample' if samples == 1 else 'samples'} in {seconds:.2f} s{saturated}{stops}",
        err=True,
    )
    if known:
        from boolcomp.commands.output import promised

        if chosen is not None and not chosen.exact:
            click.echo(str(chosen), err=True)
        click.echo(f"of states within range {promised(known)}", err=True)


def _in_chunks(
    source: Path, target: Path, processes: int, shard: str, *, compiled: bool, wanted: bool
) -> bool:
    """Tell whether workers are to read and write the files; an error where they cannot.

    That is `wanted` where an option is given that needs it.
    """
    from boolcomp.base.files import is_stream
    from boolcomp.scale.batch_sources import FORMS, form_of
    from boolcomp.scale.journal import SUFFIXES

    form = form_of(source)
    fits = target.suffix in {*SUFFIXES, ""} and target.name != "-" and not is_stream(target)
    if compiled and form is not None and fits:
        return wanted or source.suffix != ".npy" or shard == "samples" or processes == 1
    kinds = f"{listing(FORMS)} or a folder of such"
    if wanted:
        what = "a program" if not compiled else f"files in chunks: {kinds}, in and out"
        raise UsageError(f"--cluster and --against are for {what}")
    if form is not None and source.suffix != ".npy":
        lacks = "a program's folder" if not compiled else f"-o with a name of {kinds}"
        raise UsageError(f"{source} is evaluated in chunks, which needs {lacks}")
    return False


def _refuse_functions(context: click.Context, program: str) -> None:
    """Raise a `UsageError` for what says a function: a program knows what it was made of."""
    for name, option in FUNCTION.items():
        if given(context, name):
            raise UsageError(
                f"{option} means nothing here: {program} is a program, compiled already"
            )


class _Mass(NamedTuple):
    """The mass at the tip that is asked for, and whether to take what lies between two loads."""

    payload: float | None
    interpolate: bool


class _Runner(NamedTuple):
    """What turns the arrays of some states into results and counts, and what they are called.

    Of a program the `outputs` say what they err by, for the loads that were `chosen`. `angles` are
    inputs with their stops.
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
    """Return what --json says of a mass between loads."""
    if chosen is None or chosen.exact:
        return {}
    pairs = zip(chosen.loads, chosen.weights, strict=True)
    loads = [{"payload": load.payload, "weight": weight} for load, weight in pairs]
    return {"payload": chosen.mass, "loads": loads}


def _evaluated(runner: _Runner, source: Path, target: Path) -> dict[str, int]:
    """Evaluate a file; return how many samples it has, and the counts of all."""
    from boolcomp.problem.problem import Angles, Seen
    from boolcomp.problem.samples import read_states, write_results

    angles, seen = Angles(runner.groups, runner.angles), Seen()
    totals = [0, 0, 0]
    samples = 0
    with (
        read_states(source, runner.groups) as (chunks, count),
        write_results(target, runner.returned) as sink,
        _bar(count) as advance,
    ):
        for state in chunks:
            values, *counts = runner.run(*state.arrays)
            seen = seen.joined(angles.seen(state.arrays, len(values)))
            _check_results(values, runner.returned, source, samples)
            sink.write(values, state.times)
            samples += len(values)
            totals = [total + count for total, count in zip(totals, counts, strict=True)]
            advance(len(values))
    if seen.question:
        click.echo(f"boolcomp: warning: {seen.question}", err=True)
    return {"samples": samples, **dict(zip(COUNTS, totals, strict=True))}


def _check(option: str, given: str, allowed: tuple[str, ...]) -> None:
    if given not in allowed:
        hint = suggestion(given, allowed)
        raise UsageError(f"{option} {shown(given)}{hint}: {listing(allowed)}")


def _check_workers(threads: int, processes: int) -> None:
    most = max(8, 4 * cores())
    for name, value in (("processes", processes), ("threads", threads)):
        if not 1 <= value <= most:
            raise UsageError(f"{name} must be 1 to {most} on this machine, not {shown(value)}")
    if threads > 1 and processes > 1:
        raise UsageError("--threads and --processes share the same work: say one of them")


def _check_results(values: Floats, returned: Group, source: Path, before: int) -> None:
    """Name the first result that is none, after so many samples: its state is too large."""
    import numpy as np

    if not np.isfinite(values).all():
        row, column = (int(k) for k in np.argwhere(~np.isfinite(values))[0])
        raise DataError(
            f"{source}: {returned.members[column]} of sample {before + row} is "
            f"{values[row, column]}: its state has values too large to calculate with, or some "
            "for which there is no result"
        )


@contextlib.contextmanager
def _runner(
    program: str, of: str, engine: Any, workers: tuple[int, int], shard: Any, asked: _Mass
) -> Iterator[_Runner]:
    """Provide what turns states into results and saturation counts."""
    payload, interpolate = asked
    if interpolate and payload is None:
        raise UsageError("--interpolate: say the mass with --payload")
    if not program or not is_folder(Path(program)):
        if interpolate:
            raise UsageError("--interpolate is for programs: arithmetic has any mass")
        yield _arithmetic(program, of, payload)
        return
    from boolcomp.program.files import load_program
    from boolcomp.program.program import masses

    loaded = load_program(program, payload)
    if payload is None and len(loaded.payloads) > 1:
        known = masses(loaded.payloads)
        raise UsageError(f"this program has payloads {known} kg: say which with --payload")
    threads, processes = workers
    chosen = loaded.chosen(payload, interpolate=interpolate)
    names = loaded.groups, loaded.returned, loaded.plural, loaded.places
    said = chosen.outputs, chosen, loaded.angles
    if processes == 1:

        def here(*state: Floats) -> tuple[Floats, int, int, int]:
            return _counted(
                loaded.evaluate(
                    *state, payload=payload, interpolate=interpolate, engine=engine, threads=threads
                )
            )

        yield _Runner(*names, here, *said)
        return
    if interpolate:
        raise UsageError("--interpolate runs in one process: leave out --processes")
    if shard != "samples" and loaded.mode == "compact":
        raise UsageError(
            f"--shard {shard} deals out product terms, and a compact program has none: say "
            "--shard samples, or compile with --mode paper"
        )
    from boolcomp.scale.pool import ProcessPool

    with ProcessPool(
        loaded, processes=processes, shard=shard, engine=engine, payload=chosen.loads[0].payload
    ) as pool:

        def shared(*state: Floats) -> tuple[Floats, int, int, int]:
            return _counted(pool.evaluate(*state))

        yield _Runner(*names, shared, *said)


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
        with np.errstate(over="ignore", invalid="ignore"):  # _check_results tells of it
            return problem.reference(*state), 0, 0, 0

    names = problem.groups, problem.returned, problem.plural, problem.places
    return _Runner(*names, run, angles=angles_of(problem))


@contextlib.contextmanager
def _bar(total: int | None) -> Iterator[Callable[[int], None]]:
    """Show how many samples are done, on a terminal."""
    from boolcomp.commands.output import counter

    with counter("evaluating", total) as advance:
        yield advance


# --------------------------------------------------------------------------------------------------
# `boolcomp evaluate` of files in chunks: by whom, and what is said of it.
# --------------------------------------------------------------------------------------------------


class Asked(NamedTuple):
    """What the command was told."""

    program: str
    source: Path
    target: Path
    engine: Any
    threads: int
    processes: int
    cluster: str | None
    shard: Any
    payload: float | None
    against: str | None
    of: str


def evaluate_batches(asked: Asked, *, as_json: bool) -> None:
    """Evaluate files chunk by chunk, and print what was counted."""
    from boolcomp.base.workers import Workers
    from boolcomp.commands.output import counter
    from boolcomp.scale.batches import ENDING, evaluate_files

    if asked.shard != "samples" and asked.cluster is None and asked.processes > 1:
        raise UsageError(f"--shard {asked.shard} over --processes is of .npy files: or say samples")
    if asked.cluster is None:  # one process has nothing to share
        asked = asked._replace(shard="samples")
    workers = Workers.of(None if asked.cluster else asked.processes, asked.cluster)
    start = time.perf_counter()
    try:
        with counter("evaluating", None) as advance:
            found = evaluate_files(
                asked.program, asked.source, asked.target, workers=workers, payload=asked.payload,
                engine=asked.engine, threads=asked.threads, shard=asked.shard,
                against=asked.against, of=asked.of,
                advance=advance,
            )  # fmt: skip
    except KeyboardInterrupt:
        left = asked.target.with_name(f"{asked.target.name}{ENDING}")
        if left.is_dir():
            click.echo(f"what is done is in {left}: the same command goes on with it", err=True)
        raise
    _report(asked, found, time.perf_counter() - start, as_json=as_json)


def _report(asked: Asked, found: Batches, seconds: float, *, as_json: bool) -> None:
    from boolcomp.commands.output import answered, promised
    from boolcomp.program.files import load_program

    program = load_program(asked.program)
    chosen = program.chosen(asked.payload)
    known = chosen.outputs
    if as_json:
        compared = [
            {"name": one.name, "rms_lsb": one.rms, "max_lsb": one.largest} for one in found.errors
        ]
        print_json({
            "program": asked.program, "samples": found.samples, "seconds": seconds,
            "saturated_inputs": found.saturated_inputs,
            "saturated_torques": found.saturated_outputs, "beyond_stops": found.beyond_stops,
            "output": str(asked.target),
            "outputs": [answered(one, found.answer) for one in known],
            "chunks": found.chunks, "resumed": found.resumed,
            "worker_seconds": found.seconds._asdict(), "sent": found.sent, "errors": compared,
        })  # fmt: skip
        return
    lines = [_count_line(found, seconds, program.plural, program.places)]
    lines += [
        f"{one.name}: rms error {short(one.rms, 4)} LSB, at most {short(one.largest, 4)} LSB of "
        "these states"
        for one in found.errors
    ]
    if not chosen.exact:
        lines.append(str(chosen))
    lines.append(f"of states within range {promised(known, found.answer)}")
    for line in lines:
        click.echo(line, err=True)


def _count_line(found: Batches, seconds: float, plural: str, places: str) -> str:
    inputs, outputs, beyond = found.saturated_inputs, found.saturated_outputs, found.beyond_stops
    saturated = f"; saturated: {inputs} inputs, {outputs} {plural}" if inputs or outputs else ""
    stops = f"; beyond the {places}' stops: {beyond} inputs" if beyond else ""
    before = f"; {found.resumed} of {found.chunks} chunks were there" if found.resumed else ""
    samples = f"{found.samples} {'sample' if found.samples == 1 else 'samples'}"
    return f"{samples} in {seconds:.2f} s{saturated}{stops}{before}"
