"""Clocks as goals: stages, cells and the clock that nextpnr reaches; flip-flops, few and fewest.

    python benchmarks/clock.py                       # the 2R and the PUMA 560: minutes
    python benchmarks/clock.py out/panda --device ecp5 --clock 50MHz --most 24288

The 2R is planned as tables and as words, the PUMA 560 for 140 MHz on an HX8K in at most 2900
tables. The pipeline with its bench runs in Icarus Verilog first. Clocks are estimates of nextpnr,
the median of three seeds and the best. Flip-flops by moves of single signals (`--pipeline`) are
compared with the fewest, by a linear program (`--clock`), for the same stages and stage depth.
Exits with 1 where a goal is missed.
"""

from __future__ import annotations

import shutil
import sys
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from typing import TYPE_CHECKING, NamedTuple

import boolcomp
from boolcomp.base.errors import table
from boolcomp.logic.lutmapping import mapped
from boolcomp.measure.fpga import areas, device
from boolcomp.measure.verify import SIMULATIONS, simulated
from boolcomp.program.files import load_program
from boolcomp.targets.clock import megahertz
from boolcomp.targets.stages import Readers, StagePlan, registers
from boolcomp.targets.target import ExportOptions, design_of, export_texts

if TYPE_CHECKING:
    from boolcomp.program.program import Program
    from boolcomp.targets.target import Level

HEAD = ["program", "level", "goal/MHz", "estimate", "median", "best", "stages", "tables", "asked",
        "carries", "flip-flops", "ns"]  # fmt: skip
SEEDS = 3


class Case(NamedTuple):
    """A program, its level, device, clock in MHz, and its most tables (0: any)."""

    name: str
    program: Program
    level: str
    device: str
    clock: float
    most: int = 0


def checked(case: Case) -> float:
    """Simulate the pipeline with its bench; return the estimated clock."""
    one = next(x for x in SIMULATIONS if x.tool == "iverilog" and x.pipeline)
    if shutil.which(one.tool) is None:
        sys.exit("Icarus Verilog was not found")
    level: Level = "words" if case.level == "words" else "gates"
    options = ExportOptions(level, test_bench=True, clock=case.clock, device=case.device)
    files = export_texts(case.program, "verilog", None, options)
    found = simulated(case.name, one, files, 600)
    if not found.holds:
        sys.exit(f"{case.name}: {found.note}")
    return float(files.timing.reached)  # type: ignore[attr-defined]  # of files with a clock


def row(case: Case, *, close: bool) -> tuple[list[str], bool]:
    """Return a row of the table, and whether the goal is reached."""
    estimate = checked(case)
    (one,), _ = areas(case.program, None, [device(case.device)], [case.level], seeds=SEEDS,
                      clock=case.clock, close=close)  # fmt: skip
    best = max(one.fmax)
    cells = [one.cells.luts, case.most or "", one.cells.carries, one.cells.ff]
    return [
        case.name, f"{case.device}, {case.level}{', closed' * close}", f"{case.clock:g}",
        "" if close else f"{estimate:.0f}", f"{one.clock:.0f}", f"{best:.0f}", f"{one.stages}",
        *map(str, cells), f"{one.latency:.0f}",
    ], best >= case.clock and (not case.most or one.cells.luts <= case.most)  # fmt: skip


def held(name: str, program: Program, counts: tuple[int, ...]) -> list[list[str]]:
    """Return flip-flops by moves of single signals and the fewest, for numbers of stages."""
    readers = Readers.of(mapped(design_of(program).network, 4, "area").luts)
    rows = []
    for count in counts:
        few = StagePlan(readers, count)
        plans = few, StagePlan(readers, count, few.longest, fewest=True)
        first, second = (registers(readers, readers.with_inputs(plan.stages()), count)
                         for plan in plans)  # fmt: skip
        rows.append([name, f"{count}", f"{few.longest}", f"{first}", f"{second}",
                     f"{second / first:.2f}"])  # fmt: skip
    return rows


def main() -> int:
    """Print tables; return 1 where a goal is missed."""
    parser = ArgumentParser(description=__doc__, formatter_class=RawDescriptionHelpFormatter)
    parser.add_argument("program", nargs="?")
    parser.add_argument("--device", default="ice40")
    parser.add_argument("--clock", type=megahertz, default=140.0)
    parser.add_argument("--most", type=int, default=0)
    parser.add_argument("--close", action="store_true")
    asked = parser.parse_args()
    if asked.program:
        given = load_program(asked.program)
        cases = [Case(given.name, given, "luts", asked.device, asked.clock, asked.most)]
    else:
        arm = boolcomp.compile("machado-2r")
        puma = boolcomp.compile("puma560", bits=8, rms_error=0.505)
        rows = [*held("machado-2r", arm, (4, 8, 12)), *held("puma560", puma, (8, 12, 16))]
        head = ["program", "stages", "levels", "flip-flops", "fewest", "ratio"]
        print(table(head, rows, (0,)), end="\n\n", flush=True)
        cases = [
            *(Case("machado-2r", arm, level, one, clock)
              for one in ("ice40", "ecp5") for level in ("luts", "words") for clock in (100, 150)),
            Case("puma560", puma, "luts", "ice40", 140, 2900),
        ]  # fmt: skip
    made = []
    for case in cases:
        print(f"{case.name}, {case.level}, {case.device}", file=sys.stderr, flush=True)
        made.append(row(case, close=asked.close))
    print(table(HEAD, [one for one, _ in made], (0, 1)))
    reached = sum(holds for _, holds in made)
    print(f"{reached} of {len(made)} goals reached")
    return int(reached < len(made))


if __name__ == "__main__":
    sys.exit(main())
