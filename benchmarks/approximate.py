"""What approximation gains of shipped results: nodes, errors on fresh states, worst found, bounds.

    python benchmarks/approximate.py [ROW...] [--how tables,free] [--effort N]
        [--store FOLDER] [--json FILE]

Rows are those of benchmarks/compact.py (`machado-2r-8`, `elbow-3r-8`, `puma560-8`); without any the
2R at 6, 8, 10 and 12 bits. Errors are measured on a million states that no part of a search has
seen, in LSB; the network of `tables` must be its graph's at all of them. Figures are `found/asked`;
what is missed is marked with a !. The exit code is 1 where an rms error is larger than is allowed,
an error larger than its bound, or a network differs from its graph: what is not as small as asked
is printed, and no failure. With a store, results that are there are read.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from compact import ROWS, SAMPLES, SEED, Row, against, processor_seconds

from boolcomp.base.errors import table as aligned
from boolcomp.compact.demand import APPROXIMATE
from boolcomp.compact.errors import Sampling, measure_many
from boolcomp.compact.passes import CompactChoices, build
from boolcomp.problem.functions import inverse_dynamics_problem
from boolcomp.problem.robot.library import load_robot
from boolcomp.terms.extract import split

USUAL = ("machado-2r-6", "machado-2r-8", "machado-2r-10", "machado-2r-12")
ASKED: dict[str, dict[str, int]] = {
    "machado-2r-6": {"tables": 230, "free": 220},
    "machado-2r-8": {"tables": 538, "free": 505},
    "machado-2r-10": {"tables": 1060, "free": 1000},
    "machado-2r-12": {"tables": 2000, "free": 1900},
    "elbow-3r-8": {"tables": 1530, "free": 1440},
    "planar-3r-8": {"tables": 1380, "free": 1300},
    "puma560-8": {"tables": 3350, "free": 3000},
    "puma560-10": {"tables": 8000, "free": 7300},
    "stanford-scaled-8": {"tables": 7500, "free": 6500},
}
HEADER = ("row", "how", "nodes", "depth", "lut6", "rms", "allowed", "worst", "bound", "cpu")


def measured(row: Row, how: Any, options: argparse.Namespace, store: Path) -> dict[str, Any]:
    """Compile a row and measure what it errs by."""
    demand = replace(row.demand, approximate=how)
    terms = split(inverse_dynamics_problem(load_robot(row.robot)))
    before = processor_seconds()
    choices = CompactChoices(
        demand, store, progress=lambda x: print(f"{row.name} {how}: {x}", file=sys.stderr)
    )
    if options.effort is not None and how != "off":
        print(f"{row.name}: effort is part of what is stored", file=sys.stderr)
        choices = replace(choices, demand=replace(demand, effort=options.effort))
    built = build(terms, choices)
    spent = processor_seconds() - before
    compact = built.compact
    sampling = Sampling(compact.problem, demand.input_bits, demand.bits, SAMPLES, SEED)
    alone = not demand.keeps_graph
    errors = measure_many(sampling, compact.graph, built.network, alone=alone)
    errors = errors.moved(np.asarray(built.ends.shifts))
    allowed = np.sqrt(compact.allowed)
    worst = np.maximum(errors.max, built.largest)
    bounds = None if built.bounds is None else np.asarray(built.bounds.steps)
    wrong = bool((errors.rms > allowed).any())
    wrong |= bounds is not None and bool((worst > bounds).any())
    return {
        "row": row.name, "how": how, "nodes": built.nodes, "depth": built.depth,
        "lut6": built.lut6, "rms": errors.rms.tolist(), "allowed": allowed.tolist(),
        "worst": worst.tolist(), "bound": None if bounds is None else bounds.tolist(),
        "cpu": spent, "asked": ASKED.get(row.name, {}).get(how), "wrong": wrong,
    }  # fmt: skip


def cells(found: dict[str, Any]) -> list[str]:
    """Return a row of the table."""

    def many(name: str, digits: int) -> str:
        values = found[name]
        return "none" if values is None else " ".join(f"{x:.{digits}f}" for x in values)

    return [
        found["row"], found["how"], against(found["nodes"], found["asked"])[0],
        str(found["depth"]), str(found["lut6"]),
        f"{many('rms', 4)}{'!' if found['wrong'] else ''}", many("allowed", 4),
        many("worst", 2), many("bound", 2), f"{found['cpu']:.0f}",
    ]  # fmt: skip


def main() -> int:
    """Measure the rows that are asked for; return 1 where an error is not as it must be."""
    parser = argparse.ArgumentParser(description="what approximation gains")
    known = {row.name: row for row in ROWS}
    parser.add_argument("rows", nargs="*", metavar="ROW", help=", ".join(known))
    parser.add_argument("--how", default="tables,free", help="of off, tables, free")
    parser.add_argument("--effort", type=float, help="of what is searched for and approximated")
    parser.add_argument("--store", type=Path, help="a folder of results")
    parser.add_argument("--json", type=Path, help="where the figures are written too")
    options = parser.parse_args()
    hows = ["off", *(x for x in options.how.split(",") if x != "off")]
    if unknown := [x for x in [*options.rows, *hows] if x not in (*known, *APPROXIMATE)]:
        parser.error(f"no {unknown[0]!r}: rows are {', '.join(known)}")
    found = []
    with tempfile.TemporaryDirectory() as empty:
        store = options.store or Path(empty)
        for name in options.rows or USUAL:
            found += [measured(known[name], how, options, store) for how in hows]
    print(aligned(HEADER, [cells(one) for one in found]))
    if options.json:
        options.json.write_text(json.dumps({"rows": found}, indent=1) + "\n", "utf-8")
    return 1 if any(one["wrong"] for one in found) else 0


if __name__ == "__main__":
    sys.exit(main())
