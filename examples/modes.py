"""What programs cost and how they err, side by side: nodes, depth, errors, ns per sample.

    python examples/modes.py PROGRAM...

The programs are folders that `boolcomp compile` made, of robots that ship.
"""

from __future__ import annotations

import sys

import boolcomp as bc
from boolcomp.base.errors import table
from boolcomp.measure.report import draw_samples, program_rows
from boolcomp.problem.functions import inverse_dynamics_problem

SAMPLES, EVALUATIONS = 200_000, 3_000_000
HEADER = ("program", "mode", "bits", "nodes", "depth", "rms/LSB", "worst/LSB", "ns/sample")


def row(folder: str) -> list[str]:
    """Measure one program against Newton-Euler."""
    program = bc.load_program(folder)
    problem = inverse_dynamics_problem(bc.load_robot(program.name))
    rows = program_rows(program, draw_samples(problem, SAMPLES), evaluations=EVALUATIONS)
    return [
        folder,
        program.mode,
        str(program.bits),
        str(rows[0].program_luts),
        str(rows[0].depth),
        " ".join(f"{r.total.rms / r.lsb:.2f}" for r in rows),
        " ".join(f"{(r.worst or r.total.max) / r.lsb:.1f}" for r in rows),
        f"{rows[0].ns_per_sample:.1f}",
    ]


def main() -> None:
    """Run the example."""
    if len(sys.argv) < 2:
        sys.exit("usage: python examples/modes.py PROGRAM...")
    print(table(HEADER, [row(folder) for folder in sys.argv[1:]], left=(0, 1, 5, 6)))
    print(
        f"rms over {SAMPLES} random states; the worst searched with {EVALUATIONS} evaluations, not "
        "proved; ns on one core, floats in and out"
    )


if __name__ == "__main__":
    main()
