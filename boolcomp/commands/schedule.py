"""`boolcomp schedule`: the parallel-dynamics papers: task graphs on machines, charts, real runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from boolcomp.commands.options import FilePath, given, json_option, print_json, within
from boolcomp.commands.progress import progress
from boolcomp.common.errors import UsageError, shown
from boolcomp.common.files import read_text, write_bytes, write_text
from boolcomp.common.text import short

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from boolcomp.parallel.methods import ProductTable, Recorded
    from boolcomp.parallel.schedule.assigning import CommunicationVector
    from boolcomp.parallel.schedule.graph import TaskGraph
    from boolcomp.parallel.schedule.machine import Machine
    from boolcomp.parallel.schedule.placed import Schedule
    from boolcomp.parallel.schedule.realrun import RealRun
    from boolcomp.parallel.schedule.simulate import Pipelined
    from boolcomp.problem.robot import Robot

# Options that mean nothing in a mode, by the names that click gives their values.
ONLY_RUN = {"engine": "--engine", "samples": "--samples"}
ONLY_SCHEDULE = {
    "method": "--method", "processors": "--processors", "scheduler": "--scheduler",
    "assignment": "--assignment", "folded": "--folded", "points": "--points", "execute": "--run",
    **ONLY_RUN,
}  # fmt: skip
NOT_WITH_PAPER = {
    **ONLY_SCHEDULE, "machine": "--machine", "chart": "--chart", "bits": "--bits",
    "output": "--output",
}  # fmt: skip
RUN_SAMPLES = 200_000
MOST_SAMPLES = 10_000_000  # of a run
MOST_STEPS = 10_000_000  # tasks of all points together


@click.command(
    "schedule", epilog="Example: boolcomp schedule puma560 --method lagrangian --machine t800"
)
@click.argument("robot", required=False)
@click.option(
    "--method", default="newton-euler", show_default=True, help="Whose tasks (see below)."
)
@click.option("--processors", default=4, show_default=True, help="How many.")
@click.option("--scheduler", default="cp-misf", show_default=True, help="Who does what, and when.")
@click.option("--machine", default="t800", show_default=True, help="A name, or a TOML file.")
@click.option("--assignment", type=FilePath(), help="TOML: tasks per processor.")
@click.option(
    "--folded", is_flag=True, help="Fold constants, where the paper counts every product."
)
@click.option("--points", type=int, help="Pipeline so many points of a trajectory.")
@click.option("--run", "execute", is_flag=True, help="Really run it: one process per processor.")
@click.option("--engine", default="auto", show_default=True, help="Of --run: numpy, llvm, auto.")
@click.option("--samples", default=RUN_SAMPLES, show_default=True, help="States of --run.")
@click.option("--chart", is_flag=True, help="All methods on 1 to 1024 processors of the machine.")
@click.option("--bits", default=8, show_default=True, help="Of the tables of method boolean.")
@click.option("--paper", help="The figures of zomaya, zeng, zalzala or schaefer beside ours.")
@click.option("-o", "--output", type=FilePath(), help="Folder for charts and page.")
@json_option
@click.pass_context
def command(
    context: click.Context,
    robot: str | None,
    *,
    method: str,
    processors: int,
    scheduler: str,
    machine: str,
    assignment: Path | None,
    folded: bool,
    points: int | None,
    execute: bool,
    engine: str,
    samples: int,
    chart: bool,
    bits: int,
    paper: str | None,
    output: Path | None,
    as_json: bool,
) -> None:
    """Schedule the tasks of a parallel method for ROBOT on a machine's processors.

    Methods: newton-euler, semi-customised, customised, regrouped, lagrangian, lagrangian-rows,
    zeng-19, zeng-10, zeng-52, symbolic, symbolic-forward, symbolic-cycle, boolean.
    Schedulers: cp-misf, improved, optimal, dynamic, static, first-fit, best-fit, and the papers'
    mappings zomaya, zalzala, schaefer. Machines: t800, t414, encore, cortex-m, this-machine.
    Prints operations, times and a Gantt chart; with -o also writes them as SVG and HTML.
    """
    if paper is not None:
        _refuse(context, NOT_WITH_PAPER, f"with --paper {paper}")
        _paper(paper, robot, as_json=as_json)
        return
    if robot is None:
        raise UsageError("which robot? Give its name or file, or --paper with a paper's name")
    from boolcomp.parallel.schedule.machinefile import load_machine
    from boolcomp.problem.robot import load_robot

    arm, place = load_robot(robot), load_machine(machine)
    if chart:
        _refuse(context, ONLY_SCHEDULE, "with --chart, which has all methods")
        _scaling(arm, place, bits, output, as_json=as_json)
        return
    _check(context, method, samples, engine)
    recorded, graph = _graph(method, arm, bits, processors, folded=folded)
    schedule = _schedule(graph, place, processors, scheduler, assignment)
    pipeline = None if points is None else _pipelined(schedule, graph, place, points)
    run = _execute(recorded, schedule, arm, method, samples, engine) if execute else None
    if output is not None:
        _write(schedule, method, output)
    vectors = _vectors(schedule, graph, recorded)
    if as_json:
        print_json(_document(schedule, graph, place, vectors, pipeline, run))
        return
    _print(schedule, graph, place, method)
    if assignment is not None:
        _print_vectors(vectors)
    _print_more(schedule, pipeline, run)
    if output is not None:
        click.echo(f"written to {output}", err=True)


def _refuse(context: click.Context, names: Mapping[str, str], where: str) -> None:
    """Raise a `UsageError` for the first of these options that was given."""
    for name, option in names.items():
        if given(context, name):
            raise UsageError(f"{option} means nothing {where}")


def _check(context: click.Context, method: str, samples: int, engine: str) -> None:
    """Refuse what means nothing for this method or without --run, and values that are none."""
    from boolcomp.parallel.methods import method_named
    from boolcomp.parallel.schedule.realrun import check_engine

    if not context.params["execute"]:
        _refuse(context, ONLY_RUN, "without --run")
    if samples < 1:
        raise UsageError(f"--samples {samples}: a run has at least one")
    within("--samples", samples, 1, MOST_SAMPLES)
    check_engine(engine)
    if not method_named(method).literal:
        _refuse(context, {"folded": "--folded"}, f"with --method {method}: {_folds(method)}")
    if method != "boolean":
        _refuse(context, {"bits": "--bits"}, f"with --method {method}: only boolean has tables")
    if given(context, "assignment"):
        _refuse(
            context, {"scheduler": "--scheduler"}, "with --assignment, which says who does what"
        )


def _folds(method: str) -> str:
    return "it has tables" if method == "boolean" else "it folds constants anyway"


def _paper(name: str, robot: str | None, *, as_json: bool) -> None:
    if robot is not None:
        raise UsageError(f"--paper {name} needs no robot: say one or the other")
    from boolcomp.parallel.methods import task_graph
    from boolcomp.parallel.schedule.findings import findings_text
    from boolcomp.parallel.schedule.papers import reproduce
    from boolcomp.problem.robot import load_robot

    cycle = None
    if name == "schaefer":
        cycle = task_graph("symbolic-forward", load_robot("stanford")).graph
    findings = reproduce(name, cycle)
    if as_json:
        rows = [
            {
                "figure": x.figure, "printed": x.value, "ours": x.ours, "kind": x.kind,
                "holds": x.holds, "residual": x.residual, "note": x.note,
            }
            for x in findings
        ]  # fmt: skip
        print_json({"paper": name, "findings": rows})
        return
    click.echo(findings_text(findings))


def product_tables(robot: Robot, bits: int) -> tuple[ProductTable, ...]:
    """Return the tables of a robot as the paper compiles them: the Boolean evaluator's work."""
    from boolcomp.compiler import compile_robot
    from boolcomp.paper.plan import Options
    from boolcomp.parallel.methods import ProductTable

    with progress("minimising", None) as step:
        compiled = compile_robot(
            robot, Options(bits=bits), done=lambda entry: step(entry.plan.term.name)
        )
    return tuple(
        ProductTable(
            term.entry.plan.term.name,
            term.entry.plan.term.joint,
            term.entry.table.inputs,
            term.cover.products,
            term.cover.literals,
            term.entry.table.outputs,
        )
        for term in compiled.covers[0]
    )


