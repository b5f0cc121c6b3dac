"""Two forms of an arm's torques as logic: sums of waves, and the steps of a recursion.

    python benchmarks/forms.py              the model's nodes of both, which is screened in seconds
    python benchmarks/forms.py --compile    and what the smaller one takes, compiled with no effort

All at 8 bits and an rms error of at most .505 LSB.
"""

from __future__ import annotations

import argparse
import time
from dataclasses import replace

import numpy as np

from boolcomp.base.errors import table
from boolcomp.compact import search
from boolcomp.compact.demand import usual_demand
from boolcomp.compact.limits import DIRECT, PLAIN
from boolcomp.compact.passes import CompactChoices
from boolcomp.compact.search import CAUTION, SearchTask
from boolcomp.compact.widths import MOST_WAVES
from boolcomp.pipeline import compile_compact
from boolcomp.problem.functions import USUAL, robot_problem
from boolcomp.problem.robot.library import load_robot
from boolcomp.terms.extract import split

CASES = [
    ("machado-2r", USUAL), ("elbow-3r", USUAL), ("puma560", USUAL), ("ur5e", USUAL),
    ("stanford-scaled", USUAL), ("so100", USUAL), ("panda", "gravity"), ("panda", USUAL),
]  # fmt: skip
BITS, RMS = 8, 0.505
HEADER = ["arm", "function", "waves", "sums of waves", "steps", "compiled", "depth", "rms/LSB", "sampled max", "worst found", "seconds"]  # fmt: skip # noqa: E501


def row(name: str, of: str, *, compiled: bool) -> list[str]:
    """Return what both forms of a function are predicted to take, and what was compiled."""
    problem = robot_problem(load_robot(name), of)
    terms = split(problem)
    demand = replace(usual_demand(BITS, rms=(RMS,)), effort=0.0).completed(problem)
    count = len(problem.outputs)
    allowed = np.full(count, RMS**2 * CAUTION)
    task = SearchTask(terms, demand, allowed, np.full(count, np.inf))
    forms = {"sums": list(PLAIN) if terms.waves <= MOST_WAVES else [], "steps": [DIRECT]}
    if of == "gravity":
        forms["sums"] = forms["sums"][:1]  # the others differ in speeds
    found = {
        kind: min((search.screen(task, form).nodes for form in tried), default=float("nan"))
        for kind, tried in forms.items()
    }
    cells = [name, of, str(terms.waves), *(f"{found[kind]:.0f}" for kind in ("sums", "steps"))]
    if not compiled:
        return cells
    start = time.process_time()
    made = compile_compact(problem, CompactChoices(demand)).built[0]
    errors = made.errors
    return [
        *cells, str(len(made.network.nodes)), str(made.network.depth), f"{errors.rms.max():.3f}",
        f"{errors.max.max():.2f}", f"{max(made.largest):.2f}",
        f"{time.process_time() - start:.0f}",
    ]  # fmt: skip


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--compile", action="store_true", help="compile the smaller form")
    parser.add_argument("--only", help="arms, separated by commas")
    chosen = parser.parse_args()
    names = chosen.only.split(",") if chosen.only else [name for name, _ in CASES]
    rows = [row(*case, compiled=chosen.compile) for case in CASES if case[0] in names]
    print(table(HEADER if chosen.compile else HEADER[:5], rows, left=(0, 1)))


if __name__ == "__main__":
    main()
