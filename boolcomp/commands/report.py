"""`boolcomp report`: error versus bits, as table, pictures and page."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING

import click

from boolcomp.commands.options import (
    json_option,
    minimiser_options,
    plan_options,
    print_json,
    robot_argument,
    store_option,
)
from boolcomp.commands.progress import progress
from boolcomp.errors import UsageError
from boolcomp.files import write_bytes, write_text
from boolcomp.robot import load_robot

if TYPE_CHECKING:
    from collections.abc import Sequence

    from boolcomp.plan import Options
    from boolcomp.report.measure import Row
    from boolcomp.store import Recipe, Store


@click.command("report", epilog="Example: boolcomp report machado-2r --bits 4-8 --samples 1000000")
@robot_argument
@plan_options(bits=False)
@click.option("--bits", default="4-12", show_default=True, help="Word lengths: 8, 4-12 or 4,6,8.")
@click.option("--extra", default="0-2", show_default=True, help="Guard bits beyond the paper's m.")
@click.option("--samples", default=1_000_000, show_default=True, help="Random states.")
@click.option("--seed", default=0, show_default=True, help="Of the random states.")
@minimiser_options("--minimizer", deadline=10.0)
@click.option("--logic/--no-logic", default=True, help="Count product terms (takes longer).")
@click.option("--widest", default=18, show_default=True, help="Input bits that are minimised.")
@store_option
@click.option("-o", "--output", type=click.Path(path_type=Path), help="Folder [out/report-ROBOT]")
@json_option
def command(
    robot: str,
    options: Options,
    *,
    bits: str,
    extra: str,
    samples: int,
    seed: int,
    recipe: Recipe,
    logic: bool,
    widest: int,
    store: Store,
    output: Path | None,
    as_json: bool,
) -> None:
    """Measure ROBOT's torques by tables against Newton-Euler, over word lengths.

    Errors are against exact torques of the unquantised inputs; 'own' is the part that remains
    against exact torques of the inputs in their finest cells. 'bound' is proved: no input within
    its range errs more, unless the torque saturates. 'm' are the guard bits of the terms, (+1) one
    more than the paper's rule gives.
    """
    from boolcomp.report import draw_samples
    from boolcomp.report.compare import Question, report_rows
    from boolcomp.terms import split_torques

    loaded = load_robot(robot)
    question = Question(
        numbers("--bits", bits), numbers("--extra", extra), options, recipe if logic else None,
        widest,
    )  # fmt: skip
    with progress("measuring", question.steps) as step:
        drawn = draw_samples(loaded, samples, seed)
        rows = report_rows(split_torques(loaded), drawn, question, store, step)
    folder = output or Path("out") / f"report-{loaded.name}"
    _write(rows, folder, f"{loaded.name}: error versus bits, {samples} samples, seed {seed}")
    if as_json:
        from boolcomp.report.measure import documents

        print_json({"robot": loaded.name, "samples": samples, "rows": documents(rows)})
    else:
        from boolcomp.report.tabulate import text_table

        click.echo(text_table(rows))
        click.echo(f"written to {folder}", err=True)


def numbers(option: str, text: str) -> tuple[int, ...]:
    """Read `8`, `4-12` or `4,6,8`."""
    result: list[int] = []
    for part in text.split(","):
        match = re.fullmatch(r"\s*(\d{1,4})(?:\s*-\s*(\d{1,4}))?\s*", part)
        if match is None or int(match[2] or match[1]) < int(match[1]):
            raise UsageError(f"{option} {text!r}: give a number, a range or a list: 8, 4-12, 4,6,8")
        result += range(int(match[1]), int(match[2] or match[1]) + 1)
    return tuple(dict.fromkeys(result))


def _write(rows: Sequence[Row], folder: Path, title: str) -> None:
    from boolcomp.report.chart import draw_errors, page
    from boolcomp.report.measure import documents
    from boolcomp.report.tabulate import HEADER, cells, csv_table, text_table

    chart = draw_errors(rows, "svg")
    write_bytes(folder / "errors.svg", chart)
    write_bytes(folder / "errors.png", draw_errors(rows, "png"))
    write_text(folder / "report.txt", text_table(rows) + "\n")
    write_text(folder / "report.csv", csv_table(rows))
    write_text(folder / "report.json", json.dumps({"rows": documents(rows)}, indent=2) + "\n")
    write_text(folder / "report.html", page(title, chart.decode(), HEADER, cells(rows)))