def _graph(
    method: str, robot: Robot, bits: int, processors: int, *, folded: bool
) -> tuple[Recorded | None, TaskGraph]:
    from boolcomp.parallel.methods import boolean_tasks, method_named, task_graph

    method_named(method)
    if method == "boolean":
        tables = product_tables(robot, bits)
        return None, boolean_tasks(tables, groups=processors, name=f"boolean {robot.name}")
    recorded = task_graph(method, robot, literal=False if folded else None)
    return recorded, recorded.graph


def _schedule(
    graph: TaskGraph, machine: Machine, processors: int, scheduler: str, assignment: Path | None
) -> Schedule:
    from boolcomp.parallel.schedule.assigning import parse_assignment
    from boolcomp.parallel.schedule.check import check_schedule
    from boolcomp.parallel.schedule.schedulers import make_schedule
    from boolcomp.parallel.schedule.simulate import simulate

    machine.check_processors(processors)
    if assignment is None:
        schedule = make_schedule(graph, machine, processors, scheduler)
    else:
        text = read_text(assignment)
        lists = parse_assignment(text, graph, machine, processors, str(assignment))
        schedule = simulate(graph, lists, machine, assignment.stem)
    check_schedule(schedule, graph, machine)
    return schedule


def _pipelined(schedule: Schedule, graph: TaskGraph, machine: Machine, points: int) -> Pipelined:
    from boolcomp.parallel.schedule.simulate import pipelined

    most = MOST_STEPS // max(1, len(graph.tasks))
    if not 1 <= points <= most:
        raise UsageError(
            f"--points {shown(points)}: a trajectory has 1 to {most}, for {len(graph.tasks)} tasks"
        )
    return pipelined(graph, schedule.assignment, machine, points)


