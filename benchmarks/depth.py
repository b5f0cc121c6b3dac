"""Few levels or few nodes: what `--objective depth` gives beside the usual objective.

    python benchmarks/depth.py             the 2R and the PUMA 560 at 8 bits: minutes
    python benchmarks/depth.py machado-2r  one of them

Both objectives are searched from nothing, at the usual effort; errors are those on a million fresh
states, on which every network gave the words of its graph. Exits with 1 where what was asked is
missed: the depth, at no more than 3 % more nodes than the usual objective takes.
"""

from __future__ import annotations

import sys
import tempfile
import time
from typing import TYPE_CHECKING, NamedTuple

from boolcomp.base.errors import table
from boolcomp.compact.demand import usual_demand
from boolcomp.compact.passes import CompactChoices
from boolcomp.pipeline import compile_compact

if TYPE_CHECKING:
    from boolcomp.logic.synthesis import Objective

MORE = 0.03  # of the nodes


class Case(NamedTuple):
    """An arm, its allowed rms errors in LSB, and the depth that is asked."""

    arm: str
    rms: tuple[float, ...]
    depth: int


CASES = (Case("machado-2r", (0.43, 0.58), 20), Case("puma560", (0.505,), 34))
OBJECTIVES: tuple[Objective, ...] = ("nodes", "depth")
HEADER = ("arm", "objective", "nodes", "more", "asked", "depth", "asked", "rms/LSB", "seconds")


def rows(case: Case) -> tuple[list[tuple[str, ...]], bool]:
    """Return what both objectives give, and whether depth is as asked."""
    found: list[tuple[str, ...]] = []
    nodes, holds = 0, True
    for objective in OBJECTIVES:
        demand = usual_demand(8, rms=case.rms, objective=objective)
        start = time.perf_counter()
        with tempfile.TemporaryDirectory() as store:
            choices = CompactChoices(demand, store=store, also_shipped=False)
            (built,) = compile_compact(case.arm, choices).built
        seconds, deep = time.perf_counter() - start, objective == "depth"
        nodes = nodes or built.nodes
        more = built.nodes / nodes - 1
        if deep:
            holds = built.depth <= case.depth and more <= MORE
        found.append((
            case.arm, objective, str(built.nodes), f"{more:+.1%}", f"{MORE:+.1%}" if deep else "",
            str(built.depth), str(case.depth) if deep else "", f"{built.errors.rms.max():.3f}",
            f"{seconds:.0f}",
        ))  # fmt: skip
    return found, holds


def main(names: list[str]) -> int:
    """Print a table; return 1 where something is missed."""
    made = [rows(case) for case in CASES if not names or case.arm in names]
    print(table(HEADER, [row for found, _ in made for row in found], (0, 1)))
    missed = [case for case in made if not case[1]]
    print(f"{len(made) - len(missed)} of {len(made)} as asked")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
