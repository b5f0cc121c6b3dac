"""The tight bound of the 2R at few bits beside all words, at all corners of their cells.

    python benchmarks/exhaustive.py [BITS...]

Without a number 4 and 5 bits. Every word that the program reads is given to it, and held against
Newton and Euler at every corner of its cell (`tests/everyword.py`, which knows nothing of how
bounds are proved). Printed are the worst of all and the bound in LSB, the bound's own remainder
(what cells that bend may add to their corners), and seconds of processor time. The exit code is 1
where a corner is above the bound, or the bound further above than its remainder.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

from boolcomp.base.errors import table
from boolcomp.compact.demand import usual_demand
from boolcomp.compact.passes import CompactChoices
from boolcomp.pipeline import compile_compact
from boolcomp.problem.functions import inverse_dynamics_problem
from boolcomp.problem.robot.library import load_robot

NAME = "machado-2r"
HEADER = (
    "bits", "words", "torque", "largest", "bound", "least", "bound", "remainder", "most missing",
    "s",
)  # fmt: skip
DUST = 1e-6  # LSB: of doubles


def rows(bits: int) -> tuple[list[list[str]], bool]:
    """Return a line for every torque, and whether its bound is not what it should be."""
    sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))
    from everyword import all_corners  # noqa: PLC0415 (tests have it)

    compiled = compile_compact(NAME, CompactChoices(usual_demand(bits), proof="tight"))
    bounds = compiled.built[0].bounds
    assert bounds is not None  # noqa: S101 (so it is of arms)
    start = time.process_time()
    found = all_corners(compiled.program, inverse_dynamics_problem(load_robot(NAME)))
    seconds = time.process_time() - start
    lines, wrong = [], False
    for k, bound in enumerate(bounds.outputs):
        missing = (float(bound.high) - found.high[k], found.low[k] - float(bound.low))
        wrong |= min(missing) < 0 or max(missing) > bound.remainder + DUST
        lines.append([
            str(bits), f"{found.words}", bound.name, f"{found.high[k]:.6f}",
            f"{float(bound.high):.6f}", f"{found.low[k]:.6f}", f"{float(bound.low):.6f}",
            f"{bound.remainder:.6f}", f"{max(missing):.6f}", f"{seconds:.1f}",
        ])  # fmt: skip
    return lines, wrong


def main() -> int:
    """Print the table."""
    lines, wrong = [], False
    for bits in map(int, sys.argv[1:] or ("4", "5")):
        found, missed = rows(bits)
        lines += found
        wrong |= missed
    print(table(HEADER, lines, left=(2,)))
    return int(wrong)


if __name__ == "__main__":
    sys.exit(main())
