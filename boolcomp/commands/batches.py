"""`boolcomp evaluate` of files in chunks: by whom, and what is said of it."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from boolcomp.base.errors import short
from boolcomp.commands.options import print_json
from boolcomp.common.errors import UsageError

if TYPE_CHECKING:
    from pathlib import Path

    from boolcomp.scale.batches import Batches


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
    from boolcomp.commands.output import counter
    from boolcomp.common.workers import Workers
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
    from boolcomp.commands.said import answered, promised
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
