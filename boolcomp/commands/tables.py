"""`boolcomp tables`: the truth table of every term, as PLA files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from boolcomp.base.files import check_place, outputs
from boolcomp.base.results import ResultColumn, Results
from boolcomp.commands.options import (
    PLAN,
    FilePath,
    chosen,
    command_text,
    json_option,
    options,
    page_option,
    print_result,
    source_argument,
)

if TYPE_CHECKING:
    from boolcomp.options import GivenOptions
    from boolcomp.paper.tables import TermTable


def _other(row: dict[str, Any]) -> str:
    return row["same_as"] if row["same_as"] != row["name"] else ""


COLUMNS = (
    ResultColumn("name", "term", left=True),
    ResultColumn("inputs", "inputs"),
    ResultColumn("outputs", "outputs"),
    ResultColumn("", "rows", lambda row: 1 << row["inputs"]),
    ResultColumn("same_as"),
    ResultColumn("", "same as", _other, left=True),
    ResultColumn("file", "file", left=True),
)


@click.command("tables", epilog="Example: boolcomp tables machado-2r --bits 8 -o out/machado-2r")
@source_argument
@options("function", *PLAN)
@click.option("-o", "--output", type=FilePath(), help="Folder [out/ROBOT-BITS]")
@page_option
@json_option
def command(robot: str, *, options: GivenOptions, output: Path | None, page: Path | None) -> None:
    """Write the truth table of every term of ROBOT as a PLA file, one file per term.

    Terms with the same function share one table; the column 'same as' lists them.
    """
    from boolcomp.paper.tables import render_table
    from boolcomp.pipeline import run_passes
    from boolcomp.problem.sources import problem_of

    problem = problem_of(robot, options.of)
    plan = options.plan(problem)
    name = problem.name
    folder = output or Path("out") / f"{name}-{plan.bits}"
    check_place(folder / "any")
    entries: tuple[TermTable, ...] = run_passes(problem, plan, "tables")
    first: dict[object, str] = {}
    rows = []
    with outputs() as put:
        for entry in entries:
            path = folder / f"{entry.plan.term.name}.pla"
            put(path, render_table(entry))
            term = entry.plan.term.name
            rows.append({
                "name": term, "inputs": entry.table.inputs, "outputs": entry.table.outputs,
                "same_as": first.setdefault(entry.table, term), "file": str(path),
            })  # fmt: skip
        if page is not None:
            from boolcomp.measure.stages import tables_page

            command_line = command_text("tables", robot, options.of, *chosen(plan))
            put(page, tables_page(entries, problem, command_line))
    results = Results(COLUMNS, rows)
    document = {"robot": name, "bits": plan.bits, "tables": results.documents}
    print_result(document, results.text())
