"""How much work the stages of a compilation take, in nominal seconds, as far as it can be counted.

Until there is a graph all is guessed but annealing, whose effort is given. Then passes follow from
the graph's nodes, the search for the worst error from its evaluations, and bounds from the cells or
boxes that they look at. Only progress depends on it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from boolcomp.common.errors import DataError
from boolcomp.common.packages import is_there
from boolcomp.common.progress import Course
from boolcomp.compact.assembly import Ends
from boolcomp.compact.demand import Counts
from boolcomp.compact.errors.worst import searched
from boolcomp.compact.result.explained import explained
from boolcomp.proof.bound.result import EFFORT
from boolcomp.proof.worst import EVALUATIONS
from boolcomp.terms.rest import resting

if TYPE_CHECKING:
    from boolcomp.compact.demand import Demand, Listener, Progress
    from boolcomp.compact.result.compact import Compact
    from boolcomp.proof.bound.result import Grade
    from boolcomp.terms.extract import Terms

SCREEN, REFINE, ANNEALED = 1.5, 1.5, 2.5  # the last is what annealing takes beside its effort
TABLE_WORK, PASS_WORK, QUICK_WORK = (
    (0.6, 0.0003),
    (0.4, 0.013),
    (0.3, 0.0011),
)  # at least, and for each node
STATES, ENTRIES, PLAIN = (0.5, 0.002), (0.5, 0.0015), (0.1, 0.0015)  # likewise
EVALUATED, OF_INPUT, OF_NODE = 0.5e-6, 0.13e-6, 0.2e-9  # an evaluation: at least, and for each
CELL, BOX = 2.5e-6, 2e-8  # of bounds
CHANGING = 2.0  # for each unit of effort, and once more
GAIN = 0.5  # how often changes gain so much that they are measured and proved
LAST = 0.01
AFTER = ("fresh states", "worst error", "bounds")
OF_CHANGES = {name: f"{name.removeprefix('fresh ')} of changes" for name in AFTER}


def expected(demand: Demand, counts: Counts | None = None) -> dict[str, float]:
    """Return what work is expected of every stage of a compilation, in the order of stages.

    Without counts it is that of a small arm.
    """
    known = counts or Counts(600, 6, demand.evaluations(EVALUATIONS), 0, 0)
    nodes, passes = known.nodes, _of(PASS_WORK if demand.effort else QUICK_WORK, known.nodes)
    each = max(EVALUATED, OF_INPUT * known.inputs + OF_NODE * nodes)
    bounds = _of(PLAIN, nodes) + CELL * known.cells + BOX * known.boxes
    after = {
        "fresh states": _of(STATES, nodes), "worst error": each * known.evaluations,
        "bounds": bounds if demand.is_proved else 0.0,
    }  # fmt: skip
    work = {
        "screen": SCREEN, "refine": REFINE,
        "improve": ANNEALED + demand.effort if demand.effort else 0.0,
        "tables": _of(TABLE_WORK, nodes), "passes": 0.0 if demand.of_words else passes,
    }  # fmt: skip
    if not measures_late(demand):
        work |= after
    if demand.approximate != "off":
        work |= {"entries": _of(ENTRIES, nodes), "passes over changes": passes}
        if demand.approximate != "tables":
            work["nodes"] = CHANGING * (1 + demand.effort)
        chance = 1.0 if measures_late(demand) else GAIN
        work |= {OF_CHANGES[name]: chance * one for name, one in after.items()}
    return {**work, "done": LAST}


def measures_late(demand: Demand) -> bool:
    """Tell whether only what is approximated is measured, because there is no effort."""
    return demand.approximate == "tables" and not (demand.effort or demand.max)


def counted(
    compact: Compact, terms: Terms, demand: Demand, grade: Grade | None, effort: int | None
) -> Counts:
    """Return the counts of the work that a graph leads to, with bounds as they are asked for."""
    cells, boxes = _bounds(compact, terms, grade, effort) if demand.is_proved else (0, 0)
    evaluations = searched(compact.problem, compact.demand)
    return Counts(compact.nodes, len(compact.problem.inputs), evaluations, cells, boxes)


def on_course(listener: Listener, demand: Demand) -> Listener:
    """Return what hears of the stages of one compilation, and tells how far all of it is."""
    course = Course(expected(demand), {"improve", "nodes"})
    late = measures_late(demand)
    counts: Counts | None = None

    def told(step: Progress) -> None:
        nonlocal counts
        if step.counts is not None:
            counts = step.counts
            course.expect(expected(demand, counts))
        elif step.stage == "entries" and counts is not None and step.best_nodes is not None:
            course.expect(expected(demand, counts._replace(nodes=step.best_nodes)))
        # What gains nothing is measured where its changes would be.
        stage = OF_CHANGES.get(step.stage, step.stage) if late else step.stage
        fraction = course.at(stage, step.fraction)
        listener(replace(step, fraction=fraction, left=course.left))

    return told


def _of(work: tuple[float, float], nodes: float) -> float:
    least, each = work
    return least + each * nodes


def _bounds(
    compact: Compact, terms: Terms, grade: Grade | None, effort: int | None
) -> tuple[int, int]:
    """Return how many cells, and steps of boxes, bounds look at."""
    if grade == "plain" or not is_there("python-flint"):
        return 0, 0
    from boolcomp.proof.bound.usual import (  # noqa: PLC0415 (balls take their time)
        USUAL,
        counted_work,
        usual_grade,
    )

    try:
        said = explained(compact, Ends(rest=resting(terms)))
        if grade is None and effort is None:
            grade, effort = usual_grade(said), USUAL
        return (0, 0) if grade == "plain" else counted_work(said, effort or EFFORT)
    except DataError:
        return 0, 0
