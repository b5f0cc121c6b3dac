"""`boolcomp schedule`: tasks of the parallel-dynamics papers: schedules, charts, real runs."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from boolcomp.base.errors import UsageError, listing, number, require_name, shown, suggestion
from boolcomp.base.files import outputs, read_text
from boolcomp.base.results import Results
from boolcomp.commands.options import (
    ROBOTS,
    FilePath,
    completes,
    folded,
    given,
    json_option,
    options,
    print_result,
    tabled,
    wants_all,
    within,
)
from boolcomp.commands.output import in_stages, progress, share

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from boolcomp.logic.network import Network
    from boolcomp.options import GivenOptions
    from boolcomp.paper.passes import Covered
    from boolcomp.parallel.execute import RealRun
    from boolcomp.parallel.machine import Machine
    from boolcomp.parallel.methods import RecordedMethod
    from boolcomp.parallel.registry import ProductTable
    from boolcomp.parallel.schedulers import CommunicationVector
    from boolcomp.parallel.simulation import Finding
    from boolcomp.parallel.taskgraph import Schedule, TaskGraph
    from boolcomp.problem.robot.model import Robot


# --------------------------------------------------------------------------------------------------
# Networks, task graphs, schedules and real runs.
# --------------------------------------------------------------------------------------------------


MOST_STEPS = 10_000_000  # tasks of all points together


@dataclass(frozen=True, slots=True)
class ScheduleRequest:
    """The tasks to schedule, and how to schedule them."""

    robot: str
    method: str
    processors: int
    scheduler: str
    machine: str
    assignment: Path | None
    folded: bool


def product_tables(robot: Robot, bits: int) -> tuple[ProductTable, ...]:
    """Return the tables of a robot in paper mode, the tasks of the Boolean evaluator."""
    return tables_of(covered(robot, bits)[0])


def covered(robot: Robot, bits: int, loads: Sequence[float] = (0.0,)) -> list[Covered]:
    """Return plan and covers of a robot in paper mode, for loads in kg."""
    from boolcomp.paper.passes import PaperChoices
    from boolcomp.paper.plan import PlanOptions
    from boolcomp.pipeline import PAPER, problems_of
    from boolcomp.pipeline import run as run_passes

    with share("compiling") as show:
        choices = PaperChoices(PlanOptions(bits=bits), progress=in_stages(show))
        return run_passes(PAPER, problems_of(robot, loads), choices, "covers")


def tables_of(made: Covered) -> tuple[ProductTable, ...]:
    """Return the sizes of all covers, with the number of their torque."""
    from boolcomp.parallel.registry import ProductTable

    places = {plan.output.title: k for k, plan in enumerate(made.plan.outputs, 1)}
    return tuple(
        ProductTable(
            term.entry.plan.term.name,
            places[term.entry.plan.term.output],
            term.entry.table.inputs,
            term.cover.products,
            term.cover.literals,
            term.entry.table.outputs,
        )
        for term in made.terms
    )


def compact_network(
    robot: Robot, spelt: str, bits: int, options: GivenOptions
) -> tuple[Network | None, tuple[int, ...]]:
    """Return a robot's network of compact mode from the store, and the widths of its words.

    If the store has none, a message gives the command that makes it, with the robot as `spelt`.
    """
    from boolcomp.problem.functions import inverse_dynamics_problem
    from boolcomp.terms.extract import split

    choices, rms = options.compact(bits), options.values["rms_error"]
    kept = choices.result_store(split(inverse_dynamics_problem(robot))).find()
    if kept is None:
        option = f" --accuracy rms={','.join(map(number, rms))}" if rms else ""
        line = f"boolcomp compile {spelt} --bits {bits}{option}"
        text = f"without compact logic: to include it, first run `{line}`"
        click.echo(folded(text), err=True)
        return None, ()
    return kept.network, tuple(code.bits + 1 for code in kept.compact.output_codes)


def graph_of(
    request: ScheduleRequest, robot: Robot, bits: int
) -> tuple[RecordedMethod | None, TaskGraph]:
    """Return the requested task graph, with its program if it has one."""
    from boolcomp.parallel.registry import boolean_tasks, task_graph

    if request.method == "boolean":
        tables, name = product_tables(robot, bits), f"boolean {robot.name}"
        return None, boolean_tasks(tables, groups=request.processors, name=name)
    recorded = task_graph(request.method, robot, literal=False if request.folded else None)
    return recorded, recorded.graph


def scheduled(request: ScheduleRequest, graph: TaskGraph, machine: Machine) -> Schedule:
    """Return the checked schedule of a graph."""
    from boolcomp.parallel.schedulers import make_schedule, parse_assignment
    from boolcomp.parallel.simulation import simulate as simulated
    from boolcomp.parallel.taskgraph import check_schedule

    machine.check_processors(request.processors)
    path = request.assignment
    if path is None:
        schedule = make_schedule(graph, machine, request.processors, request.scheduler)
    else:
        lists = parse_assignment(read_text(path), graph, machine, request.processors, str(path))
        schedule = simulated(graph, lists, machine, path.stem)
    check_schedule(schedule, graph, machine)
    return schedule


def executed(
    request: ScheduleRequest,
    recorded: RecordedMethod | None,
    schedule: Schedule,
    robot: Robot,
    engine: Any,
    samples: int,
) -> RealRun:
    """Run a schedule, and compare its torques with those of Newton-Euler."""
    from boolcomp.measure.report import draw_samples
    from boolcomp.parallel.execute import measure_runs
    from boolcomp.problem.functions import inverse_dynamics_problem

    if recorded is None or recorded.straight.inputs[-1] != f"qdd{robot.joints}":
        raise UsageError(f"{request.method} does not calculate torques from q, qd and qdd")
    drawn = draw_samples(inverse_dynamics_problem(robot), samples, 0)
    columns = [column for array in drawn.arrays for column in array.T.copy()]
    exact = drawn.outputs.T
    program = recorded.straight, recorded.task_of_node
    return measure_runs(program, recorded.graph, schedule.assignment, columns, exact, engine=engine)


def vectors_of(
    schedule: Schedule, graph: TaskGraph, recorded: RecordedMethod | None
) -> tuple[CommunicationVector, ...]:
    """Return the communication vectors, value by value if the program of the tasks is known."""
    from boolcomp.parallel.schedulers import communication, exact_communication

    if recorded is None:
        return communication(graph, schedule.assignment)
    return exact_communication(recorded.straight, recorded.task_of_node, schedule.assignment)


# --------------------------------------------------------------------------------------------------
# The sub-commands.
# --------------------------------------------------------------------------------------------------


RUN_SAMPLES = 200_000
MOST_SAMPLES = 10_000_000  # of a run
OLDER = "older"  # the hidden command of the spelling without sub-commands

machine_option = click.option(
    "--machine", default="t800", show_default=True, help="Name or TOML file of a machine."
)
bits_option = click.option("--bits", default=8, show_default=True, help="Word length of the logic.")


class Schedules(click.Group):
    """The sub-commands; a robot or an option in place of one selects the older spelling."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Find the sub-command, or insert that of the older spelling."""
        words = [word for word in args[:2] if not word.startswith("-")]
        if args[:1] not in (["-h"], ["--help"]) and not (words and args[0] in self.commands):
            if len(words) == 2:
                names = [name for name in self.commands if name != OLDER]
                raise UsageError(
                    f"no sub-command {shown(words[0])}",
                    f"{suggestion(words[0], names)}sub-commands are {listing(names)}",
                )
            args = [OLDER, *args]
        return super().parse_args(ctx, args)