def _execute(
    recorded: Recorded | None,
    schedule: Schedule,
    robot: Robot,
    method: str,
    samples: int,
    engine: Any,
) -> RealRun:
    from boolcomp.measure.report import draw_samples
    from boolcomp.parallel.schedule.realrun import run_really
    from boolcomp.problem.dynamics import inverse_dynamics

    if recorded is None or recorded.straight.inputs[-1] != f"qdd{robot.joints}":
        raise UsageError(
            f"--run executes methods that calculate torques from q, qd and qdd, not {method}"
        )
    drawn = draw_samples(robot, samples, 0)
    columns = [column for x in (drawn.q, drawn.qd, drawn.qdd) for column in x.T.copy()]
    exact = inverse_dynamics(robot, drawn.q, drawn.qd, drawn.qdd).T
    program = recorded.straight, recorded.task_of_node
    return run_really(program, recorded.graph, schedule.assignment, columns, exact, engine=engine)


def _vectors(
    schedule: Schedule, graph: TaskGraph, recorded: Recorded | None
) -> tuple[CommunicationVector, ...]:
    """Return what must be sent: value by value where the tasks' program is known."""
    from boolcomp.parallel.schedule.assigning import communication, exact_communication

    if recorded is None:
        return communication(graph, schedule.assignment)
    return exact_communication(recorded.straight, recorded.task_of_node, schedule.assignment)


def _document(
    schedule: Schedule,
    graph: TaskGraph,
    machine: Machine,
    vectors: Sequence[CommunicationVector],
    pipeline: Pipelined | None,
    run: RealRun | None,
) -> dict[str, Any]:
    from boolcomp.parallel.schedule.lowerbounds import lower_bounds

    bounds = lower_bounds(graph, machine, schedule.processors)
    document = {
        "graph": schedule.graph,
        "machine": schedule.machine,
        "scheduler": schedule.scheduler,
        "processors": schedule.processors,
        "makespan_us": schedule.makespan_us,
        "sequential_us": schedule.sequential_us,
        "speedup": schedule.speedup,
        "utilisation": list(schedule.utilisation),
        "critical_path_us": schedule.critical_path_us,
        "lower_bound_us": bounds.best_us,
        "tasks": [
            {
                "task": x.task, "processor": x.processor, "start_us": x.start_us,
                "end_us": x.end_us,
            }
            for x in schedule.placements
        ],
        "communication": [
            {"source": v.source, "target": v.target, "words": v.words, "tasks": list(v.tasks)}
            for v in vectors
        ],
    }  # fmt: skip
    if pipeline is not None:
        document["pipeline"] = {
            "points": pipeline.points, "text": str(pipeline), "makespan_us": pipeline.makespan_us
        }  # fmt: skip
    if run is not None:
        document["run"] = {**run.document(), "simulated_speedup": schedule.speedup}
    return document


