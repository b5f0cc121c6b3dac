"""Makes what ships in tables/ beside the exact results: those with other entries of tables.

    python benchmarks/shipped.py [--into FOLDER] [--how tables] [--fresh] [NAME...]

Every compact result of tables/ of which logic may be approximated (not code, nothing promised) is
read, or searched for once more with --fresh, and approximated; both are written into a folder,
tables/ if none is named. NAMEs are beginnings of files' names. A row says what was gained.
"""

from __future__ import annotations

import argparse
import sys
import time
from dataclasses import replace
from pathlib import Path

from worst import demand_of, problem_of, results_in

from boolcomp.base.errors import BoolcompError
from boolcomp.base.errors import table as aligned
from boolcomp.compact.passes import CompactChoices, build
from boolcomp.terms.extract import split

TABLES = Path(__file__).parent.parent / "tables"


def main() -> int:
    """Make what was asked for; return 1 where something could not be made."""
    parser = argparse.ArgumentParser(description="make what ships")
    parser.add_argument("names", nargs="*", metavar="NAME", help="beginnings of files' names")
    parser.add_argument("--into", type=Path, default=TABLES, help="a folder")
    parser.add_argument("--how", default="tables", help="tables, free")
    parser.add_argument("--fresh", action="store_true", help="search for the exact results, too")
    options = parser.parse_args()
    rows, failed = [], False
    for path, document in results_in(TABLES, options.names):
        exact = demand_of(document["demand"])
        if exact.of_words or exact.approximate != "off":
            continue
        since = time.process_time()
        terms = split(problem_of(document["robot"]))
        demand = replace(exact, approximate=options.how)
        choices = CompactChoices(demand, options.into, also_shipped=not options.fresh)
        try:
            made = build(terms, choices)
        except BoolcompError as error:
            print(f"{path.name}: {error}", file=sys.stderr)
            failed = True
            continue
        before = len(document["network"]) - 2
        spent = f"{time.process_time() - since:.0f}"
        rows.append((path.name.partition(".")[0], document["demand"], str(before), str(made.nodes),
                     str(made.depth), str(made.lut6), spent))  # fmt: skip
        print(
            f"{path.name}: {before} -> {made.nodes} nodes, {spent} s", file=sys.stderr, flush=True
        )
    print(aligned(("result", "demand", "exact", options.how, "depth", "lut6", "cpu"), rows))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
