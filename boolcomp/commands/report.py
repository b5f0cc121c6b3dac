"""`boolcomp report`: error and size against word length, as table, pictures and page."""

from __future__ import annotations

import shlex
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from boolcomp.base.errors import UsageError, listing, require_name
from boolcomp.base.files import check_place, is_file
from boolcomp.commands.options import (
    ROBOTS,
    FilePath,
    LongHelp,
    chain_options,
    changed,
    completes,
    given,
    json_option,
    numbers,
    option,
    options,
    payload_option,
    print_result,
    refuse_given,
    refuse_others,
    wants_all,
    within,
)
from boolcomp.commands.output import progress
from boolcomp.options import DEMAND, OPTIONS
from boolcomp.problem.sources import problem_of

if TYPE_CHECKING:
    from boolcomp.base.workers import Workers
    from boolcomp.measure.report import ReportRequest
    from boolcomp.measure.report_page import ReportFolder
    from boolcomp.options import GivenOptions
    from boolcomp.paper.covers import CoverStore
    from boolcomp.problem.problem import Problem
    from boolcomp.program.program import Program

PROGRAM_ONLY = ("payload", "arm")
ROBOT_ONLY = (
    *(name for name, one in OPTIONS.items() if (one.mode or one.group == "function")
      and name != "seed"),
    "mode", "bits", "extra", "logic", "widest",
)  # fmt: skip
OF_DEMAND = [  # without options of compilation alone; here --seed is the seed of the samples
    name for name, one in OPTIONS.items()
    if one.group in DEMAND and name not in {"error", "seed", "words", "certify", "approximate"}
]  # fmt: skip
MODES = ("both", "paper", "compact")
MOST_INPUT_BITS = 24  # of a table


@dataclass(frozen=True, slots=True)
class SampleOptions:
    """Number and seed of the random states, and evaluations of the search (None: the default).

    `across` are the specified inputs of maps; `beside` are files of other measurements.
    """

    samples: int
    seed: int
    evaluations: int | None
    across: str | None = None
    beside: tuple[Path, ...] = ()


STATES = (
    option("--samples", default=1_000_000, show_default=True, help="Random states.",
           heading="Accuracy"),
    option("--seed", default=0, show_default=True, help="Seed of the random states.",
           heading="Accuracy"),
    option("--evaluations", type=click.IntRange(0, 10**9), heading="Accuracy",
           help="Evaluations of the search for the largest error; 0: no search [default: 20000000; "
           "1000000 for plans]"),
    option("--map", "across", metavar="X,Y", help="Inputs of error maps [default: chosen]",
           brief=False),
    option("--beside", type=FilePath(), multiple=True, brief=False,
           help="JSON of bench, area or benchmarks/codes.py, also shown on the page."),
)  # fmt: skip


