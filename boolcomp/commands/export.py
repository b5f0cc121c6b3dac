"""`boolcomp export`: a program as files for other tools."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from boolcomp.base.errors import UsageError, listing
from boolcomp.commands.options import FilePath, json_option, print_json, within

if TYPE_CHECKING:
    from boolcomp.targets.target import Files

STANDARD = Path("-")


@click.command("export", epilog="Example: boolcomp export out/2r --to verilog -o 2r.v")
@click.argument("program")
@click.option(
    "--to", "target", required=True, help="verilog, vhdl, blif, aiger, pla, c, python and more."
)
@click.option("-o", "--output", required=True, type=FilePath(), help="File, or folder of files.")
@click.option("--load", help="Tip loads in kg, 1 or 0,2.5 [default: all, with a port to select]")
@click.option("--level", help="Of what: gates or words [default: what the target has first]")
@click.option("--pipeline", default=0, help="Stages between registers [default: none]")
@click.option("--luts", default=0, help="Inputs of look-up tables: 4, 5, 6 [default: nodes of 3]")
@click.option("--test-bench", is_flag=True, help="Write a test bench that checks itself, too.")
@click.option("--cocotb", is_flag=True, help="Write a test for cocotb, of Verilog only.")
@json_option
def command(
    program: str,
    target: str,
    output: Path,
    *,
    load: str | None,
    level: Any,
    pipeline: int,
    luts: int,
    test_bench: bool,
    cocotb: bool,
    as_json: bool,
) -> None:
    """Write PROGRAM (a folder made by compile) for other tools.

    What is written is the program's logic (gates), or its word graph (words: sums, products and
    tables of readable names); comments at the head say what every word stands for. PATH is a file
    where it has the target's ending (2r.v), and what belongs to it (a test bench) is written
    beside; else it is a folder of files that are named after the program.
    """
    from boolcomp.base.errors import masses
    from boolcomp.program.files import load_program, with_loads
    from boolcomp.targets.target import (
        MOST_STAGES,
        Options,
        checked_level,
        export_texts,
        write_files,
        writer,
    )

    writer(target)
    checked_level(level)
    within("--pipeline", pipeline, 0, MOST_STAGES)
    if as_json and output == STANDARD:
        raise UsageError("--json prints on standard output: give the file with -o")
    loaded = load_program(program)
    loads = () if load is None else masses("--load", load)
    if len(loads) > 1:
        loaded = with_loads(loaded, loads)
    options = Options(level, pipeline, test_bench, luts, cocotb)
    files = export_texts(loaded, target, loads[0] if len(loads) == 1 else None, options)
    if output == STANDARD:
        _printed(files)
        return
    written = [str(path) for path in write_files(files, output, writer(target).ending)]
    if as_json:
        print_json({"program": program, "target": target, "files": written})
    else:
        click.echo(f"wrote {listing(written)}", err=True)


def _printed(files: Files) -> None:
    """Print the one file that there is."""
    if len(files) > 1:
        raise UsageError(f"there are several files ({listing(files)}): give a folder with -o")
    for content in files.values():
        click.echo(content, nl=False)
