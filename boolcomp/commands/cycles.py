"""`boolcomp cycles`: cycles and memory of a program on microcontrollers and on this machine."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from boolcomp.base.errors import DataError, UsageError, listing
from boolcomp.commands.options import (
    FILES,
    completes,
    json_option,
    option,
    payload_option,
    print_result,
    wants_all,
    within,
)
from boolcomp.commands.output import progress

if TYPE_CHECKING:
    from boolcomp.measure.cycles import Subject
    from boolcomp.problem.problem import Problem
    from boolcomp.problem.robot.model import Robot
    from boolcomp.program.program import Program

USUAL = "avr,cortex-m0,cortex-m3,host"
MOST_STATES = 2000  # limited by the flash of a microcontroller


@click.command("cycles", epilog="Example: boolcomp cycles out/2r --on avr,cortex-m3")
@click.argument("program", shell_complete=FILES)
@option("--on", "targets", default=USUAL, show_default=True, help="Boards.", older=("--target",),
        shell_complete=completes("measure.cycles:BOARDS"))  # fmt: skip
@click.option("--states", default=100, show_default=True, help="Random states.")
@click.option("--seed", default=14, show_default=True, help="Seed of the random states.")
@payload_option()
@click.option("--robot", "arm", help="The program's robot [default: found by its name]")
@click.option("--words-only", is_flag=True, help="Leave out float and fixed point.")
@click.option("--deadline", default=120.0, show_default=True, help="Time limit per tool in s.")
@json_option
def command(
    program: str, *, targets: str, states: int, seed: int, load: float | None, arm: str | None,
    words_only: bool, deadline: float,
) -> None:  # fmt: skip
    """Run PROGRAM (a folder made by compile) as C code on boards, with float and fixed point.

    AVR cycles are exact (simavr). For Cortex-M0 and M3, QEMU counts instructions exactly and a
    model estimates cycles. On the host, time is measured. Figures are means over random states,
    calls included. Every output word is compared with the program's logic; the exit code is 1 if
    one differs. Bytes of flash and RAM are the robot's code, tables and stack. Missing tools are
    listed.
    """
    from boolcomp.measure.cycles import boards, cycles_rows, results, text_report
    from boolcomp.program.files import load_program

    within("--states", states, 1, MOST_STATES)
    within("--seed", seed, 0, 2**32 - 1)
    if not 0 < deadline <= 3600:
        raise UsageError(f"--deadline must be above 0 and at most 3600, not {deadline:g}")
    chosen = boards([name.strip() for name in targets.split(",")])
    subject = subject_of(load_program(program), program, load, arm, states, seed)
    with progress("measuring", None) as step:
        rows = cycles_rows(subject, chosen, step, deadline, rivalled=not words_only)
    document = {
        "program": program, "states": states, "seed": seed,
        "targets": {board.name: board.about for board in chosen}, "rows": results(rows).documents,
    }  # fmt: skip
    print_result(document, text_report(rows, brief=not wants_all()))
    if all(row.skipped for row in rows):
        raise DataError(
            "nothing was measured: all designs were skipped", "boolcomp doctor lists tools",
            where=program,
        )  # fmt: skip
    if wrong := [f"{row.design} on {row.target}" for row in rows if row.wrong]:
        raise DataError(
            f"output words differ from those of the program in {listing(wrong)}", where=program
        )


def subject_of(
    program: Program, place: str, load: float | None, arm: str | None, states: int, seed: int
) -> Subject:
    """Return a program and payload to measure, with its robot if built-in or given."""
    from boolcomp.measure.cycles import Subject

    if load is None and len(program.loads) > 1:
        known = listing(f"{payload:g}" for payload in program.payloads)
        raise UsageError(f"{place} has payloads of {known} kg", "select one with --payload")
    payload = program.load(load).payload
    problem, robot = _solved(program, place, payload, arm)
    return Subject(program, payload, problem, robot, states, seed)


def _solved(
    program: Program, place: str, payload: float, arm: str | None
) -> tuple[Problem | None, Robot | None]:
    """Return the problem that a program solves, and its robot; None if unknown."""
    from boolcomp.measure.solved import shipped, solved_problem

    name = arm or shipped(program.name)
    if name is None:
        return None, None
    return solved_problem(program, place, name, payload)
