"""`boolcomp simulate`: an arm in closed loop, with exact torques or torques by logic."""

from __future__ import annotations

import functools
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from boolcomp.base.errors import UsageError, shown
from boolcomp.base.files import check_place, is_folder, write_output
from boolcomp.commands.options import (
    ROBOTS,
    FilePath,
    LongHelp,
    chain_options,
    changed,
    check_robot,
    completes,
    json_option,
    numbers,
    option,
    options,
    print_result,
    refuse_given,
    wants_all,
    within,
)
from boolcomp.commands.output import share

if TYPE_CHECKING:
    from boolcomp.measure.control import Study
    from boolcomp.options import GivenOptions
    from boolcomp.problem.problem import Problem
    from boolcomp.program.program import Program

COMPILED = ("modes", "bits", "law", "words", "effort")
ENDINGS = (".html", ".svg", ".png", ".csv")


LOOP = (
    option("--time", "seconds", default=10.0, show_default=True, heading="Loop",
           help="Simulated time in s."),
    option("--rate", type=float, heading="Loop",
           help="Control rate in Hz [default: that of the robot, or 1000]"),
    option("--encoder-bits", type=click.IntRange(4, 40), heading="Loop", brief=False,
           help="Encoder bits per turn, or per range of a sliding joint [default: encoder_step of "
           "the robot, or exact]"),
    option("--speeds", metavar="exact|difference|filtered", heading="Loop", brief=False,
           help="Speed measurement [default: filtered with encoders]"),
    option("--cutoff", default=50.0, show_default=True, heading="Loop", brief=False,
           help="Cutoff of the speed filter in Hz."),
    option("--friction", metavar="compensated|uncompensated|none", default="compensated",
           show_default=True, heading="Loop", brief=False,
           help="Friction of the robot; compensated: added exactly."),
    option("--bandwidth", default=10.0, show_default=True, heading="Loop", brief=False,
           help="Bandwidth of the loop in rad/s."),
    option("--damping", default=1.0, show_default=True, heading="Loop", brief=False,
           help="Damping ratio of the loop."),
    option("--integrator", default="runge-kutta", show_default=True, heading="Loop", brief=False,
           help="Steps of the arm: runge-kutta (fourth order), adams-moulton (second).",
           shell_complete=completes("measure.control_loop:INTEGRATORS")),
)  # drives, friction and gains: the fields of `LoopSettings`  # fmt: skip


