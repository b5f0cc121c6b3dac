"""`boolcomp minimize`: a two-level minimiser for anybody's PLA files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from boolcomp.commands.options import FilePath, json_option, minimiser_options, print_json
from boolcomp.commands.progress import progress
from boolcomp.common.errors import BoolcompError, UsageError
from boolcomp.common.files import write_text
from boolcomp.common.text import table

if TYPE_CHECKING:
    from pathlib import Path

    from boolcomp.paper.store import Recipe
    from boolcomp.twolevel.cover import Cover
    from boolcomp.twolevel.pla import Pla


@click.command("minimize", epilog="Example: boolcomp minimize adder.pla -o adder.min.pla")
@click.argument("files", nargs=-1, required=True, type=FilePath())
@minimiser_options("--method")
@click.option(
    "-o",
    "--output",
    type=FilePath(),
    help="File for the result, '-' for standard output; a folder where there are several FILES.",
)
@json_option
def command(files: tuple[Path, ...], recipe: Recipe, output: Path | None, *, as_json: bool) -> None:
    """Minimise PLA FILES (types f, fd, fr, fdr) and print what came of each.

    Products shared by several outputs count once. Every result is checked for equivalence with
    its input before it is written. 'proved' says that fewer products are impossible.
    """
    to_stdout = output is not None and str(output) == "-"
    if to_stdout and (len(files) > 1 or as_json):
        raise UsageError("-o - writes one PLA file and nothing else to standard output")
    if output is not None and len(files) > 1 and output.is_file():
        raise UsageError(f"{output} is a file: several results need a folder")
    names = [path.name for path in files]
    twice = next((name for name in names if names.count(name) > 1), None)
    if output is not None and twice:
        raise UsageError(f"two FILES are called {twice}: in one folder they would be one result")
    rows: list[tuple[Path, Pla, Cover]] = []
    failures: list[BoolcompError] = []
    with progress("minimising", len(files)) as step:
        for path in files:
            try:
                rows.append(_minimised(path, recipe, output, several=len(files) > 1))
            except BoolcompError as error:
                failures.append(error)
            step(path.name)
    if as_json:
        print_json({"files": [_document(*row) for row in rows]})
    elif rows:
        click.echo(_chart(rows), err=to_stdout)
    for failure in failures[:-1]:
        click.echo(f"boolcomp: error: {failure}", err=True)
    if failures:
        raise failures[-1]


def _minimised(
    path: Path, recipe: Recipe, output: Path | None, *, several: bool
) -> tuple[Path, Pla, Cover]:
    from boolcomp.twolevel import pla
    from boolcomp.twolevel.minimise import minimise

    source = pla.read(path)
    cover = minimise(source.function(str(path)), recipe.method, recipe.deadline)
    if cover.note:
        click.echo(f"boolcomp: note: {path}: {cover.note}", err=True)
    text = pla.render(pla.from_cubes(cover.cubes, source.input_names, source.output_names))
    if output is not None and str(output) == "-":
        click.echo(text, nl=False)
    elif output is not None:
        write_text(output / path.name if several or output.is_dir() else output, text)
    return path, source, cover


def _chart(rows: list[tuple[Path, Pla, Cover]]) -> str:
    header = [
        "file", "inputs", "outputs", "products", "literals", "shared", "proved", "at least",
        "seconds", "by",
    ]  # fmt: skip
    cells = [
        [
            str(path),
            str(source.inputs),
            str(source.outputs),
            str(cover.products),
            str(cover.literals),
            str(cover.shared),
            "yes" if cover.proved else "no",
            str(cover.lower_bound),
            f"{cover.seconds:.2f}",
            cover.method,
        ]
        for path, source, cover in rows
    ]
    return table(header, cells, left=(0, 6, 9))


def _document(path: Path, source: Pla, cover: Cover) -> dict[str, Any]:
    return {
        "file": str(path),
        "inputs": source.inputs,
        "outputs": source.outputs,
        "products": cover.products,
        "literals": cover.literals,
        "connections": cover.connections,
        "shared": cover.shared,
        "proved": cover.proved,
        "lower_bound": cover.lower_bound,
        "seconds": cover.seconds,
        "method": cover.method,
        "note": cover.note,
    }
