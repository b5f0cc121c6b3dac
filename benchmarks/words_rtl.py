"""Words compared with look-up tables on FPGAs: cells and clocks of a program, as ratios in one run.

    python benchmarks/words_rtl.py                  # the 2R in 8 stages, the PID combinational
    python benchmarks/words_rtl.py --device ice40   # without the slower ECP5

Clocks are nextpnr's estimates between registers, the median of three seeds and the best. `was` are
tables and MHz of words before sums were planned for a device. The measured text is proved
equivalent to the word graph, and simulated on random words. Goals are .95 of the clock of tables
for the 2R, with at most 548 tables on the iCE40, and two thirds of the delay of the PID's tables.
Exits with 1 where a goal is missed.
"""

from __future__ import annotations

import sys
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from typing import TYPE_CHECKING, NamedTuple

import boolcomp
from boolcomp.base.errors import table
from boolcomp.measure import words_compared
from boolcomp.measure.fpga import area, device, source_of

if TYPE_CHECKING:
    from boolcomp.measure.fpga import Area
    from boolcomp.program.program import Program

HEAD = ["program", "device", "level", "tables", "carries", "flip-flops", "levels", "median", "best",
        "words / tables", "asked", "was"]  # fmt: skip
SEEDS = 3
MOST = 548  # tables of the 2R's words on the iCE40


class Case(NamedTuple):
    """A program in stages, the least clock of its words in that of tables, and earlier figures."""

    name: str
    program: Program
    stages: int
    least: float
    was: dict[str, str]


def cases() -> list[Case]:
    """Return the programs; both results are stored."""
    pid = boolcomp.compile("examples/functions/pid.toml")
    return [
        Case("2R, 8 stages", boolcomp.compile("machado-2r", bits=8), 8, 0.95,
             {"ice40": "593, 168 MHz", "ecp5": "175 MHz"}),
        Case("PID", pid, 0, 1.5, {"ice40": "207, 52 MHz"}),
    ]  # fmt: skip


def measured(case: Case, name: str, level: str) -> Area:
    """Prove words, then place and route a level of a program on a device."""
    family = device(name)
    source = source_of(case.program, None, level, case.stages, family.luts, device=name)
    if level == "words":
        checks = words_compared(case.program, None, "words.v", source.text)
        if not all(check.holds for check in checks):
            sys.exit(f"{case.name}: {'; '.join(check.note for check in checks)}")
    return area(source, family, seeds=SEEDS)


def main() -> int:
    parser = ArgumentParser(description=__doc__, formatter_class=RawDescriptionHelpFormatter)
    parser.add_argument("--device", action="append", choices=("ice40", "ecp5"))
    given = parser.parse_args()
    rows, missed = [], False
    for case in cases():
        for name in given.device or ("ice40", "ecp5"):
            tables, words = (measured(case, name, level) for level in ("luts", "words"))
            if tables.clock is None or words.clock is None:
                sys.exit(words.note or tables.note)
            ratio = words.clock / tables.clock
            missed |= ratio < case.least
            missed |= (case.stages, name) == (8, "ice40") and words.cells.luts > MOST
            for one, more in (
                (tables, ["", "", ""]),
                (words, [f"{ratio:.2f}", f"{case.least:.2f}", case.was.get(name, "")]),
            ):
                cells = (one.cells.luts, one.cells.carries, one.cells.ff, one.levels)
                clocks = [f"{one.clock:.0f}", f"{max(one.fmax):.0f}"]
                rows.append([case.name, name, one.design, *map(str, cells), *clocks, *more])
            print(*rows[-1], sep="  ", file=sys.stderr)
    print(table(HEAD, rows, left=(0, 1, 2)))
    return int(missed)


if __name__ == "__main__":
    sys.exit(main())
