"""`boolcomp schedule`: the parallel-dynamics papers: task graphs on machines, charts, real runs."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from boolcomp.base.errors import UsageError, listing, number, reals, shown, suggestion
from boolcomp.base.files import outputs, read_text
from boolcomp.commands.options import FilePath, given, json_option, print_json, within
from boolcomp.commands.output import in_stages, progress, share

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from boolcomp.logic.network import Network
    from boolcomp.parallel.methods.logic import ProductTable
    from boolcomp.parallel.methods.physics import Recorded
    from boolcomp.parallel.schedule.execute import RealRun
    from boolcomp.parallel.schedule.graph import Schedule, TaskGraph
    from boolcomp.parallel.schedule.machine import Machine
    from boolcomp.parallel.schedule.schedulers import CommunicationVector
    from boolcomp.parallel.schedule.simulate import Pipelined
    from boolcomp.problem.robot.model import Robot


# --------------------------------------------------------------------------------------------------
# What `boolcomp schedule` makes before it prints: networks, task graphs, schedules, real runs.
# --------------------------------------------------------------------------------------------------


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
    from boolcomp.parallel.methods.logic import ProductTable
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
    from boolcomp.problem.functions import inverse_dynamics_problem
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
    from boolcomp.parallel.methods.logic import boolean_tasks
    from boolcomp.parallel.methods.registry import task_graph

    if asked.method == "boolean":
        tables, name = product_tables(robot, bits), f"boolean {robot.name}"
        return None, boolean_tasks(tables, groups=asked.processors, name=name)
    recorded = task_graph(asked.method, robot, literal=False if asked.folded else None)
    return recorded, recorded.graph


def scheduled(asked: Asked, graph: TaskGraph, machine: Machine) -> Schedule:
    """Return the checked schedule of a graph."""
    from boolcomp.parallel.schedule.graph import check_schedule
    from boolcomp.parallel.schedule.schedulers import make_schedule, parse_assignment
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
    from boolcomp.measure.report.rows import draw_samples
    from boolcomp.parallel.schedule.execute import run_really
    from boolcomp.problem.functions import inverse_dynamics_problem

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
    from boolcomp.parallel.schedule.schedulers import communication, exact_communication

    if recorded is None:
        return communication(graph, schedule.assignment)
    return exact_communication(recorded.straight, recorded.task_of_node, schedule.assignment)


# --------------------------------------------------------------------------------------------------
# `boolcomp schedule`: the parallel-dynamics papers: task graphs on machines, charts, real runs.
# --------------------------------------------------------------------------------------------------


RUN_SAMPLES = 200_000
MOST_SAMPLES = 10_000_000  # of a run
OLDER = "older"  # the command of the spelling before there were sub-commands

machine_option = click.option(
    "--machine", default="t800", show_default=True, help="A name, or a TOML file."
)
bits_option = click.option("--bits", default=8, show_default=True, help="Word length of the logic.")


class Schedules(click.Group):
    """The sub-commands; a robot or an option in place of one is the older spelling."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Find the sub-command, or put in the one that reads the older spelling."""
        words = [word for word in args[:2] if not word.startswith("-")]
        if args[:1] not in (["-h"], ["--help"]) and not (words and args[0] in self.commands):
            if len(words) == 2:
                names = [name for name in self.commands if name != OLDER]
                raise UsageError(
                    f"no sub-command {shown(words[0])}{suggestion(words[0], names)}: "
                    f"there are {listing(names)}"
                )
            args = [OLDER, *args]
        return super().parse_args(ctx, args)


@click.group(
    "schedule", cls=Schedules, epilog="Example: boolcomp schedule simulate puma560 --machine t800"
)
def command() -> None:
    """Schedule the tasks of the parallel-dynamics papers on machines, and run them."""


def asked_options(function: Callable[..., None]) -> Callable[..., None]:
    """Add ROBOT and the options of its schedule, and hand them on as `Asked`."""
    options = (
        click.argument("robot"),
        click.option("--method", default="newton-euler", show_default=True, help="Whose tasks."),
        click.option("--processors", default=4, show_default=True, help="How many."),
        click.option(
            "--scheduler", default="cp-misf", show_default=True, help="Who does what, and when."
        ),
        machine_option,
        click.option("--assignment", type=FilePath(), help="TOML: tasks per processor."),
        click.option(
            "--folded",
            is_flag=True,
            help="Fold constants, where the paper counts every product.",
        ),
    )

    @functools.wraps(function)
    def wrapped(**said: Any) -> None:
        asked = Asked(**{name: said.pop(name) for name in Asked.__dataclass_fields__})
        function(asked, **said)

    for option in reversed(options):
        wrapped = option(wrapped)
    return wrapped


