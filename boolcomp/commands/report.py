"""`boolcomp report`: error versus bits, as table, pictures and page."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from boolcomp.base.errors import UsageError, listing, shown, suggestion
from boolcomp.base.files import check_place, is_file
from boolcomp.commands.options import (
    FUNCTION,
    ONLY_COMPACT,
    ONLY_MINIMISED,
    ONLY_PAPER,
    FilePath,
    chain_options,
    demand_options,
    function_options,
    given,
    json_option,
    minimiser_options,
    numbers,
    plan_options,
    print_json,
    shipped_or_refused,
    store_option,
    within,
)
from boolcomp.commands.output import progress
from boolcomp.problem.functions import function_of, robot_problem
from boolcomp.problem.problem import Problem
from boolcomp.problem.robot.model import with_payload
from boolcomp.problem.sources import load_source, problem_of

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np
    from numpy.typing import NDArray

    from boolcomp.base.workers import Workers
    from boolcomp.commands.options import CompactOptions
    from boolcomp.measure.report.page import Asked, Written
    from boolcomp.measure.report.rows import Look, Question
    from boolcomp.paper.covers import Store
    from boolcomp.paper.plan import Options
    from boolcomp.program.program import Program
    from boolcomp.twolevel.minimisation import Recipe

    Floats = NDArray[np.float64]

# Options that make no sense of the other kind of source, by the names that click gives them.
PROGRAM_ONLY = {"payload": "--payload", "arm": "--robot"}
ROBOT_ONLY = {
    **ONLY_PAPER, **ONLY_MINIMISED, **ONLY_COMPACT, **FUNCTION, "mode": "--mode",
    "bits": "--bits", "extra": "--extra", "logic": "--no-logic", "widest": "--widest",
}  # fmt: skip
del ROBOT_ONLY["guard_bits"], ROBOT_ONLY["seed"]  # --seed is that of the samples
MODES = ("both", "paper", "compact")
MOST_INPUT_BITS = 24  # of a table


@dataclass(frozen=True, slots=True)
class Drawn:
    """How many states are drawn and from what seed; how many seek the worst error, None: usual.

    `across` are the inputs of maps, if they were named; `beside` are files of other measurements.
    """

    samples: int
    seed: int
    evaluations: int | None
    across: str | None = None
    beside: tuple[Path, ...] = ()


def state_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add --samples, --seed, --evaluations, --map and --beside, and hand them on as `Drawn`."""

    @click.option("--samples", default=1_000_000, show_default=True, help="Random states.")
    @click.option("--seed", default=0, show_default=True, help="Of the random states.")
    @click.option(
        "--evaluations",
        type=click.IntRange(0, 10**9),
        help="That seek the worst error; 0: no search [default: 20000000, of a plan 1000000]",
    )
    @click.option("--map", "across", metavar="X,Y", help="Inputs of error maps [default: chosen]")
    @click.option(
        "--beside",
        type=FilePath(),
        multiple=True,
        help="JSON of bench, area or benchmarks/codes.py, to show as well.",
    )
    @functools.wraps(function)
    def wrapped(
        *args: Any, samples: int, seed: int, evaluations: int | None, across: str | None,
        beside: tuple[Path, ...], **more: Any,
    ) -> Any:  # fmt: skip
        drawn = Drawn(samples, seed, evaluations, across, beside)
        return function(*args, drawn=drawn, **more)

    return wrapped


