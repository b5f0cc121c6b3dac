"""`boolcomp export`: program files for other tools."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from boolcomp.base.errors import UsageError, listing
from boolcomp.commands.options import (
    FILES,
    FilePath,
    completes,
    json_option,
    payload_option,
    print_result,
    wants_json,
    within,
)

if TYPE_CHECKING:
    from boolcomp.program.program import Program
    from boolcomp.targets.target import Files

STANDARD = Path("-")


@click.command("export", epilog="Example: boolcomp export out/2r --to verilog -o 2r.v")
@click.argument("program", shell_complete=FILES)
@click.option(
    "--to", "target", required=True, help="verilog, vhdl, blif, aiger, pla, c, python and more.",
    shell_complete=completes("targets.target:WRITERS"),
)  # fmt: skip
@click.option("-o", "--output", required=True, type=FilePath(), help="File, or folder of files.")
@payload_option(type=str, help="Payloads in kg, 1 or 0,2.5 [default: all, with a port to select]")
@click.option("--level", help="gates or words [default: the first that the target supports]")
@click.option("--pipeline", default=0, help="Stages between registers [default: none]")
@click.option("--luts", default=0, help="Inputs of look-up tables: 4, 5, 6 [default: LUT3]")
@click.option("--test-bench", is_flag=True, help="Also write a self-checking test bench.")
@click.option("--cocotb", is_flag=True, help="Also write a cocotb test (Verilog only).")
@json_option
def command(
    program: str, target: str, output: Path, *, load: str | None, level: Any, pipeline: int,
    luts: int, test_bench: bool, cocotb: bool,
) -> None:  # fmt: skip
    """Write PROGRAM (a folder made by compile) for other tools.

    The files contain the program's logic (gates) or its word graph (words: sums, products and
    tables with readable names); comments at the top describe every word. If PATH has the target's
    suffix (2r.v), it is a file; --test-bench writes a second file. Otherwise it is a folder, and
    files are named after the program.
    """
    from boolcomp.base.errors import masses
    from boolcomp.program.files import load_program, with_loads
    from boolcomp.targets.target import (
        MOST_STAGES,
        ExportOptions,
        checked_level,
        export_texts,
        write_files,
        writer,
    )

    writer(target)
    checked_level(level)
    within("--pipeline", pipeline, 0, MOST_STAGES)
    if wants_json() and output == STANDARD:
        raise UsageError("--json uses standard output", "give a file with -o")
    loaded = load_program(program)
    loads = () if load is None else masses("--payload", load)
    if len(loads) > 1:
        loaded = with_loads(loaded, loads)
    options = ExportOptions(level, pipeline, test_bench, luts, cocotb)
    files = export_texts(loaded, target, loads[0] if len(loads) == 1 else None, options)
    note = _faster(loaded) if target in ("c", "c-header") else ""
    if output == STANDARD:
        _printed(files)
        click.echo(note, err=True, nl=bool(note))
        return
    written = [str(path) for path in write_files(files, output, writer(target).ending)]
    document = {"program": program, "target": target, "files": written}
    print_result(document, f"wrote {listing(written)}", note, err=True)


def _faster(program: Program) -> str:
    """Return a hint if C is written from a program that was searched for logic."""
    if program.mode != "compact" or program.asked.get("target") in ("mcu8", "mcu32", "simd"):
        return ""
    return (
        f"hint: a search for C gives code about twice as fast: boolcomp compile {program.name} "
        f"--bits {program.bits} --target mcu8 (or mcu32)"
    )


def _printed(files: Files) -> None:
    """Print a single file; raise a `UsageError` for several."""
    if len(files) > 1:
        raise UsageError(f"several files ({listing(files)}) need a folder", "give it with -o")
    for content in files.values():
        click.echo(content, nl=False)
