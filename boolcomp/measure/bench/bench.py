"""One bench of one program: all its rivals, in all cases."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from boolcomp.measure.bench.harness import Case, run
from boolcomp.measure.bench.libraries import library_offers
from boolcomp.measure.bench.logic import logic_offers
from boolcomp.measure.bench.machine import this_machine
from boolcomp.measure.bench.rivals import c_offers
from boolcomp.measure.bench.roofline import roofline
from boolcomp.measure.bench.rows import Bench, Timing
from boolcomp.measure.bench.states import draw_states
from boolcomp.problem.makers import inverse_dynamics_problem
from boolcomp.proof.worst import EVALUATIONS, find_worst, subject_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from boolcomp.measure.bench.tasks import Offer
    from boolcomp.problem.problem import Problem
    from boolcomp.problem.robot.model import Robot
    from boolcomp.program.program import Program

IN_CACHE = 4096
SHARED = 65536  # samples: enough for a second thread, and still in the cache


def all_offers(
    robot: Robot, program: Program, others: Sequence[Program] = (), *, packages: bool = True
) -> list[Offer]:
    """Return the program, other programs of the robot, and every rival (Python's if wanted)."""
    offers: list[Offer] = []
    for one in (program, *others):
        mode = "compact logic" if one.mode == "compact" else "two-level logic"
        offers += logic_offers(one, f"boolcomp, {mode}")
    offers += c_offers(robot, program.bits)
    return [*offers, *library_offers(robot, program.bits)] if packages else offers


def make_bench(
    name: str,
    robot: Robot,
    program: Program,
    *,
    batches: Sequence[int],
    cores: Sequence[int],
    seconds: float,
    others: Sequence[Program] = (),
    packages: bool = True,
    evaluations: int | None = None,
    progress: Callable[[str], None] = lambda _: None,
) -> Bench:
    """Run everything and return what was found; the worst error with so many evaluations, or all.

    On one core every batch size is run; on more cores the largest, and the one nearest to `SHARED`.
    """
    problem = inverse_dynamics_problem(robot)
    states = draw_states(problem)
    cases = [Case(batch) for batch in batches if 1 in cores]
    shared = {max(batches), min(batches, key=lambda batch: abs(batch - SHARED))}
    cases += [Case(batch, count) for count in cores if count > 1 for batch in sorted(shared)]
    offers = all_offers(robot, program, others, packages=packages)
    rows = run(offers, states, program.bits, cases, seconds, progress)
    mine = [r for r in rows if r.logic and r.cores == 1 and r.ns_per_sample is not None]
    nearest = min((abs(r.batch - IN_CACHE) for r in mine), default=0)
    whole = min(
        (r.ns_per_sample or 0.0 for r in mine if abs(r.batch - IN_CACHE) == nearest), default=None
    )
    progress("roofline and worst error")
    wiring = program.wiring()
    nodes = sum(len(wiring.networks[call.network].nodes) for call in wiring.calls)
    found = roofline(program, whole)
    return Bench(
        name, problem.name, program.bits, program.mode, nodes, this_machine(), tuple(rows), found,
        *_worst(program, problem, EVALUATIONS if evaluations is None else evaluations),
        *_known(program, rows),
    )  # fmt: skip


def _known(program: Program, rows: Sequence[Timing]) -> tuple[Any, ...]:
    """Return the program's sampled errors, on floats, and proved ones; its last bits and units."""
    sampled = next((r.max_errors for r in rows if r.logic and r.kind == "float64"), ())
    steps = tuple(output.code.step for output in program.outputs)
    proved = tuple(
        bound / lsb if math.isfinite(bound) else None
        for bound, lsb in zip(program.useful_bound, steps, strict=True)
    )
    return sampled, proved, steps, tuple(output.unit for output in program.outputs)


def _worst(program: Program, problem: Problem, evaluations: int) -> tuple[tuple[float, ...], int]:
    """Return the program's worst errors that were found, and with how many evaluations."""
    if not evaluations:
        return (), 0
    worst = find_worst(subject_of(program, problem), evaluations)
    return tuple(worst.most.tolist()), worst.evaluations
