"""The papers' own fixed mappings: which equation or job goes to which processor.

A task belongs to the equation before the `/` of its name (`w/3`: ω of link 3).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from boolcomp.common.errors import UsageError, listing, suggestion
from boolcomp.parallel.schedule.indexed import indexed
from boolcomp.parallel.schedule.placed import Assignment

if TYPE_CHECKING:
    from collections.abc import Mapping

    from boolcomp.parallel.schedule.graph import TaskGraph
    from boolcomp.parallel.schedule.machine import Machine

# Zomaya & Morris, section 7: P0 is the master, which only hands on.
ZOMAYA: Mapping[str, int] = {
    "A": 0, "p": 0,
    "w": 1, "N": 1, "n": 1,
    "wd": 2, "psi": 2, "tau": 2,
    "vd": 3, "F": 3, "f": 3,
}  # fmt: skip
# Zalzala & Morris, figures 4 and 5. D and c are dealt out by rows: a, b, c on the first three.
ZALZALA: Mapping[str, int] = {
    "p*": 0, "A": 0, "Wd": 0, "e*": 0,
    "W": 1, "dW": 1, "g*": 1,
    "Wdd": 2,
    "pdd": 3, "D*": 3,
    "D": 0, "c": 0, "Da": 0, "ca": 0, "Db": 1, "cb": 1, "Dc": 2, "cc": 2,
    "tau*": 3, "e": 3, "tau**": 3, "tau": 3,
}  # fmt: skip
# Schäfer & Schiehlen, strategies 2 and 3: M and its factors; k; q and the control law.
SCHAEFER: Mapping[str, int] = {
    "A": 0, "J": 0, "M": 0, "L": 0, "r": 0, "solve": 0, "tau": 0,
    "P": 1, "kbar": 1, "k": 1,
    "g": 2, "q": 2, "v": 2, "u": 2,
}  # fmt: skip
MAPPINGS = {"zomaya": ZOMAYA, "zalzala": ZALZALA, "schaefer": SCHAEFER}
PROCESSORS = {"zomaya": 4, "zalzala": 4, "schaefer": 3}


def paper_mapping(graph: TaskGraph, machine: Machine, paper: str) -> Assignment:
    """Return a paper's assignment of a graph of its method; the most urgent task first."""
    if paper not in MAPPINGS:
        hint = suggestion(paper, MAPPINGS)
        raise UsageError(f"no mapping of {paper!r}{hint}; there are {listing(MAPPINGS)}")
    mapping = MAPPINGS[paper]
    tasks = indexed(graph, machine)
    lists: list[list[int]] = [[] for _ in range(PROCESSORS[paper])]
    for k, name in enumerate(tasks.names):
        equation = name.split("/")[0]
        if equation not in mapping:
            raise UsageError(
                f"the mapping of {paper} does not know task {name!r} of graph {graph.name}: it is "
                f"for tasks {listing(sorted(mapping))}"
            )
        lists[mapping[equation]].append(k)
    for held in lists:
        held.sort(key=lambda k: (-tasks.levels[k], k))
    return Assignment(tuple(tuple(tasks.names[k] for k in held) for held in lists))
