"""Schäfer & Schiehlen 1992 anew: speed-ups, and a model of their three transputers.

The paper prints times of the whole cycle only. Given the task graph of a cycle (M, k, q, control,
Cholesky, solution: `parallel.methods` records it for the Stanford arm), one parameter, how much
dearer an operation is than bare, is fitted to one transputer; three are predicted.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from boolcomp.parallel.schedule.findings import Finding
from boolcomp.parallel.schedule.listing import cp_misf
from boolcomp.parallel.schedule.lowerbounds import lower_bounds
from boolcomp.parallel.schedule.machine import Costs, Machine
from boolcomp.parallel.schedule.machinefile import load_machine
from boolcomp.parallel.schedule.mappings import paper_mapping
from boolcomp.parallel.schedule.simulate import simulate

if TYPE_CHECKING:
    from boolcomp.parallel.schedule.graph import TaskGraph

ONE_US, THREE_US, LEFT_US = "1596", "1141", "500"


def schaefer_findings(cycle: TaskGraph | None = None) -> tuple[Finding, ...]:
    """Return the quotients of the printed times, and the model's if a cycle's graph is given."""
    one, three, left = float(ONE_US), float(THREE_US), float(LEFT_US)
    counts = (
        Finding("speed-up on three", "1.4", one / three, "count", "quotient of its times"),
        Finding("speed-up with control on P3", "1.8", (one + left) / three, "count",
                "500 µs more work in the same cycle"),
    )  # fmt: skip
    return counts if cycle is None else (*counts, *_schaefer_model(cycle))


def fitted_transputer(cycle: TaskGraph) -> Machine:
    """Return a T800 on which the cycle takes the printed time of one transputer."""
    bare = load_machine("t800")
    factor = float(ONE_US) / sum(bare.time(task.operations) for task in cycle.tasks)
    costs = bare.costs
    dearer = Costs(
        costs.multiplication * factor,
        costs.addition * factor,
        costs.division * factor,
        costs.root * factor,
        costs.function * factor,
    )
    return Machine("t800-fitted", "", "", bare.processors, dearer, bare.memory)


def _schaefer_model(cycle: TaskGraph) -> tuple[Finding, ...]:
    machine = fitted_transputer(cycle)
    bare = load_machine("t800")
    factor = machine.costs.addition / bare.costs.addition
    mapped = simulate(cycle, paper_mapping(cycle, machine, "schaefer"), machine)
    ours = simulate(cycle, cp_misf(cycle, machine, 3), machine)
    left = (1 - mapped.utilisation[2]) * mapped.makespan_us
    bound = lower_bounds(cycle, machine, 3)
    return (
        Finding("cycle on three transputers (µs)", THREE_US, mapped.makespan_us, "model",
                f"predicted: its strategies 2 and 3; an operation takes {factor:.2f} times its "
                "bare time, fitted to one transputer"),
        Finding("left for control on P3 (µs)", LEFT_US, left, "model", "predicted"),
        Finding("CP/MISF on three (µs)", THREE_US, ours.makespan_us, "model",
                f"predicted: our schedule of the same tasks; {bound}"),
    )  # fmt: skip