@click.command("report", epilog="Example: boolcomp report machado-2r --bits 4-8 --samples 1000000")
@click.argument("source", metavar="ROBOT|FUNCTION|PROGRAM")
@function_options
@chain_options("source")
@click.option("--mode", default="both", show_default=True, help="Of a robot: both, paper, compact.")
@plan_options(bits=False)
@click.option("--bits", default="4-12", show_default=True, help="Word lengths: 8, 4-12 or 4,6,8.")
@click.option("--extra", default="0-2", show_default=True, help="Guard bits beyond the paper's m.")
@state_options
@minimiser_options("--minimizer", deadline=10.0)
@click.option("--logic/--no-logic", default=True, help="Make the logic too (takes longer).")
@click.option("--widest", default=18, show_default=True, help="Input bits that are minimised.")
@demand_options(seed=False)
@click.option("--payload", type=float, help="Of a program: tip load in kg.")
@click.option("--robot", "arm", help="Of a program: its robot, where its name does not say it.")
@store_option
@click.option("-o", "--output", type=FilePath(), help="Folder [out/report-NAME]")
@json_option
@click.pass_context
def command(
    context: click.Context,
    source: str,
    *,
    of: str,
    mode: str,
    options: Options,
    bits: str,
    extra: str,
    drawn: Drawn,
    recipe: Recipe,
    logic: bool,
    widest: int,
    choices: CompactOptions,
    payload: float | None,
    arm: str | None,
    store: Store,
    output: Path | None,
    as_json: bool,
) -> None:
    """Measure torques by logic against Newton-Euler: of ROBOT over word lengths, or of PROGRAM.

    Errors are against exact torques of the unquantised inputs; 'own' is the part that remains
    against exact torques of the inputs in their finest cells. 'sampled max' is that of random
    states, 'worst found' that of a search, not proved. 'bound' is proved: no input within
    its range errs more (in paper mode unless the torque saturates). 'm' are the guard bits
    of the paper's terms, (+1) one more than its rule gives. 'nodes' are those of all torques.
    --no-logic leaves out what has to be compiled: product terms and compact mode. Of a FUNCTION
    (a file of expressions) errors are against its exact values; its own word length is taken.
    """
    from boolcomp.base.charts import require_charts, require_matplotlib
    from boolcomp.base.workers import all_cores
    from boolcomp.measure.report.page import Written, read_beside

    within("--widest", widest, 0, MOST_INPUT_BITS)
    require_matplotlib()
    require_charts()
    if output is not None:
        check_place(output / "report.html")
    if mode not in MODES:
        raise UsageError(f"mode {shown(mode)}{suggestion(mode, MODES)}: modes are {listing(MODES)}")
    sections = read_beside(drawn.beside)
    if is_file(Path(source) / "program.json"):
        _refuse(context, ROBOT_ONLY, f"{source} is a program, compiled already")
        name = Path(source).name
        written = Written(output or Path("out") / f"report-{name}", _asked(name, drawn), sections)
        with (choices.workers or all_cores()).opened() as workers:
            _of_program(source, arm, payload, drawn, written, workers)
    else:
        _refuse(context, PROGRAM_ONLY, f"{source} is no program's folder")
        from boolcomp.measure.report.rows import SEARCHED, Question
        from boolcomp.program.program import MODES as COMPILED
        from boolcomp.proof.bound.meaning import grade_of

        problem = problem_of(source, of)
        if problem.bits is not None and not given(context, "bits"):
            bits = str(problem.bits)
        modes = tuple(one for one in COMPILED if mode in {one, "both"})
        grade = None if choices.proof is None else grade_of(choices.proof)
        question = Question(
            numbers("--bits", bits), modes if logic else ("paper",), numbers("--extra", extra),
            options, recipe if logic else None, widest, choices.demand,
            choices.workers or all_cores(),
            SEARCHED if drawn.evaluations is None else drawn.evaluations, grade,
            choices.proof_effort,
        )  # fmt: skip
        name = problem.name
        written = Written(output or Path("out") / f"report-{name}", _asked(name, drawn), sections)
        _of_problem(problem, question, store, drawn, written)
        if not written.rows:
            raise UsageError(f"{problem.name}: nothing to report: see the warnings above")
    if as_json:
        from boolcomp.measure.report.rows import documents

        rows = documents(written.rows)
        print_json({"robot": name, "samples": drawn.samples, "rows": rows})
    else:
        from boolcomp.measure.report.page import text_table

        click.echo(text_table(written.rows, drawn.samples))
        click.echo(f"written to {written.folder}", err=True)


def _asked(name: str, drawn: Drawn) -> Asked:
    """Return what the page says of the command that it is of."""
    import platform
    import shlex
    import sys
    from datetime import UTC, datetime

    from boolcomp.base.pages import Fact
    from boolcomp.base.version import VERSION
    from boolcomp.measure.report.page import Asked

    python = f"Python {platform.python_version()}"
    facts = (
        Fact("command", shlex.join(["boolcomp", *sys.argv[1:]]), copied=True),
        Fact("what", name),
        Fact("states", f"{drawn.samples:,} random ones, seed {drawn.seed}"),
        Fact("boolcomp", VERSION),
        Fact("date", datetime.now(tz=UTC).date().isoformat()),
        Fact("machine", f"{platform.system()}, {platform.machine()}, {python}"),
    )
    return Asked(name, facts, drawn.samples, drawn.seed)


def _refuse(context: click.Context, names: dict[str, str], why: str) -> None:
    """Raise a `UsageError` for the first of these options that was given."""
    for name, option in names.items():
        if given(context, name):
            raise UsageError(f"{option} means nothing here: {why}")


def _of_problem(
    problem: Problem, question: Question, store: Store, drawn: Drawn, written: Written
) -> None:
    from boolcomp.measure.report.rows import draw_samples, report_rows

    with progress("measuring", question.steps) as step:
        states = draw_samples(problem, drawn.samples, drawn.seed)
        with written.of(states, drawn.across, question.bits) as pictured:
            report_rows(states, question, store, step, pictured)


def _of_program(
    source: str,
    arm: str | None,
    payload: float | None,
    drawn: Drawn,
    written: Written,
    workers: Workers,
) -> None:
    from boolcomp.measure.report.rows import draw_samples, look_of, program_rows
    from boolcomp.program.files import load_program
    from boolcomp.proof.worst import EVALUATIONS

    program = load_program(source)
    loaded = load_source(arm or shipped_or_refused(source, program.name))
    mass = _payload(program, payload)
    if isinstance(loaded, Problem):
        problem = problem_of(loaded, mass=mass)
    else:
        problem = robot_problem(with_payload(loaded, mass), function_of(program.name, loaded.name))
    if (problem.name, len(problem.outputs)) != (program.name, len(program.outputs)):
        raise UsageError(
            f"{source} was compiled for {program.name} with {len(program.outputs)} "
            f"{problem.places if problem.places == 'joints' else problem.plural}, "
            f"not for {problem.name} with {len(problem.outputs)}: say with --robot"
        )
    with progress("measuring", None):
        states = draw_samples(problem, drawn.samples, drawn.seed)
        searched = EVALUATIONS if drawn.evaluations is None else drawn.evaluations
        with written.of(states, drawn.across, (program.bits,)) as pictured:
            looks: list[Look] = []

            def seen(errors: Floats) -> None:
                looks.append(look_of(program, pictured.surveyor, errors, mass))

            rows = program_rows(
                program, states, mass, evaluations=searched, seen=seen, workers=workers
            )
            pictured.add(rows, *looks)


def _payload(program: Program, payload: float | None) -> float:
    if payload is None and len(program.payloads) > 1:
        masses = listing(f"{mass:g}" for mass in program.payloads)
        raise UsageError(f"this program has payloads {masses} kg: say which with --payload")
    return program.load(payload).payload
