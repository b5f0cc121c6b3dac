"""`boolcomp export`: program files for other tools."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from boolcomp.base.errors import DataError, UsageError, listing, short
from boolcomp.commands.options import (
    FILES,
    FilePath,
    clock_option,
    close_option,
    completes,
    interface_option,
    json_option,
    payload_option,
    print_result,
    wants_json,
    within,
)

if TYPE_CHECKING:
    from boolcomp.measure.fpga import Area
    from boolcomp.program.program import Program
    from boolcomp.targets.target import ExportOptions, Files

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
@clock_option
@click.option("--device", default="", help="ice40, up5k, ecp5, xilinx7: its tables and delays.",
              shell_complete=completes("targets.delays:DELAYS"))  # fmt: skip
@close_option
@click.option("--luts", default=0, help="Inputs of look-up tables: 4, 5, 6 [default: LUT3]")
@click.option("--test-bench", is_flag=True, help="Also write a self-checking test bench.")
@click.option("--cocotb", is_flag=True, help="Also write a cocotb test (Verilog only).")
@interface_option
@json_option
def command(
    program: str, target: str, output: Path, *, load: str | None, level: Any, pipeline: int,
    luts: int, test_bench: bool, cocotb: bool, interface: Any, clock: float, device: str,
    close: bool,
) -> None:  # fmt: skip
    """Write PROGRAM (a folder made by compile) for other tools.

    The files contain the program's logic (gates) or its word graph (words: sums, products and
    tables with readable names); comments at the top describe every word. If PATH has the target's
    suffix (2r.v), it is a file; --test-bench writes a second file. Otherwise it is a folder, and
    files are named after the program.
    """
    from boolcomp.base.errors import masses
    from boolcomp.program.files import load_program, with_loads
    from boolcomp.targets.clock import TimedFiles
    from boolcomp.targets.stages import MOST_STAGES
    from boolcomp.targets.target import (
        INTERFACES,
        LEVELS,
        ExportOptions,
        checked,
        export_texts,
        write_files,
        writer,
    )

    writer(target)
    checked("level", level, LEVELS)
    checked("interface", interface, INTERFACES)
    within("--pipeline", pipeline, 0, MOST_STAGES)
    if wants_json() and output == STANDARD:
        raise UsageError("--json uses standard output", "give a file with -o")
    loaded = load_program(program)
    loads = () if load is None else masses("--payload", load)
    if len(loads) > 1:
        loaded = with_loads(loaded, loads)
    one = loads[0] if len(loads) == 1 else None
    options = ExportOptions(
        level, pipeline, test_bench, luts, cocotb, interface, clock=clock, device=device
    )
    placed = None
    if close:
        options, placed = _closed(loaded, target, one, options)
    files = export_texts(loaded, target, one, options)
    note = _faster(loaded) if target in ("c", "c-header") else ""
    if output == STANDARD:
        _printed(files)
        click.echo(note, err=True, nl=bool(note))
        return
    written = [str(path) for path in write_files(files, output, writer(target).ending)]
    document: dict[str, Any] = {"program": program, "target": target, "files": written}
    text = f"wrote {listing(written)}"
    if isinstance(files, TimedFiles) and files.timing:
        timing = files.timing
        if placed and placed.clock:
            cells = placed.cells
            timing = replace(timing, luts=cells.luts, flip_flops=cells.ff, reached=placed.clock,
                             placed=True)  # fmt: skip
        document["timing"] = timing.document
        text += f"\n{timing}"
    print_result(document, text, note, err=True)


def _faster(program: Program) -> str:
    """Return a hint if C is written from a program that was searched for logic."""
    if program.mode != "compact" or program.asked.get("target") in ("mcu8", "mcu32", "simd"):
        return ""
    from boolcomp.problem.robot.library import robot_names

    name = program.name if program.name in robot_names() else "ROBOT"
    return (
        f"hint: a search for C gives code about twice as fast: boolcomp compile {name} "
        f"--bits {program.bits} --target mcu8 (or mcu32)"
    )


def _closed(
    program: Program, target: str, load: float | None, options: ExportOptions
) -> tuple[ExportOptions, Area]:
    """Return the options with the margin that place and route asks for."""
    from boolcomp.commands.output import progress
    from boolcomp.measure.fpga import closed
    from boolcomp.targets.target import writer

    goal = writer(target).on_device(options).goal
    if goal is None:
        raise UsageError("--close needs a clock", "give one with --clock")
    level = "words" if options.level == "words" else "luts"
    if target != "verilog" and level != "words":
        raise UsageError("--close places Verilog or words", "add --level words")
    with progress("export", None) as step:
        goal, placed = closed(program, load, level, goal, interface=options.interface, step=step)
    if placed.clock is not None and placed.clock < goal.clock:
        raise DataError(
            f"{short(goal.clock, 4)} MHz is not reached on {goal.device} after place and route",
            f"nextpnr reaches {int(placed.clock)} MHz: lower the clock to that, or leave out "
            "--close",
        )
    return replace(options, margin=goal.margin), placed


def _printed(files: Files) -> None:
    """Print a single file; raise a `UsageError` for several."""
    if len(files) > 1:
        raise UsageError(f"several files ({listing(files)}) need a folder", "give it with -o")
    for content in files.values():
        click.echo(content, nl=False)
