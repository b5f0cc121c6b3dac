"""`boolcomp sweep`: many compilations, resumable, local or on a cluster."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from boolcomp.base.errors import short
from boolcomp.base.results import ResultColumn, Results
from boolcomp.commands.options import (
    MOST_PROCESSES,
    FilePath,
    changed,
    json_option,
    options,
    print_result,
    wants_json,
    within,
)
from boolcomp.commands.output import duration, share

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from boolcomp.base.store import ResultPlace
    from boolcomp.options import GivenOptions
    from boolcomp.scale.sweep import SweepFolder, SweepState
    from boolcomp.scale.sweep_spec import Spec

MOST_PRINTED = 10  # failures that are printed; files and --json have all


@click.command("sweep", epilog="Example: boolcomp sweep sweep.toml -o out/sweep --processes 2")
@click.argument("spec", type=FilePath())
@options(
    click.option(
        "-o", "--output", required=True, type=FilePath(folder=True), help="Folder of results."
    ),
    click.option("--processes", default=1, show_default=True, help="Number of worker processes."),
    "cluster",
    changed("store", help="Cache shared by the workers: a folder or s3://bucket/folder."),
    click.option("--retry", is_flag=True, help="Retry failed cells."),
    click.option("--dry-run", is_flag=True, help="List the cells and estimate their time."),
    json_option,
)
@click.pass_context
def command(
    context: click.Context, spec: Path, output: Path, *, options: GivenOptions, processes: int,
    retry: bool, dry_run: bool,
) -> None:  # fmt: skip
    """Compile every combination of the lists in SPEC, a TOML file.

    Each cell is compiled, measured, proved and exported according to SPEC, and saved as soon as it
    is done: an interrupted sweep resumes. Results do not depend on the number or kind of workers.
    The exit code is 1 if a cell failed; all other results are saved. The keys of SPEC are in
    docs/how-to/sweeps-and-clusters.md.
    """
    within("--processes", processes, 1, MOST_PROCESSES)
    from boolcomp.base.store import everywhere
    from boolcomp.base.workers import HERE, way
    from boolcomp.scale.sweep import SweepFolder, state_of
    from boolcomp.scale.sweep_spec import read_spec

    found, folder = read_spec(spec), SweepFolder(output)
    state = state_of(found.cells, folder, retry=retry)
    where = options.values["cluster"] or ("here" if processes == 1 else f"processes:{processes}")
    if dry_run:
        kind, workers = way(where)
        _dry(found, folder, state, 1 if kind == HERE else workers)
        return
    folder.check()
    if state.left:
        store = options.store
        _run(found, folder, state, where, store and everywhere(store))
    _report(found, folder, state)
    if state.failed:
        context.exit(1)


def _run(
    spec: Spec, folder: SweepFolder, state: SweepState, where: str, store: ResultPlace | None
) -> None:
    from boolcomp.base.workers import executor
    from boolcomp.scale.sweep import run

    with share("sweeping") as step, executor(where) as pool:
        run(
            spec.cells, folder, pool, state, lambda part, note: step(part, "", note), store
        )  # fmt: skip


def _report(spec: Spec, folder: SweepFolder, state: SweepState) -> None:
    from boolcomp.scale.sweep import failures, write_tables

    written = [str(path) for path in write_tables(spec, state, folder.path)]
    failed = failures(spec, state)
    document = {
        "sweep": spec.name, "cells": len(spec.cells), "done": len(state.done), "made": state.made,
        "failed": failed, "files": written,
    }  # fmt: skip
    done = f"{len(state.done)} of {len(spec.cells)} cells done; {', '.join(written)}"
    print_result(document, lambda: f"{_chart(spec, state)}\n{done}")
    if wants_json():
        return
    for place in sorted(state.failed)[:MOST_PRINTED]:
        click.echo(f"failed: {spec.cells[place]}: {state.failed[place].why}", err=True)
    if len(failed) > MOST_PRINTED:
        click.echo(f"{len(failed)} cells failed: see {folder.path / 'failed'}", err=True)


def _chart(spec: Spec, state: SweepState) -> str:
    """Return a table with a line per cell; errors in LSB, the largest of outputs and payloads."""

    def largest(kind: str) -> Callable[[int], str]:
        return lambda place: _largest(state.done[place]["outputs"], kind)

    columns = (
        ResultColumn("", "cell", lambda place: spec.cells[place], left=True),
        ResultColumn("", "LUT3", lambda place: state.done[place]["nodes"]),
        ResultColumn("", "rms", largest("rms")),
        ResultColumn("", "found", largest("worst_found")),
        ResultColumn("", "proved", largest("bound")),
    )
    note = "errors in LSB, the largest of all outputs and payloads"
    return f"{Results(columns, sorted(state.done)).text()}\n{note}"


def _largest(outputs: Sequence[dict[str, Any]], kind: str) -> str:
    """Return the largest error of a kind in LSB, or a dash if one is unknown."""
    from boolcomp.program.program import NOT_USEFUL

    if kind == "bound" and any(one.get("bound_note") == NOT_USEFUL for one in outputs):
        return NOT_USEFUL
    values = [None if one[kind] is None else one[kind] / one["lsb"] for one in outputs]
    known = [value for value in values if value is not None]
    if not known or len(known) < len(values):
        return "-"
    from boolcomp.base.errors import short_above

    return (short_above if kind == "bound" else short)(max(known), 4)


def _dry(spec: Spec, folder: SweepFolder, state: SweepState, workers: int) -> None:
    """List the cells, with an estimate of the remaining time.

    The number of workers of a remote cluster is unknown: 0.
    """
    from boolcomp.scale.sweep import CellTimes, makespan

    costs = CellTimes(folder.costs())
    seconds = {place: costs.of(spec.cells[place]) for place in state.left}
    known = [value for value in seconds.values() if value is not None]
    unknown = len(seconds) - len(known)
    here = makespan(known, workers) if workers else None
    words = dict.fromkeys(state.done, "done") | dict.fromkeys(state.failed, "failed")
    columns = (
        ResultColumn("cell", "cell", lambda place: str(spec.cells[place]), left=True),
        ResultColumn("key", "", lambda place: spec.cells[place].key),
        ResultColumn("state", "state", lambda place: words.get(place, "left"), left=True),
        ResultColumn("seconds", "about", seconds.get, lambda x: f"{x:.1f} s"),
    )
    results = Results(columns, range(len(spec.cells)), "-")
    document = {
        "sweep": spec.name, "cells": results.documents, "left": len(seconds),
        "core_seconds": sum(known), "unknown": unknown, "workers": workers or None,
        "seconds": here,
    }  # fmt: skip
    left = _left(len(seconds), sum(known), unknown, workers, here)
    print_result(document, f"{results.text()}\n{left}")


def _left(left: int, seconds: float, unknown: int, workers: int, here: float | None) -> str:
    if not left:
        return "all cells are done"
    cells = f"{left} cell{'' if left == 1 else 's'} left"
    if unknown == left:
        return f"{cells}; no time estimate: no similar cell was measured"
    shared = "" if here is None else f", about {duration(here)} on {workers} cores"
    text = f"{cells}: about {duration(seconds)} on one core"
    text += shared if workers > 1 else ""
    return text + (f", without {unknown} of unknown time" if unknown else "")
