"""`boolcomp area`: FPGA cells and clock frequency of a program."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from boolcomp.base.errors import DataError, require_name
from boolcomp.base.results import Results
from boolcomp.commands.options import (
    FILES,
    json_option,
    print_result,
    within,
)

if TYPE_CHECKING:
    from boolcomp.measure.fpga import Area

MOST_SEEDS = 20


@click.command("area", epilog="Example: boolcomp area out/2r --on ice40,xilinx7 --pipeline 8")
@click.argument("program", shell_complete=FILES)
@click.option(
    "--on",
    "targets",
    default="ice40,ecp5,xilinx7,lut4,lut6",
    show_default=True,
    help="FPGA families, or look-up tables of 4 or 6 inputs.",
)
@click.option(
    "--level",
    "levels",
    default="luts",
    show_default=True,
    help="Level of the Verilog: gates, luts (mapped by boolcomp), words; several with commas.",
)
@click.option("--load", type=float, help="Payload in kg [default: all, with a port to select]")
@click.option("--pipeline", default=0, help="Stages between registers [default: none]")
@click.option("--dsp/--no-dsp", default=False, help="Allow multiplier blocks for products.")
@click.option(
    "--seeds",
    default=1,
    show_default=True,
    help="Number of place-and-route runs for the clock; 0: count cells only.",
)
@json_option
def command(
    program: str, *, targets: str, levels: str, load: float | None, pipeline: int, dsp: bool,
    seeds: int,
) -> None:  # fmt: skip
    """Count the FPGA cells of PROGRAM (a folder made by compile), and estimate its clock frequency.

    Yosys synthesises; nextpnr places and routes for iCE40 and ECP5 and estimates the clock (median
    and best of its seeds); a real board may differ. Tools of the extra `hardware` compile
    themselves in their first run, which takes minutes. Missing tools are listed.
    """
    from boolcomp.commands.output import progress
    from boolcomp.measure.fpga import COLUMNS, device
    from boolcomp.program.files import load_program
    from boolcomp.targets.target import MOST_STAGES

    chosen = [one.strip() for one in levels.split(",")]
    for level in chosen:
        require_name("level", level, ("gates", "luts", "words"))
    families = [device(one.strip()) for one in targets.split(",")]
    within("--pipeline", pipeline, 0, MOST_STAGES)
    within("--seeds", seeds, 0, MOST_SEEDS)
    loaded = load_program(program)
    with progress("area", None) as step:
        found, skipped = _rows(
            loaded, load, families, chosen, stages=pipeline, dsp=dsp, seeds=seeds, step=step
        )
    results = Results(COLUMNS, found)
    text = "\n".join([results.text(), *(f"skipped: {sentence}" for sentence in skipped)])
    note = "MHz: estimated by nextpnr; all paths are between registers"
    clocked = any(one.fmax for one in found)
    print_result({"rows": results.documents, "skipped": skipped}, text, note if clocked else "")
    if not found:
        raise DataError("no cells were counted: no tool was found", "boolcomp doctor lists tools")


def _rows(
    program: Any, load: float | None, families: list[Any], levels: list[str], *, stages: int,
    dsp: bool, seeds: int, step: Any,
) -> tuple[list[Area], list[str]]:  # fmt: skip
    """Return a row for every target and level, and a line for every one that was skipped."""
    from boolcomp.measure import fpga
    from boolcomp.measure.fpga import area, mapped_area, source_of

    found, skipped = [], []
    for family in families:
        for level in levels:
            if level == "luts" and not family.macro:  # boolcomp's own mapping is counted
                step(f"{family.name}: mapping")
                found.append(mapped_area(program, load, family, stages))
                continue
            if fpga.find("yosys") is None:
                skipped.append(f"{family.name}, {level}: {fpga.missing('yosys')}")
                continue
            step(f"{family.name}, {level}: writing Verilog")
            source = source_of(program, load, level, stages, family.luts)
            found.append(area(source, family, dsp=dsp, seeds=seeds, step=step))
            if found[-1].note.startswith("nextpnr"):
                skipped.append(f"{family.name}, {level}: {found[-1].note}")
    return found, skipped
