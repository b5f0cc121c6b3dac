"""Zomaya & Morris 1989 anew: operation tables, its mapping on four transputers, and the 2 ms."""

from __future__ import annotations

from typing import TYPE_CHECKING

from boolcomp.parallel.schedule.findings import Finding
from boolcomp.parallel.schedule.graph import Edge, Task, TaskGraph
from boolcomp.parallel.schedule.listing import cp_misf
from boolcomp.parallel.schedule.lowerbounds import lower_bounds
from boolcomp.parallel.schedule.machine import UNIT, Costs, Links, Machine
from boolcomp.parallel.schedule.mappings import paper_mapping
from boolcomp.parallel.schedule.simulate import simulate
from boolcomp.problem.dynamics.operations import Operations

if TYPE_CHECKING:
    from collections.abc import Mapping

LINKS = 6
# Multiplications and additions a link: table 2, table 3, and its last rows for diagonal inertia.
GENERAL: Mapping[str, tuple[int, int]] = {
    "A": (4, 0), "p": (2, 0), "w": (12, 9), "wd": (18, 15), "vd": (27, 21), "psi": (18, 15),
    "F": (3, 0), "N": (24, 18), "f": (9, 9), "n": (21, 21), "tau": (12, 8),
}  # fmt: skip
CUSTOMISED: Mapping[str, tuple[int, int]] = {
    "w": (8, 6), "wd": (10, 8), "vd": (26, 20), "psi": (18, 15), "F": (3, 0), "N": (24, 18),
    "f": (8, 8), "n": (20, 20), "tau": (0, 0),
}  # fmt: skip
DIAGONAL: Mapping[str, tuple[int, int]] = {**CUSTOMISED, "N": (12, 6)}
# What each equation of link i needs: `-` marks the link before, `+` the one after.
NEEDS: Mapping[str, str] = {
    "w": "w-", "wd": "wd- w-", "vd": "vd- w wd", "psi": "w wd vd", "F": "psi", "N": "w wd",
    "f": "f+ F", "n": "n+ f N F", "tau": "n",
}  # fmt: skip
MEASURED_MS, LESS_THAN_GENERAL, LESS_THAN_CUSTOMISED = "2", 0.58, 0.41
_VECTOR = 3  # words that an equation hands on
_MUL, _ADD, _WORD = 0.55, 0.35, 1.6  # µs on a T800, as in Zalzala & Morris


def graph(counts: Mapping[str, tuple[int, int]] = CUSTOMISED, links: int = LINKS) -> TaskGraph:
    """Return the graph of equations (5) to (13) with printed counts; tasks are `w/3`."""
    tasks, edges = [], []
    for i in range(1, links + 1):
        for name, needs in NEEDS.items():
            tasks.append(Task(f"{name}/{i}", Operations(*counts[name])))
            for need in needs.split():
                other = i + need.endswith("+") - need.endswith("-")
                if 1 <= other <= links:
                    edges.append(Edge(f"{need.rstrip('+-')}/{other}", f"{name}/{i}", _VECTOR))
    return TaskGraph("zomaya", tuple(tasks), tuple(edges))


def transputer(factor: float = 1.0) -> Machine:
    """Return a T800 whose operations take so many times their bare time."""
    costs = Costs(_MUL * factor, _ADD * factor, _MUL * factor, _MUL * factor, _MUL * factor)
    return Machine("t800", "", "", 64, costs, Links("full", 4, 0.0, _WORD, overlap=True))


def fitted_factor() -> float:
    """Return by how much a measured operation is dearer than a bare one.

    The time of the general method on one transputer follows from `2 ms, 58 % less`: one figure for
    one parameter.
    """
    measured = float(MEASURED_MS) * 1e3 / (1 - LESS_THAN_GENERAL)
    multiplications, additions = _total(GENERAL)
    return measured / (multiplications * _MUL + additions * _ADD)


def zomaya_findings() -> tuple[Finding, ...]:
    """Return every figure of the paper that counts or the model give."""
    return (*_zomaya_counts(), *_parallel(), *_zomaya_model())


