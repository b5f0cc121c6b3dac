"""What a promise costs: nodes against the error that is proved.

    python benchmarks/promise.py [ROBOT...] [--errors 4lsb,1lsb] [--effort N] [--proof plain]
        [--store FOLDER] [--graphs] [--markdown]

Compiles every robot (machado-2r and elbow-3r unless others are named) at 8 bits for eight promises,
and prints nodes, proved bounds and the worst that climbing found, in LSB of each torque, and
seconds of processor time of this process and its helpers. `--graphs` stops at the word graph: what
is proved is the same, nodes are those before any pass (the passes leave 0.85 to 0.9 of them), and
errors are those of the samples that the search has seen. The exit code is 1 where a promise is not
kept, or where something worse than a bound was found.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from boolcomp.base.errors import DataError, table
from boolcomp.compact.demand import usual_demand
from boolcomp.compact.network import WordEnds
from boolcomp.compact.passes import CompactChoices
from boolcomp.compact.result import proved
from boolcomp.pipeline import COMPACT, compile_compact, problems_of, run
from boolcomp.problem.problem import promise_of
from boolcomp.proof.bound.bounds import EFFORT

if TYPE_CHECKING:
    from collections.abc import Iterable

    from boolcomp.compact.demand import Demand

ROBOTS = ("machado-2r", "elbow-3r")
ERRORS = ("6lsb", "4lsb", "3lsb", "2lsb", "1.5lsb", "1.2lsb", "1lsb", "0.8lsb")
HEADER = ("robot", "promised", "nodes", "depth", "proved", "worst found", "input bits read", "s")


def listed(values: Iterable[float]) -> str:
    """Return figures of all joints."""
    return " ".join(f"{value:.3f}" for value in values)


def row(robot: str, error: str, options: argparse.Namespace) -> tuple[list[str], bool]:
    """Return a line of the table, and whether its promise is broken."""
    since = seconds()
    if options.graphs:
        return graph_row(robot, error, options)
    choices = CompactChoices(asked(error, options), options.store, also_shipped=False)
    try:
        built = compile_compact(robot, choices).built[0]
    except DataError as refused:
        print(f"{robot}, {error}: {refused}", file=sys.stderr)
        return [robot, error, "-", "-", "-", "-", "-", f"{seconds() - since:.0f}"], True
    bounds = built.bounds.steps if built.bounds else ()
    largest = built.largest.tolist()
    read = " ".join(f"{node.name}={node.bits}" for node in built.compact.graph.inputs)
    broken = not built.kept or any(x > y for x, y in zip(largest, bounds, strict=True))
    cells = [
        robot, error, str(built.nodes), str(built.depth), listed(bounds), listed(largest), read,
        f"{seconds() - since:.0f}",
    ]  # fmt: skip
    return cells, broken


def graph_row(robot: str, error: str, options: argparse.Namespace) -> tuple[list[str], bool]:
    """Return a line of the table, of a graph that is made no smaller."""
    since = seconds()
    choices = CompactChoices(asked(error, options), options.store, also_shipped=False)
    try:
        _, compact = run(COMPACT, problems_of(robot), [choices], "graph")[0]
    except DataError as refused:
        print(f"{robot}, {error}: {refused}", file=sys.stderr)
        return [robot, error, *"------"], True
    bounds = proved(compact, WordEnds(), options.proof, EFFORT)
    steps = bounds.steps if bounds else ()
    largest = compact.errors.max.tolist()
    read = " ".join(f"{node.name}={node.bits}" for node in compact.graph.inputs)
    promise = compact.demand.error
    most = promise.steps(compact.problem, options.bits) if promise else ()
    broken = not steps or any(x > y for x, y in zip(steps, most, strict=True))
    cells = [
        robot, error, str(compact.nodes), "-", listed(steps), listed(largest), read,
        f"{seconds() - since:.0f}",
    ]  # fmt: skip
    return cells, broken or any(x > y for x, y in zip(largest, steps, strict=True))


def asked(error: str, options: argparse.Namespace) -> Demand:
    """Return the demand of a promise."""
    return usual_demand(
        options.bits, effort=options.effort, error=promise_of("--errors", error),
        grade=options.proof,
    )  # fmt: skip


def seconds() -> float:
    """Return the processor time of this process, and of helpers that have ended."""
    import resource  # noqa: PLC0415 (not on every system)

    helpers = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + helpers.ru_utime + helpers.ru_stime


def main() -> int:
    """Print a row for every promise."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("robots", nargs="*", default=ROBOTS)
    parser.add_argument("--errors", default=",".join(ERRORS))
    parser.add_argument("--bits", type=int, default=8)
    parser.add_argument("--effort", type=float, default=0.0)
    parser.add_argument("--proof", default="tight")
    parser.add_argument("--store", type=Path, default=None)
    parser.add_argument("--graphs", action="store_true")
    parser.add_argument("--markdown", action="store_true")
    options = parser.parse_args()
    rows, wrong = [], False
    for robot in options.robots:
        for error in options.errors.split(","):
            cells, broken = row(robot, error, options)
            print(f"{', '.join(cells)}{'  MISSED' * broken}", file=sys.stderr, flush=True)
            rows.append(cells)
            wrong |= broken
    if options.markdown:
        lines = [HEADER, ["---"] * len(HEADER), *rows]
        print("\n".join(f"| {' | '.join(cells)} |" for cells in lines))
    else:
        print(table(HEADER, rows))
    return int(wrong)


if __name__ == "__main__":
    sys.exit(main())