@click.group(
    "schedule", cls=Schedules, epilog="Example: boolcomp schedule simulate puma560 --machine t800"
)
def command() -> None:
    """Schedule the tasks of the parallel-dynamics papers on machines, and run them."""


def schedule_options(function: Callable[..., None]) -> Callable[..., None]:
    """Add ROBOT and the options of its schedule, passed on as a `ScheduleRequest`."""
    options = (
        click.argument("robot", shell_complete=ROBOTS),
        click.option("--method", default="newton-euler", show_default=True,
                     help="Method whose tasks are scheduled.",
                     shell_complete=completes("parallel.registry:METHODS")),
        click.option("--processors", default=4, show_default=True, help="Number of processors."),
        click.option(
            "--scheduler", default="cp-misf", show_default=True, help="Scheduling algorithm."
        ),
        machine_option,
        click.option("--assignment", type=FilePath(), help="TOML: tasks per processor."),
        click.option("--folded", is_flag=True,
                     help="Fold constants; by default every product of the paper counts."),
    )  # fmt: skip

    @functools.wraps(function)
    def wrapped(**more: Any) -> None:
        request = ScheduleRequest(
            **{name: more.pop(name) for name in ScheduleRequest.__dataclass_fields__}
        )
        function(request, **more)

    for option in reversed(options):
        wrapped = option(wrapped)
    return wrapped


