"""`boolcomp show`: a program, or a truth table, as one interactive page."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from boolcomp.base.errors import UsageError, shown
from boolcomp.base.files import check_place, is_file, write_output
from boolcomp.commands.options import FilePath, given, json_option, print_json, shipped

if TYPE_CHECKING:
    from boolcomp.measure.show.page import Subject
    from boolcomp.program.program import Program


@click.command("show", epilog="Example: boolcomp show out/2r -o 2r.html")
@click.argument("program")
@click.option("-o", "--output", type=FilePath(), help="The page [out/show-NAME.html]")
@click.option(
    "--robot", "arm", help="The robot, or function file, where the program's name does not say it."
)
@click.option("--load", type=float, help="Tip load in kg, where there are several.")
@json_option
@click.pass_context
def command(
    context: click.Context,
    program: str,
    *,
    output: Path | None,
    arm: str | None,
    load: float | None,
    as_json: bool,
) -> None:
    """Write PROGRAM (a folder made by compile, or a PLA file) as one page that needs nothing else.

    The arm moves by hand and along a trajectory; its torques by the program's own logic stand
    beside exact ones, live, with the error and its bound. Of compact mode the word graph is shown
    with its words, of paper mode the truth tables as maps with their products. A PLA file is shown
    as a map with a minimal cover, up to six inputs also step by step, as one finds it by hand.
    """
    from boolcomp.measure.show.page import program_page, table_page

    if output is not None and output.suffix.lower() not in {".html", ".htm"}:
        raise UsageError(f"-o {output}: a page is HTML: give a name ending in .html")
    if output is not None:
        check_place(output)
    source = Path(program)
    if is_file(source / "program.json"):
        from boolcomp.program.files import load_program

        subject = _subject(load_program(source), arm, load)
        text = program_page(subject)
    else:
        from boolcomp.twolevel import pla

        for name, option in (("arm", "--robot"), ("load", "--load")):
            if given(context, name):
                raise UsageError(f"{option} means nothing here: {program} is no program's folder")
        if not is_file(source):
            raise UsageError(f"{program}: no program's folder and no PLA file")
        text = table_page(source.name, pla.read(source))
    path = output or Path("out") / f"show-{source.resolve().stem}.html"
    write_output(path, text)
    if as_json:
        print_json({"program": program, "output": str(path), "bytes": len(text.encode())})
    else:
        click.echo(f"wrote {path}", err=True)


def _subject(program: Program, arm: str | None, load: float | None) -> Subject:
    """Return what is shown: with exact values and an arm where its robot or function is known."""
    from boolcomp.measure.show.page import Subject
    from boolcomp.problem.functions import function_of
    from boolcomp.problem.problem import Problem
    from boolcomp.problem.robot.library import robot_of
    from boolcomp.problem.robot.model import with_payload
    from boolcomp.problem.sources import load_source, problem_of

    chosen = program.load(load)
    name = arm or shipped(program.name)
    if name is None:
        click.echo(
            f"boolcomp: note: {shown(program.name)} is none of the robots that ship: without "
            "--robot FILE (of a function its file) there are no exact values and no arm",
            err=True,
        )
        return Subject(program, chosen)
    source = load_source(name)
    if isinstance(source, Problem):
        subject = Subject(program, chosen, source)
    else:
        of = function_of(program.name, source.name)
        robot = with_payload(robot_of(source), chosen.payload)
        subject = Subject(program, chosen, problem_of(robot, of), robot, of)
    problem = subject.problem
    assert problem is not None  # noqa: S101 (both branches have one)
    made = tuple(one.name for one in chosen.outputs)
    if (problem.name, problem.returned.members) != (program.name, made):
        raise UsageError(
            f"the program was compiled for {program.name} with outputs {', '.join(made)}, not for "
            f"{problem.name} with {', '.join(problem.returned.members)}: say with --robot"
        )
    if problem.groups != program.groups:
        raise UsageError(f"{problem.name} has other inputs than the program: say with --robot")
    return subject
