"""`boolcomp show`: an interactive page of a program or a truth table."""

from __future__ import annotations

from pathlib import Path

import click

from boolcomp.base.errors import UsageError, shown
from boolcomp.base.files import check_place, is_file, write_output
from boolcomp.commands.options import (
    FILES,
    FilePath,
    json_option,
    payload_option,
    print_result,
    refuse_given,
)


@click.command("show", epilog="Example: boolcomp show out/2r -o 2r.html")
@click.argument("program", shell_complete=FILES)
@click.option("-o", "--output", type=FilePath(), help="The page [out/show-NAME.html]")
@click.option(
    "--robot", "arm", help="The program's robot or function file [default: found by its name]"
)
@payload_option()
@json_option
@click.pass_context
def command(
    context: click.Context,
    program: str,
    *,
    output: Path | None,
    arm: str | None,
    load: float | None,
) -> None:
    """Write an interactive, self-contained page of PROGRAM (a folder made by compile, or PLA file).

    The arm moves by hand and along a trajectory; the page compares torques of the program's logic
    with exact torques, and shows the error and its bound. It shows the word graph of a compact
    program, and the truth tables of a paper-mode program as maps with their products. A PLA file is
    shown as a map with a minimal cover, and step by step for up to six inputs.
    """
    from boolcomp.measure.show_page import program_page, shown_program, table_page
    from boolcomp.measure.solved import shipped

    if output is not None and output.suffix.lower() not in {".html", ".htm"}:
        raise UsageError(f"-o {output} is no name of a page", "give a name that ends in .html")
    if output is not None:
        check_place(output)
    source = Path(program)
    if is_file(source / "program.json"):
        from boolcomp.program.files import load_program

        loaded = load_program(source)
        name = arm or shipped(loaded.name)
        if name is None:
            click.echo(
                f"note: {shown(loaded.name)} is not a built-in robot: exact values and "
                "the arm are left out; give the robot or function file with --robot FILE",
                err=True,
            )
        text = program_page(shown_program(loaded, name, load))
    else:
        from boolcomp.twolevel import pla

        refuse_given(context, ("arm", "load"), f"{program} is not a program folder")
        if not is_file(source):
            raise UsageError("neither a program folder nor a PLA file", where=program)
        text = table_page(source.name, pla.read(source))
    path = output or Path("out") / f"show-{source.resolve().stem}.html"
    write_output(path, text)
    document = {"program": program, "output": str(path), "bytes": len(text.encode())}
    print_result(document, f"wrote {path}", err=True)
