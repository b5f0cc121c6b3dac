"""`boolcomp export`: a program as files for other tools."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from boolcomp.commands.options import FilePath, json_option, print_json, within
from boolcomp.common.errors import UsageError, listing, shown, suggestion
from boolcomp.common.files import is_file, is_stream, write_bytes, write_text

if TYPE_CHECKING:
    from boolcomp.targets import Files

STANDARD = Path("-")


@click.command("export", epilog="Example: boolcomp export out/2r --to verilog -o 2r.v")
@click.argument("program")
@click.option(
    "--to", "target", required=True, help="verilog, vhdl, blif, aiger, pla, c, python and more."
)
@click.option("-o", "--output", required=True, type=FilePath(), help="File, or folder of files.")
@click.option("--load", type=float, help="Tip load in kg [default: all, with a port to select]")
@click.option("--level", help="Of what: gates or words [default: what the target has first]")
@click.option("--pipeline", default=0, help="Stages between registers [default: none]")
@click.option("--luts", default=0, help="Inputs of look-up tables: 4, 5, 6 [default: nodes of 3]")
@click.option("--test-bench", is_flag=True, help="Write a test bench that checks itself, too.")
@json_option
def command(
    program: str,
    target: str,
    output: Path,
    *,
    load: float | None,
    level: Any,
    pipeline: int,
    luts: int,
    test_bench: bool,
    as_json: bool,
) -> None:
    """Write PROGRAM (a folder made by compile) for other tools.

    What is written is the program's logic, or its word graph; the comments at its head say what
    every word stands for. PATH is a file where it has the target's ending (2r.v), else a folder of
    files that are named after the program.
    """
    from boolcomp.program.programfile import load_program
    from boolcomp.targets import LEVELS, MOST_STAGES, Options, export, writer

    writer(target)
    if level is not None and level not in LEVELS:
        hint = suggestion(level, LEVELS)
        raise UsageError(f"level {shown(level)}{hint}: {listing(LEVELS)}")
    within("--pipeline", pipeline, 0, MOST_STAGES)
    if as_json and output == STANDARD:
        raise UsageError("--json prints on standard output: give the file with -o")
    loaded = load_program(program)
    files = export(loaded, target, load, Options(level, pipeline, test_bench, luts))
    written = _written(files, output, writer(target).ending)
    if as_json:
        print_json({"program": program, "target": target, "files": written})
    elif written:
        click.echo(f"wrote {listing(written)}", err=True)


def _written(files: Files, output: Path, ending: str) -> list[str]:
    """Write files to their places, each whole or not at all; return where they are."""
    places = {name: output / name for name in files}
    a_file = output == STANDARD or output.suffix == ending or is_file(output) or is_stream(output)
    if len(files) == 1 and a_file:
        places = dict.fromkeys(files, output)
    elif a_file:
        raise UsageError(f"there are several files ({listing(files)}): give a folder with -o")
    for name, content in files.items():
        if output == STANDARD:
            click.echo(content, nl=False)
        elif isinstance(content, bytes):
            write_bytes(places[name], content)
        else:
            write_text(places[name], content)
    return [] if output == STANDARD else [str(path) for path in places.values()]
