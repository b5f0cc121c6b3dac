"""`boolcomp bench`: throughput of a program and its rivals, in one run."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from boolcomp.base.errors import DataError, UsageError, listing, require_name, shown
from boolcomp.base.files import check_place, is_folder
from boolcomp.commands.options import (
    FILES,
    FilePath,
    check_robot,
    completes,
    json_option,
    print_result,
    wants_all,
)

if TYPE_CHECKING:
    from boolcomp.measure.bench import Bench
    from boolcomp.program.program import Program

MOST_BATCH = 10**8
MODES = ("compact", "paper")


@click.command("bench", epilog="Example: boolcomp bench out/2r --batches 1,4096,1e6 -o out/bench")
@click.argument("program", shell_complete=FILES)
@click.option(
    "--bits", default=8, show_default=True, help="Word length if PROGRAM is a robot's name."
)
@click.option(
    "--mode", default="compact", show_default=True,
    help="Mode if PROGRAM is a robot's name: compact, paper.",
    shell_complete=completes("compact paper"),
)  # fmt: skip
@click.option(
    "--batches", default="1,64,4096,65536,1e6,1e7", show_default=True, help="Samples per batch."
)
@click.option("--cores", default="1,2", show_default=True, help="Numbers of threads.")
@click.option("--seconds", default=1.0, show_default=True, help="Time limit per rival and case.")
@click.option("--beside", multiple=True, metavar="PROGRAM",
              help="Another program of the same robot, as a rival.")  # fmt: skip
@click.option("-o", "--output", type=FilePath(), help="Folder for table and chart.")
@json_option
def command(
    program: str, *, bits: int, mode: str, batches: str, cores: str, seconds: float,
    beside: tuple[str, ...], output: Path | None,
) -> None:  # fmt: skip
    """Measure the throughput of PROGRAM (a folder made by compile, or a robot) and of its rivals.

    Rivals are optimised arithmetic. All run in one process on the same samples, in turn; their C
    code is compiled by gcc and clang if installed. Each sample type has its own column with its own
    measured error. Rivals that this machine or arm does not support are listed with the reason.
    The exit code is 1 if a rival, or the program, has an error beyond its limit.
    """
    from boolcomp.base.pages import require_charts
    from boolcomp.measure.bench import make_bench, text_report
    from boolcomp.problem.robot.library import load_robot

    sizes = bounded_numbers("--batches", batches, MOST_BATCH)
    threads = bounded_numbers("--cores", cores, 1024)
    if not 0 < seconds <= 3600:
        raise UsageError(f"--seconds must be above 0 and at most 3600, not {seconds:g}")
    if output is not None:
        require_charts()
        check_place(output / "any")
    loaded = _program(program, bits, mode)
    robot = load_robot(_shipped(loaded.name))
    others = [_program(name, bits, mode) for name in beside]
    _check_others(loaded, others)
    bench = make_bench(
        program, robot, loaded, batches=sizes, cores=threads, seconds=seconds, others=others,
        progress=_say,
    )  # fmt: skip
    if output is not None:
        write(bench, output)
    print_result(bench.document(), text_report(bench, brief=not wants_all()))
    if bench.wrong:
        raise DataError(f"errors exceed their limits in {listing(bench.wrong)}")


def bounded_numbers(option: str, text: str, maximum: int) -> tuple[int, ...]:
    """Read a list of positive whole numbers such as `1,4096,1e6`; return them sorted, each once."""
    found = set()
    for part in text.split(","):
        try:
            value = float(part)
        except ValueError:
            value = 0.0
        if not 1 <= value <= maximum or value != int(value):
            raise UsageError(
                f"{option} {shown(text)} is not a list of whole numbers from 1 to {maximum}",
                "give, for example, 1,4096,1e6",
            )
        found.add(int(value))
    return tuple(sorted(found))


def write(bench: Bench, folder: Path) -> None:
    """Write the table, a JSON document and the chart to a folder."""
    from boolcomp.base.files import outputs
    from boolcomp.measure.bench import text_report
    from boolcomp.measure.report_page import draw_bench

    with outputs() as put:
        put(folder / "bench.txt", text_report(bench) + "\n")
        put(folder / "bench.json", json.dumps(bench.document(), indent=2) + "\n")
        for kind in ("svg", "png"):
            put(folder / f"bench.{kind}", draw_bench(bench.document(), kind))


def _shipped(name: str) -> str:
    """Return the name of a built-in robot; there are no rivals for others."""
    from boolcomp.problem.robot.library import robot_names

    if name not in robot_names():
        raise UsageError(
            f"{name} is not a built-in robot",
            f"bench measures the inverse dynamics of {listing(robot_names())}",
        )
    return name


def _program(name: str, bits: int, mode: str) -> Program:
    require_name("mode", mode, MODES)
    if is_folder(Path(name)):
        from boolcomp.program.files import load_program

        return load_program(name)
    check_robot(name)
    from boolcomp.api import compile as compile_program

    _say(f"compiling {name}")
    return compile_program(name, bits=bits, mode=mode)


def _check_others(program: Program, others: list[Program]) -> None:
    for other in others:
        if other.name != program.name or other.bits != program.bits:
            raise UsageError(
                f"cannot compare a program of {other.name} at {other.bits} bits with "
                f"one of {program.name} at {program.bits} bits"
            )


def _say(step: str) -> None:
    if sys.stderr is not None and sys.stderr.isatty():
        click.echo(f"\r\033[K{step}", nl=False, err=True)
