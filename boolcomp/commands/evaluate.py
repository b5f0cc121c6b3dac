"""`boolcomp evaluate`: torques of files of states, by logic or by Newton-Euler."""

from __future__ import annotations

import contextlib
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from boolcomp.commands.options import FilePath, check_robot, json_option, print_json
from boolcomp.common.errors import DataError, UsageError, listing, shown, suggestion
from boolcomp.common.files import is_folder
from boolcomp.common.processes import cores

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import numpy as np
    from numpy.typing import NDArray

    from boolcomp.engines import Evaluation

    Torques = NDArray[np.float64]
    Run = Callable[..., tuple[Torques, int, int, int]]

ENGINES = ("auto", "numpy", "llvm")
SHARDS = ("samples", "terms", "pipeline")


@click.command("evaluate", epilog="Example: boolcomp evaluate out/2r -i samples.csv -o torques.csv")
@click.argument("program")
@click.option("-i", "--input", "source", default="-", show_default=True, type=FilePath())
@click.option("-o", "--output", "target", default="-", show_default=True, type=FilePath())
@click.option("--engine", default="auto", show_default=True, help="auto, numpy or llvm.")
@click.option("--threads", default=1, show_default=True, help="Threads of one native engine.")
@click.option("--processes", default=1, show_default=True, help="Worker processes.")
@click.option("--shard", default="samples", show_default=True, help="samples, terms or pipeline.")
@click.option("--payload", type=float, help="Tip load in kg, of those it was compiled for.")
@json_option
def command(
    program: str,
    source: Path,
    target: Path,
    *,
    engine: str,
    threads: int,
    processes: int,
    shard: str,
    payload: float | None,
    as_json: bool,
) -> None:
    """Evaluate the torques of PROGRAM (a folder made by compile) for a file of states.

    Columns are q1..qn, qd1..qdn, qdd1..qddn in (CSV by name in any order, .npy, .npz with q, qd,
    qdd; -, a device or a pipe is CSV), tau1..taun out. A column t or time (or T, Time) of a CSV
    file comes first in a CSV file of torques, unchanged. With a ROBOT in place of a program the
    torques are those of Newton-Euler, arithmetic in doubles: zero may print as 7e-18. Angles
    over a whole turn wrap; other values outside their range saturate, and values beyond a joint's
    stops are taken as they are: both are counted.
    """
    from boolcomp.problem.samples import STANDARD, read_states, write_torques

    _check("engine", engine, ENGINES)
    _check("shard", shard, SHARDS)
    _check_workers(threads, processes)
    if source != STANDARD and target.exists() and source.exists() and source.samefile(target):
        raise UsageError(f"{target} is the input: give the torques another file")
    if as_json and target == STANDARD:
        raise UsageError("--json prints on standard output: give the torques a file with -o")
    start = time.perf_counter()
    samples = inputs = outputs = beyond = 0
    with (
        _runner(program, engine, (threads, processes), shard, payload) as (joints, run),
        read_states(source, joints) as (chunks, count),
        write_torques(target, joints) as sink,
        _bar(count) as advance,
    ):
        for state in chunks:
            torques, saturated_in, saturated_out, beyond_stops = run(state.q, state.qd, state.qdd)
            _check_torques(torques, source, samples)
            sink.write(torques, state.times)
            samples += len(torques)
            inputs += saturated_in
            outputs += saturated_out
            beyond += beyond_stops
            advance(len(torques))
    seconds = time.perf_counter() - start
    if as_json:
        print_json(
            {
                "program": program,
                "samples": samples,
                "seconds": seconds,
                "saturated_inputs": inputs,
                "saturated_torques": outputs,
                "beyond_stops": beyond,
                "output": str(target),
            }
        )
        return
    saturated = f"; saturated: {inputs} inputs, {outputs} torques" if inputs or outputs else ""
    stops = f"; beyond the joints' stops: {beyond} inputs" if beyond else ""
    click.echo(f"{samples} samples in {seconds:.2f} s{saturated}{stops}", err=True)


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


def _check_torques(torques: Torques, source: Path, before: int) -> None:
    """Name the first torque that is none, after so many samples: its state is too large."""
    import numpy as np

    if not np.isfinite(torques).all():
        row, column = (int(k) for k in np.argwhere(~np.isfinite(torques))[0])
        raise DataError(
            f"{source}: tau{column + 1} of sample {before + row} is {torques[row, column]}: its "
            "state has values too large to calculate with"
        )


@contextlib.contextmanager
def _runner(
    program: str, engine: Any, workers: tuple[int, int], shard: Any, payload: float | None
) -> Iterator[tuple[int, Run]]:
    """Provide the number of joints and what turns states into torques and saturation counts."""
    if not program or not is_folder(Path(program)):
        yield _arithmetic(program, payload)
        return
    from boolcomp.program.programfile import load_program

    loaded = load_program(program)
    if payload is None and len(loaded.payloads) > 1:
        masses = listing(f"{mass:g}" for mass in loaded.payloads)
        raise UsageError(f"this program has payloads {masses} kg: say which with --payload")
    threads, processes = workers
    if processes == 1:

        def here(*state: Torques) -> tuple[Torques, int, int, int]:
            return _counted(
                loaded.evaluate(*state, payload=payload, engine=engine, threads=threads)
            )

        yield loaded.joints, here
        return
    if shard != "samples" and loaded.mode == "compact":
        raise UsageError(
            f"--shard {shard} deals out product terms, and a compact program has none: say "
            "--shard samples, or compile with --mode paper"
        )
    from boolcomp.parallel.sharding.pool import ProcessPool

    with ProcessPool(
        loaded, processes=processes, shard=shard, engine=engine, payload=payload
    ) as pool:

        def shared(*state: Torques) -> tuple[Torques, int, int, int]:
            return _counted(pool.evaluate(*state))

        yield loaded.joints, shared


def _counted(found: Evaluation) -> tuple[Torques, int, int, int]:
    counts = found.saturated_inputs, found.saturated_outputs, found.beyond_stops
    return found.torques, *counts


def _arithmetic(name: str, payload: float | None) -> tuple[int, Run]:
    import numpy as np

    from boolcomp.problem.dynamics import inverse_dynamics
    from boolcomp.problem.robot import load_robot, with_payload

    check_robot(name)
    robot = with_payload(load_robot(name), payload or 0.0)

    def run(*state: Torques) -> tuple[Torques, int, int, int]:
        with np.errstate(over="ignore", invalid="ignore"):  # _check_torques tells of it
            return inverse_dynamics(robot, *state), 0, 0, 0

    return robot.joints, run


@contextlib.contextmanager
def _bar(total: int | None) -> Iterator[Callable[[int], None]]:
    """Show how many samples are done, on a terminal."""
    from boolcomp.commands.progress import counter

    with counter("evaluating", total) as advance:
        yield advance