def _print(schedule: Schedule, graph: TaskGraph, machine: Machine, method: str) -> None:
    from boolcomp.measure.report.schedulepage import operations_text
    from boolcomp.parallel.methods import method_named
    from boolcomp.parallel.schedule.gantt import gantt_text
    from boolcomp.parallel.schedule.lowerbounds import lower_bounds

    click.echo(f"{method}: {method_named(method)}")
    click.echo(operations_text(method, graph, machine))
    click.echo(gantt_text(schedule))
    used = ", ".join(f"P{k} {share:.2f}" for k, share in enumerate(schedule.utilisation))
    sent = sum(transfer.words for transfer in schedule.transfers)
    click.echo(
        f"{short(schedule.makespan_us, 5)} µs on {schedule.processors}, one processor "
        f"{short(schedule.sequential_us, 5)} µs: speed-up {schedule.speedup:.2f}; "
        f"utilisation {used}; {sent} words sent"
    )
    click.echo(f"any schedule: {lower_bounds(graph, machine, schedule.processors)}")


def _print_vectors(vectors: Sequence[CommunicationVector]) -> None:
    click.echo("to be sent, each value once:" if vectors else "nothing to be sent")
    for vector in vectors:
        click.echo(f"  {vector}")


def _print_more(schedule: Schedule, pipeline: Pipelined | None, run: RealRun | None) -> None:
    if pipeline is not None:
        click.echo(str(pipeline))
    if run is None:
        return
    click.echo(str(run))
    click.echo(
        f"{run.samples} samples, least of {run.rounds} rounds in turn, torques equal "
        f"Newton-Euler's to {run.relative_error:.1e} of the largest; simulated speed-up on "
        f"{schedule.machine} {schedule.speedup:.2f}"
    )


def _scaling(
    robot: Robot, machine: Machine, bits: int, output: Path | None, *, as_json: bool
) -> None:
    from boolcomp.common.errors import DataError
    from boolcomp.measure.pictures import require_matplotlib
    from boolcomp.measure.report.scaling import draw_scaling, scaling, scaling_text

    if output is not None:
        require_matplotlib()
    tables: tuple[ProductTable, ...] = ()
    try:
        tables = product_tables(robot, bits)
    except DataError as error:  # tables too wide: then it is the arithmetic methods' chart
        click.echo(f"without method boolean: {error}", err=True)
    with progress("scheduling", None) as step:
        points = scaling(robot, machine, tables, done=step)
    if output is not None:
        title = f"{robot.name} on {machine.title}: five methods, CP/MISF"
        write_bytes(output / "scaling.svg", draw_scaling(points, title, "svg"))
        write_bytes(output / "scaling.png", draw_scaling(points, title, "png"))
    if as_json:
        print_json({"robot": robot.name, "rows": [point.document() for point in points]})
        return
    click.echo(f"{robot.name} on {machine.title}: µs per torque vector, and speed-up")
    click.echo(scaling_text(points))
    if output is not None:
        click.echo(f"written to {output}", err=True)


def _write(schedule: Schedule, method: str, folder: Path) -> None:
    from boolcomp.measure.report.schedulepage import schedule_page
    from boolcomp.parallel.schedule.gantt import gantt_svg

    write_text(folder / "gantt.svg", gantt_svg(schedule))
    write_text(folder / "schedule.html", schedule_page(schedule, method))