@command.command(
    epilog="Example: boolcomp schedule simulate puma560 --method lagrangian --machine t800"
)
@asked_options
@click.option("--points", type=int, help="Pipeline so many points of a trajectory.")
@bits_option
@click.option("-o", "--output", type=FilePath(), help="Folder for chart and page.")
@json_option
def simulate(
    asked: Asked, points: int | None, bits: int, output: Path | None, *, as_json: bool
) -> None:
    """Schedule the tasks of a method for ROBOT, and simulate them on a machine's processors.

    Methods: newton-euler, semi-customised, customised, regrouped, lagrangian, lagrangian-rows,
    zeng-19, zeng-10, zeng-52, symbolic, symbolic-forward, symbolic-cycle, boolean.
    Schedulers: cp-misf, improved, optimal, dynamic, static, first-fit, best-fit, and the papers'
    mappings zomaya, zalzala, schaefer. Machines: t800, t414, encore, cortex-m, this-machine.
    Prints operations, times and a Gantt chart; with -o also writes them as SVG and HTML.
    """
    _one(asked, points, bits, output, None, as_json=as_json)


@command.command(epilog="Example: boolcomp schedule run puma560 --method customised --processors 2")
@asked_options
@click.option("--engine", default="auto", show_default=True, help="numpy, llvm, auto.")
@click.option("--samples", default=RUN_SAMPLES, show_default=True, help="States.")
@json_option
def run(asked: Asked, engine: str, samples: int, *, as_json: bool) -> None:
    """Really run a schedule of ROBOT's tasks: one process for every processor.

    Methods, schedulers and machines: see `boolcomp schedule simulate --help`. The machine is the
    one that is scheduled for; what is measured is this one.
    """
    _one(asked, None, 8, None, (engine, samples), as_json=as_json)


@command.command(epilog="Example: boolcomp schedule chart machado-2r -o out")
@click.argument("robot")
@machine_option
@bits_option
@click.option("--rms-error", help="Of compact logic, in LSB [default: as `boolcomp compile`]")
@click.option("-o", "--output", type=FilePath(), help="Folder for the chart.")
@json_option
def chart(
    robot: str,
    machine: str,
    bits: int,
    rms_error: str | None,
    output: Path | None,
    *,
    as_json: bool,
) -> None:
    """Chart all methods for ROBOT on 1 to 1024 processors of a machine.

    Compact logic is charted where `boolcomp compile` has made it, with one sample and with 32
    samples a word; times are those of one torque vector.
    """
    from boolcomp.base.charts import require_matplotlib
    from boolcomp.base.errors import DataError
    from boolcomp.parallel.pages import draw_scaling, scaling, scaling_text, ways
    from boolcomp.parallel.schedule.machine import load_machine
    from boolcomp.problem.robot.library import load_robot

    if output is not None:
        require_matplotlib()
    arm, place, rms = load_robot(robot), load_machine(machine), reals("--rms-error", rms_error)
    tables: tuple[ProductTable, ...] = ()
    try:
        tables = product_tables(arm, bits)
    except DataError as error:  # tables too wide: then it is the arithmetic methods' chart
        click.echo(f"without method boolean: {error}", err=True)
    methods = ways(arm, tables, *compact_network(arm, robot, bits, rms))
    with progress("scheduling", None) as step:
        points = scaling(methods, place, done=step)
    if output is not None:
        title = f"{arm.name} on {place.title}: {len(methods)} methods, CP/MISF"
        with outputs() as put:
            for kind in ("svg", "png"):
                put(output / f"scaling.{kind}", draw_scaling(points, title, kind))
    if as_json:
        print_json({"robot": arm.name, "rows": [point.document() for point in points]})
        return
    click.echo(f"{arm.name} on {place.title}: µs per torque vector, and speed-up")
    click.echo(scaling_text(points))
    if output is not None:
        click.echo(f"written to {output}", err=True)


@command.command(epilog="Example: boolcomp schedule paper zomaya")
@click.argument("name")
@json_option
def paper(name: str, *, as_json: bool) -> None:
    """Print the figures of a paper (zomaya, zeng, zalzala, schaefer) beside ours."""
    from boolcomp.parallel.methods.registry import task_graph
    from boolcomp.parallel.schedule.papers import reproduce
    from boolcomp.parallel.schedule.simulate import findings_text
    from boolcomp.problem.robot.library import load_robot

    cycle = None
    if name == "schaefer":
        cycle = task_graph("symbolic-forward", load_robot("stanford")).graph
    findings = reproduce(name, cycle)
    if as_json:
        print_json({"paper": name, "findings": [finding.document() for finding in findings]})
        return
    click.echo(findings_text(findings))


