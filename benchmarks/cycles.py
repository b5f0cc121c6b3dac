"""What programs take on microcontrollers and this machine, and what was asked of them.

    python benchmarks/cycles.py                       # 2R, elbow-3r, PUMA 560 at 8 bits
    python benchmarks/cycles.py out/2r-avr out/puma   # programs that were saved
    python benchmarks/cycles.py --target mcu8         # searched for: minutes

`boolcomp cycles` for each, then a table of the figures that were asked for: of several programs of
a robot the best counts for each machine, where its errors are small enough. Exit code 1 where a
word was wrong.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import boolcomp
from boolcomp.base.errors import table
from boolcomp.commands.cycles import subject_of
from boolcomp.measure.cycles import BOARDS, cycles_rows, text_report

if TYPE_CHECKING:
    from collections.abc import Sequence

    from boolcomp.measure.cycles import CyclesRow
    from boolcomp.program.program import Program

# What ships at 8 bits, and its rms errors; None: the paper's own.
SHIPPED: dict[str, float | None] = {"machado-2r": None, "elbow-3r": 0.505, "puma560": 0.505}
EFFORT = {"machado-2r": 30.0}  # of a search for a target; others have none
RMS = {"machado-2r": (0.43, 0.58), "puma560": (0.505,) * 6}  # last bits, no more


class Asked(NamedTuple):
    """A figure that is asked for: cycles or instructions at most, or so many times float's."""

    robot: str
    target: str
    key: str
    figure: float
    against: str = ""


ASKED = (
    Asked("machado-2r", "avr", "cycles", 150),
    Asked("machado-2r", "cortex-m0", "instructions", 85),
    Asked("machado-2r", "cortex-m3", "instructions", 45),
    Asked("puma560", "avr", "cycles", 1900),
    Asked("puma560", "cortex-m3", "instructions", 900),
    Asked("machado-2r", "avr", "cycles", 33, "float"),
    Asked("machado-2r", "cortex-m0", "instructions", 90, "float"),
    Asked("puma560", "avr", "cycles", 8, "float"),
    Asked("puma560", "cortex-m0", "instructions", 40, "float"),
    Asked("machado-2r", "avr", "cycles", 1, "fixed point by hand"),
    Asked("machado-2r", "cortex-m0", "instructions", 1, "fixed point by hand"),
    Asked("machado-2r", "cortex-m3", "instructions", 1, "fixed point by hand"),
    Asked("puma560", "avr", "cycles", 1, "fixed point, Newton-Euler"),
    Asked("puma560", "cortex-m3", "instructions", 1, "fixed point, Newton-Euler"),
)


def program_of(name: str, target: Any = None) -> Program:
    """Return a program that was saved, or that of a robot at 8 bits and the errors that ship."""
    if Path(name).is_dir():
        return boolcomp.load_program(name)
    if target is not None:
        rms = RMS.get(name, SHIPPED.get(name))
        effort = EFFORT.get(name, 0.0)
        return boolcomp.compile(name, bits=8, rms_error=rms, target=target, effort=effort)
    return boolcomp.compile(name, bits=8, rms_error=SHIPPED.get(name))


def measured(asked: Asked, rows: Sequence[CyclesRow]) -> float | None:
    """Return what was measured for a figure; None where nothing was."""
    here = [row for row in rows if row.target == asked.target and not row.skipped]
    most = RMS[asked.robot]
    own = [
        value
        for row in here
        if row.design == "words"
        and (value := getattr(row, asked.key)) is not None
        and row.rms is not None
        and all(a <= b for a, b in zip(row.rms, most, strict=True))
    ]
    if not own or not asked.against:
        return min(own, default=None)
    others = [getattr(row, asked.key) for row in here if row.design.startswith(asked.against)]
    return min(others) / min(own) if others else None


def text_of(asked: Asked, found: float | None) -> list[str]:
    """Return a line of the table."""
    what = f"{asked.key}, times {asked.against}" if asked.against else asked.key
    sign = "≥" if asked.against else "≤"
    if found is None:
        said, holds = "not measured", ""
    else:
        said = f"{found:.3g}" if asked.against else f"{found:.0f}"
        reached = found >= asked.figure if asked.against else found <= asked.figure
        holds = "yes" if reached else "no"
    return [asked.robot, asked.target, what, f"{sign} {asked.figure:g}", said, holds]


def main() -> int:
    """Print a table a program, then what was asked; return the exit code."""
    parser = argparse.ArgumentParser(description="programs on microcontrollers")
    parser.add_argument("--target", help="what robots are compiled for: mcu8, mcu32, simd")
    parser.add_argument("programs", nargs="*", metavar="ROBOT|FOLDER")
    chosen = parser.parse_args()
    rows: dict[str, list[CyclesRow]] = {}
    for name in chosen.programs or SHIPPED:
        program = program_of(name, chosen.target)
        subject = subject_of(program, name, None, None, 100, 14)
        found = cycles_rows(subject, list(BOARDS.values()))
        rows.setdefault(program.name, []).extend(found)
        print(f"{name}\n{text_report(found)}\n", flush=True)
    lines = [text_of(one, measured(one, rows[one.robot])) for one in ASKED if one.robot in rows]
    if lines:
        print(table(["robot", "target", "figure", "asked", "measured", "holds"], lines, (0, 1, 2)))
    return int(any(row.wrong for each in rows.values() for row in each))


if __name__ == "__main__":
    sys.exit(main())