@command.command(
    epilog="Example: boolcomp schedule simulate puma560 --method lagrangian --machine t800"
)
@schedule_options
@click.option("--points", type=int, help="Number of trajectory points to pipeline.")
@bits_option
@click.option("-o", "--output", type=FilePath(), help="Folder for chart and page.")
@json_option
def simulate(request: ScheduleRequest, points: int | None, bits: int, output: Path | None) -> None:
    """Schedule the tasks of a method for ROBOT, and simulate them on a machine's processors.

    Methods: newton-euler, semi-customised, customised, wrench, regrouped, lagrangian,
    lagrangian-rows, zeng-19, zeng-10, zeng-52, symbolic, symbolic-forward, symbolic-cycle,
    recursive-forward, boolean.
    Schedulers: cp-misf, improved, optimal, dynamic, static, first-fit, best-fit, and the papers'
    mappings zomaya, zalzala, schaefer. Machines: t800, t414, encore, cortex-m, this-machine.
    Prints operations, times and a Gantt chart; -o also writes them as SVG and HTML.
    """
    _one(request, points, bits, output, None)


@command.command(epilog="Example: boolcomp schedule run puma560 --method customised --processors 2")
@schedule_options
@click.option("--engine", default="auto", show_default=True, help="numpy, llvm, auto.",
              shell_complete=completes("parallel.execute:ENGINES"))  # fmt: skip
@click.option("--samples", default=RUN_SAMPLES, show_default=True, help="Number of states.")
@json_option
def run(request: ScheduleRequest, engine: str, samples: int) -> None:
    """Run a schedule of ROBOT's tasks on this computer, with one process per processor.

    Methods, schedulers and machines: see `boolcomp schedule simulate --help`. The schedule is made
    for --machine; times are measured on this computer.
    """
    _one(request, None, 8, None, (engine, samples))


@command.command(epilog="Example: boolcomp schedule chart machado-2r -o out")
@click.argument("robot", shell_complete=ROBOTS)
@machine_option
@bits_option
@options("rms_error")
@click.option("-o", "--output", type=FilePath(), help="Folder for the chart.")
@json_option
def chart(
    robot: str,
    machine: str,
    bits: int,
    output: Path | None,
    *,
    options: GivenOptions,
) -> None:
    """Chart all methods for ROBOT on 1 to 1024 processors of a machine.

    Compact logic is included if `boolcomp compile` has made it, with 1 and with 32 samples per
    word. Times are per torque vector.
    """
    from boolcomp.base.errors import DataError
    from boolcomp.base.pages import require_charts
    from boolcomp.parallel.machine import load_machine
    from boolcomp.parallel.pages import POINTS, draw_scaling, scaling, scaling_text, ways
    from boolcomp.problem.robot.library import load_robot

    if output is not None:
        require_charts()
    arm, place = load_robot(robot), load_machine(machine)
    tables: tuple[ProductTable, ...] = ()
    try:
        tables = product_tables(arm, bits)
    except DataError as error:  # tables too wide: only the arithmetic methods are charted
        click.echo(f"without method boolean: {error}", err=True)
    methods = ways(arm, tables, *compact_network(arm, robot, bits, options))
    with progress("scheduling", None) as step:
        points = scaling(methods, place, done=step)
    if output is not None:
        title = f"{arm.name} on {place.title}: {len(methods)} methods, CP/MISF"
        with outputs() as put:
            for kind in ("svg", "png"):
                put(output / f"scaling.{kind}", draw_scaling(points, title, kind))
    document = {"robot": arm.name, "rows": Results(POINTS, points).documents}
    title = f"{arm.name} on {place.title}: µs per torque vector"
    note = f"written to {output}" if output else ""
    print_result(document, f"{title}\n{scaling_text(points)}", note)


@command.command(epilog="Example: boolcomp schedule paper zomaya")
@click.argument("name", shell_complete=completes("parallel.places:PAPERS"))
@json_option
def paper(name: str) -> None:
    """Compare the figures of a paper with reproduced ones.

    Papers: machado, zomaya, zeng, zalzala, schaefer.
    """
    from boolcomp.parallel.simulation import FINDINGS

    findings = Results(FINDINGS, findings_of(name))
    text = tabled(findings, "place, figure, printed, ours,  ")
    print_result({"paper": name, "findings": findings.documents}, text)


def findings_of(name: str) -> tuple[Finding, ...]:
    """Return the figures of a paper, with what other rooms calculate for them."""
    from boolcomp.parallel.machado import LOAD_BITS, LOADS, machado_findings
    from boolcomp.parallel.papers import reproduce
    from boolcomp.parallel.places import PAPERS
    from boolcomp.parallel.registry import count_findings, task_graph
    from boolcomp.problem.robot.library import load_robot

    require_name("paper", name, PAPERS)
    if name == "machado":
        arm = load_robot("machado-2r")
        made = covered(arm, 8)[0]
        plans: dict[str, Any] = {plan.output.symbol: plan for plan in made.plan.outputs}
        plans |= {plan.term.name: plan for plan in made.plan.terms}
        library = [tables_of(one) for one in covered(arm, LOAD_BITS, LOADS)]
        return tuple(machado_findings(plans, tables_of(made), library))
    cycle = None
    if name == "schaefer":
        cycle = task_graph("symbolic-forward", load_robot("stanford")).graph
    return (*count_findings(name), *reproduce(name, cycle))


