"""`boolcomp cycles`: what a program costs on microcontrollers and on this machine."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from boolcomp.base.errors import DataError, UsageError, listing
from boolcomp.commands.options import json_option, print_json, within
from boolcomp.commands.output import progress

if TYPE_CHECKING:
    from boolcomp.measure.cycles.rivals import Subject
    from boolcomp.problem.problem import Problem
    from boolcomp.problem.robot.model import Robot
    from boolcomp.program.program import Program

USUAL = "avr,cortex-m0,cortex-m3,host"
MOST_STATES = 2000  # that a microcontroller's flash holds


@click.command("cycles", epilog="Example: boolcomp cycles out/2r --on avr,cortex-m3")
@click.argument("program")
@click.option("--on", "--target", "targets", default=USUAL, show_default=True, help="Boards.")
@click.option("--states", default=100, show_default=True, help="Random states.")
@click.option("--seed", default=14, show_default=True, help="Of the random states.")
@click.option("--load", type=float, help="Tip load in kg, of a program that has several.")
@click.option("--robot", "arm", help="The program's robot, where its name does not say it.")
@click.option("--words-only", is_flag=True, help="Leave out float and fixed point.")
@click.option("--deadline", default=120.0, show_default=True, help="Seconds a tool may take.")
@json_option
def command(
    program: str,
    *,
    targets: str,
    states: int,
    seed: int,
    load: float | None,
    arm: str | None,
    words_only: bool,
    deadline: float,
    as_json: bool,
) -> None:
    """Run PROGRAM (a folder made by compile) in C on boards, beside float and fixed point.

    Cycles of an AVR are exact (simavr); of Cortex-M0 and M3 instructions are (QEMU), and cycles
    are those of a model; the host has a clock. Each is the mean of random states, calls included.
    Every output word is compared with the program's logic: exit code 1 where one is wrong. Bytes of
    flash and RAM are the robot's own code, tables and stack. What is not installed is named.
    """
    from boolcomp.measure.cycles.rivals import boards, cycles_rows, text_report
    from boolcomp.program.files import load_program

    within("--states", states, 1, MOST_STATES)
    within("--seed", seed, 0, 2**32 - 1)
    if not 0 < deadline <= 3600:
        raise UsageError(f"--deadline {deadline:g}: more than 0, at most 3600")
    chosen = boards([name.strip() for name in targets.split(",")])
    subject = subject_of(load_program(program), program, load, arm, states, seed)
    with progress("measuring", None) as step:
        rows = cycles_rows(subject, chosen, step, deadline, rivalled=not words_only)
    if as_json:
        about = {board.name: board.about for board in chosen}
        print_json({"program": program, "states": states, "seed": seed, "targets": about,
                    "rows": [row.document() for row in rows]})  # fmt: skip
    else:
        click.echo(text_report(rows))
    if all(row.skipped for row in rows):
        raise DataError(f"{program}: nothing was measured: all was skipped")
    if wrong := [f"{row.design} on {row.target}" for row in rows if row.wrong]:
        raise DataError(f"{program}: wrong words were made: {listing(wrong)}")


def subject_of(
    program: Program, place: str, load: float | None, arm: str | None, states: int, seed: int
) -> Subject:
    """Return what is measured; its robot where that ships or is named."""
    from boolcomp.measure.cycles.rivals import Subject

    if load is None and len(program.loads) > 1:
        known = listing(f"{payload:g}" for payload in program.payloads)
        raise UsageError(f"{place} has loads of {known} kg: say which with --load")
    payload = program.load(load).payload
    problem, robot = _solved(program, place, payload, arm)
    return Subject(program, payload, problem, robot, states, seed)


def _solved(
    program: Program, place: str, payload: float, arm: str | None
) -> tuple[Problem | None, Robot | None]:
    """Return the problem that a program solves, and its robot, as far as they are known."""
    from boolcomp.problem.functions import USUAL as DYNAMICS
    from boolcomp.problem.functions import function_of, robot_problem
    from boolcomp.problem.problem import Problem
    from boolcomp.problem.robot.library import robot_names
    from boolcomp.problem.robot.model import with_payload
    from boolcomp.problem.sources import load_source, problem_of

    names = [x for x in robot_names() if program.name == x or _of(program, x) != DYNAMICS]
    if arm is None and not names:
        return None, None
    loaded = load_source(arm or names[0])
    if isinstance(loaded, Problem):
        problem, robot = problem_of(loaded, mass=payload), None
    else:
        robot = with_payload(loaded, payload)
        problem = robot_problem(robot, function_of(program.name, loaded.name))
    if (problem.name, len(problem.outputs)) != (program.name, len(program.outputs)):
        raise UsageError(
            f"{place} was compiled for {program.name} with {len(program.outputs)} outputs, not "
            f"for {problem.name} with {len(problem.outputs)}: say its robot with --robot"
        )
    return problem, robot


def _of(program: Program, robot: str) -> str:
    from boolcomp.problem.functions import function_of

    return function_of(program.name, robot)