def _total(counts: Mapping[str, tuple[int, int]]) -> tuple[int, int]:
    columns = zip(*counts.values(), strict=True)
    multiplications, additions = (LINKS * sum(column) for column in columns)
    return multiplications, additions


def _zomaya_counts() -> list[Finding]:
    found = []
    tables = (
        ("general", GENERAL, "150", "116", "900", "696"),
        ("semi-customised, dense", CUSTOMISED, "117", "95", "702", "570"),
        ("semi-customised, diagonal", DIAGONAL, "105", "83", "630", "498"),
    )
    for name, counts, *printed in tables:
        ours = _total(counts)
        values = (ours[0] / LINKS, ours[1] / LINKS, *ours)
        kinds = ("multiplications a link", "additions a link", "multiplications", "additions")
        for kind, text, value in zip(kinds, printed, values, strict=True):
            found.append(Finding(f"{name}: {kind}", text, value, "count"))
    whole, dense, diagonal = (sum(_total(c)) for c in (GENERAL, CUSTOMISED, DIAGONAL))
    found += [
        Finding("operations saved, dense (%)", "20", 100 * (1 - dense / whole), "count"),
        Finding("operations saved, diagonal (%)", "29", 100 * (1 - diagonal / whole), "count"),
    ]
    return found


def _parallel() -> list[Finding]:
    """Return what follows from 40 and 32 a link: P1 in phase 1, then P3 in phase 2."""
    outward = [CUSTOMISED[name] for name in ("w", "N")]
    inward = CUSTOMISED["f"]
    multiplications = sum(m for m, _ in outward) + inward[0]
    additions = sum(a for _, a in outward) + inward[1]
    whole, diagonal = sum(_total(GENERAL)), sum(_total(DIAGONAL))
    parallel = LINKS * (multiplications + additions)
    busiest = sum(sum(CUSTOMISED[name]) for name in ("w", "N", "n")) * LINKS
    path = lower_bounds(graph(), UNIT, 3).critical_path_us
    return [
        Finding("parallel: multiplications a link", "40", multiplications, "count",
                "ω and N outwards on P1, f inwards on P3"),
        Finding("parallel: additions a link", "32", additions, "count", "likewise"),
        Finding("parallel: operations", "432", parallel, "count"),
        Finding("less than general (%)", "73", 100 * (1 - parallel / whole), "count"),
        Finding("less than semi-customised (%)", "62", 100 * (1 - parallel / diagonal), "count",
                "of the diagonal form; 66 % of the dense"),
        Finding("operations of P1 (its claim: 432 in all)", "432", busiest, "model",
                "ω, N and n are all P1's: its mapping cannot take less than this"),
        Finding("operations on the critical path of the graph", "432", path, "model",
                "equations as tasks, any number of processors"),
    ]  # fmt: skip


def _zomaya_model() -> list[Finding]:
    factor = fitted_factor()
    machine = transputer(factor)
    customised = float(MEASURED_MS) / (1 - LESS_THAN_CUSTOMISED)
    found = []
    for name, counts in (("diagonal", DIAGONAL), ("dense", CUSTOMISED)):
        equations = graph(counts)
        alone = sum(machine.time(task.operations) for task in equations.tasks) / 1e3
        mapped = simulate(equations, paper_mapping(equations, machine, "zomaya"), machine)
        best = simulate(equations, cp_misf(equations, machine, 3), machine)
        found += [
            Finding(f"semi-customised on one T800 (ms), {name}", f"{customised:.2f}", alone,
                    "model", f"predicted; an operation takes {factor:.2f} times its bare time, "
                    "fitted to the general form on one"),
            Finding(f"parallel on four T800s (ms), {name}", MEASURED_MS,
                    mapped.makespan_us / 1e3, "model", "predicted: its mapping simulated, 1.6 µs "
                    "a float"),
            Finding(f"CP/MISF on three slaves (ms), {name}", MEASURED_MS,
                    best.makespan_us / 1e3, "model", "predicted: our schedule of its equations"),
        ]  # fmt: skip
    return found