def _older(**values: Any) -> None:
    """Run the command line of the older spelling, in which all options belong to one command."""
    context = click.get_current_context()
    name, robot, execute = values["paper"], values["robot"], values["execute"]
    kinds = [chart] if values["chart"] else [simulate, run]
    fit, where = {"chart", *(x.name for kind in kinds for x in kind.params)}, "without --run"
    if name is not None:
        fit, where = {"paper", "robot", "as_json"}, f"with --paper {name}"
    elif values["chart"]:
        names = [x.name for x in chart.params if x.name and x.expose_value]
        where = "with --chart, which has all methods"
    else:
        fit = fit | {"execute"} if execute else fit - {"engine", "samples"}
    for parameter in context.command.params:
        if parameter.name not in fit and given(context, parameter.name or ""):
            raise UsageError(f"{parameter.opts[-1]} has no effect {where}")
    if name is not None:
        if robot is not None:
            raise UsageError(f"--paper {name} takes no robot", "leave out the robot, or --paper")
        context.invoke(paper, name=name)
    elif robot is None:
        raise UsageError("missing robot", "give its name or file, or a sub-command, such as paper")
    elif values["chart"]:
        names = [x.name for x in chart.params if x.name and x.expose_value]
        context.invoke(chart, **{name: values.get(name) for name in names})
    else:
        request = ScheduleRequest(
            **{name: values[name] for name in ScheduleRequest.__dataclass_fields__}
        )
        measured = (values["engine"], values["samples"]) if execute else None
        more = values["points"], values["bits"], values["output"], measured
        _one(request, *more)


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
    request: ScheduleRequest,
    points: int | None,
    bits: int,
    output: Path | None,
    measured: tuple[str, int] | None,
) -> None:
    """Make and print one schedule; `measured`, an engine and a number of samples, also runs it."""
    from boolcomp.parallel.machine import load_machine
    from boolcomp.parallel.pages import (
        schedule_document,
        schedule_page,
        schedule_text,
        vectors_text,
    )
    from boolcomp.parallel.simulation import gantt_svg, pipelined
    from boolcomp.problem.robot.library import load_robot

    arm, machine = load_robot(request.robot), load_machine(request.machine)
    _check(request.method, measured)
    recorded, graph = graph_of(request, arm, bits)
    schedule = scheduled(request, graph, machine)
    pipeline = None
    if points is not None:
        within("--points", points, 1, MOST_STEPS // max(1, len(graph.tasks)))
        pipeline = pipelined(graph, schedule.assignment, machine, points)
    done = None if measured is None else executed(request, recorded, schedule, arm, *measured)
    if output is not None:
        with outputs() as put:
            put(output / "gantt.svg", gantt_svg(schedule))
            put(output / "schedule.html", schedule_page(schedule, request.method))
    vectors = vectors_of(schedule, graph, recorded)
    document = schedule_document(schedule, graph, machine, vectors, pipeline, done)
    lines = [schedule_text(schedule, graph, machine, request.method, brief=not wants_all())]
    if request.assignment is not None:
        lines.append(vectors_text(vectors))
    if pipeline is not None:
        lines.append(str(pipeline))
    if done is not None:
        lines.append(
            f"{done}\n{done.samples} samples, minimum of {done.rounds} rounds, largest difference "
            f"from Newton-Euler {done.relative_error:.1e} of the largest torque; simulated "
            f"speed-up on {schedule.machine} {schedule.speedup:.2f}"
        )
    print_result(document, "\n".join(lines), f"written to {output}" if output else "")


def _check(method: str, measured: tuple[str, int] | None) -> None:
    """Raise a `UsageError` for options without effect on this method, and for invalid values."""
    from boolcomp.parallel.execute import check_engine
    from boolcomp.parallel.registry import method_named

    if measured is not None:
        engine, samples = measured
        within("--samples", samples, 1, MOST_SAMPLES)
        check_engine(engine)
    why = "it has tables" if method == "boolean" else "it always folds constants"
    context = click.get_current_context()
    for name, nothing, where in (
        ("folded", not method_named(method).literal, f"--method {method}: {why}"),
        ("bits", method != "boolean", f"--method {method}: only boolean has tables"),
        ("scheduler", given(context, "assignment"), "--assignment, which replaces it"),
    ):
        if nothing and given(context, name):
            raise UsageError(f"--{name} has no effect with {where}")
