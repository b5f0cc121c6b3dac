"""`boolcomp build`: bitstream of a program for a board."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import click

from boolcomp.base.files import check_place, outputs
from boolcomp.commands.options import (
    FILES,
    FilePath,
    clock_option,
    completes,
    json_option,
    payload_option,
    print_result,
    refuse_given,
    within,
)


@click.command("build", epilog="Example: boolcomp build out/2r --board icebreaker -o 2r.bin")
@click.argument("program", shell_complete=FILES)
@click.option("--board", "name", required=True, help="icebreaker, ulx3s, ulx3s-25f.",
              shell_complete=completes("measure.fpga:BOARDS"))  # fmt: skip
@click.option("-o", "--output", required=True, type=FilePath(), help="The bitstream.")
@payload_option(help="Payload in kg [default: all, with a port to select]")
@click.option(
    "--pipeline", default=8, show_default=True, help="Pipeline stages of the core, at least 1."
)
@clock_option
@json_option
def command(
    program: str, *, name: str, output: Path, load: float | None, pipeline: int, clock: float
) -> None:
    """Build a bitstream of PROGRAM (a folder made by compile), with registers over a UART.

    The sources are written next to the bitstream: NAME_core.v, NAME_top.v, the pins, and NAME_tb.v,
    a test bench that drives the top module over its UART. The netlist that is placed is proved
    equivalent to the program. If any step fails, no file is written.
    """
    from boolcomp.commands.output import progress
    from boolcomp.measure.fpga import board, built, sources
    from boolcomp.program.files import load_program
    from boolcomp.targets.board import BAUD
    from boolcomp.targets.stages import MOST_STAGES
    from boolcomp.targets.target import ExportOptions

    one = board(name)
    within("--pipeline", pipeline, 1, MOST_STAGES)
    options = ExportOptions("gates", pipeline, luts=4)
    if clock:
        refuse_given(click.get_current_context(), ["pipeline"], "the stages follow from --clock")
        options = replace(options, pipeline=0, clock=clock, device=one.device)
    stem = output.with_suffix("")
    pins = ".pcf" if one.family == "ice40" else ".lpf"
    places = [Path(f"{stem}{end}") for end in ("_core.v", "_top.v", "_tb.v", pins)]
    for place in (*places, output):
        check_place(place)
    loaded = load_program(program)
    with progress("build", None) as step:
        step("mapping")
        made = sources(loaded, load, one, options)
        done = built(made, one, step)
    texts = (made.core, made.top, made.bench, made.constraints)
    with outputs() as put:
        for path, text in zip(places, texts, strict=True):
            put(path, text)
        put(output, done.bitstream)
    document = {
            "program": program, "board": name, "files": [str(path) for path in (output, *places)],
            "luts": done.cells.luts, "ff": done.cells.ff, "room": one.tables,
            "fmax_mhz": done.fmax, "clock_mhz": one.hertz / 1e6, "baud": BAUD, "proved": True,
        }  # fmt: skip
    text = (
        f"{one.about}: {done.cells.luts} of {one.tables} look-up tables, {done.cells.ff} "
        f"flip-flops\nclock {one.hertz / 1e6:g} MHz; estimated maximum {done.fmax:.0f} MHz "
        "(nextpnr)\n"
        "the core is proved equivalent to the program (ABC cec, before place and route)"
    )
    note = f"wrote {output} and its sources {', '.join(map(str, places))}"
    print_result(document, text, note)
