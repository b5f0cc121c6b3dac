"""What `boolcomp schedule` makes before it prints: networks, task graphs, schedules, real runs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from boolcomp.base.errors import number
from boolcomp.base.files import read_text
from boolcomp.commands.output import in_stages, share
from boolcomp.common.errors import UsageError, shown

if TYPE_CHECKING:
    from pathlib import Path

    from boolcomp.logic.network import Network
    from boolcomp.parallel.methods.boolean import ProductTable
    from boolcomp.parallel.methods.recording import Recorded
    from boolcomp.parallel.schedule.assigning import CommunicationVector
    from boolcomp.parallel.schedule.graph import TaskGraph
    from boolcomp.parallel.schedule.machine import Machine
    from boolcomp.parallel.schedule.placed import Schedule
    from boolcomp.parallel.schedule.realrun import RealRun
    from boolcomp.parallel.schedule.simulate import Pipelined
    from boolcomp.problem.robot.model import Robot

MOST_STEPS = 10_000_000  # tasks of all points together


@dataclass(frozen=True, slots=True)
class Asked:
    """Whose tasks are to be scheduled, and how."""

    robot: str
    method: str
    processors: int
    scheduler: str
    machine: str
    assignment: Path | None
    folded: bool


def product_tables(robot: Robot, bits: int) -> tuple[ProductTable, ...]:
    """Return the tables of a robot as the paper compiles them: the Boolean evaluator's work."""
    from boolcomp.paper.passes import PaperChoices
    from boolcomp.paper.plan import Options
    from boolcomp.parallel.methods.boolean import ProductTable
    from boolcomp.pipeline import compile_paper

    with share("compiling") as show:
        choices = PaperChoices(Options(bits=bits), progress=in_stages(show))
        compiled = compile_paper(robot, choices)
    places = {plan.output.title: k for k, plan in enumerate(compiled.plans[0].outputs, 1)}
    return tuple(
        ProductTable(
            term.entry.plan.term.name,
            places[term.entry.plan.term.output],
            term.entry.table.inputs,
            term.cover.products,
            term.cover.literals,
            term.entry.table.outputs,
        )
        for term in compiled.covers[0]
    )


def compact_network(
    robot: Robot, spelt: str, bits: int, rms: tuple[float, ...]
) -> tuple[Network | None, tuple[int, ...]]:
    """Return the network that compact mode has made of a robot, and the widths of its words.

    Nothing is searched: where there is none, a sentence says how to make it of the robot as it was
    spelt.
    """
    from boolcomp.compact.demand import usual_demand
    from boolcomp.compact.passes import CompactChoices
    from boolcomp.problem.makers import inverse_dynamics_problem
    from boolcomp.terms.extract import split

    demand = usual_demand(bits, approximate=None, rms=rms)
    kept = CompactChoices(demand).result_store(split(inverse_dynamics_problem(robot))).find()
    if kept is None:
        asked = f" --rms-error {','.join(map(number, rms))}" if rms else ""
        line = f"boolcomp compile {spelt} --bits {bits}{asked}"
        click.echo(f"without compact logic: it is not made yet (`{line}` makes it)", err=True)
        return None, ()
    return kept.network, tuple(code.bits + 1 for code in kept.compact.output_codes)


def graph_of(asked: Asked, robot: Robot, bits: int) -> tuple[Recorded | None, TaskGraph]:
    """Return the task graph of what was asked, with its program where it has one."""
    from boolcomp.parallel.methods.boolean import boolean_tasks
    from boolcomp.parallel.methods.registry import task_graph

    if asked.method == "boolean":
        tables, name = product_tables(robot, bits), f"boolean {robot.name}"
        return None, boolean_tasks(tables, groups=asked.processors, name=name)
    recorded = task_graph(asked.method, robot, literal=False if asked.folded else None)
    return recorded, recorded.graph


def scheduled(asked: Asked, graph: TaskGraph, machine: Machine) -> Schedule:
    """Return the checked schedule of a graph."""
    from boolcomp.parallel.schedule.assigning import parse_assignment
    from boolcomp.parallel.schedule.check import check_schedule
    from boolcomp.parallel.schedule.schedulers import make_schedule
    from boolcomp.parallel.schedule.simulate import simulate as simulated

    machine.check_processors(asked.processors)
    path = asked.assignment
    if path is None:
        schedule = make_schedule(graph, machine, asked.processors, asked.scheduler)
    else:
        lists = parse_assignment(read_text(path), graph, machine, asked.processors, str(path))
        schedule = simulated(graph, lists, machine, path.stem)
    check_schedule(schedule, graph, machine)
    return schedule


def pipeline_of(schedule: Schedule, graph: TaskGraph, machine: Machine, points: int) -> Pipelined:
    """Return a schedule over so many points of a trajectory."""
    from boolcomp.parallel.schedule.simulate import pipelined

    most = MOST_STEPS // max(1, len(graph.tasks))
    if not 1 <= points <= most:
        raise UsageError(
            f"--points {shown(points)}: a trajectory has 1 to {most}, for {len(graph.tasks)} tasks"
        )
    return pipelined(graph, schedule.assignment, machine, points)


def executed(
    asked: Asked,
    recorded: Recorded | None,
    schedule: Schedule,
    robot: Robot,
    engine: Any,
    samples: int,
) -> RealRun:
    """Run a schedule; its torques are compared with Newton-Euler's."""
    from boolcomp.measure.report.measure import draw_samples
    from boolcomp.parallel.schedule.realrun import run_really
    from boolcomp.problem.makers import inverse_dynamics_problem

    if recorded is None or recorded.straight.inputs[-1] != f"qdd{robot.joints}":
        raise UsageError(
            f"--run executes methods that calculate torques from q, qd and qdd, not {asked.method}"
        )
    drawn = draw_samples(inverse_dynamics_problem(robot), samples, 0)
    columns = [column for array in drawn.arrays for column in array.T.copy()]
    exact = drawn.outputs.T
    program = recorded.straight, recorded.task_of_node
    return run_really(program, recorded.graph, schedule.assignment, columns, exact, engine=engine)


def vectors_of(
    schedule: Schedule, graph: TaskGraph, recorded: Recorded | None
) -> tuple[CommunicationVector, ...]:
    """Return what must be sent: value by value where the tasks' program is known."""
    from boolcomp.parallel.schedule.assigning import communication, exact_communication

    if recorded is None:
        return communication(graph, schedule.assignment)
    return exact_communication(recorded.straight, recorded.task_of_node, schedule.assignment)
