"""`boolcomp area`: FPGA cells and clock frequency of a program."""

from __future__ import annotations

from typing import Any

import click

from boolcomp.base.errors import DataError, UsageError, require_name
from boolcomp.base.results import Results
from boolcomp.commands.options import (
    FILES,
    clock_option,
    close_option,
    interface_option,
    json_option,
    option,
    payload_option,
    print_result,
    tabled,
    within,
)

MOST_SEEDS = 20


@click.command("area", epilog="Example: boolcomp area out/2r --on ice40,xilinx7 --pipeline 8")
@click.argument("program", shell_complete=FILES)
@option("--on", "targets", default="ice40,ecp5,xilinx7,lut4,lut6", show_default=True,
        older=("--device",), help="FPGA families, or look-up tables of 4 or 6 inputs.")  # fmt: skip
@click.option("--level", "levels", default="luts", show_default=True, help="Level of the Verilog: "
              "gates, luts (mapped by boolcomp), words; several with commas.")  # fmt: skip
@payload_option(help="Payload in kg [default: all, with a port to select]")
@click.option("--pipeline", default=0, help="Stages between registers [default: none]")
@clock_option
@close_option
@interface_option
@click.option("--dsp/--no-dsp", default=False, help="Allow multiplier blocks for products.")
@click.option("--seeds", default=1, show_default=True,
              help="Place-and-route runs for the clock; 0: count cells only.")  # fmt: skip
@json_option
def command(
    program: str, *, targets: str, levels: str, load: float | None, pipeline: int,
    clock: float, close: bool, interface: Any, dsp: bool, seeds: int,
) -> None:  # fmt: skip
    """Count the FPGA cells of PROGRAM (a folder made by compile), and estimate its clock frequency.

    Yosys synthesises; nextpnr places and routes for iCE40 and ECP5 and estimates the clock (median
    and best of its seeds); a real board may differ. Tools of the extra `hardware` compile
    themselves in their first run, which takes minutes. Missing tools are listed.
    """
    from boolcomp.commands.output import progress
    from boolcomp.measure.fpga import COLUMNS, areas, device
    from boolcomp.program.files import load_program
    from boolcomp.targets.stages import MOST_STAGES
    from boolcomp.targets.target import INTERFACES, checked

    chosen = [one.strip() for one in levels.split(",")]
    for level in chosen:
        require_name("level", level, ("gates", "luts", "words"))
    families = [device(one.strip()) for one in targets.split(",")]
    within("--pipeline", pipeline, 0, MOST_STAGES)
    within("--seeds", seeds, 0, MOST_SEEDS)
    if close and not clock:
        raise UsageError("--close needs a clock", "give one with --clock")
    loaded = load_program(program)
    with progress("area", None) as step:
        found, skipped = areas(
            loaded, load, families, chosen, stages=pipeline, dsp=dsp, seeds=seeds, clock=clock,
            close=close, interface=checked("interface", interface, INTERFACES), step=step,
        )  # fmt: skip
    results = Results(COLUMNS, found)
    brief = "target, design, tables, LUT6, carries, DSP, RAM, flip-flops, levels, MHz, best, ns"
    text = "\n".join([tabled(results, brief), *(f"skipped: {sentence}" for sentence in skipped)])
    note = "MHz: estimated by nextpnr; all paths are between registers"
    clocked = any(one.fmax for one in found)
    print_result({"rows": results.documents, "skipped": skipped}, text, note if clocked else "")
    if not found:
        raise DataError("no cells were counted: no tool was found", "boolcomp doctor lists tools")