@click.command(
    "report", cls=LongHelp,
    epilog="Example: boolcomp report machado-2r --bits 4-8 --samples 1000000",
)  # fmt: skip
@click.argument("source", metavar="ROBOT|FUNCTION|PROGRAM", shell_complete=ROBOTS)
@options(
    "function", chain_options("source"),
    option("--mode", default="compact", show_default=True, help="Modes (robots).", heading="What",
           metavar="compact|paper|both", shell_complete=completes("compact paper both")),
    "code", "splits", "rounding", "signs", "sums",
    option("--bits", default="4-12", show_default=True, heading="Words",
           help="Word lengths: 8, 4-12 or 4,6,8."),
    option("--extra", default="0-2", show_default=True, heading="Paper mode", brief=False,
           help="Guard bits beyond the paper's m."),
    *STATES, "minimizer", changed("deadline", default=10.0),
    option("--logic/--no-logic", default=True, help="Also compile the logic (slower).",
           heading="Run"),
    option("--widest", default=18, show_default=True, heading="Paper mode", brief=False,
           help="Most input bits of a minimised table."),
    "work", *OF_DEMAND,
    payload_option("payload", help="Payload in kg of a PROGRAM; a range, 0..5, as an input."),
    option("--robot", "arm", help="The robot of a PROGRAM [default: found by its name]",
           heading="What", brief=False),
    "store",
    option("-o", "--output", type=FilePath(), help="Folder [out/report-NAME]"),
    json_option,
)  # fmt: skip
@click.pass_context
def command(
    context: click.Context, /, source: str, *, options: GivenOptions, mode: str, bits: str,
    extra: str, logic: bool, widest: int, payload: float | None, arm: str | None,
    output: Path | None, **drawn: Any,
) -> None:  # fmt: skip
    """Measure torques by logic against Newton-Euler, of ROBOT over word lengths or of PROGRAM.

    Errors are relative to exact torques of the unquantised inputs. 'found' is the largest error
    found by search; 'proved' is a limit for all inputs within their ranges (in paper mode unless
    the torque saturates). 'm' is the number of guard bits of the paper's terms, (+1) one more than
    its rule gives. 'LUT3' counts the nodes of all torques. --no-logic leaves out product terms and
    compact mode. The default word length of a FUNCTION (a file of expressions) is that of the file.
    """
    from boolcomp.base.pages import require_charts
    from boolcomp.base.workers import all_cores
    from boolcomp.measure.report import documents
    from boolcomp.measure.report_page import ReportFolder, page_facts, read_beside, text_table

    within("--widest", widest, 0, MOST_INPUT_BITS)
    require_charts()
    if output is not None:
        check_place(output / "report.html")
    require_name("mode", mode, MODES)
    states, workers = SampleOptions(**drawn), options.workers or all_cores()
    sections = read_beside(states.beside)

    def written(name: str) -> ReportFolder:
        line = shlex.join(["boolcomp", *sys.argv[1:]])
        facts = page_facts(name, line, states.samples, states.seed)
        return ReportFolder(output or Path("out") / f"report-{name}", facts, sections)

    if is_file(Path(source) / "program.json"):
        refuse_given(context, ROBOT_ONLY, f"{source} is a compiled program")
        name = Path(source).name
        folder = written(name)
        with workers.opened() as opened:
            _of_program(source, arm, payload, states, folder, opened)
    else:
        refuse_given(context, PROGRAM_ONLY, f"{source} is not a program folder")
        from boolcomp.measure.report import SEARCHED, ReportRequest
        from boolcomp.program.program import MODES as COMPILED

        if logic and mode != "both":
            refuse_others(context, mode)
        problem = problem_of(source, options.of)
        if problem.bits is not None and not given(context, "bits"):
            bits = str(problem.bits)
        modes = tuple(one for one in COMPILED if mode in {one, "both"})
        request = ReportRequest(
            numbers("--bits", bits), modes if logic else ("paper",), numbers("--extra", extra),
            options.plan(), options.recipe if logic else None, widest, options.compact, workers,
            SEARCHED if states.evaluations is None else states.evaluations,
        )  # fmt: skip
        name = problem.name
        folder = written(name)
        _of_problem(problem, request, options.covers, states, folder)
        if not folder.rows:
            raise UsageError(
                "the report is empty", "the warnings above name the reasons", where=problem.name
            )
    document = {"robot": name, "samples": states.samples, "rows": documents(folder.rows)}
    text = text_table(folder.rows, states.samples, brief=not wants_all())
    print_result(document, f"{name}: {text}", f"page: {folder.folder / 'report.html'}")


def _of_problem(
    problem: Problem,
    request: ReportRequest,
    store: CoverStore,
    drawn: SampleOptions,
    written: ReportFolder,
) -> None:
    from boolcomp.measure.report import draw_samples, report_rows

    with progress("measuring", request.steps) as step:
        states = draw_samples(problem, drawn.samples, drawn.seed)
        with written.of(states, drawn.across, request.bits) as pictured:
            report_rows(states, request, store, step, pictured)


def _of_program(
    source: str,
    arm: str | None,
    payload: float | None,
    drawn: SampleOptions,
    written: ReportFolder,
    workers: Workers,
) -> None:
    from boolcomp.measure.report import draw_samples, measure_program
    from boolcomp.measure.solved import shipped_or_refused, solved_problem
    from boolcomp.program.files import load_program

    program = load_program(source)
    name = arm or shipped_or_refused(source, program.name)
    mass = _payload(program, payload)
    problem, _ = solved_problem(program, source, name, mass)
    with progress("measuring", None):
        states = draw_samples(problem, drawn.samples, drawn.seed)
        with written.of(states, drawn.across, (program.bits,)) as pictured:
            measure_program(program, pictured, mass, drawn.evaluations, workers)


def _payload(program: Program, payload: float | None) -> float:
    if payload is None and len(program.payloads) > 1:
        masses = listing(f"{mass:g}" for mass in program.payloads)
        raise UsageError(f"this program has payloads {masses} kg", "select one with --payload")
    return program.load(payload).payload
