"""`boolcomp bench`: a program beside its rivals, in one run."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from boolcomp.base.errors import DataError, UsageError, listing, shown, suggestion
from boolcomp.base.files import is_folder
from boolcomp.commands.options import FilePath, check_robot, json_option, print_json

if TYPE_CHECKING:
    from boolcomp.measure.bench.harness import Bench
    from boolcomp.program.program import Program

MOST_BATCH = 10**8
MODES = ("compact", "paper")


@click.command("bench", epilog="Example: boolcomp bench out/2r --batches 1,4096,1e6 -o out/bench")
@click.argument("program")
@click.option("--bits", default=8, show_default=True, help="Of a robot that is compiled first.")
@click.option("--mode", default="compact", show_default=True, help="Likewise: compact, paper.")
@click.option(
    "--batches", default="1,64,4096,65536,1e6,1e7", show_default=True, help="Samples a batch."
)
@click.option("--cores", default="1,2", show_default=True, help="Numbers of threads.")
@click.option("--seconds", default=1.0, show_default=True, help="The most per rival and case.")
@click.option(
    "--beside", multiple=True, metavar="PROGRAM", help="Another program of the robot, as a rival."
)
@click.option("-o", "--output", type=FilePath(), help="Folder for table and chart.")
@json_option
def command(
    program: str,
    *,
    bits: int,
    mode: str,
    batches: str,
    cores: str,
    seconds: float,
    beside: tuple[str, ...],
    output: Path | None,
    as_json: bool,
) -> None:
    """Measure PROGRAM (a folder made by compile, or a robot's name) against the best arithmetic.

    All rivals run in one process on the same samples, in turn; their C is compiled by gcc and
    clang where these are installed. Each type of samples is a column of its own with its own
    measured error. Rivals that this machine or this arm does not allow are named with the reason.
    Exit code 1 where a rival, or the program, computes something wrong.
    """
    from boolcomp.base.charts import require_matplotlib
    from boolcomp.measure.bench.bench import make_bench
    from boolcomp.problem.robot.library import load_robot

    sizes = bounded_numbers("--batches", batches, MOST_BATCH)
    threads = bounded_numbers("--cores", cores, 1024)
    if not 0 < seconds <= 3600:
        raise UsageError(f"--seconds {seconds:g}: more than 0, at most 3600")
    if output is not None:
        require_matplotlib()
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
    if as_json:
        print_json(bench.document())
    else:
        from boolcomp.measure.bench.harness import text_report

        click.echo(text_report(bench))
    if bench.wrong:
        raise DataError(f"results are not within what they promise: {listing(bench.wrong)}")


def bounded_numbers(option: str, text: str, most: int) -> tuple[int, ...]:
    """Read whole numbers from 1 on, as `1,4096,1e6`; each once, rising."""
    found = set()
    for part in text.split(","):
        try:
            value = float(part)
        except ValueError:
            value = 0.0
        if not 1 <= value <= most or value != int(value):
            raise UsageError(
                f"{option} {shown(text)}: give whole numbers from 1 to {most}: 1,4096,1e6"
            )
        found.add(int(value))
    return tuple(sorted(found))


def write(bench: Bench, folder: Path) -> None:
    """Write table, JSON and chart to a folder."""
    from boolcomp.base.files import outputs
    from boolcomp.measure.bench.bench import draw_bench
    from boolcomp.measure.bench.harness import text_report

    with outputs() as put:
        put(folder / "bench.txt", text_report(bench) + "\n")
        put(folder / "bench.json", json.dumps(bench.document(), indent=2) + "\n")
        for kind in ("svg", "png"):
            put(folder / f"bench.{kind}", draw_bench(bench, kind))


def _shipped(name: str) -> str:
    """Return the name of a robot that ships; rivals are made of nothing else."""
    from boolcomp.problem.robot.library import robot_names

    if name not in robot_names():
        raise UsageError(
            f"{name} is no robot that ships, and rivals are made of those: "
            f"bench takes the inverse dynamics of {listing(robot_names())}"
        )
    return name


def _program(name: str, bits: int, mode: str) -> Program:
    if mode not in MODES:
        raise UsageError(f"mode {shown(mode)}{suggestion(mode, MODES)}: modes are {listing(MODES)}")
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
                f"--beside: a program of {other.name} at {other.bits} bits is no rival of "
                f"{program.name} at {program.bits} bits"
            )


def _say(step: str) -> None:
    if sys.stderr is not None and sys.stderr.isatty():
        click.echo(f"\r\033[K{step}", nl=False, err=True)
