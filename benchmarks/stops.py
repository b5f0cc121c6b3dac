"""What stops cost: nodes of arms with stops beside the same arms without.

    python benchmarks/stops.py [ARM...] [--fresh] [--processes N]

Both have the same steps, rms demand and torque ranges; errors are those of a million fresh states
within the stops. Asked is at most 5 % more nodes (marked with a ! and exit code 1 where it is
missed). Arms that ship with stops or wide turns stand below, by themselves.
"""

from __future__ import annotations

import argparse
import contextlib
import sys
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from boolcomp.base.errors import table
from boolcomp.base.workers import Workers
from boolcomp.compact.demand import Demand
from boolcomp.compact.passes import CompactChoices, build
from boolcomp.problem.functions import inverse_dynamics_problem
from boolcomp.problem.robot.library import load_robot
from boolcomp.problem.words import Interval
from boolcomp.terms.extract import split

if TYPE_CHECKING:
    from boolcomp.compact.result import Built
    from boolcomp.problem.robot.model import Robot

MORE = 1.05  # times the nodes without stops
HEAD = ["arm", "stops", "bits", "nodes", "without", "ratio", "rms/LSB", "worst found", "s"]


@dataclass(frozen=True)
class Row:
    """An arm, its stops joint by joint (none for a joint without), and the rms demanded."""

    name: str
    robot: str
    stops: tuple[tuple[float, float] | None, ...] = ()
    rms: tuple[float, ...] = (0.505,)
    bits: int = 8


ROWS = (
    Row("2r-elbow", "machado-2r", (None, (-2.5, 2.5)), (0.43, 0.58)),
    Row("2r-both", "machado-2r", ((-2.8, 1.9), (-2.5, 2.5)), (0.43, 0.58)),
    Row("elbow", "elbow-3r", ((-2.8, 2.8), (-0.8, 3.9), (-3.9, 0.8))),
    Row("puma", "puma560", tuple(
        (x.position.low, x.position.high) for x in load_robot("puma560-stops").links
    )),
    Row("desk-3r", "desk-3r"),
    Row("puma560-stops", "puma560-stops"),
    Row("ur5e", "ur5e", (), (0.6,)),
)  # fmt: skip


def stopped(row: Row) -> Robot:
    """Return a row's arm with its stops."""
    robot = load_robot(row.robot)
    links = [
        link if ends is None else replace(link, position=Interval(*ends))
        for link, ends in zip(robot.links, row.stops or (None,) * robot.joints, strict=True)
    ]
    return replace(robot, links=tuple(links))


def built(robot: Robot, row: Row, store: Path | None, processes: int) -> Built:
    """Compile an arm, or read it from a store."""
    inputs = dict.fromkeys(("q", "qd", "qdd"), row.bits + 2)
    demand = Demand(row.bits, inputs, row.rms)
    return build(
        split(inverse_dynamics_problem(robot)),
        CompactChoices(demand, store, workers=Workers.of(processes)),
    )


def main() -> int:
    """Print all rows; return the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("arms", nargs="*", help=", ".join(row.name for row in ROWS))
    parser.add_argument("--fresh", action="store_true", help="search everything from nothing")
    parser.add_argument("--processes", type=int, default=2)
    given = parser.parse_args()
    missed = False
    lines: list[list[str]] = []
    with contextlib.ExitStack() as stack:
        store = None
        if given.fresh:
            store = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        for row in ROWS:
            if given.arms and row.name not in given.arms:
                continue
            limited = built(stopped(row), row, store, given.processes)
            cells = ["", ""]
            if row.stops:
                free = built(load_robot(row.robot), row, store, given.processes)
                ratio = limited.nodes / free.nodes
                missed |= ratio > MORE
                cells = [str(free.nodes), f"{ratio:.3f}{'!' if ratio > MORE else ''}"]
            missed |= not limited.holds
            errors = [" ".join(f"{x:.2f}" for x in limited.errors.rms)]
            errors.append(" ".join(f"{x:.2f}" for x in limited.worst.largest))
            ends = " ".join(str(x.position).replace(" ", "") for x in stopped(row).links)
            size = [row.name, ends, str(row.bits), str(limited.nodes), *cells]
            lines.append([*size, *errors, f"{limited.seconds:.0f}"])
            print(f"{row.name}: {limited.nodes} nodes", file=sys.stderr, flush=True)
    print(table(HEAD, lines, left=(0, 1)))
    return int(missed)


if __name__ == "__main__":
    sys.exit(main())