def _older(**said: Any) -> None:
    """Do what the spelling before there were sub-commands says: all options stood side by side."""
    context = click.get_current_context()
    name, robot, really = said["paper"], said["robot"], said["execute"]
    kinds = [chart] if said["chart"] else [simulate, run]
    fit, where = {"chart", *(x.name for kind in kinds for x in kind.params)}, "without --run"
    if name is not None:
        fit, where = {"paper", "robot", "as_json"}, f"with --paper {name}"
    elif said["chart"]:
        where = "with --chart, which has all methods"
    else:
        fit = fit | {"execute"} if really else fit - {"engine", "samples"}
    for parameter in context.command.params:
        if parameter.name not in fit and given(context, parameter.name or ""):
            raise UsageError(f"{parameter.opts[-1]} means nothing {where}")
    if name is not None:
        if robot is not None:
            raise UsageError(f"--paper {name} needs no robot: say one or the other")
        context.invoke(paper, name=name, as_json=said["as_json"])
    elif robot is None:
        raise UsageError("which robot? Give its name or file, or a sub-command, such as paper")
    elif said["chart"]:
        context.invoke(chart, **{x.name or "": said.get(x.name or "") for x in chart.params})
    else:
        asked = Asked(**{name: said[name] for name in Asked.__dataclass_fields__})
        measured = (said["engine"], said["samples"]) if really else None
        _one(asked, said["points"], said["bits"], said["output"], measured, as_json=said["as_json"])


command.add_command(
    click.Command(
        OLDER,
        callback=_older,
        hidden=True,
        params=[
            click.Argument(["robot"], required=False),
            *{x.name: x for x in (*simulate.params[1:], *run.params[1:])}.values(),
            click.Option(["--run", "execute"], is_flag=True),
            click.Option(["--chart"], is_flag=True),
            click.Option(["--paper"]),
        ],
    )
)


def _one(
    asked: Asked,
    points: int | None,
    bits: int,
    output: Path | None,
    measured: tuple[str, int] | None,
    *,
    as_json: bool,
) -> None:
    """Make one schedule, show it, and run it where an engine and a number of samples are given."""
    from boolcomp.parallel.pages import (
        schedule_document,
        schedule_page,
        schedule_text,
        vectors_text,
    )
    from boolcomp.parallel.schedule.machine import load_machine
    from boolcomp.parallel.schedule.simulate import gantt_svg
    from boolcomp.problem.robot.library import load_robot

    arm, machine = load_robot(asked.robot), load_machine(asked.machine)
    _check(asked.method, measured)
    recorded, graph = graph_of(asked, arm, bits)
    schedule = scheduled(asked, graph, machine)
    pipeline = None if points is None else pipeline_of(schedule, graph, machine, points)
    done = None if measured is None else executed(asked, recorded, schedule, arm, *measured)
    if output is not None:
        with outputs() as put:
            put(output / "gantt.svg", gantt_svg(schedule))
            put(output / "schedule.html", schedule_page(schedule, asked.method))
    vectors = vectors_of(schedule, graph, recorded)
    if as_json:
        print_json(schedule_document(schedule, graph, machine, vectors, pipeline, done))
        return
    click.echo(schedule_text(schedule, graph, machine, asked.method))
    if asked.assignment is not None:
        click.echo(vectors_text(vectors))
    if pipeline is not None:
        click.echo(str(pipeline))
    if done is not None:
        click.echo(
            f"{done}\n{done.samples} samples, least of {done.rounds} rounds in turn, torques equal "
            f"Newton-Euler's to {done.relative_error:.1e} of the largest; simulated speed-up on "
            f"{schedule.machine} {schedule.speedup:.2f}"
        )
    if output is not None:
        click.echo(f"written to {output}", err=True)


def _check(method: str, measured: tuple[str, int] | None) -> None:
    """Refuse what means nothing for this method, and values that are none."""
    from boolcomp.parallel.methods.registry import method_named
    from boolcomp.parallel.schedule.execute import check_engine

    if measured is not None:
        engine, samples = measured
        if samples < 1:
            raise UsageError(f"--samples {samples}: a run has at least one")
        within("--samples", samples, 1, MOST_SAMPLES)
        check_engine(engine)
    why = "it has tables" if method == "boolean" else "it folds constants anyway"
    context = click.get_current_context()
    for name, nothing, where in (
        ("folded", not method_named(method).literal, f"--method {method}: {why}"),
        ("bits", method != "boolean", f"--method {method}: only boolean has tables"),
        ("scheduler", given(context, "assignment"), "--assignment, which says who does what"),
    ):
        if nothing and given(context, name):
            raise UsageError(f"--{name} means nothing with {where}")