@click.command(
    "simulate", cls=LongHelp,
    epilog="Example: boolcomp simulate machado-2r -t point -t circle --bits 4-10",
)  # fmt: skip
@click.argument("source", metavar="ROBOT|PROGRAM", shell_complete=ROBOTS)
@chain_options("source")
@options(
    option("--robot", "arm", help="The robot of a PROGRAM [default: found by its name]",
           heading="What", brief=False),
    option("-t", "--trajectory", "trajectories", multiple=True, default=("point",),
           show_default=True, heading="Loop", help="point, circle, sine, hold or FILE.csv; "
           "repeatable. sine:amplitude=.1:frequency=1."),
    option("--bits", default="4-10", show_default=True, heading="Words",
           help="Word lengths: 4-12 or 4,8,12."),
    option("--mode", "modes", default="compact", show_default=True, heading="What",
           help="paper, compact, rounded (ideal logic), several with commas; both, all; exact "
           "only.", shell_complete=completes("both all paper compact rounded exact")),
    option("--controller", "law", default="computed-torque", show_default=True, heading="Loop",
           help="computed-torque, pd-gravity, MODULE:FUNCTION or FILE.py:FUNCTION (Python code to "
           "run)."),
    *LOOP,
    option("--tolerance", default=1e-3, show_default=True, heading="Accuracy",
           help="Largest tracking error, in rad or m."),
    option("--tip-tolerance", "at_tip", default=1e-3, show_default=True, heading="Accuracy",
           help="Largest tip error in m."),
    changed("words", help="Word format as in compile (compact mode): tau=twos:tread.",
            brief=False),
    changed("effort", help="Search budget as in compile.", default=None),
    option("-o", "--output", type=FilePath(),
           help="Page (.html), picture (.svg, .png) or rows (.csv)."),
    json_option,
)  # fmt: skip
@click.pass_context
def command(
    context: click.Context, /, source: str, *, options: GivenOptions, arm: str | None,
    trajectories: tuple[str, ...], bits: str, modes: str, law: str, tolerance: float,
    at_tip: float, output: Path | None, **loop: Any,
) -> None:  # fmt: skip
    """Simulate an arm that follows trajectories with torques by exact arithmetic and by logic.

    For a ROBOT, inverse dynamics (with pd-gravity: gravity) is compiled at all --bits, or read from
    the store. A PROGRAM (a folder made by compile) is simulated unchanged: inverse dynamics,
    gravity, or a whole control law with inputs named q1, qd1, qr1, qdr1, qddr1, e1, de1. The robot
    file gives control rate, torque limits, friction and encoders. Exact arithmetic is always
    simulated for comparison.
    """
    from boolcomp.measure.control import (
        LoopSettings,
        StudyRequest,
        is_python,
        modes_of,
        simulated,
        text_table,
    )
    from boolcomp.measure.solved import shipped_or_refused
    from boolcomp.problem.robot.library import load_robot
    from boolcomp.problem.words import LEAST_BITS, MOST_BITS
    from boolcomp.program.files import load_program

    settings = LoopSettings(**loop)
    _check(output, tolerance, at_tip)
    if source and is_folder(Path(source)):
        refuse_given(context, COMPILED, f"{source} is a compiled program")
        what: Any = load_program(source)
        robot = load_robot(arm or shipped_or_refused(source, what.name))
    else:
        if arm is not None:
            raise UsageError(
                f"--robot needs a PROGRAM, but {shown(source)} is a robot", "leave out --robot"
            )
        check_robot(source)
        robot, lengths = load_robot(source), () if is_python(law) else numbers("--bits", bits)
        for length in lengths:
            within("--bits", length, LEAST_BITS, MOST_BITS)
        what = StudyRequest(
            robot, law, modes_of(modes), lengths, functools.partial(_compiled, options),
            options.values["words"], share,
        )  # fmt: skip
    found = simulated(what, robot, settings, trajectories, share)
    if output is not None:
        _write(found, output, (tolerance, at_tip))
    text = text_table(found, tolerance, at_tip, brief=not wants_all())
    print_result(_document(found, tolerance, at_tip), text)


def _check(output: Path | None, tolerance: float, at_tip: float) -> None:
    """Check the tolerances, and that the output can be written."""
    if output is not None and output.suffix not in ENDINGS:
        raise UsageError(f"-o {output} has an unknown ending", "use .html, .svg, .png or .csv")
    if output is not None:
        check_place(output)
    for name, value in (("--tolerance", tolerance), ("--tip-tolerance", at_tip)):
        if not value > 0:
            raise UsageError(f"{name} must be above 0, not {value:g}")


def _compiled(options: GivenOptions, problem: Problem, bits: int) -> Program:
    """Return a program of compact mode, from the store or searched with a progress display."""
    from boolcomp.commands.compile import search_progress
    from boolcomp.pipeline import compile_compact

    with share(f"{problem.name} at {bits} bits: searching") as show:
        # The problem has the formats of words already.
        choices = options.compact(bits, words={}, progress=search_progress(show))
        return compile_compact(problem, choices).program


def _write(found: Study, output: Path, tolerances: tuple[float, float]) -> None:
    if output.suffix == ".csv":
        from boolcomp.measure.control import results

        write_output(output, results(found.rows).csv)
        return
    if output.suffix == ".html":
        from boolcomp.measure.control import page

        command_line = " ".join(["boolcomp", *map(shlex.quote, sys.argv[1:])])
        write_output(output, page(found, tolerances, command_line))
        return
    from boolcomp.measure.control import draw

    write_output(output, draw(found, tolerances[0], output.suffix[1:]))


def _document(found: Study, tolerance: float, at_tip: float) -> dict[str, Any]:
    from boolcomp.measure.control import enough, results

    drive = found.loop.drive
    return {
        "robot": found.loop.plant.robot.name,
        "controller": found.loop.law.kind,
        "seconds": found.seconds,
        "rate": drive.rate,
        "speeds": drive.speeds,
        "encoder_steps": list(drive.steps),
        "torque_limits": list(drive.limits),
        "steps_a_period": found.loop.plant.steps(drive.period),
        "kind": "simulated",
        "tolerance": tolerance,
        "enough_bits": enough(found.rows, tolerance),
        "tip_tolerance": at_tip,
        "enough_bits_tip": enough(found.rows, at_tip, tip=True),
        "rows": results(found.rows).documents,
    }
