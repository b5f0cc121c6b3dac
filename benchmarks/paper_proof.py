"""Bounds of paper mode beside the worst found: arms that ship, from few bits to many.

    python benchmarks/paper_proof.py [NAME...] [--bits 4,6,8] [--climb N] [--effort N] [--markdown]

Errors are in LSB of the torque, a figure for every joint: the worst that climbing found of what the
plan's tables give, the bound, bound over worst, and seconds of processor time for the bound. Tables
of at most 20 input bits are made; `estimated` says of how many terms the table is larger, so that
of its entries only the rounding is known. The exit code is 1 where anything is above a bound, or
where a bound of tables that were all made is above 1.25 times the worst found.
"""

from __future__ import annotations

import argparse
import sys
import time
from typing import TYPE_CHECKING

import numpy as np

from boolcomp.base.errors import table
from boolcomp.paper.plan import PlanOptions, make_plan
from boolcomp.paper.program import explained, plan_subject
from boolcomp.problem.sources import problem_of
from boolcomp.proof.bound.tabled import EFFORT, bound_of
from boolcomp.proof.worst import find_worst
from boolcomp.terms.extract import split

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

ARMS = ("machado-2r", "elbow-3r", "planar-3r", "puma560")
BITS = "4,5,6,7,8,10,12"
ALLOWED = 1.25  # bounds over the worst found, where all tables are known
CLIMB = 1_000_000
HEADER = ("plan", "worst found", "bound", "ratio", "s", "estimated")


def row(name: str, bits: int, climb: int, effort: float) -> tuple[list[str], bool]:
    """Return a line of the table, and whether anything is not as it should be."""
    plan = make_plan(split(problem_of(name)), PlanOptions(bits))
    sums = [explained(output) for output in plan.outputs]  # tables are made before time is taken
    start = time.process_time()
    bounds = [bound_of(one, effort) for one in sums]
    seconds = time.process_time() - start
    found = find_worst(plan_subject(plan), climb)
    wrong = any(
        up > float(bound.high) or down < float(bound.low)
        for bound, (up, down) in zip(bounds, found.errors, strict=True)
    )
    estimated = [sum(term.table is None for term in one.terms) for one in sums]
    steps = np.array([bound.steps for bound in bounds])
    ratios = steps / found.largest
    known = np.array(estimated) == 0
    wrong |= bool((ratios[known] > ALLOWED).any())
    cells = [
        f"{name}, {bits} bits", _listed(found.largest), _listed(steps), _listed(ratios),
        f"{seconds:.1f}", " ".join(map(str, estimated)),
    ]  # fmt: skip
    return cells, wrong


def _listed(values: Sequence[float] | NDArray[np.float64]) -> str:
    return " ".join(f"{value:.3f}" for value in values)


def main() -> int:
    """Print a row for every arm and word length."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", default=ARMS)
    parser.add_argument("--bits", default=BITS)
    parser.add_argument("--climb", type=int, default=CLIMB)
    parser.add_argument("--effort", type=float, default=EFFORT)
    parser.add_argument("--markdown", action="store_true")
    options = parser.parse_args()
    rows, wrong = [], False
    for name in options.names:
        for bits in map(int, options.bits.split(",")):
            cells, missed = row(name, bits, options.climb, options.effort)
            print(f"{', '.join(cells)}{'  MISSED' * missed}", file=sys.stderr, flush=True)
            rows.append(cells)
            wrong |= missed
    if options.markdown:
        lines = [HEADER, ["---"] * len(HEADER), *rows]
        print("\n".join(f"| {' | '.join(cells)} |" for cells in lines))
    else:
        print(table(HEADER, rows))
    return int(wrong)


if __name__ == "__main__":
    sys.exit(main())
