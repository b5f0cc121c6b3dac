"""`boolcomp tables`: the truth table of every term, as PLA files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from boolcomp.base.errors import table
from boolcomp.base.files import outputs
from boolcomp.commands.options import (
    PLAN,
    FilePath,
    chosen,
    command_text,
    json_option,
    options,
    page_option,
    print_json,
    source_argument,
)

if TYPE_CHECKING:
    from boolcomp.options import GivenOptions
    from boolcomp.paper.tables import TermTable


@click.command("tables", epilog="Example: boolcomp tables machado-2r --bits 8 -o out/machado-2r")
@source_argument
@options("function", *PLAN)
@click.option("-o", "--output", type=FilePath(), help="Folder [out/ROBOT-BITS]")
@page_option
@json_option
def command(
    robot: str, *, options: GivenOptions, output: Path | None, page: Path | None, as_json: bool
) -> None:
    """Write the truth table of every term of ROBOT as a PLA file, one file per term.

    Terms with the same function share one table; the column 'same as' lists them.
    """
    from boolcomp.paper.tables import render_table
    from boolcomp.pipeline import run_passes
    from boolcomp.problem.sources import problem_of

    problem = problem_of(robot, options.of)
    plan = options.plan(problem)
    entries: tuple[TermTable, ...] = run_passes(problem, plan, "tables")
    name = problem.name
    folder = output or Path("out") / f"{name}-{plan.bits}"
    first: dict[object, str] = {}
    rows = []
    with outputs() as put:
        for entry in entries:
            path = folder / f"{entry.plan.term.name}.pla"
            put(path, render_table(entry))
            same = first.setdefault(entry.table, entry.plan.term.name)
            rows.append((entry, path, same))
        if page is not None:
            from boolcomp.measure.stages import tables_page

            command_line = command_text("tables", robot, options.of, *chosen(plan))
            put(page, tables_page(entries, problem, command_line))
    if as_json:
        print_json({"robot": name, "bits": plan.bits, "tables": [_item(*row) for row in rows]})
        return
    header = ["term", "inputs", "outputs", "rows", "same as", "file"]
    cells = [
        [
            entry.plan.term.name,
            str(entry.table.inputs),
            str(entry.table.outputs),
            str(1 << entry.table.inputs),
            same if same != entry.plan.term.name else "",
            str(path),
        ]
        for entry, path, same in rows
    ]
    click.echo(table(header, cells, left=(0, 4, 5)))


def _item(entry: TermTable, path: Path, same: str) -> dict[str, object]:
    return {
        "name": entry.plan.term.name,
        "inputs": entry.table.inputs,
        "outputs": entry.table.outputs,
        "same_as": same,
        "file": str(path),
    }
